"""Tables, compiled by numba; each loop gives exactly what its twin in tables.py gives."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.kernels.steps_compiled import all_within
from deniable.kernels.tables import Starts


def find_columns(edges: Ints, starts: Starts, shift: int, rows: Ints, numbers: Ints) -> Ints:
    _check(rows, len(edges), numbers, int(edges[0, -1]))
    found = np.empty(len(numbers), np.int64)
    _find_columns(edges, starts, shift, rows, numbers, found)
    return found


@njit(cache=True, nogil=True)
def _find_columns(edges, starts, shift, rows, numbers, found):  # type: ignore[no-untyped-def]
    for i in range(numbers.shape[0]):
        row, number = rows[i], numbers[i]
        part = number >> shift
        low = np.int64(starts[row, part])
        low += np.int64(edges[row, low] <= number)  # no branch: mostly there is one edge between two starts, or none
        if edges[row, low] <= number:
            high = np.int64(starts[row, part + 1])
            low += 1
            while low < high:
                middle = (low + high) >> 1
                if edges[row, middle] <= number:
                    low = middle + 1
                else:
                    high = middle
        found[i] = low


def take_cells(cells: NDArray[np.unsignedinteger], rows: Ints, columns: Ints) -> Ints:
    _check(rows, len(cells), columns, cells.shape[1])
    found = np.empty(len(rows), np.int64)
    _take_cells(cells, rows, columns, found)
    return found


@njit(cache=True, nogil=True)
def _take_cells(cells, rows, columns, found):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        found[i] = cells[np.uint64(rows[i]), np.uint64(columns[i])]  # without a sign: nothing is looked for before the first


def _check(rows: Ints, height: int, columns: Ints, width: int) -> None:
    """A compiled loop would read beside the table."""
    if len(rows) != len(columns) or not (all_within(rows, 0, height - 1) and all_within(columns, 0, width - 1)):
        raise IndexError("A place is outside the table.")
