"""`deniable graph`: private questions about a graph, one sub-command a file."""

import click

from deniable.cli.graph_neighbours import neighbours
from deniable.cli.graph_triangles import triangles


@click.group(short_help="Ask private questions about a graph.")
def graph() -> None:
    """Ask questions about a graph whose edges are private.

    EDGES is a CSV file with a line of column names and an edge a line, its two ends in the first two columns; a file that
    ends in .gz is unpacked. The people at the vertices are simulated: each randomizes the list of their own neighbours, and
    what they would send is what is counted. Epsilon is for one edge.

    \b
    deniable graph triangles edges.csv --epsilon 1
    deniable graph common-neighbours edges.csv ann bob --epsilon 2
    """


graph.add_command(triangles)
graph.add_command(neighbours)
