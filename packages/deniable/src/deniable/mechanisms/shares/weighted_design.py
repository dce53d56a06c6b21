"""Weighted designs: the smallest error there is, for every number of answers, with reports of about 2 log2 d bits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import (
    Candidate,
    Coins,
    Columns,
    Counted,
    Domain,
    Layout,
    Number,
    PureProtocol,
    checked_epsilon,
    lookup,
    odds_below,
)
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.weighted_designs import Block, balanced_blocks, is_balanced, multipliers
from deniable.mechanisms.shares.subset_selection import best_size, chance

LARGEST = 256  # values up to which sets and weights are searched for


@dataclass(frozen=True)
class WeightedDesign(Counted, PureProtocol):
    """Report a set of k values out of a list: one of a few blocks modulo d, or a multiple u of it, shifted by s.

    The block is drawn with its weight and u uniformly; then s so that the set u B + s contains the true value with
    probability p = k odds / (k odds + d - k), uniformly on either side. Since the weights make every two values be together
    in a set equally often (`algebra.weighted_designs`), p and q are those of subset selection: with the best k, which it
    takes, no mechanism has a smaller error. That d (d - 1) / 2 + 1 sets and weights suffice for every d is due to Pan (2026,
    arXiv 2603.11523); here they are shifts of up to d / 2 blocks, which makes the law one addition.
    """

    domain: Domain
    epsilon: float
    blocks: Sequence[Sequence[int]] = ()
    weights: Sequence[int] = ()
    units: Sequence[int] = ()
    wire = "weighted-design-1"
    derived = ("odds",)

    def __post_init__(self) -> None:
        super().__post_init__()
        d = self.domain.size
        blocks, weights, units = tuple(tuple(block) for block in self.blocks), tuple(self.weights), tuple(self.units)
        if not blocks and not weights and not units:
            blocks, weights, units = searched(d, self.odds)
        if not is_balanced(d, blocks, weights, units):
            raise InvalidParameter(
                "The blocks must be sets of one size, with a positive weight each, whose shifts and multiples contain every "
                "two values equally often. Leave them out to get such blocks."
            )
        self._fix(blocks=blocks, weights=weights, units=units)

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("design, weighted", cls, LARGEST, since=2),)

    @classmethod
    def tuned(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        return cls(domain, epsilon, *searched(domain.size, odds_below(checked_epsilon(epsilon)), Fraction(open_share)))

    @property
    def size(self) -> int:
        """k, how many values a set has."""
        return len(self.blocks[0])

    @cached_property
    def p(self) -> Fraction:
        return chance(self.domain.size, self.size, self.odds)[0]

    @cached_property
    def q(self) -> Fraction:
        return chance(self.domain.size, self.size, self.odds)[1]

    @property
    def layout(self) -> Layout:
        """The number of the multiple, times d, plus the shift."""
        return Layout((Number("set", len(self._multiples) * self.domain.size),))

    @cached_property
    def _multiples(self) -> Ints:
        """Every multiple of every block as a row: which residues are in it."""
        d, sets = self.domain.size, [np.asarray(block) * unit for block in self.blocks for unit in self.units]
        member = np.zeros((len(sets), d), np.int64)
        for row, elements in zip(member, sets, strict=True):
            row[elements % d] = 1
        return member

    @cached_property
    def _offsets(self) -> Ints:
        """For every multiple the residues that lead to its elements, then to the others: part of the wire format."""
        order = np.argsort(1 - self._multiples, axis=1, kind="stable")
        return np.ravel(-order % self.domain.size)

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        d, multiple = self.domain.size, self._multiple(coins, len(truth))
        place = coins.split(self.p, self.size, d - self.size, len(truth))
        shift = (lookup(self._offsets, multiple * d + place) + truth) % d
        return {"set": multiple * d + shift}

    def _multiple(self, coins: Coins, size: int) -> Ints:
        block = coins.pick(self.weights, size)
        return block if len(self.units) == 1 else block * len(self.units) + coins.below(len(self.units), size)

    def blank(self, size: int, coins: Coins) -> Mapping[str, Ints]:
        multiple = self._multiple(coins, size)
        return {"set": multiple * self.domain.size + coins.below(self.domain.size, size)}

    @property
    def blank_support(self) -> Fraction:
        return Fraction(self.size, self.domain.size)

    def votes_of(self, histogram: Ints) -> Ints:
        votes, shifts = np.zeros(self.domain.size, np.int64), histogram.reshape(len(self._multiples), self.domain.size)
        for member, counts in zip(self._multiples, shifts, strict=True):
            for element in np.flatnonzero(member):
                votes += np.roll(counts, element)
        return votes

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        d = self.domain.size
        report = columns["set"].astype(np.int64)[:, None]
        multiple, shift = report // d, report % d
        return lookup(np.ravel(self._multiples), multiple * d + (cells[None, :] - shift) % d) == 1


def searched(
    values: int, odds: Fraction, open_share: Fraction = Fraction(0)
) -> tuple[tuple[Block, ...], tuple[int, ...], tuple[int, ...]]:
    """Blocks of the best size for this many values, their weights, and the units that multiply them."""
    if not 3 <= values <= LARGEST:
        raise InvalidParameter(f"Weighted designs are searched for questions of 3 to {LARGEST} values.")
    return *balanced_blocks(values, best_size(values, odds, open_share)), multipliers(values)
