"""How far long work is: tqdm's bar where it is installed, a line on standard error otherwise, or whatever is called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._errors import wrong

#: What hears of progress: what is done, parts done, parts in all (0: unknown).
Listener = Callable[[str, int, int], object]


@contextmanager
def listening(progress: bool | Listener | None) -> Iterator[Listener | None]:
    """What to tell of progress: nothing, a bar, or what was given."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _bar()
        try:
            yield bar
        finally:
            bar.close()
    elif callable(progress):
        yield progress
    else:
        raise wrong("progress", progress, "give True, or what is called with (what, done, total)")


def _bar() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Tqdm(tqdm)


class _Tqdm:
    """A bar of tqdm, begun once there is something to tell."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._bar: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = self._kind(leave=False)
        self._bar.total = total or None
        self._bar.n = done
        self._bar.set_description_str(what, refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Line:
    """A line that is written over."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        text = f"{what} {done}/{total}" if total else what
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
