"""Triangles of large graphs on many processes or machines: blocks of people and of answers are jobs, and counts add."""

from deniable.aggregate.engine import engine_of
from deniable.arrays import Progress
from deniable.core import Coins
from deniable.graphs.degree_counts import Clustering, estimate_clustering
from deniable.graphs.graph import Graph
from deniable.graphs.triangle_survey import TriangleEstimate, estimate_triangles


def count_triangles(
    graph: Graph,
    epsilon: float,
    engine: object = None,
    *,
    alpha: float = 1.5,
    hubs: int | None = None,
    coins: Coins | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> TriangleEstimate:
    """`deniable.graphs.estimate_triangles` on an engine, as for `aggregate`: the same integers on any, for the same coins.

    Memory grows with the number of edges. `progress` is called with the share that is done.
    """
    with engine_of(engine, workers) as chosen:
        return estimate_triangles(graph, epsilon, alpha, hubs, coins, run=chosen.run, progress=progress)


def count_clustering(
    graph: Graph,
    epsilon: float,
    engine: object = None,
    *,
    alpha: float = 1.5,
    coins: Coins | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Clustering:
    """`deniable.graphs.estimate_clustering` on an engine, in the same way."""
    with engine_of(engine, workers) as chosen:
        return estimate_clustering(graph, epsilon, alpha, coins, run=chosen.run, progress=progress)
