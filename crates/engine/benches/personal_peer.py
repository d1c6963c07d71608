"""The same updates of personalised models by a NumPy loop: neighbours' models, clipped logistic gradients, Gaussian noise."""

import time

import numpy as np

AGENTS, DEGREE, WIDTH, UPDATES = 100_000, 20, 20, 50_000
MU, CLIP, NOISE = 0.5, 0.5, 1.0

rng = np.random.default_rng(1)
rows = rng.integers(10, 101, AGENTS)
features = [rng.standard_normal((m, WIDTH)) / np.sqrt(WIDTH) for m in rows]
labels = [np.where(rng.random(m) < 0.5, -1.0, 1.0) for m in rows]
norms = [np.linalg.norm(x, axis=1) for x in features]
neighbours = [rng.choice(AGENTS, DEGREE, replace=False) for _ in range(AGENTS)]
weights = [np.full(DEGREE, 1.0 / DEGREE) for _ in range(AGENTS)]
models = np.zeros((AGENTS, WIDTH))
order = rng.integers(0, AGENTS, UPDATES)

start = time.perf_counter()
for i in order:
    x, y, m = features[i], labels[i], rows[i]
    theta = models[i]
    slopes = -y / (1.0 + np.exp(y * (x @ theta)))
    most = CLIP / norms[i]
    slopes = np.clip(slopes, -most, most)
    gradient = slopes @ x / m + rng.standard_normal(WIDTH) * (NOISE * 2.0 * CLIP / m)
    pull = MU * m / 100.0
    step = 1.0 / (1.0 + pull * 0.25)
    models[i] = (1.0 - step) * theta + step * (weights[i] @ models[neighbours[i]] - pull * gradient)
seconds = time.perf_counter() - start
print(UPDATES / seconds)
