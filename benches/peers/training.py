"""The same net trained by DP-SGD, by us and by Opacus: one holder of all images, Poisson lots, every example clipped, Gaussian noise, plain SGD.

Both read the same drawn images. What differs: the noise that the same epsilon asks for (by each one's own accountant), first weights, the order of lots, and
what is measured meanwhile. Time is that of one more epoch: a longer run's less a shorter one's, so that start, reading, calibration and last
measurements do not count.
"""

import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median, stdev
from typing import NamedTuple

from common import Missing, Scale, ask, module, processor, ratio, table
from training_data import draw

TITLE = "Training"
DELTA = 1e-5
RATE = 0.5
CLIP = 1.0


class Task(NamedTuple):
    """What is learned, and how."""

    images: int
    lot: int
    epochs: int
    epsilon: float

    @property
    def rounds(self) -> int:
        return self.images * self.epochs // self.lot


def compare(scale: Scale) -> Iterator[str]:
    try:
        np = module("numpy", "numpy")
        opacus = module("training_opacus", "opacus torch")
    except Missing as missing:
        yield str(missing)
        return
    task = Task(1000, 50, 1, 8.0) if scale.quick else Task(6000, 120, 4, 3.0)
    seeds = range(scale.repeats)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        draw(folder, task.images, 500 if scale.quick else 2000, np)
        rows = [row("Sottovoce", functools.partial(ours, folder), task, seeds)]
        theirs = functools.partial(opacus.learn, folder, clip=CLIP, rate=RATE, delta=DELTA)
        rows.append(row("Opacus", theirs, task, seeds))
    yield (
        f"The consensus paper's net (38,424 weights) on {task.images:,} drawn images, {task.epochs} epochs, lots of {task.lot} on average, clipped at {CLIP}, rate {RATE}, "
        f"epsilon {task.epsilon} at delta {DELTA}; accuracy on other images, mean and deviation over {len(seeds)} seeds."
    )
    fastest = rows[0][2]
    cells = [[who, f"{noise:.4f}", f"{100 * mean(hits):.1f} %" + (f" ± {100 * stdev(hits):.1f}" if len(hits) > 1 else ""), ratio(seconds, fastest)] for who, (noise, hits), seconds in rows]
    yield table(["", "noise multiplier", "accuracy", "time of an epoch, as a multiple of ours"], cells)


def row(who: str, learn, task: Task, seeds: range):
    """Noise, accuracies and the seconds of one more epoch."""
    found = [learn(task, seed) for seed in seeds]
    noise = found[0][0]
    with_noise = functools.partial(learn, noise=noise)
    longer = task._replace(epochs=2 * task.epochs)
    seconds = [(clocked(with_noise, longer, seed) - clocked(with_noise, task, seed)) / task.epochs for seed in seeds]
    return who, (noise, [hits for _, hits in found]), median(seconds)


def clocked(learn, task: Task, seed: int) -> float:
    start = processor()
    learn(task, seed)
    return processor() - start


def ours(folder: Path, task: Task, seed: int, noise: float | None = None) -> tuple[float, float]:
    """Noise multiplier and accuracy, by `sottovoce run deep`."""
    target = ["--epsilon", task.epsilon] if noise is None else ["--noise-multiplier", noise, "--epsilon", 1000]
    words = ["--task", "mnist", "--data", folder, "--method", "central", "--rounds", task.rounds, "--lot", task.lot, "--clip", CLIP]
    words += ["--optimiser", "sgd", "--rate", RATE, "--last-rate", RATE, "--delta", DELTA, "--seed", seed, "--no-report", *target]
    found = ask("run", "deep", *words)
    return found["agents"][0]["noise_multiplier"], found["accuracy"]
