"""Graphs from and to networkx, SciPy, NumPy and lists of edges, with names kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def _wrong(value: Any, remedy: str):
    from ._ask import SottovoceError

    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return SottovoceError(f"`graph` is {shown}: {remedy}", 2, "graph", shown, remedy)


def _name(node: Any) -> str:
    if isinstance(node, bool) or not isinstance(node, (str, int)) and not hasattr(node, "__index__"):
        raise _wrong(node, "names of peers are texts or whole numbers")
    return node if isinstance(node, str) else str(int(node))


def edges(graph: Any) -> tuple[list[str], list[tuple[int, int]]]:
    """Names and pairs of a networkx graph, a SciPy or NumPy adjacency matrix, or a list of pairs."""
    if hasattr(graph, "is_directed") and hasattr(graph, "nodes"):
        if graph.is_directed():
            raise _wrong(graph, "messages go both ways; give an undirected graph")
        if graph.is_multigraph():
            raise _wrong(graph, "an edge is there or not; give a graph without parallel edges")
        return _numbered([_name(node) for node in graph.nodes], [(_name(a), _name(b)) for a, b in graph.edges])
    if hasattr(graph, "tocoo"):
        found = graph.tocoo()
        return _matrix(graph, found.shape, zip(found.row.tolist(), found.col.tolist(), found.data.tolist()))
    if hasattr(graph, "shape") and hasattr(graph, "nonzero"):
        if getattr(graph, "ndim", 2) != 2:
            raise _wrong(graph, f"an adjacency matrix has two dimensions, and not {graph.ndim}")
        import numpy

        if graph.dtype.kind not in "biuf":
            raise _wrong(graph, f"an adjacency matrix holds numbers, and not {graph.dtype}")
        if graph.dtype.kind == "f" and not numpy.isfinite(graph).all():
            raise _wrong(graph, "an adjacency matrix holds finite numbers")
        rows, columns = graph.nonzero()
        return _matrix(graph, graph.shape, zip(rows.tolist(), columns.tolist(), graph[rows, columns].tolist()))
    try:
        pairs = [(_name(a), _name(b)) for a, b in graph]
    except (TypeError, ValueError) as error:
        from ._ask import SottovoceError

        if isinstance(error, SottovoceError):
            raise
        raise _wrong(graph, "give a networkx graph, an adjacency matrix, or pairs of names") from error
    names = sorted({name for pair in pairs for name in pair}, key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name))
    return _numbered(names, pairs)


def _matrix(graph: Any, shape: tuple[int, int], entries: Any):
    if len(shape) != 2 or shape[0] != shape[1]:
        raise _wrong(graph, f"an adjacency matrix is square, and not {shape}")
    there = {(a, b) for a, b, weight in entries if weight != 0}
    if any((b, a) not in there for a, b in there):
        raise _wrong(graph, "messages go both ways; give a symmetric matrix")
    return [str(i) for i in range(shape[0])], sorted((a, b) for a, b in there if a < b)


def _numbered(names: list[str], pairs: list[tuple[str, str]]):
    number = {name: i for i, name in enumerate(names)}
    if len(number) < len(names):
        raise _wrong(names, "two peers have the same name; give each its own")
    return names, [(number[a], number[b]) for a, b in pairs]


def write(graph: Any, path: str | os.PathLike) -> Path:
    """Writes a graph as node-link JSON, which the command line reads; the file's path."""
    names, pairs = edges(graph)
    document = {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": [{"id": name} for name in names],
        "links": [{"source": names[a], "target": names[b]} for a, b in pairs],
    }
    path = Path(path)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def generate(family: str, **options: Any):
    """A graph of a family, as a networkx graph: ``generate("hypercube", peers=64)`` is ``sottovoce graph generate --family hypercube --peers 64``."""
    import networkx

    from ._ask import said_text

    text = said_text("graph", "generate", family=family, format="node-link", **options)
    document = json.loads(text)
    graph = networkx.Graph()
    graph.add_nodes_from(node["id"] for node in document["nodes"])
    graph.add_edges_from((link["source"], link["target"]) for link in document.get("links", document.get("edges", [])))
    return graph
