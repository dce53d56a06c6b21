"""Key-value mechanisms that sample one pair of a padded list."""

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Bools, Floats, Ints
from deniable.core import WHOLE, Coins, Padded, Tally, encoded, padded
from deniable.domains.key_value import Pairs
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate, Named, Spread, squares
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol, weighed


class Chances(NamedTuple):
    """The probabilities of what is reported on the sampled key and on any other key.

    `kept` and `flipped`: only the true end, only the other one; `both`: both ends at once; `noise`, of a key that was
    not sampled: only the high end, and as often only the low one; `noise_both`: both.
    """

    kept: Fraction
    flipped: Fraction
    both: Fraction
    noise: Fraction
    noise_both: Fraction


HALF = WHOLE // 2
MOST_PAIRS = 1 << 21  # of all sets that are randomized at a time


class PaddedProtocol(KeyValueProtocol):
    """Padding and sampling: of a set padded to l = `at_most` pairs, one is sampled, so each pair with probability 1 / l.

    A padding pair has a key outside the domain. With C_high and C_low the reports that name an end of a key,

        frequency = l ((C_high + C_low) / n - 2 h) / (H + H' - 2 h)        weight = l (C_high - C_low) / (n (H - H'))

    where H, H' and h are the probabilities that the true end and the other end of the sampled key, and an end of another
    key, are named. Gu, Li, Cheng, Xiong, Cao 2020 (PCKV).
    """

    @property
    @abstractmethod
    def chances(self) -> Chances:
        """The law of the report on one key."""

    @property
    def hides_which(self) -> bool:
        """Whether it counts for the loss that nobody sees which pair of a set is reported."""
        return False

    @cached_property
    def batch(self) -> int:
        return min(super().batch, max(1, MOST_PAIRS // self.domain.at_most))

    def sampled_pair(self, truth: Pairs, coins: Coins) -> tuple[Bools, Ints, Bools]:
        """For each person whether a pair of theirs is sampled and not padding, its key, and whether it is rounded up.

        Where the loss is that of any two pairs, the encoder is given the draw. Where it is less, the law is given the whole
        set, which has no key twice, and the draw is its own.
        """
        draw, most = coins.below(self.domain.at_most, len(truth)), self.domain.at_most
        if self.hides_which:
            key = encoded(truth, self._all_keys, "keys", self.keys + most, width=most, distinct=True)[:, draw]
            up = coins.toss_each(encoded(truth, self._all_heads, "highs", WHOLE + 1, width=most)[:, draw])
        else:
            key = encoded(truth, self._sampled_key, "key", self.keys + 1, draw)
            up = coins.toss_each(encoded(truth, self._sampled_heads, "high", WHOLE + 1, draw))
        real = key < self.keys
        return real, np.minimum(key, self.keys - 1), up

    def _all_heads(self, truth: Pairs) -> Padded | Ints:
        """The chances that the values of all pairs are rounded up, 1/2 for padding."""
        return padded(truth.starts, self.domain.heads(truth.values), np.full(self.domain.at_most, HALF))

    def _sampled_key(self, truth: Pairs, draw: Ints) -> Ints:
        """The key of the pair with this number, past the last one for padding."""
        real, at = truth.numbered(draw)
        return np.where(real, truth.keys[at], self.keys) if len(truth.keys) else np.full(len(truth), self.keys)

    def _sampled_heads(self, truth: Pairs, draw: Ints) -> Ints:
        """The chance that the value of that pair is rounded up, 1/2 for padding."""
        real, at = truth.numbered(draw)
        return np.where(real, self.domain.heads(truth.values[at]), HALF) if len(truth.keys) else np.full(len(truth), HALF)

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
        estimated = (shares if law.slope else None, signed if law.turn else None)
        spreads = padded_spread(law, domain.at_most, n, shares, signed, second)
        return KeyValueEstimate(
            domain.labels, n, domain.low, domain.high, *estimated, *spreads, self._named(law, shares, signed, n)
        )

    def _named(self, law: "Moments", shares: Floats, signed: Floats, n: int) -> Named:
        padding, sampled = self.domain.at_most, shares / self.domain.at_most
        both = np.maximum(sampled * float(self.chances.both) + (1 - sampled) * float(self.chances.noise_both), 0)
        either, turned = law.other + sampled * law.slope, signed / padding * law.turn
        ends = (np.maximum((either + turned) / 2 - both, 0), np.maximum((either - turned) / 2 - both, 0), both)
        f, d = padding * law.per_slope, padding * law.per_turn
        return Named((f, f, 2 * f), (d, -d, 0.0), ends, n, 0.0)


class Moments:
    """The moments of a report on a key, as floats: of the sampled key, and of any other.

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


def expected(law: tuple[float, ...], padding: int, frequency: float, mean: float, target: str) -> float:
    """n times the variance of a target for one key, under a law given in floats: what allocations make small."""
    spread, _ = padded_spread(Moments(law), padding, 1, frequency, frequency * mean, frequency * mean**2)
    return weighed(float(spread.frequency), float(spread.signed), target)
