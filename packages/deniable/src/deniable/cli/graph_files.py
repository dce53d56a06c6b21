"""Graphs in files, with a bar that shows how much of a long one has been read."""

from pathlib import Path

from deniable.files.edges import read_edges
from deniable.graphs.graph import Graph


def graph_in(path: Path) -> tuple[Graph, list[str]]:
    """The graph in a file of edges, and the names of its vertices."""
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("reading") as advance_to:
        return read_edges(path, advance_to)
