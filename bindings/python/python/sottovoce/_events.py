"""dp-accounting's event objects as the entries that ``account mechanism --events`` takes.

Objects are known by the names of their classes and of their attributes, so that dp-accounting need not be installed. What is not known is refused,
never passed over. No numbers are computed here but those that name the same thing in another unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Callable

from . import _values
from ._ask import SottovoceError

#: The neighbouring relations of dp-accounting, by name, as adjacencies.
RELATIONS = {"ADD_OR_REMOVE_ONE": "add-remove", "REPLACE_ONE": "replace", "REPLACE_SPECIAL": "zero-out"}

#: What says how records are drawn.
SAMPLING = {"sampling_rate", "rows", "most", "batch", "population"}

#: Releases of one sample.
MOST = 1_000_000

Entry = dict[str, Any]
#: Nothing protects the data any more.
PUBLISHED: Entry = {"published": True}
NOTHING: Entry = {"nothing": True}


def adjacency(relation: Any) -> str | None:
    """An adjacency, by its own name or by that of dp-accounting's relation (as text or as its enumeration)."""
    if relation is None:
        return None
    name = getattr(relation, "name", relation)
    found = RELATIONS.get(name, name) if isinstance(name, str) else None
    if found not in RELATIONS.values():
        raise _refused("neighboring_relation", relation, f"give one of {', '.join([*RELATIONS, *RELATIONS.values()])}")
    return found


def entries(event: Any, count: int = 1) -> list[Entry]:
    """The releases of an event, each with its number of steps: an entry itself, or an event object, nested as deep as it is. They are copies."""
    count = _values.whole("count", count, 1)
    if isinstance(event, Mapping):
        entry = _values.plain(event, "")
        return [{**entry, "steps": count * _values.whole("steps", entry.get("steps", 1), 1)}]
    kind = type(event).__name__
    try:
        return _of_object(event, kind, count)
    except SottovoceError:
        raise
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise _refused("event", kind, f"it is not as dp-accounting has it ({error})") from error


def _of_object(event: Any, kind: str, count: int) -> list[Entry]:
    if kind == "ComposedDpEvent":
        if hasattr(event.events, "__next__"):
            raise _refused("events", "an iterator", "it could be read once; give a list")
        return [entry for each in event.events for entry in entries(each, count)] or [{**NOTHING, "steps": count}]
    if kind == "SelfComposedDpEvent":
        return entries(event.event, count * _whole("count", event.count))
    known = KNOWN.get(kind)
    if known is None:
        raise _refused("event", kind, f"give one of {', '.join(sorted([*KNOWN, 'ComposedDpEvent', 'SelfComposedDpEvent']))}")
    return [{**known(event), "steps": count}]


def _refused(field: str, value: Any, remedy: str) -> SottovoceError:
    return SottovoceError(f"`{field}` is {value}: {remedy}", field=field, value=str(value), remedy=remedy)


def _whole(field: str, value: Any) -> int:
    return _values.whole(field, value, -(2**63))


def _natural(field: str, value: Any) -> int:
    return _values.whole(field, value, 0)


def _probability(field: str, value: Any) -> float:
    if not 0 <= float(value) <= 1:
        raise _refused(field, value, "give a probability, from 0 to 1")
    return float(value)


def _noise(key: str, name: str) -> Callable[[Any], Entry]:
    """Additive noise: without any the data are published, and infinite noise says nothing of them."""

    def entry(event: Any) -> Entry:
        noise = float(event.noise_multiplier)
        if noise in (0, math.inf):
            return NOTHING if noise else PUBLISHED
        return {key: {name: noise}}

    return entry


def _discrete_laplace(event: Any) -> Entry:
    rate = float(event.noise_parameter)
    if rate == 0:
        return PUBLISHED
    return {"discrete_laplace": {"scale": 1 / rate, "contribution": _whole("sensitivity", event.sensitivity)}}


def _discrete_gaussian(event: Any) -> Entry:
    sigma, sensitivity = float(event.sigma), float(event.sensitivity)
    if getattr(event, "dimension", None) == 1 and sensitivity.is_integer():
        return {"discrete_gaussian": {"sigma": sigma, "contribution": int(sensitivity)}}
    return {"discrete_gaussian": {"sigma": sigma, "length": sensitivity}}


def _response(event: Any) -> Entry:
    buckets, probability = _whole("num_buckets", event.num_buckets), float(event.noise_parameter)
    if buckets == 1:
        return NOTHING
    if probability == 0:
        return PUBLISHED
    return {"randomized_response": {"random_probability": probability, "buckets": buckets}}


def _mixture(event: Any) -> Entry:
    sensitivities = [float(each) for each in event.sensitivities]
    if sensitivities == [0.0]:
        return NOTHING
    sigma = float(event.standard_deviation)
    probabilities = [float(each) for each in event.sampling_probs]
    return PUBLISHED if sigma == 0 else {"mixture": {"sigma": sigma, "sensitivities": sensitivities, "probabilities": probabilities}}


def _truncated(event: Any) -> Entry:
    rate = _probability("sampling_probability", event.sampling_probability)
    rows, most = _natural("dataset_size", event.dataset_size), _natural("truncated_batch_size", event.truncated_batch_size)
    if 0 in (rate, rows, most):
        return NOTHING
    noise = float(event.noise_multiplier)
    return PUBLISHED if noise == 0 else {"gaussian": {"noise_multiplier": noise}, "sampling_rate": rate, "rows": rows, "most": most}


def _tree(event: Any) -> Entry:
    steps = event.step_counts
    leaves = [_whole("step_counts", each) for each in steps] if isinstance(steps, Iterable) else _whole("step_counts", steps)
    noise = float(event.noise_multiplier)
    return PUBLISHED if noise == 0 else {"tree": {"noise_multiplier": noise, "leaves": leaves}}


def _repeated(event: Any) -> Entry:
    shape = float(event.shape)
    drawn = {"number": "poisson"} if math.isinf(shape) and shape > 0 else {"shape": shape}
    return {"best_of": {"releases": entries(event.event), "mean": float(event.mean), **drawn}}


def _epsilon(key: str) -> Callable[[Any], Entry]:
    def entry(event: Any) -> Entry:
        epsilon = float(event.epsilon)
        return NOTHING if epsilon == 0 else {key: {"epsilon": epsilon}}

    return entry


def _poisson(event: Any) -> Entry:
    rate = _probability("sampling_probability", event.sampling_probability)
    # Noise alone, or nothing: whatever would be done with a sample of nobody.
    return NOTHING if rate == 0 else _sampled(event.event, {"sampling_rate": rate})


def _batch(event: Any) -> Entry:
    batch, population = _natural("sample_size", event.sample_size), _natural("source_dataset_size", event.source_dataset_size)
    # A batch of everybody is no sample, but where records come and go: whoever accounts for it knows.
    return NOTHING if batch == 0 else _sampled(event.event, {"batch": batch, "population": population})


def _sampled(event: Any, sampling: Entry) -> Entry:
    """One sample, of which everything in the event is computed: a single release, or several Gaussian ones together."""
    inner = [entry for entry in entries(event) if "nothing" not in entry]
    if not inner:
        return NOTHING
    if any(SAMPLING & entry.keys() for entry in inner):
        raise _refused("event", type(event).__name__, "a sample of a sample is not known; give one sampling")
    if any("published" in entry for entry in inner):
        return PUBLISHED
    if len(inner) == 1 and inner[0]["steps"] == 1:
        return {**{key: value for key, value in inner[0].items() if key != "steps"}, **sampling}
    noises: list[float] = []
    for entry in inner:
        if set(entry) != {"gaussian", "steps"}:
            raise _refused("event", type(event).__name__, "of one sample, several releases are known where all are Gaussian")
        if len(noises) + entry["steps"] > MOST:
            raise _refused("count", entry["steps"], f"of one sample, at most {MOST} releases are added up")
        noises += [entry["gaussian"]["noise_multiplier"]] * entry["steps"]
    return {"gaussian": {"noise_multiplier": noises}, **sampling}


#: What is known, by the name of its class.
KNOWN: dict[str, Callable[[Any], Entry]] = {
    "NoOpDpEvent": lambda _: NOTHING,
    "NonPrivateDpEvent": lambda _: PUBLISHED,
    "EpsilonDeltaDpEvent": lambda event: {"epsilon": float(event.epsilon), "delta": float(event.delta)},
    "GaussianDpEvent": _noise("gaussian", "noise_multiplier"),
    "LaplaceDpEvent": _noise("laplace", "scale"),
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "DiscreteGaussianDpEvent": _discrete_gaussian,
    "RandomizedResponseDpEvent": _response,
    "MixtureOfGaussiansDpEvent": _mixture,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "RepeatAndSelectDpEvent": _repeated,
    "ZCDpEvent": lambda event: {"zcdp": {"rho": float(event.rho), "xi": float(getattr(event, "xi", 0.0))}},
    "ExponentialMechanismDpEvent": _epsilon("exponential"),
    "PermuteAndFlipDpEvent": _epsilon("permute_and_flip"),
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _batch,
}
