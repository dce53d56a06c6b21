"""Sums over many sets at once, exactly: the Walsh-Hadamard transform and circular sums over all shifts of a set."""

import math

import numpy as np

from deniable.arrays import Bools, Ints

MANY = 1 << 16  # reports above which a share of them is not worth counting


def walsh_hadamard(counts: Ints) -> Ints:
    """The sums W(w) of (-1)^(number of common bits of w and y) counts[y], for a power of two of counts.

    >>> walsh_hadamard(np.array([5, 1, 2, 0]))
    array([8, 6, 4, 2])
    """
    sums = counts
    for _ in range(len(counts).bit_length() - 1):
        # Each step deals with the lowest bit of the index and makes it the highest: in the end all are back in place.
        even, odd = sums[::2], sums[1::2]
        sums = np.concatenate([even + odd, even - odd])
    return sums


class ShiftedSums:
    """For counts on the residues modulo v, the sum over x + D for every x, by a real Fourier transform.

    With u = 2^-53 and a length of 2^n, a product by transforms is off by less than |counts| |D| times
    (1 + u)^(6n) (1 + sqrt(5) u)^(3n + 1) - 1, about 13 n u, in Euclidean norms (Percival 2003), and a circular sum is two
    elements of it. Counts are cut into digits so small that 64 n u |counts| |D| is under 1/8: rounding is then exact.
    """

    def __init__(self, member: Bools) -> None:
        self.member = member
        self._size = int(member.sum())
        log_length = (2 * len(member) - 1).bit_length()
        self._length = 1 << log_length
        self._spectrum = np.conj(np.fft.rfft(member, self._length))
        error = 64 * log_length * 2.0**-53 * math.sqrt(self._size * len(member))  # for counts up to 1
        self._digit_bits = math.floor(-math.log2(8 * error))

    def __call__(self, counts: Ints) -> Ints:
        sums = np.zeros(len(counts), np.int64)
        for shift in range(0, int(counts.max()).bit_length(), self._digit_bits):
            sums += self._of_digits(counts >> shift & (1 << self._digit_bits) - 1) << shift
        return sums

    def _of_digits(self, digits: Ints) -> Ints:
        v = len(digits)
        product = np.fft.irfft(np.fft.rfft(digits, self._length) * self._spectrum, self._length)
        product[:v] += product[-v:]  # element -y of the product is what wraps around to residue v - y
        whole = np.rint(product[:v])
        sums = whole.astype(np.int64)
        if np.abs(product[:v] - whole).max() >= 0.25 or sums.sum() != self._size * digits.sum():
            raise ArithmeticError("A Fourier transform was less exact than it can be: numpy.fft on this machine is broken.")
        return sums
