"""Documents of commands, and the guarantees in them."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import Any


class Guarantee(Mapping):
    """What is promised: towards whom, of what, how much, by what right, and where it ends."""

    def __init__(self, fields: Mapping[str, Any]):
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
        return self._fields["adversary"]

    @property
    def standing(self) -> str:
        """By what right: ``proven``, ``conditional``, ``published`` or ``refuted``."""
        return self._fields["standing"]

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
        return f"Guarantee(epsilon={self.epsilon:.6g}, delta={self.delta:g}, adversary={self.adversary!r}, standing={self.standing!r})"

    def _repr_html_(self) -> str:
        return _table([self])


class Result(Mapping):
    """A command's document: keys as JSON has them, also as attributes; lists of numbers as arrays by :meth:`array`."""

    def __init__(self, document: Mapping[str, Any]):
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
        return self._document.get("headline") or self._document.get("statement") or ""

    @property
    def guarantees(self) -> list[Guarantee]:
        """Every guarantee in the document, wherever it stands in it."""
        found = self._document.get("guarantees")
        return [Guarantee(one) for one in (_guarantees(self._document) if found is None else found)]

    def array(self, *path: str | int):
        """The list at this path as a NumPy array: ``result.array("losses")``."""
        import numpy

        found: Any = self._document
        for step in path:
            found = found[step]
        return numpy.asarray(found)

    def to_pandas(self, *path: str | int):
        """The list of objects at this path, or all guarantees, as a data frame."""
        import pandas

        if not path:
            return pandas.DataFrame([dict(one) for one in self.guarantees])
        found: Any = self._document
        for step in path:
            found = found[step]
        return pandas.json_normalize(found)

    def to_json(self) -> str:
        """As the command prints it, but for blanks."""
        return json.dumps(self._document)

    def __repr__(self) -> str:
        return f"Result({self.headline or ', '.join(self._document)})"

    def _repr_html_(self) -> str:
        return f"<p><strong>{html.escape(self.headline)}</strong></p>{_table(self.guarantees)}"


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


def _table(guarantees: list[Guarantee]) -> str:
    if not guarantees:
        return ""
    row = "".join
    cells = lambda tag, texts: row(f"<{tag}>{html.escape(str(text))}</{tag}>" for text in texts)  # noqa: E731
    head = cells("th", ["who", "epsilon", "delta", "standing", "not covered"])
    lines = [
        cells("td", [one.adversary, f"{one.epsilon:.4g}", f"{one.delta:g}", one.standing, "; ".join(one.not_covered)]) for one in guarantees
    ]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{row(f'<tr>{line}</tr>' for line in lines)}</tbody></table>"
