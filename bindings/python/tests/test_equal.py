"""The same documents as the command line prints, on what the README and the experiments say."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from sottovoce import Experiment, SottovoceError
from sottovoce._ask import said

ROOT = Path(__file__).parents[3]
BINARY = os.environ.get("SOTTOVOCE_BINARY")

needs_binary = pytest.mark.skipif(not BINARY, reason="SOTTOVOCE_BINARY names the program to compare with")

#: Lines of the README that need data, take long, make files for others, or have no document.
OTHERS = ("--data", "DIR", "reproduce", "completions", "man ", "new ", "compare", "deep", "membership", "node", "serve", "my.toml", "transcript", "checkpoint")

#: What is not the same in two folders.
PLACES = ("command", "files", "report", "out", "plan")


def lines():
    """Examples of the README that need nothing but what is there, and so end in seconds."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("sottovoce ") and not any(word in line for word in OTHERS) and ">" not in line:
            yield line.split("#")[0].strip()


def documents(line, folder):
    """What Python and the command line make of it, each in a folder of its own."""
    words = [*shlex.split(line)[1:], "--json"]
    words = [str(ROOT / word) if word.startswith("experiments/") else word for word in words]
    here = os.getcwd()
    (folder / "python").mkdir()
    (folder / "program").mkdir()
    for each in ("python", "program"):
        subprocess.run(
            [BINARY, *"graph generate --family geometric --peers 32 --mean-degree 8 --connected --out peers.graphml".split()],
            cwd=folder / each, check=True, capture_output=True,
        )
    os.chdir(folder / "python")
    try:
        ours = dict(said(words))
    except SottovoceError as error:
        ours = {"error": str(error), "code": error.code}
    finally:
        os.chdir(here)
    ran = subprocess.run([BINARY, *words], cwd=folder / "program", capture_output=True, text=True)
    theirs = json.loads(ran.stdout) if ran.returncode == 0 else {"error": ran.stderr, "code": ran.returncode}
    return ours, theirs


@needs_binary
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", sorted(set(lines())) if BINARY else [""])
def test_the_readmes_examples(line, tmp_path):
    ours, theirs = documents(line, tmp_path)
    if "error" in theirs:
        assert ours["code"] == theirs["code"], (ours, theirs)
        return
    for key in PLACES:
        ours.pop(key, None), theirs.pop(key, None)
    assert ours == theirs
    names = [sorted(path.name for path in (tmp_path / each).rglob("*")) for each in ("python", "program")]
    assert names[0] == names[1]


@needs_binary
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["quickstart", "hospitals", "shops", "learning", "rumor", "personalized"])
def test_the_experiments(name):
    path = ROOT / "experiments" / f"{name}.toml"
    ours = Experiment.from_toml(path)
    ran = subprocess.run([BINARY, "account", path, "--json"], capture_output=True, text=True)
    if ran.returncode:
        with pytest.raises(SottovoceError) as caught:
            ours.account()
        assert caught.value.code == ran.returncode
        return
    assert dict(ours.account()) | {"command": 0} == json.loads(ran.stdout) | {"command": 0}
