"""The variance of every family of three-state channels at its best parameters, beside the optimum of all of them."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from deniable.core.odds import odds_below
from deniable.mechanisms.key_value.three_design import Point, channel_loss, least, variance
from research.data.folder import Data
from research.papers import style
from research.papers.figure import ALL, Check, Figure, Pace, Result, ranking, theory
from research.papers.rr3.formulas import degree_variance, eq27, eq29, eq40, equal_loss, exact_ewrr, exact_slopes, largest

FIGURE = Figure("rr3/variance", "RR3", "variance of every family against the optimum", seconds=2, own=True)
COLUMNS = ("prior", "epsilon", "target", "family", "n x variance", "over the optimum")
PRIORS = {"sparse": (0.9, 0.07, 0.03), "dense": (0.1, 0.6, 0.3)}
EPSILONS, TARGETS, STEPS = (0.5, 1.0, 2.0, 4.0), ("degree", "high", "weight", "balanced"), 80
EDGE = 1e-9  # how near to the ends searches go


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


POINTS: dict[str, Callable[[float], Iterator[Point]]] = {
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
                    name: min(variance(target, point, prior) for point in points(epsilon)) for name, points in POINTS.items()
                }
                for name, each in {**found, "optimum": best}.items():
                    rows.append((label, epsilon, target, name, each, each / best))
    table = Result(COLUMNS, rows)
    over = {
        (name, target): table.numbers("over the optimum", family=name, target=target)
        for name in POINTS
        for target in TARGETS
    }
    most = over["EWRR3", "degree"].max()
    better = f"a channel designed for degrees has 1 / {most:.2f} of the variance of EWRR3 (ThreeState.design)"
    points = [(p1, p2, share) for p1 in (0.4, 0.7) for p2 in (0.35, 0.6) for share in (0.1, 0.9)]
    slopes = [(eq40(*point), exact_slopes(*point)) for point in points]
    largest_p1 = corner(1.0)
    checks = (
        ranking(
            "EWRR3 is the best for the share of high weights and for all shares together",
            max(over["EWRR3", target].max() for target in ("high", "balanced")) < 1 + 1e-9,
            "another is better",
        ),
        ranking("case 1 of EWRR3 is never worse than case 2", _first_case(), "it is"),
        best_check(),
        theory(
            "Eq. 29 is the variance of RR3-dagger",
            all(math.isclose(eq29(*point), degree_variance(*point), rel_tol=1e-9) for point in points),
            "the channel has another",
        ),
        theory(
            "Eq. 40a is its derivative by p1", all(math.isclose(a[0], b[0], rel_tol=1e-6) for a, b in slopes), "it is not"
        ),
        theory(
            "Eq. 40b is its derivative by p2",
            all(math.isclose(a[1], b[1], rel_tol=1e-6) for a, b in slopes),
            f"at p1 = {points[0][0]}, p2 = {points[0][1]}, pi_0 = {points[0][2]} it is {slopes[0][1][1]:.4g}, "
            f"and not {slopes[0][0][1]:.4g} (erratum RR3 R7)",
        ),
        theory(
            "Theorem 4: within its region RR3-dagger has no best point",
            all(at_edge(epsilon, prior) for epsilon in EPSILONS for prior in PRIORS.values()),
            "one lies inside",
        ),
        theory(
            "Theorem 4: the best is approached at p1 = e^epsilon / 3",
            math.isclose(largest_p1, math.e / 3, rel_tol=1e-6),
            f"at epsilon 1 and p2 = 1/3 no p1 above {largest_p1:.4g} keeps epsilon, not {math.e / 3:.4g} (erratum RR3 R6)",
        ),
        theory(
            "Eq. 27 is the variance of EWRR_n",
            abs(eq27(3, 0.9, 1.0) - exact_ewrr(3, 0.9, 1.0)) < 1e-9,
            f"at n = 3, p = 0.9, pi_0 = 1, N = 1 it prints {eq27(3, 0.9, 1.0):.4g}, "
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


def best_equal(n: int, epsilon: float, below: bool) -> float:
    """The p of EWRR_n with the least exact variance among those that keep epsilon by the exact loss, above or below 1/n."""
    if below:
        end = -largest(lambda minus: equal_loss(n, -minus), epsilon, -1 / n + EDGE, -EDGE)
    else:
        end = largest(lambda p: equal_loss(n, p), epsilon, 1 / n + EDGE, 1 - EDGE)
    kept = [end + (1 / n - end) * step / STEPS for step in range(STEPS)]
    return min(kept, key=lambda p: exact_ewrr(n, round(p, 12), PRIORS["sparse"][0]))


def stated_equal(n: int, epsilon: float, below: bool) -> float:
    """Theorems 2 and 3, and Eqs. 38a and 38b."""
    odds = math.exp(epsilon)
    return 1 / ((n - 1) * odds + 1) if below else odds / (odds + n - 1)


def best_check() -> Check:
    """The formulas for the best p beside a search that does not know them."""
    cases = [(n, epsilon, below) for n in (3, 5) for epsilon in EPSILONS for below in (False, True)]
    off = max(abs(best_equal(*case) / stated_equal(*case) - 1) for case in cases)
    return theory(
        "Theorems 2 and 3, Eqs. 38a and 38b: the best p, of those that keep epsilon",
        off < 1e-6,
        f"a search by exact loss and variance finds one that is {off:.2g} away",
    )


def corner(epsilon: float) -> float:
    """The largest p1 of RR3-dagger at p2 = 1/3 that keeps epsilon, by the exact loss of the channel."""
    p2 = np.array(1 / 3)
    return largest(lambda p: float(channel_loss(np.array(p), (1 + p2) / 2, 2 * p2 / (1 + p2))), epsilon, 1 / 3, 1 - EDGE)


def at_edge(epsilon: float, prior: tuple[float, float, float]) -> bool:
    """Whether the best channel of RR3-dagger above 1/3 lies where the paper's region has its open edges."""
    best = min(dagger(epsilon), key=lambda point: variance("degree", point, prior))
    p1, p2 = best[0], 2 * best[1] - 1
    return p2 == Fraction(1, 3) or abs(p1 - p2) < Fraction(1, 10**9)


def plot(result: Result) -> "style.Picture":
    """How much above the optimum each family is, sparse data."""
    figure, axes = style.blank(2, 2, 4.6, 2.8)
    for chart, target in zip(axes, TARGETS, strict=True):
        for number, name in enumerate(POINTS):
            values = result.numbers("over the optimum", prior="sparse", target=target, family=name)
            chart.plot(EPSILONS, values, **style.look(number, name))
        chart.set(xlabel="epsilon", ylabel="variance over the optimum", title=target)
    style.legend(figure)
    return figure
