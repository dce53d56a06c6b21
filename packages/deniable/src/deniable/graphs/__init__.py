"""Graphs whose links are private: each person randomizes the list of their own."""

from deniable.graphs.bipartite import BipartiteGraph
from deniable.graphs.budget import Split
from deniable.graphs.certificates import GraphCertificate, certify_count
from deniable.graphs.cores import CoreEstimate, estimate_core
from deniable.graphs.cycles import estimate_butterflies, estimate_cycles
from deniable.graphs.degree_counts import estimate_clustering, estimate_degrees, estimate_homophily, estimate_stars
from deniable.graphs.edge_count import estimate_edges
from deniable.graphs.foreseen import foreseen_split
from deniable.graphs.graph import Graph
from deniable.graphs.honest import HonestCount
from deniable.graphs.imported import imported_graph
from deniable.graphs.neighbours import common_neighbours
from deniable.graphs.plan import Plan
from deniable.graphs.triangle_survey import TriangleEstimate, estimate_triangles
from deniable.graphs.triangles import TriangleCount, count_triangles
from deniable.graphs.tuning import best_split

__all__ = [
    "BipartiteGraph",
    "CoreEstimate",
    "Graph",
    "GraphCertificate",
    "HonestCount",
    "Plan",
    "Split",
    "TriangleCount",
    "TriangleEstimate",
    "best_split",
    "certify_count",
    "common_neighbours",
    "count_triangles",
    "estimate_butterflies",
    "estimate_clustering",
    "estimate_core",
    "estimate_cycles",
    "estimate_degrees",
    "estimate_edges",
    "estimate_homophily",
    "estimate_stars",
    "estimate_triangles",
    "foreseen_split",
    "imported_graph",
]
