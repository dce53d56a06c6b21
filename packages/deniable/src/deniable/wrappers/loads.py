"""How few sensitive values a report can support: where a hash function gives one of its buckets little to hide among."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.mechanisms.shares.direct_response import DirectResponse
from deniable.mechanisms.shares.local_hashing import LocalHashing
from deniable.mechanisms.shares.subset_selection import SubsetSelection
from deniable.mechanisms.shares.unary import Unary
from deniable.mechanisms.shares.wheel import Wheel


@dataclass(frozen=True)
class Load:
    """The fewest values that a report supports if it supports any; the public choices and a value for which that is so."""

    load: int
    public: tuple[int, ...] = ()
    place: int = 0


def _least_stretch(prime: int, values: int, length: int) -> tuple[int, int, int]:
    """The fewest places a x mod `prime` of all values x that a stretch of this length holds, not 0; its a and its start."""
    places = np.arange(1, prime)[:, None] * np.arange(values)[None, :] % prime
    held = np.zeros((prime - 1, prime + 1 + length), np.int64)
    np.put_along_axis(held, places + 1, 1, axis=1)
    held[:, prime + 1 :] = held[:, 1 : length + 1]  # around the ring
    sums = held.cumsum(axis=1)
    loads = sums[:, length : length + prime] - sums[:, :prime]
    loads[loads == 0] = values + 1
    row, start = np.unravel_index(int(loads.argmin()), loads.shape)
    return int(loads[row, start]), int(row) + 1, int(start)


def _of_hashing(base: LocalHashing) -> Load:
    prime, edges = base.prime, -(-np.arange(base.buckets + 1) * base.prime // base.buckets)
    lengths = np.diff(edges).tolist()
    load, length, (a, start) = min(
        (load, length, where)
        for length in set(lengths)
        for load, *where in [_least_stretch(prime, base.domain.size, length)]
    )
    b = int(edges[lengths.index(length)] - start) % prime  # the stretch is moved to a bucket of its length
    inside = (np.arange(base.domain.size) * a - start) % prime < length
    return Load(load, (a - 1, b), int(inside.argmax()))


def _of_wheel(base: Wheel) -> Load:
    load, a, start = _least_stretch(base.prime, base.domain.size, base.arc)
    inside = (np.arange(base.domain.size) * a - start) % base.prime < base.arc
    return Load(load, (a - 1,), int(inside.argmax()))


LEAST_LOAD: dict[type, Callable[[Any], Load]] = {
    DirectResponse: lambda base: Load(1),
    SubsetSelection: lambda base: Load(base.size),
    Unary: lambda base: Load(1),
    LocalHashing: _of_hashing,
    Wheel: _of_wheel,
}
