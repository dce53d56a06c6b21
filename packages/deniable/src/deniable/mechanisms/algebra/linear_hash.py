"""Linear hash functions: cells and rows are vectors of digits modulo a prime, and a row hashes a cell to their product."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.mechanisms.algebra.fields import is_prime

MOST_CELLS = 1 << 20  # of the histogram of rows and buckets


def digits(number: Ints, base: int, count: int) -> list[Ints]:
    """The digits of numbers, the lowest first; of symbols too."""
    found = []
    for _ in range(count):
        found.append(number % base)
        number = number // base
    return found


def product(cell: Ints, row: Ints, base: int, count: int) -> Ints:
    """The sum of the products of digits, modulo the base."""
    terms = [a * b for a, b in zip(digits(cell, base, count), digits(row, base, count), strict=True)]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total % base


def supporters(histogram: Ints, base: int, count: int) -> Floats:
    """For each cell how many reports (row, bucket) have the bucket that the row gives the cell.

    `histogram` has a line for each row and a column for each bucket. The count of cell x is the sum over rows y of
    histogram[y, x y]: in terms of characters w of the integers modulo `base`, one Fourier transform over rows for each
    power of w, read at the multiples of x.
    """
    total = np.full((base,) * count, float(histogram.sum()))
    buckets, turned = np.arange(base), np.conj(np.fft.rfft(histogram, axis=1))
    for power in range(1, base // 2 + 1):
        spectrum = np.fft.fftn(turned[:, power].reshape((base,) * count))
        read = spectrum[np.ix_(*[power * buckets % base] * count)].real
        total += read if 2 * power == base else 2 * read
    return np.asarray(total / base).ravel()


def noise(base: int, odds: float) -> float:
    """n times the variance of the share of a cell that nobody holds."""
    p, q = odds / (odds + base - 1), 1 / base
    return q * (1 - q) / (p - q) ** 2


@lru_cache(maxsize=256)
def best_base(odds: Fraction, least: int = 1 << 14) -> tuple[int, int]:
    """The prime and the number of digits with the least noise, with at least so many cells and a histogram of 2^20.

    >>> from deniable.core.odds import odds_below
    >>> best_base(odds_below(1.0)), best_base(odds_below(4.0))
    ((3, 11), (31, 3))
    """
    return min(_bases(least), key=lambda each: (noise(each[0], float(odds)), each[0]))


def _bases(least: int) -> Iterator[tuple[int, int]]:
    for base in filter(is_prime, range(2, isqrt(MOST_CELLS))):
        count = next(count for count in range(1, 64) if base ** (count + 2) > MOST_CELLS)
        if base**count >= least:
            yield base, count
