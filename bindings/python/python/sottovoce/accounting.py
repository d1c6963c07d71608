"""Accountants with the names that users of Opacus and of dp-accounting know; the numbers are ours, certified, rounded up.

>>> accountant = Accountant()
>>> for _ in range(100):
...     accountant.step(noise_multiplier=1.1, sample_rate=0.01)
>>> 0 < accountant.get_epsilon(delta=1e-5) < 1
True

An event of dp-accounting is taken as it is (nothing of dp-accounting is imported), and so is an entry of ``account mechanism --events``:

>>> Accountant("REPLACE_SPECIAL").compose({"tree": {"noise_multiplier": 8.83, "leaves": 1600}}).get_epsilon(1e-6) < 2.04
True
"""

from __future__ import annotations

import copy
import json
import math
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _events, _values
from ._ask import SottovoceError, ask
from ._errors import wrong
from ._result import Result


def mechanism(**options: Any) -> Result:
    """A noisy release, repeated: ``sottovoce account mechanism``."""
    return ask("account", "mechanism", **options)


def events(releases: Iterable[Mapping[str, Any]], **options: Any) -> Result:
    """Unlike releases one after the other, as ``sottovoce account mechanism --events`` takes them."""
    if isinstance(releases, (str, bytes, Mapping)) or not isinstance(releases, Iterable):
        raise wrong("releases", releases, "give a list of releases")
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        path = Path(folder) / "events.json"
        path.write_text(json.dumps(_values.plain(list(releases), "releases")), encoding="utf-8")
        try:
            return ask("account", "mechanism", events=path, **options)
        except SottovoceError as error:
            raise _named(error, str(path)) from None


def _named(error: SottovoceError, path: str) -> SottovoceError:
    """An error of one release, with what is wrong in it in place of the file that nobody has written."""
    if error.field != "events" or error.value != path:
        return error
    message = re.sub(r"\s+", " ", error.remedy or str(error))
    inner = re.search(r"`([\w-]+)` is (.+?): (.+)", message)
    field, value, remedy = inner.groups() if inner else ("events", "refused", message)
    return SottovoceError(message, error.code, field, value, remedy)


class Accountant:
    """Adds up what is released. ``step`` and ``get_epsilon`` are Opacus'; ``compose``, ``supports`` and the rest are dp-accounting's.

    ``neighboring_relation`` is ``ADD_OR_REMOVE_ONE``, ``REPLACE_ONE`` or ``REPLACE_SPECIAL`` (dp-accounting's own enumeration, or its names), or one of
    the command line's adjacencies: ``add-remove``, ``replace``, ``zero-out``.

    Under ``REPLACE_ONE`` a noise multiplier counts in what one record adds to the sum, and a replaced record moves the sum by twice that. dp-accounting has two
    conventions: its ``PLDAccountant`` means the same, its ``RdpAccountant`` divides by what a replacement moves, so give half of its noise multipliers here.

    Opacus takes it as ``PrivacyEngine(accountant="sottovoce")`` after :meth:`register`.
    """

    def __init__(self, neighboring_relation: Any = None, *, adjacency: str | None = None):
        if adjacency is not None and neighboring_relation is not None:
            raise wrong("adjacency", adjacency, f"the relation {neighboring_relation} is given beside it; give one of the two")
        self._adjacency = _events.adjacency(neighboring_relation if adjacency is None else adjacency)
        self._history: list[dict[str, Any]] = []

    @property
    def history(self) -> list[dict[str, Any]]:
        """Releases, each with how often it was made."""
        return self._history

    @history.setter
    def history(self, releases: Iterable[Any]) -> None:
        """Takes Opacus' triples (noise multiplier, sample rate, steps), too."""
        self._history = []
        for release in releases:
            if isinstance(release, tuple):
                noise, rate, steps = release
                self._step(noise, rate, _values.whole("steps", steps, 0))
            else:
                self.compose(release)

    @classmethod
    def mechanism(cls) -> str:
        """Its name, as Opacus asks for it."""
        return "sottovoce"

    @classmethod
    def register(cls) -> None:
        """Makes it known to Opacus, by its name."""
        try:
            from opacus.accountants import registry
        except ImportError as error:
            remedy = "pip install opacus"
            raise SottovoceError(f"`opacus` is missing: {remedy}", 2, "opacus", "missing", remedy) from error
        registry.register_accountant(cls.mechanism(), cls, force=True)

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What Opacus calls after each step of its optimiser."""

        def stepped(optimizer: Any) -> None:
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate * optimizer.accumulated_iterations)

        return stepped

    def state_dict(self, destination: Any = None) -> Any:
        """What a checkpoint of Opacus keeps."""
        kept = {} if destination is None else destination
        kept.update(mechanism=self.mechanism(), adjacency=self._adjacency, history=copy.deepcopy(self._history))
        return kept

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes up what :meth:`state_dict` gave."""
        for field, ours in [("mechanism", self.mechanism()), ("adjacency", self._adjacency)]:
            if not state_dict or state_dict.get(field) != ours:
                found = state_dict.get(field) if state_dict else "missing"
                raise wrong(field, found, f"this accountant has {ours}; give the state of one like it")
        self.history = copy.deepcopy(state_dict["history"])

    def __len__(self) -> int:
        return sum(event.get("steps", 1) for event in self.history)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """One step of DP-SGD."""
        self._step(noise_multiplier, sample_rate, 1)

    def _step(self, noise_multiplier: float, sample_rate: float, steps: int) -> None:
        noise, rate = float(_values.number("noise_multiplier", noise_multiplier)), float(_values.number("sample_rate", sample_rate))
        if steps > 0:
            self.compose(_events.PUBLISHED if noise == 0 and rate > 0 else {"gaussian": {"noise_multiplier": noise}, "sampling_rate": rate}, steps)

    def compose(self, event: Any, count: int = 1) -> Accountant:
        """The same release, so often: an event of dp-accounting, or an entry of :func:`events`. What is not known is refused when it is composed."""
        added = _events.entries(event, count)
        # A step like the last one was accepted before.
        if len(added) > 1 or not self._adds_to_last(added[0]):
            events(added, adjacency=self._adjacency, delta=0.5)
            for entry in added:
                if not self._adds_to_last(entry):
                    self._history.append(entry)
        return self

    def _adds_to_last(self, entry: dict[str, Any]) -> bool:
        def alike(event: dict[str, Any]) -> dict[str, Any]:
            return {key: value for key, value in event.items() if key != "steps"}

        if not self.history or alike(self.history[-1]) != alike(entry):
            return False
        self.history[-1]["steps"] += entry["steps"]
        return True

    def supports(self, event: Any) -> bool:
        """Whether the event can be accounted for under this relation."""
        try:
            events(_events.entries(event), adjacency=self._adjacency, delta=0.5)
        except SottovoceError:
            return False
        return True

    def get_epsilon(self, delta: float, *, alphas: Any = None, eps_error: Any = None, delta_error: Any = None) -> float:
        """Epsilon of all of it at this delta, from above; infinite where none holds.

        ``alphas``, ``eps_error`` and ``delta_error`` are there for those who come from Opacus: orders and grids are chosen here, and errors are counted in.
        """
        epsilon = self.account(delta=_values.number("delta", delta))["epsilon"]["pld"]["upper"]
        return math.inf if epsilon is None else float(epsilon)

    def get_delta(self, epsilon: float) -> float:
        """Delta of all of it at this epsilon, from above."""
        return float(self.account(epsilon=_values.number("epsilon", epsilon))["delta_at_epsilon"]["upper"])

    def get_rdp(self, orders: list[float]) -> list[float]:
        """Rényi losses of all of it at these orders (1: the mean loss), from above."""
        renyi = self.account(orders=orders)["renyi"]
        if isinstance(renyi, dict):
            raise SottovoceError(f"there are no Rényi losses: {renyi['none']}")
        return [math.inf if each["loss"] is None else float(each["loss"]) for each in renyi]

    def account(self, **options: Any) -> Result:
        """Everything that ``account mechanism`` says about it."""
        return events(self.history or [_events.NOTHING], adjacency=self._adjacency, **options)
