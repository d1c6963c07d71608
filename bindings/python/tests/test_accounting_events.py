"""Everything that dp-accounting's own tests expect of releases, asked of our accountant; dp-accounting need not be installed.

``data/dp_accounting.json`` holds, for each composition of events in their tests, the numbers that are expected of it. Their numbers are upper bounds
(or exact), so ours may be smaller, and never larger by more than their own tolerance; and the certified lower end never lies above an exact one.
"""

import collections
import json
import math
from pathlib import Path

import pytest

from sottovoce import SottovoceError
from sottovoce.accounting import Accountant

TABLE = json.loads((Path(__file__).parent / "data" / "dp_accounting.json").read_text(encoding="utf-8"))["groups"]



def made(description):
    """An object as theirs: a class of that name with these attributes."""
    if not (isinstance(description, list) and len(description) == 2 and isinstance(description[0], str)):
        return [made(each) for each in description] if isinstance(description, list) else math.inf if description == "inf" else description
    name, attributes = description
    event = type(name, (), {})()
    for key, value in attributes.items():
        setattr(event, key, made(value))
    return event


def number(value):
    return math.inf if value == "inf" else float(value)


def composed(group):
    accountant = Accountant(group["relation"])
    for event, count in group["events"]:
        accountant.compose(made(event), count)
    return accountant


def names(group):
    """The events by name, those inside of others too."""
    text = json.dumps(group["events"])
    if "PoissonSampled" in text and ("ZCDpEvent" in text or "DiscreteGaussianDpEvent" in text):
        return "SampledZcdp"
    return text


def wrong(ours, expected, row):
    """Whether our interval contradicts what they expect."""
    lower, upper = ours
    size = abs(expected) if math.isfinite(expected) else 0.0
    slack = row.get("tolerance", 0.0) + 1e-7 * size
    if row["what"] == "rdp" and row["at"] == 1:  # the mean loss, bounded by the order a millionth above
        slack += 2e-6 * (1 + size)
    if row["op"] == "at_least":
        return upper < expected - slack
    # Where they name a number exactly, no certified lower end may exceed it either.
    return upper > expected + slack or (row["op"] == "equal" and lower > expected + slack)


def asked(accountant, row):
    """Our interval for what a row asks, or nothing where that is no question to an accountant."""
    at = number(row["at"]) if row.get("at") is not None else None
    if row["what"] == "rdp":
        return (0.0, accountant.get_rdp([at])[0])
    if row["what"] == "epsilon":
        pld = accountant.account(delta=at)["epsilon"]["pld"]
        if pld["upper"] is None and row["expected"] != "inf" and at > 0:
            # Exactly what the given deltas come to: in floating point a hair more.
            pld = accountant.account(delta=at * (1 + 1e-9))["epsilon"]["pld"]
        return (math.inf, math.inf) if pld["upper"] is None else (pld["lower"], pld["upper"])
    found = accountant.account(epsilon=at)["delta_at_epsilon"]
    return (found["lower"], found["upper"])


def expectation(row):
    """The number expected of the worse of both directions; a threshold below 0 is one above 0 in the other direction."""
    expected, tolerance = number(row["expected"]), row.get("tolerance", 0.0)
    if row.get("mirrored"):
        expected = (expected - 1 + math.exp(-row["at"])) * math.exp(row["at"])
        tolerance *= math.exp(row["at"])
    return max(expected, row.get("other", 0.0)), tolerance


def out_of_domain(row):
    """Questions that are refused: a delta of 1 or more promises nothing, and an infinite epsilon is no number."""
    if row["what"] == "epsilon" and not 0 <= number(row["at"]) < 1:
        return "a delta of 1"
    if row["what"] == "delta" and not math.isfinite(number(row["at"])):
        return "an infinite epsilon"
    return None


NUMBERS = ("epsilon", "delta", "rdp")


def replayed(group, counts):
    problems = []
    if any(row["what"] in ("refused", "supports") for row in group["expected"]):
        for row in group["expected"]:
            event = made(group["events"][0][0])
            supported = Accountant(group["relation"]).supports(event)
            counts[row["what"]] += 1
            # We know more than they do; what they know we know too.
            if row["what"] == "supports" and row["expected"] and not supported:
                problems.append((row, "not supported"))
    rows = [row for row in group["expected"] if row["what"] in NUMBERS + ("curve",)]
    counts["not asked: power of a test"] += sum(row["what"].startswith("get_") for row in group["expected"])
    if not rows:
        return problems
    accountant = composed(group)
    for row in rows:
        if reason := out_of_domain(row) if row["what"] != "curve" else None:
            counts[f"not asked: {reason}"] += 1
            continue
        if row["what"] == "rdp" and names(group) == "SampledZcdp":
            counts["larger than theirs, which is not proven"] += 1
            continue
        counts[row["what"]] += 1
        if row["what"] == "curve":
            for at, expected in row["points"]:
                found = accountant.account(epsilon=at)["delta_at_epsilon"]
                if wrong((found["lower"], found["upper"]), expected, row):
                    problems.append((row, at, expected, dict(found)))
            continue
        expected, tolerance = expectation(row)
        try:
            ours = asked(accountant, row)
        except SottovoceError as error:
            problems.append((row, str(error)))
            continue
        if wrong(ours, expected, {**row, "tolerance": tolerance}):
            problems.append((row, expected, ours))
    return problems


def test_everything_that_they_express_can_be_expressed():
    counts, problems = collections.Counter(), []
    for group in TABLE:
        try:
            problems += [(group["relation"], group["events"], *problem) for problem in replayed(group, counts)]
        except SottovoceError as error:
            if "from 0.001 to 1e9" in str(error):
                counts["not asked: noise beyond what is certified"] += len(group["expected"])
            else:
                problems.append((group["relation"], group["events"], str(error)))
    print(dict(counts))
    assert not problems, "\n".join(str(problem)[:600] for problem in problems[:20]) + f"\n{len(problems)} of {sum(counts.values())}"
    assert sum(counts[what] for what in NUMBERS) > 700 and counts["curve"] > 100, counts


@pytest.mark.parametrize("name", ["UnsupportedDpEvent", "SampledWithReplacementDpEvent", "SomethingElse"])
def test_what_is_not_known_is_refused(name):
    event = made([name, {"source_dataset_size": 10, "sample_size": 2, "event": ["GaussianDpEvent", {"noise_multiplier": 1.0}]}])
    nested = [event, made(["ComposedDpEvent", {"events": []}]), made(["SelfComposedDpEvent", {"count": 3}])]
    nested[1].events, nested[2].event = [event], event
    for each in nested:
        accountant = Accountant()
        assert not accountant.supports(each)
        with pytest.raises(SottovoceError, match=name):
            accountant.compose(each)
        assert not accountant.history and accountant.get_epsilon(1e-6) == 0


def test_names_that_users_know():
    gaussian = made(["GaussianDpEvent", {"noise_multiplier": 2.0}])
    twice = Accountant("REPLACE_ONE").compose(gaussian, 2)
    assert twice.get_epsilon(1e-5) == Accountant(adjacency="replace").compose({"gaussian": {"noise_multiplier": 2.0}}, 2).get_epsilon(1e-5)
    assert twice.get_delta(twice.get_epsilon(1e-5)) <= 1e-5 * (1 + 1e-9)
    relation = type("NeighboringRelation", (), {"name": "REPLACE_SPECIAL"})()
    assert Accountant(relation).compose(gaussian).get_epsilon(1e-5) < Accountant("REPLACE_ONE").compose(gaussian).get_epsilon(1e-5)
    assert Accountant().compose(made(["NonPrivateDpEvent", {}])).get_epsilon(0.5) == math.inf
    assert Accountant().compose(made(["NoOpDpEvent", {}])).get_delta(0.0) == 0
    for count in (0, -1, 1.5, True):
        with pytest.raises((SottovoceError, ValueError)):
            Accountant().compose(gaussian, count)
    with pytest.raises(SottovoceError):
        Accountant("REPLACE_ALL").compose(gaussian)
