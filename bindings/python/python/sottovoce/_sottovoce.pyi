from collections.abc import Callable
from os import PathLike
from typing import Any

__version__: str

def ask(
    words: list[str], progress: Callable[[str, int, int], object] | None = None, inputs: dict[str, Any] | None = None
) -> tuple[int, str, list[str], tuple[str, str, str] | None, str]: ...
def seconds(words: list[str], times: int) -> float: ...
def experiment(text: str) -> tuple[str, str]: ...
def toml_of(json: str) -> str: ...
def train(
    text: str,
    held: dict[str, Any],
    folder: str | PathLike[str],
    seed: int | None,
    rows: list[int],
    start: list[float],
    gradient: Callable[..., Any],
    watch: Callable[..., Any] | None,
) -> tuple[str, Any]: ...
def audit(
    text: str,
    held: dict[str, Any],
    folder: str | PathLike[str],
    seed: int | None,
    rows: list[int],
    start: list[float],
    versions: tuple[Callable[..., Any], Callable[..., Any]],
    peer: int,
    runs: int,
) -> str: ...
def take_part(
    words: list[str], load: Callable[..., object], gradient: Callable[..., Any]
) -> tuple[tuple[int, str, list[str], tuple[str, str, str] | None, str], Any]: ...
def held(folder: str | PathLike[str]) -> PathLike[str]: ...
