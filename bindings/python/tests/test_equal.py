"""The same documents as the command line prints, on what the README and the experiments say."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from sottovoce import Experiment, SottovoceError
from sottovoce._ask import said_text

ROOT = Path(__file__).parents[3]
BINARY = os.environ.get("SOTTOVOCE_BINARY")

needs_binary = pytest.mark.skipif(not BINARY, reason="SOTTOVOCE_BINARY names the program to compare with")

#: Lines of the README that need data, take long, have no document, or are of commands that the package is built without.
OTHERS = ("--data", "DIR", "completions", "man ", "run deep", "membership", "plan personalized", "node", "serve")

#: What is not the same in two calls or two folders.
PLACES = ("command", "files", "report", "out", "plan")


def lines():
    """Examples of the README in their order, for some rest on files of others: all that need nothing but what is there, and end in seconds."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [line.split("#")[0].strip() for line in text.splitlines() if line.startswith("sottovoce ")]
    return [line for line in dict.fromkeys(found) if not any(word in line for word in OTHERS)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One for Python and one for the program, for all lines."""
    return [tmp_path_factory.mktemp("python"), tmp_path_factory.mktemp("program")]


def by_python(words, folder):
    here = os.getcwd()
    os.chdir(folder)
    try:
        return said_text(*words)
    except SottovoceError as error:
        return error.code
    finally:
        os.chdir(here)


def by_program(words, folder):
    ran = subprocess.run([BINARY, *words], cwd=folder, capture_output=True, text=True)
    return ran.returncode or ran.stdout


def same(line, folders):
    """Runs a line in both ways, each in its folder; whether it failed, and both documents without what names places."""
    line, _, file = line.partition(" > ")
    words = [str(ROOT / word) if word.startswith("experiments/") else word for word in shlex.split(line)[1:]]
    # What goes to a file, or is a graph, is no document.
    plain = bool(file) or "--to" in words
    words += [] if plain else ["--json"]
    printed = [by(words, folder) for by, folder in zip((by_python, by_program), folders)]
    if file:
        for text, folder in zip(printed, folders):
            (folder / file).write_text(text, encoding="utf-8")
        return printed
    if plain or not all(isinstance(text, str) for text in printed):
        return printed
    documents = [json.loads(text.replace(str(folder), "")) for text, folder in zip(printed, folders)]
    return [{key: value for key, value in one.items() if key not in PLACES} for one in documents]


@needs_binary
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", lines() if BINARY else [""])
def test_the_readmes_examples(line, folders):
    ours, theirs = same(line, folders)
    if line == "sottovoce schema":  # one of the two may have been built without nodes
        assert set(ours) <= set(theirs) or set(theirs) <= set(ours)
        ours, theirs = ({key: one[key] for key in ours if key in theirs} for one in (ours, theirs))
    assert ours == theirs
    assert not isinstance(ours, int), f"it failed by {ours}"
    names = [sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) for folder in folders]
    assert names[0] == names[1]


@needs_binary
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.toml")), ids=lambda path: path.stem)
def test_the_experiments(path):
    ours = Experiment.from_toml(path)
    theirs = by_program(["account", path, "--json"], ROOT)
    if isinstance(theirs, int):
        with pytest.raises(SottovoceError) as caught:
            ours.account()
        assert caught.value.code == theirs
        return
    assert dict(ours.account()) | {"command": 0} == json.loads(theirs) | {"command": 0}
