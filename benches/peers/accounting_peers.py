"""Accountants of others, behind one form: `name`, `knows(releases)`, `epsilon(releases, delta)`. All of them at their defaults."""

import importlib.util
import logging
import warnings
from collections.abc import Callable
from typing import Any

from common import ask, module


def packaged() -> bool:
    """Whether the Python package is installed."""
    return importlib.util.find_spec("sottovoce") is not None


def our_answer() -> Callable[[list], Any]:
    """By which words are answered when it is timed."""
    if packaged():
        python = module("sottovoce", "./bindings/python")
        return lambda words: python.ask(*words[:2], **{word.removeprefix("--"): value for word, value in zip(words[2::2], words[3::2])})
    return lambda words: ask(*words)


def ours_is() -> str:
    return "the Python package, in the same process" if packaged() else "the program, with its start"


class DpAccounting:
    """dp-accounting, by one of its accountants."""

    def __init__(self, name: str, path: str, accountant: str):
        self.dp = module("dp_accounting", "dp-accounting")
        # It says which orders it leaves out: hundreds of lines.
        logging.getLogger("absl").setLevel(logging.ERROR)
        self.accountant = getattr(module(path, "dp-accounting"), accountant)
        self.name = name

    def knows(self, releases: list[dict]) -> bool:
        return all(self.accountant().supports(self.event(release)) for release in releases)

    def event(self, release: dict) -> Any:
        if "gaussian" in release:
            event = self.dp.GaussianDpEvent(release["gaussian"]["noise_multiplier"])
        else:
            event = self.dp.LaplaceDpEvent(release["laplace"]["scale"])
        rate = release["sampling_rate"]
        return event if rate == 1.0 else self.dp.PoissonSampledDpEvent(rate, event)

    def epsilon(self, releases: list[dict], delta: float) -> float:
        accountant = self.accountant()
        for release in releases:
            accountant.compose(self.event(release), release["steps"])
        return float(accountant.get_epsilon(delta))


class Opacus:
    """Opacus, by one of its accountants. They know steps of DP-SGD."""

    def __init__(self, name: str, accountant: str):
        self.accountant = getattr(module("opacus.accountants", "opacus"), accountant)
        self.name = name

    def knows(self, releases: list[dict]) -> bool:
        # Its Gaussian accountant looks at the last of unlike steps only.
        return all("gaussian" in release for release in releases) and (len(releases) == 1 or self.name != "Opacus GDP")

    def epsilon(self, releases: list[dict], delta: float) -> float:
        with warnings.catch_warnings():
            # The Gaussian one says of itself that it can underestimate; our table says where.
            warnings.simplefilter("ignore")
            accountant = self.accountant()
            accountant.history = [(one["gaussian"]["noise_multiplier"], one["sampling_rate"], one["steps"]) for one in releases]
            return float(accountant.get_epsilon(delta=delta))


ALL = (
    lambda: DpAccounting("dp-accounting PLD", "dp_accounting.pld", "PLDAccountant"),
    lambda: DpAccounting("dp-accounting RDP", "dp_accounting.rdp", "RdpAccountant"),
    lambda: Opacus("Opacus PRV", "PRVAccountant"),
    lambda: Opacus("Opacus RDP", "RDPAccountant"),
    lambda: Opacus("Opacus GDP", "GaussianAccountant"),
)
