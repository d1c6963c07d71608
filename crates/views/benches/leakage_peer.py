"""The same losses in NumPy and SciPy; prints a JSON object of seconds. Exact losses are timed on a sample of observers."""

import json
import time

import numpy as np
import scipy.sparse as sparse

M, T, SAMPLE = 11, 19, 8
N = 1 << M


def weights():
    rows = np.repeat(np.arange(N), M)
    columns = (np.arange(N)[:, None] ^ (1 << np.arange(M))[None, :]).ravel()
    edges = sparse.csr_matrix((np.full(N * M, 1.0 / (M + 1)), (rows, columns)), shape=(N, N))
    return (edges + sparse.identity(N) / (M + 1)).tocsr(), (edges * (M + 1)).tocsr()


def published_dense(w, neighbours):
    power, total = np.eye(N), np.zeros((N, N))
    for _ in range(T):
        total += power**2 / (power**2).sum(axis=1, keepdims=True)
        power = w @ power
    return neighbours @ total


def published_sparse(w, neighbours):
    """Sparse times dense; squares are computed once and in place."""
    power, total, square = np.eye(N), np.zeros((N, N)), np.empty((N, N))
    for t in range(T):
        np.multiply(power, power, out=square)
        square /= square.sum(axis=1, keepdims=True)
        total += square
        if t + 1 < T:
            power = w @ power
    return neighbours @ total


def exact_pinv(powers, neighbours, v):
    heard = neighbours[v].indices
    rows = np.concatenate([power[heard] for power in powers])
    rows[:, v] = 0.0
    return np.einsum("ij,ji->i", np.linalg.pinv(rows), rows)


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def best(times, work):
    return min((timed(work) for _ in range(times)), key=lambda pair: pair[0])


w, neighbours = weights()
dense, near = w.toarray(), neighbours.toarray()
a, first = best(2, lambda: published_dense(dense, near))
b, second = best(5, lambda: published_sparse(w, neighbours))
assert np.abs(first - second).max() < 1e-9
powers = [np.eye(N)]
for _ in range(T - 1):
    powers.append(w @ powers[-1])
c, _ = best(2, lambda: [exact_pinv(powers, neighbours, v) for v in range(0, N, N // SAMPLE)])
print(json.dumps({"published_dense": a, "published_sparse": b, "exact_pinv": c / SAMPLE * N, "loss_0_1": first[0, 1]}))
