"""The same releases, accounted for by us and by dp-accounting and Opacus: differences of epsilon, ratios of time, and who is below the truth.

Ours is an interval that contains the truth. A peer's number is held against it: *above* it (true, and looser by the difference), *inside* (as sharp as we can
tell), or **below the truth**: less than our lower end, so that a guarantee of that number would be false.
"""

import functools
import json
import tempfile
from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

import accounting_peers
from common import Missing, Scale, ask, ratio, table, timed

TITLE = "Accounting"
DELTA = 1e-5


def gaussian(noise: float, rate: float, steps: int) -> dict:
    return {"gaussian": {"noise_multiplier": noise}, "sampling_rate": rate, "steps": steps}


def laplace(scale: float, rate: float, steps: int) -> dict:
    return {"laplace": {"scale": scale}, "sampling_rate": rate, "steps": steps}


# Name, releases, delta.
GRID = [
    ("Gaussian 1, once", [gaussian(1.0, 1.0, 1)], DELTA),
    ("Gaussian 20, 100 times", [gaussian(20.0, 1.0, 100)], DELTA),
    ("Gaussian 1.1, 1 % sampled, 1000 times", [gaussian(1.1, 0.01, 1000)], DELTA),
    ("Gaussian 0.6, 1 % sampled, 1000 times", [gaussian(0.6, 0.01, 1000)], DELTA),
    ("Gaussian 1, 0.1 % sampled, 10000 times", [gaussian(1.0, 0.001, 10_000)], DELTA),
    ("Gaussian 1.1, 256 of 60000, 60 epochs", [gaussian(1.1, 256 / 60_000, 14_062)], DELTA),
    ("the same at delta 1e-9", [gaussian(1.1, 256 / 60_000, 14_062)], 1e-9),
    ("Gaussian 4, half sampled, 200 times", [gaussian(4.0, 0.5, 200)], DELTA),
    ("Laplace 1, once", [laplace(1.0, 1.0, 1)], DELTA),
    ("Laplace 10, 100 times", [laplace(10.0, 1.0, 100)], DELTA),
    ("Laplace 1, 1 % sampled, 1000 times", [laplace(1.0, 0.01, 1000)], DELTA),
    ("Gaussian 2, 5 % sampled, 500 times, then 0.8, 1 %, 500 times", [gaussian(2.0, 0.05, 500), gaussian(0.8, 0.01, 500)], DELTA),
    ("Gaussian 1.1, 1 % sampled, 500 times, and Laplace 5, 20 times", [gaussian(1.1, 0.01, 500), laplace(5.0, 1.0, 20)], DELTA),
]
QUICK = (0, 2, 9)


def compare(scale: Scale) -> Iterator[str]:
    peers, missing = [], []
    for make in accounting_peers.ALL:
        try:
            peers.append(make())
        except Missing as one:
            missing.append(str(one))
    yield from dict.fromkeys(missing)
    if not peers:
        return
    grid = [GRID[place] for place in QUICK] if scale.quick else GRID
    differences, times, below = [], [], {peer.name: 0 for peer in peers}
    for name, releases, delta in grid:
        (lower, upper), seconds = ours(releases, delta, scale)
        cells, ratios = [], []
        for peer in peers:
            if not peer.knows(releases):
                cells.append("cannot")
                ratios.append("")
                continue
            epsilon, theirs = timed(functools.partial(peer.epsilon, releases, delta), scale.repeats)
            below[peer.name] += epsilon < lower
            cells.append(verdict(epsilon, lower, upper))
            ratios.append(ratio(theirs, seconds))
        differences.append([name, from_above(upper), f"{upper - lower:.0e}", *cells])
        times.append([name, *ratios])
    names = [peer.name for peer in peers]
    yield "Epsilon: ours from above, how wide our interval is, and how far a peer's number is above it (or below its lower end, which is below the truth)."
    yield table(["releases", "ours", "width", *names], differences)
    yield "; ".join(f"{name}: below the truth in {count} of {sum(row[place + 3] != 'cannot' for row in differences)}" for place, (name, count) in enumerate(below.items())) + "."
    yield f"Time, as a multiple of ours ({accounting_peers.ours_is()}):"
    yield table(["releases", *names], times)


def from_above(epsilon: float) -> str:
    """Nine digits behind the point, rounded up."""
    return str(Decimal(epsilon).quantize(Decimal("1e-9"), ROUND_CEILING))


def verdict(epsilon: float, lower: float, upper: float) -> str:
    """Where a number lies."""
    if epsilon < lower:
        return f"**below by {lower - epsilon:.2g}**"
    return "inside" if epsilon <= upper else f"+{epsilon - upper:.2g}"


def ours(releases: list[dict], delta: float, scale: Scale) -> tuple[tuple[float, float], float]:
    """Our interval, and seconds: in this process where the Python package is installed, else with the start of a program."""
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.json"
        events.write_text(json.dumps(releases), encoding="utf-8")
        words = ["account", "mechanism", "--events", events, "--delta", delta]
        found = ask(*words)["epsilon"]["pld"]
        _, seconds = timed(functools.partial(accounting_peers.our_answer(), words), scale.repeats)
    return (found["lower"], found["upper"]), seconds
