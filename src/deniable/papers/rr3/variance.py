"""The variance of every family of three-state channels at its best parameters, beside the optimum of all of them."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.core.odds import odds_below
from deniable.domains import Categories
from deniable.mechanisms import EqualWeight
from deniable.mechanisms.three_design import Point, least, variance
from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("rr3/variance", "RR3", "variance of every family against the optimum", seconds=3)
COLUMNS = ("prior", "epsilon", "target", "family", "n x variance", "over the optimum")
PRIORS = {"sparse": (0.9, 0.07, 0.03), "dense": (0.1, 0.6, 0.3)}
EPSILONS, TARGETS, STEPS = (0.5, 1.0, 2.0, 4.0), ("degree", "high", "weight", "balanced"), 80


def equal_weight(epsilon: float) -> Iterator[Point]:
    """EWRR3: both cases of the paper."""
    odds = odds_below(epsilon)
    yield odds / (odds + 2), (odds + 1) / (odds + 2), odds / (odds + 1)
    p = 1 / (2 * odds + 1)
    yield p, (1 + p) / 2, 2 * p / (1 + p)


def dagger(epsilon: float) -> Iterator[Point]:
    """RR3-dagger along the edge of what its exact loss allows."""
    odds = odds_below(epsilon)
    for step in range(STEPS + 1):
        p2 = Fraction(1, 3) + Fraction(step, STEPS) * (odds / (odds + 2) - Fraction(1, 3))
        p1 = min(odds * (1 - p2) / 2, 1 - 2 * p2 / odds, 1 - (1 - p2) / odds)
        if p1 > 0:
            yield p1, (1 + p2) / 2, 2 * p2 / (1 + p2)


def ddagger(epsilon: float) -> Iterator[Point]:
    """RR3-ddagger along p1 = E / (E + 2 p2)."""
    odds = odds_below(epsilon)
    for step in range(STEPS + 1):
        p2 = Fraction(1, 2) + Fraction(step, STEPS) * (odds / (odds + 1) - Fraction(1, 2))
        p1 = odds / (odds + 2 * p2)
        yield p1, p1, p2


FAMILIES: dict[str, Callable[[float], Iterator[Point]]] = {
    "EWRR3": equal_weight,
    "RR3-dagger": dagger,
    "RR3-ddagger": ddagger,
}


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """n times the variance for people drawn at random."""
    rows = []
    for label, prior in pace.over(list(PRIORS.items())):
        for epsilon in EPSILONS:
            for target in TARGETS:
                best = least(epsilon, target, prior)[1]
                found = {
                    name: min(variance(target, point, prior) for point in points(epsilon))
                    for name, points in FAMILIES.items()
                }
                for name, each in {**found, "optimum": best}.items():
                    rows.append((label, epsilon, target, name, each, each / best))
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    over = {
        (name, target): table.numbers("over the optimum", family=name, target=target)
        for name in FAMILIES
        for target in TARGETS
    }
    most = over["EWRR3", "degree"].max()
    better = f"a channel designed for degrees has 1 / {most:.2f} of the variance of EWRR3 (ThreeState.design)"
    checks = (
        claimed(
            "EWRR3 is the best for the share of high weights and for all shares together",
            max(over["EWRR3", target].max() for target in ("high", "balanced")) < 1 + 1e-9,
            "another is better",
        ),
        claimed("case 1 of EWRR3 is never worse than case 2", _first_case(), "it is"),
        claimed(
            "the arg min of Theorem 4 is empty",
            not math.isfinite(min(over["RR3-dagger", "degree"])),
            "the region is closed once its missing bound is added, and has a best point (erratum RR3 R6)",
        ),
        claimed(
            "Eq. 27 is the variance of EWRR_n",
            abs(printed_eq27(3, 0.9, 1.0) - exact_ewrr(3, 0.9, 1.0)) < 1e-9,
            f"at n = 3, p = 0.9, pi_0 = 1, N = 1 it prints {printed_eq27(3, 0.9, 1.0):.4g}, "
            f"below zero; exactly {exact_ewrr(3, 0.9, 1.0):.4g} (erratum RR3 R1)",
        ),
    )
    return Result(
        COLUMNS,
        rows,
        checks,
        ("exact; no data needed", "optimum: over all corners of RR3-club that the budget allows (ThreeState.design)"),
        improved=(better,),
    )


def _first_case() -> bool:
    pairs = [list(equal_weight(epsilon)) for epsilon in EPSILONS]
    return all(
        variance("degree", first, prior) <= variance("degree", second, prior) * (1 + 1e-12)
        for first, second in pairs
        for prior in PRIORS.values()
    )


def printed_eq27(n: int, p: float, share: float) -> float:
    """Eq. 27 as printed, for one person: the corrected numerator less (n - 2) (1 - p + (n p - 1) pi_0)."""
    right = (1 - p + (n * p - 1) * share) * (n - 2 + p - (n * p - 1) * share)
    return (right - (n - 2) * (1 - p + (n * p - 1) * share)) / (n * p - 1) ** 2


def exact_ewrr(n: int, p: float, share: float) -> float:
    """The variance of one person's estimate, from the mechanism."""
    made = EqualWeight(Categories(range(n)), Fraction(str(p)))
    truth = [share] + [(1 - share) / (n - 1)] * (n - 1)
    return float(made.predict(truth, 1).for_population().standard_error[0] ** 2)


def plot(result: Result) -> "pictures.Figure":
    """How much above the optimum each family is, sparse data."""
    figure, axes = style.blank(1, len(TARGETS), 3.2, 3)
    for chart, target in zip(axes, TARGETS, strict=True):
        for number, name in enumerate(FAMILIES):
            values = result.numbers("over the optimum", prior="sparse", target=target, family=name)
            chart.plot(EPSILONS, values, color=style.COLOURS[number], marker=style.MARKERS[number], label=name)
        chart.set(xlabel="epsilon", ylabel="variance over the optimum", title=target)
    style.legend(figure, axes[0], 3)
    return figure
