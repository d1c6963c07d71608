"""The experiment: one description that all commands take."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _sottovoce, _values, graphs
from ._ask import MEMORY, Inputs, held, said, words
from ._errors import SottovoceError, wrong
from ._progress import Listener
from ._result import Result

#: Someone who sees every message, as an adversary.
WIRE_TAPPER = "wire-tapper"


class Experiment:
    """What is run, planned, accounted for and audited, with the fields of an experiment's file.

    From a mapping, from keyword arguments, or from TOML (:meth:`from_toml`). Where a file of a graph is asked for, a graph is one, too; where a table
    of values is, an array, or a mapping from names under ``file``: ``values={"file": {"ana": 1.0, "ben": 2.0}}``; where data are, :class:`Rows`. These
    are kept in memory, and its TOML has ``<memory>`` for them.

    >>> ring = Experiment(experiment="averaging", graph={"family": {"ring": {"n": 12}}}, noise={"sigma": 2.0})
    >>> ring
    Experiment(averaging)
    >>> Experiment(experiment="averaging", graph=[("ana", "ben"), ("ben", "eva")], noise={"sigma": 2.0}).account("ben").guarantees[0].standing
    'proven'
    """

    def __init__(self, fields: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        if fields is not None and not isinstance(fields, Mapping):
            raise wrong("experiment", fields, "give a mapping of its fields; a file or its text goes to Experiment.from_toml")
        kept: dict[str, Any] = {**(fields or {}), **more}
        kept, self._inputs = _in_memory(kept)
        self._text = _toml(kept)
        self._toml, self._fields = _checked(self._text)
        self._folder = Path.cwd()

    @classmethod
    def from_toml(cls, source: str | os.PathLike[str]) -> Experiment:
        """From a file of this name, or from its text. Names of files in it begin in the file's folder, or in this one."""
        if not isinstance(source, (str, os.PathLike)):
            raise wrong("experiment", source, "give the name of a file, or its text")
        named = isinstance(source, os.PathLike) or "\n" not in source and source.endswith(".toml")
        path = Path(source) if named else None
        new = cls.__new__(cls)
        try:
            new._text = path.read_text(encoding="utf-8") if path else str(source)
        except (OSError, ValueError) as error:
            raise wrong("experiment", str(path), f"it cannot be read ({error}); check the name") from error
        new._inputs = {}
        new._toml, new._fields = _checked(new._text)
        new._folder = path.resolve().parent if path else Path.cwd()
        return new

    def to_toml(self) -> str:
        """The experiment as a file has it."""
        return self._toml

    def to_dict(self) -> dict[str, Any]:
        """All fields, defaults filled in."""
        fields: dict[str, Any] = json.loads(self._fields)
        return fields

    def __repr__(self) -> str:
        return f"Experiment({self.to_dict()['experiment']})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and (self._fields, self._inputs) == (other._fields, other._inputs)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self._text, self._folder, self._inputs))

    def run(self, *, progress: bool | Listener | None = None, **options: Any) -> Result:
        """Runs it: ``sottovoce run FILE``."""
        return self._ask("run", options, progress)

    def account(self, adversary: str | int | Iterable[str | int] | None = None, *, progress: bool | Listener | None = None, **options: Any) -> Result:
        """What it reveals to whom, without running it: ``sottovoce account FILE``.

        ``adversary`` is a peer by its name, several who pool what they hear, or :data:`WIRE_TAPPER`, someone who sees every message; without it, whom the
        experiment names. :meth:`Result.towards` picks what is promised towards one kind of them.
        """
        if adversary is None:
            return self._ask("account", options, progress)
        # What someone learns who sees every message is said whoever else listens.
        wire = isinstance(adversary, str) and adversary == WIRE_TAPPER
        observers = [] if wire else [graphs.named("adversary", one) for one in _several(adversary)]
        if self.to_dict()["experiment"] == "learning":
            return self._ask("account", {**options, "observers": observers or None}, progress)
        return self._towards(adversary, observers)._ask("account", options, progress)

    def plan(self, *, progress: bool | Listener | None = None, **options: Any) -> Result:
        """Protocol, noise and steps for its target: ``sottovoce plan FILE``."""
        return self._ask("plan", options, progress)

    def audit(self, *, progress: bool | Listener | None = None, **options: Any) -> Result:
        """Attacks it, and holds what was found against what is claimed: ``sottovoce audit FILE``. A claim that fell is an error of code 1."""
        return self._ask("audit", options, progress)

    def _towards(self, adversary: str | int | Iterable[str | int], observers: list[str]) -> Experiment:
        """The same averaging with other observers."""
        fields = self.to_dict()
        if fields["experiment"] != "averaging":
            raise wrong("adversary", adversary, f"of {fields['experiment']} it is said towards everybody; Result.towards picks one of them")
        fields["adversary"] = {**fields.get("adversary", {}), "observers": observers}
        return _again(_toml(fields), self._folder, self._inputs)

    def _ask(self, command: str, options: Mapping[str, Any], progress: bool | Listener | None) -> Result:
        # Beside the files that it names, which begin where it is.
        try:
            file = tempfile.NamedTemporaryFile("w", suffix=".toml", prefix=".sottovoce-", dir=self._folder, encoding="utf-8", delete=False)
        except OSError as error:
            raise SottovoceError(f"`experiment` cannot be written to {self._folder}: {error}", 3) from error
        with file:
            file.write(self._text)
        try:
            return said(words(command, file.name, **{**options, "json": True}), progress, self._inputs)
        finally:
            os.unlink(file.name)


def _again(text: str, folder: Path, inputs: Inputs) -> Experiment:
    """An experiment of this text, with inputs that are in memory."""
    new = Experiment.__new__(Experiment)
    new._inputs, new._folder, new._text = inputs, folder, text
    new._toml, new._fields = _checked(text)
    return new


def _several(adversary: Any) -> list[Any]:
    """One peer, or several."""
    if hasattr(adversary, "tolist"):
        adversary = adversary.tolist()
    if isinstance(adversary, (list, tuple, set, frozenset, range)):
        return list(adversary)
    if isinstance(adversary, Iterable) and not isinstance(adversary, (str, bytes, bytearray, Mapping)):
        return list(adversary)
    return [adversary]


def _in_memory(fields: Mapping[str, Any]) -> tuple[dict[str, Any], Inputs]:
    """The fields with ``<memory>`` for graphs, values and rows, and what these are."""
    given = {name: _section(section, name) for name, section in fields.items()}
    places = [("graph", "graph", "file"), ("values", "values", "file"), ("similar", "task", "similar"), ("data", "task", "data"), ("keys", "noise", "keys")]
    there = [(option, given[section], field) for option, section, field in places if isinstance(given.get(section), dict) and field in given[section]]
    options, inputs = held({option: section[field] for option, section, field in there})
    for option, section, field in there:
        if options[option] == MEMORY:
            section[field] = MEMORY
    if "peer_column" in options:
        given["task"]["peer-column"] = options["peer_column"]
    return given, inputs


def _section(section: Any, name: str) -> Any:
    """A section of its own; a graph, or values, are those under ``file``."""
    if isinstance(section, Mapping):
        return dict(section)
    return {"file": section} if name in ("graph", "values") and section is not None else section


def _toml(fields: Mapping[str, Any]) -> str:
    try:
        return _sottovoce.toml_of(json.dumps(_values.plain(fields, "")))
    except ValueError as error:
        raise _refused(error) from None


def _checked(text: str) -> tuple[str, str]:
    try:
        return _sottovoce.experiment(text)
    except ValueError as error:
        raise _refused(error) from None


def _refused(error: ValueError) -> SottovoceError:
    if isinstance(error, SottovoceError):
        return error
    message, fault = error.args if len(error.args) == 2 else (str(error), None)
    field, value, remedy = fault or (None, None, None)
    return SottovoceError(message, 2, field, value, remedy)
