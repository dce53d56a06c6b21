"""Graphs with given degrees and no other structure: the likeliest ones, in which any two people may be joined once only.

Two people are joined with probability x y / (1 + x y), the x of each such that the degrees come out (Park and Newman 2004).
Stars and cliques have no other graph with their degrees; their probabilities come out within 2 %.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Floats

ROUNDS = 400
LEAST, LARGEST = 1e-7, 1e12  # of x; where no graph has all these degrees, large ones come out and small ones are raised


@dataclass(frozen=True)
class Shared:
    """What is expected of the pairs of people above a third: the sum of c^2 by the lower one of each pair, and triangles.

    c is how many people below are joined to both.
    """

    squares: Floats
    triangles: float


@dataclass(frozen=True, eq=False)
class NullModel:
    """Groups of people in an order, and how many of each group are expected to have each of some degrees."""

    degrees: Floats
    often: Floats  # a row for each group, in order; a column for each degree

    @cached_property
    def joined(self) -> Floats:
        """How likely two people with these degrees are joined."""
        people = self.often.sum(axis=0)
        x = self.degrees / max(float(np.sqrt(people @ self.degrees)), 1.0)
        for _ in range(ROUNDS):
            chance = 1 / (1 + np.outer(x, x))
            x = self.degrees / np.maximum((chance * x) @ people - chance.diagonal() * x, 1e-300)
            x = np.where(self.degrees > 0, np.clip(x, LEAST, LARGEST), 0.0)
        product = np.outer(x, x)
        return np.asarray(product / (1 + product))

    @cached_property
    def sizes(self) -> Floats:
        """How many people are in each group."""
        return np.asarray(self.often.sum(axis=1))

    @cached_property
    def until(self) -> Floats:
        """For each group how many people before one of it have each of the degrees: of the others in it, half are."""
        return self._before + self.often * ((self.sizes - 1) / (2 * np.maximum(self.sizes, 1e-300)))[:, None]

    @cached_property
    def _before(self) -> Floats:
        """For each group how many people in groups before it have each of the degrees."""
        return np.cumsum(self.often, axis=0) - self.often

    @cached_property
    def reach(self) -> Floats:
        """For each group, the share of its neighbours before it that people with these degrees are joined to."""
        ends = self.until * self.degrees
        return np.asarray(ends @ self.joined / np.maximum(ends.sum(axis=1, keepdims=True), 1e-300))

    @cached_property
    def shared(self) -> Shared:
        """All pairs of two different people, of whom the lower one is in the group and the upper in it or before.

        People of one group are alike: each has any degree with the same chance. Of the others in a group, half are below one
        of its people, and a third below two of them.
        """
        squares, triangles = np.zeros(len(self.often)), 0.0
        after = self.often.sum(axis=0) - self._before - self.often
        for number, (mine, size) in enumerate(zip(self.often, self.sizes, strict=True)):
            others, two = max(size - 1, 0.0) / (2 * size), max(size - 2, 0.0) / (3 * size)
            for upper, below in ((self._before[number], others), (others * mine, two)):
                found, closed = self._pairs(upper, mine, after[number] + below * mine)
                squares[number] += found
                triangles += closed
        return Shared(squares, triangles)

    def _pairs(self, upper: Floats, lower: Floats, below: Floats) -> tuple[float, float]:
        """What is expected of the pairs of one of the upper and one of the lower people: c^2, and triangles."""
        p = self.joined
        mean = (p * below) @ p  # how many below are joined to both, for all pairs of degrees
        square = mean**2 + np.maximum(mean - (p**2 * below) @ p**2, 0.0)
        return float(upper @ square @ lower), float(upper @ (p * mean) @ lower)
