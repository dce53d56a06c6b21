"""What somebody sends whose answer is open and who hides it: a report that could be anybody's.

Any mechanism that protects the sensitive values must let every report y occur under an open value with at least
max_x P(y | x) / odds. A mask that has exactly that is the least one: no other discloses open values more often, and it is
within the odds of every P(y | x), since these are within the odds of each other.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.core import Coins, Columns, Drawn, PureProtocol
from deniable.mechanisms.algebra.tuning import hidden_share
from deniable.mechanisms.shares.finite_channel import FiniteChannel


class Mask(ABC):
    """How open answers are hidden among the reports of a base mechanism, whose report y stands for the estimate a(y)."""

    @property
    @abstractmethod
    def hidden(self) -> Fraction:
        """The probability that an open answer is hidden."""

    @abstractmethod
    def draw(self, size: int, coins: Coins) -> tuple[Drawn, Bools]:
        """Reports of the base to hide behind, and where to do so."""

    @property
    @abstractmethod
    def mean(self) -> Floats:
        """The expectation of a_x over the reports of somebody with an open answer; those that disclose it count 0."""

    @property
    @abstractmethod
    def squares(self) -> Floats:
        """The expectation of a_x^2."""

    @property
    @abstractmethod
    def joint(self) -> bool:
        """Whether `products` are known."""

    @abstractmethod
    def products(self) -> Floats:
        """The expectations of a_x a_y, as a matrix."""


@dataclass(frozen=True)
class PureMask(Mask):
    """Blank reports of a pure protocol; those that support nothing are rarer still, unless `flat`.

    For a pure protocol a_x = (1 - q) / (p - q) in reports that support x, else - q / (p - q).
    """

    base: PureProtocol
    odds: Fraction
    flat: bool = False

    @property
    def _idle(self) -> Fraction:
        return Fraction(0) if self.flat else self.base.idle

    @cached_property
    def _blank_odds(self) -> Fraction:
        """The odds of the base itself, which may be stricter than those of the whole."""
        base = self.base
        return base.p * (1 - base.blank_support) / (base.blank_support * (1 - base.p)) if base.p < 1 else self.odds

    @cached_property
    def _sent(self) -> Fraction:
        return hidden_share(self.base.p, self.odds, self.base.blank_support)

    @cached_property
    def hidden(self) -> Fraction:
        return self._sent * (1 - self._idle * (1 - 1 / self._blank_odds))

    def draw(self, size: int, coins: Coins) -> tuple[Drawn, Bools]:
        blank, hidden = self.base.blank(size, coins), coins.toss(self._sent, size)
        if self._idle:
            hidden &= coins.toss(1 / self._blank_odds, size) | ~self.base.is_idle(cast(Columns, blank))
        return blank, hidden

    @cached_property
    def support(self) -> Fraction:
        """The probability that the report of somebody with an open answer supports a given sensitive one."""
        return self.base.p / self.odds

    def _moments(self, both: Fraction) -> Fraction:
        """E[a_x a_y], if reports support both with this probability, and each with probability u."""
        p, q, u = self.base.p, self.base.q, self.support
        return (both - 2 * q * u + q * q * self.hidden) / (p - q) ** 2

    @cached_property
    def mean(self) -> Floats:
        p, q = self.base.p, self.base.q
        return np.full(self.base.domain.size, float((self.support - q * self.hidden) / (p - q)))

    @cached_property
    def squares(self) -> Floats:
        return np.full(self.base.domain.size, float(self._moments(self.support)))

    @property
    def joint(self) -> bool:
        return self.base.pairs is not None

    def products(self) -> Floats:
        assert self.base.pairs is not None
        matrix = np.full((self.base.domain.size,) * 2, float(self._moments(self.base.pairs[0] / self.odds)))
        np.fill_diagonal(matrix, self.squares)
        return matrix


@dataclass(frozen=True)
class ChannelMask(Mask):
    """The least mask of any finite channel: each report in proportion to its largest probability under any value."""

    base: FiniteChannel
    odds: Fraction
    joint = True

    @cached_property
    def _largest(self) -> Ints:
        return self.base.table.weights.max(axis=0)

    @cached_property
    def hidden(self) -> Fraction:
        return Fraction(sum(self._largest.tolist()), self.base.table.total) / self.odds

    def draw(self, size: int, coins: Coins) -> tuple[Drawn, Bools]:
        return {"value": coins.pick(self._largest.tolist(), size)}, coins.toss(self.hidden, size)

    @cached_property
    def _law(self) -> Floats:
        """The probability of each report under an open answer."""
        return self._largest / (self.base.table.total * float(self.odds))

    @cached_property
    def mean(self) -> Floats:
        return self.base.inverse @ self._law

    @cached_property
    def squares(self) -> Floats:
        return self.base.inverse**2 @ self._law

    def products(self) -> Floats:
        return (self.base.inverse * self._law) @ self.base.inverse.T
