"""Hiding how many coordinates differ: two-sided geometric noise, drawn exactly."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Ints
from deniable.core import Coins, odds_below, simplest_between
from deniable.errors import InvalidParameter
from deniable.mechanisms.sparse.chunks import chunk_numbers

SMALLEST = 0.004  # below it the exact fractions become too long
RARE = 45.0  # the digits that are drawn one by one reach to where the noise has probability e^-45


@dataclass(frozen=True)
class NoisyCount:
    """A count plus the difference of two geometric numbers: Pr[noise = i] is proportional to odds^-|i|.

    One more or less changes any outcome's probability by at most `odds`, a fraction a little below e^epsilon with few
    digits.
    """

    epsilon: float

    def __post_init__(self) -> None:
        if not self.epsilon >= SMALLEST:
            raise InvalidParameter(
                f"The noisy sparsity needs a budget of at least {SMALLEST:g} of its own. Raise its share or the budget, "
                "or use SparseVector(most=...) if a bound is public."
            )

    @cached_property
    def odds(self) -> Fraction:
        """The exact odds between neighbouring counts."""
        return simplest_between(odds_below(0.97 * self.epsilon), odds_below(self.epsilon))

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise: the square root of 2 odds / (odds - 1)^2."""
        return math.sqrt(2 * self.odds) / float(self.odds - 1)

    def likely(self, noisy: int) -> float:
        """The mean of the true count given the noisy one, where all counts from none on are equally likely beforehand.

        >>> round(NoisyCount(0.5).likely(100)), round(NoisyCount(0.5).likely(-100), 1)
        (100, 1.6)
        """
        counts = np.arange(max(noisy, 0) + math.ceil(RARE / math.log(self.odds)))
        weights = np.exp(-math.log(self.odds) * (np.abs(counts - noisy) - max(-noisy, 0)))
        return float(counts @ weights / weights.sum())

    @cached_property
    def digits(self) -> list[Fraction]:
        """The probability of each binary digit of a geometric number, which are independent; last, that of more digits.

        Pr[digit j is one] = r^(2^j) / (1 + r^(2^j)), r = 1 / odds; and Pr[number >= 2^J] = r^(2^J).
        """
        count = max(1, math.ceil(math.log2(RARE / math.log(self.odds))))
        large, small = self.odds.numerator, self.odds.denominator
        chances = []
        for _ in range(count):
            chances.append(Fraction(small, large + small))
            large, small = large * large, small * small
        return [*chances, Fraction(small, large)]

    def noise(self, size: int, coins: Coins) -> Ints:
        """Independent noise for so many counts."""
        both = self._geometric(2 * size, coins)
        return both[:size] - both[size:]

    def chunks(self, noisy: Ints, response: float, load: float, size: Ints | int) -> Ints:
        """In how many chunks to encode vectors, from their noisy counts.

        Noise that is low by x has probability e^(-epsilon x) and makes a chunk's draws e^(response x / chunks) times as
        many. With at least response / epsilon chunks the mean time stays finite; a margin of 2 / epsilon keeps most of them
        from crowding.
        """
        margin, least = self.room(response)
        return chunk_numbers(noisy, margin, load, least, size)

    def room(self, response: float) -> tuple[int, int]:
        """How many coordinates are added to a noisy count, and the fewest chunks."""
        return round(2 / self.epsilon), math.ceil(response / self.epsilon)

    def _geometric(self, size: int, coins: Coins) -> Ints:
        *chances, more = self.digits
        number = np.zeros(size, np.int64)
        for place, chance in enumerate(chances):
            number += coins.toss(chance, size).astype(np.int64) << place
        again = np.arange(size)
        while (again := again[coins.toss(more, len(again))]).size:  # once in e^45
            number[again] += 1 << len(chances)
        return number
