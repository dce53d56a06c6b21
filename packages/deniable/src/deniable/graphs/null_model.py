"""Graphs with given degrees and no other structure: the likeliest ones, in which any two people may be joined once only.

Two people are joined with probability x y / (1 + x y), the x of each such that the degrees come out (Park and Newman 2004).
Stars and cliques have no other graph with their degrees; their probabilities come out within 2 %.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Floats

ROUNDS = 400
LARGEST = 1e9  # of x: such people are joined to everybody


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
            x = np.minimum(self.degrees / np.maximum((chance * x) @ people - chance.diagonal() * x, 1e-300), LARGEST)
        product = np.outer(x, x)
        return np.asarray(product / (1 + product))

    @cached_property
    def until(self) -> Floats:
        """For each group how many people before the middle of it have each of the degrees."""
        return np.cumsum(self.often, axis=0) - self.often / 2

    @cached_property
    def reach(self) -> Floats:
        """For each group, the share of its neighbours before it that people with these degrees are joined to."""
        ends = self.until * self.degrees
        return np.asarray(ends @ self.joined / np.maximum(ends.sum(axis=1, keepdims=True), 1e-300))

    @cached_property
    def shared(self) -> Shared:
        """Pairs of which the upper person is in the same group or one before; half of a group is above any of its people.

        Half of the group, not of the others in it: a single hub is counted as half a pair with itself, so that the intervals
        of a star are too long.
        """
        p, squares, triangles = self.joined, np.zeros(len(self.often)), 0.0
        for number, (mine, above) in enumerate(zip(self.often, self.until, strict=True)):
            below = self.often.sum(axis=0) - above
            mean = (p * below) @ p  # how many below are joined to both, for all pairs of degrees
            square = mean**2 + np.maximum(mean - (p**2 * below) @ p**2, 0.0)
            squares[number] = above @ square @ mine
            triangles += float(above @ (p * mean) @ mine)
        return Shared(squares, triangles)
