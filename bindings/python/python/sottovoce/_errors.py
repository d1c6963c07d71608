"""What the command line says, as an exception."""

from __future__ import annotations

import json
from typing import Any


class SottovoceError(ValueError):
    """What the command line says, and the parts of it.

    ``field``, ``value`` and ``remedy`` are none where the message names no field; ``code`` is what the program exits with: 1 a claim fell, 2 bad
    input, 3 the machine failed. Where a claim fell, ``document`` is what the audit found.

    >>> import sottovoce
    >>> try:
    ...     sottovoce.ask("account", "rumor", peers=1, curious=0)
    ... except sottovoce.SottovoceError as error:
    ...     (error.field, error.value, error.code)
    ('peers', '1', 2)
    """

    def __init__(
        self,
        message: str,
        code: int = 2,
        field: str | None = None,
        value: str | None = None,
        remedy: str | None = None,
        document: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.field = field
        self.value = value
        self.remedy = remedy
        self.document = document

    def __reduce__(self) -> tuple[Any, ...]:
        return (SottovoceError, (str(self), self.code, self.field, self.value, self.remedy, self.document))


def wrong(field: str, value: Any, remedy: str) -> SottovoceError:
    """A value that is refused here, said as the command line does."""
    shown = repr(value) if not isinstance(value, str) else value
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return SottovoceError(f"`{field}` is {shown}: {remedy}", 2, field, shown, remedy)


def fallen(code: int, message: str, fault: tuple[str, str, str] | None, printed: str) -> SottovoceError:
    """The error of a command that came to nothing."""
    field, value, remedy = fault or (None, None, None)
    try:
        document = json.loads(printed) if printed else None
    except ValueError:
        document = None
    return SottovoceError(message.strip(), code, field, value, remedy, document)
