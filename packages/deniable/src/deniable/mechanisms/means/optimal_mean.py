"""The mean by the law with the smallest largest variance that the budget allows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Candidate, Coins, Drawn, PrivacyLoss, WeightTable, checked_epsilon, odds_below
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.mean_program import least_variance, reports
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.shares.finite_channel import worst_odds

REPORTS = 121  # equally spaced numbers of which the best law uses a few dozen
MOST_KNOTS = 64
LEAST_EPSILON, MOST_EPSILON = 0.01, 8.0  # beyond, the linear program mixes numbers too large and too small for floats
NEVER = 1e-9  # reports less likely than this are left out
DIGITS = 50  # binary digits of the weights


@dataclass(frozen=True)
class OptimalMean(MeanMechanism):
    """Round the number to one of G + 1 equally spaced knots by a coin, then report k with the weights of that knot.

    Report k stands for places[k] times `unit` on [-1, 1], and `weights` has the rows of the knots from -1 to 0; those above
    are their mirror images. The mean report is the number, exactly: a table for which it is not, or whose ratios exceed
    the odds of epsilon, is refused. `OptimalMean.best` solves the linear program for the smallest largest variance, the
    rounding included, and makes its solution exact.
    """

    domain: Interval
    epsilon: float
    unit: Fraction
    places: Sequence[int]
    weights: Sequence[Sequence[int]]
    table: WeightTable = field(init=False, repr=False, compare=False)  # all knots, for sampling
    wire = "optimal-mean-1"
    derived = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        half = [[int(weight) for weight in row] for row in self.weights]
        places = [int(place) for place in self.places]
        table = _all_knots(half)
        symmetric = places == [-place for place in reversed(places)] and half[-1] == half[-1][::-1]
        if not symmetric or len(half) < 2 or len(places) != table.weights.shape[1] or self.unit <= 0:
            raise InvalidParameter(
                "The places and the last row must be symmetric, with a weight for each place in every row."
            )
        knots = 2 * len(half) - 2
        for knot, row in enumerate(half):
            mean = self.unit * sum(weight * place for weight, place in zip(row, places, strict=True))
            if mean != table.total * Fraction(2 * knot - knots, knots):
                raise InvalidParameter("The expected report of this table is not the true value: a mean would be biased.")
        odds = worst_odds(table.weights)
        if odds is None or odds > odds_below(self.epsilon):
            raise InvalidParameter("The ratios of these weights exceed what epsilon allows.")
        self._fix(places=tuple(places), weights=tuple(tuple(row) for row in half), table=table)

    @classmethod
    def best(cls, domain: Interval, epsilon: float) -> "OptimalMean":
        """The law with the smallest largest variance over all numbers of the interval."""
        if not isinstance(domain, Interval) or domain.steps < 2:
            raise InvalidParameter("The best law for a mean needs an Interval of at least 2 steps.")
        if not LEAST_EPSILON <= checked_epsilon(epsilon) <= MOST_EPSILON:
            raise InvalidParameter(
                f"The best law for a mean is computed for epsilon from {LEAST_EPSILON:g} to {MOST_EPSILON:g}."
            )
        return cls(domain, epsilon, *_best(checked_epsilon(epsilon), min(MOST_KNOTS, 1 << domain.steps.bit_length() - 1)))

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        # Not in survey files: the last digits of a linear program may depend on the machine, and all readers must agree.
        return (Candidate("optimal", cls.best, since=None),)

    @property
    def knots(self) -> int:
        """G: the numbers that have a row of weights are G + 1."""
        return 2 * len(self.weights) - 2

    @cached_property
    def centred(self) -> Sequence[Fraction]:
        return [self.unit * place for place in self.places]

    def _knot(self, index: int) -> tuple[int, Fraction]:
        """The knot below a point of the grid, and how far the point is past it."""
        knot, past = divmod(index * self.knots, self.domain.steps)
        return knot, Fraction(past, self.domain.steps)

    def row(self, index: int) -> Sequence[Fraction]:
        knot, past = self._knot(index)
        lower, upper = (self.table.weights[each].tolist() for each in (knot, min(knot + 1, self.knots)))
        return [((1 - past) * low + past * high) / self.table.total for low, high in zip(lower, upper, strict=True)]

    def chances(self, index: int) -> Floats:
        knot, past = self._knot(index)
        share, chances = float(past), self.table.weights / self.table.total
        return np.asarray((1 - share) * chances[knot] + share * chances[min(knot + 1, self.knots)])

    @cached_property
    def second_moments(self) -> Floats:
        at_knots = self.table.weights / self.table.total @ self._centred**2
        return np.interp(self._points, np.linspace(-1, 1, self.knots + 1), at_knots)

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        place = truth * self.knots
        up = coins.toss_each(place % self.domain.steps, self.domain.steps)
        knot = np.minimum(place // self.domain.steps + up, self.knots)  # which it never exceeds, as the bounds show then
        return {"value": coins.pick_each(self.table, knot)}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(worst_odds(self.table.weights))


@lru_cache(maxsize=64)
def _best(epsilon: float, most: int) -> tuple[Fraction, Sequence[int], Sequence[Sequence[int]]]:
    """The unit, the places and the weights of the best law: with as many knots as make the rounding small, up to so many."""
    allowed, knots = odds_below(epsilon), min(most, 8)
    unit = Fraction(float(np.diff(reports(epsilon, REPORTS))[0])).limit_denominator(1000)
    y: Floats = np.arange(-(REPORTS // 2), REPORTS // 2 + 1, dtype=np.float64)
    y *= float(unit)
    for room in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3):  # below the odds, for solutions and weights that are not exact
        odds = float(allowed) * (1 - room)
        variance = least_variance(odds, np.linspace(0, 1, min(most, 8) // 2 + 1), y, rounded=False).variance
        while knots < most and 1 / knots**2 > variance / 400:  # what rounding to a knot adds
            knots *= 2
        found = least_variance(odds, np.linspace(0, 1, knots // 2 + 1), y, rounded=True)
        places, weights = _exact(found.chances, unit, knots)
        worst = worst_odds(_all_knots(weights).weights)
        if worst is not None and worst <= allowed:
            return unit, places, weights
    raise InvalidParameter("The best law for a mean cannot be made exact at this epsilon.")


def _all_knots(half: Sequence[Sequence[int]]) -> WeightTable:
    """The rows of the knots from -1 to 0, and their mirror images."""
    return WeightTable([*half, *(row[::-1] for row in half[-2::-1])])


def _exact(chances: Floats, unit: Fraction, knots: int) -> tuple[Sequence[int], Sequence[Sequence[int]]]:
    """Whole weights near these probabilities on the knots from 0 to 1 whose sums and means are exactly what they must be."""
    middle = (chances.shape[1] - 1) // 2
    least = np.minimum(chances.min(axis=0), chances.min(axis=0)[::-1])
    used = np.flatnonzero(least > NEVER)
    places = (used - middle).tolist()
    # What rounding leaves over goes to two reports that are near each other and likely. Weights are multiples of
    # the distance between these two, so that it can be divided between them.
    gaps = np.diff(used)
    near = max(np.flatnonzero(gaps == gaps.min()), key=lambda pair: least[used[pair : pair + 2]].min())
    gap = int(gaps[near])
    fine = knots * unit.numerator * 2
    total = gap * fine * ((1 << DIGITS) // (gap * fine))
    rows = list[list[int]]()
    for knot, row in enumerate(chances[::-1, ::-1][:, used]):  # from -1 to 0
        last = knot == knots // 2
        shares = (row + row[::-1]) / 2 if last else row
        weights = [gap * math.floor(share * (total // gap)) for share in (shares / shares.sum()).tolist()]
        rest = total - sum(weights)
        if last:
            weights[near] += rest // 2
            weights[-1 - near] += rest // 2
            weights[len(weights) // 2] += rest % 2  # odd only where the number of reports is, whose middle one is 0
        else:
            mean = total * Fraction(2 * knot - knots, knots) / unit
            lost = mean - sum(weight * place for weight, place in zip(weights, places, strict=True))
            more = (lost - rest * places[near]) / gap
            assert more.denominator == 1
            weights[near] += rest - int(more)
            weights[near + 1] += int(more)
        rows.append(weights)
    return places, rows
