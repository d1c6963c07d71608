"""Writes ``python/sottovoce/account.py``: one typed function for each accountant, from what ``sottovoce schema --options`` says.

    python bindings/python/generate.py            # after options of `sottovoce account` have changed

No default is written down: what is not given is left to the command line.
"""

from __future__ import annotations

import keyword
import sys
from pathlib import Path
from typing import Any

import sottovoce

FILE = Path(__file__).parent / "python" / "sottovoce" / "account.py"

#: Accountants by their commands; others take files of the command line's own.
COMMANDS = ["averaging", "walk", "rumor", "learning", "personalized", "deep", "mechanism"]

#: Options of every command that are no questions here: documents are always asked for, and say everything.
LEFT_OUT = {"json", "quiet", "verbose"}

#: Options for which an object may stand.
OBJECTS = {"graph": "Graph", "keys": "Graph", "similar": "Graph"}

HEAD = '''"""Accountants as functions: ``averaging(graph=club, steps=6, observers=[0])`` is ``sottovoce account averaging`` with these options.

What is not given is left to the command line, whose defaults are named below. Written by ``generate.py`` from what ``sottovoce schema --options`` says.

>>> rumor(peers=40, curious=4).guarantees[0].standing
'proven'
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, Union

from ._ask import ask
from ._progress import Listener
from ._result import Result
from .graphs import Graph

#: The name of a file.
Path = Union[str, "os.PathLike[str]"]
#: Texts, and numbers that are written as such.
Text = Union[str, int, float]


def _asked(command: str, given: dict[str, Any]) -> Result:
    return ask("account", command, **given)
'''


def kind(option: dict[str, Any]) -> str:
    """The annotation of an option."""
    if option["name"] in OBJECTS and not option["positional"]:
        return OBJECTS[option["name"]]
    one = {"flag": "bool", "integer": "int", "number": "float", "path": "Path", "text": "Text"}
    if "|" in (option["value"] or "") and option["kind"] != "choice":  # a number, or a word
        found = "Text"
    elif option["kind"] == "choice":
        found = f"Literal[{', '.join(repr(value['value']).replace(chr(39), chr(34)) for value in option['possible'])}]"
    else:
        found = one[option["kind"]]
    return f"{found} | Sequence[{found}]" if option["many"] else found


def python_name(option: dict[str, Any]) -> str:
    """The option as an argument of a function."""
    name = str(option["name"]).replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def says(option: dict[str, Any]) -> list[str]:
    """What an option is for, and its default."""
    text = " ".join(str(option["help"]).split()).replace("\\", "\\\\").replace('"""', "'''")
    default = f" (default: {option['default']})" if option["default"] is not None else ""
    return [f"        {python_name(option)}: {text}{default}"]


def function(command: dict[str, Any]) -> str:
    """The function of a command."""
    name = command["name"].split()[-1]
    options = [option for option in command["options"] if option["name"] not in LEFT_OUT]
    if any(option["positional"] for option in options):
        raise SystemExit(f"{command['name']} takes arguments without names")
    arguments = [f"    {python_name(option)}: {kind(option)} | None = None," for option in options]
    lines = [f"def {name}(", "    *,", *arguments, "    progress: bool | Listener | None = None,", ") -> Result:"]
    about = command["about"].splitlines()[0]
    lines += [f'    """{about}', "", f"    ``sottovoce {command['name']}``, with its options:", ""]
    for option in options:
        lines += says(option)
    lines += ["        progress: ``True`` for a bar, or what is called with ``(what, done, total)``", '    """']
    lines += [f'    return _asked("{name}", locals())']
    return "\n".join(lines)


def written() -> str:
    """The whole file."""
    all_commands = {one["name"]: one for one in sottovoce.ask("schema", "account", options=True)["commands"]}
    functions = [function(all_commands[f"account {name}"]) for name in COMMANDS]
    return "\n\n\n".join([HEAD.rstrip(), *functions]) + "\n"


if __name__ == "__main__":
    text = written()
    if "--check" in sys.argv:
        sys.exit(0 if FILE.read_text(encoding="utf-8") == text else f"{FILE.name} is out of date; run generate.py")
    FILE.write_text(text, encoding="utf-8")
