"""An explicit finite channel: a row of whole weights for each value, from which the report is drawn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import LARGEST_SUM, SMALLEST_EPSILON, Coins, Domain, PrivacyLoss, WeightTable
from deniable.core.odds import LARGEST_EPSILON
from deniable.errors import InvalidParameter
from deniable.mechanisms.shares.channel import Channel
from deniable.mechanisms.shares.exact_channel import own_cost

LARGEST_TABLE = 1 << 24  # weights in one channel
MOST_DRAWS = 20  # cards that a person draws in Kuk's design


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

    @classmethod
    def forced(cls, domain: Domain, truth: Fraction, forced: Sequence[Fraction]) -> Self:
        """The forced-response design: the truth with this probability, else a forced answer, each with its own.

        A die that asks for the truth at 2 to 5, for "no" at 1 and for "yes" at 6 has truth 2/3 and forced (1/6, 1/6).
        """
        return cls._designed(
            domain, [[truth * (i == j) + share for j, share in enumerate(forced)] for i in range(domain.size)]
        )

    @classmethod
    def warner(cls, domain: Domain, truth: Fraction) -> Self:
        """Warner's design (1965): one of two answers is true with this probability, else the other is given."""
        return cls._designed(domain, [[truth, 1 - truth], [1 - truth, truth]])

    @classmethod
    def unrelated(cls, domain: Domain, truth: Fraction, shares: Sequence[Fraction]) -> Self:
        """The unrelated-question design: else people answer a question whose answers have known shares (Greenberg 1969)."""
        return cls.forced(domain, truth, [(1 - truth) * share for share in shares])

    @classmethod
    def mangat(cls, domain: Domain, truth: Fraction) -> Self:
        """Mangat's design (1994): those with the second answer give it; others use Warner's. The loss is unbounded.

        A report of the first answer rules out the second.
        """
        return cls._designed(domain, [[truth, 1 - truth], [Fraction(0), Fraction(1)]], LARGEST_EPSILON)

    @classmethod
    def kuk(cls, domain: Domain, red: tuple[Fraction, Fraction], draws: int = 1) -> Self:
        """Kuk's design (1990): people draw cards from a deck that their answer chooses, and report how many are red.

        `red` has the share of red cards in the deck of each of the two answers.
        """
        if not isinstance(draws, int) or not 1 <= draws <= MOST_DRAWS:
            raise InvalidParameter(f"People draw 1 to {MOST_DRAWS} cards.")
        counts = range(draws + 1)
        return cls._designed(domain, [[math.comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in counts] for p in red])

    @classmethod
    def _designed(cls, domain: Domain, rows: Sequence[Sequence[Fraction]], epsilon: float | None = None) -> Self:
        """The channel with these probabilities, at the epsilon that it costs."""
        exact = [[Fraction(chance) for chance in row] for row in rows]
        if len(exact) != domain.size or any(len(row) != len(exact[0]) for row in exact):
            raise InvalidParameter(f"This design is for a question with {len(exact)} answers; this one has {domain.size}.")
        if any(min(row) < 0 or sum(row) != 1 for row in exact):
            raise InvalidParameter("The probabilities of a design are fractions from 0 to 1 that sum to 1, such as 2/3.")
        found = cls.from_rows(domain, LARGEST_EPSILON, exact)
        cost = epsilon if epsilon is not None else own_cost(None, found.loss().odds)
        return cls(domain, max(cost, SMALLEST_EPSILON), found.weights)

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
    sums = [sum(row) for row in exact]
    if not exact or any(min(row, default=Fraction(-1)) < 0 for row in exact) or 0 in sums:
        raise InvalidParameter("Every row needs weights that are not negative, and one that is positive.")
    shares = [[weight / whole for weight in row] for row, whole in zip(exact, sums, strict=True)]
    total = math.lcm(*(share.denominator for row in shares for share in row))
    if total > LARGEST_SUM:
        raise InvalidParameter("These probabilities have no common denominator below 2^63. Round them first.")
    return [[int(share * total) for share in row] for row in shares]
