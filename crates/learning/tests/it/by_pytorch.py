"""Loss and gradient of a net by PyTorch: `by_pytorch.py NET PARAMETERS IMAGES OUT`, files as safetensors; fails where PyTorch is missing."""

import sys

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F


class Consensus(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(
            nn.Conv2d(1, 3, 5), nn.Mish(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(588, 64), nn.Mish(), nn.Linear(64, 10)
        )

    def forward(self, x):
        return self.seq(x)


class Unit(nn.Module):
    """Holds a convolution and its norm under the names that they have in the whole."""

    def __init__(self, owner, name, inputs, outputs, groups, pool):
        super().__init__()
        self.pool = pool
        setattr(owner, name, nn.Conv2d(inputs, outputs, 3, padding=1))
        setattr(owner, name + "_gn", nn.GroupNorm(groups, outputs))
        self.parts = [(owner, name)]

    def forward(self, x):
        owner, name = self.parts[0]
        x = getattr(owner, name)(x)
        if self.pool:
            x = F.max_pool2d(x, 2)
        return F.leaky_relu(getattr(owner, name + "_gn")(x), 0.1)


class Residual(nn.Module):
    def __init__(self, width, groups):
        super().__init__()
        self.units = [Unit(self, name, width, width, groups, False) for name in ["conv1", "conv2"]]

    def forward(self, x):
        return x + self.units[1].forward(self.units[0].forward(x))


class ResNet(nn.Module):
    def __init__(self, widths=(8, 12, 16, 24), groups=4, classes=10):
        super().__init__()
        self.first = [Unit(self, "conv0", 3, widths[0], groups, False)]
        self.rest = []
        for number in (1, 2, 3):
            unit = Unit(self, f"conv{number}", widths[number - 1], widths[number], groups, True)
            setattr(self, f"residual{number}", Residual(widths[number], groups))
            self.rest.append((unit, f"residual{number}"))
        self.fc1 = nn.Linear(widths[3], classes)

    def forward(self, x):
        x = self.first[0].forward(x)
        for unit, residual in self.rest:
            x = getattr(self, residual)(unit.forward(x))
        return self.fc1(torch.amax(x, dim=(2, 3)))


def main():
    kind, parameters, images, out = sys.argv[1:]
    net = {"consensus": Consensus, "resnet": ResNet}[kind]()
    net.load_state_dict(load_file(parameters))
    images = load_file(images)
    loss = F.cross_entropy(net(images["pixels"]), images["labels"].long(), reduction="sum")
    loss.backward()
    grads = {name: tensor.grad.contiguous() for name, tensor in net.named_parameters()}
    save_file(grads, out)
    print(loss.item())


main()
