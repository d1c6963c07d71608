"""Private values as the table that the command line reads."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import graphs
from ._errors import wrong


def write(values: Any, graph: Any, path: Path) -> Path:
    """Writes a mapping from names, or a list, an array or a column in the order of the graph's peers; the file's path.

    A table on disk, because a run says by its hash which values it rests on, and can be repeated from it. Numbers keep all their digits.
    """
    rows = _rows(values, graph)
    width = len(rows[0][1]) if rows else 0
    if width == 0:
        raise wrong("values", values, "give every peer at least one number")
    heads = ["value"] if width == 1 else [f"value{i}" for i in range(width)]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["peer", *heads])
        for name, numbers in rows:
            if len(numbers) != width:
                raise wrong("values", f"{len(numbers)} numbers for {name}", f"give {width}, as to the first peer")
            table.writerow([name, *map(repr, numbers)])
    return path


def _rows(values: Any, graph: Any) -> list[tuple[str, list[float]]]:
    if hasattr(values, "to_dict") and hasattr(values, "index"):  # a column of pandas, by its names
        values = values.to_dict()
    if isinstance(values, Mapping):
        return [(graphs.name(name), _numbers(name, value)) for name, value in values.items()]
    if hasattr(values, "ndim") and values.ndim not in (1, 2):
        raise wrong("values", f"an array of {values.ndim} dimensions", "give one number, or one row, for each peer")
    plain = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(plain, (list, tuple)):
        raise wrong("values", values, "give an array, a list, or a mapping from the peers' names")
    names = graphs.edges(graph)[0] if graph is not None and graphs.is_object(graph) else [str(i) for i in range(len(plain))]
    if len(names) != len(plain):
        raise wrong("values", f"{len(plain)} values", f"give one for each of the {len(names)} peers")
    return [(name, _numbers(name, value)) for name, value in zip(names, plain)]


def _numbers(name: Any, value: Any) -> list[float]:
    plain = value.tolist() if hasattr(value, "tolist") else value
    numbers = list(plain) if isinstance(plain, (list, tuple)) else [plain]
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            raise wrong("values", f"{number!r} of {name}", "give finite numbers")
    return [float(number) for number in numbers]
