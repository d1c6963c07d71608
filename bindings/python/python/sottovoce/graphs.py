"""Graphs from and to networkx, SciPy, NumPy and lists of edges, with names kept.

>>> names, pairs = edges([("ana", "ben"), ("ben", "eva")])
>>> names, pairs
(['ana', 'ben', 'eva'], [(0, 1), (1, 2)])
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ._errors import SottovoceError, wrong

if TYPE_CHECKING:
    import numpy
    import scipy.sparse

#: A networkx graph, a SciPy or NumPy adjacency matrix, pairs of names, or the name of a file.
Graph = Union[str, "os.PathLike[str]", Iterable[Any], Any]

#: Names of peers in their order, and pairs of their numbers.
Edges = tuple[list[str], list[tuple[int, int]]]


def is_object(graph: Any) -> bool:
    """Whether it is a graph itself, and not the name of a file."""
    return not isinstance(graph, (str, os.PathLike))


def settled(graph: Any) -> Any:
    """What can be read more than once."""
    return list(graph) if hasattr(graph, "__next__") else graph


def name(node: Any) -> str:
    """A peer's name as the command line has it: a text, or a whole number.

    >>> name("ana"), name(7)
    ('ana', '7')
    """
    return named("graph", node)


def named(field: str, node: Any) -> str:
    """The same, of a peer that this field names."""
    if isinstance(node, bool) or not isinstance(node, (str, int)) and not hasattr(node, "__index__"):
        raise wrong(field, node, "names of peers are texts or whole numbers")
    return node if isinstance(node, str) else str(int(node))


def edges(graph: Graph) -> Edges:
    """Names and pairs of a networkx graph, a SciPy or NumPy adjacency matrix, a list of pairs, or a file that the command line reads."""
    return _read(graph) if isinstance(graph, (str, os.PathLike)) else _of_object(graph)


def _of_object(graph: Any) -> Edges:
    if hasattr(graph, "is_directed") and hasattr(graph, "nodes"):
        if graph.is_directed():
            raise wrong("graph", graph, "messages go both ways; give an undirected graph")
        if graph.is_multigraph():
            raise wrong("graph", graph, "an edge is there or not; give a graph without parallel edges")
        return _numbered([name(node) for node in graph.nodes], [(name(a), name(b)) for a, b in graph.edges])
    if hasattr(graph, "tocoo"):
        found = graph.tocoo()
        _check(graph, found.shape, found.data)
        return _matrix(graph, found.shape, zip(found.row.tolist(), found.col.tolist(), found.data.tolist()))
    if hasattr(graph, "shape") and hasattr(graph, "nonzero"):
        import numpy

        graph = numpy.asarray(graph)
        _check(graph, graph.shape, graph)
        rows, columns = graph.nonzero()
        return _matrix(graph, graph.shape, zip(rows.tolist(), columns.tolist(), graph[rows, columns].tolist()))
    return _pairs(graph)


def _pairs(graph: Any) -> Edges:
    if isinstance(graph, Mapping):
        raise wrong("graph", graph, "give pairs of names; networkx.Graph(...) reads a mapping from peers to neighbours")
    try:
        given = list(graph)
        pairs = [(name(a), name(b)) for a, b in given]
        if any(isinstance(pair, (str, bytes)) for pair in given):
            raise wrong("graph", graph, "a text is no pair; give pairs of names")
    except SottovoceError:
        raise
    except (TypeError, ValueError) as error:
        raise wrong("graph", graph, "give a networkx graph, an adjacency matrix, or pairs of names") from error
    if not pairs:
        raise wrong("graph", graph, "nobody is in it; give at least one pair")
    # By number where they are numbers, else by name.
    order = {one: (not one.isdecimal(), len(one.lstrip("0")) if one.isdecimal() else 0, one.lstrip("0"), one) for pair in pairs for one in pair}
    return _numbered(sorted(order, key=order.__getitem__), pairs)


def _check(graph: Any, shape: tuple[int, ...], entries: Any) -> None:
    """A square of finite numbers."""
    import numpy

    if len(shape) != 2:
        raise wrong("graph", graph, f"an adjacency matrix has two dimensions, and not {len(shape)}")
    if shape[0] != shape[1]:
        raise wrong("graph", graph, f"an adjacency matrix is square, and not {shape}")
    if entries.dtype.kind not in "biuf":
        raise wrong("graph", graph, f"an adjacency matrix holds numbers, and not {entries.dtype}")
    if entries.dtype.kind == "f" and not numpy.isfinite(entries).all():
        raise wrong("graph", graph, "an adjacency matrix holds finite numbers")


def _matrix(graph: Any, shape: tuple[int, ...], entries: Iterable[tuple[int, int, float]]) -> Edges:
    there = {(a, b) for a, b, weight in entries if weight != 0}
    if any((b, a) not in there for a, b in there):
        raise wrong("graph", graph, "messages go both ways; give a symmetric matrix")
    return [str(i) for i in range(shape[0])], sorted((a, b) for a, b in there if a < b)


def _numbered(names: list[str], pairs: list[tuple[str, str]]) -> Edges:
    number = {one: i for i, one in enumerate(names)}
    if len(number) < len(names):
        raise wrong("graph", names, "two peers have the same name; give each its own")
    seen = set()
    for a, b in pairs:
        if a == b:
            raise wrong("graph", f"one with an edge from {a} to itself", "nobody tells itself anything; leave it out")
        if frozenset((a, b)) in seen:
            raise wrong("graph", f"one with two edges between {a} and {b}", "an edge is there or not, and goes both ways; give it once")
        seen.add(frozenset((a, b)))
    return names, [(number[a], number[b]) for a, b in pairs]


def _read(path: str | os.PathLike[str]) -> Edges:
    """A file of any form that the command line reads."""
    from ._ask import ask

    # A name that begins as an option does is a name all the same.
    place = os.fspath(path)
    return _of_document(ask("graph", "convert", os.path.join(os.curdir, place) if str(place).startswith("-") else place))


def _of_document(document: Mapping[str, Any]) -> Edges:
    """A graph as the command line prints it: numbered, with names where they are none."""
    names = list(document.get("labels") or map(str, range(document["nodes"])))
    return names, [(a, b) for a, b in document["edges"]]


def write(graph: Graph, path: str | os.PathLike[str]) -> Path:
    """Writes a graph as node-link JSON, which the command line reads; the file's path."""
    names, pairs = edges(graph)
    document = {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": [{"id": one} for one in names],
        "links": [{"source": names[a], "target": names[b]} for a, b in pairs],
    }
    path = Path(path)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def save(graph: Graph, path: str | os.PathLike[str], to: str | None = None, overwrite: bool | None = None) -> Path:
    """Writes a graph in any form of the command line's (``sottovoce graph convert``): by the ending of the name, or ``to``; the file's path."""
    from ._ask import MEMORY, said, words

    inputs = {"graph": edges(graph)} if is_object(graph) else None
    said(words("graph", "convert", MEMORY if inputs else graph, to=to, out=path, overwrite=overwrite, json=True), None, inputs)
    return Path(path)


def generate(family: str, **options: Any) -> Any:
    """A graph of a family, as a networkx graph: ``generate("hypercube", peers=64)`` is ``sottovoce graph generate --family hypercube --peers 64``."""
    from ._ask import ask

    return _networkx(_of_document(ask("graph", "generate", family=family, **options)))


def to_networkx(graph: Graph) -> Any:
    """The graph as networkx has it, with its names."""
    return _networkx(edges(graph))


def _networkx(found: Edges) -> Any:
    import networkx

    names, pairs = found
    made = networkx.Graph()
    made.add_nodes_from(names)
    made.add_edges_from((names[a], names[b]) for a, b in pairs)
    return made


def to_numpy(graph: Graph) -> numpy.ndarray[Any, Any]:
    """The adjacency matrix; row ``i`` is the peer ``edges(graph)[0][i]``."""
    import numpy

    names, pairs = edges(graph)
    matrix: numpy.ndarray[Any, Any] = numpy.zeros((len(names), len(names)), dtype=numpy.uint8)
    for a, b in pairs:
        matrix[a, b] = matrix[b, a] = 1
    return matrix


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """The adjacency matrix in compressed rows."""
    import numpy
    import scipy.sparse

    names, pairs = edges(graph)
    ends = numpy.array(pairs, dtype=numpy.int64).reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]
    rows, columns = numpy.concatenate([ends, ends[:, ::-1]]).T
    ones: numpy.ndarray[Any, Any] = numpy.ones(len(rows), dtype=numpy.uint8)
    return scipy.sparse.csr_array((ones, (rows, columns)), shape=(len(names), len(names)))


def to_edges(graph: Graph) -> list[tuple[str, str]]:
    """Pairs of names."""
    names, pairs = edges(graph)
    return [(names[a], names[b]) for a, b in pairs]
