"""Many short vectors, compiled by numba: sums are added in another order than by NumPy."""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import DTypeLike, NDArray

from deniable.arrays import Floats
from deniable.kernels.directions_compiled import LOOSE
from deniable.kernels.lengths import Factors


def unit_rows(rows: Floats, off: float, kind: DTypeLike = np.float64) -> tuple[NDArray[Any], bool]:
    found = np.empty(rows.shape, kind)
    return found, bool(_unit_rows(np.ascontiguousarray(rows), off, found))


def on_sphere(rows: Floats, clip: float) -> Floats:
    found = np.empty((len(rows), rows.shape[1] + 1))
    found[:, :-1] = rows
    _on_sphere(clip, found)
    return found


def outer_on_sphere(factors: Factors, clip: float, room: Floats) -> Floats:
    (first, others), *rest = factors
    found = room[: len(first)]
    if rest:
        at = 0
        for left, right in factors:
            _outer_rows(np.ascontiguousarray(left), np.ascontiguousarray(right), found, at)
            at += left.shape[1] * right.shape[1]
        _on_sphere(clip, found)
    else:
        _outer_on_sphere(np.ascontiguousarray(first), np.ascontiguousarray(others), clip, found)
    return found


def outer_rows(left: Floats, right: Floats) -> Floats:
    found = np.empty((len(left), left.shape[1] * right.shape[1]))
    _outer_rows(np.ascontiguousarray(left), np.ascontiguousarray(right), found, 0)
    return found


@njit(cache=True, nogil=True, fastmath=LOOSE, error_model="numpy")
def _square(row):  # type: ignore[no-untyped-def]
    square = 0.0
    for column in range(row.shape[0]):
        square += np.float64(row[column]) * np.float64(row[column])
    return square


@njit(cache=True, nogil=True, error_model="numpy")
def _unit_rows(rows, off, found):  # type: ignore[no-untyped-def]
    right = True
    for row in range(rows.shape[0]):
        length = math.sqrt(_square(rows[row]))
        right &= abs(length - 1.0) < off
        if length == 1.0:  # as most vectors have that were divided before
            for column in range(rows.shape[1]):
                found[row, column] = np.float64(rows[row, column])
        else:
            for column in range(rows.shape[1]):
                found[row, column] = np.float64(rows[row, column]) / length
    return right


@njit(cache=True, nogil=True, error_model="numpy")
def _cut(row, clip):  # type: ignore[no-untyped-def]
    """A row cut to length `clip`, divided by it, and what it lacks to length one, in its place."""
    width = row.shape[0] - 1
    length = math.sqrt(_square(row[:width]))
    share = min(1.0, clip / max(length, 1e-300))
    if clip == 1.0:
        for column in range(width):
            row[column] *= share
    else:
        for column in range(width):
            row[column] = row[column] * share / clip
    row[width] = math.sqrt(max(0.0, 1.0 - _square(row[:width])))


@njit(cache=True, nogil=True, error_model="numpy")
def _on_sphere(clip, found):  # type: ignore[no-untyped-def]
    for row in range(found.shape[0]):
        _cut(found[row], clip)


@njit(cache=True, nogil=True, error_model="numpy")
def _outer_on_sphere(left, right, clip, found):  # type: ignore[no-untyped-def]
    """The length of an outer product is the product of the lengths, so it is cut before it is written."""
    last, width = found.shape[1] - 1, right.shape[1]
    for row in range(found.shape[0]):
        square = _square(left[row]) * _square(right[row])
        share = min(1.0, clip / max(math.sqrt(square), 1e-300)) / clip
        for i in range(left.shape[1]):
            number = left[row, i] * share
            for j in range(width):
                found[row, i * width + j] = number * right[row, j]
        found[row, last] = math.sqrt(max(0.0, 1.0 - square * share * share))


@njit(cache=True, nogil=True)
def _outer(left, right, found):  # type: ignore[no-untyped-def]
    width = right.shape[0]
    for i in range(left.shape[0]):
        for j in range(width):
            found[i * width + j] = left[i] * right[j]


@njit(cache=True, nogil=True)
def _outer_rows(left, right, found, first):  # type: ignore[no-untyped-def]
    for row in range(left.shape[0]):
        _outer(left[row], right[row], found[row, first:])
