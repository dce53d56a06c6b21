"""The rounds of smoothed expectation maximisation, compiled by numba; sums may differ from NumPy's in the last digits."""

import numpy as np
from numba import njit

from deniable.arrays import Floats


def smoothed_em(
    matrix: Floats, counts: Floats, smooth: bool, circular: bool, max_rounds: int, tolerance: float
) -> tuple[Floats, int]:
    rows, columns = np.ascontiguousarray(matrix), np.ascontiguousarray(matrix.T)
    shares = np.full(len(matrix), 1 / len(matrix))
    rounds = _rounds(rows, columns, np.asarray(counts, np.float64), smooth, circular, max_rounds, tolerance, shares)
    return shares, rounds


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _rounds(rows, columns, counts, smooth, circular, max_rounds, tolerance, shares):  # type: ignore[no-untyped-def]
    size, reports = rows.shape
    total, last = counts.sum(), -np.inf
    ratio, new = np.empty(reports), np.empty(size)
    for turn in range(max_rounds):
        likelihood = 0.0
        for y in range(reports):
            expected = 0.0
            for x in range(size):
                expected += shares[x] * columns[y, x]
            likelihood += counts[y] * np.log(expected)
            ratio[y] = counts[y] / expected
        if abs(likelihood - last) < tolerance:
            return turn
        last, whole = likelihood, 0.0
        for x in range(size):
            factor = 0.0
            for y in range(reports):
                factor += rows[x, y] * ratio[y]
            new[x] = shares[x] * factor / total
        for x in range(size):
            value = new[x]
            if smooth:
                before = new[x - 1] if x or circular else new[0]
                after = new[x + 1] if x + 1 < size else (new[0] if circular else new[size - 1])
                value = (before + 2 * value + after) / 4
            shares[x] = value
            whole += value
        for x in range(size):
            shares[x] /= whole
    return max_rounds
