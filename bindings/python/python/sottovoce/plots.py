"""Pictures by matplotlib, where it is installed: of documents, and of nothing that is not in them.

Each takes the axes to draw on, or makes some, and returns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import graphs
from ._errors import wrong
from ._result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

def _axes(axes: Axes | None) -> Axes:
    if axes is not None:
        return axes
    import matplotlib.pyplot

    made: Axes = matplotlib.pyplot.subplots()[1]
    return made


def _has(result: Result, key: str, remedy: str) -> Any:
    if key not in result:
        raise wrong("result", ", ".join(result), remedy)
    return result[key]


def losses(result: Result, axes: Axes | None = None) -> Axes:
    """Losses over the distance to the observers, of ``account averaging`` with ``observers`` or with ``all_pairs``."""
    drawn = _axes(axes)
    if "pairs" in result:
        rows = sorted((int(hops), group) for hops, group in result["by_distance"].items())
        drawn.plot([row[0] for row in rows], [row[1]["largest"] for row in rows], "o-", label="largest of all pairs")
    else:
        far = _has(result, "distance", "give what account averaging says of a graph and of observers")
        others = [peer for peer in range(len(far)) if peer not in result["observers"]]
        leakage = result["leakage"]
        drawn.plot([far[peer] for peer in others], [leakage[peer] for peer in others], "o", alpha=0.6, label="exact (proven)")
    drawn.axhline(1.0, color="gray", linewidth=0.8, label="local DP")
    drawn.set_xlabel("hops to the nearest observer")
    drawn.set_ylabel("loss, in units of local DP")
    drawn.set_yscale("symlog", linthresh=1e-3)
    drawn.legend()
    return drawn


def trade_off(result: Result, axes: Axes | None = None, label: str | None = None) -> Axes:
    """The errors of any test for a record, of ``account mechanism`` with ``table``."""
    drawn = _axes(axes)
    table = _has(result, "table", "give what account mechanism says with table=True")
    points = sorted((row["type_one"], row["type_two"]) for row in table["trade_off"])
    # Between two points no more is promised than at the right one.
    drawn.plot([*(x for x, _ in points), 1.0], [*(y for _, y in points), 0.0], ".-", drawstyle="steps-pre", label=label or "any test")
    drawn.plot([0.0, 1.0], [1.0, 0.0], color="gray", linewidth=0.8, label="guessing")
    drawn.set_xlabel("type I error")
    drawn.set_ylabel("type II error, at least")
    drawn.legend()
    return drawn


def overheard(graph: graphs.Graph, result: Result, axes: Axes | None = None, seed: int | None = None) -> Axes:
    """The graph, each peer coloured by what the observers have overheard of it: of ``account averaging`` with ``observers``. Needs networkx."""
    import networkx

    drawn = _axes(axes)
    found = _has(result, "leakage", "give what account averaging says of observers")
    made = graphs.to_networkx(graph)
    if len(made) != len(found):
        raise wrong("graph", f"{len(made)} peers", f"the document is about {len(found)}")
    places = networkx.spring_layout(made, seed=seed)
    nodes = networkx.draw_networkx_nodes(made, places, ax=drawn, node_color=found, vmin=0.0, vmax=1.0, cmap="viridis", node_size=120)
    networkx.draw_networkx_edges(made, places, ax=drawn, edge_color="lightgray")
    heard_by = _has(result, "observers", "give what account averaging says of observers")
    observers = [list(made)[peer] for peer in heard_by]
    networkx.draw_networkx_nodes(made, places, nodelist=observers, ax=drawn, node_color="crimson", node_shape="s", node_size=160)
    drawn.figure.colorbar(nodes, ax=drawn, label="loss, in units of local DP")
    drawn.set_axis_off()
    return drawn
