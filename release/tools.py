"""What the scripts of a release share: the root, running other programs, refusing."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# A folder of its own: flags of a release differ from those of everyday builds, and would compile these again.
TARGET = ROOT / "target" / "dist"


class Refused(Exception):
    """A sentence with the remedy, and the exit code."""

    def __init__(self, sentence: str, code: int = 2):
        super().__init__(sentence)
        self.code = code


class Commit(NamedTuple):
    """What is released, and the time that its archives state."""

    hash: str
    time: int


def say(line: str) -> None:
    print(line, flush=True)


def run(*words, quiet: bool = False, cwd: Path = ROOT, **variables: str) -> str:
    """Standard output of a program; its standard error is shown, or kept for the message where it fails."""
    words = [str(word) for word in words]
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if quiet else None,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise Refused(f"`{words[0]}` is not installed, and is needed for `{' '.join(words)}`", code=3) from None
    if done.returncode != 0:
        print(done.stderr or "", file=sys.stderr)
        raise Refused(f"`{' '.join(words)}` failed with {done.returncode}", code=3)
    return done.stdout
