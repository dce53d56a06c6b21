"""Where the answers of an ordered domain lie on the line, and which part of each lies below a number."""

from dataclasses import dataclass
from functools import cached_property, singledispatch

import numpy as np

from deniable.arrays import Floats
from deniable.core import Domain
from deniable.domains.interval import Interval
from deniable.domains.ordered import Ordered
from deniable.errors import InvalidParameter


@dataclass(frozen=True, eq=False)
class Grid:
    """Increasing points. With `atoms` an answer is its point; otherwise it stands for the numbers nearest to its point."""

    points: Floats
    labels: tuple[object, ...]
    atoms: bool

    @property
    def size(self) -> int:
        return len(self.points)

    @cached_property
    def edges(self) -> Floats:
        """Where the part of each point begins, and where the last ends."""
        inner = (self.points[1:] + self.points[:-1]) / 2
        return np.concatenate([self.points[:1], inner, self.points[-1:]])

    def below(self, number: float) -> Floats:
        """Which part of each answer is at most this number, from 0 to 1."""
        if self.atoms:
            return (self.points <= number).astype(np.float64)
        return np.clip((number - self.edges[:-1]) / np.diff(self.edges), 0, 1)

    def between(self, low: float, high: float) -> Floats:
        """Which part of each answer is from `low` to `high`, both included."""
        if not low <= high:
            raise InvalidParameter("A range needs two numbers, the lower one first.")
        if self.atoms:
            return ((self.points >= low) & (self.points <= high)).astype(np.float64)
        return self.below(high) - self.below(low)

    def at(self, cumulated: Floats, share: float) -> float:
        """The number below which this share lies, where cumulated shares never fall."""
        cell = min(int(np.searchsorted(cumulated, share)), self.size - 1)
        if self.atoms:
            return float(self.points[cell])
        before = cumulated[cell - 1] if cell else 0.0
        part = np.clip((share - before) / max(cumulated[cell] - before, 1e-300), 0, 1)
        return float(self.edges[cell] + part * (self.edges[cell + 1] - self.edges[cell]))

    def reaches(self, inner: Floats, share: float, last: bool = False) -> float:
        """Where a curve that never falls reaches the share; `inner` holds its values after all answers but the last one.

        With `last`, the last such place: for single answers, the one up to which the curve does not exceed the share.
        """
        if self.atoms:
            return float(self.points[int((inner <= share).sum() if last else (inner < share).sum())])
        return float(np.interp(share, [0, *inner, 1], self.edges))


@singledispatch
def grid_of(domain: Domain) -> Grid:
    """The points of an ordered domain; a new ordered domain registers its own."""
    raise InvalidParameter(
        "A distribution needs answers in order: an Interval of numbers, such as Interval(0, 120, steps=256), or Ordered."
    )


@grid_of.register
def _(domain: Interval) -> Grid:
    return Grid(domain.points, domain.labels, atoms=False)  # type: ignore[arg-type]


@grid_of.register
def _(domain: Ordered) -> Grid:
    return Grid(domain.line.positions, tuple(domain.labels), atoms=True)
