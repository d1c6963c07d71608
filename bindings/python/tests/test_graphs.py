"""Graphs of other libraries, with their names, there and back; what is none is refused."""

import pytest

from sottovoce import SottovoceError, ask, graphs

networkx = pytest.importorskip("networkx")
numpy = pytest.importorskip("numpy")

#: Forms that the command line reads and writes, with the endings it knows them by.
FORMS = {
    "edge-list": "txt",
    "snap": "snap",
    "graphml": "graphml",
    "node-link": "json",
}


def named():
    """A graph whose peers have names, and no peer without an edge, which lists of edges cannot hold."""
    return networkx.relabel_nodes(networkx.karate_club_graph(), {i: f"member{i}" for i in range(34)})


def links(graph):
    return {frozenset(map(str, pair)) for pair in graph.edges}


def test_all_forms_are_tried():
    (to,) = [one for command in ask("schema", "graph", options=True)["commands"] if command["name"] == "graph convert" for one in command["options"] if one["name"] == "to"]
    assert {one["value"] for one in to["possible"]} == set(FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_every_writer_and_reader_keeps_the_graph(tmp_path, form):
    club = named()
    path = graphs.save(club, tmp_path / f"club.{FORMS[form]}", to=form)
    back = graphs.to_networkx(path)
    assert links(back) == links(club) and set(back) == set(club)
    assert ask("graph", "inspect", path)["edges"] == 78
    with pytest.raises(SottovoceError) as caught:
        graphs.save(club, path, to=form)
    assert caught.value.field == "out"
    graphs.save(club, path, to=form, overwrite=True)


def test_networkx_reads_what_we_write_and_we_what_it_writes(tmp_path):
    club = named()
    plain = networkx.Graph(club.edges)
    theirs = {
        "graphml": (networkx.write_graphml, networkx.read_graphml),
        "txt": (lambda graph, path: networkx.write_edgelist(graph, path, data=False), networkx.read_edgelist),
    }
    for ending, (write, read) in theirs.items():
        theirs_path, ours_path = tmp_path / f"theirs.{ending}", tmp_path / f"ours.{ending}"
        write(plain, theirs_path)
        assert links(graphs.to_networkx(theirs_path)) == links(club), ending
        graphs.save(club, ours_path)
        assert links(read(ours_path)) == links(club), ending
    import json

    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(networkx.node_link_data(plain, edges="links")))
    assert links(graphs.to_networkx(path)) == links(club)
    graphs.save(club, tmp_path / "ours.json")
    ours = json.loads((tmp_path / "ours.json").read_text())
    assert links(networkx.node_link_graph(ours, edges="links" if "links" in ours else "edges")) == links(club)


def test_families_are_networkx_graphs():
    found = graphs.generate("hypercube", peers=16)
    assert networkx.is_isomorphic(found, networkx.hypercube_graph(4))
    women = graphs.generate("davis")
    assert networkx.is_isomorphic(women, networkx.davis_southern_women_graph())
    assert any(isinstance(one, str) and not one.isdigit() for one in women)


def test_names_are_kept():
    graph = networkx.Graph([("ana", "ben"), ("ben", "eva"), ("eva", "ana")])
    graph.add_edge("eva", "ida")
    result = ask("account", "averaging", graph=graph, steps=3, observers=["ana"])
    assert result.guarantees and result["names"] == ["ana", "ben", "eva", "ida"]


def test_there_and_back():
    scipy = pytest.importorskip("scipy.sparse")
    ring = networkx.cycle_graph(8)
    matrix = networkx.to_numpy_array(ring)
    everything = [ring, matrix, scipy.csr_array(matrix), scipy.coo_matrix(matrix), matrix.astype(bool), list(ring.edges), iter(list(ring.edges))]
    for one in everything:
        names, pairs = graphs.edges(one)
        assert names == [str(i) for i in range(8)]
        assert {frozenset(pair) for pair in pairs} == {frozenset(pair) for pair in ring.edges}
    for one in [ring, matrix, list(ring.edges)]:
        assert (graphs.to_numpy(one) == matrix).all()
        assert (graphs.to_scipy(one).toarray() == matrix).all()
        assert links(graphs.to_networkx(one)) == links(ring)
        assert graphs.edges(graphs.to_edges(one)) == graphs.edges(graphs.to_edges(ring))
    lonely = networkx.Graph()
    lonely.add_nodes_from(["a", "b"])
    assert graphs.to_numpy(lonely).sum() == 0 and graphs.to_scipy(lonely).nnz == 0


@pytest.mark.parametrize(
    "wrong, said",
    [
        (networkx.DiGraph([(0, 1)]), "undirected"),
        (networkx.MultiGraph([(0, 1), (0, 1)]), "parallel"),
        (networkx.Graph([((0, 0), (0, 1))]), "names of peers"),
        (networkx.Graph([(0.5, 1.5)]), "names of peers"),
        (networkx.Graph([(1, "1")]), "the same name"),
        (networkx.Graph([(True, 2)]), "names of peers"),
        (numpy.ones((2, 3)), "square"),
        (numpy.ones(3), "two dimensions"),
        (numpy.array([[0, 1], [0, 0]]), "symmetric"),
        (numpy.array([[0, numpy.nan], [numpy.nan, 0]]), "finite"),
        (numpy.array([["a", "b"], ["c", "d"]]), "holds numbers"),
        (numpy.array([[0, 1j], [1j, 0]]), "holds numbers"),
        ((pair for pair in []), "`"),
        ([(0, 1, 2)], "pairs"),
        ([("a", b"b")], "names of peers"),
        (5, "give a networkx graph"),
    ],
)
def test_what_is_no_graph_is_refused(wrong, said):
    with pytest.raises(SottovoceError) as caught:
        ask("account", "averaging", graph=wrong, steps=3, observers=[0])
    assert said in str(caught.value) and caught.value.field, str(caught.value)
