"""The timed points of accounting.rs, computed with dp-accounting; prints {"pld": seconds, "rdp": seconds}."""
import importlib.metadata
import json
import sys
import time

import dp_accounting as dp
from dp_accounting import pld, rdp


def event(row):
    kind = row["kind"]
    if kind in ("poisson_gaussian", "gaussian"):
        single = dp.GaussianDpEvent(row["noise_multiplier"])
    elif kind in ("poisson_laplace", "laplace"):
        single = dp.LaplaceDpEvent(row["scale"])
    else:
        return None
    return dp.PoissonSampledDpEvent(row["q"], single) if "q" in row else single


def seconds(rows, key, accountant):
    total = 0.0
    for row in rows:
        released = event(row)
        if released is None or not row.get(key):
            continue
        start = time.process_time()
        composed = accountant()
        composed.compose(released, row["steps"])
        for delta in row[key]:
            composed.get_epsilon(float(delta))
        total += time.process_time() - start
    return total


rows = json.load(open(sys.argv[1]))["points"]
print(json.dumps({
    "version": importlib.metadata.version("dp-accounting"),
    "pld": seconds(rows, "pld", pld.PLDAccountant),
    "rdp": seconds(rows, "rdp", rdp.RdpAccountant),
}))
