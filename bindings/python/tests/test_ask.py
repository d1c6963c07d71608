"""The same words give the same documents; what is wrong is said as on the command line."""

import json
import pickle
import threading
import time

import pytest

import sottovoce
from sottovoce import Experiment, SottovoceError, ask

RING = {"experiment": "averaging", "graph": {"family": {"ring": {"n": 12}}}, "noise": {"sigma": 2.0}}


def test_words_are_the_command_lines():
    from sottovoce._ask import words

    found = words("account", "rumor", peers=40, curious=4, muting=0.5, table=True, quiet=False, plot=None, observers=[0, 3])
    assert found == ["account", "rumor", "--peers=40", "--curious=4", "--muting=0.5", "--table", "--observers=0,3"]
    assert words(a_b=-1.5e-300) == ["--a-b=-1.5e-300"]


def test_documents_have_guarantees():
    result = ask("account", "rumor", peers=40, curious=4)
    assert result.schema_version == 1 and result["schema_version"] == 1
    assert result.guarantees and all(one.standing == "proven" for one in result.guarantees)
    assert all(0 <= one.delta <= 1 and one.not_covered for one in result.guarantees)
    assert json.loads(result.to_json()) == dict(result)
    assert "<table>" in result._repr_html_()
    with pytest.raises(AttributeError, match="has no `nothing`"):
        result.nothing


def test_experiments_from_everywhere_are_the_same(tmp_path):
    one = Experiment(RING)
    assert one == Experiment(**RING) == Experiment.from_toml(one.to_toml())
    path = tmp_path / "ring.toml"
    path.write_text(one.to_toml())
    assert Experiment.from_toml(path) == Experiment.from_toml(str(path)) == one
    assert one.to_dict()["noise"]["sigma"] == 2.0
    assert one.account().guarantees[0].epsilon > 0
    ran, again = (one.run(seed=3, out=tmp_path / name) for name in ["first", "second"])
    assert ran.guarantees and ran["seed"] == 3
    places = {"command": 0, "files": 0, "report": 0}
    assert dict(ran) | places == dict(again) | places
    assert sorted(each.name for each in tmp_path.iterdir()) == ["first", "ring.toml", "second"]


@pytest.mark.parametrize(
    "wrong, field",
    [
        (lambda: ask("account", "rumor", peers=1, curious=0), "peers"),
        (lambda: ask("account", "rumor", peers=float("nan"), curious=0), None),
        (lambda: ask("account", "rumor", pears=4), None),
        (lambda: ask("nothing"), None),
        (lambda: ask("account", "rumor", peers=object()), "peers"),
        (lambda: Experiment({**RING, "noise": {"sigam": 2.0}}), None),
        (lambda: Experiment({**RING, "noise": {"sigma": float("inf")}}), None),
        (lambda: Experiment({**RING, "noise": {"sigma": -1.0}}).account(), "noise.sigma"),
        (lambda: Experiment.from_toml("nothing.toml"), "experiment"),
        (lambda: Experiment(), None),
    ],
)
def test_what_is_wrong_is_named(wrong, field):
    with pytest.raises(SottovoceError) as caught:
        wrong()
    error = caught.value
    assert error.code == 2 and str(error)
    if field is not None:
        assert error.field == field and (error.remedy or field in str(error))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.field, again.code) == (str(error), error.field, error.code)


def test_other_threads_go_on():
    steps = 0
    done = threading.Event()

    def count():
        nonlocal steps
        while not done.is_set():
            steps += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    ask("account", "averaging", graph=[(i, (i + 1) % 400) for i in range(400)], steps=200, observers=[0])
    done.set()
    thread.join()
    assert steps > 3


def test_calls_leave_nothing_behind():
    import resource

    def memory():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def asks(times):
        for _ in range(times):
            ask("account", "rumor", peers=40, curious=4)
            with pytest.raises(SottovoceError):
                ask("account", "rumor", peers=1, curious=0)

    asks(500)
    before = memory()
    asks(5000)
    assert memory() - before < 4096, f"{memory() - before} kB more"


def test_the_version_is_the_programs():
    assert ask("account", "rumor", peers=40, curious=4)["version"] == sottovoce.__version__


def test_the_readme_runs(tmp_path, monkeypatch, capsys):
    from pathlib import Path

    pytest.importorskip("networkx")
    text = (Path(__file__).parent.parent / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "epsilon" in capsys.readouterr().out
