"""Pure protocols: a report supports a set of values, which alone decides the estimate."""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from deniable.arrays import Bools, Floats, Ints, Whole
from deniable.core.bits import PackedBits
from deniable.core.coins import Coins
from deniable.core.domain import Answer, Answers, Domain
from deniable.core.law import node_of
from deniable.core.layout import Columns, Drawn
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Additive
from deniable.core.reading import supporting
from deniable.core.steps import bit_of
from deniable.core.supporting import Supporting, exact_shares
from deniable.core.tally import Tally
from deniable.errors import InvalidParameter


class PureProtocol(Supporting, Additive[Answer]):
    """A report supports a set of values: the true one with probability p, each other one with probability q.

    Then C_x, the number of reports that support x, has mean n (q + f_x (p - q)), and f_x = (C_x / n - q) / (p - q) is
    unbiased (Wang et al. 2017). Reports that support x are `loss().odds` times as likely under x as under the others.
    """

    independent_bits: ClassVar[bool] = False  # whether a report is a row of bits, each randomized on its own
    keeps_public: ClassVar[bool] = False  # whether a person keeps the public draws for ever, see `kept_under`
    random_fakes: ClassVar[bool] = False  # whether reports on random values may stand for blank ones, see `fake_odds`

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """The probability that a report supports the true value."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """The probability that a report supports a given other value."""

    @property
    def pairs(self) -> tuple[Fraction, Fraction] | None:
        """The probabilities that a report supports both x and y: if one of them is true, and if neither is.

        None where they are not the same for all pairs; then the covariance has no closed form.
        """
        return None

    @property
    def work(self) -> int:
        """How many simple operations the server spends on counting one report."""
        return 1

    def loss(self) -> PrivacyLoss:
        """The budget itself, unless the family says otherwise: a value is as likely as any other but for the odds."""
        return PrivacyLoss(self.odds)

    @abstractmethod
    def supports(self, columns: Columns, cells: Ints) -> Bools:
        """Whether each report supports each of these values, of shape (reports, cells)."""

    def blank(self, size: int, coins: Coins) -> Drawn:
        """Reports that favour no value: where one supports x, it is p / blank_support times as likely under x as here."""
        raise InvalidParameter(
            "This mechanism has no blank reports, so non-sensitive answers cannot be hidden among its reports."
        )

    @property
    def blank_support(self) -> Fraction:
        """The probability that a blank report supports a given value."""
        raise InvalidParameter(
            "This mechanism has no blank reports, so non-sensitive answers cannot be hidden among its reports."
        )

    def fake_odds(self, random: bool) -> tuple[Fraction, Fraction]:
        """A report beside a blank one: how much likelier under its value at most, and how much less likely at least.

        With `random`, beside a report on a random value.
        """
        high = self.p / self.blank_support
        return high, high / (self.loss().odds or Fraction(1))

    @property
    def most_kept(self) -> int:
        """How many reports a person who never reports twice on the same value or bucket can come to keep."""
        return self.domain.size

    @classmethod
    def tuned(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        """The mechanism for the sensitive values of a question, if this share of all people have other ones."""
        return cls(domain, epsilon)  # type: ignore[call-arg]

    @cached_property
    def _spread(self) -> tuple[float, float, float]:
        """n times the variance of a count: of those who lack the value, and how much it grows with those who have it."""
        p, q = self.p, self.q
        return float(q * (1 - q)), float((p - q) * (1 - p - q)), float((p - q) ** 2)

    def noise(self, shares: Floats, people: float = 1.0) -> Floats:
        none, more, slope = self._spread
        return (none * people + shares * more) / slope

    @property
    def joint(self) -> bool:
        return self.pairs is not None

    def joint_noise(self, shares: Floats, people: float = 1.0) -> Floats:
        p, q = self.p, self.q
        assert self.pairs is not None
        # Cov(C_x, C_y) = n [ (f_x + f_y) (both_one - p q) + (people - f_x - f_y) (both_none - q^2) ]
        one, none = float(self.pairs[0] - p * q), float(self.pairs[1] - q * q)
        sums = shares[:, None] + shares[None, :]
        matrix = (sums * one + (people - sums) * none) / float((p - q) ** 2)
        np.fill_diagonal(matrix, self.noise(shares, people))
        return matrix

    def debias(self, counts: Ints, reports: int) -> Floats:
        p, q = float(self.p), float(self.q)
        return np.asarray((counts - q * reports) / (p - q), np.float64)

    def worst_noise(self) -> float:
        return float(max(self.q * (1 - self.q), self.p * (1 - self.p)) / (self.p - self.q) ** 2)

    def reading(self) -> dict[str, object]:
        found = supporting(self.layout, self.domain.size, self.supports)
        return {} if found is None else {"supports": [found]}

    def kept_under(self, index: Whole, public: Sequence[Whole]) -> Whole:
        """What a permanent answer is kept for: the answer itself, or with public draws what it is turned into first.

        It is given whole numbers, or symbols where the law is traced.
        """
        return index

    def kept_node(self) -> int:
        """The node of the law that a permanent answer is kept for."""
        return node_of(self, self.kept_under)

    def kept_for(self, values: Answers, public: Sequence[Ints]) -> Ints:
        """The same of many people, with their values and their public draws."""
        return np.asarray(self.kept_under(self.domain.index(values), public), np.int64)

    def guess(self) -> float:
        # A report under a value that it supports is `odds` times as likely as under another, and all reports are alike but
        # for that; so it is (p + odds (1 - p)) / d, less what the reports lose that support no value at all.
        odds = self.loss().odds
        if odds is None:
            return 1.0
        nothing = self.unsupported
        return float((self.p + odds * (1 - self.p)) * (1 - nothing + nothing / odds) / self.domain.size)

    def exact_interval(self, tally: Tally, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends that hold with at least this confidence, however few the reports.

        They are about the people whom the reporters were drawn from: then the number of reports that support a value is
        binomial, and the limits are those of Clopper and Pearson (1934). For the reporters themselves they are wide enough
        too (Hoeffding 1956). `together`: all at once, by Bonferroni's inequality.
        """
        self.check_tally(tally)
        low, high = exact_shares(tally.counts, tally.n, confidence, together)
        p, q = float(self.p), float(self.q)
        return (low - q) / (p - q), (high - q) / (p - q)


class CellProtocol(PureProtocol[Answer]):
    """A pure protocol whose report is one row of bits, "cells": bit x says whether the report supports value x."""

    def votes(self, columns: Columns) -> Ints:
        return self._bits(columns).column_sums()

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        return bit_of(columns["cells"], self.domain.size, cells)

    def _bits(self, columns: Columns) -> PackedBits:
        return PackedBits(columns["cells"].astype(np.uint8, copy=False), self.domain.size)
