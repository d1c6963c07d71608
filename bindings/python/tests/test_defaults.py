"""No defaults of its own: what is not given is left to the command line."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import sottovoce
from sottovoce import account, accounting, ask, graphs, plots, training

ROOT = Path(__file__).parent.parent


#: Defaults of what the command line has no word for, and the one that it names in its help (a test below).
OWN = {
    "sottovoce.training.train.experiment": "learning",
    "sottovoce.training.audit.experiment": "learning",
    "sottovoce.training.audit.peer": 0,
    "sottovoce.training.audit.runs": 2000,
    "Accountant.compose.count": 1,
}


def public():
    """Every public function and method of ours, by name."""
    for module in (account, accounting, graphs, plots, training):
        for name, one in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("_") and one.__module__ == module.__name__:
                yield f"{module.__name__}.{name}", one
    kinds = (accounting.Accountant, sottovoce.Experiment, sottovoce.Result, sottovoce.Guarantee, sottovoce.Peer, training.Training, training.TorchModel)
    for kind in kinds:
        for name, one in inspect.getmembers(kind, callable):
            if not name.startswith("_"):
                yield f"{kind.__name__}.{name}", one
    yield "ask", ask


@pytest.mark.parametrize("name, function", list(public()), ids=lambda value: value if isinstance(value, str) else "")
def test_nothing_is_assumed(name, function):
    for parameter in inspect.signature(function).parameters.values():
        known = (None, inspect.Parameter.empty, OWN.get(f"{name}.{parameter.name}"))
        assert parameter.default in known, f"{name}({parameter.name}={parameter.default!r})"
    assert inspect.getdoc(function), f"{name} says nothing"


def commands():
    return {one["name"]: one for one in ask("schema", options=True)["commands"]}


def test_accountants_take_what_the_command_line_takes():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.FILE.read_text(encoding="utf-8") == generate.written(), "run generate.py"
    known = commands()
    for name in generate.COMMANDS:
        options = {generate.python_name(one) for one in known[f"account {name}"]["options"]} - generate.LEFT_OUT
        assert set(inspect.signature(getattr(account, name)).parameters) == options | {"progress"}


def test_defaults_that_are_named_are_those_that_hold():
    """Asked with its default, an option changes nothing."""
    known = commands()
    asked = 0
    for name, given in [
        ("rumor", {"peers": 40, "curious": 4}),
        ("mechanism", {"gaussian": True, "noise_multiplier": 2.0}),
        ("averaging", {"graph": [(i, (i + 1) % 8) for i in range(8)], "steps": 3, "observers": [0]}),
        ("walk", {"graph": [(i, (i + 1) % 8) for i in range(8)], "steps": 20, "observers": [0], "sigma": 4.0}),
    ]:
        plain = {**getattr(account, name)(**given)}
        for option in known[f"account {name}"]["options"]:
            if option["default"] is None or option["name"] == "seed" or option["name"] in given:
                continue
            try:
                same = {**getattr(account, name)(**given, **{option["name"].replace("-", "_"): option["default"]})}
            except sottovoce.SottovoceError as error:
                # Said twice it may be refused where it means nothing; then it is named.
                assert error.field, str(error)
                continue
            asked += 1
            assert same | {"command": 0} == plain | {"command": 0}, f"account {name} --{option['name']} {option['default']}"
    assert asked >= 6


def test_attacks_have_as_many_runs_as_those_of_the_command_line():
    (runs,) = [one for one in commands()["audit file"]["options"] if one["name"] == "runs"]
    assert f"default: {OWN['sottovoce.training.audit.runs']}" in runs["help"]


def test_the_metadata_is_what_help_says():
    for name in ["account rumor", "run averaging", "graph generate"]:
        from sottovoce._ask import said_text

        help_text = said_text(*name.split(), help=True)
        for option in commands()[name]["options"]:
            if option["positional"]:
                continue
            assert f"--{option['name']}" in help_text
            if option["default"] is not None:
                assert re.search(rf"\[default: {re.escape(option['default'])}\]", help_text), option
