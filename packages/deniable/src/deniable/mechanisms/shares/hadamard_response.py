"""Hadamard response: report one column of a Hadamard matrix, more often one in which the true row has +1."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import Coins, Columns, Counted, Domain, Layout, Number, PureProtocol, aimed, lookup
from deniable.mechanisms.algebra.transforms import MANY, walsh_hadamard


@dataclass(frozen=True)
class HadamardResponse(Counted, PureProtocol):
    """Report a column of Sylvester's matrix of order K, the smallest power of two above d; value x stands for row x + 1.

    Entry (r, y) is +1 if r and y have an even number of common bits. The column has +1 in the true row with probability
    p = odds / (odds + 1), uniformly among those K / 2, else it is one of the others. Rows are orthogonal, so q = 1/2. This
    is Hadamard response (Acharya, Sun, Zhang 2019) with sets of K / 2: log2 K bits for any domain.
    """

    domain: Domain
    epsilon: float
    wire = "hadamard-1"
    candidate = "hadamard"
    derived = ("odds",)
    q = Fraction(1, 2)
    blank_support = Fraction(1, 2)

    @property
    def order(self) -> int:
        """How many columns there are: K."""
        return 1 << self.domain.size.bit_length()

    @cached_property
    def p(self) -> Fraction:
        return self.odds / (self.odds + 1)

    @property
    def layout(self) -> Layout:
        return Layout((Number("column", self.order),))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        column, even = coins.below(self.order, len(truth)), coins.toss(self.p, len(truth))
        # Flipping a bit of the column that the row has pairs up the columns with +1 and with -1: both stay uniform.
        return {"column": aimed(column, truth + 1, ~even)}

    def blank(self, size: int, coins: Coins) -> Mapping[str, Ints]:
        return {"column": coins.below(self.order, size)}

    def votes_of(self, histogram: Ints) -> Ints:
        return (histogram.sum() + walsh_hadamard(histogram)[1 : self.domain.size + 1]) // 2

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        common = columns["column"].astype(np.int64)[:, None] & (cells + 1)[None, :]
        return np.bitwise_count(common) % 2 == 0

    @cached_property
    def _idle_columns(self) -> Bools:
        rows = np.zeros(self.order, np.int64)
        rows[1 : self.domain.size + 1] = 1
        return walsh_hadamard(rows) == -self.domain.size

    @property
    def idle(self) -> Fraction:
        return Fraction(0 if self.order > MANY else int(self._idle_columns.sum()), self.order)

    def is_idle(self, columns: Columns) -> Bools:
        return lookup(self._idle_columns, columns["column"])

    @property
    def likeliest(self) -> Fraction:
        return self.p / (self.order // 2)
