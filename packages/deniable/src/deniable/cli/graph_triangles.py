"""`deniable graph triangles`: the number of triangles, from noisy lists of neighbours."""

import json
from pathlib import Path
from typing import Literal

import click

from deniable.cli import options
from deniable.files.edges import read_edges
from deniable.graphs.triangles import count_triangles


@click.command(short_help="Count triangles.")
@click.argument("edges", type=click.Path(path_type=Path), metavar="EDGES")
@click.option("--epsilon", type=float, required=True, metavar="E", help="The privacy budget of one edge.")
@click.option("--alpha", type=float, default=1.5, show_default=True, help="Larger: fewer bits and a larger error.")
@click.option("--plain", is_flag=True, help="Send every answer on its own: a smaller error for very many bits.")
@click.option(
    "--second",
    type=click.Choice(["smooth", "laplace"]),
    default="smooth",
    show_default=True,
    help="Noise of the second round: by smooth sensitivity, or Laplace's for lists cut to their noisy length.",
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
    """Estimate how many triangles the graph in EDGES has, in two rounds.

    First everybody sends a compressed randomized response of their list of neighbours, a few bits each. Then everybody
    downloads all of them, counts their own triangles on the noisy graph, subtracts what the noise adds on average, and
    sends the result with noise of its own.

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
