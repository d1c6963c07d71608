"""Graphs of other libraries, with their names; what is none is refused."""

import pytest

from sottovoce import SottovoceError, ask, graphs

networkx = pytest.importorskip("networkx")
numpy = pytest.importorskip("numpy")


@pytest.mark.parametrize("form", ["edge-list", "snap", "graphml", "node-link", "adjacency-csv", "gml", "matrix-market"])
def test_every_reader_reads_what_networkx_has(tmp_path, form):
    club = networkx.karate_club_graph()
    path = graphs.write(club, tmp_path / "club.json")
    known = ask("graph", "inspect", path)
    found = graphs.generate("hypercube", peers=16)
    assert networkx.is_isomorphic(found, networkx.hypercube_graph(4))
    assert known["nodes"] == 34 and known["edges"] == 78, dict(known)
    # Written by us in every form, read by us again.
    from sottovoce._ask import said_text

    text = said_text("graph", "generate", family="hypercube", peers=16, format=form)
    endings = {"graphml": "graphml", "node-link": "json", "adjacency-csv": "csv", "gml": "gml", "matrix-market": "mtx"}
    other = tmp_path / f"cube.{endings.get(form, 'txt')}"
    other.write_text(text)
    assert ask("graph", "inspect", other, format=form)["edges"] == 32


def test_names_are_kept(tmp_path):
    graph = networkx.Graph([("ana", "ben"), ("ben", "eva"), ("eva", "ana")])
    graph.add_edge("eva", "ida")
    result = ask("account", "averaging", graph=graph, steps=3, observers=["ana"])
    assert result.guarantees


def test_matrices_and_pairs_are_the_same_graph(tmp_path):
    ring = networkx.cycle_graph(8)
    matrix = networkx.to_numpy_array(ring)
    everything = [ring, matrix, list(ring.edges)]
    scipy = pytest.importorskip("scipy.sparse")
    everything.append(scipy.csr_array(matrix))
    found = [graphs.edges(one) for one in everything]
    assert all(names == [str(i) for i in range(8)] for names, _ in found)
    sets = [{frozenset(pair) for pair in pairs} for _, pairs in found]
    assert all(one == sets[0] for one in sets)


@pytest.mark.parametrize(
    "wrong, said",
    [
        (networkx.DiGraph([(0, 1)]), "undirected"),
        (networkx.MultiGraph([(0, 1), (0, 1)]), "parallel"),
        (networkx.Graph([((0, 0), (0, 1))]), "names of peers"),
        (networkx.Graph([(0.5, 1.5)]), "names of peers"),
        (networkx.Graph([(1, "1")]), "the same name"),
        (numpy.ones((2, 3)), "square"),
        (numpy.ones(3), "two dimensions"),
        (numpy.array([[0, 1], [0, 0]]), "symmetric"),
        (numpy.array([[0, numpy.nan], [numpy.nan, 0]]), "finite"),
        (numpy.array([["a", "b"], ["c", "d"]]), "holds numbers"),
        ((pair for pair in []), "`"),
        ([(0, 1, 2)], "pairs"),
        (5, "give a networkx graph"),
    ],
)
def test_what_is_no_graph_is_refused(wrong, said):
    with pytest.raises(SottovoceError) as caught:
        ask("account", "averaging", graph=wrong, steps=3, observers=[0])
    assert said in str(caught.value), str(caught.value)
