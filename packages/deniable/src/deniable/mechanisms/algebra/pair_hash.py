"""Hash functions of pairs of answers whose buckets say much about how the two depend on each other, and little else.

The place of a pair is s x + t y + b in a field of P elements, with s and t not zero. Two pairs that differ in one answer
never have the same place; those that differ in both have it with probability 1 / (P - 1). Places are merged into g
buckets where there are fewer. With as many buckets as places and P answers, a bucket holds one pair in every row and one
in every column: it says nothing of either answer alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bools, Floats
from deniable.core import lookup
from deniable.mechanisms.algebra.fields import field_tables, is_prime

POWERS = (4, 8, 9, 16)  # orders of fields that are not primes


@lru_cache(maxsize=64)
def orders(least: int, most: int) -> list[int]:
    """The orders of the fields that are used, from `least` up to `most`, and the first one in any case.

    >>> orders(4, 9)
    [4, 5, 7, 8, 9]
    """
    found, order = list[int](), max(2, least)
    while not found or order <= most:
        if order in POWERS or is_prime(order):
            found.append(order)
        order += 1
    return found


@dataclass(frozen=True)
class PairHash:
    """Hash functions into `buckets` by a field of `order` elements."""

    order: int
    buckets: int

    @property
    def merged(self) -> bool:
        """Whether several places share a bucket; then s and b are drawn too, and otherwise they would change nothing."""
        return self.buckets < self.order

    @property
    def draws(self) -> tuple[int, ...]:
        """How many outcomes each public draw has: t, and where places are merged s and b; of s and t less one."""
        return (self.order - 1, self.order - 1, self.order) if self.merged else (self.order - 1,)

    @property
    def collisions(self) -> tuple[Fraction, Fraction]:
        """The probabilities that two pairs share a bucket: if they differ in one answer, and if they differ in both."""
        order = self.order
        load, left = divmod(order, self.buckets)  # `left` buckets hold one place more than the others
        one = Fraction(load * (order + left - self.buckets), order * (order - 1))
        return one, (1 + (order - 2) * one) / (order - 1)

    def bucket(self, x: Any, y: Any, draws: Any) -> Any:
        """The bucket of each pair; the draws as they stand in a report."""
        place = self._sum(x if len(draws) == 1 else self._product(draws[1] + 1, x), self._product(draws[0] + 1, y))
        if not self.merged:
            return place
        return self._sum(place, draws[2]) * self.buckets // self.order

    def _sum(self, x: Any, y: Any) -> Any:
        if self.order not in POWERS:
            return (x + y) % self.order
        return lookup(field_tables(self.order)[0].ravel(), x * self.order + y)

    def _product(self, x: Any, y: Any) -> Any:
        if self.order not in POWERS:
            return x * y % self.order
        return lookup(field_tables(self.order)[1].ravel(), x * self.order + y)

    def supported(self, draws: Sequence[NDArray[np.integer]], bucket: NDArray[np.integer], rows: int, columns: int) -> Bools:
        """Whether each report supports each pair, of shape (reports, rows, columns)."""
        given = [draw.astype(np.int64)[:, None, None] for draw in draws]
        found = self.bucket(np.arange(rows)[None, :, None], np.arange(columns)[None, None, :], given)
        return np.asarray(found == bucket.astype(np.int64)[:, None, None])

    def every(self, rows: int, columns: int) -> Bools:
        """What every report supports, a row each: those with the same draws one after the other."""
        return _every(self, rows, columns)

    def information(self, rows: int, columns: int) -> tuple[float, float, float]:
        """How far buckets vary along interactions, along the rows and along the columns, per dimension."""
        one, both = map(float, self.collisions)
        along = (1 - one + (columns - 1) * (one - both), 1 - one + (rows - 1) * (one - both))
        return (1 - 2 * one + both) / self.buckets, along[0] / self.buckets, along[1] / self.buckets


@lru_cache(maxsize=32)
def _every(hashed: PairHash, rows: int, columns: int) -> Bools:
    grids = np.meshgrid(*(np.arange(outcomes) for outcomes in (*hashed.draws, hashed.buckets)), indexing="ij")
    *draws, bucket = (grid.ravel() for grid in grids)
    return hashed.supported(draws, bucket, rows, columns).reshape(len(bucket), -1)


def moments(supports: Bools, odds: float, buckets: int, shares: Floats, onto: Floats) -> tuple[Floats, Floats]:
    """The mean and the mean square of what `onto` makes of the pairs that a report supports, if pairs have these shares.

    A report is `odds` times as likely under the pairs that it supports.
    """
    seen = supports.astype(np.float64)
    chance = (1 + (odds - 1) * (seen @ shares)) * buckets / ((odds + buckets - 1) * len(seen))
    made = seen @ onto.T
    return chance @ made, (made.T * chance) @ made
