"""Undirected graphs by their lower neighbours: vertex i holds its edges to j < i, so that every edge has one owner."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Bools, Ints
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.kernels.lists import closed_pairs, pairs_within

WEDGES = 1 << 22  # pairs of edges listed at a time


@dataclass(frozen=True, eq=False)
class Graph:
    """Vertices 0 to `vertices` - 1; those below i that i is joined to are lower[offsets[i]:offsets[i + 1]], in order."""

    vertices: int
    offsets: Ints
    lower: Ints

    @classmethod
    def of(cls, edges: ArrayLike, vertices: int | None = None) -> "Graph":
        """The simple graph of these pairs: loops are left out, and each edge counts once whatever its direction.

        >>> Graph.of([(0, 1), (1, 0), (2, 0), (1, 2), (2, 2)]).triangles()
        1
        """
        pairs = np.asarray(edges)
        if pairs.size == 0:
            pairs = np.empty((0, 2), np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise InvalidParameter("The edges of a graph must be pairs of whole numbers.")
        size = vertices if vertices is not None else int(pairs.max(initial=-1)) + 1
        if size < 1:
            raise EmptyBatch("This graph has no vertices.")
        if len(pairs) and (pairs.min() < 0 or pairs.max() >= size):
            raise InvalidParameter(f"Vertices are numbered from 0 to {size - 1}.")
        return cls._between(pairs[:, 0].astype(np.int64, copy=False), pairs[:, 1].astype(np.int64, copy=False), size)

    @classmethod
    def _between(cls, first: Ints, second: Ints, size: int) -> "Graph":
        """The simple graph of the pairs of two columns, in little more memory than these take."""
        codes = np.maximum(first, second)
        codes *= size
        codes += np.minimum(first, second)
        if (first == second).any():
            codes = codes[first != second]
        codes.sort()
        fresh = codes[1:] != codes[:-1]
        if not fresh.all():
            codes = np.concatenate([codes[:1], codes[1:][fresh]])
        lower = codes % size
        codes //= size
        return cls(size, np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=size))]), lower)

    @classmethod
    def named(cls, edges: ArrayLike) -> tuple["Graph", NDArray[np.generic]]:
        """The graph of pairs of any names, numbered in sorted order, and the names."""
        pairs = np.asarray(edges)
        if pairs.size == 0:
            raise EmptyBatch("A graph needs at least one edge.")
        names, numbers = np.unique(pairs, return_inverse=True)
        return cls.of(numbers.reshape(pairs.shape), len(names)), names

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.lower)

    @cached_property
    def degrees(self) -> Ints:
        """How many lower neighbours each vertex has."""
        return np.diff(self.offsets)

    @cached_property
    def owners(self) -> Ints:
        """The upper end of each edge."""
        return np.repeat(np.arange(self.vertices), self.degrees)

    def below(self, vertex: int) -> Ints:
        """The lower neighbours of a vertex."""
        return self.lower[self.offsets[vertex] : self.offsets[vertex + 1]]

    def neighbours(self, vertex: int) -> Ints:
        """All neighbours of a vertex, in order."""
        return np.concatenate([self.below(vertex), self.owners[self.lower == vertex]])

    def renumbered(self, order: Ints) -> "Graph":
        """The same graph with vertex i called order[i]."""
        return Graph._between(order[self.owners], order[self.lower], self.vertices)

    def wedges(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """All (i, j, k) with j < k < i and edges from i to both, some millions at a time."""
        return pairs_within(self.offsets, self.lower, WEDGES)

    @cached_property
    def wedge_counts(self) -> Ints:
        """How many pairs of lower neighbours each vertex has."""
        return self.degrees * (self.degrees - 1) // 2

    def are_edges(self, first: Ints, second: Ints) -> Bools:
        """Whether each of these pairs is an edge."""
        codes = self.owners * self.vertices + self.lower
        asked = np.maximum(first, second) * self.vertices + np.minimum(first, second)
        if not len(codes):
            return np.zeros(len(asked), np.bool_)
        return codes[np.minimum(np.searchsorted(codes, asked), len(codes) - 1)] == asked

    def by_degree(self) -> "Graph":
        """The same graph with the vertices of most edges first: nobody then has more than sqrt(2 edges) lower neighbours."""
        degrees = self.degrees + np.bincount(self.lower, minlength=self.vertices)
        place = np.empty(self.vertices, np.int64)
        place[np.argsort(-degrees, kind="stable")] = np.arange(self.vertices)
        return self.renumbered(place)

    def triangles(self) -> int:
        """How many triangles there are, exactly."""
        ordered = self.by_degree()
        return closed_pairs(ordered.offsets, ordered.lower)

    def shared_pairs(self) -> int:
        """The sum over pairs j < k of c^2, c being how many vertices above k are joined to both."""
        codes = [j * self.vertices + k for _, j, k in self.wedges()]
        if not codes:
            return 0
        counts = np.unique(np.concatenate(codes), return_counts=True)[1]
        return int((counts.astype(np.int64) ** 2).sum())
