"""What follows from how many neighbours everybody has: stars, the spread of degrees, and how many wedges are closed.

Everybody reports their whole number of neighbours with two-sided geometric noise, for half of the budget: an edge is in the
numbers of both its ends. Any function of the true numbers then has an unbiased estimate in closed form, and so has its
variance, so that error bars need nothing but the reports.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints, Progress
from deniable.core import Coins, checked_coins, checked_epsilon
from deniable.errors import InvalidParameter
from deniable.graphs.graph import Graph
from deniable.graphs.honest import CONFIDENCE, HonestCount
from deniable.graphs.ownership import Circle
from deniable.graphs.running import Run, in_turn
from deniable.graphs.threshold_count import ThresholdCount
from deniable.graphs.triangle_survey import TriangleEstimate, estimate_triangles
from deniable.mechanisms.sparse.noisy_count import NoisyCount

MOST_ENDS = 6  # of a star
STARS = 0.25  # the share of the budget for stars, where triangles are counted too


@dataclass(frozen=True, eq=False)
class DegreeReports:
    """Noisy numbers of neighbours, one for each person, and their noise.

    The noise is the Green's function of 1 - c D, where D p(d) = p(d + 1) - 2 p(d) + p(d - 1) and c is half of its variance.
    So p(y) - c D p(y) is right on average for p(d), whatever p is.
    """

    noisy: Ints
    noise: NoisyCount

    @cached_property
    def half(self) -> float:
        """c, half of the variance of the noise: odds / (odds - 1)^2."""
        return float(self.noise.odds / (self.noise.odds - 1) ** 2)

    def unbiased(self, function: Callable[[Floats], Floats]) -> Floats:
        """For each person an unbiased estimate of this function of their number."""
        y = self.noisy.astype(np.float64)
        middle = function(y)
        return middle - self.half * (function(y + 1) - 2 * middle + function(y - 1))

    def total(self, function: Callable[[Floats], Floats], most: int, what: str) -> HonestCount:
        """The sum of this function over all people; its variance is estimated without bias too, and is at least one."""
        each = self.unbiased(function)
        squares = self.unbiased(lambda d: function(d) ** 2)
        variance = max(float((each**2 - squares).sum()), 1.0)
        return HonestCount(float(each.sum()), math.sqrt(variance), most, what)

    def stars(self, ends: int) -> HonestCount:
        """The number of stars with so many ends: people with so many of their neighbours."""
        people = len(self.noisy)
        return self.total(lambda d: _choose(d, ends), people * math.comb(people - 1, ends), f"{ends}-stars")

    def at_least(self, degree: int) -> ThresholdCount:
        """How many people have at least so many neighbours."""
        return ThresholdCount.of(self.noisy, degree, self.noise)


def degree_reports(graph: Graph, epsilon: float, coins: Coins | None = None) -> DegreeReports:
    """Simulate what everybody reports; epsilon bounds what is learnt about any one edge, which is in two numbers.

    >>> from deniable.core.coins import SeededCoins
    >>> friends = Graph.of([(i, j) for i in range(100) for j in range(i)])
    >>> found = degree_reports(friends, epsilon=2.0, coins=SeededCoins(1)).stars(2)
    >>> found.low <= 100 * 99 * 98 / 2 <= found.high
    True
    """
    noise, size = NoisyCount(checked_epsilon(epsilon) / 2), graph.vertices
    degrees = np.bincount(graph.owners, minlength=size) + np.bincount(graph.lower, minlength=size)
    return DegreeReports(degrees + noise.noise(size, checked_coins(coins)), noise)


def estimate_stars(graph: Graph, ends: int, epsilon: float, coins: Coins | None = None) -> HonestCount:
    """Simulate a count of stars: of every person with `ends` of their neighbours, 2 to 6."""
    if isinstance(ends, bool) or not isinstance(ends, int) or not 2 <= ends <= MOST_ENDS:
        raise InvalidParameter(f"Stars have 2 to {MOST_ENDS} ends.")
    return degree_reports(graph, epsilon, coins).stars(ends)


def estimate_degrees(
    graph: Graph, epsilon: float, at_least: ArrayLike = (1, 2, 5, 10, 20, 50), coins: Coins | None = None
) -> Mapping[int, ThresholdCount]:
    """Simulate the distribution of degrees: how many people have at least so many neighbours, for each of these numbers."""
    wanted = np.asarray(at_least)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or (wanted < 1).any():
        raise InvalidParameter("Numbers of neighbours must be a list of whole numbers of at least 1.")
    reports = degree_reports(graph, epsilon, coins)
    return {degree: reports.at_least(degree) for degree in wanted.tolist()}


class HonestShare(ABC):
    """A share from honest counts, which says "too noisy to say" where its interval is wider than its value."""

    named: ClassVar[str]  # what it is, before its value
    asked: ClassVar[str]  # what it is too noisy to say

    @property
    @abstractmethod
    def value(self) -> float:
        """The share, between 0 and 1."""

    @abstractmethod
    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """The ends of an interval of this confidence."""

    @property
    def clear(self) -> bool:
        """Whether the 95 % interval is no wider than the value."""
        low, high = self.interval()
        return high - low <= self.value

    def __str__(self) -> str:
        low, high = self.interval()
        between = f"between {low:.3f} and {high:.3f} (95 % interval)"
        return f"{self.named} {self.value:.3f}, {between}" if self.clear else f"too noisy to say {self.asked}: {between}"


@dataclass(frozen=True)
class Clustering(HonestShare):
    """The global clustering coefficient: the share of pairs of neighbours that are joined, 3 triangles for each 2-star."""

    named = "clustering coefficient"
    asked = "how large the clustering coefficient is"

    triangles: TriangleEstimate
    wedges: HonestCount

    @property
    def value(self) -> float:
        """The coefficient, between 0 and 1."""
        return min(3 * self.triangles.value / max(self.wedges.value, 1.0), 1.0)

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """The ends of an interval: those of both counts, each with half of the doubt."""
        each = (1 + confidence) / 2
        (low, high), (few, many) = self.triangles.interval(each), self.wedges.interval(each)
        return min(3 * low / max(many, 1.0), 1.0), min(3 * high / max(few, 1.0), 1.0)


def estimate_clustering(
    graph: Graph,
    epsilon: float,
    alpha: float = 1.5,
    coins: Coins | None = None,
    *,
    run: Run = in_turn,
    progress: Progress | None = None,
) -> Clustering:
    """Simulate the clustering coefficient: triangles with three quarters of the budget of an edge, 2-stars with the rest.

    `run` and `progress` are as in `estimate_triangles`.
    """
    coins = checked_coins(coins)
    wedges = estimate_stars(graph, 2, STARS * checked_epsilon(epsilon), coins)
    triangles = estimate_triangles(graph, (1 - STARS) * epsilon, alpha, coins=coins, run=run, progress=progress)
    return Clustering(triangles, wedges)


@dataclass(frozen=True)
class Homophily(HonestShare):
    """How many edges join people of the same group, and of different ones, where groups are public."""

    named = "share of edges within groups"
    asked = "which share of the edges is within groups"

    same: HonestCount
    different: HonestCount

    @property
    def value(self) -> float:
        """The share of edges within groups."""
        return self.same.value / max(self.same.value + self.different.value, 1.0)

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """The ends of Fieller's interval for the share: all s for which s times all edges may be those within groups."""
        z = NormalDist().inv_cdf(0.5 + confidence / 2)
        x, y, v, w = self.same.raw, self.different.raw, self.same.standard_error**2, self.different.standard_error**2
        # ((1 - s) x - s y)^2 <= z^2 ((1 - s)^2 v + s^2 w), a quadratic inequality in s
        a = (x + y) ** 2 - z**2 * (v + w)
        b = x * (x + y) - z**2 * v
        c = x**2 - z**2 * v
        if a <= 0 or b**2 < a * c:  # the number of edges may be zero
            return 0.0, 1.0
        reach = math.sqrt(b**2 - a * c)
        return max((b - reach) / a, 0.0), min((b + reach) / a, 1.0)


def estimate_homophily(graph: Graph, groups: ArrayLike, epsilon: float, coins: Coins | None = None) -> Homophily:
    """Simulate it: everybody reports how many of the edges they answer for are within their group, and how many are not.

    Each edge is in one of the two numbers of one person, so that both may spend the whole budget.
    """
    group, size = np.asarray(groups), graph.vertices
    if group.shape != (size,):
        raise InvalidParameter("Every person needs a group: one for each vertex.")
    noise, coins = NoisyCount(checked_epsilon(epsilon)), checked_coins(coins)
    owner, other, _ = Circle(size).owned(graph)
    counts = []
    for wanted, what in ((True, "edges within groups"), (False, "edges between groups")):
        mine = np.bincount(owner[(group[owner] == group[other]) == wanted], minlength=size)
        raw = float((mine + noise.noise(size, coins)).sum())
        counts.append(HonestCount(raw, noise.deviation * math.sqrt(size), math.comb(size, 2), what))
    return Homophily(*counts)


def _choose(d: Floats, ends: int) -> Floats:
    """d (d - 1) ... / ends!, also where d is below none, as noisy numbers may be: a polynomial stays one."""
    out = np.ones_like(d)
    for k in range(ends):
        out *= (d - k) / (k + 1)
    return out
