"""Words in, one JSON document out."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

from . import _values, graphs
from ._errors import SottovoceError, fallen, wrong
from ._progress import Listener, listening
from ._result import Result
from ._sottovoce import ask as _ask

#: What came of a command: its exit code, what it printed (or its error), remarks, the field at fault, and what was printed before a claim fell.
Said = tuple[int, str, list[str], "tuple[str, str, str] | None", str]

__all__ = ["SottovoceError", "ask", "said", "said_text", "words"]

#: Options that take a graph.
GRAPHS = ("graph", "similar", "keys")

#: What stands for the name of a file where the input is handed over beside the words.
MEMORY = "<memory>"

#: Graphs, values and rows, by what they are.
Inputs = dict[str, Any]


def _text(option: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, bool) or value is None:
        raise wrong(option, value, "give a number or a text")
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)
    if hasattr(value, "tolist"):
        return _text(option, _values.plain(value, option))
    if isinstance(value, (list, tuple, range)):
        texts = [_text(option, each) for each in value]
        split = [text for text in texts if "," in text]
        if split and not any(isinstance(each, (list, tuple, range)) for each in value):
            raise wrong(option, split[0], "a comma parts what is listed, so that no name in a list can have one; rename it, or use Experiment")
        return ",".join(texts)
    raise wrong(option, value, "give a number, a text or a list of them")


@cache
def _takes_a_value(option: str) -> bool:
    """Whether no command has it as an option without a value."""
    commands = json.loads(_printed(["schema", "--options", "--json"], None))["commands"]
    found = [one for command in commands for one in command["options"] if one["name"] == option]
    return bool(found) and not any(one["kind"] == "flag" or one["optional"] for one in found)


def words(*command: Any, **options: Any) -> list[str]:
    """The words of a command: ``True`` is an option without a value; ``None`` leaves it out, and so does ``False`` where it is one without a value.

    >>> words("account", "rumor", peers=40, json=True)
    ['account', 'rumor', '--peers=40', '--json']
    """
    all_words = [_text("command", word) for word in command]
    for name, given in options.items():
        value = _values.plain(given, name) if hasattr(given, "tolist") else given  # NumPy's truths, numbers and arrays
        if value is None:
            continue
        option = "--" + name.rstrip("_").replace("_", "-")
        if isinstance(value, bool):
            if name != "json" and _takes_a_value(option[2:]):
                raise wrong(name, value, "give a value, and no truth; None leaves it out")
            all_words += [option] if value else []
            continue
        # One word, so that negative numbers are none of the options.
        all_words.append(f"{option}={_text(name, value)}")
    return all_words


def ask(*command: Any, progress: bool | Listener | None = None, **options: Any) -> Result:
    """Runs a command of the command line in this process, and returns its JSON document.

    ``ask("account", "rumor", peers=40, curious=4)`` is ``sottovoce account rumor --peers 40 --curious 4 --json``. Where an option takes a graph, a
    networkx graph, a SciPy or NumPy adjacency matrix or a list of edges is one, too; where it takes a table of values, an array or a mapping from names;
    where it takes data, :class:`Rows`. They are handed over in memory.

    ``progress`` is ``True`` for a bar, or called with ``(what, done, total)``; what it raises ends the work, as Ctrl-C does.

    >>> ask("account", "rumor", peers=40, curious=4).guarantees[0].standing
    'proven'
    """
    given, inputs = held(options)
    return said(words(*command, **{**given, "json": True}), progress, inputs)


def held(options: Mapping[str, Any]) -> tuple[dict[str, Any], Inputs]:
    """The options with ``<memory>`` for graphs, values and rows, and what these are."""
    given, inputs = dict(options), Inputs()
    for name in GRAPHS:
        graph = graphs.settled(given.get(name))
        if graph is not None and graphs.is_object(graph):
            given[name], inputs[name] = MEMORY, graphs.edges(graph)
    values, rows = given.get("values"), given.get("data")
    if values is not None and graphs.is_object(values):
        given["values"], inputs["values"] = MEMORY, _values.held(values)
    if isinstance(rows, _values.Rows):
        given["data"], inputs["rows"] = MEMORY, rows.held()
        if inputs["rows"][2]:
            given["peer_column"] = _values.OWNER
    return given, inputs


def said(command: list[str], progress: bool | Listener | None = None, inputs: Inputs | None = None) -> Result:
    """The document of a command that asks for one."""
    printed = _printed(command, progress, inputs)
    try:
        return Result(json.loads(printed))
    except ValueError as error:
        raise wrong("command", " ".join(command), "it prints no document; give a command that has one") from error


def read_said(answer: Said) -> Result:
    """The document in an answer."""
    return Result(json.loads(_read(answer)))


def said_text(*command: Any, **options: Any) -> str:
    """What a command prints that has no document."""
    return _printed(words(*command, **options), None)


def _printed(command: list[str], progress: bool | Listener | None, inputs: Inputs | None = None) -> str:
    try:
        with listening(progress) as hear:
            answer = _ask(command, hear, inputs)
    except UnicodeEncodeError as error:
        raise wrong("command", command, "names and texts are Unicode; this one is not") from error
    return _read(answer)


def _read(answer: Said) -> str:
    code, printed, notes, fault, before = answer
    if code:
        raise fallen(code, printed, fault, before)
    for note in notes:
        warnings.warn(note, stacklevel=5)
    return printed
