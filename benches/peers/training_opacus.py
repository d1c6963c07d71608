"""DP-SGD by Opacus as its documentation has it: `make_private_with_epsilon`, its default accountant (PRV), Poisson lots, gradients by hooks."""

import warnings
from pathlib import Path

import numpy as np
import torch
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from training_data import read

# MNIST's usual constants, by which our program normalises, too.
MEAN, DEVIATION = 0.1307, 0.3081


def net() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 3, 5), nn.Mish(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(588, 64), nn.Mish(), nn.Linear(64, 10))


def tensors(folder: Path, part: str) -> tuple[torch.Tensor, torch.Tensor]:
    images, labels = read(folder, part, np)
    return (torch.from_numpy(images).float() / 255 - MEAN) / DEVIATION, torch.from_numpy(labels).long()


def learn(folder: Path, task, seed: int, *, clip: float, rate: float, delta: float, noise: float | None = None) -> tuple[float, float]:
    """Noise multiplier and accuracy."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = net()
    lots = DataLoader(TensorDataset(*tensors(folder, "train")), batch_size=task.lot)
    parts = {"module": model, "optimizer": torch.optim.SGD(model.parameters(), lr=rate), "data_loader": lots, "max_grad_norm": clip}
    engine = PrivacyEngine()
    if noise is None:
        made = engine.make_private_with_epsilon(**parts, target_epsilon=task.epsilon, target_delta=delta, epochs=task.epochs)
    else:
        made = engine.make_private(**parts, noise_multiplier=noise)
    model, optimizer, lots = made
    loss = nn.CrossEntropyLoss()
    for _ in range(task.epochs):
        for images, labels in lots:
            if len(labels):
                optimizer.zero_grad()
                loss(model(images), labels).backward()
                optimizer.step()
    images, labels = tensors(folder, "test")
    with torch.no_grad():
        hits = (model(images).argmax(1) == labels).double().mean().item()
    return optimizer.noise_multiplier, hits
