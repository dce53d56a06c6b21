"""Vectors of numbers on their way to bits: codes of sign and magnitude, and one bit of each number as rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bytes, Floats
from deniable.kernels.plain import compiled_in

Codes = NDArray[np.integer[Any]]


def narrowest(bits: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest type for whole numbers of this many bits."""
    return np.min_scalar_type((1 << bits) - 1)


@compiled_in("vectors_compiled", lambda numbers, *_: numbers.size)
def sign_magnitude(numbers: Floats, unit: float, bits: int) -> Codes | None:
    """Codes of `bits` bits: whether a number is at least zero, then its size in units, cut off, at most the largest.

    The unit is a power of two. None where a number is not finite.
    """
    if not np.isfinite(numbers).all():
        return None
    size = np.minimum(np.floor(np.abs(numbers) / unit), (1 << bits - 1) - 1)
    return (size.astype(np.int64) | (numbers >= 0).astype(np.int64) << bits - 1).astype(narrowest(bits))


@compiled_in("vectors_compiled", lambda vector, place: vector.size)
def bit_rows(vector: Codes, place: int) -> Bytes:
    """Bit `place` of every number of each vector, packed."""
    one = vector.dtype.type(1)
    return np.packbits((vector >> vector.dtype.type(place) & one).astype(np.bool_), axis=1, bitorder="little")
