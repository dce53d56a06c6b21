"""The mean of vectors by the signs of a few coordinates, reported together as one word."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Ints
from deniable.core import Candidate, Coins, Drawn, PrivacyLoss, packed
from deniable.domains.features import Features
from deniable.errors import InvalidParameter
from deniable.mechanisms.means.duchi import Duchi
from deniable.mechanisms.shares.direct_response import moved
from deniable.mechanisms.vectors.feature_vector import FeatureVector

LONGEST = 12  # signs of a word


@dataclass(frozen=True)
class WordSign(Duchi):
    """What a report says about one sign, if it is a true word of so many with the odds, and any other word otherwise."""

    signs: int = 1

    @cached_property
    def odds(self) -> Fraction:
        """How much likelier the true sign is: 1 + (odds of the word - 1) / 2^(signs - 1)."""
        return 1 + (super().odds - 1) / 2 ** (self.signs - 1)


@dataclass(frozen=True)
class SignWord(FeatureVector):
    """Round k of the d coordinates to ends, and report these k signs by direct response on the 2^k words.

    Which k is public, as in `FeatureVector`. The true word has probability odds / (odds + 2^k - 1) and any other word 1 /
    (odds + 2^k - 1), so that a sign is right with odds 1 + (odds - 1) / 2^(k-1), and (d / k) (odds + 2^k - 1) / (odds - 1)
    times it is unbiased. With one sign that is Duchi's mechanism on one coordinate, which nothing beats up to odds of 3
    (`deniable.planning.vector_bounds`); beyond, splitting the budget among coordinates wastes what reporting them together
    keeps: at epsilon 4, half of the variance. Without `coordinates`, the best number is taken.
    """

    domain: Features
    epsilon: float
    coordinates: int = 0
    scalar: str = Duchi.wire
    wire = "sign-word-1"

    def __post_init__(self) -> None:
        if not self.coordinates and isinstance(self.domain, Features):
            self._fix(coordinates=self._best())
        super().__post_init__()
        if self.scalar != Duchi.wire or self.coordinates > LONGEST:
            raise InvalidParameter(f"A word holds at most {LONGEST} signs, each reported as by {Duchi.wire}.")

    def _best(self) -> int:
        """How many signs make the smallest variance: (odds - 1 + 2^k)^2 / k is to be small."""
        few = range(1, min(LONGEST, self.domain.dimensions) + 1)
        return min(few, key=lambda k: (self.odds - 1 + 2**k) ** 2 / k)

    @cached_property
    def part(self) -> WordSign:
        """What a report says about one coordinate."""
        return WordSign(self.domain.coordinate, self.epsilon, self.coordinates)

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("signs as a word", cls),)

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        n, d, words = len(truth), self.domain.dimensions, 2**self.coordinates
        start = coins.public(d, n) if self.sampled else np.zeros(n, np.int64)
        word = np.zeros(n, np.int64)
        for place, offset in enumerate(self.offsets):
            word = word + coins.toss_each(truth[:, (start + offset) % d], self.domain.steps) * 2**place
        row = packed([moved(word, self.odds / (self.odds + words - 1), words, coins)], self.coordinates).bytes
        return {"start": start, "values": row} if self.sampled else {"values": row}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)
