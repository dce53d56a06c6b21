"""Which answers are near: every answer has its own order of all answers, in rings around it, from the nearest out.

Place 0, 1, ... of that order are the answers of the first ring, in the order of their numbers, then those of the second, and
so on. Rings have the same sizes around every answer; answers with the same loss are taken in the order of their numbers, so
the order is public. On a line rings are windows, and nothing needs to be stored but where they begin.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.core import MOST_ENTRIES, WIDEST, Orders, Symbol, around, encoded, lookup
from deniable.core.tracing import Answer
from deniable.domains.line import Line
from deniable.domains.metric import BLOCK, Metric

LARGEST_TABLE = 1 << 30  # bytes of orders that are kept, each when it is first needed; above that they are found again
LARGEST_LAW = 1 << 18  # numbers of orders that are written into a law; above that an encoder gives the order of an answer


class Rings:
    """Rings around every answer: the `counts[0]` nearest answers, the rest of the `counts[1]` nearest, ..., all others."""

    def __init__(self, metric: Metric, counts: Sequence[int]) -> None:
        self._metric, self._counts = metric, list(counts)

    def member(self, truth: Any, place: Any) -> Any:
        """The answer at each place, from 0 to the number of answers less one, of the order around each true answer."""
        line, size = self._metric.line, self._metric.size
        if isinstance(truth, Answer):
            return encoded(truth, self.order, "order", size, width=size, distinct=True)[:, place]
        if line is not None:
            return self._on_line(line, truth, place)
        if isinstance(truth, Symbol):
            return lookup(self._found(np.arange(size)).reshape(-1), truth * size + place)
        return self._kept.of(truth).at(place) if self.kept else self.order(truth)[np.arange(len(truth)), place]

    @property
    def encodes(self) -> bool:
        """Whether the orders are too long for a law, so that an encoder gives that of an answer."""
        return self._metric.line is None and self._metric.size**2 > LARGEST_LAW

    @property
    def fits(self) -> bool:
        """Whether a law can hold the orders, or take that of an answer."""
        size = self._metric.size
        return size <= WIDEST if self.encodes else self._metric.line is None or size * len(self._counts) <= MOST_ENTRIES

    @property
    def kept(self) -> bool:
        """Whether orders that were found are kept."""
        return self._metric.size**2 * np.min_scalar_type(self._metric.size - 1).itemsize <= LARGEST_TABLE

    def order(self, truth: Ints) -> Any:
        """The order of all answers around each of these."""
        if self.kept:
            return self._kept.of(truth)
        rows, which = np.unique(truth, return_inverse=True)
        return self._found(truth) if len(rows) == len(truth) else self._found(rows)[which]

    @cached_property
    def _kept(self) -> Orders:
        return Orders(self._metric.size, self._found)

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

    def _found(self, rows: Ints) -> Ints:
        """The orders around these answers: the near answers ring by ring, and then all others in turn."""
        step, size = max(1, BLOCK // self._metric.size), self._metric.size
        orders = np.empty((len(rows), size), np.min_scalar_type(size - 1))
        for start in range(0, len(rows), step):
            part = orders[start : start + step]
            losses, filled = self._metric.losses(rows[start : start + step]), 0
            outside = np.ones(losses.shape, np.bool_)
            for count in self._counts:
                near = nearest(losses, count)
                part[:, filled:count] = _columns(near & outside)
                outside, filled = ~near, count
            part[:, filled:] = _columns(outside)
        return orders


def _columns(cells: Bools) -> Ints:
    """The columns of the cells that are true, in order; there are as many in every row."""
    rows, size = cells.shape
    return np.flatnonzero(cells).reshape(rows, -1) - (np.arange(rows) * size)[:, None]


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
