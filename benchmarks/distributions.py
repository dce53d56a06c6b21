"""Distributions: how many reports a second become quantiles with intervals, warm and the first time in a process."""

import pickle
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np

import deniable as dn
from benchmarks.effort import Effort
from benchmarks.figure import Figure

POINTS, MANY = 256, 10_000_000
QUARTILES = (0.25, 0.5, 0.75)
FIRST = """
import pickle, sys, time
import deniable as dn
mechanism = dn.plan(dn.Interval(0, 1, steps=255), 1.0, 100_000, target="distribution")
reports = pickle.load(open(sys.argv[1], "rb"))
start = time.perf_counter()
found = mechanism.distribution(mechanism.tally(reports))
[found.quantile(share).interval() for share in (0.25, 0.5, 0.75)]
print(time.perf_counter() - start)
"""


@lru_cache(maxsize=2)
def _reports(many: int) -> tuple[dn.Mechanism, object]:
    mechanism = dn.plan(dn.Interval(0, 1, steps=POINTS - 1), 1.0, 100_000, target="distribution")
    return mechanism, mechanism.perturb(np.random.default_rng(0).beta(5, 2, many), dn.SeededCoins(0))


def _many(effort: Effort) -> int:
    """Ten million, or as many as a rough run allows."""
    return min(MANY, 10 * effort.n)


def warm(effort: Effort) -> float:
    many = _many(effort)
    mechanism, reports = _reports(many)

    def work() -> object:
        found = mechanism.distribution(mechanism.tally(reports))  # type: ignore[attr-defined, arg-type]
        return [found.quantile(share).interval() for share in QUARTILES]

    return effort.rate(work, many)


def first(effort: Effort) -> float:
    """With everything that is loaded on the way, in a new process; the best of three."""
    many = _many(effort)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.pickle"
        path.write_bytes(pickle.dumps(_reports(many)[1]))
        runs = [subprocess.run([sys.executable, "-c", FIRST, str(path)], capture_output=True, check=True) for _ in range(3)]
    return many / min(float(run.stdout) for run in runs)


def bound(effort: Effort) -> tuple[float, str]:
    """Counting alone."""
    numbers = np.random.default_rng(1).integers(0, 900, _many(effort)).astype(np.uint16)
    return effort.rate(lambda: np.bincount(numbers, minlength=900), len(numbers)), "numpy, counting alone"


FIGURES = [
    Figure(f"distributions/quantiles/{POINTS}", "reports/second", warm, bound, has_peers=False),
    Figure(f"distributions/quantiles-first/{POINTS}", "reports/second", first, bound, has_peers=False),
]
