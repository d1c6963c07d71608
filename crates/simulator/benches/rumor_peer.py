"""The same rumours in plain Python (steps) and NumPy (rounds): prints `name s nanoseconds-per-telling`."""

import random
import time

import numpy as np

N = 1 << 16


def steps(s, tellings):
    """Algorithm 1 with a list and two byte arrays; only so many tellings, since it takes long."""
    choice, chance = random.randrange, random.random
    active, is_active, knows, informed = [0], bytearray(N), bytearray(N), 1
    is_active[0] = knows[0] = 1
    start = time.perf_counter()
    told = 0
    while informed < N and told < tellings:
        place = choice(len(active))
        teller = active[place]
        if chance() >= s:
            active[place] = active[-1]
            active.pop()
            is_active[teller] = 0
        target = choice(N)
        if not knows[target]:
            knows[target] = 1
            informed += 1
        if not is_active[target]:
            is_active[target] = 1
            active.append(target)
        told += 1
    return (time.perf_counter() - start) / told


def rounds(s):
    rng = np.random.default_rng(1)
    active, knows, told = np.array([0]), np.zeros(N, bool), 0
    knows[0] = True
    start = time.perf_counter()
    while True:
        targets = rng.integers(N, size=len(active), dtype=np.uint32)
        told += len(active)
        now = np.zeros(N, bool)
        if s > 0:
            now[active if s == 1 else active[rng.random(len(active), dtype=np.float32) < s]] = True
        now[targets] = True
        knows |= now
        if knows.all():
            return (time.perf_counter() - start) / told
        active = np.flatnonzero(now)


for s in (0.1, 0.5, 1.0):
    print(f"steps {s if s != 1 else 1} {min(steps(s, 400_000) for _ in range(3)) * 1e9}")
    print(f"rounds {s if s != 1 else 1} {min(rounds(s) for _ in range(60)) * 1e9}")
