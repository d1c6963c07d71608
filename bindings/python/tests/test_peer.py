"""Real peers on this machine, each with a key, a ledger and a port of its own, called from Python's threads."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

numpy = pytest.importorskip("numpy")

import sottovoce  # noqa: E402
from sottovoce import Peer, SottovoceError, _sottovoce  # noqa: E402
from sottovoce.training import GradientError  # noqa: E402

NODES = hasattr(_sottovoce, "take_part")
with_nodes = pytest.mark.skipif(not NODES, reason="this wheel was built without nodes; build one with --features node")

LEARNING = """
experiment = "learning"
task = { clip = 1.0 }
step = { size = 0.5 }
protocol = { method = "butterfly", iterations = 4 }
noise = { sigma = 0.02 }
"""

DEEP = """
experiment = "deep"
protocol = { method = "dsgd", rounds = 3, lot = 8.0, rate = 0.5 }
noise = { clip = 1.0, noise-multiplier = 0.05 }
"""


#: Below the ports that the system hands to whoever asks for any: nobody is given one before its owner comes.
PORTS = (20_000 + (37 * os.getpid() + place) % 10_000 for place in range(10_000))


def free(port):
    """Whether nobody listens on it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def ports(count):
    """Ports that nobody listens on, each handed out once."""
    return list(itertools.islice(filter(free, PORTS), count))


def village(folder, peers, experiment, width=2, rows=None, more="", time=None):
    """Nodes with rows of their own, and an agreement that all have signed."""
    members = ""
    for place, port in enumerate(ports(peers)):
        home = folder / f"p{place}"
        key = sottovoce.ask("node", "init", home)["key"]
        config = (home / "node.toml").read_text().replace('"values.txt"', '"rows.csv"').replace("epsilon = 4.0", "epsilon = 1e6")
        (home / "node.toml").write_text(config.replace("epsilon = 8.0", "epsilon = 1e6").replace("# one-by-one = true", more))
        numpy.savetxt(home / "rows.csv", numpy.full((10, width), 0.25 * (place + 1)), delimiter=",")
        count = f"rows = {rows}\n" if rows else ""
        members += f'[[peers]]\nname = "p{place}"\nkey = "{key}"\naddress = "127.0.0.1:{port}"\n{count}'
    file = folder / "agreement.toml"
    # Rumours are of texts, and last as long as was agreed on.
    fields = f"grid = {2.0**-20}\nwidth = {width}\n" if time is None else f"grid = 1.0\ntime = {time}\n"
    head = f'version = 1\nname = "run"\nnonce = "{folder.name}"\n{fields}edges = "complete"\nanswer = 5.0\nround = 20.0\ntick = 0.001\n'
    file.write_text(f"{head}{members}[experiment]{experiment}")
    for place in range(peers):
        sottovoce.ask("node", "agree", "sign", folder / f"p{place}", file, "--yes")
    return [Peer(folder / f"p{place}") for place in range(peers)], file


def together(peers, run):
    with ThreadPoolExecutor(len(peers)) as pool:
        return [future.result() for future in [pool.submit(run, peer) for peer in peers]]


def towards(_peer, model, rows):
    return model - rows


@with_nodes
def test_peers_descend_by_functions_and_their_ledgers_have_paid(tmp_path):
    peers, file = village(tmp_path, 3, LEARNING)
    asked = []

    def gradient(peer, model, rows):
        asked.append((peer, rows.shape))
        return model - rows

    results = together(peers, lambda peer: peer.run(file, gradient, wait=30))
    # Steps of half the way to the mean of 0.25, 0.5 and 0.75: 1 - 2^-4 of it, but for noise.
    for result in results:
        assert numpy.abs(numpy.array(result["result"]) - 0.5 * (1 - 0.5**4)).max() < 0.2, result["result"]
        assert result["unanswered"] == [] and "trouble" not in result
    assert sorted(set(asked)) == [(f"p{place}", (10, 2)) for place in range(3)] and len(asked) == 12
    for peer in peers:
        spent = peer.status()["budgets"]
        assert spent and all(one["spent"] > 0 for one in spent), spent


@with_nodes
def test_lots_are_asked_for_row_by_row_where_the_owner_says_so(tmp_path):
    peers, file = village(tmp_path, 2, DEEP, rows=10, more="one-by-one = true")
    sizes = []

    def gradient(_peer, model, rows):
        sizes.append(rows.shape)
        return (model - rows).astype(numpy.float32)

    results = together(peers, lambda peer: peer.run(file, gradient, wait=30))
    assert all(len(result["result"]) == 2 for result in results)
    assert len(sizes) >= 5 and all(count <= 10 and width == 2 for count, width in sizes)


@with_nodes
def test_rows_are_not_priced_where_nobody_says_they_are_apart(tmp_path):
    peers, file = village(tmp_path, 2, DEEP, rows=10)
    with pytest.raises(SottovoceError, match="one-by-one") as caught:
        peers[0].run(file, towards, wait=5)
    assert caught.value.field == "program" and all(one["spent"] == 0 for one in peers[0].status()["budgets"])


@with_nodes
def test_a_function_that_fails_stops_nobody_and_is_told_in_the_end(tmp_path):
    peers, file = village(tmp_path, 2, LEARNING)

    def run(peer):
        def gradient(name, model, rows):
            if name == "p0":
                raise KeyError("a secret")
            return model - rows

        try:
            return peer.run(file, gradient, wait=30)
        except GradientError as error:
            return error

    error, result = together(peers, run)
    assert isinstance(error, GradientError) and isinstance(error.__cause__, KeyError)
    assert error.peer == "p0" and error.iteration == 0 and "(2,)" in error.expected
    assert "zeros are taken from step 0 on" in error.result["trouble"] and "secret" not in str(dict(error.result))
    # The other learns from its own rows, and from zeros.
    assert numpy.allclose(result["result"], error.result["result"], atol=1e-6) and "trouble" not in result
    assert all(one["spent"] > 0 for one in peers[0].status()["budgets"])


@with_nodes
@pytest.mark.parametrize(
    "returned, said",
    [
        (lambda m, r: numpy.ones((10, 3)), "of shape [10, 3]"),
        (lambda m, r: numpy.full((10, 2), numpy.nan), "NaN in row 0, number 0"),
        (lambda m, r: numpy.ones((10, 2), dtype=int), "int64"),
    ],
)
def test_what_is_no_gradient_counts_as_zeros(tmp_path, returned, said):
    peers, file = village(tmp_path, 2, LEARNING)

    def run(peer):
        try:
            return peer.run(file, lambda name, m, r: returned(m, r) if name == "p0" else m - r, wait=30)
        except GradientError as error:
            return error

    error, result = together(peers, run)
    assert isinstance(error, GradientError) and said in str(error), error
    assert numpy.isfinite(result["result"]).all()


@with_nodes
def test_peers_average_without_a_function(tmp_path):
    averaging = '\nexperiment = "averaging"\nprotocol = { method = "butterfly" }\nnoise = { sigma = 0.01 }\nvalues = { range = "0:1" }\n'
    peers, file = village(tmp_path, 4, averaging)
    for place, peer in enumerate(peers):
        peer.file.write_text(f"{0.2 * place} {0.1 * place}\n")
    for result in together(peers, lambda peer: peer.run(file, wait=30)):
        assert numpy.allclose(result["result"], [0.3, 0.15], atol=0.05)


@with_nodes
def test_ctrl_c_stops_a_node_and_it_goes_on(tmp_path):
    peers, file = village(tmp_path, 2, LEARNING)
    script = f"""
        from sottovoce import Peer
        try:
            print("begun", flush=True)
            Peer({str(peers[0].folder)!r}).run({str(file)!r}, lambda p, m, r: m - r, wait=60)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    before = time.monotonic()
    rest, _ = process.communicate(timeout=20)
    assert rest == "stopped\n" and time.monotonic() - before < 10, "and not after its wait of a minute"
    results = together(peers, lambda peer: peer.run(file, towards, wait=30))
    assert all(len(result["result"]) == 2 for result in results)


@with_nodes
def test_an_interrupt_inside_the_function_makes_no_step_of_zeros(tmp_path):
    peers, file = village(tmp_path, 2, LEARNING)
    asked = []

    def gradient(name, model, rows):
        if name == "p0":
            asked.append(model.copy())
            if len(asked) == 2:
                raise KeyboardInterrupt
        return model - rows

    def run(peer):
        try:
            return peer.run(file, gradient, wait=30)
        except KeyboardInterrupt:
            return peer.run(file, gradient, wait=30)

    first, second = together(peers, run)
    # Four steps, and the second of them was asked for once more, at the same model.
    assert len(asked) == 5 and (asked[1] == asked[2]).all(), asked
    assert numpy.allclose(first["result"], second["result"], atol=1e-6) and "trouble" not in first


@with_nodes
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, when):
    peers, file = village(tmp_path, 2, LEARNING)

    def load(path):
        assert path == peers[0].file
        rows = numpy.loadtxt(path, delimiter=",", ndmin=2) if when == "before" else None
        path.write_text("9,9\n")
        return numpy.loadtxt(path, delimiter=",", ndmin=2) if rows is None else rows

    with pytest.raises(SottovoceError, match="changed meanwhile") as caught:
        peers[0].run(file, towards, load=load, wait=5)
    assert caught.value.field == "data" and all(one["spent"] == 0 for one in peers[0].status()["budgets"])


@with_nodes
def test_rows_that_cannot_be_read_are_said_at_once(tmp_path):
    peers, file = village(tmp_path, 2, LEARNING)
    with pytest.raises(ZeroDivisionError):
        peers[0].run(file, towards, load=lambda path: 1 / 0, wait=5)
    for wrong, field in [({"gradient": 5}, "gradient"), ({"gradient": towards, "load": 5}, "load")]:
        with pytest.raises(SottovoceError) as caught:
            peers[0].run(file, **wrong, wait=5)
        assert caught.value.field == field
    assert all(one["spent"] == 0 for one in peers[0].status()["budgets"])


@with_nodes
@pytest.mark.parametrize(
    "experiment, time",
    [
        ('\nexperiment = "averaging"\nprotocol = { method = "butterfly" }\nnoise = { sigma = 0.01 }\nvalues = { range = "0:1" }\n', None),
        ('\nexperiment = "rumor"\nmuting = 0.1\n', 5.0),
    ],
    ids=["averaging", "rumor"],
)
def test_a_function_is_refused_where_nobody_would_ask_it(tmp_path, experiment, time):
    peers, file = village(tmp_path, 4, experiment, time=time)
    with pytest.raises(SottovoceError, match="nothing is learned") as caught:
        peers[0].run(file, towards, wait=5)
    assert caught.value.field == "gradient" and all(one["spent"] == 0 for one in peers[0].status()["budgets"])


@with_nodes
def test_what_is_no_node_is_named(tmp_path):
    _, file = village(tmp_path, 2, LEARNING)
    for folder, agreement, field in [("nobody", file, "node"), ("p0", tmp_path / "none.toml", "agreement")]:
        for function in (None, towards):
            with pytest.raises(SottovoceError) as caught:
                Peer(tmp_path / folder).run(agreement, function)
            assert caught.value.field == field
    with pytest.raises(SottovoceError) as caught:
        Peer(tmp_path / "nobody").file
    assert caught.value.field == "node"


@pytest.mark.skipif(NODES, reason="this wheel has nodes")
def test_a_wheel_without_nodes_says_how_to_get_them():
    with pytest.raises(SottovoceError, match="--features node") as caught:
        Peer("ana")
    assert caught.value.field == "node"
