"""Any finite law in a few bits: the number of one of some public reports, the likeliest under the answer more often."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import LARGEST_SUM, Domain, Drawn
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.random_codes import best_near
from deniable.mechanisms.shares.channel import Channel
from deniable.mechanisms.shares.finite_channel import FiniteChannel
from deniable.wrappers.seeded import SeededLaw, carried, ranked


@dataclass(frozen=True)
class SeededChannel(SeededLaw, Channel):
    """A public seed makes `codes` reports of a finite channel, as if on an even mixture of all values; one is named.

    They are put in the order of W(y | x) / Q(y), how much likelier a report y is under the true x than in the mixture Q, the
    largest first, and the first `near` places are `odds` times as likely as the others. So the loss is proved, whatever the
    channel, and a report that is named has the law, in exact fractions,

        P(y | x) = Q(y) (g(S + s) - g(S)) / s        g(S) = favoured(S, codes, near, odds)

    where S and s are the shares of Q with a larger ratio, and with the same one. Shares are estimated by inverting P. With
    two ratios this is `Seeded`. Any law with finitely many reports is a `FiniteChannel`. Without numbers there are 16 times
    as many codes as odds + 1 at least, up to 4,096, and `near` is the best for reports with a ratio above 1.
    """

    base: FiniteChannel
    codes: int = 0
    near: int = 0
    domain: Domain = field(init=False, repr=False)
    epsilon: float = field(init=False, repr=False)
    wire = "seeded-channel-1"

    def __post_init__(self) -> None:
        if not isinstance(self.base, FiniteChannel):
            raise InvalidParameter("The base must be a FiniteChannel: a row of weights for each value.")
        self._fix(domain=self.base.domain, epsilon=self.base.epsilon)
        super().__post_init__()
        if self.base.table.total * self.domain.size > LARGEST_SUM:
            raise InvalidParameter("The weights of the base are too large to be added up. Round its probabilities first.")
        self.check_codes()

    @cached_property
    def mixture(self) -> Sequence[int]:
        """The sums of the columns: the weights of Q."""
        sums: list[int] = self.base.table.weights.sum(axis=0).tolist()
        return sums

    def _share(self, columns: Sequence[int]) -> Fraction:
        return Fraction(sum(self.mixture[y] for y in columns), sum(self.mixture))

    @cached_property
    def ratios(self) -> Sequence[Sequence[Fraction]]:
        """How much likelier each report is under each value than under all of them, up to one factor."""
        return [
            [Fraction(weight, whole or 1) for weight, whole in zip(row, self.mixture, strict=True)]
            for row in self.base.weights
        ]

    def best_near(self) -> int:
        size = self.domain.size
        likelier = (
            self._share([y for y, weight in enumerate(row) if weight * size > self.mixture[y]]) for row in self.base.weights
        )
        share = sum(likelier, Fraction(0)) / size
        return best_near(share, self.codes, self.odds) if 0 < share < 1 else 1

    @cached_property
    def channel(self) -> tuple[tuple[Fraction, ...], ...]:
        """The exact probability that each report of the base is named, under each value."""
        shares, rows = [self._share([y]) for y in range(self.cells)], []
        for ratios in self.ratios:
            factors = carried(zip(ratios, shares, strict=True), self.codes, self.near, self.odds)
            rows.append(tuple(share * factors[ratio] for ratio, share in zip(ratios, shares, strict=True)))
        return tuple(rows)

    @cached_property
    def matrix(self) -> Floats:
        return np.array([[float(chance) for chance in row] for row in self.channel])

    @property
    def cells(self) -> int:
        return self.base.cells

    @cached_property
    def _places(self) -> Ints:
        """The place of every report among the levels of each value."""
        found = []
        for ratios in self.ratios:
            places = {ratio: place for place, ratio in enumerate(sorted(set(ratios), reverse=True))}
            found.append([places[ratio] for ratio in ratios])
        return np.array(found, np.int64)

    def order(self, truth: Any, seed: Ints, *draws: Ints) -> Ints:
        rows = self._places[np.asarray(truth)]
        return ranked(seed, self.codes, lambda row, each: rows[row][self.candidates_of(each)["value"]])

    def candidates_of(self, seed: int) -> Drawn:
        return {"value": self.coins_of(seed).pick(self.mixture, self.codes)}
