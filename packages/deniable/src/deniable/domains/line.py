"""Points on a line, with a loss that never falls with the distance: nearest points are windows, sums are differences."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ints

EQUAL = 1e-12  # steps that differ by this share of the whole line are equal: decimal fractions are not exact


@dataclass(frozen=True, eq=False)
class Line:
    """Increasing positions, and the loss |x - y|^power, or a table of losses by the number of steps between x and y."""

    positions: Floats
    power: float = 1.0
    table: Floats | None = None

    @property
    def size(self) -> int:
        return len(self.positions)

    @cached_property
    def even(self) -> bool:
        """Whether all steps are equal."""
        x = self.positions
        return bool(np.abs(np.linspace(x[0], x[-1], self.size) - x).max() <= EQUAL * (x[-1] - x[0]))

    @property
    def plain(self) -> bool:
        """Whether the loss is the distance, in equal steps: then all sums are whole numbers of steps."""
        return self.even and self.power == 1 and self.table is None

    @property
    def step(self) -> float:
        """The length of a step, where they are equal."""
        return float(self.positions[-1] - self.positions[0]) / (self.size - 1)

    def loss(self, first: Ints, second: Ints) -> Floats:
        """The loss between points with these numbers."""
        if self.table is not None:
            return self.table[np.abs(first - second)]
        if self.even:
            return np.asarray((np.abs(first - second) * self.step) ** self.power)
        return np.asarray(np.abs(self.positions[first] - self.positions[second]) ** self.power)

    def windows(self, count: int) -> Ints:
        """Where the `count` nearest points of each point begin; of two equally near the lower one is taken first."""
        last = self.size - count
        if self.even:
            return np.clip(np.arange(self.size) - count // 2, 0, last)
        # A window moves on while the point after it is nearer than its first: x - x[s] > x[s + count] - x.
        x = self.positions
        return np.searchsorted(x[:last] + x[count:], 2 * x).astype(np.int64)

    def sums(self, start: Ints, stop: Ints) -> Floats:
        """For each point, the losses to all points from `start` up to `stop`, which lie around it, added up."""
        own = np.arange(self.size)
        if self.even:
            left, right = own - start, stop - 1 - own
            return self._steps[left] + self._steps[right]
        if self.power == 1:
            x, sums = self.positions, self._moments[1]
            return (own - start) * x - (sums[own] - sums[start]) + (sums[stop] - sums[own]) - (stop - own) * x
        out = np.empty(self.size)
        for k in range(self.size):
            window = np.arange(start[k], stop[k])
            out[k] = self.loss(np.full(len(window), k), window).sum()
        return out

    def nearest(self, count: int) -> tuple[Floats, Floats]:
        """For each point, the loss of its `count`-th nearest, and the losses of the `count` nearest added up."""
        own, start = np.arange(self.size), self.windows(count)
        furthest = np.maximum(self.loss(own, start), self.loss(own, start + count - 1))
        return furthest, self.sums(start, start + count)

    @cached_property
    def totals(self) -> Floats:
        """For each point, the losses to all points added up."""
        return self.sums(np.zeros(self.size, np.int64), np.full(self.size, self.size))

    @cached_property
    def _steps(self) -> Floats:
        """The losses at one to j equal steps, added up."""
        return np.cumsum(self.loss(np.zeros(self.size, np.int64), np.arange(self.size)))

    @cached_property
    def _moments(self) -> list[Floats]:
        """How many points there are before each, and their positions added up."""
        return [np.concatenate([[0.0], np.cumsum(self.positions**k)]) for k in (0, 1)]
