"""`deniable graph triangles`: the number of triangles, from noisy lists of neighbours."""

import json
from pathlib import Path
from typing import Literal

import click

from deniable.cli import options
from deniable.files.edges import read_edges
from deniable.graphs.triangles import count_triangles


@click.command(short_help="Estimate the number of triangles.")
@click.argument("edges", type=click.Path(path_type=Path), metavar="EDGES")
@click.option("--epsilon", type=float, required=True, metavar="E", help="The privacy budget of one edge.")
@options.alpha
@click.option("--plain", is_flag=True, help="Do not compress: a smaller error, but many more bits.")
@click.option(
    "--second",
    type=click.Choice(["smooth", "laplace"]),
    default="smooth",
    show_default=True,
    help="Noise of the second round: from smooth sensitivity, or Laplace noise on lists cut to their noisy length.",
)
@options.seed
@options.json_flag
def triangles(
    edges: Path,
    epsilon: float,
    alpha: float,
    plain: bool,
    second: Literal["smooth", "laplace"],
    seed: int | None,
    as_json: bool,
) -> None:
    """Estimate the number of triangles of the graph in EDGES, in two rounds.

    EDGES is a CSV file with a line of column names and one edge per line, its two ends in the first two columns.

    In the first round, each person sends a compressed randomized response of their list of neighbours. In the second, each
    person downloads all of these, counts their own triangles in the noisy graph, corrects the count for the noise and
    reports it with noise added.

    \b
    deniable graph triangles edges.csv --epsilon 1
    deniable graph triangles edges.csv --epsilon 1 --alpha 2 --json
    """
    graph, _ = read_edges(edges)
    found = count_triangles(graph, epsilon, alpha, "plain" if plain else "compressed", second, coins=options.coins_of(seed))
    error = (found.second_variance + found.response_variance(graph.shared_pairs())) ** 0.5
    exact = graph.triangles()
    if as_json:
        record = {"vertices": graph.vertices, "edges": graph.edges, "epsilon": epsilon, "estimate": found.estimate}
        click.echo(json.dumps({**record, "standard_error": error, "exact": exact, "bits": found.bits}))
        return
    click.echo(f"graph      {graph.vertices:,} vertices, {graph.edges:,} edges; epsilon {epsilon:g} for one edge")
    click.echo(f"triangles  {found.estimate:,.0f}, standard error {error:,.0f}; the file has {exact:,}")
    click.echo(f"download   {found.bits:,} bits, the same for everybody")
