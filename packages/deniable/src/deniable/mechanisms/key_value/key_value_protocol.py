"""What all mechanisms for keys with values share, and those that pad each set and tell one pair of it."""

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Bools, Floats, Ints
from deniable.core.coins import WHOLE, Coins
from deniable.core.mechanism import Mechanism
from deniable.core.tally import Tally
from deniable.domains.key_value import KeyValue, Pairs
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate, Named, Spread, squares

FINE = 10**6  # the grid of fractions on which numerical optima are put


class KeyValueProtocol(Mechanism):
    """A mechanism for a `KeyValue` domain: its estimates are frequencies, weights and means of keys."""

    domain: KeyValue

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return len(self.domain.labels)

    @property
    def cells(self) -> int:
        return 2 * self.keys  # high and low reports of each key

    @abstractmethod
    def estimate(self, tally: Tally) -> KeyValueEstimate:  # type: ignore[override]
        """Unbiased frequencies and weights, with the variance of their privacy noise."""

    @abstractmethod
    def predict(self, truth: ArrayLike, n: int) -> KeyValueEstimate:  # type: ignore[override]
        """The estimate to expect where `truth` has a row (frequency, mean value) for each key.

        Exact if all who have a key give it the same value; else the variance of the weight is smaller than this.
        """

    def explain(self) -> str:
        by_hand = (
            f"{self.wire} for {self.keys:,} keys, at most {self.domain.at_most:,} a person, chosen by hand: {self.loss()}"
        )
        return self.why or by_hand

    def checked_table(self, truth: ArrayLike, n: int) -> tuple[Floats, Floats]:
        """The frequencies, and the signed weights for values from -1 to 1, of what `predict` was given."""
        table = np.asarray(truth, np.float64)
        if table.shape != (self.keys, 2) or not ((table[:, 0] >= 0) & (table[:, 0] <= 1)).all():
            raise InvalidParameter(f"The truth must be {self.keys} rows of a frequency from 0 to 1 and a mean value.")
        low, high = self.domain.low, self.domain.high
        if not ((table[:, 1] >= low) & (table[:, 1] <= high)).all():
            raise InvalidParameter(f"Mean values must lie in the range from {low:g} to {high:g}.")
        if n < 1:
            raise InvalidParameter("A prediction needs at least one person.")
        return table[:, 0], table[:, 0] * (2 * table[:, 1] - low - high) / (high - low)


class Chances(NamedTuple):
    """How a key is reported: for the pair that is told, and for every other key.

    `kept` and `flipped`: only the true end, only the other one; `both`: both ends at once; `noise`, of a key that is not
    told: only the high end, and as often only the low one; `noise_both`: both.
    """

    kept: Fraction
    flipped: Fraction
    both: Fraction
    noise: Fraction
    noise_both: Fraction


class PaddedProtocol(KeyValueProtocol):
    """Padding and sampling: of a set padded to l = `at_most` pairs, one is told, so each pair with probability 1 / l.

    Padding tells a pair that is on no list. With C_high and C_low the reports that name an end of a key,

        frequency = l ((C_high + C_low) / n - 2 h) / (H + H' - 2 h)        weight = l (C_high - C_low) / (n (H - H'))

    where H, H' and h are the probabilities that the true end and the other end of the told key, and an end of another key,
    are named. Gu, Li, Cheng, Xiong, Cao 2020 (PCKV).
    """

    @property
    @abstractmethod
    def chances(self) -> Chances:
        """The law of the report on one key."""

    def told(self, truth: Pairs, coins: Coins) -> tuple[Bools, Ints, Bools]:
        """For each person whether a pair of theirs is told and not padding, its key, and whether it is rounded up."""
        draw = coins.below(self.domain.at_most, len(truth))
        real = draw < truth.sizes
        if len(truth.keys):
            at = np.where(real, truth.starts[:-1] + draw, 0)
            key, heads = np.where(real, truth.keys[at], 0), np.where(real, self.domain.heads(truth.values[at]), WHOLE // 2)
        else:
            key, heads = np.zeros(len(truth), np.int64), np.full(len(truth), WHOLE // 2)
        return real, key, coins.toss_each(heads)

    def estimate(self, tally: Tally) -> KeyValueEstimate:  # type: ignore[override]
        self.check_tally(tally)
        high, low = tally.counts.reshape(2, -1) / tally.n
        law, padding = Moments(self.chances), self.domain.at_most
        shares = padding * (high + low - law.other) * law.per_slope
        signed = padding * (high - low) * law.per_turn
        return self._with_error(shares, signed, tally.n, None)

    def predict(self, truth: ArrayLike, n: int) -> KeyValueEstimate:  # type: ignore[override]
        shares, signed = self.checked_table(truth, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            second = np.where(shares > 0, signed**2 / shares, 0.0)
        return self._with_error(shares, signed, n, second)

    def _with_error(self, shares: Floats, signed: Floats, n: int, second: Floats | None) -> KeyValueEstimate:
        law, domain = Moments(self.chances), self.domain
        told = (shares if law.slope else None, signed if law.turn else None)
        spreads = padded_spread(law, domain.at_most, n, shares, signed, second)
        return KeyValueEstimate(
            domain.labels, n, domain.low, domain.high, *told, *spreads, self._named(law, shares, signed, n)
        )

    def _named(self, law: "Moments", shares: Floats, signed: Floats, n: int) -> Named:
        padding, told = self.domain.at_most, shares / self.domain.at_most
        both = np.maximum(told * float(self.chances.both) + (1 - told) * float(self.chances.noise_both), 0)
        either, turned = law.other + told * law.slope, signed / padding * law.turn
        ends = (np.maximum((either + turned) / 2 - both, 0), np.maximum((either - turned) / 2 - both, 0), both)
        f, d = padding * law.per_slope, padding * law.per_turn
        return Named((f, f, 2 * f), (d, -d, 0.0), ends, n, 0.0)


class Moments:
    """The moments of a report on a key, as floats: of the told one, and of any other.

    x counts the named ends, 0 to 2, and s is high minus low, so x s = s.
    """

    def __init__(self, law: "Chances | tuple[float, ...]") -> None:
        kept, flipped, both, noise, noise_both = law
        self.other = float(2 * (noise + noise_both))
        # differences before they are rounded, so that what is lost is exactly zero
        self.slope, self.turn = float(kept + flipped + 2 * both - 2 * (noise + noise_both)), float(kept - flipped)
        self.x2, self.s2 = float(kept + flipped + 4 * both), float(kept + flipped)
        self.other_x2, self.other_s2 = float(2 * noise + 4 * noise_both), float(2 * noise)
        self.per_slope, self.per_turn = (1 / each if each else 0.0 for each in (self.slope, self.turn))


def padded_spread(law: Moments, padding: int, n: int, shares: Any, signed: Any, second: Any) -> tuple[Spread, Spread]:
    """The variances of frequencies and signed weights: for these people, and for people drawn at random.

    Shares and weights are arrays, or floats for one key alone. `second` is the mean of the squared values over all people;
    where it is None, the least that it can be.
    """
    own, part = law.other + law.slope / padding, 1 / padding
    x2, s2 = part * law.x2 + (1 - part) * law.other_x2, part * law.s2 + (1 - part) * law.other_s2
    in_f, in_d, in_fd = (padding * law.per_slope) ** 2 / n, (padding * law.per_turn) ** 2 / n, padding * law.per_slope / n
    mean, ends = law.other + shares * law.slope / padding, in_d * (shares * s2 + (1 - shares) * law.other_s2)
    drawn = Spread(
        in_f * (shares * x2 + (1 - shares) * law.other_x2 - mean**2), ends - signed**2 / n, in_fd * signed * (1 - mean)
    )
    frequency = in_f * (shares * (x2 - own**2) + (1 - shares) * (law.other_x2 - law.other**2))
    if second is None:
        second = squares(shares, signed, np.maximum(frequency, 0))
    return Spread(frequency, ends - second / n, in_fd * signed * (1 - own)), drawn


def total_error(mechanism: KeyValueProtocol, frequency: float, mean: float, target: str = "balanced") -> float:
    """n times the variance of frequency, of weight, or of both added up, of one key with values from -1 to 1."""
    low, high = mechanism.domain.low, mechanism.domain.high
    truth = np.tile([frequency, (low + high) / 2 + mean * (high - low) / 2], (mechanism.keys, 1))
    people = 1 << 20
    spread = mechanism.predict(truth, people).spread
    return people * weighed(spread.frequency[0], spread.signed[0], target)


def weighed(frequency: float, weight: float, target: str) -> float:
    """The variance that a target asks to be small."""
    variances = {"frequency": frequency, "weight": weight, "balanced": frequency + weight}
    if target not in variances:
        raise InvalidParameter(f"The target must be one of {', '.join(variances)}.")
    return float(variances[target])


def expected(law: tuple[float, ...], padding: int, frequency: float, mean: float, target: str) -> float:
    """n times the variance of a target for one key, under a law given in floats: what allocations make small."""
    spread, _ = padded_spread(Moments(law), padding, 1, frequency, frequency * mean, frequency * mean**2)
    return weighed(float(spread.frequency), float(spread.signed), target)


def lowest_between(low: float, high: float, error: Callable[[float], float], rounds: int = 60) -> float:
    """Where an error that falls and then rises is smallest, by golden section."""
    inner = (5**0.5 - 1) / 2
    a, b = low, high
    for _ in range(rounds):
        left, right = b - inner * (b - a), a + inner * (b - a)
        if error(left) <= error(right):
            b = right
        else:
            a = left
    return (a + b) / 2
