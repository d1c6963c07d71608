"""Everything that dp-accounting's own tests expect of releases, asked of our accountant; dp-accounting need not be installed.

``data/dp_accounting.json`` holds, for each composition of events in their tests, the numbers that are expected of it. Their numbers are upper bounds
(or exact), so ours may be smaller, and never larger by more than their own tolerance; and the certified lower end never lies above an exact one.

Where the two differ the test says why, and holds ours to something else (``differs``):

* Samples of what is only known to be concentrated: theirs is that of a Gaussian, ours what is proven; at most half as much again.
* Delta at the very largest loss of two unlike releases is 0; our lattice leaves less than a millionth.
* Mixtures at an epsilon that is a whole number and no float: their thresholds are cut to whole numbers, and their delta is too small (0.0228 where it is
  0.0234). Ours is held to the integral.
* Trees "at least" as lossy as a bound on others with more noise: ours is the exact Gaussian's, which is less than the bound. It is held to the closed form.
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


def above(x):
    return 0.5 * math.erfc(x / math.sqrt(2))


def root(f, low, high):
    """Where an increasing function is 0."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if f(middle) > 0 else (middle, high)
    return 0.5 * (low + high)


def of_a_mixture(event, epsilon):
    """Delta of a Gaussian whose centre is drawn: from its tails beyond the outcome with that loss, removed and added."""
    attributes = event[1]
    centres = [each / attributes["standard_deviation"] for each in attributes["sensitivities"]]
    parts = list(zip(centres, attributes["sampling_probs"]))

    def loss(x):
        return math.log(sum(p * math.exp(c * x - c * c / 2) for c, p in parts))

    x = root(lambda x: loss(x) - epsilon, -60.0, 60.0)
    removed = sum(p * above(x - c) for c, p in parts) - math.exp(epsilon) * above(x)
    x = root(lambda x: loss(x) + epsilon, -60.0, 60.0)
    return max(removed, above(-x) - math.exp(epsilon) * sum(p * above(c - x) for c, p in parts))


def of_trees(event, delta):
    """Epsilon of all sums of trees: a Gaussian, moved by the root of the number of levels of each."""
    trees = [each[1] for each in event[1]["events"]]
    mu = math.sqrt(sum(tree["step_counts"].bit_length() / tree["noise_multiplier"] ** 2 for tree in trees))
    return root(lambda epsilon: delta - above(epsilon / mu - mu / 2) + math.exp(epsilon) * above(epsilon / mu + mu / 2), 0.0, 100.0)


def differs(group, row, ours, expected):
    """Why ours is not what they expect, and whether it is what it should be."""
    (event, count), *others = group["events"]
    single = count == 1 and not others
    if row["what"] == "rdp" and names(group) == "SampledZcdp":
        return "larger by design: a sample of what is concentrated", expected <= ours[1] <= 1.5 * expected
    if row["what"] == "delta" and all(each[0] == "EpsilonDeltaDpEvent" for each, _ in group["events"]) and others:
        if row["at"] == sum(each["epsilon"] * number for (_, each), number in group["events"]):
            return "larger by design: at the largest loss", expected - 1e-12 <= ours[1] <= expected + 1e-6
    if "zero_sampling_probs_ignored" in row.get("test", "") and single and event[0] == "MixtureOfGaussiansDpEvent":
        truth = of_a_mixture(event, row["at"])
        return "theirs is too small: whole epsilons", truth - 1e-12 <= ours[1] <= truth + 1e-9 and expected <= truth + 1e-9
    if row["what"] == "epsilon" and row["op"] == "at_least" and row["by"] == "rdp" and "SingleEpochTree" in json.dumps(event) and single and event[0] == "ComposedDpEvent":
        truth = of_trees(event, row["at"])
        return "smaller: exact beside a bound", truth - 1e-9 <= ours[1] <= truth + 1e-9
    return "not explained", False


NUMBERS = ("epsilon", "delta", "rdp")
#: What they refuse and we know, all where a record is replaced.
OURS_ALONE = ("LaplaceDpEvent", "DiscreteLaplaceDpEvent", "PermuteAndFlipDpEvent")


def replayed(group, counts):
    problems = []
    for row in group["expected"]:
        counts["all"] += 1
        # What they know we know too; what they refuse we refuse too, but for what we know.
        if row["what"] == "supports":
            counts["supports"] += 1
            if row["expected"] and not Accountant(group["relation"]).supports(made(group["events"][0][0])):
                problems.append((row, "not supported"))
        if row["what"] == "refused":
            try:
                composed(group)
                counts["known to us alone"] += 1
                if group["relation"] != "REPLACE_ONE" or not any(name in json.dumps(group["events"]) for name in OURS_ALONE):
                    problems.append((row, "not refused"))
            except SottovoceError:
                counts["refused"] += 1
    rows = [row for row in group["expected"] if row["what"] in NUMBERS + ("curve",)]
    counts["not asked: power of a test"] += sum(row["what"].startswith("get_") for row in group["expected"])
    if not rows:
        return problems
    accountant = composed(group)
    for row in rows:
        if reason := out_of_domain(row) if row["what"] != "curve" else None:
            counts[f"not asked: {reason}"] += 1
            continue
        if row["what"] == "curve":
            counts["curve"] += 1
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
        agrees = not wrong(ours, expected, {**row, "tolerance": tolerance})
        reason, right = (row["what"], True) if agrees else differs(group, row, ours, expected)
        counts[reason] += 1
        if not right:
            problems.append((row, expected, ours, reason))
    return problems


def test_everything_that_they_express_can_be_expressed():
    counts, problems = collections.Counter(), []
    for group in TABLE:
        try:
            problems += [(group["relation"], group["events"], *problem) for problem in replayed(group, counts)]
        except SottovoceError as error:
            if "from 0.001 to 1e9" in str(error):
                counts["not asked: noise beyond what is certified"] += sum(row["what"] in NUMBERS + ("curve",) for row in group["expected"])
            else:
                problems.append((group["relation"], group["events"], str(error)))
    print(dict(counts))
    assert not problems, "\n".join(str(problem)[:600] for problem in problems[:20]) + f"\n{len(problems)} of {counts['all']}"
    assert counts["all"] == sum(counts.values()) - counts["all"] == sum(len(group["expected"]) for group in TABLE), counts
    differing = {reason: count for reason, count in counts.items() if reason.startswith(("larger", "smaller", "theirs"))}
    assert sum(differing.values()) < 40, differing
    assert sum(counts[what] for what in NUMBERS) > 2000 and counts["curve"] > 90 and counts["known to us alone"] == 4, counts


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


GAUSSIAN = ["GaussianDpEvent", {"noise_multiplier": 2.0}]


def poisson(event, rate=0.1):
    return ["PoissonSampledDpEvent", {"sampling_probability": rate, "event": event}]


def batch(event, size=2, rows=10):
    return ["SampledWithoutReplacementDpEvent", {"sample_size": size, "source_dataset_size": rows, "event": event}]


LOT = ["TruncatedSubsampledGaussianDpEvent", {"sampling_probability": 0.1, "dataset_size": 50, "truncated_batch_size": 9, "noise_multiplier": 2.0}]


@pytest.mark.parametrize("inner", [poisson(GAUSSIAN, 0.5), batch(GAUSSIAN), LOT, ["SelfComposedDpEvent", {"event": poisson(GAUSSIAN, 0.5), "count": 1}]])
@pytest.mark.parametrize("outer", [poisson, batch])
def test_samples_of_samples_are_refused(inner, outer):
    for relation in ("ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL"):
        with pytest.raises(SottovoceError, match="a sample of a sample"):
            Accountant(relation).compose(made(outer(inner)))


def test_a_batch_of_everybody_is_refused_where_records_come_and_go():
    whole = made(batch(GAUSSIAN, 10, 10))
    with pytest.raises(SottovoceError, match="one row less"):
        Accountant("ADD_OR_REMOVE_ONE").compose(whole)
    for relation in ("REPLACE_ONE", "REPLACE_SPECIAL"):
        assert Accountant(relation).compose(whole).get_epsilon(1e-5) == Accountant(relation).compose(made(GAUSSIAN)).get_epsilon(1e-5)


@pytest.mark.parametrize("rate", [math.nan, -0.1, 1.5])
def test_rates_that_are_none_are_refused(rate):
    lot = [LOT[0], {**LOT[1], "sampling_probability": rate}]
    empty = [LOT[0], {**LOT[1], "sampling_probability": rate, "dataset_size": 0}]
    for event in (poisson(GAUSSIAN, rate), lot, empty):
        with pytest.raises(SottovoceError, match="probability"):
            Accountant().compose(made(event))
    with pytest.raises(SottovoceError, match="at least 0"):
        Accountant().compose(made(batch(GAUSSIAN, -1, 10)))


def test_vectors_move_twice_as_far_when_a_record_is_replaced():
    vectors = made(["DiscreteGaussianDpEvent", {"sigma": 5.0, "sensitivity": 2.0, "dimension": None}])
    one, two = (Accountant(relation).compose(vectors).get_rdp([3.0])[0] for relation in ("REPLACE_SPECIAL", "REPLACE_ONE"))
    assert one == pytest.approx(0.24) and two == pytest.approx(0.96)


@pytest.mark.parametrize("name", ["ExponentialMechanismDpEvent", "PermuteAndFlipDpEvent"])
def test_samples_of_what_is_only_private_are_refused_under_zeroing(name):
    sampled = made(poisson([name, {"epsilon": 1.0}]))
    with pytest.raises(SottovoceError, match="added to a sum"):
        Accountant("REPLACE_SPECIAL").compose(sampled)
    assert 0 < Accountant("ADD_OR_REMOVE_ONE").compose(sampled).get_epsilon(1e-9) < 0.2


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
