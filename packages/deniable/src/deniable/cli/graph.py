"""`deniable graph`: what can be learned about a graph whose links are private, one sub-command for each kind."""

import click

from deniable.cli.graph_bipartite import bipartite
from deniable.cli.graph_counts import clustering, core, cycles, degrees, edges, homophily, stars
from deniable.cli.graph_neighbours import neighbours
from deniable.cli.graph_triangles import triangles


@click.group(short_help="Estimate statistics of a graph whose links are private.")
def graph() -> None:
    """Estimate statistics of a graph whose links are private.

    The links of a person, to items or to other people, are randomized on that person's device. These commands simulate the
    people of a table of links and estimate from the reports that they would send.

    \b
    deniable graph bipartite ratings.csv --epsilon 2
    deniable graph triangles edges.csv --epsilon 1
    deniable graph common-neighbours edges.csv ann bob --epsilon 2
    deniable graph degrees edges.csv --epsilon 1
    """


for kind in (bipartite, edges, degrees, stars, homophily, triangles, clustering, cycles, core, neighbours):
    graph.add_command(kind)
