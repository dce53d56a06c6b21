"""Who answers for a pair of people: one of the two, by a public rule, so that each edge is in one list only."""

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Ints
from deniable.graphs.graph import Graph


@dataclass(frozen=True)
class Circle:
    """People in a circle, in a public random order: each answers for those who follow, half the circle long.

    Everybody owns about half of their edges, so that the number of edges owned says how many there are.

    >>> Circle(4).owners(np.array([0, 0, 1]), np.array([3, 2, 2])).tolist()
    [3, 0, 1]
    """

    people: int

    @property
    def sizes(self) -> Ints:
        """For how many others each person answers: opposite ones, in a circle of even length, belong to the first."""
        everybody = np.arange(self.people)
        return np.where((self.people % 2 == 0) & (everybody >= self.people // 2), self.people // 2 - 1, self.people // 2)

    def owners(self, first: Ints, second: Ints) -> Ints:
        """Which of two people answers for the pair."""
        ahead, back = (second - first) % self.people, (first - second) % self.people
        return np.where((ahead < back) | ((ahead == back) & (first < second)), first, second)

    def places(self, owner: Ints, other: Ints) -> Ints:
        """The place of another person in the owner's list, from 0."""
        return (other - owner) % self.people - 1

    def owned(self, graph: Graph) -> tuple[Ints, Ints, Ints]:
        """All owned edges in order: their owners, the others' numbers, and the places in the owners' lists."""
        owner = self.owners(graph.owners, graph.lower)
        place = self.places(owner, np.where(owner == graph.owners, graph.lower, graph.owners))
        owner *= self.people
        owner += place
        owner.sort()
        owner, place = np.divmod(owner, self.people)
        return owner, (owner + place + 1) % self.people, place

    def numbers(self, graph: Graph) -> Ints:
        """How many edges each person owns."""
        return np.bincount(self.owners(graph.owners, graph.lower), minlength=self.people)
