"""What is estimated about keys: how many people have each, with what weight, and the mean of their values."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.core.domain import Label
from deniable.core.estimate import Estimate, confidence_each
from deniable.errors import InvalidParameter

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

CLEAR = 2.0  # standard errors that a frequency must have above zero before a mean is given


class Spread(NamedTuple):
    """Variances of the frequency and of the signed weight of each key, and the covariance of the two."""

    frequency: Floats
    signed: Floats
    both: Floats


class Slants(NamedTuple):
    """How the variances of frequency and weight change with the values: they grow by a slant, and bend down by a curve.

    The slant is the third over the second cumulant; the curve is 1 / n for a mean of n reports of people drawn at random.
    """

    frequency: Floats
    weight: Floats
    curve: Floats | float


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
        z = NormalDist().inv_cdf((1 + confidence_each(confidence, len(self.values) if together else 1)) / 2)
        shrink, shift = 1 / (1 + z**2 * self.curve), z**2 * self.slant / 2
        with np.errstate(invalid="ignore"):  # nothing is known of a key that nobody was asked about
            reach = shrink * np.sqrt(z**2 * self.standard_error**2 / shrink + shift**2)
        middle = self.values + shrink * shift
        return middle - reach, middle + reach


def slant(values: tuple[Any, Any, Any], chances: tuple[Any, Any, Any], n: Any) -> Floats:
    """Third over second cumulant of a mean of n reports, each of one of three values with these chances, else zero."""
    first, second, third = (
        sum(chance * value**power for value, chance in zip(values, chances, strict=True)) for power in (1, 2, 3)
    )
    spread = second - first**2
    known = spread > 1e-300
    skewed = (third - 3 * first * second + 2 * first**3) / np.where(known, spread, 1.0)
    # where nothing was counted, as if the first report were of the value furthest from zero
    largest = values[0] if np.max(np.abs(values[0])) >= np.max(np.abs(values[1])) else values[1]
    return np.where(known, skewed, largest) / n


@dataclass(frozen=True, eq=False)
class RatioEstimate(Estimate):
    """Means as ratios of two estimates: the variance and the bias are those of the delta method, intervals are Fieller's.

    Fieller's interval (1954) holds all ratios that the two estimates do not contradict; where the lower one may be zero at
    that confidence it has no ends.
    """

    centre: float = 0.0
    half: float = 1.0
    frequency: Floats | None = None
    signed: Floats | None = None
    spread: Spread | None = None
    bias: Floats | None = None

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        assert self.frequency is not None and self.signed is not None and self.spread is not None
        level = confidence_each(confidence, len(self.values) if together else 1)
        square = NormalDist().inv_cdf((1 + level) / 2) ** 2
        a = self.frequency**2 - square * self.spread.frequency
        b = self.frequency * self.signed - square * self.spread.both
        c = self.signed**2 - square * self.spread.signed
        bounded = a > 0
        safe = np.where(bounded, a, 1.0)
        root = np.sqrt(np.maximum(b**2 - safe * c, 0))
        low, high = np.where(bounded, (b - root) / safe, -np.inf), np.where(bounded, (b + root) / safe, np.inf)
        return self.centre + self.half * low, self.centre + self.half * high


@dataclass(frozen=True, eq=False)
class KeyValueEstimate:
    """For each key the share of people who have it, its weight and its mean value, each with variance and interval.

    `signed` is the sum of all values over the number of people when values run from -1 to 1; None where the mechanism does
    not tell it, as `shares` where it does not tell frequencies. The variance is about these people; `for_population` is
    about those they were drawn from.
    """

    labels: Sequence[Label]
    n: int
    low: float
    high: float
    shares: Floats | None
    signed: Floats | None
    spread: Spread
    drawn: Spread  # the same for people drawn at random
    slants: Slants

    @property
    def frequency(self) -> SlantedEstimate:
        """The share of people who have each key."""
        spread, slants = np.maximum(self.spread.frequency, 0), self.slants
        return SlantedEstimate(self.labels, self._shares(), spread, self.n, slant=slants.frequency, curve=slants.curve)

    @property
    def weight(self) -> SlantedEstimate:
        """The sum of the values of each key over the number of all people: frequency times mean."""
        centre, half, spread = self._centre, self._half, self.spread
        values, variance = half * self._signed(), half**2 * spread.signed
        if centre != 0:
            values = values + centre * self._shares()
            variance = variance + centre**2 * spread.frequency + 2 * centre * half * spread.both
        slants, kept, measure = self.slants, np.maximum(variance, 0), "weight per person"
        return SlantedEstimate(self.labels, values, kept, self.n, measure=measure, slant=slants.weight, curve=slants.curve)

    @property
    def clear(self) -> Bools:
        """Which keys have a frequency that is no noise: two standard errors or more above zero."""
        return self._shares() > CLEAR * self.frequency.standard_error

    @property
    def ratio(self) -> Floats:
        """Weight over frequency of every key, even where both are noise: for comparison with other software."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._centre + self._half * self._signed() / self._shares()

    @property
    def mean(self) -> RatioEstimate:
        """The mean value of the keys whose frequency is no noise; the others are left out, and none at all is refused.

        m = weight / frequency, Var m ~ (Var d - 2 m Cov + m^2 Var f) / f^2 and bias ~ (m Var f - Cov) / f^2 for values
        from -1 to 1. The bias is told and not taken off.
        """
        chosen = np.flatnonzero(self.clear)
        if not len(chosen):
            raise InvalidParameter(
                f"No key has a frequency {CLEAR:g} standard errors above zero, so every mean would be noise. "
                "Ask more people, or raise the budget."
            )
        f, d, spread = self._shares()[chosen], self._signed()[chosen], Spread(*(each[chosen] for each in self.spread))
        m = d / f
        variance = (spread.signed - 2 * m * spread.both + m**2 * spread.frequency) / f**2
        bias = (m * spread.frequency - spread.both) / f**2
        labels = [self.labels[place] for place in chosen.tolist()]
        values, half = self._centre + self._half * m, self._half
        return RatioEstimate(
            labels,
            values,
            half**2 * np.maximum(variance, 0),
            self.n,
            measure="mean value",
            centre=self._centre,
            half=half,
            frequency=f,
            signed=d,
            spread=spread,
            bias=half * bias,
        )

    def for_population(self) -> "KeyValueEstimate":
        """The same values as an estimate for the people whom these were drawn from: adds the sampling variance."""
        return KeyValueEstimate(
            self.labels, self.n, self.low, self.high, self.shares, self.signed, self.drawn, self.drawn, self.slants
        )

    @property
    def _centre(self) -> float:
        return (self.low + self.high) / 2

    @property
    def _half(self) -> float:
        return (self.high - self.low) / 2

    def _shares(self) -> Floats:
        if self.shares is None:
            raise InvalidParameter("This mechanism tells weights only: its reports say nothing about who has a key.")
        return self.shares

    def _signed(self) -> Floats:
        if self.signed is None:
            raise InvalidParameter("This mechanism tells frequencies only: its reports say nothing about values.")
        return self.signed


def squares(shares: Floats, signed: Floats, spread: Floats) -> Floats:
    """At least how large the mean over all people of the squared values is: (sum)^2 / owners, where owners are no noise.

    It is subtracted in a variance, so too small a number makes intervals too wide and never too narrow.
    """
    known = shares > CLEAR * np.sqrt(spread)
    return np.where(known, np.minimum(signed**2 / np.where(known, shares, 1.0), np.maximum(shares, 0)), 0.0)
