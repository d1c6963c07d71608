"""Words in, one JSON document out."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from . import graphs
from ._result import Result
from ._sottovoce import ask as _ask

#: Options that take a graph: objects are written to a file for the command.
GRAPHS = ("graph", "similar")


class SottovoceError(ValueError):
    """What the command line says, and the parts of it.

    ``field``, ``value`` and ``remedy`` are none where the message names no field; ``code`` is what the program exits with: 1 a claim fell, 2 bad
    input, 3 the machine failed.
    """

    def __init__(self, message: str, code: int = 2, field: str | None = None, value: str | None = None, remedy: str | None = None):
        super().__init__(message)
        self.code = code
        self.field = field
        self.value = value
        self.remedy = remedy

    def __reduce__(self):
        return (SottovoceError, (str(self), self.code, self.field, self.value, self.remedy))


def _text(option: str, value: Any) -> str:
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return ",".join(_text(option, each) for each in (sorted(value) if isinstance(value, (set, frozenset)) else value))
    if isinstance(value, bool) or value is None:
        raise SottovoceError(f"`{option}` is {value}: give a number or a text", field=option, value=str(value), remedy="give a number or a text")
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        plain = value.tolist()
        return _text(option, plain)
    if isinstance(value, (int, float)):
        return repr(value)
    remedy = "give a number, a text or a list of them"
    raise SottovoceError(f"`{option}` is {value!r}: {remedy}", field=option, value=repr(value), remedy=remedy)


def words(*command: Any, **options: Any) -> list[str]:
    """The words of a command: ``true`` is an option without a value; ``None`` and ``False`` leave it out."""
    all_words = [_text("command", word) for word in command]
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            all_words.append(option)
        else:
            # One word, so that negative numbers are none of the options.
            all_words.append(f"{option}={_text(name, value)}")
    return all_words


def ask(*command: Any, **options: Any) -> Result:
    """Runs a command of the command line in this process, and returns its JSON document.

    ``ask("account", "rumor", peers=40, curious=4)`` is ``sottovoce account rumor --peers 40 --curious 4 --json``. Where an option takes a graph, a
    networkx graph, a SciPy or NumPy adjacency matrix or a list of edges is one, too.
    """
    with ExitStack() as kept:
        for name in GRAPHS:
            if name in options and options[name] is not None and not isinstance(options[name], (str, os.PathLike)):
                folder = Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="sottovoce-")))
                options[name] = graphs.write(options[name], folder / f"{name}.json")
        return said(words(*command, **options, json=True))


def said(command: list[str]) -> Result:
    """The document of a command that asks for one."""
    return read_said(_ask(command))


def read_said(answer: tuple) -> Result:
    """The document in an answer."""
    code, printed, notes, fault = answer
    if code:
        field, value, remedy = fault or (None, None, None)
        raise SottovoceError(printed, code, field, value, remedy)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return Result(json.loads(printed))


def said_text(*command: Any, **options: Any) -> str:
    """What a command prints that has no document."""
    code, printed, notes, fault = _ask(words(*command, **options))
    if code:
        field, value, remedy = fault or (None, None, None)
        raise SottovoceError(printed, code, field, value, remedy)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return printed
