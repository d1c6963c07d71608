"""The same gossip steps by a loop in Python over a sparse matrix, as simulators of decentralised learning are often written (decentralizepy among them: this is
a short loop of our own in that manner, not their code), and by a loop over peers with NumPy."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from common import Missing, Scale, binary, module, output, ratio, table, timed

TITLE = "Averaging"
DEGREE = 20
STEPS = 10


def program() -> Path:
    """Our gossip, as a program that cargo puts beside ours."""
    path = binary().parent / "examples" / "average"
    if not os.access(path, os.X_OK):
        raise Missing("skipped: build it first (cargo build --release -p sottovoce-simulator --example average)")
    return path


def compare(scale: Scale) -> Iterator[str]:
    try:
        ours, np, sparse = program(), module("numpy", "numpy"), module("scipy.sparse", "scipy")
    except Missing as missing:
        yield str(missing)
        return
    rows = []
    for peers in (1_000, 10_000) if scale.quick else (10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as name:
            rows.append(one(peers, Path(name), ours, np, sparse, scale))
    yield f"A gossip step among peers with {DEGREE} neighbours each on average, drawn at random; Metropolis weights; noisy values. Times as multiples of ours, all on one thread; the largest difference of a value after {STEPS} steps, relative to the largest value."
    yield table(["peers", "SciPy, sparse matrix", "NumPy, a loop over peers", "difference"], rows)


def one(peers: int, folder: Path, ours: Path, np, sparse, scale: Scale) -> list[str]:
    """A row of the table."""
    edges = drawn(peers, np)
    edges.astype("<u4").tofile(folder / "edges")
    np.random.default_rng(2).random(peers).astype("<f8").tofile(folder / "values")
    # More steps take longer by as much as they take: reading and preparing does not count.
    more = 100 if peers > 100_000 else 1000
    long, short = (timed(lambda steps=steps: output(ours, folder, steps), scale.repeats)[1] for steps in (STEPS + more, STEPS))
    seconds = (long - short) / more
    noisy, mixed = (np.fromfile(folder / name, "<f8") for name in ("noisy", "mixed"))
    matrix = weights(peers, edges, np, sparse)
    found = noisy
    theirs = []
    for _ in range(STEPS):
        found, took = timed(lambda before=found: matrix @ before, scale.repeats)
        theirs.append(took)
    difference = np.abs(found - mixed).max() / np.abs(noisy).max()
    looped = by_peers(peers, matrix, noisy, np, scale)
    return [f"{peers:,}", ratio(median(theirs), seconds), ratio(looped, seconds), f"{difference:.1e}"]


def drawn(peers: int, np):
    """Edges of a random graph, each once."""
    pairs = np.random.default_rng(1).integers(0, peers, (peers * DEGREE // 2, 2))
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.stack(np.divmod(np.unique(pairs[:, 0] * peers + pairs[:, 1]), peers), axis=1)


def weights(peers: int, edges, np, sparse):
    """Metropolis weights as a matrix: 1/(1 + the larger degree), and the rest for oneself."""
    degrees = np.bincount(edges.ravel(), minlength=peers)
    weight = 1.0 / (1.0 + degrees[edges].max(axis=1))
    u, v = edges.T
    matrix = sparse.coo_array((np.concatenate([weight, weight]), (np.concatenate([u, v]), np.concatenate([v, u]))), (peers, peers)).tocsr()
    return (matrix + sparse.diags_array(1.0 - matrix.sum(axis=1))).tocsr()


def by_peers(peers: int, matrix, values, np, scale: Scale) -> float:
    """Seconds of a step in which each peer in turn mixes its neighbours' values; of many peers, the first are timed, and the rest take as long."""
    some = min(peers, 10_000)

    def step():
        after = np.empty(some)
        for peer in range(some):
            row = slice(matrix.indptr[peer], matrix.indptr[peer + 1])
            after[peer] = matrix.data[row] @ values[matrix.indices[row]]
        return after

    _, seconds = timed(step, scale.repeats)
    return seconds * peers / some
