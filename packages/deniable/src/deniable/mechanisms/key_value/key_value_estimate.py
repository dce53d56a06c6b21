"""What is estimated about keys: how many people have each, with what weight, and the mean of their values."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.core import Estimate, Label, confidence_each
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.score_interval import ScoreEstimate, SlantedEstimate, stacked

FAR, STEPS = 1e3, 60  # how far from a ratio its interval may end, and bisections to find where
CLEAR = 2.0  # standard errors that a frequency must have above zero before a mean is given


class Spread(NamedTuple):
    """Variances of the frequency and of the signed weight of each key, and the covariance of the two."""

    frequency: Floats
    signed: Floats
    both: Floats


class Named(NamedTuple):
    """What a report on a key adds to its frequency and its signed weight, if it names the high end, the low one or both.

    With the `chances` of the three, and how many `people` reported on the key, that gives the slant of any combination of
    the two: by how much its variance grows with its value. The `curve` says how the variance bends down again: 1 / n for a
    mean of n reports of people drawn at random.
    """

    frequency: tuple[Any, Any, Any]
    signed: tuple[Any, Any, Any]
    chances: tuple[Any, Any, Any]
    people: Any
    curve: Floats | float

    def slant(self, frequency: Any, signed: Any) -> Floats:
        """Third over second cumulant of so much of the frequency and so much of the signed weight."""
        values = [frequency * f + signed * d for f, d in zip(self.frequency, self.signed, strict=True)]
        first, second, third = (
            sum(chance * value**power for value, chance in zip(values, self.chances, strict=True)) for power in (1, 2, 3)
        )
        spread = second - first**2
        known = spread > 1e-300
        skewed = (third - 3 * first * second + 2 * first**3) / np.where(known, spread, 1.0)
        # where nothing was counted, as if the first report were of the value furthest from zero
        furthest = np.where(np.abs(values[0]) >= np.abs(values[1]), values[0], values[1])
        return np.where(known, skewed, furthest) / self.people

    def counted(self, frequency: Any, signed: Any, size: int) -> tuple[Floats, Floats]:
        """What a report adds to so much of both, and how often it came: for neither end, the high, the low one and both."""
        adds = [frequency * f + signed * d for f, d in zip(self.frequency, self.signed, strict=True)]
        rest = np.maximum(1 - sum(self.chances), 0)
        return stacked((0.0, *adds), size), stacked((rest, *self.chances), size)

    def with_one_more(self) -> "Named":
        """The chances as if one more report had named the high end, and one the low one."""
        high, low, both = self.chances
        return self._replace(chances=(high + 1 / self.people, low + 1 / self.people, both))

    def at(self, chosen: Ints, size: int) -> "Named":
        """The same for some of the keys."""

        def some(each: Any) -> Any:
            return np.broadcast_to(np.asarray(each, np.float64), size)[chosen]

        def threes(each: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            return some(each[0]), some(each[1]), some(each[2])

        parts = threes(self.frequency), threes(self.signed), threes(self.chances)
        return Named(*parts, some(self.people), some(self.curve))


@dataclass(frozen=True, eq=False)
class RatioEstimate(Estimate):
    """Means as ratios of two estimates: the variance and the bias are those of the delta method, intervals are Fieller's.

    Fieller's interval (1954) holds all ratios r for which weight - r frequency may be zero; where the frequency itself may
    be, it has no ends. As for frequencies and weights, the variance is taken where that difference is zero.
    """

    centre: float = 0.0
    half: float = 1.0
    frequency: Floats | None = None
    signed: Floats | None = None
    spread: Spread | None = None
    named: Named | None = None
    bias: Floats | None = None

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        assert self.frequency is not None and self.signed is not None
        level = confidence_each(confidence, len(self.values) if together else 1)
        square = self._selected(1 - level)
        ratio = self.signed / self.frequency
        ends = []
        for far in (-FAR, FAR):
            inside, outside = ratio, np.full_like(ratio, far)
            endless = self._allowed(outside, square)
            for _ in range(STEPS):
                middle = (inside + outside) / 2
                allowed = self._allowed(middle, square)
                inside, outside = np.where(allowed, middle, inside), np.where(allowed, outside, middle)
            ends.append(self.centre + self.half * np.where(endless, np.sign(far) * np.inf, inside))
        return ends[0], ends[1]

    def _selected(self, missed: float) -> Floats:
        """Squared standard errors of an interval that misses so often among keys that passed `CLEAR`.

        Of the keys that pass, a share of at most missed / P(passed) is missed. P(passed) is estimated from how far each
        frequency lies above the line, less one standard error; clear keys lose nothing.
        """
        assert self.frequency is not None and self.spread is not None
        above = self.frequency / np.sqrt(np.maximum(self.spread.frequency, 1e-300)) - CLEAR - 1
        normal = NormalDist()
        risks = (missed * normal.cdf(float(each)) for each in above)
        return np.array([normal.inv_cdf(1 - risk / 2) ** 2 for risk in risks])

    def _allowed(self, ratio: Floats, square: Floats) -> Bools:
        """Whether what was estimated lets each ratio be true, at so many squared standard errors."""
        assert self.frequency is not None and self.signed is not None and self.spread is not None and self.named is not None
        rest = self.signed - ratio * self.frequency
        variance = self.spread.signed - 2 * ratio * self.spread.both + ratio**2 * self.spread.frequency
        # One more report of either end: where an end was not seen, its variance is not zero for that.
        named = self.named.with_one_more()
        variance += sum((d - ratio * f) ** 2 for f, d in zip(named.frequency, named.signed, strict=True)) / named.people**2
        moved = variance - named.slant(-ratio, 1.0) * rest - named.curve * rest**2
        allowed: Bools = rest**2 <= square * moved
        return allowed


@dataclass(frozen=True, eq=False)
class KeyValueEstimate:
    """For each key the share of people who have it, its weight and its mean value, each with variance and interval.

    `signed` is the sum of all values over the number of people when values run from -1 to 1; None where the mechanism
    does not estimate it, as are `shares` where it does not estimate frequencies. The variance is about these people;
    `for_population` is about those they were drawn from.
    """

    labels: Sequence[Label]
    n: int
    low: float
    high: float
    shares: Floats | None
    signed: Floats | None
    spread: Spread
    drawn: Spread  # the same for people drawn at random
    named: Named

    @property
    def frequency(self) -> SlantedEstimate:
        """The share of people who have each key."""
        spread, slant = np.maximum(self.spread.frequency, 0), self.named.slant(1.0, 0.0)
        return SlantedEstimate(self.labels, self._shares(), spread, self.n, slant=slant, curve=self.named.curve)

    @property
    def weight(self) -> ScoreEstimate:
        """The sum of the values of each key over the number of all people: frequency times mean."""
        values = self._half * self._signed()
        if self._centre != 0:
            values = values + self._centre * self._shares()
        variance, drawn = self._weight_variance(self.spread), self._weight_variance(self.drawn)
        with np.errstate(invalid="ignore"):  # both are infinite for a key that nobody was asked about
            fixed = np.where(np.isfinite(drawn), np.maximum(drawn - variance, 0), 0.0)
        adds, chances = self.named.counted(self._centre, self._half, len(self.labels))
        people, measure = self.named.people, "weight per person"
        return ScoreEstimate(
            self.labels, values, variance, self.n, measure=measure, adds=adds, chances=chances, people=people, fixed=fixed
        )

    def _weight_variance(self, spread: Spread) -> Floats:
        centre, half = self._centre, self._half
        variance = half**2 * spread.signed
        if centre != 0:
            variance = variance + centre**2 * spread.frequency + 2 * centre * half * spread.both
        return np.maximum(variance, 0)

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
        from -1 to 1. The bias is reported and not subtracted.
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
            named=self.named.at(chosen, len(self.labels)),
            bias=half * bias,
        )

    def for_population(self) -> "KeyValueEstimate":
        """The same values as an estimate for the people whom these were drawn from: adds the sampling variance."""
        return KeyValueEstimate(
            self.labels, self.n, self.low, self.high, self.shares, self.signed, self.drawn, self.drawn, self.named
        )

    @property
    def _centre(self) -> float:
        return (self.low + self.high) / 2

    @property
    def _half(self) -> float:
        return (self.high - self.low) / 2

    def _shares(self) -> Floats:
        if self.shares is None:
            raise InvalidParameter("This mechanism estimates weights only: its reports do not depend on who has a key.")
        return self.shares

    def _signed(self) -> Floats:
        if self.signed is None:
            raise InvalidParameter("This mechanism estimates frequencies only: its reports do not depend on values.")
        return self.signed


def squares(shares: Floats, signed: Floats, spread: Floats) -> Floats:
    """At least how large the mean over all people of the squared values is: (sum)^2 / owners, where owners are no noise.

    It is subtracted in a variance, so too small a number makes intervals too wide and never too narrow.
    """
    known = shares > CLEAR * np.sqrt(spread)
    return np.where(known, np.minimum(signed**2 / np.where(known, shares, 1.0), np.maximum(shares, 0)), 0.0)
