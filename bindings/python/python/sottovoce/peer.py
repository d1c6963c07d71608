"""A real peer: it takes part in a network by the node, and a function of yours computes its gradients.

>>> from sottovoce import Peer
>>> Peer.create("ana")                                            # doctest: +SKIP
>>> Peer("ana").run("agreement.toml", gradient)                   # doctest: +SKIP

Everything but the gradient is the node's: keys, agreements, noise from the operating system on a grid, a ledger that pays before anything leaves. The commands of
``sottovoce node`` do the rest: ``sottovoce.ask("node", "plan", "ana", "agreement.toml")``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import _sottovoce
from ._ask import SottovoceError, ask, read_said, words
from ._result import Result
from .training import GradientError, _numpy, _picked, _refused, _wrong, as_array

__all__ = ["Peer"]

_LACKING = "this wheel was built without nodes; build one with them: maturin build --release -m bindings/python/Cargo.toml --features node"


def _built_in() -> None:
    if not hasattr(_sottovoce, "take_part"):
        raise SottovoceError(f"`node` is missing: {_LACKING}", 2, "node", "missing", _LACKING)


def _folder(folder: Any) -> Path:
    if not isinstance(folder, (str, os.PathLike)):
        raise _wrong("folder", repr(folder), "give the name of a folder")
    # A name that begins as an option does is a name all the same.
    return Path(folder) if not os.fspath(folder).startswith("-") else Path.cwd() / folder


class Peer:
    """A node's folder: its key, its ledger and what it holds."""

    def __init__(self, folder: str | os.PathLike[str]):
        _built_in()
        self.folder = _folder(folder)

    @classmethod
    def create(cls, folder: str | os.PathLike[str]) -> Peer:
        """Makes a folder with a new key, an empty ledger and a ``node.toml`` to fill in: ``sottovoce node init``."""
        _built_in()
        place = _folder(folder)
        ask("node", "init", place)
        return cls(place)

    @property
    def file(self) -> Path:
        """The file of what it holds, as ``node.toml`` names it: what the ledger pays for."""
        try:
            return Path(_sottovoce.held(self.folder))
        except ValueError as error:
            raise _refused(error) from None

    def status(self, **options: Any) -> Result:
        """What it has spent, towards whom: ``sottovoce node status``."""
        return ask("node", "status", self.folder, **options)

    def plan(self, agreement: str | os.PathLike[str], **options: Any) -> Result:
        """What a run would cost: ``sottovoce node plan``."""
        return ask("node", "plan", self.folder, agreement, **options)

    def run(
        self,
        agreement: str | os.PathLike[str],
        gradient: Callable[..., Any] | None = None,
        *,
        load: Callable[[Path], Any] | None = None,
        wait: float | None = None,
        **options: Any,
    ) -> Result:
        """Takes part in what was agreed on and signed, to the end: ``sottovoce node run``, which waits so many seconds for the others.

        ``gradient(peer, model, rows)`` computes gradients, one for each row, in place of the node's own models or program; ``peer`` is the folder's name, and ``rows`` is what ``load``
        makes of :attr:`file` (numbers between commas, without it); a file that changes while it is read is refused, for the ledger pays for what it was. The node shortens each
        gradient, rounds and hides it. Where prices are of one row (consensus deep learning), ``node.toml`` must say ``one-by-one = true``.

        A function that fails does not stop the run: who stopped would tell everybody something that no noise hides. Zeros are taken from then on, and the error is raised in the end,
        with what came of the run as its ``result``. Where nothing is learned (an average, a rumour) a function is refused. Ctrl-C stops the node; the same call goes on from there.
        """
        command = words("node", "run", self.folder, agreement, wait=wait, **options, json=True)
        if gradient is None:
            return read_said(_sottovoce.ask(command))
        for field, given in [("gradient", gradient), ("load", load)]:
            if given is not None and not callable(given):
                raise _wrong(field, type(given).__name__, "give a function")
        numpy = _numpy()
        name, held = self.folder.name, []

        def read(file: str | os.PathLike[str]) -> None:
            held.append((load or (lambda path: numpy.loadtxt(path, delimiter=",", ndmin=2)))(Path(file)))

        def local(_peer: int, _turn: int, model: Any, picked: Any) -> Any:
            (rows,) = held
            return as_array(numpy, gradient(name, model, rows if picked is None else _picked(rows, picked)))

        said, wrong = _sottovoce.take_part(command, read, local)
        try:
            result = read_said(said)
        except SottovoceError as error:
            raise error from wrong
        if wrong is not None:
            if isinstance(wrong, GradientError):
                wrong.peer = name  # type: ignore[assignment]
            wrong.result = result
            raise wrong
        return result
