"""Many short vectors: divided by their lengths, cut to a bound, multiplied with each other."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deniable.arrays import Floats
from deniable.kernels.plain import compiled_in

Factors = list[tuple[Floats, Floats]]


@compiled_in("lengths_compiled", lambda rows, off, *_: rows.size)
def unit_rows(rows: Floats, off: float, kind: DTypeLike = np.float64) -> tuple[NDArray[Any], bool]:
    """The rows divided by their lengths, and whether each length was one up to `off`: then all numbers are finite."""
    with np.errstate(all="ignore"):  # what is refused may be divided by nothing
        length = np.sqrt((rows**2).sum(axis=1))
        return (rows / length[:, None]).astype(kind, copy=False), bool((np.abs(length - 1) < off).all())


@compiled_in("lengths_compiled", lambda rows, clip: rows.size)
def on_sphere(rows: Floats, clip: float) -> Floats:
    """The rows, those longer than `clip` cut to it, as vectors of length one: divided by `clip`, with one number more."""
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    rows = rows * np.minimum(1.0, clip / np.maximum(length, 1e-300)) / clip
    rest = np.sqrt(np.maximum(0.0, 1 - (rows**2).sum(axis=1, keepdims=True)))
    return np.concatenate([rows, rest], axis=1)


@compiled_in("lengths_compiled", lambda factors, clip, room: room.size)
def outer_on_sphere(factors: Factors, clip: float, room: Floats) -> Floats:
    """`on_sphere` of outer products, one after the other in each row, in the first rows of `room`."""
    left, _ = factors[0]
    room[: len(left)] = on_sphere(np.concatenate([outer_rows(*pair) for pair in factors], axis=1), clip)
    return room[: len(left)]


@compiled_in("lengths_compiled", lambda left, right: left.shape[0] * left.shape[1] * right.shape[1])
def outer_rows(left: Floats, right: Floats) -> Floats:
    """The outer product of each row with each row, in one row."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)
