"""How soon Ctrl-C ends long work: a process for each command, a signal, and the clock.

    python bindings/python/benches/stop.py [SECONDS]        # how long the work goes on before the signal (default: 2)

Prints for each how long it took until Python had the interrupt, and how much the processors still worked in the second after that.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

#: Work that takes much longer than anybody waits for it here.
LONG = {
    "exact losses of all pairs": 'ask("account", "averaging", graph=torus(45), steps=40, all_pairs=True)',
    "exact losses with relay noise": 'ask("account", "averaging", graph=torus(30), steps=40, all_pairs=True, relay_noise=0.1)',
    "the worst coalition": 'ask("account", "averaging", graph=torus(30), steps=20, worst_coalition=4)',
    "a simulation": 'ask("run", "averaging", graph=torus(45), sigma=1.0, steps=100000, no_report=True)',
    "an attack on values": 'ask("audit", "reconstruct", graph=torus(12), steps=30, observers=[0], runs=10000000)',
    "an attack on a rumour": 'ask("audit", "source", peers=3000, curious=300, muting=0.5, runs=100000000)',
    "a rumour by messages": 'ask("run", "rumor", peers=4096, muting=0.5, drop=0.1, clocks="poisson", seeds=10000, no_report=True)',
    "a walk in expectation": 'ask("account", "walk", graph=torus(20), steps=20000, observers=[0], sigma=4.0, order=2.0, expected=100000)',
    "learning": 'ask("run", "learning", peers=256, iterations=100000, sigma=4.0, seeds=50, no_report=True)',
    "a plan of learning": 'ask("plan", "learning", peers=256, epsilon=2.0, iterations=2000, runs=50)',
    "a plan of averaging": 'ask("plan", "averaging", graph=torus(30), target_far=True, epsilon=1.0)',
    "personalised models": 'ask("run", "personalized", seeds=1000, no_report=True)',
    "a deep net": 'ask("run", "deep", rounds=100000, no_report=True)',
}

PROGRAM = """
import json, os, resource, time
from sottovoce import ask

def torus(side):
    rows = [(side * i + j, side * i + (j + 1) % side) for i in range(side) for j in range(side)]
    return rows + [(side * i + j, side * ((i + 1) % side) + j) for i in range(side) for j in range(side)]

def worked():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

print("ready", flush=True)
try:
    CALL
    found = {"ended": "by itself"}
except KeyboardInterrupt:
    found = {"ended": "stopped", "at": time.time()}
    time.sleep(0.3)
    before = worked()
    time.sleep(0.7)
    found |= {"still": worked() - before, "files": sorted(os.listdir("."))}
print(json.dumps(found), flush=True)
"""


def pressed(call: str, folder: str | Path, after: float) -> dict[str, Any]:
    """Runs a call in a process of its own, presses Ctrl-C after so many seconds, and says what came of it."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("CALL", call)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )
    assert program.stdout is not None and program.stderr is not None
    if program.stdout.readline() != "ready\n":
        raise RuntimeError(program.stderr.read())
    time.sleep(after)
    at = time.time()
    program.send_signal(signal.SIGINT)
    told, errors = program.communicate(timeout=120)
    if not told:
        raise RuntimeError(errors)
    found: dict[str, Any] = json.loads(told)
    return {**found, "errors": errors, "seconds": found.get("at", at) - at}


def main() -> int:
    """Prints the table; 1 if anything took a second."""
    after = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    slow = 0
    for name, call in LONG.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = pressed(call, folder, after)
            except RuntimeError as error:
                print(f"{name:32} broke: {str(error).strip().splitlines()[-1]}")
                slow += 1
                continue
        if found["ended"] != "stopped":
            print(f"{name:32} was done by itself")
            continue
        slow += found["seconds"] >= 1.0 or found["still"] > 0.3
        print(f"{name:32} {found['seconds']:6.2f} s until it returned, {found['still']:5.2f} s of work afterwards, left: {found['files'] or 'nothing'}")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
