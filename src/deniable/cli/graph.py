"""`deniable graph`: what can be learned about a graph whose links are private, one sub-command for each kind."""

import click

from deniable.cli.graph_bipartite import bipartite


@click.group(short_help="Estimate degrees, weights and shapes of a private graph.")
def graph() -> None:
    """Learn about a graph whose links are private.

    Each person's links are one answer, randomized together before anybody else sees them. What follows is estimated from the
    reports alone, with intervals.

    \b
    deniable graph bipartite ratings.csv --epsilon 2
    """


for kind in (bipartite,):
    graph.add_command(kind)
