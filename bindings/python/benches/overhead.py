"""What the bindings add to the command line: a share of the time for a million peers, microseconds for a small question.

    SOTTOVOCE_BINARY=target/release/sottovoce python bindings/python/benches/overhead.py

Prints both, and fails above 5 % and above 50 microseconds. A million peers are held against the program, which begins anew each time; a small question against
the same question asked in Rust, in this process: what is added is the way there and back, and the document as Python has it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

from sottovoce._ask import said, words
from sottovoce._sottovoce import ask as raw
from sottovoce._sottovoce import seconds as in_rust

#: Tellings among a million peers.
MILLION = words("audit", "source", peers=1_000_000, curious=1000, muting=0.5, runs=400, json=True)
#: Questions that take microseconds.
SMALL = {
    "account rumor": words("account", "rumor", peers=40, curious=4, json=True),
    "account mechanism": words("account", "mechanism", laplace=True, scale=2.0, json=True),
    "an error": words("account", "rumor", peers=1, curious=0),
}
#: The most that may be added.
SHARE, MICROSECONDS = 0.05, 50.0


def least(work: Callable[[], object], times: int) -> float:
    """The least of so many times."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return min(found)


def main() -> int:
    """Prints what is added; 1 if it is too much."""
    too_much = False
    for name, line in SMALL.items():
        raw(line)  # A thread is begun, and the command line's definition made.
        rust = in_rust(line, 2000)
        way = least(partial(raw, line), 2000)
        added = 1e6 * (way - rust)
        too_much |= added > MICROSECONDS
        print(f"{name:18} {1e6 * rust:8.1f} µs in Rust, {1e6 * way:8.1f} µs from Python: {added:5.1f} µs more")
    document = raw(SMALL["account rumor"])[1]
    print(f"{'its document':18} {1e6 * least(lambda: json.loads(document), 2000):8.1f} µs to read as Python's objects")
    program = os.environ.get("SOTTOVOCE_BINARY")
    if not program:
        print("SOTTOVOCE_BINARY names no program to compare with: a million peers are left out")
        return int(too_much)
    # In turns: whatever else the machine does meets both.
    pairs = [(least(lambda: subprocess.run([program, *MILLION], check=True, capture_output=True), 1), least(lambda: said(MILLION), 1)) for _ in range(5)]
    theirs, ours = (min(one) for one in zip(*pairs))
    print(f"a million peers    {theirs:8.3f} s by the program, {ours:8.3f} s from Python: ratio {ours / theirs:.3f}")
    return int(too_much or ours > (1 + SHARE) * theirs)


if __name__ == "__main__":
    sys.exit(main())
