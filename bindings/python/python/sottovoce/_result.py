"""Documents of commands, and the guarantees in them."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Context
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import wrong

if TYPE_CHECKING:
    import numpy
    import pandas

#: Pictures that are shown in a notebook, at most so many bytes of them.
SHOWN = 4_000_000


class Guarantee(Mapping[str, Any]):
    """What is promised: towards whom, of what, how much, by what right, and where it ends.

    >>> import sottovoce
    >>> promised = sottovoce.ask("account", "mechanism", gaussian=True, noise_multiplier=2.0, delta=1e-5).guarantees[0]
    >>> promised.delta, promised.standing, 0 < promised.epsilon < 3
    (1e-05, 'proven', True)
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    @property
    def epsilon(self) -> float:
        """The loss, at :attr:`delta`; infinite where nothing is promised."""
        epsilon = self._fields.get("epsilon")
        return float("inf") if epsilon is None else float(epsilon)

    @property
    def delta(self) -> float:
        """The probability with which the bound may fail."""
        return float(self._fields["delta"])

    @property
    def adversary(self) -> str:
        """Who attacks."""
        return str(self._fields["adversary"])

    @property
    def standing(self) -> str:
        """By what right: ``proven``, ``conditional``, ``published`` or ``refuted``."""
        standing = self._fields["standing"]
        return str(next(iter(standing)) if isinstance(standing, Mapping) else standing)

    @property
    def conditions(self) -> list[str]:
        """What it rests on where it is ``conditional``, what refutes it where it is ``refuted``; else nothing."""
        standing = self._fields["standing"]
        found = next(iter(standing.values())) if isinstance(standing, Mapping) else []
        return [str(one) for one in found] if isinstance(found, list) else [str(found)]

    @property
    def not_covered(self) -> list[str]:
        """Where it ends."""
        return list(self._fields.get("not_covered", []))

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"Guarantee(epsilon={_up(self.epsilon, 6)}, delta={_up(self.delta, 6)}, adversary={self.adversary!r}, standing={self.standing!r})"

    def _repr_html_(self) -> str:
        return _table([self])


class Result(Mapping[str, Any]):
    """A command's document: keys as JSON has them, also as attributes; lists of numbers as arrays by :meth:`array`.

    >>> import sottovoce
    >>> found = sottovoce.ask("account", "rumor", peers=40, curious=4)
    >>> found.nodes == found["nodes"] == 40
    True
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = dict(document)

    def __getitem__(self, key: str) -> Any:
        return self._document[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __len__(self) -> int:
        return len(self._document)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_document"][name]
        except KeyError:
            raise AttributeError(f"this document has no `{name}`; it has {', '.join(self.__dict__.get('_document', {}))}") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._document})

    @property
    def headline(self) -> str:
        """In a sentence, where the document has one."""
        said = [self._document.get(key) for key in ("headline", "statement")] + list(self._document.get("statements", []))
        return next((text for text in said if isinstance(text, str) and text), "")

    @property
    def guarantees(self) -> list[Guarantee]:
        """Every guarantee in the document, wherever it stands in it."""
        found = self._document.get("guarantees")
        return [Guarantee(one) for one in (_guarantees(self._document) if found is None else found)]

    def towards(self, adversary: str) -> list[Guarantee]:
        """What is promised towards one kind of adversary: ``wire-tapper``, ``peer``, ``coalition`` or whatever else the document names."""
        found = [one for one in self.guarantees if one.adversary == adversary]
        if not found:
            raise wrong("adversary", adversary, f"there is {', '.join(sorted({one.adversary for one in self.guarantees})) or 'none'}")
        return found

    def at(self, *path: str | int) -> Any:
        """What the document has at this path: ``result.at("guarantees", 0, "epsilon")``; a path that does not exist is named."""
        found: Any = self._document
        for place, step in enumerate(path):
            try:
                found = found[step]
            except (KeyError, IndexError, TypeError) as error:
                there = ", ".join(map(str, found)) if isinstance(found, Mapping) else f"{len(found)} entries" if isinstance(found, list) else "a value"
                raise wrong("path", "/".join(map(str, path[: place + 1])), f"there is {there}") from error
        return found

    def array(self, *path: str | int) -> numpy.ndarray[Any, Any]:
        """The numbers at this path as a NumPy array: ``result.array("leakage")``. What is missing there is NaN."""
        import numpy

        found = self.at(*path)
        try:
            numbers: numpy.ndarray[Any, Any] = numpy.asarray(found, dtype=None if _whole(found) else float)
            return numbers
        except (TypeError, ValueError) as error:
            raise wrong("path", "/".join(map(str, path)), "what is there are no numbers, or rows of unlike lengths") from error

    def to_pandas(self, *path: str | int) -> pandas.DataFrame:
        """The list of objects at this path, or all guarantees, as a data frame. An epsilon without bound is infinite."""
        import pandas

        found = _unbounded(self.at(*path) if path else [dict(one) for one in self.guarantees])
        deep = isinstance(found, dict) or path and isinstance(found, list) and all(isinstance(one, dict) for one in found)
        frame: pandas.DataFrame = pandas.json_normalize(found) if deep else pandas.DataFrame(found if isinstance(found, list) else [found])
        return frame

    def to_json(self) -> str:
        """As the command prints it, but for blanks."""
        return json.dumps(self._document)

    @property
    def pictures(self) -> dict[str, str]:
        """The report's own charts, by name, as SVG: of a run that wrote them."""
        named = [Path(each) for each in self._document.get("files", []) if str(each).endswith(".svg")]
        return {path.stem: path.read_text(encoding="utf-8") for path in named if path.is_file()}

    def __repr__(self) -> str:
        return f"Result({self.headline or ', '.join(self._document)})"

    def _repr_html_(self) -> str:
        shown, left = [], SHOWN
        for name, picture in self.pictures.items():
            left -= len(picture)
            if left < 0:
                break
            # As an image: what is in it is drawn, and never run.
            data = base64.b64encode(picture.encode()).decode()
            shown.append(f'<figure><img alt="{html.escape(name)}" src="data:image/svg+xml;base64,{data}" style="max-width:100%"></figure>')
        said = f"<p><strong>{html.escape(self.headline)}</strong></p>" if self.headline else _facts(self._document)
        return f"{said}{_table(self.guarantees)}{''.join(shown)}"


def _facts(document: Mapping[str, Any]) -> str:
    """The numbers and words of a document without a headline, as a table."""
    plain = [(key, value) for key, value in document.items() if isinstance(value, (str, int, float)) and key not in ("schema_version", "version")]
    rows = (f"<tr><td>{html.escape(key)}</td><td>{html.escape(str(value))}</td></tr>" for key, value in plain)
    return f"<table>{''.join(rows)}</table>"


def _whole(found: Any) -> bool:
    """Whether these are whole numbers, or truths, all of them."""
    if isinstance(found, list):
        return bool(found) and all(map(_whole, found))
    return isinstance(found, int)


def _guarantees(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        if {"delta", "adversary", "standing", "not_covered"} <= value.keys():
            yield value
            return
        for below in value.values():
            yield from _guarantees(below)
    elif isinstance(value, list):
        for below in value:
            yield from _guarantees(below)


def _unbounded(found: Any) -> Any:
    """Guarantees in a list with an infinite epsilon where none is promised: no number would be passed over in a maximum."""

    def one(row: Any) -> Any:
        if isinstance(row, dict) and {"delta", "adversary", "standing"} <= row.keys():
            return {**row, "epsilon": Guarantee(row).epsilon}
        return row

    return [one(row) for row in found] if isinstance(found, list) else one(found)


def _up(number: float, digits: int) -> str:
    """A loss in so many digits: never less than it is."""
    if not isfinite(number):
        return f"{number:g}"
    return f"{float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(float(number)))):.{digits}g}"


def _table(guarantees: list[Guarantee]) -> str:
    if not guarantees:
        return ""

    def cells(tag: str, texts: list[str]) -> str:
        return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)

    def line(one: Guarantee) -> str:
        return cells("td", [str(one.get("about", "")), one.adversary, _up(one.epsilon, 4), _up(one.delta, 6), one.standing, "; ".join(one.not_covered)])

    head = cells("th", ["what", "adversary", "epsilon", "delta", "standing", "not covered"])
    lines = [line(one) for one in guarantees]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
