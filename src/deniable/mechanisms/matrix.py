"""An explicit finite channel: a row of whole weights for each value, from which the report is drawn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import kernels
from deniable.core.coins import Coins
from deniable.core.domain import Domain
from deniable.core.estimate import Estimate
from deniable.core.layout import Columns, Layout, Number
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism
from deniable.core.tally import Tally
from deniable.core.weights import LARGEST_SUM, WeightTable
from deniable.errors import InvalidParameter, InvalidReport

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST_TABLE = 1 << 24  # weights in one channel
RANK = 1e-10  # how small, against the largest, a singular value may be before the channel counts as not invertible


@dataclass(frozen=True)
class FiniteChannel(Mechanism):
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
        object.__setattr__(self, "weights", tuple(tuple(row) for row in table.weights.tolist()))
        object.__setattr__(self, "_table", table)

    @classmethod
    def from_rows(cls, domain: Domain, epsilon: float, rows: Sequence[Sequence[Fraction | int]]) -> Self:
        """The channel with these exact probabilities, or anything proportional to them in each row."""
        return cls(domain, epsilon, equal_sums(rows))

    @property
    def table(self) -> WeightTable:
        """The weights as an array, with what sampling needs."""
        table: WeightTable = self._table  # type: ignore[attr-defined]
        return table

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

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.cells),))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        return {"value": coins.pick_each(self.table, truth)}

    def votes(self, columns: Columns) -> Ints:
        value = columns["value"]
        if len(value) and value.max() >= self.cells:
            raise InvalidReport("A report is none of those that this channel can send.")
        return kernels.histogram(value, self.cells)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(worst_odds(self.table.weights), proof="enumerated")

    @cached_property
    def _inverse(self) -> Floats:
        """What turns shares of reports into shares of values without bias; its rows are the values."""
        if self.rank < self.domain.size:
            raise InvalidParameter(
                f"The {self.domain.size} rows of this channel are not linearly independent (rank {self.rank}): different "
                "shares give the same reports, so no unbiased estimate exists. em_channel(mechanism.matrix, tally.counts) "
                "or least_squares(mechanism.matrix, tally.counts) give shares that fit, which are biased."
            )
        return np.linalg.pinv(self.matrix.T).astype(np.float64, copy=False)

    @cached_property
    def rank(self) -> int:
        """How many rows are linearly independent, as far as floats can tell."""
        return int(np.linalg.matrix_rank(self.matrix, rtol=RANK))

    def estimate(self, tally: Tally) -> Estimate:
        inverse = self._inverse
        self.check_tally(tally)
        return self._with_error(inverse @ (tally.counts / tally.n), tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        shares = np.asarray(truth, np.float64)
        if shares.shape != (self.domain.size,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
            raise InvalidParameter(f"The true shares must be {self.domain.size} numbers from 0 that sum to 1.")
        if n < 1:
            raise InvalidParameter("A prediction needs at least one person.")
        return self._with_error(shares, n)

    def _with_error(self, shares: Floats, n: int) -> Estimate:
        inverse, matrix = self._inverse, self.matrix
        # Given the people, a report on x has covariance diag(P_x) - P_x P_x'; it is linear in the shares, so unbiased.
        spread = inverse**2 @ (shares @ matrix) - (inverse @ matrix.T) ** 2 @ shares
        covary = partial(_covariance, inverse, matrix, shares, n)
        return Estimate(self.domain.labels, shares, spread / n, n, covary)

    @classmethod
    def from_parameters(cls, domain: Domain, epsilon: float, parameters: Mapping[str, Any]) -> "FiniteChannel":
        return cls(domain, epsilon, parameters["weights"])

    def parameters(self) -> Mapping[str, object]:
        return {"weights": [list(row) for row in self.weights]}


def _covariance(inverse: Floats, matrix: Floats, shares: Floats, n: int) -> Floats:
    means = inverse @ matrix.T  # column x: the expected estimate from one report on x
    return ((inverse * (shares @ matrix)) @ inverse.T - (means * shares) @ means.T) / n


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
