"""Documents as arrays, frames and pictures; bad input is named."""

import base64
import gc
import inspect
import re
import tempfile

import pytest

import sottovoce
from sottovoce import Experiment, Rows, SottovoceError, account, ask, graphs

RING = [(i, (i + 1) % 8) for i in range(8)]
PEERS = {"experiment": "averaging", "graph": RING, "noise": {"sigma": 2.0}}


def test_lists_are_arrays():
    numpy = pytest.importorskip("numpy")
    found = account.averaging(graph=RING, steps=3, observers=[0])
    losses = found.array("leakage")
    assert losses.dtype == numpy.float64 and losses.shape == (8,) and losses.tolist() == found["leakage"]
    assert found.array("distance").dtype.kind == "i"
    pairs = account.averaging(graph=RING, steps=3, all_pairs=True)
    assert pairs.array("pairs").shape == (8, 8)
    for wrong in [("nothing",), ("leakage", 9), ("leakage", "a"), ("guarantees",), ("headline", 0, 0)]:
        with pytest.raises(SottovoceError) as caught:
            found.array(*wrong)
        assert caught.value.field == "path"


def test_guarantees_are_a_frame():
    pandas = pytest.importorskip("pandas")
    found = ask("account", "rumor", peers=40, curious=4)
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(found.guarantees)
    assert {"epsilon", "delta", "adversary", "standing"} <= set(frame.columns)


def test_a_run_shows_its_own_pictures(tmp_path):
    ran = Experiment(PEERS).run(out=tmp_path / "run")
    shown = ran._repr_html_()
    assert ran.pictures and shown.count("<img ") == len(ran.pictures)
    for data in re.findall(r"base64,([^\"]+)", shown):
        assert b"<svg " in base64.b64decode(data)
    assert "<script" not in shown
    # What is no longer there is not shown.
    for path in (tmp_path / "run").glob("*.svg"):
        path.unlink()
    assert "<img " not in ran._repr_html_()


def test_nothing_in_a_document_is_markup():
    evil = sottovoce.Result({"headline": "<script>alert(1)</script>", "guarantees": []})
    assert "<script" not in evil._repr_html_()


def test_an_adversary_is_a_peer_several_or_someone_who_sees_everything():
    asked = Experiment(PEERS)
    alone, pooled = asked.account(0), asked.account(["0", 3])
    assert alone.guarantees and pooled.guarantees
    assert alone["command"] != pooled["command"]
    epsilon = {who: min(one.epsilon for one in found.guarantees) for who, found in [("one", alone), ("two", pooled)]}
    assert epsilon["one"] <= epsilon["two"] + 1e-12
    assert pooled.towards("coalition") and alone["observers"] == [0] and pooled["observers"] == [0, 3]
    tapped = asked.account(sottovoce.WIRE_TAPPER).towards(sottovoce.WIRE_TAPPER)[0]
    assert tapped.epsilon >= max(one.epsilon for one in pooled.guarantees if one.standing == "proven")
    with pytest.raises(SottovoceError, match="peer"):
        asked.account().towards("nobody")
    with pytest.raises(SottovoceError) as caught:
        asked.account("nobody")
    assert caught.value.field == "observers"


def test_inputs_in_memory_are_those_of_files(tmp_path, monkeypatch):
    """The same numbers, and neither a temporary file nor the values themselves in what is written."""
    graph, values = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], [0.125, 0.25, 0.5, 0.75]
    graphs.save(graph, tmp_path / "ring.txt")
    (tmp_path / "values.csv").write_text("peer,value\n" + "".join(f"{name},{value}\n" for name, value in zip("abcd", values)))
    options = {"epsilon": 2.0, "out": tmp_path / "out"}
    files = ask("run", "averaging", graph=tmp_path / "ring.txt", values=tmp_path / "values.csv", **{**options, "out": tmp_path / "files"})
    with monkeypatch.context() as no_files:
        no_files.setattr("tempfile.mkdtemp", None)
        memory = ask("run", "averaging", graph=graph, values=dict(zip("abcd", values)), **options)
    assert memory["results"] == files["results"] and memory["guarantees"] == files["guarantees"]
    again = Experiment.from_toml(tmp_path / "out" / "experiment.toml")
    assert again.to_dict()["values"]["file"] == again.to_dict()["graph"]["file"] == "<memory>"
    with pytest.raises(SottovoceError, match="given in memory") as caught:
        again.run(no_report=True)
    assert caught.value.field == "graph"
    judged = ask("account", "transcript", tmp_path / "out" / "transcript.json")
    assert any("`values` is <memory>" in one for one in judged["unchecked"])


def test_rows_in_memory_are_those_of_a_file(tmp_path):
    rows = [(str(i % 4), i / 40, (i * 7 % 40) / 40, i // 20) for i in range(40)]
    (tmp_path / "rows.csv").write_text("owner,x,y,label\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    held = Rows([row[1:3] for row in rows], [row[3] for row in rows], [row[0] for row in rows], ["x", "y"])
    options = {"range": ["x=0:1", "y=0:1"], "seeds": 1, "sigma": 1.0, "iterations": 2, "no_report": True}
    expected = _learned(data=tmp_path / "rows.csv", peer_column="owner", **options)
    assert _learned(data=held, **options) == expected
    asked = Experiment(experiment="learning", seeds=1, protocol={"iterations": 2}, noise={"sigma": 1.0}, task={"data": held, "range": ["x=0:1", "y=0:1"]})
    assert asked.run(no_report=True)["model"] == expected
    for wrong, field in [(Rows([[1.0]], [1.0, 2.0]), "features"), (Rows([[float("nan")]], [1.0]), "features"), (Rows([[1.0]], ["a"]), "labels")]:
        with pytest.raises(SottovoceError) as caught:
            ask("run", "learning", data=wrong, range="0=0:1", no_report=True)
        assert caught.value.field == field, str(caught.value)


def _learned(range, **options):
    words = [f"--range={one}" for one in range]
    return ask("run", "learning", *words, **options)["model"]


def test_values_come_as_arrays_lists_and_mappings(tmp_path):
    numpy = pytest.importorskip("numpy")
    values = [i / 10 for i in range(8)]
    given = [values, tuple(values), numpy.array(values), numpy.array(values)[:, None], dict(enumerate(values))]
    ran = [
        Experiment({**PEERS, "values": {"file": one, "range": "0:1"}}).run(no_report=True) for one in given
    ]
    kept = [{key: one[key] for key in one if key not in ("command",)} for one in ran]
    assert all(one == kept[0] for one in kept[1:])
    wide = ask("run", "averaging", graph=RING, values=numpy.ones((8, 3)), sigma=2.0, no_report=True)
    assert "data_sha256" not in wide, "a hash of private values can be guessed"
    for wrong in [[0.5] * 7, [float("nan")] * 8, numpy.ones((8, 2, 2)), ["a"] * 8, [True] * 8, [[0.5]] * 7 + [[0.5, 0.5]], [], 5, [[]] * 8]:
        with pytest.raises(SottovoceError) as caught:
            ask("run", "averaging", graph=RING, values=wrong, sigma=2.0, no_report=True)
        assert caught.value.field == "values", str(caught.value)


def closed():
    pairs = ((a, b) for a, b in RING)
    pairs.close()
    return pairs


@pytest.mark.parametrize(
    "wrong, field",
    [
        (lambda: ask("account", "rumor", pears=4), "pears"),
        (lambda: ask("account", "rumor", peers="many", curious=1), "peers"),
        (lambda: ask("account", "rumour"), "command"),
        (lambda: ask("graph", "inspect"), "file"),
        (lambda: ask("graph", "generate", family="nothing"), "family"),
        (lambda: ask("account", "rumor", peers=4, curious=1, quiet=True, verbose=True), "quiet"),
        (lambda: ask("account", "averaging", graph=closed(), steps=3, observers=[0]), None),
        (lambda: Experiment({**PEERS, "noise": {"sigma": float("nan")}}), "noise.sigma"),
        (lambda: Experiment({**PEERS, "noise": {"sigma": object()}}), "noise.sigma"),
        (lambda: Experiment(experiment="nothing"), "experiment"),
        (lambda: Experiment("averaging.toml"), "experiment"),
        (lambda: Experiment({**PEERS, "graph": {"file": 5}}), "graph"),
        (lambda: ask("account", "rumor", peers="\ud800"), None),
        (lambda: graphs.edges("nowhere.txt"), None),
    ],
)
def test_what_is_wrong_is_named(wrong, field):
    with pytest.raises(SottovoceError) as caught:
        wrong()
    error = caught.value
    assert error.code in (2, 3), error.code
    if field is not None:
        assert error.field == field, (error.field, str(error))
        assert error.value is not None and error.remedy


def failing(peer, model, rows):
    raise KeyError("no such column")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda nx, np: graphs.save(nx.DiGraph([(0, 1)]), "graph.graphml"),
        lambda nx, np: graphs.save(nx.MultiGraph([(0, 1), (0, 1)]), "graph.graphml"),
        lambda nx, np: graphs.save(nx.Graph([((0, 0), (0, 1))]), "graph.graphml"),
        lambda nx, np: graphs.save(closed(), "graph.graphml"),
        lambda nx, np: graphs.save(RING, "graph.nothing", to="nothing"),
        lambda nx, np: graphs.write(nx.Graph([(0.5, 1.5)]), "graph.json"),
        lambda nx, np: ask("graph", "generate", family="ring", peers=0, out="ring.graphml"),
        lambda nx, np: ask("run", "averaging", graph=RING, values=[float("nan")] * 8, sigma=2.0, out="run"),
        lambda nx, np: ask("run", "averaging", graph=RING, values=np.array(["a"] * 8), sigma=2.0, out="run"),
        lambda nx, np: ask("run", "averaging", graph=RING, values=np.ones(8) * 1j, sigma=2.0, out="run"),
        lambda nx, np: ask("run", "averaging", graph=RING, values=np.ones((8, 2, 2)), sigma=2.0, out="run"),
        lambda nx, np: ask("run", "averaging", graph=RING, values=[9.0] * 8, range="0:1", sigma=-2.0, out="run"),
        lambda nx, np: Experiment({**PEERS, "values": [0.5] * 7}).run(out="run"),
        lambda nx, np: Experiment({**PEERS, "noise": {"sigma": -1.0}}).run(out="run"),
        lambda nx, np: Experiment({**PEERS, "graph": nx.DiGraph([(0, 1)])}).run(out="run"),
        lambda nx, np: sottovoce.training.train(failing, [np.zeros((3, 1))] * 3, [0.0], graph=[(0, 1), (1, 2)], protocol={"method": "gossip"}, noise={"sigma": 1.0}),
        lambda nx, np: sottovoce.training.train(lambda p, m, r: r[:, :0], [np.zeros((3, 1))] * 3, [0.0], graph=[(0, 1), (1, 2)], protocol={"method": "gossip"}, noise={"sigma": 1.0}),
    ],
)
def test_what_is_refused_leaves_nothing_half_written(wrong, tmp_path, monkeypatch):
    networkx, numpy = pytest.importorskip("networkx"), pytest.importorskip("numpy")
    here, elsewhere = tmp_path / "here", tmp_path / "temporary"
    for folder in (here, elsewhere):
        folder.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    with pytest.raises(SottovoceError) as caught:
        wrong(networkx, numpy)
    assert caught.value.code == 2 and caught.value.field, str(caught.value)
    del caught  # and with it the experiment, whose graph lives in a file as long as it does
    gc.collect()
    assert sorted(tmp_path.rglob("*")) == [here, elsewhere]


def test_a_claim_that_fell_has_its_document(tmp_path):
    claim = tmp_path / "claim.json"
    claim.write_text("[0, 1, 1, 1, 1, 1, 0.0003, 1, 1, 1, 1, 1]", encoding="utf-8")
    ring = [(i, (i + 1) % 12) for i in range(12)]
    with pytest.raises(SottovoceError) as caught:
        ask("audit", "reconstruct", graph=ring, lazy=0.3, steps=6, observers=[0], claim=claim, runs=2000)
    assert caught.value.code == 1 and caught.value.document["schema_version"] == 1


def test_everything_public_says_what_it_is():
    for module in (sottovoce, sottovoce.account, sottovoce.graphs, sottovoce.plots):
        assert inspect.getdoc(module)
