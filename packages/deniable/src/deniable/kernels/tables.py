"""Looking up numbers of tables: the column whose weights a number falls on, the cell at a row and a column."""

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.kernels.plain import compiled_in

Starts = NDArray[np.unsignedinteger]


def bisected(edges: Ints, rows: Ints, numbers: Ints) -> Ints:
    """For each number the first column of its row of `edges` that is larger, all at once."""
    if len(edges) == 1:
        return np.searchsorted(edges[0], numbers, side="right").astype(np.int64)
    low, high = np.zeros(len(rows), np.int64), np.full(len(rows), edges.shape[1] - 1)
    flat, start = edges.ravel(), rows * edges.shape[1]
    for _ in range((edges.shape[1] - 1).bit_length()):
        middle = (low + high) >> 1
        right = flat[start + middle] <= numbers
        low = np.where(right, middle + 1, low)
        high = np.where(right, high, middle)
    return low


@compiled_in("tables_compiled", lambda edges, starts, shift, rows, numbers: 4 * numbers.size)
def find_columns(edges: Ints, starts: Starts, shift: int, rows: Ints, numbers: Ints) -> Ints:
    """As `bisected`, from column `starts[row, number >> shift]` to the next start only: see `starts_of`."""
    return bisected(edges, rows, numbers)


def starts_of(edges: Ints) -> tuple[Starts, int]:
    """Where to look for numbers by their highest bits, and how many bits are left out: a start or more for each column."""
    total, columns = int(edges[0, -1]), edges.shape[1]
    shift = max(0, (total - 1).bit_length() - (columns - 1).bit_length() - 1)
    firsts = np.arange((total - 1 >> shift) + 1, dtype=np.int64) << shift
    starts = np.full((len(edges), len(firsts) + 1), columns - 1, np.min_scalar_type(columns - 1))
    for row, each in zip(starts, edges, strict=True):
        row[:-1] = np.searchsorted(each, firsts, side="right")
    return starts, shift


@compiled_in("tables_compiled", lambda cells, rows, columns: 4 * rows.size)
def take_cells(cells: NDArray[np.unsignedinteger], rows: Ints, columns: Ints) -> Ints:
    """The numbers at these rows and columns."""
    return cells.reshape(-1).take(rows * cells.shape[1] + columns).astype(np.int64)
