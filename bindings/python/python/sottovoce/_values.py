"""Private values and rows, as the command line takes them from memory."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import graphs
from ._errors import wrong

#: The largest number that there is.
LARGEST = sys.float_info.max


def plain(value: Any, place: str, depth: int = 0) -> Any:
    """A copy without what is left out, with NumPy's numbers as Python's; ``place`` is the field's name. Nobody else can change it."""
    if depth > 50:
        raise wrong(place, "nested too deep", "give a mapping that ends")
    value = _listed(value, place)
    if isinstance(value, Mapping):
        named = {str(key): below for key, below in value.items() if below is not None}
        return {key: plain(below, f"{place}.{key}" if place else key, depth + 1) for key, below in named.items()}
    if isinstance(value, (list, tuple)):
        return [plain(below, place, depth + 1) for below in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise wrong(place, value, "give a finite number")
    if not isinstance(value, (str, int, float)):
        raise wrong(place, value, "give a number, a text, a list or a mapping of them")
    if isinstance(value, str) and not _is_unicode(value):
        raise wrong(place, ascii(value), "texts are Unicode; this one is not")
    return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _listed(value: Any, place: str) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if not hasattr(value, "tolist"):
        return value
    found = value.tolist()
    if hasattr(found, "tolist"):  # numbers that Python has not
        raise wrong(place, value, "give a number of at most 64 bits")
    return found


def whole(field: str, value: Any, least: int, most: int = 2**64 - 1) -> int:
    """A whole number in this range."""
    remedy = f"give a whole number of at least {least}, and below 2^64" if most == 2**64 - 1 else f"give a whole number from {least} to {most}"
    if isinstance(value, bool) or not hasattr(value, "__index__") and not isinstance(value, float):
        raise wrong(field, value, remedy)
    if isinstance(value, float) and not value.is_integer():
        raise wrong(field, value, remedy)
    number = int(value)
    if not least <= number <= most:
        raise wrong(field, value, remedy)
    return number


def number(field: str, value: Any) -> float:
    """A number: no truth, nothing left out."""
    found = _listed(value, field)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise wrong(field, value, "give a number")
    return found


#: The column that names the owners of rows.
OWNER = "owner"


@dataclass(frozen=True)
class Rows:
    """Private rows in memory, for ``data``: features, a label and an owner of each, and names of the columns, which are 0, 1, ... without.

    Without owners rows are dealt out. ``ask("run", "learning", data=Rows(features, labels), range=["0=0:1", "1=0:120"], peers=8)``.
    """

    features: Any
    labels: Any
    owners: Any = ()
    columns: Any = ()

    def held(self) -> tuple[list[list[float]], list[float], list[str], list[str]]:
        """As lists."""
        features = [_numbers(row, numbers, "features") for row, numbers in enumerate(_listed(self.features, "features"))]
        labels = _numbers("the rows", self.labels, "labels")
        names = [[graphs.named(field, one) for one in _listed(all_names, field)] for field, all_names in (("owners", self.owners), ("columns", self.columns))]
        return features, labels, names[0], names[1]


def held(values: Any) -> list[tuple[str | None, list[float]]]:
    """Numbers of each peer: a mapping from names, or a list, an array or a column in the order of the graph's peers."""
    if hasattr(values, "to_dict") and hasattr(values, "index"):  # a column of pandas, by its names
        if not values.index.is_unique:
            raise wrong("values", "a column in which a name stands twice", "give every peer one value")
        values = values.to_dict()
    if isinstance(values, Mapping):
        return [(graphs.name(name), _numbers(name, value)) for name, value in values.items()]
    if hasattr(values, "ndim") and values.ndim not in (1, 2):
        raise wrong("values", f"an array of {values.ndim} dimensions", "give one number, or one row, for each peer")
    plain = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(plain, (list, tuple)):
        raise wrong("values", values, "give an array, a list, or a mapping from the peers' names")
    return [(None, _numbers(peer, value)) for peer, value in enumerate(plain)]


def _numbers(name: Any, value: Any, field: str = "values") -> list[float]:
    plain = value.tolist() if hasattr(value, "tolist") else value
    numbers = list(plain) if isinstance(plain, (list, tuple)) else [plain]
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not -LARGEST <= number <= LARGEST:
            raise wrong(field, f"{number!r} of {name}", "give finite numbers")
    return [float(number) for number in numbers]
