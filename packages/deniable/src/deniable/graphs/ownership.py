"""Who answers for a pair of people: one of the two, by a public rule, so that each edge is in one list only."""

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Ints
from deniable.graphs.graph import Graph

EDGES = 1 << 20  # looked at together


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
        return self.decoded(self.codes(graph))

    def codes(self, graph: Graph) -> Ints:
        """All owned edges in order, each as one number: that of its owner times `people`, plus the place in their list."""
        out = np.empty(graph.edges, np.int64)
        for start in range(0, graph.edges, EDGES):
            upper, lower = graph.owners[start : start + EDGES], graph.lower[start : start + EDGES]
            owner = self.owners(upper, lower)
            out[start : start + EDGES] = owner * self.people + self.places(owner, upper + lower - owner)
        out.sort()
        return out

    def decoded(self, codes: Ints) -> tuple[Ints, Ints, Ints]:
        """The owners, the others' numbers, and the places in the owners' lists, of some of the codes."""
        owner, place = np.divmod(codes, self.people)
        return owner, (owner + place + 1) % self.people, place

    def numbers(self, graph: Graph) -> Ints:
        """How many edges each person owns."""
        out = np.zeros(self.people, np.int64)
        for start in range(0, graph.edges, EDGES):
            some = slice(start, start + EDGES)
            out += np.bincount(self.owners(graph.owners[some], graph.lower[some]), minlength=self.people)
        return out
