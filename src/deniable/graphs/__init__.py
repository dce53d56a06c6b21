"""What can be learned about a graph whose links are the private part."""

from deniable.graphs.bipartite import BipartiteGraph

__all__ = ["BipartiteGraph"]
