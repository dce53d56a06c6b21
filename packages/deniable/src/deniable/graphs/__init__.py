"""Graphs whose links are private: each person randomizes the list of their own."""

from deniable.graphs.bipartite import BipartiteGraph
from deniable.graphs.budget import Split
from deniable.graphs.foreseen import foreseen_split
from deniable.graphs.graph import Graph
from deniable.graphs.neighbours import common_neighbours
from deniable.graphs.triangles import TriangleCount, count_triangles
from deniable.graphs.tuning import best_split

__all__ = [
    "BipartiteGraph",
    "Graph",
    "Split",
    "TriangleCount",
    "best_split",
    "common_neighbours",
    "count_triangles",
    "foreseen_split",
]
