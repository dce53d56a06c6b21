"""Releases near the truth: how many a second after set-up, and how many points a second are set up."""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

import deniable as dn
from benchmarks.bounds import fastest_available
from benchmarks.bounds.programs import release_perturb
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from deniable.mechanisms.algebra.split import smallest_splits
from deniable.mechanisms.releases.release import Release

EPSILON = 1.0
EPSILONS = (0.5, 1.0, 2.0, 4.0)
LINE, PLANE = 100_000, 3_000


def line() -> dn.Ordered:
    return dn.Ordered(range(LINE))


def uneven() -> dn.Ordered:
    return dn.Ordered(np.sort(np.random.default_rng(1).random(LINE)))


def plane() -> dn.Points:
    return dn.Points(np.random.default_rng(1).random((PLANE, 2)))


RELEASES: dict[str, Callable[[], Release]] = {
    "bipartite/line": lambda: dn.Bipartite(line(), EPSILON),
    "bipartite/plane": lambda: dn.Bipartite(plane(), EPSILON),
    "staircase/plane": lambda: dn.Staircase(plane(), EPSILON),
    "coarsened/line": lambda: dn.Coarsened(line(), EPSILON),
    "exponential/line": lambda: dn.ReleaseChannel.exponential(dn.Ordered(range(500)), EPSILON),
}
# How many points are set up, the work, and the least that any such work needs.
SET_UPS: dict[str, tuple[int, Callable[[], object], Callable[[], object], str]] = {
    "line": (LINE, lambda: dn.Bipartite(line(), EPSILON), line, "NumPy, the points alone"),
    "uneven-line": (LINE, lambda: dn.Bipartite(uneven(), EPSILON), uneven, "NumPy, the points alone"),
    "plane-four-epsilons": (
        PLANE,
        lambda: smallest_splits(plane(), [dn.odds_below(epsilon) for epsilon in EPSILONS]),
        lambda: [losses.sum() for _, losses in plane().blocks()],
        "NumPy, the distances alone",
    ),
}


def values(release: Release, n: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(2).integers(0, release.domain.size, n)


def released(name: str, effort: Effort) -> float:
    release = RELEASES[name]()
    truth = values(release, effort.n)
    return effort.rate(lambda: release.perturb(truth), effort.n)


def bound(name: str, effort: Effort) -> tuple[float, str]:
    """The same in C: a place is drawn and a point is looked up. Coarsened answers are two categories: direct response."""
    release = RELEASES[name]()
    hardware, truth = fastest_available(), values(release, effort.n)
    if not name.startswith("coarsened") and (work := release_perturb(release, truth)):
        return effort.rate(work, effort.n), hardware.name
    size = min(release.domain.size, 1 << 15)
    return effort.rate(hardware.direct_perturb(truth % size, size), effort.n), f"{hardware.name}, direct response"


def set_up(name: str, effort: Effort) -> float:
    points, work, _, _ = SET_UPS[name]
    return effort.rate(work, points)


def least(name: str, effort: Effort) -> tuple[float, str]:
    points, _, work, what = SET_UPS[name]
    return effort.rate(work, points), what


FIGURES = [
    *(
        Figure(f"release/{name}", "releases/second", partial(released, name), partial(bound, name), has_peers=False)
        for name in RELEASES
    ),
    *(
        Figure(f"release/set-up/{name}", "points/second", partial(set_up, name), partial(least, name), has_peers=False)
        for name in SET_UPS
    ),
]
