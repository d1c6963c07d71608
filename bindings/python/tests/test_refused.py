"""What an adversary found: numbers that came out too small or of somebody else, and what was refused without naming it."""

import copy
import gc
import math
import pickle
import re

import pytest

import sottovoce
from sottovoce import SottovoceError, graphs, training
from sottovoce.accounting import Accountant, events

GAUSSIAN = {"gaussian": {"noise_multiplier": 1.0}}
RING = {"experiment": "averaging", "graph": {"family": {"ring": {"n": 12}}}, "noise": {"sigma": 2.0}}


def refused(field, work):
    with pytest.raises(SottovoceError) as caught:
        work()
    assert caught.value.field == field, str(caught.value)
    assert caught.value.remedy and caught.value.value is not None
    return str(caught.value)


def test_what_was_composed_stays_as_it_was():
    release = {"gaussian": {"noise_multiplier": 1.0}}
    accountant = Accountant().compose(release)
    before = accountant.get_epsilon(1e-5)
    release["gaussian"]["noise_multiplier"] = 100.0
    assert accountant.get_epsilon(1e-5) == before
    assert accountant.compose(release).get_epsilon(1e-5) > before


@pytest.mark.parametrize("steps", [-9, 0, 0.5, "2", True, math.inf])
def test_steps_are_never_taken_away(steps):
    accountant = Accountant().compose({**GAUSSIAN, "steps": 10})
    before = accountant.get_epsilon(1e-5)
    refused("steps", lambda: accountant.compose({**GAUSSIAN, "steps": steps}))
    assert (len(accountant), accountant.get_epsilon(1e-5)) == (10, before)


@pytest.mark.parametrize("count", [math.nan, math.inf, None, 0, -1, 1.5, True, "3"])
def test_counts_are_whole_numbers(count):
    refused("count", lambda: Accountant().compose(GAUSSIAN, count))


def test_names_with_commas_and_blanks_are_themselves():
    pairs = [("a", "b"), ("b", "c"), ("c", "a,b"), ("a,b", "d")]
    refused("observers", lambda: sottovoce.account.averaging(graph=pairs, steps=2, observers=["a,b"]))
    names = graphs.edges(pairs)[0]
    asked = sottovoce.Experiment(experiment="averaging", graph=pairs, noise={"sigma": 1.0}, protocol={"steps": 1})
    assert asked.account("a,b")["observers"] == [names.index("a,b")]
    pairs = [("a", "b"), ("b", "c"), ("c", " a"), (" a", "d")]
    names = graphs.edges(pairs)[0]
    assert sottovoce.account.averaging(graph=pairs, steps=1, observers=[" a"])["observers"] == [names.index(" a")]


def test_a_loss_without_bound_is_the_largest():
    pandas = pytest.importorskip("pandas")
    without = sottovoce.account.mechanism(gaussian=True, noise_multiplier=1.0, delta=0)
    bounded = sottovoce.account.mechanism(gaussian=True, noise_multiplier=1.0)
    assert pandas.concat([without.to_pandas(), bounded.to_pandas()])["epsilon"].max() == math.inf
    assert without.to_pandas("guarantees")["epsilon"].max() == math.inf


@pytest.mark.parametrize("nothing", [None, False, True])
def test_a_truth_is_no_number(nothing):
    accountant = Accountant().compose(GAUSSIAN)
    refused("delta", lambda: accountant.get_epsilon(nothing))
    refused("epsilon", lambda: accountant.get_delta(nothing))
    if nothing is not None:
        refused("delta", lambda: sottovoce.account.mechanism(gaussian=True, noise_multiplier=1.0, delta=nothing))
        refused("noise_multiplier", lambda: sottovoce.account.mechanism(gaussian=True, noise_multiplier=nothing))


def test_nothing_is_swallowed():
    refused("adjacency", lambda: Accountant("REPLACE_ONE", adjacency="add-remove"))
    refused("neighboring_relation", lambda: Accountant("bogus"))
    with pytest.raises(TypeError):
        Accountant().compose(GAUSSIAN).get_epsilon(1e-5, steps=1000)
    assert Accountant().compose(GAUSSIAN).get_epsilon(1e-5, alphas=[2, 3]) > 4


def test_errors_name_what_is_wrong_in_a_release():
    assert "/tmp" not in refused("noise-multiplier", lambda: events([{"gaussian": {"noise_multiplier": -1}}]))
    refused("releases.gaussian.noise_multiplier", lambda: events([{"gaussian": {"noise_multiplier": math.nan}}]))
    refused("scale", lambda: events([{"laplace": {"scal": 1}}]))
    refused("releases", lambda: events({"gaussian": 1}))
    assert events(iter([GAUSSIAN]))["delta"] == 1e-5
    refused("noise_multiplier", lambda: Accountant().step(noise_multiplier=None, sample_rate=0.1))


def test_events_that_are_not_whole():
    composed, gaussian = (type(name, (), {}) for name in ("ComposedDpEvent", "GaussianDpEvent"))
    many = composed()
    many.events = iter([])
    refused("events", lambda: Accountant().compose(many))
    refused("event", lambda: Accountant().compose(gaussian()))
    assert not Accountant().supports(gaussian())


def test_copies_have_files_of_their_own():
    first = sottovoce.Experiment(experiment="averaging", graph=[("a", "b"), ("b", "c")], noise={"sigma": 2.0})
    copied, text = copy.deepcopy(first), pickle.dumps(first)
    del first
    gc.collect()
    assert copied.account("a")["observers"] == [0]
    assert pickle.loads(text).account("c")["observers"] == [2]


def test_adversaries_are_peers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the run's report goes
    ring = sottovoce.Experiment(RING)
    for nobody in (1.0, b"5", True, {"a": 1}, [1.5]):
        refused("adversary", lambda: ring.account(nobody))
    refused("adversary", lambda: sottovoce.Experiment(experiment="rumor").account("3"))
    assert sottovoce.Experiment(experiment="learning", task={"peers": 8}).account("3")["observers"] == [3]
    assert ring.account(iter([1, 2]))["observers"] == [1, 2]
    numpy = pytest.importorskip("numpy")
    assert ring.account(numpy.int64(3))["observers"] == [3]
    assert ring.account(numpy.array([1, 2]))["observers"] == [1, 2]
    assert ring.run(json=True).headline


def test_graphs_are_read_once_and_as_they_are():
    read = sottovoce.Experiment(experiment="averaging", graph=iter([("a", "b"), ("b", "c")]), values=[1.0, 2.0, 3.0], noise={"sigma": 2.0})
    assert read.account("b")["observers"] == [1]
    for graph in ({"an": ["be"], "be": ["an"]}, ["an", "be"], [("a", "a")], [("a", "b"), ("b", "a")]):
        refused("graph", lambda: graphs.edges(graph))
    assert graphs.edges([("1" * 5000, "b")])[0][1] == "b"
    assert graphs.edges([("10", "9"), ("9", "2")])[0] == ["2", "9", "10"]
    numpy = pytest.importorskip("numpy")
    assert graphs.edges(numpy.matrix([[0, 1], [1, 0]]))[1] == [(0, 1)]


def test_names_that_begin_like_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graphs.save([("a", "b")], "-out.json")
    assert graphs.edges("-out.json") == (["a", "b"], [(0, 1)])
    refused("file", lambda: graphs.edges("--help"))
    refused("command", lambda: sottovoce.ask("--version"))


def test_data_belong_to_the_peers_that_they_name(tmp_path):
    numpy = pytest.importorskip("numpy")
    path = graphs.save([("a", "b"), ("b", "c"), ("c", "d")], tmp_path / "names.json")
    data = {name: numpy.full((5, 1), value) for name, value in [("d", 4.0), ("c", 3.0), ("b", 2.0), ("a", 1.0)]}
    fields = {"protocol": {"method": "gossip", "iterations": 1, "steps": 1}, "task": {"clip": 10.0}, "noise": {"sigma": 0.0}}

    def models(graph):
        result = training.train(lambda peer, model, rows: rows, data, [0.0], graph=graph, **fields)
        return dict(zip(result.peers, result.models.ravel().tolist()))

    expected = models(graphs.to_edges(path))
    assert models(path) == models({"file": str(path)}) == expected
    assert expected["a"] > expected["d"]
    strangers = {name: numpy.ones((5, 1)) for name in "xyzw"}
    refused("data", lambda: training.train(lambda peer, model, rows: rows, strangers, [0.0], graph=path, **fields))
    for seed in (-1, 2**64, 1.5):
        refused("seed", lambda: training.train(lambda peer, model, rows: rows, data, [0.0], graph=path, seed=seed, **fields))
    refused("watch", lambda: training.train(lambda peer, model, rows: rows, data, [0.0], graph=path, watch=5, **fields))
    refused("start", lambda: training.train(lambda peer, model, rows: rows, data, [1j], graph=path, **fields))
    hidden = lambda peer, model, rows: numpy.ma.masked_array(rows, mask=rows > 0)
    refused("gradient", lambda: training.train(hidden, data, [0.0], graph=path, **fields))


def test_standings_are_words():
    numpy = pytest.importorskip("numpy")
    data = [numpy.full((20, 1), 0.1 * peer) for peer in range(4)]
    result = training.train(lambda peer, model, rows: model - rows, data, [0.0], protocol={"iterations": 2}, noise={"sigma": 4.0})
    assert {one.standing for one in result.guarantees} == {"conditional"}
    assert all(one.conditions for one in result.guarantees)
    assert sottovoce.ask("account", "rumor", peers=40, curious=4).guarantees[0].conditions == []


def test_a_number_of_each_peer():
    pandas = pytest.importorskip("pandas")
    graph = [("a", "b"), ("b", "c")]
    for values in (pandas.Series([1.0, 2.0, 3.0], index=["a", "a", "b"]), [10**400, 1, 2]):
        refused("values", lambda: sottovoce.Experiment(experiment="averaging", graph=graph, values=values, noise={"sigma": 1.0}))


def test_options_with_or_without_a_value_are_those_of_the_program():
    from sottovoce import _ask

    commands = [one for one in sottovoce.ask("schema", options=True)["commands"] if one["name"]]
    optional = {one["name"] for command in commands for one in command["options"] if one["optional"] and not one["positional"]}
    helps = [_ask.said_text(*command["name"].split(), "--help") for command in commands]
    assert {option for text in helps for option in re.findall(r"--([a-z-]+) \[<", text)} == optional != set()
    assert "--target-worst" in _ask.words("plan", "averaging", target_worst=True)


@pytest.mark.parametrize(
    ("fields", "field", "value"),
    [
        ({"noise": {"sigma": "x"}}, "noise.sigma", '"x"'),
        ({"noise": {"sigma": 1.0, "bogus": 3}}, "noise.bogus", "3"),
        ({"seed": -1}, "seed", "-1"),
        ({"seed": 2**63}, "seed", str(2**63)),
        ({"target": {"epsilon": [1]}}, "target.epsilon", "[1]"),
        ({"title": "\ud800"}, "title", "'\\ud800'"),
        ({"noise": [2.0]}, "noise", "[2.0]"),
    ],
)
def test_fields_of_an_experiment_are_named(fields, field, value):
    with pytest.raises(sottovoce.SottovoceError) as caught:
        sottovoce.Experiment({"experiment": "averaging", **fields})
    assert (caught.value.field, caught.value.value) == (field, value) and caught.value.remedy


def test_losses_are_shown_rounded_up():
    from sottovoce._result import _up

    assert [_up(loss, 4) for loss in (1.23411, 4.0, 3.99999999999, 1e-5, 0.0, float("inf"))] == ["1.235", "4", "4", "1e-05", "0", "inf"]
    assert float(_up(0.1 + 0.2, 4)) >= 0.1 + 0.2


def test_documents_without_a_headline_show_their_numbers():
    found = sottovoce.Result({"sigma": 2.5, "who": "<b>"})
    assert found._repr_html_() == "<table><tr><td>sigma</td><td>2.5</td></tr><tr><td>who</td><td>&lt;b&gt;</td></tr></table>"
