"""Which answers are near: every answer has its own order of all answers, in rings around it, from the nearest out.

Place 0, 1, ... of that order are the answers of the first ring, in the order of their numbers, then those of the second, and
so on. Rings have the same sizes around every answer; answers with the same loss are taken in the order of their numbers, so
the order is public. On a line rings are windows, and nothing needs to be stored but where they begin.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bools, Floats, Ints
from deniable.core import Symbol, around, lookup
from deniable.domains.line import Line
from deniable.domains.metric import BLOCK, Metric

LARGEST_TABLE = 1 << 28  # bytes of near answers that are kept; above that they are found again for each batch


class Rings:
    """Rings around every answer: the `counts[0]` nearest answers, the rest of the `counts[1]` nearest, ..., all others."""

    def __init__(self, metric: Metric, counts: Sequence[int]) -> None:
        self._metric, self._counts = metric, list(counts)

    def member(self, truth: Ints, place: Ints) -> Ints:
        """The answer at each place, from 0 to the number of answers less one, of the order around each true answer."""
        line = self._metric.line
        if line is not None:
            return self._on_line(line, truth, place)
        if isinstance(truth, Symbol):
            return lookup(self._orders, truth * self._metric.size + place)
        if self._bytes <= LARGEST_TABLE:
            if not self._filled[truth].all():
                self._fill(np.unique(truth))
            return _looked_up(*self._kept, truth, place)
        rows, which = np.unique(truth, return_inverse=True)
        out, order = np.empty(len(truth), np.int64), np.argsort(which, kind="stable")
        step = max(1, BLOCK // self._metric.size)
        for start in range(0, len(rows), step):
            mine = order[(which[order] >= start) & (which[order] < start + step)]
            rings, sorted_ = self._rings(rows[start : start + step])
            out[mine] = _looked_up(rings, sorted_, which[mine] - start, place[mine])
        return out

    @property
    def entries(self) -> int:
        """How many numbers a law needs to know of the rings."""
        return self._metric.size * (self._metric.size if self._metric.line is None else len(self._counts))

    @cached_property
    def _orders(self) -> Ints:
        """The orders around all answers, one after the other."""
        size = self._metric.size
        return self.member(np.repeat(np.arange(size), size), np.tile(np.arange(size), size))

    def _on_line(self, line: Line, truth: Ints, place: Ints) -> Ints:
        # A ring is what lies left of the window inside it, and then what lies right of it: from the inside out.
        for start, near, among in self._windows(line):
            place = around(lookup(start, truth), place, near, among)
        return place

    def _windows(self, line: Line) -> list[tuple[Ints, int, int]]:
        """For each window where it starts in the next larger one, from each answer; its size, and that of the next."""
        if not hasattr(self, "_inner"):
            starts = [*(line.windows(count) for count in self._counts), np.zeros(line.size, np.int64)]
            sizes = [*self._counts, line.size]
            inner = (a - b for a, b in pairwise(starts))
            self._inner = [(start, *ends) for start, ends in zip(inner, pairwise(sizes), strict=True)]
        return self._inner

    @property
    def _bytes(self) -> int:
        return self._metric.size * self._counts[-1] * self._dtype.itemsize * (1 if len(self._counts) == 1 else 2)

    @property
    def _dtype(self) -> np.dtype[np.unsignedinteger]:
        return np.min_scalar_type(self._metric.size - 1)

    @cached_property
    def _kept(self) -> tuple[NDArray[np.unsignedinteger], NDArray[np.unsignedinteger]]:
        shape = (self._metric.size, self._counts[-1])
        rings = np.empty(shape, self._dtype)
        return rings, rings if len(self._counts) == 1 else np.empty(shape, self._dtype)

    @cached_property
    def _filled(self) -> Bools:
        return np.zeros(self._metric.size, np.bool_)

    def _fill(self, rows: Ints) -> None:
        """Find the near answers of these, if they are not known yet."""
        missing, step = rows[~self._filled[rows]], max(1, BLOCK // self._metric.size)
        for start in range(0, len(missing), step):
            part = missing[start : start + step]
            rings, sorted_ = self._rings(part)
            self._kept[0][part] = rings
            self._kept[1][part] = sorted_
            self._filled[part] = True

    def _rings(self, rows: Ints) -> tuple[Ints, Ints]:
        """The near answers ring by ring, and all of them in the order of their numbers."""
        losses, parts = self._metric.losses(rows), []
        inside = np.zeros(losses.shape, np.bool_)
        for count in self._counts:
            near = nearest(losses, count)
            parts.append(np.nonzero(near & ~inside)[1].reshape(len(rows), -1))
            inside = near
        return np.concatenate(parts, axis=1), np.nonzero(inside)[1].reshape(len(rows), -1)


def nearest(losses: Floats, count: int) -> Bools:
    """Which answers are the `count` with the smallest losses of each row; of equal losses the lower numbers."""
    limit = np.partition(losses, count - 1, axis=1)[:, count - 1, None]
    near = losses <= limit
    crowded = np.flatnonzero(near.sum(axis=1) > count)
    if crowded.size:
        tied = losses[crowded] == limit[crowded]
        surplus = near[crowded].sum(axis=1) - count
        last = tied.sum(axis=1) - surplus
        near[crowded] &= ~(tied & (np.cumsum(tied, axis=1) > last[:, None]))
    return near


def _looked_up(rings: NDArray[np.integer], sorted_: NDArray[np.integer], truth: Ints, place: Ints) -> Ints:
    """The answers at these places; those past the rings are counted off among the answers that are in none."""
    count = rings.shape[1]
    row = truth * count
    inside = rings.ravel().take(row + np.minimum(place, count - 1)).astype(np.int64)
    outside = np.maximum(place - count, 0)
    # Of the near answers, in order, the i-th has sorted[i] - i others before it: bisection finds how many to skip.
    flat, skipped = sorted_.ravel(), np.zeros(len(truth), np.int64)
    for level in range(count.bit_length() - 1, -1, -1):
        further = skipped + (1 << level)
        others = flat.take(row + np.minimum(further, count) - 1) - further + 1
        skipped += ((others <= outside) & (further <= count)).astype(np.int64) << level
    return np.where(place < count, inside, outside + skipped)
