"""What the comparisons share: our program, medians, tables, and words for what is missing."""

import importlib
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = ("dp-accounting", "opacus", "torch", "numpy", "scipy", "sottovoce")


class Missing(Exception):
    """What is not installed, and how to install it."""


class Scale(NamedTuple):
    """How much is compared."""

    quick: bool
    repeats: int


def binary() -> Path:
    """Our program."""
    named = os.environ.get("SOTTOVOCE_BINARY")
    path = Path(named) if named else ROOT / "target" / "release" / "sottovoce"
    if not os.access(path, os.X_OK):
        raise Missing(f"{path} is no program: build it (cargo build --release), or name another with SOTTOVOCE_BINARY")
    return path.resolve()


def ask(*words: Any) -> dict:
    """What our program answers, as data."""
    return json.loads(output(binary(), *words, "--json"))


def output(*words: Any) -> str:
    """Standard output of a program that succeeds."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def module(name: str, install: str) -> Any:
    """A module of a peer, or a message that it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"skipped: `{name}` is not installed (pip install {install}; {error})") from None


def processor() -> float:
    """Seconds of the processor that this process and those it waited for have taken."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def timed(work: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """What comes of it, and the median of its seconds of the processor."""
    seconds = []
    for _ in range(repeats):
        start = processor()
        found = work()
        seconds.append(processor() - start)
    return found, statistics.median(seconds)


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Markdown."""
    heads = list(heads)
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def ratio(theirs: float, ours: float) -> str:
    """How many times as long they take."""
    if not (theirs > 0 and ours > 0):
        return "too short"
    times = theirs / ours
    return f"{times:.2g}" if times < 10 else f"{times:.0f}"


def versions() -> str:
    """Who is compared."""
    found = [output(binary(), "--version").strip(), f"Python {platform.python_version()}"]
    for peer in PEERS:
        try:
            found.append(f"{peer}{' (Python package)' if peer == 'sottovoce' else ''} {importlib.metadata.version(peer)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> str:
    """How busy the machine is, in cores."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def machine() -> str:
    """Its kind, and not its name."""
    return f"{platform.system()}, {platform.machine()}, {cores()} cores"
