"""Accountants with the names that users of Opacus and of dp-accounting know; the numbers are ours, certified, rounded up.

>>> accountant = Accountant()
>>> for _ in range(100):
...     accountant.step(noise_multiplier=1.1, sample_rate=0.01)
>>> 0 < accountant.get_epsilon(delta=1e-5) < 1
True
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from ._ask import ask
from ._result import Result


def mechanism(**options: Any) -> Result:
    """A noisy release, repeated: ``sottovoce account mechanism``."""
    return ask("account", "mechanism", **options)


def events(releases: list[dict[str, Any]], **options: Any) -> Result:
    """Unlike releases one after the other, as ``sottovoce account mechanism --events`` takes them."""
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        path = Path(folder) / "events.json"
        path.write_text(json.dumps(releases), encoding="utf-8")
        return ask("account", "mechanism", events=path, **options)


class Accountant:
    """Adds up what is released. ``step`` and ``get_epsilon`` are Opacus'; ``compose`` takes what :func:`events` does, and is dp-accounting's."""

    def __init__(self, adjacency: str | None = None):
        self._adjacency = adjacency
        #: Releases, each with how often it was made.
        self.history: list[dict[str, Any]] = []

    @classmethod
    def mechanism(cls) -> str:
        """Its name, as Opacus asks for it."""
        return "sottovoce"

    def __len__(self) -> int:
        return sum(event.get("steps", 1) for event in self.history)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """One step of DP-SGD."""
        self.compose({"gaussian": {"noise_multiplier": float(noise_multiplier)}, "sampling_rate": float(sample_rate)})

    def compose(self, event: dict[str, Any], count: int = 1) -> Accountant:
        """The same release, so often."""
        count *= event.get("steps", 1)
        event = {key: value for key, value in event.items() if key != "steps"}
        if self.history and {key: value for key, value in self.history[-1].items() if key != "steps"} == event:
            self.history[-1]["steps"] += count
        else:
            self.history.append({**event, "steps": count})
        return self

    def get_epsilon(self, delta: float, **_: Any) -> float:
        """Epsilon of all of it at this delta, from above."""
        return self._asked(delta=delta).guarantees[0].epsilon

    def get_delta(self, epsilon: float) -> float:
        """Delta of all of it at this epsilon, from above."""
        return float(self._asked(epsilon=epsilon)["delta_at_epsilon"]["upper"])

    def _asked(self, **options: Any) -> Result:
        return events(self.history, adjacency=self._adjacency, **options)
