"""Bits of packed rows, compiled by numba; each loop gives exactly what its twin in rows.py gives."""

import numpy as np
from numba import njit

from deniable.arrays import Bools, Bytes, Ints


def _checked(rows: Bytes, column: Ints) -> Ints:
    """Columns of these rows; a compiled loop would read or write beside them."""
    if len(column) != len(rows) or (len(rows) and int(column.view(np.uint64).max()) >= 8 * rows.shape[1]):
        raise IndexError("A column is outside the rows.")
    return column


def get_bits(rows: Bytes, column: Ints) -> Bools:
    found = np.empty(len(rows), np.bool_)
    _get(rows, _checked(rows, column), found)
    return found


def put_bits(rows: Bytes, column: Ints, value: Bools) -> None:
    _put(rows, _checked(rows, column), value)


def move_bits(rows: Bytes, source: Ints, target: Ints, value: Bools) -> None:
    _move(rows, _checked(rows, source), _checked(rows, target), value)


@njit(cache=True, nogil=True)
def _get(rows, column, found):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        found[i] = rows[i, column[i] >> 3] >> (column[i] & 7) & 1 != 0


@njit(cache=True, nogil=True, inline="always")
def _put_one(row, column, value):  # type: ignore[no-untyped-def]
    shift = column & 7
    row[column >> 3] = np.uint8((row[column >> 3] & ~(1 << shift)) | value << shift)


@njit(cache=True, nogil=True)
def _put(rows, column, value):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        _put_one(rows[i], column[i], np.int64(value[i]))


@njit(cache=True, nogil=True)
def _move(rows, source, target, value):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        row, at = rows[i], source[i]
        bit = np.int64(row[at >> 3]) >> (at & 7) & 1
        _put_one(row, target[i], bit)
        _put_one(row, at, np.int64(value[i]))
