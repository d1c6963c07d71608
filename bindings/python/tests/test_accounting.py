"""Accountants by other names; their own numbers beside ours."""

import pytest

from sottovoce import SottovoceError
from sottovoce.accounting import Accountant, events, mechanism


def test_steps_add_up():
    accountant = Accountant()
    for _ in range(100):
        accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    assert len(accountant) == 100 and len(accountant.history) == 1
    known = mechanism(gaussian=True, noise_multiplier=1.1, sampling_rate=0.01, steps=100).guarantees[0].epsilon
    assert accountant.get_epsilon(delta=1e-5) == known
    assert accountant.get_delta(epsilon=known) <= 1e-5 * (1 + 1e-9)
    more = accountant.compose({"laplace": {"scale": 2.0}}).get_epsilon(1e-5)
    assert more > known
    assert events(accountant.history).guarantees[0].epsilon == more


def test_it_is_between_what_others_say():
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    event = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.1)), 1000)
    accountant = Accountant().compose({"gaussian": {"noise_multiplier": 1.1}, "sampling_rate": 0.01}, 1000)
    ours = accountant.get_epsilon(1e-5)
    pld = PLDAccountant().compose(event).get_epsilon(1e-5)
    rdp = RdpAccountant().compose(event).get_epsilon(1e-5)
    assert ours <= pld <= rdp and pld - ours < 1e-3, (ours, pld, rdp)


def test_replacing_a_record_moves_a_sum_twice_as_far():
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    event = dp.GaussianDpEvent(2.0)
    replace = dp.NeighboringRelation.REPLACE_ONE
    ours = Accountant(replace).compose(event).get_epsilon(1e-5)
    assert 0 <= PLDAccountant(replace).compose(event).get_epsilon(1e-5) - ours < 1e-3
    # dp-accounting's other accountant counts in what a replacement moves: half the noise here.
    halved = Accountant(replace).compose(dp.GaussianDpEvent(1.0)).get_rdp([8.0])[0]
    other = RdpAccountant([8.0], replace).compose(dp.GaussianDpEvent(1.0))
    assert halved == pytest.approx(4 * other._rdp[0]) and Accountant(replace).compose(event).get_rdp([8.0])[0] == pytest.approx(other._rdp[0])


class Optimiser:
    """What a hook of Opacus looks at."""

    noise_multiplier, accumulated_iterations = 1.1, 2


def test_opacus_can_use_it():
    accountant = Accountant()
    hook = accountant.get_optimizer_hook_fn(0.005)
    for _ in range(3):
        hook(Optimiser())
    assert accountant.history == [{"gaussian": {"noise_multiplier": 1.1}, "sampling_rate": 0.01, "steps": 3}]
    again = Accountant()
    again.load_state_dict(accountant.state_dict())
    assert again.get_epsilon(1e-5) == accountant.get_epsilon(1e-5) and len(again) == 3
    again.step(noise_multiplier=1.1, sample_rate=0.01)
    assert len(accountant) == 3
    # As its search for noise writes it.
    again.history = [(1.1, 0.01, 3)]
    assert again.history == accountant.history
    for state in [{}, {"mechanism": "rdp", "history": []}, Accountant("REPLACE_ONE").state_dict()]:
        with pytest.raises(SottovoceError):
            accountant.load_state_dict(state)


def test_it_works_inside_opacus():
    opacus = pytest.importorskip("opacus", reason="Opacus is not installed; pip install opacus")
    torch = pytest.importorskip("torch")
    Accountant.register()
    model = torch.nn.Linear(3, 1)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(64, 3), torch.randn(64, 1)), batch_size=8)
    engine = opacus.PrivacyEngine(accountant="sottovoce")
    parts = {"module": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1), "data_loader": data}
    made, optimizer, loader = engine.make_private_with_epsilon(**parts, target_epsilon=2.0, target_delta=1e-5, epochs=1, max_grad_norm=1.0)
    for features, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(made(features), labels).backward()
        optimizer.step()
    assert 0 < engine.get_epsilon(1e-5) <= 2.0 and isinstance(engine.accountant, Accountant)
