"""Own training: a function of yours computes gradients; Sottovoce clips, adds noise, exchanges and accounts.

>>> import numpy
>>> from sottovoce import training
>>> def gradient(peer, model, rows):          # one gradient for each row
...     return model - rows
>>> data = [numpy.full((20, 1), 0.1 * peer) for peer in range(8)]
>>> result = training.train(gradient, data, [0.0], experiment="learning", protocol={"iterations": 5}, task={"clip": 1.0}, noise={"sigma": 4.0})
>>> result.models.shape, result["unit"], "conditional" in str(result.guarantees[0]["standing"])
((8, 1), 'user', True)

===================  =============================================  =================================================================
``experiment``       what is protected                              the function returns
===================  =============================================  =================================================================
``"learning"``       all rows of a peer, replaced by others         a gradient for each row, ``(rows, parameters)``; with
                     (``unit`` is ``user``)                         ``task={"clipped": "user"}`` also one alone, ``(parameters,)``
``"deep"``           one row, there or not (``unit`` is             a gradient for each row of the lot, ``(rows, parameters)``
                     ``record``)
===================  =============================================  =================================================================

Whatever it returns, each row's gradient is shortened to the clip after it was computed, and what is no number is refused. What cannot be checked is what a gradient was computed
from: every guarantee is conditional on the function looking at no other peer's rows (``learning``), and at no other row (``deep``).
"""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _sottovoce, _values, graphs
from ._ask import SottovoceError
from ._experiment import Experiment
from ._result import Result

__all__ = ["GradientError", "TorchModel", "Training", "audit", "train"]


class GradientError(SottovoceError):
    """A function that has no gradient: it raised something (``__cause__``), or returned another shape or kind of numbers, or what is no number.

    ``peer`` (its number) and ``iteration`` say when, ``expected`` and ``found`` what. There is no result, and nothing was written.
    """

    def __init__(self, message: str, peer: int, iteration: int, expected: str, found: str):
        field, value, remedy = _parts(message)
        super().__init__(f"{message} (peer {peer}, iteration {iteration}; expected {expected}, found {found})", 2, field, value, remedy)
        self.peer = peer
        self.iteration = iteration
        self.expected = expected
        self.found = found
        self._message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return (GradientError, (self._message, self.peer, self.iteration, self.expected, self.found))


def _parts(message: str) -> tuple[str | None, str | None, str | None]:
    """Field, value and remedy of a message, where it names them."""
    head, _, remedy = message.partition(": ")
    field, found, value = head.removeprefix("`").partition("` is ")
    return (field, value, remedy) if found and head.startswith("`") else (None, None, None)


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as error:
        raise SottovoceError("`numpy` is missing: gradients are its arrays; pip install numpy", 2, "numpy", "missing", "pip install numpy") from error
    return numpy


class Training(Result):
    """What came of own training: the document, and everybody's model."""

    def __init__(self, document: Mapping[str, Any], models: Any, experiment: Experiment, watched: list[Any], peers: Sequence[Any] = ()):
        super().__init__(document)
        #: Everybody's model, one row each, in the order of :attr:`peers`.
        self.models = models
        #: Names as the data have them (numbers where they have none), in the order of the graph where it has names.
        self.peers = list(peers)
        #: What was run, as data. A graph that was given as an object is a file in it that is gone by now.
        self.experiment = experiment
        #: What ``watch`` returned, with the step before each.
        self.watched = watched

    @property
    def model(self) -> Any:
        """The mean of all models."""
        return self.models.mean(axis=0)

    def __repr__(self) -> str:
        return f"Training({self.headline})"


class _Local:
    """A user's function with everybody's rows: what Rust calls."""

    def __init__(self, gradient: Callable[..., Any], rows: Sequence[Any], names: Sequence[Any]):
        self._numpy = _numpy()
        self._gradient = gradient
        self._rows = [_positional(self._numpy, one, name) for one, name in zip(rows, names)]
        self._names = names

    def __call__(self, peer: int, _turn: int, model: Any, picked: Any) -> Any:
        found = self._gradient(self._names[peer], model, _picked(self._rows[peer], picked))
        return as_array(self._numpy, found)


def as_array(numpy: Any, found: Any) -> Any:
    """What a function returned, as an array in C's order of float32 or float64; as it is where that is what it is, or where it cannot be one."""
    if isinstance(found, numpy.ma.MaskedArray):
        raise _wrong("gradient", "a masked array", "what is hidden in it would count; give an array without a mask")
    if hasattr(found, "detach"):  # a tensor
        found = found.detach().cpu().numpy()
    if isinstance(found, (list, tuple)):
        found = numpy.asarray(found)
    if isinstance(found, numpy.ndarray) and found.dtype.kind == "f" and found.dtype.itemsize <= 8:
        return numpy.ascontiguousarray(found, dtype=numpy.float64 if found.dtype.itemsize == 8 else numpy.float32).reshape(found.shape)
    return found


def _picked(rows: Any, picked: Any) -> Any:
    """A copy of the rows at these positions (all of them: None) of an array, a table, a list, or each part of a tuple."""
    if isinstance(rows, tuple):
        return tuple(_picked(part, picked) for part in rows)
    if hasattr(rows, "iloc"):  # labels of pandas are no positions
        return rows.copy() if picked is None else rows.iloc[picked].copy()
    if hasattr(rows, "detach"):  # a tensor
        return rows.clone() if picked is None else rows[[int(place) for place in picked]]
    if isinstance(rows, Sequence):
        return copy.deepcopy(list(rows) if picked is None else [rows[int(place)] for place in picked])
    return rows.copy() if picked is None else rows[picked]


def _positional(numpy: Any, rows: Any, name: Any) -> Any:
    """The same rows as something whose rows have positions."""
    if isinstance(rows, tuple):
        return tuple(_positional(numpy, part, name) for part in rows)
    if isinstance(rows, (numpy.ndarray, Sequence)) and not isinstance(rows, (str, bytes)) or hasattr(rows, "iloc") or hasattr(rows, "detach"):
        return rows
    if hasattr(rows, "tocsr"):
        return rows.tocsr()
    if hasattr(rows, "__array__") or hasattr(rows, "__array_interface__"):
        return numpy.asarray(rows)
    raise _wrong("data", f"{type(rows).__name__} for peer {name}", "give an array, a DataFrame, a tensor, a list, or a tuple of them, one row after the other")


def _count(rows: Any, name: Any) -> int:
    """How many rows there are; parts of a tuple must have equally many."""
    try:
        if not isinstance(rows, tuple):
            return len(rows)
        counts = {len(part) for part in rows}
    except TypeError as error:
        raise _wrong("data", f"{type(rows).__name__} for peer {name}", "give an array, a DataFrame, a list, or a tuple of them, one row after the other") from error
    if len(counts) != 1:
        raise _wrong("data", f"of {sorted(counts)} rows for peer {name}", "parts of a tuple have equally many rows")
    return counts.pop()


def _wrong(field: str, value: Any, remedy: str) -> SottovoceError:
    return SottovoceError(f"`{field}` is {value}: {remedy}", 2, field, str(value), remedy)


def _dealt(data: Any, nodes: Sequence[str] | None) -> tuple[list[Any], list[Any]]:
    """Everybody's rows and names, in the order of the graph where both have names. Names that are none of the graph's are refused, but where it has only numbers."""
    if isinstance(data, Mapping):
        names = list(data)
        by_text = {str(name): name for name in names}
        if nodes is not None and by_text.keys() == set(nodes):
            names = [by_text[node] for node in nodes]
        elif nodes is not None and nodes != [str(i) for i in range(len(nodes))]:
            shown = ", ".join(nodes[:12]) + (", ..." if len(nodes) > 12 else "")
            raise _wrong("data", f"of {', '.join(list(by_text)[:12])}", f"the peers of the graph are {shown}; give rows to each of them, and to nobody else")
        return [data[name] for name in names], names
    if isinstance(data, (str, bytes)) or not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        raise _wrong("data", type(data).__name__, "give a list with the rows of each peer, or a mapping from names to rows")
    return [data[peer] for peer in range(len(data))], list(range(len(data)))


def _start(start: Any) -> list[float]:
    numpy = _numpy()
    try:
        array = numpy.asarray(start)
        if array.dtype.kind not in "biuf" and array.size:
            raise TypeError(str(array.dtype))
        array = array.astype(numpy.float64)
    except (TypeError, ValueError) as error:
        raise _wrong("start", type(start).__name__, "give a list or an array of numbers, one for each parameter") from error
    if array.ndim != 1:
        raise _wrong("start", f"of shape {array.shape}", "give a flat array, one number for each parameter")
    numbers: list[float] = array.tolist()
    return numbers


class _Asked:
    """An experiment with the graph that was given beside it."""

    def __init__(self, experiment: Any, graph: Any, fields: Mapping[str, Any]):
        self.nodes: list[str] | None = None
        given = dict(fields)
        if isinstance(experiment, Experiment):
            if given or graph is not None:
                raise _wrong("experiment", "an Experiment with more beside it", "give its fields in it, or give them all here")
            self.experiment = experiment
            self.folder = experiment._folder
            self.nodes = self._named()
            return
        if isinstance(experiment, Mapping):
            given = {**experiment, **given}
        else:
            given["experiment"] = experiment
        self.folder = Path.cwd()
        if isinstance(graph, Mapping):  # as a file has it
            given["graph"], graph = dict(graph), None
        if graph is not None:
            given["graph"] = {**given.get("graph", {}), "file": graph}
        self.experiment = Experiment(given)
        self.nodes = self._named()

    def _named(self) -> list[str] | None:
        """The peers of a graph that is given."""
        if "graph" in self.experiment._inputs:
            names: list[str] = self.experiment._inputs["graph"][0]
            return names
        file = (self.experiment.to_dict().get("graph") or {}).get("file")
        return None if file is None else graphs.edges(self.folder / file)[0]


def _refused(error: ValueError) -> Exception:
    """What Rust refuses, in the parts that the command line has."""
    if isinstance(error, SottovoceError):
        return error
    return SottovoceError(str(error), 2, *_parts(str(error)))


def train(
    gradient: Callable[..., Any],
    data: Any,
    start: Any,
    experiment: Experiment | Mapping[str, Any] | str = "learning",
    *,
    graph: Any = None,
    watch: Callable[[int, Any], Any] | None = None,
    seed: int | None = None,
    **fields: Any,
) -> Training:
    """Trains among simulated peers, with gradients that ``gradient(peer, model, rows)`` computes.

    ``data`` has the rows of each peer: a list of arrays (or of tuples of arrays, such as features and labels), or a mapping from names to them. ``start`` is the model that everybody
    begins with; it is taken for public. ``experiment`` is ``"learning"`` (all rows of a peer are protected) or ``"deep"`` (one row is), with the fields of an experiment's file
    beside it (``protocol={"iterations": 20}, target={"epsilon": 4.0}``), or a whole :class:`sottovoce.Experiment`. ``graph`` is a networkx graph, a matrix, a list of
    edges, a file, or what a file has (``{"family": {"ring": {"n": 12}}}``). ``watch(step, models)`` is called on the way; what it sees is not private, and what it returns is kept.

    The model that a peer's gradient is computed at is what that peer may know at that moment, and no more. ``rows`` is a copy: the rows at certain positions,
    whatever their labels (NumPy and memory-mapped arrays, pandas, tensors, lists, tuples of them).

    Without ``seed`` the noise is drawn by the operating system and cannot be computed again. With it, the same seed gives the same bits, and **anybody who knows the seed can
    compute the noise**: repeat the training with a guess of the data, and see from the models whether the guess is right. Give one for experiments, and none for a model that you publish.
    """
    if not callable(gradient):
        raise _wrong("gradient", type(gradient).__name__, "give a function of a peer, a model and rows")
    if watch is not None and not callable(watch):
        raise _wrong("watch", repr(watch), "give a function of a step and models")
    seed = None if seed is None else _values.whole("seed", seed, 0)
    watched: list[Any] = []
    raised: list[BaseException] = []

    def hear(step: int, models: Any) -> None:
        try:
            watched.append((step, watch(step, models)))  # type: ignore[misc]
        except BaseException as error:
            raised.append(error)
            raise

    asked = _Asked(experiment, graph, fields)
    rows, names = _dealt(data, asked.nodes)
    local = _Local(gradient, rows, names)
    counts = [_count(one, name) for one, name in zip(rows, names)]
    try:
        text, models = _sottovoce.train(
            asked.experiment.to_toml(), asked.experiment._inputs, asked.folder, seed, counts, _start(start), local, None if watch is None else hear
        )
    except ValueError as error:
        if error in raised:  # what `watch` says is its own
            raise
        raise _refused(error) from error.__cause__
    if len(models) == 1 and len(rows) > 1:
        models = _numpy().broadcast_to(models, (len(rows), models.shape[1]))
    return Training(json.loads(text), models, asked.experiment, watched, names)


def audit(
    gradient: Callable[..., Any],
    data: Any,
    start: Any,
    experiment: Experiment | Mapping[str, Any] | str = "learning",
    *,
    peer: Any = 0,
    instead: Any = None,
    runs: int = 2000,
    graph: Any = None,
    seed: int | None = None,
    **fields: Any,
) -> Result:
    """Attacks training: whoever hears all that a peer says bets on whether it holds its rows or those that are given ``instead``, in ``runs`` runs of either; fewer prove less, and are sooner done.

    Only what that peer says is listened to: rows that reach other peers, because a function keeps them, are not looked for.

    Returns what the bets prove (``epsilon_lower``), beside what is claimed; ``stands`` says whether the claim survived. For ``"learning"``. The farther apart the gradients of the two
    versions are, the more the attack can prove.
    """
    if instead is None:
        raise _wrong("instead", None, "give other rows for the peer that is attacked, as many as it has")
    seed, runs = None if seed is None else _values.whole("seed", seed, 0), _values.whole("runs", runs, 1)
    asked = _Asked(experiment, graph, fields)
    rows, names = _dealt(data, asked.nodes)
    if peer not in names:
        raise _wrong("peer", repr(peer), f"give one of {', '.join(map(repr, names[:12]))}")
    number, counts = names.index(peer), [_count(one, name) for one, name in zip(rows, names)]
    if _count(instead, peer) != counts[number]:
        raise _wrong("instead", f"{_count(instead, peer)} rows", f"peer {peer} has {counts[number]}; how many there are is public")
    other = [instead if place == number else one for place, one in enumerate(rows)]
    versions = (_Local(gradient, rows, names), _Local(gradient, other, names))
    try:
        text = _sottovoce.audit(asked.experiment.to_toml(), asked.experiment._inputs, asked.folder, seed, counts, _start(start), versions, number, runs)
    except ValueError as error:
        raise _refused(error) from error.__cause__
    return Result(json.loads(text))


class TorchModel:
    """A PyTorch module whose gradients are computed row by row: its parameters as one flat vector and back.

    ``loss(output, label)`` is that of one row. Gradients of single rows are computed by ``torch.func`` (``vmap`` of ``grad``) where PyTorch has it, and else in a loop, in either case
    from one row at a time. Modules that mix rows (batch normalisation) are refused, and so is whatever a module keeps of the rows it has seen, in buffers or
    attributes: then a row's gradient is not its own.
    """

    def __init__(self, module: Any, loss: Callable[[Any, Any], Any], *, vectorised: bool | None = None):
        try:
            import torch
        except ImportError as error:
            remedy = "modules are PyTorch's; pip install torch, or give a function of NumPy arrays"
            raise SottovoceError(f"`torch` is missing: {remedy}", 2, "torch", "missing", remedy) from error
        self._torch = torch
        self.module = module
        self.loss = loss
        self._vectorised = hasattr(torch, "func") if vectorised is None else vectorised
        norms = torch.nn.modules.batchnorm

        def mixes(part: Any) -> bool:
            return isinstance(part, norms._BatchNorm) or isinstance(part, norms._NormBase) and bool(part.track_running_stats)

        mixing = [type(part).__name__ for part in module.modules() if mixes(part)]
        if mixing:
            raise _wrong("module", f"one with {mixing[0]}", "it mixes rows, so that no row has a gradient of its own; use GroupNorm or LayerNorm")
        self._parameters = {name: part for name, part in module.named_parameters() if part.requires_grad}
        if not self._parameters:
            raise _wrong("module", "without parameters", "there is nothing to learn; give one whose parameters have gradients")

    @property
    def start(self) -> Any:
        """All parameters as they are now, as one flat array."""
        parts = [part.detach().reshape(-1) for part in self._parameters.values()]
        return self._torch.cat(parts).cpu().double().numpy()

    def _unflattened(self, model: Any) -> dict[str, Any]:
        torch, numpy = self._torch, _numpy()
        flat, place, parts = torch.as_tensor(numpy.asarray(model)), 0, {}
        count = sum(part.numel() for part in self._parameters.values())
        if flat.shape != (count,):
            raise _wrong("model", f"of shape {tuple(flat.shape)}", f"this module has {count} parameters")
        for name, part in self._parameters.items():
            parts[name] = flat[place : place + part.numel()].reshape(part.shape).to(part.dtype).to(part.device)
            place += part.numel()
        return parts

    def load(self, model: Any) -> Any:
        """Writes a flat vector into the module's parameters, and returns the module."""
        with self._torch.no_grad():
            for name, value in self._unflattened(model).items():
                self._parameters[name].copy_(value)
        return self.module

    def gradient(self, _peer: Any, model: Any, rows: Any) -> Any:
        """A gradient for each row of ``(inputs, labels)``: what :func:`train` takes."""
        torch = self._torch
        inputs, labels = (torch.as_tensor(part) for part in rows)
        parameters = self._unflattened(model)
        before = _kept(self.module)
        try:
            computed = self._together(parameters, inputs, labels) if self._vectorised else self._in_turn(parameters, inputs, labels)
        finally:
            changed = sorted({name for name, _ in before ^ _kept(self.module)})
            if changed:
                remedy = "what it keeps of one row goes into the gradients of others; make it a module without memory"
                raise _wrong("module", f"one that changes its {changed[0]}", remedy)
        return torch.cat([part.reshape(len(inputs), -1) for part in computed], dim=1)

    __call__ = gradient

    def _one(self, parameters: dict[str, Any], row: Any, label: Any) -> Any:
        output = self._torch.func.functional_call(self.module, parameters, (row.unsqueeze(0),))
        return self.loss(output[0], label)

    def _together(self, parameters: dict[str, Any], inputs: Any, labels: Any) -> list[Any]:
        func = self._torch.func
        found = func.vmap(func.grad(self._one), in_dims=(None, 0, 0), randomness="different")(parameters, inputs, labels)
        return [found[name] for name in self._parameters]

    def _in_turn(self, parameters: dict[str, Any], inputs: Any, labels: Any) -> list[Any]:
        torch, rows = self._torch, []
        kept = {name: part.detach().clone() for name, part in self._parameters.items()}
        try:
            with torch.no_grad():
                for name, part in self._parameters.items():
                    part.copy_(parameters[name])
            for row, label in zip(inputs, labels):
                loss = self.loss(self.module(row.unsqueeze(0))[0], label)
                rows.append(torch.autograd.grad(loss, list(self._parameters.values())))
        finally:
            with torch.no_grad():
                for name, part in self._parameters.items():
                    part.copy_(kept[name])
        return [torch.stack([row[place] for row in rows]) for place in range(len(self._parameters))]


def _kept(module: Any) -> set[tuple[str, Any]]:
    """What a module may remember: everything in it but its parameters, such that any change shows."""

    def mark(value: Any) -> Any:
        if hasattr(value, "_version") and hasattr(value, "detach"):  # a tensor
            return id(value), value._version
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
            return repr(value)
        if isinstance(value, Mapping):
            return tuple((repr(key), mark(each)) for key, each in value.items())
        if isinstance(value, (list, tuple, deque)):
            return tuple(mark(each) for each in value)
        return id(value)

    hidden = {"_parameters", "_modules", "training"}
    return {
        (f"{place}.{name}".lstrip("."), mark(value))
        for place, part in module.named_modules()
        for field, kept in vars(part).items()
        if field not in hidden and not field.endswith("_hooks")
        for name, value in (kept.items() if field == "_buffers" else [(field, kept)])
    }
