"""The best three-state channel for a budget: the corners of all channels that it allows, and a picture of them."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats
from deniable.core import checked_epsilon, odds_below
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.key_value.three_state import Prior, Target, ThreeState

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Point = tuple[Fraction, Fraction, Fraction]  # p1, p2, q

SPARSE: Prior = (0.9, 0.05, 0.05)
STEPS = 400  # of the search along an edge


def vertices(epsilon: float) -> list[Point]:
    """The corners (p1, p2, q) of the channels that the budget allows, mirror images left out.

    With z = 1 - p2, u = p2 q, v = p2 (1 - q) and y = (1 - p1) / 2 the budget asks that p1 and z, and any two of y, u and v,
    differ by a factor of at most e^epsilon: a polytope in (p1, z, u), whose corners are found in exact fractions.
    """
    odds = odds_below(epsilon)
    zero, one, half = Fraction(0), Fraction(1), Fraction(1, 2)
    # each as coefficients of p1, z, u and 1
    none, silent, high = (one, zero, zero, zero), (zero, one, zero, zero), (zero, zero, one, zero)
    low, fake = (zero, -one, -one, one), (-half, zero, zero, half)
    pairs = [(none, silent), (silent, none), *itertools.permutations((fake, high, low), 2)]
    limits = [tuple(odds * a - b for a, b in zip(small, large, strict=True)) for small, large in pairs]
    found: set[Point] = set()
    for three in itertools.combinations(limits, 3):
        point = _solved(three)
        if point is None or any(_at(limit, point) < 0 for limit in limits):
            continue
        kept, quiet, upper = point
        end = upper / (1 - quiet) if quiet != 1 else Fraction(1, 2)
        found.add((kept, 1 - quiet, max(end, 1 - end)))
    return sorted(found)


def _at(limit: tuple[Fraction, ...], point: Point) -> Fraction:
    return sum((a * x for a, x in zip(limit[:3], point, strict=True)), limit[3])


def _solved(rows: tuple[tuple[Fraction, ...], ...]) -> Point | None:
    """Where three limits meet, by Cramer's rule; None if not in one point."""

    def volume(a: list[Fraction], b: list[Fraction], c: list[Fraction]) -> Fraction:
        return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])

    columns = [[row[k] for row in rows] for k in range(3)]
    right = [-row[3] for row in rows]
    whole = volume(*columns)
    if whole == 0:
        return None
    one, two, three = (volume(*(right if k == place else columns[k] for k in range(3))) / whole for place in range(3))
    return one, two, three


def variance(target: str, point: Point, prior: Prior) -> float:
    """n times the variance of a target under a channel, for people drawn with these shares of no link, high and low.

    With D = p1 + p2 - 1, t = p2 (2q - 1), x the share of reports without a link and d = high - low:
    degree x (1 - x) / D^2, weight (1 - x) / t^2 - d^2, covariance x d / D; balanced is the trace of the three shares.
    """
    p1, p2, q = (float(part) for part in point)
    slope, turn, d, f = p1 + p2 - 1, p2 * (2 * q - 1), prior[1] - prior[2], prior[1] + prior[2]
    x = 1 - p2 + slope * prior[0]
    degree = x * (1 - x) / slope**2 if abs(slope) > 1e-12 else math.inf
    weight = (1 - x) / turn**2 - d * d if abs(turn) > 1e-12 else math.inf
    if target == "degree":
        return degree
    if target == "weight":
        return weight
    if math.inf in (degree, weight):
        return math.inf
    both = x * d / slope
    match target:
        case "balanced":
            return 1.5 * degree + 0.5 * weight
        case "high":
            return (degree + weight + 2 * both) / 4
        case "mean":
            return (weight - 2 * d / f * both + (d / f) ** 2 * degree) / f**2
    raise InvalidParameter('The target must be "degree", "weight", "balanced" or "mean".')


def least(epsilon: float, target: str, prior: Prior) -> tuple[Point, float]:
    """The best channel for a target and n times its variance.

    Degree and weight have their minimum at a corner, being concave over the square of something linear; so has the trace
    in all cases tried. For the mean the edge p1 = e^epsilon (1 - p2), q = e^epsilon / (1 + e^epsilon) is searched as well.
    """
    points = vertices(epsilon)
    if target == "mean":
        odds = odds_below(epsilon)
        # from EWRR3, p2 = (E + 1) / (E + 2), to where nobody is asked about the link
        edge = (1 - Fraction(step, STEPS) / (odds + 2) for step in range(STEPS + 1))
        points += [(odds * (1 - p2), p2, odds / (odds + 1)) for p2 in edge]
    best = min(points, key=lambda point: variance(target, point, prior))
    return best, variance(target, best, prior)


def designed(epsilon: float, target: Target, prior: Prior | None) -> ThreeState:
    """What `ThreeState.design` returns, with its explanation."""
    if target not in ("degree", "weight", "balanced", "mean"):
        raise InvalidParameter('The target must be "degree", "weight", "balanced" or "mean".')
    shares = SPARSE if prior is None else prior
    if len(shares) != 3 or not min(shares) >= 0 or abs(sum(shares) - 1) > 1e-9 or (target == "mean" and shares[0] >= 1):
        raise InvalidParameter("The prior must be three shares (no link, high, low) that sum to 1.")
    best, smallest = least(epsilon, target, shares)
    made = ThreeState(*best, epsilon)
    lines = [
        f"three-state response for the {target}, epsilon {epsilon:g} for one answer, shares {shares} of no link, high, low",
        f"n x variance {smallest:.4g}, at p1 = {float(best[0]):.4f}, p2 = {float(best[1]):.4f}, q = {float(best[2]):.4f}"
        + ("" if made.estimates_degree else "; degrees cannot be estimated")
        + ("" if made.estimates_weight else "; weights cannot be estimated"),
        "the corners of all channels that the budget allows:",
    ]
    for point in sorted(vertices(epsilon), key=lambda point: variance(target, point, shares)):
        chances = "  ".join(f"{float(part):.4f}" for part in point)
        lines.append(f"  {chances}  n x variance {variance(target, point, shares):.4g}")
    return made.because("\n".join(lines))


def feasible_regions(epsilon: float, steps: int = 301) -> "Figure":
    """The (p1, p2) that a budget allows, for RR3-dagger and RR3-ddagger, with the corners and what was published wrongly.

    A point is inside if the exact loss of its channel is at most epsilon. The dashed line is the published bound of
    RR3-dagger, 2 p1 <= e^epsilon (1 - p2), beyond which the true region ends earlier.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("A plot", "plot") from None
    grid = (np.arange(steps) + 0.5) / steps
    p1, p2 = np.meshgrid(grid, grid)
    odds = math.exp(checked_epsilon(epsilon))
    figure = Figure(figsize=(9, 4.4), layout="constrained")
    families: list[tuple[str, Callable[[Floats, Floats], Floats], tuple[float, float]]] = [
        ("RR3-dagger", lambda a, b: channel_loss(a, (1 + b) / 2, 2 * b / (1 + b)), (odds / (odds + 2), odds / (odds + 2))),
        ("RR3-ddagger", lambda a, b: channel_loss(a, a, b), ((odds + 1) / (odds + 3), odds / (odds + 1))),
    ]
    for axes, (name, loss, best) in zip(figure.subplots(1, 2), families, strict=True):
        axes.contourf(p1, p2, loss(p1, p2) <= epsilon + 1e-12, levels=[0.5, 1.5], colors=["#4477aa"], alpha=0.5)
        axes.plot(*best, "o", color="#222222", label="best for high and low")
        if name == "RR3-dagger":
            bound = np.clip(odds * (1 - grid) / 2, 0, 1)
            axes.plot(bound, grid, "--", color="#cc3311", label="as published")
        axes.set(title=name, xlabel="p1", ylabel="p2", xlim=(0, 1), ylim=(0, 1))
        axes.legend(loc="lower left", frameon=False)
    figure.suptitle(f"What epsilon {epsilon:g} allows")
    return figure


def channel_loss(p1: Floats, p2: Floats, q: Floats) -> Floats:
    """The exact epsilon of the channels with these parameters, in floats."""
    fake = (1 - p1) / 2
    columns = [(p1, 1 - p2, 1 - p2), (fake, p2 * q, p2 * (1 - q))]
    ratios = [np.maximum.reduce(column) / np.minimum.reduce(column) for column in columns]
    return np.log(np.maximum(*ratios))
