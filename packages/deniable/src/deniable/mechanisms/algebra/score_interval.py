"""Intervals that stay right where counts are small: all values that could have given what was counted."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from deniable.arrays import Bools, Floats
from deniable.core import Estimate, confidence_each

STEPS = 40  # bisections: to 1e-12 of the range
NEVER = 1e-12  # a share that is rounding: one report in a million million


@dataclass(frozen=True, eq=False)
class SlantedEstimate(Estimate):
    """Values whose variance grows with them, as that of counts does, so that intervals reach further up than down.

    An interval holds the values t whose variance allows the estimate: with e = t - estimate, those with
    e^2 <= z^2 (variance + slant e - curve e^2). For a count of people that is the score interval of Wilson (1927), which
    keeps its confidence even where counts are small.
    """

    slant: Floats | float = 0.0
    curve: Floats | float = 0.0

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        z = _normal(confidence, len(self.values) if together else 1)
        shrink, shift = 1 / (1 + z**2 * self.curve), z**2 * self.slant / 2
        with np.errstate(invalid="ignore"):  # nothing is known of a key that nobody was asked about
            reach = shrink * np.sqrt(z**2 * self.standard_error**2 / shrink + shift**2)
        middle = self.values + shrink * shift
        return middle - reach, middle + reach

    def times(self, factor: float, measure: str) -> "SlantedEstimate":
        """All values times a number, under another name."""
        assert self.variance is not None
        values, variance = factor * self.values, factor**2 * self.variance
        return replace(self, values=values, variance=variance, slant=factor * self.slant, measure=measure)


@dataclass(frozen=True, eq=False)
class ScoreEstimate(Estimate):
    """Values that are means over reports which name one end of a key, the other, or neither, each of which adds something.

    An interval holds the values t that allow the estimate: |t - estimate| <= z sd(t). The variance at t is that of the
    likeliest reports whose mean is t, found anew for each t (Miettinen, Nurminen 1985), and not that of the reports that
    came in: of five reports none may name an end that every third person would name. `adds` and `chances` have a row for
    neither, high, low and both; `fixed` is the part of the variance that is the people's own, and does not count.
    """

    adds: Floats | None = None
    chances: Floats | None = None
    people: Floats | float = 1.0
    fixed: Floats | float = 0.0

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        assert self.adds is not None and self.chances is not None
        z = _normal(confidence, len(self.values) if together else 1)
        observed, unknown = (self.adds * self.chances).sum(axis=0), ~np.isfinite(self.standard_error)
        furthest = z * np.ptp(self.adds, axis=0) / 2 / np.sqrt(self.people)  # no variance is larger than that of two ends
        ends = []
        for sign in (-1.0, 1.0):
            inside, outside = observed, observed + sign * furthest
            for _ in range(STEPS):
                middle = (inside + outside) / 2
                allowed = self._allowed(middle, observed, z)
                inside, outside = np.where(allowed, middle, inside), np.where(allowed, outside, middle)
            ends.append(np.where(unknown, sign * np.inf, self.values + inside - observed))
        return ends[0], ends[1]

    def _allowed(self, mean: Floats, observed: Floats, z: float) -> Bools:
        assert self.adds is not None and self.chances is not None
        law, possible = likeliest(self.chances[:3], self.adds[:3], mean - self.adds[3] * self.chances[3])
        spread = (law * (self.adds[:3] - mean) ** 2).sum(axis=0) + self.chances[3] * (self.adds[3] - mean) ** 2
        allowed: Bools = possible & ((mean - observed) ** 2 <= z**2 * np.maximum(spread / self.people - self.fixed, 0))
        return allowed

    def times(self, factor: float, measure: str) -> "ScoreEstimate":
        """All values times a number, under another name."""
        assert self.variance is not None and self.adds is not None
        values, variance = factor * self.values, factor**2 * self.variance
        fixed = factor**2 * self.fixed
        return replace(self, values=values, variance=variance, adds=factor * self.adds, fixed=fixed, measure=measure)


def likeliest(chances: Floats, adds: Floats, mean: Floats) -> tuple[Floats, Bools]:
    """The law of three outcomes with a given sum of law times adds under which what came in is likeliest; if there is one.

    Both sums leave one direction free, law = start + free * s. Along it the logarithm of the likelihood has one maximum:
    where sum(chances * free / law) = 0, which is a quadratic equation in s, or where an outcome has no chance left.

    >>> law, possible = likeliest(np.array([[0.5], [0.5], [0.0]]), np.array([[0.0], [1.0], [3.0]]), np.array([0.5]))
    >>> law.ravel().round(6), possible
    (array([0.5, 0.5, 0. ]), array([ True]))
    """
    chances = np.where(chances < NEVER, 0.0, chances)
    whole = chances.sum(axis=0)
    free = np.stack([adds[1] - adds[2], adds[2] - adds[0], adds[0] - adds[1]])
    free = free / np.maximum(np.abs(free).max(axis=0), 1e-300)
    centred = adds - adds.mean(axis=0)
    size = np.maximum((centred**2).sum(axis=0), 1e-300)
    start = whole / 3 + centred * (mean - whole * adds.mean(axis=0)) / size
    with np.errstate(divide="ignore", invalid="ignore"):
        empty = -start / free
    least = np.where(free > 0, empty, -np.inf).max(axis=0)
    most = np.where(free < 0, empty, np.inf).min(axis=0)
    possible: Bools = least <= most
    least, most = np.where(possible, least, 0.0), np.where(possible, most, 0.0)

    pull, others = chances * free, ((1, 2), (0, 2), (0, 1))
    twice = 2 * sum(each * free[i] * free[j] for each, (i, j) in zip(pull, others, strict=True))
    once = sum(each * (start[i] * free[j] + start[j] * free[i]) for each, (i, j) in zip(pull, others, strict=True))
    none = sum(each * start[i] * start[j] for each, (i, j) in zip(pull, others, strict=True))
    reach = once + np.copysign(np.sqrt(np.maximum(once**2 - 2 * twice * none, 0)), once)
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = -reach / twice, -2 * none / reach
    tried = np.stack([least, most, *(np.clip(np.nan_to_num(root), least, most) for root in roots)])
    laws = np.maximum(start[:, None] + free[:, None] * tried, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = np.where(chances[:, None] > 0, chances[:, None] * np.log(laws), 0.0).sum(axis=0)
    best = np.argmax(fit, axis=0)
    return np.take_along_axis(laws, best[None, None], axis=1)[:, 0], possible


def _normal(confidence: float, intervals: int) -> float:
    """How many standard errors an interval reaches, if so many are to hold together."""
    return NormalDist().inv_cdf((1 + confidence_each(confidence, intervals)) / 2)


def stacked(rows: Iterable[Any], size: int) -> Floats:
    """Rows of the same length, from arrays and numbers."""
    return np.stack([np.broadcast_to(np.asarray(each, np.float64), size) for each in rows])
