"""Ctrl-C ends the work and not only the waiting; progress is told, and may end it, too."""

import os
import sys
import threading
from pathlib import Path

import pytest

from sottovoce import SottovoceError, ask

sys.path.insert(0, str(Path(__file__).parent.parent / "benches"))
from stop import LONG, pressed  # noqa: E402

#: One of each kind; the benchmark has more.
SOME = ["exact losses of all pairs", "a simulation", "an attack on a rumour", "learning"]


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("what", SOME)
def test_ctrl_c_ends_the_work(what, tmp_path):
    found = pressed(LONG[what], tmp_path, 1.0)
    assert found["ended"] == "stopped", "it was done before anybody pressed Ctrl-C; make it longer"
    # Within a second where the machine is ours: benches/stop.py.
    assert found["seconds"] < 5.0, f"{found['seconds']:.2f} s until it returned"
    assert found["still"] < 0.2, f"{found['still']:.2f} s of work afterwards"
    assert found["files"] == [], found["files"]
    assert "panicked" not in found["errors"], found["errors"]


def test_progress_is_told_and_may_end_the_work():
    heard = []

    def hear(what, done, total):
        heard.append((what, done, total))
        if done > 0:
            raise InterruptedError("enough")

    with pytest.raises(InterruptedError, match="enough"):
        ask("audit", "source", peers=2000, curious=200, muting=0.5, runs=100_000_000, progress=hear)
    what, done, total = heard[-1]
    assert what and 0 < done <= total
    # The thread that was stopped goes on with other work.
    assert ask("account", "rumor", peers=40, curious=4).guarantees


def test_progress_is_true_or_callable(capfd):
    ask("audit", "source", peers=400, curious=40, muting=0.5, runs=20_000, progress=True)
    with pytest.raises(SottovoceError) as caught:
        ask("account", "rumor", peers=40, curious=4, progress=3)
    assert caught.value.field == "progress"


def test_one_that_is_stopped_leaves_others_alone():
    done = {}

    def other():
        done["result"] = ask("audit", "source", peers=1000, curious=100, muting=0.5, runs=20_000)

    thread = threading.Thread(target=other)
    thread.start()

    def enough(*_):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        ask("audit", "source", peers=2000, curious=200, muting=0.5, runs=100_000_000, progress=enough)
    thread.join()
    assert done["result"]["schema_version"] == 1
