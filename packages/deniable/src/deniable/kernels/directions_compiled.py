"""Products with public random directions, compiled by numba: no direction is written down.

Logarithm, sine and cosine are polynomials here, so that the whole loop over coordinates is one of vector instructions.
They are right to about 2^-52, as those of NumPy are.
"""

import math

import numpy as np
from numba import njit

from deniable.arrays import Floats, Ints
from deniable.kernels.mixing import STEP

LOOSE = {"reassoc", "contract"}  # sums in any order, products added without rounding between
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # as in mixing.py
S11, S16, S27, S30, S31 = np.uint64(11), np.uint64(16), np.uint64(27), np.uint64(30), np.uint64(31)
UNIT, LOG_2, QUARTER = 1 / (1 << 53), math.log(2), math.pi / 2
MIDDLE, DIGITS = np.int64(0x3FE6A09E667F3BCD), np.int64(52)  # the bits of sqrt(1/2), and those of a mantissa


def nearness(rows: Floats, seed: Ints, codes: int) -> Floats:
    found = np.empty((len(rows), codes))
    _nearness(np.ascontiguousarray(rows, np.float64), seed, found)
    return found


@njit(cache=True, nogil=True, inline="always")
def _mixed(word):  # type: ignore[no-untyped-def]
    word = (word ^ (word >> S30)) * FIRST
    word = (word ^ (word >> S27)) * SECOND
    return word ^ (word >> S31)


@njit(cache=True, nogil=True, inline="always")
def _uniform(word):  # type: ignore[no-untyped-def]
    return (np.float64(np.int64(_mixed(word) >> S11)) + 0.5) * UNIT


@njit(cache=True, nogil=True, inline="always", fastmath=LOOSE, error_model="numpy")
def _minus_log(u):  # type: ignore[no-untyped-def]
    """u = 2^e m with m from sqrt(1/2) to sqrt(2), and log m = 2 artanh((m - 1) / (m + 1))."""
    bits = np.float64(u).view(np.int64)
    exponent = (bits - MIDDLE) >> DIGITS
    mantissa = np.int64(bits - (exponent << DIGITS)).view(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    p = 2 / 9 + z * (2 / 11 + z * (2 / 13 + z * (2 / 15 + z * (2 / 17 + z * (2 / 19)))))
    p = 2.0 + z * (2 / 3 + z * (2 / 5 + z * (2 / 7 + z * p)))
    return -(np.float64(exponent) * LOG_2 + s * p)


@njit(cache=True, nogil=True, inline="always", fastmath=LOOSE, error_model="numpy")
def _turned(turn):  # type: ignore[no-untyped-def]
    """Cosine and sine of so much of a whole turn: Taylor's series of what is left after quarters of it."""
    quarters = np.floor(4.0 * turn + 0.5)
    t = (4.0 * turn - quarters) * QUARTER
    z = t * t
    sine = 1 / 362880 + z * (-1 / 39916800 + z * (1 / 6227020800 + z * (-1 / 1307674368000)))
    sine = t + t * z * (-1 / 6 + z * (1 / 120 + z * (-1 / 5040 + z * sine)))
    cosine = 1 / 40320 + z * (-1 / 3628800 + z * (1 / 479001600 + z * (-1 / 87178291200 + z * (1 / 20922789888000))))
    cosine = 1.0 + z * (-1 / 2 + z * (1 / 24 + z * (-1 / 720 + z * cosine)))
    k = np.int64(quarters)
    odd = (k & 1) != 0
    a, b = (sine, cosine) if odd else (cosine, sine)
    return (-a if ((k + 1) & 2) != 0 else a), (-b if (k & 2) != 0 else b)


@njit(cache=True, nogil=True, fastmath=LOOSE, error_model="numpy")
def _nearness(rows, seed, found):  # type: ignore[no-untyped-def]
    dimensions = rows.shape[1]
    half = (dimensions + 1) // 2
    both = dimensions - half  # pairs of which both numbers are coordinates; of an odd number of them the last sine is not
    for row in range(rows.shape[0]):
        first, second = rows[row, :half], rows[row, half:]
        for code in range(found.shape[1]):
            start = _mixed((np.uint64(seed[row]) << S16) + np.uint64(code + 1))
            product, square = 0.0, 0.0
            for j in range(both):
                radius = 2.0 * _minus_log(_uniform(start + np.uint64(j) * STEP))
                cosine, sine = _turned(_uniform(start + np.uint64(half + j) * STEP))
                product += math.sqrt(radius) * (cosine * first[j] + sine * second[j])
                square += radius
            if both < half:
                radius = 2.0 * _minus_log(_uniform(start + np.uint64(both) * STEP))
                cosine, _ = _turned(_uniform(start + np.uint64(half + both) * STEP))
                product += math.sqrt(radius) * cosine * first[both]
                square += radius * cosine * cosine
            found[row, code] = product / math.sqrt(square)
