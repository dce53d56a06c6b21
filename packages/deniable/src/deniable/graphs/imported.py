"""Graphs of other packages: networkx, igraph and SciPy sparse matrices, none of which is loaded here."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np

from deniable.errors import InvalidParameter
from deniable.graphs.graph import Graph


@runtime_checkable
class _Networkx(Protocol):
    def number_of_nodes(self) -> int: ...
    def nodes(self) -> Iterable[object]: ...
    def edges(self) -> Iterable[tuple[object, ...]]: ...


@runtime_checkable
class _Igraph(Protocol):
    def vcount(self) -> int: ...
    def get_edgelist(self) -> list[tuple[int, int]]: ...


@runtime_checkable
class _Sparse(Protocol):
    shape: tuple[int, ...]

    def nonzero(self) -> tuple[np.ndarray[tuple[int], np.dtype[np.integer]], ...]: ...


def imported_graph(source: object) -> tuple[Graph, list[object]]:
    """The simple graph of a networkx or igraph graph or a square SciPy sparse matrix, and the names of its vertices.

    Directions, weights, loops and repeated edges count for nothing; a matrix has an edge wherever an entry is not zero.
    Vertices without edges are kept.

    >>> from scipy.sparse import coo_array
    >>> graph, names = imported_graph(coo_array(([1, 1, 1], ([0, 1, 2], [1, 2, 0])), shape=(4, 4)))
    >>> graph.vertices, graph.triangles(), names
    (4, 1, [0, 1, 2, 3])
    """
    if isinstance(source, _Networkx):
        names = list(source.nodes())
        place = {name: number for number, name in enumerate(names)}
        pairs = [(place[edge[0]], place[edge[1]]) for edge in source.edges()]
        return Graph.of(pairs, len(names)), names
    if isinstance(source, _Igraph):
        size = source.vcount()
        return Graph.of(source.get_edgelist(), size), list(range(size))
    if isinstance(source, _Sparse) and len(source.shape) == 2 and source.shape[0] == source.shape[1]:
        first, second = source.nonzero()
        size = source.shape[0]
        return Graph.of(np.stack([first, second], axis=1).astype(np.int64), size), list(range(size))
    raise InvalidParameter(
        "This graph cannot be imported. Use a networkx or igraph graph, a square SciPy sparse matrix, or "
        "dn.Graph.of with pairs of whole numbers."
    )
