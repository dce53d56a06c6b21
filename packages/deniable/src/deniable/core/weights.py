"""A table of whole weights, one row for each value: what `pick_each` draws from."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from deniable.arrays import Ints
from deniable.errors import InvalidParameter
from deniable.kernels.tables import Starts, bisected, find_columns, starts_of

LARGEST_SUM = (1 << 63) - 1


class WeightTable:
    """Rows of whole weights, not negative, all with the same positive sum.

    >>> WeightTable([[3, 1], [1, 3]]).total
    4
    """

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        try:
            table = np.array(rows)
        except (ValueError, OverflowError):  # rows of different lengths
            table = np.empty(0)
        whole = table.ndim == 2 and table.size > 0 and table.dtype.kind in "iu"
        if not whole or table.min() < 0 or table.max() > LARGEST_SUM:
            raise InvalidParameter(
                "Weights must be rows of whole numbers from 0 to 2^63 - 1, one row for each value and all of the "
                "same length."
            )
        sums = {sum(row) for row in table.tolist()}
        if len(sums) != 1 or not 1 <= min(sums) <= LARGEST_SUM:
            raise InvalidParameter("The weights of every row must have the same sum, from 1 to 2^63 - 1.")
        self.weights: Ints = table.astype(np.int64)
        self.total = int(sums.pop())
        self._found = 0

    @cached_property
    def edges(self) -> Ints:
        """The running sums of each row; the last column is the total."""
        return np.cumsum(self.weights, axis=1)

    @cached_property
    def _starts(self) -> tuple[Starts, int]:
        return starts_of(self.edges)

    def find(self, rows: Ints, numbers: Ints) -> Ints:
        """For each number below the total, the column whose weights it falls on in its row."""
        self._found += len(numbers)
        if self._found < self.weights.size:  # a table of where to look is not worth its while yet
            return bisected(self.edges, rows, numbers)
        return find_columns(self.edges, *self._starts, rows, numbers)


def check_weights(weights: Sequence[int]) -> list[int]:
    """Whole, non-negative weights with a positive sum under 2^63."""
    whole = [int(weight) for weight in weights]
    if any(weight < 0 for weight in whole) or not 0 < sum(whole) < 1 << 63 or whole != list(weights):
        raise InvalidParameter("Weights must be whole numbers, not negative, with a sum from 1 to 2^63 - 1.")
    return whole
