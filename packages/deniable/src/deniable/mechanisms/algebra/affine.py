"""Affine maps of a prime field, x -> (a x + b) mod P with a from 1 to P - 1: a family whose collisions are exact.

For two different values the pair of their places is uniform over all ordered pairs of different residues, so every
probability about two values is a ratio of small integers. Without b the difference of the places is still uniform.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.fields import is_prime

LARGEST = (1 << 31) - 1  # itself a prime: residues and their sums fit into 32 bits, products into 63
ROWS = 1 << 13  # reports counted at a time


@lru_cache(maxsize=256)
def field_for(values: int) -> int:
    """The smallest odd prime with a residue for every value.

    >>> field_for(1024)
    1031
    """
    if values > LARGEST:
        raise InvalidParameter(
            f"Hashing takes domains of up to {LARGEST} values; this one has {values}. Map answers to fewer values first."
        )
    prime = max(values, 3) | 1
    while not is_prime(prime):
        prime += 2
    return prime


def all_missed(prime: int, values: int, places: int) -> Fraction:
    """The probability that no value goes to any of some places: exact for one and two places, close for more."""
    missed = Fraction(1)
    for place in range(places):
        missed *= Fraction(max(prime - values - place, 0), prime - place)
        if not missed:
            break
    return missed


def word_for(prime: int) -> type[np.unsignedinteger]:
    """The smallest unsigned integer in which two residues can be added."""
    return np.uint16 if prime < 1 << 15 else np.uint32


def least_stretch(prime: int, values: int, length: int) -> int:
    """The fewest places a x mod `prime` of all values x that a stretch of this length holds, not 0, for any a."""
    places = np.arange(1, prime)[:, None] * np.arange(values)[None, :] % prime
    held = np.zeros((prime - 1, prime + 1 + length), np.int64)
    np.put_along_axis(held, places + 1, 1, axis=1)
    held[:, prime + 1 :] = held[:, 1 : length + 1]  # around the ring
    sums = held.cumsum(axis=1)
    loads = sums[:, length : length + prime] - sums[:, :prime]
    return int(loads[loads > 0].min())
