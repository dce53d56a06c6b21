"""Many short vectors, compiled by numba: sums are added in another order than by NumPy."""

import math

import numpy as np
from numba import njit

from deniable.arrays import Floats
from deniable.kernels.directions_compiled import LOOSE

MOST = 1 << 11  # numbers of the other rows, up to which a loop takes no longer than waking the threads of BLAS


def unit_rows(rows: Floats, off: float) -> tuple[Floats, bool]:
    found = np.empty(rows.shape)
    return found, bool(_unit_rows(np.ascontiguousarray(rows), off, found))


def on_sphere(rows: Floats, clip: float) -> Floats:
    found = np.empty((len(rows), rows.shape[1] + 1))
    _on_sphere(np.ascontiguousarray(rows), clip, found)
    return found


def outer_rows(left: Floats, right: Floats) -> Floats:
    found = np.empty((len(left), left.shape[1] * right.shape[1]))
    _outer_rows(np.ascontiguousarray(left), np.ascontiguousarray(right), found)
    return found


def products(left: Floats, right: Floats) -> Floats:
    if right.size > MOST:
        return np.asarray(left @ right.T)
    found = np.empty((len(left), len(right)))
    _products(np.ascontiguousarray(left), np.ascontiguousarray(right.T), found)
    return found


@njit(cache=True, nogil=True)
def _products(left, right, found):  # type: ignore[no-untyped-def]
    for row in range(left.shape[0]):
        for column in range(right.shape[1]):
            found[row, column] = 0.0
        for i in range(left.shape[1]):
            for column in range(right.shape[1]):
                found[row, column] += left[row, i] * right[i, column]


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
        for column in range(rows.shape[1]):
            found[row, column] = np.float64(rows[row, column]) / length
    return right


@njit(cache=True, nogil=True, error_model="numpy")
def _on_sphere(rows, clip, found):  # type: ignore[no-untyped-def]
    width = rows.shape[1]
    for row in range(rows.shape[0]):
        length = math.sqrt(_square(rows[row]))
        share = min(1.0, clip / max(length, 1e-300))
        for column in range(width):
            found[row, column] = rows[row, column] * share / clip
        found[row, width] = math.sqrt(max(0.0, 1.0 - _square(found[row, :width])))


@njit(cache=True, nogil=True)
def _outer_rows(left, right, found):  # type: ignore[no-untyped-def]
    width = right.shape[1]
    for row in range(left.shape[0]):
        for i in range(left.shape[1]):
            for j in range(width):
                found[row, i * width + j] = left[row, i] * right[row, j]
