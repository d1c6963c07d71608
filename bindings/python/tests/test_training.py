"""A function of one's own goes through the machines, the clipping and the accountant of the built-in tasks."""

import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

numpy = pytest.importorskip("numpy")

import sottovoce  # noqa: E402
from sottovoce import Experiment, SottovoceError, training  # noqa: E402
from sottovoce.training import GradientError, audit, train  # noqa: E402

PEERS = 8


def logistic(_peer, model, rows):
    """Of labels -1 and 1 in the last column, as the built-in task has it."""
    features, labels = rows[:, :-1], rows[:, -1]
    odds = numpy.exp(labels * (features @ model))
    return (-labels / (1 + odds))[:, None] * features


def table():
    """Rows of three numbers no longer than 1, and a label."""
    draw = numpy.random.default_rng(5)
    rows = draw.uniform(-0.5, 0.5, size=(PEERS, 20, 3))
    labels = numpy.where(rows[..., 0] + 0.3 * draw.normal(size=(PEERS, 20)) > 0, 1, -1)
    return rows, labels


def numbers(peers=6, rows=30):
    """Numbers to take the mean of."""
    return [numpy.full((rows, 2), 0.1 * peer) for peer in range(peers)]


def towards(_peer, model, rows):
    return model - rows


QUICK = {"protocol": {"iterations": 3}, "noise": {"sigma": 2.0}, "seed": 1}


@pytest.mark.parametrize(
    "protocol, noise",
    [
        ({"method": "butterfly", "iterations": 5}, {"epsilon": 3.0}),
        ({"method": "local", "iterations": 4}, {"sigma": 2.0}),
        ({"method": "central", "iterations": 4}, {"sigma": 2.0}),
    ],
)
def test_the_same_gradients_give_the_same_model_and_guarantees(tmp_path, protocol, noise):
    rows, labels = table()
    lines = ["who,a,b,c,y"]
    for peer in range(PEERS):
        lines += [f"p{peer},{','.join(repr(float(x)) for x in row)},{label}" for row, label in zip(rows[peer], labels[peer])]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    built_in = sottovoce.ask(
        "run", "learning", data=tmp_path / "rows.csv", label="y", peer_column="who", norm=1, clip=0.3, seeds=1, seed=4, out=tmp_path / "out", **protocol, **noise
    )
    # Every fifth row of a peer is for testing, and rows have an intercept.
    trained_on = [i for i in range(20) if i % 5 != 4]
    data = {
        f"p{peer}": numpy.column_stack([rows[peer][trained_on], numpy.ones(16), labels[peer][trained_on]]) for peer in range(PEERS)
    }
    parts = {"noise": {"sigma": noise["sigma"]}} if "sigma" in noise else {"target": {"epsilon": noise["epsilon"]}}
    result = train(logistic, data, numpy.zeros(4), protocol=protocol, task={"clip": 0.3}, seed=4, **parts)
    # A row's slope is clipped there and its vector here, and exponentials and sums are rounded otherwise: not the same bits, but nearly.
    assert numpy.abs(result.model - numpy.array(built_in["model"])).max() < 1e-12
    # The target's comes first here.
    assert {one.adversary: one.epsilon for one in result.guarantees} == {one.adversary: one.epsilon for one in built_in.guarantees}
    assert all(one.standing != "proven" for one in result.guarantees)
    assert result["sensitivity"] == built_in["sensitivity"] and result["unit"] == "user"
    assert result.bytes > 0 and result["releases"] == [protocol["iterations"]] * PEERS
    assert result.experiment.to_dict()["protocol"]["method"] == protocol["method"]


def test_guarantees_say_what_they_rest_on_and_where_they_end():
    result = train(towards, numbers(), [0.0, 0.0], **QUICK)
    for guarantee in result.guarantees:
        assert "reads no other peer's rows" in str(guarantee["standing"])
        assert any("gradient function" in limit for limit in guarantee.not_covered)
        assert any("starts from" in limit for limit in guarantee.not_covered)
    assert "conditional" in str(result.guarantees[0]["standing"])
    assert not train(towards, numbers(), [0.0, 0.0], noise={"sigma": 0.0}).guarantees
    assert result.schema_version == 1 and result.headline.startswith("6 peers made 3 steps")
    assert "Training(" in repr(result) and "<table>" in result._repr_html_()


def test_peers_end_with_models_of_their_own_on_any_graph():
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(["eva", "ana", "ben"])
    seen = []

    def gradient(peer, model, rows):
        seen.append((peer, float(rows[0, 0])))
        return model - rows

    data = {"ana": numpy.full((4, 1), 0.3), "ben": numpy.full((4, 1), 0.6), "eva": numpy.full((4, 1), 0.9)}
    result = train(gradient, data, [0.0], graph=graph, protocol={"method": "gossip", "iterations": 2, "steps": 1}, noise={"sigma": 0.5}, step={"size": 0.5})
    assert result.models.shape == (3, 1) and len(set(result.models[:, 0])) == 3
    # Everybody computes with its own rows, in the order of the graph.
    assert seen[:3] == [("eva", 0.9), ("ana", 0.3), ("ben", 0.6)]
    assert result["names"] == ["eva", "ana", "ben"]
    assert [moment["step"] for moment in result.history] == [0, 1, 2]
    assert all(later["epsilon"] > sooner["epsilon"] for sooner, later in zip(result.history, result.history[1:]))


def test_a_graph_may_be_what_a_file_has():
    result = train(towards, numbers(), [0.0, 0.0], graph={"family": {"ring": {"n": 6}}}, protocol={"method": "gossip", "iterations": 2, "steps": 2}, noise={"sigma": 1.0})
    assert result.models.shape == (6, 2) and result["messages"] == 2 * 2 * 12


def test_whatever_is_returned_is_clipped_row_by_row():
    loud = lambda _peer, model, rows: numpy.full((len(rows), 2), 1e300)  # noqa: E731
    quiet = train(loud, numbers(), [0.0, 0.0], task={"clip": 0.5}, protocol={"iterations": 1}, noise={"sigma": 0.0}, step={"size": 1.0})
    assert numpy.linalg.norm(quiet.models, axis=1).max() <= 0.5 * (1 + 1e-12)
    one_loud = lambda _peer, model, rows: numpy.vstack([[1e9, 0.0], numpy.tile([0.0, 0.1], (len(rows) - 1, 1))])  # noqa: E731
    mean = train(one_loud, numbers(), [0.0, 0.0], task={"clip": 0.5}, protocol={"iterations": 1}, noise={"sigma": 0.0}, step={"size": 1.0}).model
    assert numpy.allclose(mean, [-0.5 / 30, -0.1 * 29 / 30])
    whole = train(lambda p, m, r: numpy.array([3.0, 4.0]), numbers(), [0.0, 0.0], task={"clip": 0.5, "clipped": "user"}, protocol={"iterations": 1}, noise={"sigma": 0.0}, step={"size": 1.0})
    assert numpy.allclose(whole.model, [-0.3, -0.4])


def test_kinds_of_arrays_that_mean_the_same():
    expected = train(towards, numbers(), [0.5, -0.5], **QUICK).models
    kinds = [
        lambda a: numpy.asfortranarray(a),
        lambda a: numpy.repeat(a, 2, axis=0)[::2],
        lambda a: a.astype(">f8"),
        lambda a: a.tolist(),
    ]
    for kind in kinds:
        found = train(lambda p, m, r: kind(towards(p, m, r)), numbers(), [0.5, -0.5], **QUICK).models
        assert (found == expected).all()
    for narrow in [numpy.float32, numpy.float16]:
        found = train(lambda p, m, r: towards(p, m, r).astype(narrow), numbers(), [0.5, -0.5], **QUICK).models
        assert numpy.abs(found - expected).max() < 0.05
    # What lies right is not copied.
    array = numpy.ones((3, 2))
    assert numpy.shares_memory(training.as_array(numpy, array), array)


def failing(peer, model, rows):
    raise KeyError("no such column")


@pytest.mark.parametrize(
    "returned, found, said",
    [
        (lambda m, r: numpy.ones((len(r) + 1, 2)), "(31, 2)", "of shape (31, 2)"),
        (lambda m, r: numpy.ones((len(r), 3)), "(30, 3)", "of shape (30, 3)"),
        (lambda m, r: numpy.ones(2), "(2,)", "of shape (2,)"),
        (lambda m, r: numpy.ones((1, len(r), 2)), "(1, 30, 2)", "of shape (1, 30, 2)"),
        (lambda m, r: numpy.ones((0, 2)), "(0, 2)", "of shape (0, 2)"),
        (lambda m, r: numpy.float64(1.0), "float64", "float64 or float32"),
        (lambda m, r: numpy.ones((len(r), 2), dtype=int), "an array of int64", "float64 or float32"),
        (lambda m, r: numpy.ones((len(r), 2), dtype=complex), "an array of complex128", "float64 or float32"),
        (lambda m, r: numpy.full((len(r), 2), None), "an array of object", "float64 or float32"),
        (lambda m, r: None, "NoneType", "float64 or float32"),
        (lambda m, r: "gradient", "str", "float64 or float32"),
        (lambda m, r: numpy.where(numpy.arange(60).reshape(30, 2) == 7, numpy.nan, 1.0), "(30, 2)", "NaN in row 3, number 1"),
        (lambda m, r: numpy.where(numpy.arange(60).reshape(30, 2) == 0, -numpy.inf, 1.0), "(30, 2)", "-inf in row 0, number 0"),
    ],
)
def test_what_is_no_gradient_is_named(returned, found, said):
    calls = []

    def gradient(peer, model, rows):
        calls.append(peer)
        return returned(model, rows) if len(calls) == 8 else model - rows

    for experiment in ["learning", "deep"]:
        calls.clear()
        fields = QUICK if experiment == "learning" else {"protocol": {"rounds": 3, "lot": 30.0}, "noise": {"noise-multiplier": 1.0}, "seed": 1}
        with pytest.raises(GradientError) as caught:
            train(gradient, numbers(), [0.0, 0.0], experiment, **fields)
        error = caught.value
        assert (error.peer, error.iteration) == (1, 1), str(error)
        assert error.expected == "(30, 2)" and error.found == found and said in str(error)
        assert error.field == "gradient" and error.remedy and "peer 1, iteration 1" in str(error)
        assert len(calls) == 8, "nobody is asked again"
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.peer, again.found) == (str(error), error.peer, error.found)


def test_what_is_raised_is_the_cause():
    with pytest.raises(GradientError, match="KeyError") as caught:
        train(failing, numbers(), [0.0, 0.0], **QUICK)
    assert isinstance(caught.value.__cause__, KeyError) and caught.value.__cause__.args == ("no such column",)
    assert (caught.value.peer, caught.value.iteration, caught.value.code) == (0, 0, 2)
    with pytest.raises(GradientError) as caught:
        train(lambda p, m, r: [[1.0], [2.0, 3.0]], numbers(), [0.0, 0.0], **QUICK)
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(SystemExit):
        train(lambda p, m, r: sys.exit(3), numbers(), [0.0, 0.0], **QUICK)
    for watch, kind in [(lambda step, models: 1 / 0, ZeroDivisionError), (lambda step, models: int("x"), ValueError)]:
        with pytest.raises(kind) as caught:
            train(towards, numbers(), [0.0, 0.0], watch=watch, **QUICK)
        assert type(caught.value) is kind
    # Afterwards everything goes on as before.
    assert train(towards, numbers(), [0.0, 0.0], **QUICK).models.shape == (6, 2)


@pytest.mark.parametrize(
    "wrong, field",
    [
        (lambda: train(None, numbers(), [0.0]), "gradient"),
        (lambda: train(towards, [], [0.0]), "data"),
        (lambda: train(towards, 7, [0.0]), "data"),
        (lambda: train(towards, [numpy.zeros((3, 2)), 5], [0.0]), "data"),
        (lambda: train(towards, [(numpy.zeros((3, 2)), numpy.zeros(4))] * 2, [0.0]), "data"),
        (lambda: train(towards, [numpy.zeros((3, 2)), numpy.zeros((0, 2))], [0.0, 0.0]), "rows"),
        (lambda: train(towards, numbers(), [[0.0, 0.0]]), "start"),
        (lambda: train(towards, numbers(), []), "start"),
        (lambda: train(towards, numbers(), ["x"]), "start"),
        (lambda: train(towards, numbers(), [float("nan"), 0.0]), "start"),
        (lambda: train(towards, numbers(), [0.0, 0.0], task={"clip": -1.0}), "clip"),
        (lambda: train(towards, numbers(), [0.0, 0.0], task={"clipped": "nothing"}), "clip"),
        (lambda: train(towards, numbers(), [0.0, 0.0], task={"ridge": 0.1}), "task"),
        (lambda: train(towards, numbers(), [0.0, 0.0], task={"batch": 31}), "batch"),
        (lambda: train(towards, numbers(), [0.0, 0.0], noise={"sigma": -1.0}), "sigma"),
        (lambda: train(towards, numbers(), [0.0, 0.0], protocol={"method": "gossip"}, graph=[(0, 1)]), None),
        (lambda: train(towards, numbers(), [0.0, 0.0], "rumor"), "experiment"),
        (lambda: train(towards, numbers(), [0.0, 0.0], "nothing"), None),
        (lambda: train(towards, numbers(), [0.0, 0.0], "deep", task={"images": 50}), "task"),
        (lambda: train(towards, numbers(), [0.0, 0.0], Experiment(experiment="learning"), noise={"sigma": 1.0}), "experiment"),
        (lambda: audit(towards, numbers(), [0.0, 0.0], **QUICK), "instead"),
        (lambda: audit(towards, numbers(), [0.0, 0.0], instead=numpy.zeros((3, 2)), **QUICK), "instead"),
        (lambda: audit(towards, numbers(), [0.0, 0.0], peer=9, instead=numpy.zeros((30, 2)), **QUICK), "peer"),
        (lambda: audit(towards, numbers(), [0.0, 0.0], "deep", instead=numpy.zeros((30, 2))), "experiment"),
    ],
)
def test_what_does_not_suit_is_named(wrong, field):
    with pytest.raises(SottovoceError) as caught:
        wrong()
    assert caught.value.code == 2 and str(caught.value)
    if field is not None:
        assert caught.value.field == field, str(caught.value)


def test_one_row_is_protected_where_lots_are_drawn():
    asked = []

    def gradient(peer, model, rows):
        asked.append(len(rows))
        return model - rows

    data = [numpy.full((300, 2), 0.1 * peer) for peer in range(5)]
    fields = {"protocol": {"method": "dsgt", "rounds": 30, "lot": 30.0, "rate": 0.3}, "target": {"epsilon": 4.0}, "seed": 1}
    result = train(gradient, data, [0.0, 0.0], "deep", **fields)
    assert result["unit"] == "record" and result.releases == [30] * 5
    (guarantee,) = result.guarantees
    assert "that row and the model alone" in str(guarantee["standing"]) and guarantee["adjacency"] == "add-remove"
    # The same by the accountant of mechanisms.
    events = [{"gaussian": {"noise_multiplier": result["noise_multipliers"][0]}, "sampling_rate": 0.1, "steps": 30}]
    alone = sottovoce.accounting.events(events, delta=1e-5, adjacency="add-remove").guarantees[0]
    assert abs(guarantee.epsilon - alone.epsilon) < 1e-6 and 3.9 < guarantee.epsilon <= 4.0
    # Lots vary: who computes gradients is told rows, and not how large lots are on average.
    assert len(set(asked)) > 5 and 20 < numpy.mean(asked) < 40
    assert numpy.abs(result.models - 0.2).max() < 1.0
    assert (train(gradient, data, [0.0, 0.0], "deep", **fields).models == result.models).all()


def holders(rows):
    """The same rows in everything that holds rows; labels of pandas are shuffled."""
    import random

    array, kinds = numpy.array(rows), {}
    kinds["array"] = lambda: array.copy()
    kinds["list"] = lambda: [row.copy() for row in array]
    kinds["tuple"] = lambda: (array[:, :1].copy(), array[:, 1].copy())
    try:
        import pandas

        labels = list(range(len(rows)))
        random.Random(3).shuffle(labels)
        kinds["frame"] = lambda: pandas.DataFrame(array.copy(), index=labels)
        kinds["series"] = lambda: (array[:, :1].copy(), pandas.Series(array[:, 1].copy(), index=labels))
    except ImportError:
        pass
    try:
        import torch

        kinds["tensor"] = lambda: torch.tensor(array)
    except ImportError:
        pass
    return kinds


def as_numbers(rows):
    if isinstance(rows, tuple):
        return numpy.column_stack([numpy.asarray(part).reshape(len(part), -1) for part in rows])
    return numpy.asarray(rows.detach() if hasattr(rows, "detach") else rows, dtype=float).reshape(-1, 2)


@pytest.mark.parametrize("kind", ["array", "list", "tuple", "frame", "series", "tensor", "file"])
def test_one_record_moves_one_row_of_gradients(kind, tmp_path):
    """Replaces one record and compares gradients, row by row."""
    rows = [[float(i), 100.0 + i] for i in range(40)]
    other = [row if i != 7 else [-1.0, -2.0] for i, row in enumerate(rows)]

    def held(rows, name):
        if kind == "file":
            numpy.save(tmp_path / name, numpy.array(rows))
            return numpy.load(tmp_path / f"{name}.npy", mmap_mode="r")
        made = holders(rows)
        if kind not in made:
            pytest.skip(f"{kind} needs a package that is not installed")
        return made[kind]()

    def gradients(data):
        seen = []

        def gradient(peer, model, picked):
            found = as_numbers(picked)
            seen.append(found.copy())
            return found - model

        train(gradient, [data], [0.0, 0.0], "deep", protocol={"method": "central", "rounds": 6, "lot": 20.0}, noise={"noise-multiplier": 1.0}, seed=1)
        return seen

    before, after = gradients(held(rows, "one")), gradients(held(other, "other"))
    changed = 0
    for one, two in zip(before, after, strict=True):
        differs = (one != two).any(axis=1)
        assert (one[:, 1] == 100 + one[:, 0]).all(), "features and labels of one row stay together"
        assert differs.sum() == (one[:, 0] == 7).sum() <= 1
        changed += differs.sum()
    assert changed > 0


def test_functions_cannot_change_the_data(tmp_path):
    for kind, make in holders([[float(i), 1.0] for i in range(6)]).items():
        for experiment, fields in [("learning", QUICK), ("deep", {"protocol": {"method": "local", "rounds": 3, "lot": 3.0}, "noise": {"noise-multiplier": 1.0}, "seed": 1})]:
            data = [make(), make()]

            def gradient(peer, model, rows):
                found = as_numbers(rows).copy()
                for part in rows if isinstance(rows, (tuple, list)) else [rows]:
                    part *= 0
                return found - model

            train(gradient, data, [0.0, 0.0], experiment, **fields)
            assert (as_numbers(data[0]) == as_numbers(make())).all(), (kind, experiment)


def test_rows_without_positions_are_refused():
    for rows in [{"x": [1.0], "y": [2.0]}, "text", {1.0, 2.0}, 7]:
        with pytest.raises(SottovoceError) as caught:
            train(towards, [rows, rows], [0.0], **QUICK)
        assert caught.value.field == "data"


def test_noise_that_nobody_can_repeat_unless_a_seed_is_given():
    quick = {key: value for key, value in QUICK.items() if key != "seed"}
    for experiment, fields in [("learning", quick), ("deep", {"protocol": {"rounds": 3, "lot": 10.0}, "noise": {"noise-multiplier": 1.0}})]:
        one, two = (train(towards, numbers(), [0.0, 0.0], experiment, **fields) for _ in range(2))
        assert (one.models != two.models).all(), "64 bits from the system are not drawn twice"
        assert "seed" not in one and "seed" not in one.headline
        seeded = [train(towards, numbers(), [0.0, 0.0], experiment, seed=5, **fields) for _ in range(2)]
        assert (seeded[0].models == seeded[1].models).all() and seeded[0]["seed"] == 5
        assert "seed 5" in seeded[0].headline and any("seed 5" in note for note in seeded[0].notes)
        for guarantee, known in [(one.guarantees[0], False), (seeded[0].guarantees[0], True)]:
            assert any("public seed" in limit for limit in guarantee.not_covered) == known


@pytest.mark.parametrize("experiment", ["learning", "deep"])
def test_what_was_asked_for_comes_first(experiment):
    protocol = {"iterations": 5} if experiment == "learning" else {"rounds": 5, "lot": 10.0}
    graph = {} if experiment == "learning" else {"graph": {"family": {"ring": {"n": 6}}}}
    result = train(towards, numbers(), [0.0, 0.0], experiment, protocol=protocol, target={"epsilon": 0.1}, **graph)
    assert 0.09 < result.guarantees[0].epsilon <= 0.1 and "epsilon 0.100" in result.headline, result.headline


def test_a_forked_child_is_told_so():
    script = """
        import os, sottovoce
        sottovoce.ask("account", "rumor", peers=40, curious=4)
        child = os.fork()
        if child == 0:
            try:
                sottovoce.ask("account", "rumor", peers=40, curious=4)
            except RuntimeError as error:
                os._exit(7 if "spawn" in str(error) else 1)
            os._exit(2)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    said = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert said.stdout == "7\n", said


def test_claims_are_attacked():
    data = [numpy.zeros((5, 2)) for _ in range(4)]
    sides = lambda _peer, model, rows: 9.0 + 0.0 * model - 18.0 * rows  # noqa: E731
    found = audit(sides, data, [0.0, 0.0], peer=1, instead=numpy.ones((5, 2)), runs=300, protocol={"iterations": 2}, noise={"sigma": 0.5})
    assert found["stands"] and 1.0 < found["mu_lower"] <= found["mu"] <= 8**0.5 + 1e-9
    assert found["epsilon_lower"] <= found.guarantees[0].epsilon


def test_who_watches_sees_models():
    result = train(towards, numbers(), [0.0, 0.0], watch=lambda step, models: (models.shape, float(models.mean())), **QUICK)
    assert [step for step, _ in result.watched] == [1, 2, 3]
    assert result.watched[-1][1][1] == pytest.approx(result.model.mean())


def test_other_threads_go_on_and_functions_may_ask_again():
    steps, done = 0, threading.Event()

    def count():
        nonlocal steps
        while not done.is_set():
            steps += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    train(towards, numbers(200, 3), [0.0, 0.0], protocol={"method": "gossip", "iterations": 20, "steps": 30}, noise={"sigma": 2.0})
    done.set()
    thread.join()
    assert steps > 3

    def gradient(peer, model, rows):
        if peer == 0:
            assert sottovoce.ask("account", "rumor", peers=40, curious=4).guarantees
        return model - rows

    assert train(gradient, numbers(), [0.0, 0.0], **QUICK).guarantees


@pytest.mark.parametrize("body", ["time.sleep(30)", "time.sleep(0.01)"])
def test_ctrl_c_stops_within_a_second(body):
    script = f"""
        import sys, time, numpy
        from sottovoce import training
        def gradient(peer, model, rows):
            if peer <= 1:
                print("begun", flush=True)
            {body}
            return model - rows
        try:
            training.train(gradient, [numpy.zeros((2, 1))] * 50, [0.0], protocol={{"iterations": 1000}}, noise={{"sigma": 1.0}})
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    before = time.monotonic()
    rest, _ = process.communicate(timeout=20)
    assert rest.endswith("stopped\n") and time.monotonic() - before < 10, "and not when all is done"


def test_without_numpy_or_torch_it_says_so():
    for missing, call in [
        ("numpy", "training.train(lambda p, m, r: r, [[1]], [0.0])"),
        ("torch", "training.TorchModel(None, None)"),
    ]:
        script = f"import sys; sys.modules['{missing}'] = None\nimport sottovoce\nfrom sottovoce import training\ntry:\n    {call}\nexcept sottovoce.SottovoceError as error:\n    print(error.field, error)"
        said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert said.stdout.startswith(f"{missing} `{missing}` is missing") and f"pip install {missing}" in said.stdout, said.stderr


def test_calls_leave_nothing_behind():
    import resource

    def memory():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    data = [numpy.zeros((50, 200)) for _ in range(4)]
    many = {"protocol": {"iterations": 100}, "noise": {"sigma": 20.0}}
    train(towards, data, numpy.zeros(200), **many)
    before = memory()
    for _ in range(5):
        train(towards, data, numpy.zeros(200), **many)
    assert memory() - before < 8192, f"{memory() - before} kB more"


def test_the_readme_trains(capsys):
    from pathlib import Path

    text = (Path(__file__).parent.parent / "README.md").read_text().split("## Training of your own")[1]
    exec(compile(text.split("```python\n")[1].split("```")[0], "README.md", "exec"), {})
    assert "10 peers made 40 steps" in capsys.readouterr().out
