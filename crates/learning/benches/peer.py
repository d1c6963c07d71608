"""Times a clipped step of the consensus paper's net by PyTorch and Opacus: a line `name<TAB>seconds a sample` for each mode, best of several.

Called by `cargo bench -p sottovoce-learning --bench net`; fails where PyTorch or Opacus are missing.
"""

import time
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
import opacus  # noqa: E402
from opacus.grad_sample import GradSampleModule  # noqa: E402
from opacus.optimizers import DPOptimizer  # noqa: E402

LOT = 256
CLIP = 0.1


def net():
    return nn.Sequential(
        nn.Conv2d(1, 3, 5), nn.Mish(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(588, 64), nn.Mish(), nn.Linear(64, 10)
    )


def best(step, times=15):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return min(seconds) / LOT


def main():
    torch.set_num_threads(1)
    x, y = torch.randn(LOT, 1, 32, 32), torch.randint(0, 10, (LOT,))
    plain, loss = net(), nn.CrossEntropyLoss(reduction="sum")

    def gradient():
        plain.zero_grad(set_to_none=True)
        loss(plain(x), y).backward()

    print(f"PyTorch, plain\t{best(gradient)}")
    for mode in ["hooks", "functorch", "ew"]:
        try:
            module = net()
            wrapped = opacus.PrivacyEngine()._prepare_model(module, grad_sample_mode=mode)
            sgd = torch.optim.SGD(wrapped.parameters(), lr=0.0)
            optimizer = DPOptimizer(sgd, noise_multiplier=0.0, max_grad_norm=CLIP, expected_batch_size=LOT, loss_reduction="sum")

            def clipped():
                optimizer.zero_grad(set_to_none=True)
                loss(wrapped(x), y).backward()
                optimizer.pre_step()

            print(f"Opacus, {mode}\t{best(clipped)}")
        except Exception:
            continue
    ghost()
    return x, y


def ghost():
    """Opacus' clipping without per-example gradients."""
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
    from opacus.optimizers import DPOptimizerFastGradientClipping

    x, y = torch.randn(LOT, 1, 32, 32), torch.randint(0, 10, (LOT,))
    model = GradSampleModuleFastGradientClipping(net(), max_grad_norm=CLIP, use_ghost_clipping=True, loss_reduction="mean")
    sgd = torch.optim.SGD(model.parameters(), lr=0.0)
    optimizer = DPOptimizerFastGradientClipping(
        sgd, noise_multiplier=0.0, max_grad_norm=CLIP, expected_batch_size=LOT, loss_reduction="mean"
    )
    criterion = DPLossFastGradientClipping(model, optimizer, nn.CrossEntropyLoss(reduction="mean"), loss_reduction="mean")

    def clipped():
        optimizer.zero_grad(set_to_none=True)
        criterion(model(x), y).backward()
        optimizer.pre_step()

    print(f"Opacus, ghost\t{best(clipped)}")


if __name__ == "__main__":
    main()
