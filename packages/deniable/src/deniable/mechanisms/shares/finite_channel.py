"""An explicit finite channel: a row of whole weights for each value, from which the report is drawn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import LARGEST_SUM, Coins, Domain, PrivacyLoss, WeightTable
from deniable.errors import InvalidParameter
from deniable.mechanisms.shares.channel import Channel

LARGEST_TABLE = 1 << 24  # weights in one channel


@dataclass(frozen=True)
class FiniteChannel(Channel):
    """Report j on value i with probability weights[i][j] / total: any law with finitely many reports, exactly.

    Every row has the same sum. The loss is the largest ratio within a column, whatever `epsilon` asked for; so a law that
    does not keep its budget is shown for what it is. Shares are estimated by least squares, which is unbiased where the
    rows are linearly independent; where they are not, no unbiased estimate exists, and `estimate` says so.

    >>> from deniable.domains import Categories
    >>> FiniteChannel(Categories(["yes", "no"]), 1.0, [[5, 2], [2, 5]]).loss().odds
    Fraction(5, 2)
    """

    domain: Domain
    epsilon: float
    weights: Sequence[Sequence[int]]
    table: WeightTable = field(init=False, repr=False, compare=False)  # the weights as an array, for sampling
    wire = "finite-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = self.weights if isinstance(self.weights, np.ndarray) else [list(row) for row in self.weights]
        table = WeightTable(rows)
        if len(table.weights) != self.domain.size or table.weights.shape[1] < 2 or table.weights.size > LARGEST_TABLE:
            raise InvalidParameter(
                f"A channel for this question has {self.domain.size} rows of weights, one for each value, and at least two "
                f"columns, one for each report; at most {LARGEST_TABLE:,} weights in all."
            )
        self._fix(weights=tuple(tuple(row) for row in table.weights.tolist()), table=table)

    @classmethod
    def from_rows(cls, domain: Domain, epsilon: float, rows: Sequence[Sequence[Fraction | int]]) -> Self:
        """The channel with these exact probabilities, or anything proportional to them in each row."""
        return cls(domain, epsilon, equal_sums(rows))

    @cached_property
    def channel(self) -> tuple[tuple[Fraction, ...], ...]:
        """The exact probability of each report under each value."""
        return tuple(tuple(Fraction(weight, self.table.total) for weight in row) for row in self.weights)

    @cached_property
    def matrix(self) -> Floats:
        """The same as floats, for linear algebra."""
        return self.table.weights / self.table.total

    @property
    def cells(self) -> int:
        return self.table.weights.shape[1]

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        return {"value": coins.pick_each(self.table, truth)}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(worst_odds(self.table.weights))


def worst_odds(weights: Ints) -> Fraction | None:
    """The largest ratio of two weights within a column; None if one is zero and the other is not."""
    high, low = weights.max(axis=0), weights.min(axis=0)
    if (low[high > 0] == 0).any():
        return None
    return max(Fraction(int(a), int(b)) for a, b in zip(high[high > 0], low[high > 0], strict=True))


def equal_sums(rows: Sequence[Sequence[Fraction | int]]) -> list[list[int]]:
    """Rows of whole weights in the same proportions, all with one sum; the smallest there are.

    >>> equal_sums([[Fraction(1, 2), Fraction(1, 2)], [2, 1]])
    [[3, 3], [4, 2]]
    """
    exact = [[Fraction(weight) for weight in row] for row in rows]
    if not exact or any(min(row, default=Fraction(-1)) < 0 or sum(row) == 0 for row in exact):
        raise InvalidParameter("Every row needs weights that are not negative, and one that is positive.")
    shares = [[weight / sum(row) for weight in row] for row in exact]
    total = math.lcm(*(share.denominator for row in shares for share in row))
    if total > LARGEST_SUM:
        raise InvalidParameter("These probabilities have no common denominator below 2^63. Round them first.")
    return [[int(share * total) for share in row] for row in shares]
