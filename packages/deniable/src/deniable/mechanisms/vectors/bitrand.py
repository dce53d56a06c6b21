"""Vectors of numbers bit by bit: every bit is randomized on its own, as BitRand does, and what that truly costs."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import (
    SMALLEST_EPSILON,
    Coins,
    Columns,
    Drawn,
    Estimate,
    Flags,
    Layout,
    Mechanism,
    PackedBits,
    PrivacyLoss,
    Reports,
    Tally,
    cells,
    check_people,
    check_probability,
    checked_epsilon,
    odds_below,
    simplest_between,
)
from deniable.core.steps import joined
from deniable.domains.codes import SignMagnitude
from deniable.domains.features import Features, checked_rows
from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms.algebra.bit_budgets import (
    best_offset_bits,
    least_variance,
    offset_weights,
    ome_ones,
    published_alpha,
    sensitivities,
    water_filled,
)

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class BitRand(Mechanism[Sequence[float], Ints]):
    """Bit i of every number is reported as one with probability ones[i] if it is one, and zeros[i] if it is not.

    With twice as many probabilities as bits, the second half is for every second number (`ome` with an odd number of bits).

    The bits of a number come highest first: of `SignMagnitude` codes the sign, then the magnitude; of `Features` with
    2^b - 1 steps the place on the grid (offset binary). All bits are independent, so that losses add up over all bits of
    all numbers: that is what the published forms leave out. The certified forms are `offset`, which is better, and
    `water_filled`.
    """

    domain: SignMagnitude | Features
    epsilon: float
    ones: tuple[Fraction, ...]
    zeros: tuple[Fraction, ...]
    wire = "bitrand-1"
    question = "vectors"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, SignMagnitude | Features) or 1 << self.bits != self.domain.codes:
            raise InvalidParameter("BitRand is for SignMagnitude, or for Features with 2^b - 1 steps: 1, 3, 7, 15, ...")
        for chances in (self.ones, self.zeros):
            if len(chances) != self.bits * self._blocks:
                raise InvalidParameter(f"Every one of the {self.bits} bits of a number needs its two probabilities.")
            for chance in chances:
                check_probability(chance)

    @property
    def _blocks(self) -> int:
        """How many sets of probabilities there are: one for all numbers, or two, which take turns."""
        return 2 if self.domain.dimensions > 1 and len(self.ones) == 2 * self.bits else 1

    @property
    def bits(self) -> int:
        """How many bits a number has."""
        return (self.domain.codes - 1).bit_length()

    @classmethod
    def as_published(cls, features: int, bits: int, epsilon: float, whole: int = 0) -> "BitRand":
        """f-RR with the largest alpha of its Theorem 2 (BitRand, 2022), which does not keep epsilon: see `loss`.

        Bit i is flipped with probability t / (1 + t), t = alpha e^(epsilon i / l); all bits together cost
        r times the sum of |ln alpha + epsilon i / l|.
        """
        domain, alpha = SignMagnitude(features, bits, whole), published_alpha(features, bits, checked_epsilon(epsilon))
        odds = [_near(alpha * math.exp(epsilon * i / bits)) for i in range(bits)]
        return cls(domain, epsilon, tuple(1 / (1 + t) for t in odds), tuple(t / (1 + t) for t in odds))

    @classmethod
    def latent(cls, features: int, bits: int, epsilon: float, alpha: float = 7.0, whole: int = 0) -> "BitRand":
        """LATENT (Arachchige et al. 2019): ones[i] = 1 / (1 + a), zeros[i] = 1 / (1 + a e^(epsilon / r l))."""
        one, zero = 1 / (1 + _near(alpha)), _latent_zero(features, bits, epsilon, alpha)
        return cls(SignMagnitude(features, bits, whole), epsilon, (one,) * bits, (zero,) * bits)

    @classmethod
    def ome(cls, features: int, bits: int, epsilon: float, alpha: float = 100.0, whole: int = 0) -> "BitRand":
        """OME (Lyu et al. 2020): as LATENT, but a / (1 + a) at even and 1 / (1 + a^3) at odd places of the whole vector.

        No rule of proof reaches it for several numbers of an odd number of bits; small ones can be enumerated.
        """
        zero = _latent_zero(features, bits, epsilon, alpha)
        ones = ome_ones(features, bits, _near(alpha))
        return cls(SignMagnitude(features, bits, whole), epsilon, ones, (zero,) * len(ones))

    @classmethod
    def water_filled(cls, features: int, bits: int, epsilon: float, whole: int = 0) -> "BitRand":
        """Sign and magnitude with epsilon / r for each number, split so that the published error bound is smallest.

        Certified, and for comparison: small bits get nothing, and are left out of the estimate.
        """
        budget = _share(epsilon, features)
        return cls._kept(
            SignMagnitude(features, bits, whole), epsilon, water_filled(sensitivities(bits, whole), budget).epsilons
        )

    @classmethod
    def offset(cls, features: int, low: float, high: float, epsilon: float, bits: int = 0, clip: bool = False) -> "BitRand":
        """Offset binary with epsilon / r for each number, split so that the variance is smallest; certified and unbiased.

        Without `bits` as many as are best in the worst case. One bit is Duchi's mechanism, for all coordinates. Numbers
        outside the range are refused, or moved to its ends with `clip`.
        """
        budget = _share(epsilon, features)
        count = bits or best_offset_bits(budget)
        domain = Features(features, low, high, steps=2**count - 1, clip=clip)
        return cls._kept(domain, epsilon, least_variance(offset_weights(count).tolist(), budget).epsilons)

    @classmethod
    def _kept(cls, domain: SignMagnitude | Features, epsilon: float, epsilons: Iterable[float]) -> "BitRand":
        """Every bit kept or flipped with a budget of its own."""
        odds = [odds_below(each) if each >= SMALLEST_EPSILON else Fraction(1) for each in map(float, epsilons)]
        return cls(domain, epsilon, tuple(each / (1 + each) for each in odds), tuple(1 / (1 + each) for each in odds))

    @property
    def layout(self) -> Layout:
        """One field for each bit of the numbers, which holds that bit of all of them."""
        return Layout(tuple(Flags(f"bit{i}", self.domain.dimensions) for i in range(self.bits)))

    @property
    def cells(self) -> int:
        planes = 2 * self.bits - 1 if self.domain.signed else self.bits
        return planes * self.domain.dimensions

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        n, d = len(truth), self.domain.dimensions
        columns = {}
        if self._blocks > 1:
            return self._taking_turns(truth, coins)
        for i, (one, zero) in enumerate(zip(self.ones, self.zeros, strict=True)):
            bit, noise = cells(truth, self.bits - 1 - i), coins.toss_packed(zero, n, d)
            if one + zero == 1:
                columns[f"bit{i}"] = (bit ^ noise).bytes
            else:
                columns[f"bit{i}"] = ((bit & coins.toss_packed(one, n, d)) | (~bit & noise)).bytes
        return columns

    def _taking_turns(self, truth: Ints, coins: Coins) -> Drawn:
        """The reports where every second number has probabilities of its own."""
        n, d, columns = len(truth), self.domain.dimensions, {}
        one, none = coins.toss_packed(Fraction(1), n, 1), coins.toss_packed(Fraction(0), n, 1)
        even = joined([none if place % 2 else one for place in range(d)])
        for i in range(self.bits):
            bit = cells(truth, self.bits - 1 - i)
            kept, noise = (
                (coins.toss_packed(chances[i], n, d) & even) | (coins.toss_packed(chances[self.bits + i], n, d) & ~even)
                for chances in (self.ones, self.zeros)
            )
            columns[f"bit{i}"] = ((bit & kept) | (~bit & noise)).bytes
        return columns

    def _each(self, numbers: Iterable[Fraction]) -> Floats:
        """What is known of each probability, as a row of all numbers for each bit."""
        blocks = np.array([float(number) for number in numbers]).reshape(self._blocks, self.bits)
        return blocks[np.arange(self.domain.dimensions) % self._blocks].T

    def votes(self, columns: Columns) -> Ints:
        """How often each bit is one; for sign and magnitude also how often together with the sign."""
        self.layout.check(columns)
        planes = [columns[f"bit{i}"].astype(np.uint8, copy=False) for i in range(self.bits)]
        if self.domain.signed:
            planes += [planes[0] & plane for plane in planes[1:]]
        return np.concatenate([PackedBits(plane, self.domain.dimensions).column_sums() for plane in planes])

    @cached_property
    def _known(self) -> Floats:
        """ones - zeros for each bit; where they are equal the bit cannot be estimated and is left out."""
        return self._each(one - zero for one, zero in zip(self.ones, self.zeros, strict=True))

    @cached_property
    def _base(self) -> Floats:
        return self._each(self.zeros)

    def _spread(self, shares: Floats) -> Floats:
        """The variance of each unbiased bit, for the share of ones that is true; linear in the share."""
        one, zero = (self._each(c * (1 - c) for c in chances) for chances in (self.ones, self.zeros))
        squared = np.where(self._known == 0, np.inf, self._known) ** 2
        shape = (self.bits, *(1,) * (shares.ndim - 2), self.domain.dimensions)
        return (shares * one.reshape(shape) + (1 - shares) * zero.reshape(shape)) / squared.reshape(shape)

    @property
    def _weights(self) -> Floats:
        """What each bit is worth, in the units of the question; of a code's sign, nothing by itself."""
        weights: Floats = 2.0 ** np.arange(self.bits - 1, -1, -1, dtype=np.float64) * self.domain.unit
        if self.domain.signed:
            weights[0] = 0
        return weights

    def decode(self, reports: Reports) -> Floats:
        """A row of numbers for each report, unbiased but for bits that carry no budget, which count as zero."""
        known, d = np.where(self._known == 0, np.inf, self._known), self.domain.dimensions
        planes = [
            np.unpackbits(reports.columns[f"bit{i}"].astype(np.uint8), axis=1, bitorder="little", count=d)
            for i in range(self.bits)
        ]
        bits = [(plane - base) / step for plane, base, step in zip(planes, self._base, known, strict=True)]
        if isinstance(self.domain, SignMagnitude):
            size = sum(weight * bit for weight, bit in zip(self._weights[1:], bits[1:], strict=True))
            return np.asarray((2 * bits[0] - 1) * size)
        return np.asarray(self.domain.low + sum(w * bit for w, bit in zip(self._weights, bits, strict=True)))

    def estimate(self, tally: Tally) -> Estimate:
        """The mean of each number, without bias but for bits that carry no budget, which count as zero.

        The variance is that of the bits and, at most, of the rounding to the grid; for codes an upper bound too.
        """
        self.check_tally(tally)
        ones = tally.counts.reshape(-1, self.domain.dimensions) / tally.n
        known = np.where(self._known == 0, np.inf, self._known)
        bits = (ones[: self.bits] - self._base) / known
        weights = self._weights[:, None]
        noise = self._spread(bits)
        if isinstance(self.domain, SignMagnitude):
            both = ones[self.bits :] - self._base[1:] * ones[0] - self._base[0] * ones[1 : self.bits]
            both = (both + self._base[0] * self._base[1:]) / (known[0] * known[1:])
            mean = (weights[1:] * (2 * both - bits[1:])).sum(axis=0)
            size = (weights[1:] ** 2 * noise[1:]).sum(axis=0)
            # Var(S M) = Var(S) Var(M) + Var(S) M^2 + Var(M) for a sign S and a magnitude M, which is at most the largest.
            variance = 4 * noise[0] * (size + self.domain.largest**2) + size
        else:
            mean = self.domain.low + (weights * bits).sum(axis=0)
            variance = (weights**2 * noise).sum(axis=0) + weights[-1] ** 2 / 4  # rounding adds a quarter of a step squared
        return Estimate(self.domain.labels, mean, variance / tally.n, tally.n, measure="mean")

    def check_tally(self, tally: Tally) -> None:
        super().check_tally(tally)
        if self.domain.signed:
            counts = tally.counts.reshape(-1, self.domain.dimensions)
            if (counts[self.bits :] > np.minimum(counts[0], counts[1 : self.bits])).any():
                raise InvalidReport("In this tally, a bit and the sign are both one more often than either of them is one.")

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """The means to expect from n people with vectors like these, one or several rows, and the variance of each."""
        check_people(n)
        rows = checked_rows(np.atleast_2d(np.asarray(truth, np.float64)), self.domain.dimensions)
        bits = (self.domain.index(rows)[None] >> np.arange(self.bits)[::-1, None, None] & 1).astype(np.float64)
        weights, noise = self._weights[:, None, None], self._spread(bits)
        if isinstance(self.domain, SignMagnitude):
            magnitude = (weights * np.where(self._known[:, None, :] == 0, 0, bits)).sum(axis=0)
            size = (weights[1:] ** 2 * noise[1:]).sum(axis=0)
            variance, mean = 4 * noise[0] * (size + magnitude**2) + size, (2 * bits[0] - 1) * magnitude
        else:
            step = self.domain.unit
            past = (rows - self.domain.low) / step % 1
            variance, mean = (weights**2 * noise).sum(axis=0) + step**2 * past * (1 - past), rows
        return Estimate(self.domain.labels, mean.mean(axis=0), variance.mean(axis=0) / n, n, measure="mean")

    def loss(self) -> PrivacyLoss:
        blocks = [Fraction(1)] * self._blocks
        for place, (one, zero) in enumerate(zip(self.ones, self.zeros, strict=True)):
            bit = bit_odds(one, zero)
            if bit is None:
                return PrivacyLoss(None)
            blocks[place // self.bits] *= bit
        d, count = self.domain.dimensions, self._blocks
        powers = (odds ** -(-(d - place) // count) for place, odds in enumerate(blocks))
        return PrivacyLoss(math.prod(powers, start=Fraction(1)))


def bit_odds(one: Fraction, zero: Fraction) -> Fraction | None:
    """The loss of one bit that is reported as one with probability `one` or `zero`, after what it is."""
    if one == zero:
        return Fraction(1)
    if {one, zero} & {Fraction(0), Fraction(1)}:
        return None
    low, high = sorted((one, zero))
    return max(high / low, (1 - low) / (1 - high))


def _near(number: float) -> Fraction:
    """The simplest fraction that rounds to this number as a float."""
    exact = Fraction(number)
    return simplest_between(exact * (1 - Fraction(1, 10**17)), exact * (1 + Fraction(1, 10**17)))


def _latent_zero(features: int, bits: int, epsilon: float, alpha: float) -> Fraction:
    if not 0 < alpha < math.inf:
        raise InvalidParameter("Alpha must be a positive number.")
    return 1 / (1 + _near(alpha) * odds_below(_share(epsilon, features * bits)))


def _share(epsilon: float, parts: int) -> float:
    """The budget of each part, slightly less than its share, so that rounding cannot spend more than there is."""
    share = checked_epsilon(epsilon) / parts * (1 - 1e-12)
    if share < SMALLEST_EPSILON:
        raise InvalidParameter(
            f"An epsilon of {epsilon:g} cannot be split among {parts:,} parts: each needs at least {SMALLEST_EPSILON:f}. "
            "Report fewer numbers or bits, for example a sample of the coordinates (FeatureVector)."
        )
    return share
