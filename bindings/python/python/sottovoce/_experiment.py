"""The experiment: one description that all commands take."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _sottovoce
from ._ask import SottovoceError, said, words
from ._result import Result


class Experiment:
    """What is run, planned, accounted for and audited, with the fields of an experiment's file.

    >>> Experiment(experiment="averaging", graph={"family": {"ring": {"n": 12}}}, noise={"sigma": 2.0})
    Experiment(averaging)
    """

    def __init__(self, fields: Mapping[str, Any] | None = None, /, **more: Any):
        kept: dict[str, Any] = {**(fields or {}), **more}
        self._text = _toml(kept)
        self._toml, self._fields = _checked(self._text)
        self._folder = Path.cwd()

    @classmethod
    def from_toml(cls, source: str | os.PathLike) -> Experiment:
        """From a file of this name, or from its text. Names of files in it begin in the file's folder, or in this one."""
        path = Path(source) if isinstance(source, os.PathLike) or "\n" not in str(source) and str(source).endswith(".toml") else None
        new = cls.__new__(cls)
        try:
            new._text = path.read_text(encoding="utf-8") if path else str(source)
        except OSError as error:
            remedy = f"it cannot be read ({error.strerror}); check the name"
            raise SottovoceError(f"`experiment` is {path}: {remedy}", 2, "experiment", str(path), remedy) from error
        new._toml, new._fields = _checked(new._text)
        new._folder = path.resolve().parent if path else Path.cwd()
        return new

    def to_toml(self) -> str:
        """The experiment as a file has it."""
        return self._toml

    def to_dict(self) -> dict[str, Any]:
        """All fields, defaults filled in."""
        return json.loads(self._fields)

    def __repr__(self) -> str:
        return f"Experiment({self.to_dict()['experiment']})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def run(self, **options: Any) -> Result:
        """Runs it: ``sottovoce run FILE``."""
        return self._ask("run", options)

    def account(self, **options: Any) -> Result:
        """What it reveals to whom, without running it: ``sottovoce account FILE``."""
        return self._ask("account", options)

    def plan(self, **options: Any) -> Result:
        """Protocol, noise and steps for its target: ``sottovoce plan FILE``."""
        return self._ask("plan", options)

    def audit(self, **options: Any) -> Result:
        """Attacks it, and holds what was found against what is claimed: ``sottovoce audit FILE``. A claim that fell is an error of code 1."""
        return self._ask("audit", options)

    def _ask(self, command: str, options: Mapping[str, Any]) -> Result:
        # Beside the files that it names, which begin where it is.
        with tempfile.NamedTemporaryFile("w", suffix=".toml", prefix=".sottovoce-", dir=self._folder, encoding="utf-8", delete=False) as file:
            file.write(self._text)
        try:
            return said(words(command, file.name, **options, json=True))
        finally:
            os.unlink(file.name)


def _toml(fields: dict[str, Any]) -> str:
    try:
        return _sottovoce.toml_of(json.dumps(_plain(fields)))
    except (TypeError, ValueError) as error:
        raise SottovoceError(str(error)) from error


def _plain(value: Any) -> Any:
    """Without what is left out, and with NumPy's numbers as Python's."""
    if isinstance(value, Mapping):
        return {str(key): _plain(below) for key, below in value.items() if below is not None}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(below) for below in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def _checked(text: str) -> tuple[str, str]:
    try:
        return _sottovoce.experiment(text)
    except ValueError as error:
        message = str(error)
        field = message.split("`")[1] if message.count("`") >= 2 else None
        raise SottovoceError(message, 2, field) from None
