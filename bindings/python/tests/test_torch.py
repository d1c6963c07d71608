"""PyTorch modules: flattened, differentiated row by row, and put together again."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; pip install torch")
numpy = pytest.importorskip("numpy")

from sottovoce import SottovoceError  # noqa: E402
from sottovoce.training import TorchModel, train  # noqa: E402


def net():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))


def moons(count, seed):
    """Two classes that no line divides."""
    draw = numpy.random.default_rng(seed)
    labels = draw.integers(0, 2, count)
    angle = draw.uniform(0, numpy.pi, count)
    points = numpy.column_stack([numpy.cos(angle), numpy.sin(angle)])
    points = numpy.where(labels[:, None] == 0, points, [1, 0.5] - points) + 0.1 * draw.normal(size=(count, 2))
    return points.astype(numpy.float32), labels


def test_there_and_back():
    model = TorchModel(net(), torch.nn.functional.cross_entropy)
    start = model.start
    assert start.shape == (8 * 2 + 8 + 2 * 8 + 2,) and start.dtype == numpy.float64
    model.load(start + 1)
    assert numpy.allclose(model.start, start + 1, atol=1e-6)
    model.load(start)
    assert (model.start == start).all()
    with pytest.raises(SottovoceError, match="42 parameters") as caught:
        model.load(start[:-1])
    assert caught.value.field == "model"


def test_gradients_of_rows_are_those_of_a_loop_and_of_autograd():
    module = net()
    together, in_turn = (TorchModel(module, torch.nn.functional.cross_entropy, vectorised=how) for how in [True, False])
    points, labels = moons(7, 3)
    at = together.start + 0.1
    one, other = (model.gradient(0, at, (points, labels)).numpy() for model in [together, in_turn])
    assert one.shape == (7, 42) and numpy.abs(one - other).max() < 1e-5
    together.load(at)
    loss = torch.nn.functional.cross_entropy(module(torch.as_tensor(points)), torch.as_tensor(labels))
    whole = torch.cat([part.reshape(-1) for part in torch.autograd.grad(loss, list(module.parameters()))]).numpy()
    assert numpy.abs(one.mean(axis=0) - whole).max() < 1e-5


def test_a_module_learns_privately():
    model = TorchModel(net(), torch.nn.functional.cross_entropy)
    data = [moons(400, 10 + peer) for peer in range(5)]
    points, labels = moons(1000, 99)

    def accuracy(flat):
        with torch.no_grad():
            return (model.load(flat)(torch.as_tensor(points)).argmax(1).numpy() == labels).mean()

    start = model.start
    before = accuracy(start)
    result = train(model, data, start, "deep", protocol={"method": "dsgt", "rounds": 60, "lot": 40.0, "rate": 2.0}, target={"epsilon": 8.0}, seed=0)
    assert result.guarantees[0].epsilon <= 8.0 and result["parameters"] == 42
    assert accuracy(result.model) > max(0.8, before), (before, accuracy(result.model))


def test_modules_that_mix_rows_are_refused():
    with pytest.raises(SottovoceError, match="BatchNorm1d") as caught:
        TorchModel(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)), torch.nn.functional.mse_loss)
    assert caught.value.field == "module"
    with pytest.raises(SottovoceError, match="without parameters"):
        TorchModel(torch.nn.Tanh(), torch.nn.functional.mse_loss)


class Centred(torch.nn.Module):
    """Keeps a mean of what it has seen, in one of the ways in which people do."""

    def __init__(self, how):
        super().__init__()
        self.linear, self.how, self.mean, self.seen = torch.nn.Linear(2, 2), how, torch.zeros(2), []
        self.register_buffer("running", torch.zeros(2))

    def forward(self, rows):
        with torch.no_grad():
            if self.how == "buffer":
                self.running.mul_(0.9).add_(0.1 * rows.mean(0))
            elif self.how == "attribute":
                self.mean = 0.9 * self.mean + 0.1 * rows.mean(0)
            elif self.how == "list":
                self.seen.append(rows.mean(0))
        return self.linear(rows - self.running - self.mean)


@pytest.mark.parametrize("how", ["buffer", "attribute", "list"])
def test_modules_that_remember_rows_are_refused(how):
    points, labels = moons(5, 1)
    model = TorchModel(Centred(how), torch.nn.functional.cross_entropy, vectorised=False)
    with pytest.raises(SottovoceError) as caught:
        model.gradient(0, model.start, (points, labels))
    assert caught.value.field == "module"
    # Together PyTorch itself may have something against it.
    model = TorchModel(Centred(how), torch.nn.functional.cross_entropy, vectorised=True)
    with pytest.raises((SottovoceError, RuntimeError)):
        model.gradient(0, model.start, (points, labels))


def test_buffers_that_stay_are_welcome():
    points, labels = moons(5, 1)
    for vectorised in [True, False]:
        model = TorchModel(Centred("never"), torch.nn.functional.cross_entropy, vectorised=vectorised)
        assert model.gradient(0, model.start, (points, labels)).shape == (5, 6)
