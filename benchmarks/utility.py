"""Open answers: reports a second where 424 of 1,200 answers are sensitive.

The published decoders do the work of `subset` and `hashing` here; how much faster `design` is stands in the same run.
"""

from functools import partial

import numpy as np

import deniable as dn
from benchmarks.bounds import fastest_available
from benchmarks.bounds.utility import utility_perturb
from benchmarks.effort import Effort
from benchmarks.figure import Figure

SENSITIVE, VALUES, OPEN_SHARE, EPSILON = 424, 1200, 0.56, 2.0
FAMILIES = {"subset": dn.SubsetSelection, "hashing": dn.LocalHashing, "design": dn.BlockDesign}
PHASES = ("perturb", "count")


def mechanism(family: str) -> dn.UtilityOptimized:
    return dn.UtilityOptimized(
        FAMILIES[family], dn.Categories(range(VALUES)), range(SENSITIVE), epsilon=EPSILON, open_share=OPEN_SHARE
    )


def answers(n: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    random = np.random.default_rng(0)
    secret = random.random(n) >= OPEN_SHARE
    return np.where(secret, random.integers(0, SENSITIVE, n), random.integers(SENSITIVE, VALUES, n))


def ours(family: str, phase: str, effort: Effort) -> float:
    """Secure coins; `count` is the whole way from reports to estimate."""
    oracle, truth = mechanism(family), answers(effort.n)
    if phase == "perturb":
        return effort.rate(lambda: oracle.perturb(truth), effort.n)
    reports = oracle.perturb(truth)
    return effort.rate(lambda: oracle.estimate(oracle.tally(reports)), effort.n)


def bound(family: str, phase: str, effort: Effort) -> tuple[float, str]:
    """The same randomizing in C; without a compiler, and for counting, a histogram alone."""
    if phase == "perturb" and (work := utility_perturb(mechanism(family), answers(effort.n))):
        return effort.rate(work, effort.n), "C loop"
    numbers = np.random.default_rng(1).integers(0, VALUES, effort.n, np.uint16)
    hardware = fastest_available()
    return effort.rate(hardware.direct_count(numbers, VALUES), effort.n), f"{hardware.name}, histogram alone"


FIGURES = [
    Figure(
        f"utility/{family}/{phase}/{SENSITIVE}",
        "reports/second",
        partial(ours, family, phase),
        partial(bound, family, phase),
        has_peers=False,
    )
    for family in FAMILIES
    for phase in PHASES
]
