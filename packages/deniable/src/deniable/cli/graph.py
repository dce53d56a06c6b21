"""`deniable graph`: what can be learned about a graph whose links are private, one sub-command for each kind."""

import click

from deniable.cli.graph_bipartite import bipartite
from deniable.cli.graph_neighbours import neighbours
from deniable.cli.graph_triangles import triangles


@click.group(short_help="Estimate statistics of a graph whose links are private.")
def graph() -> None:
    """Learn about a graph whose links are private.

    Each person's links are one answer, randomized before anybody else sees them: links to items, with weights, or to other
    people. The people are simulated from a table that holds their links, and what they would send is what is counted.

    \b
    deniable graph bipartite ratings.csv --epsilon 2
    deniable graph triangles edges.csv --epsilon 1
    deniable graph common-neighbours edges.csv ann bob --epsilon 2
    """


for kind in (bipartite, triangles, neighbours):
    graph.add_command(kind)
