"""`deniable graph triangles`: the number of triangles, from noisy lists of neighbours."""

import json
from pathlib import Path
from typing import Literal

import click

from deniable.cli import options
from deniable.cli.graph_files import graph_in
from deniable.core import Coins
from deniable.errors import InvalidParameter
from deniable.graphs.certificates import certify_count
from deniable.graphs.graph import Graph
from deniable.graphs.honest import HonestCount
from deniable.graphs.triangles import count_triangles as cut_count


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
    help="Noise of the last round: from smooth sensitivity, or Laplace noise on lists cut to their noisy length.",
)
@options.at_scale
@options.seed
@options.json_flag
def triangles(
    edges: Path,
    epsilon: float,
    alpha: float,
    plain: bool,
    second: Literal["smooth", "laplace"],
    engine: str | None,
    workers: int | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Estimate the number of triangles of the graph in EDGES, in three rounds.

    EDGES is a CSV file with a line of column names and one edge per line, or a Parquet file. The two ends of an edge are in
    the first two columns. It may also be a sparse matrix (.npz) or a GraphML file.

    In the first round, each person reports a noisy number of neighbours. In the second, each person sends a randomized
    response of their list of neighbours, compressed except between the people with the most neighbours. In the third, each
    person downloads all of these, counts their own triangles in the noisy graph, corrects the count for the noise and
    reports it with noise added. The interval is computed from the reports alone. If the interval is wider than the
    estimate, the command says so instead of printing a number.

    \b
    deniable graph triangles edges.csv --epsilon 1
    deniable graph triangles edges.csv --epsilon 1 --alpha 2 --json
    deniable graph triangles edges.parquet --epsilon 1 --engine dask://host:8786

    Blocks of people are counted by processes, or on a cluster, with the same result for the same --seed. Memory grows with
    the number of edges.
    """
    if second == "laplace" and (engine is not None or workers is not None):
        raise InvalidParameter("Lists that are cut to their noisy length are counted in one process: leave --engine out.")
    graph, _ = graph_in(edges)
    from deniable.aggregate.graphs import count_triangles
    from deniable.cli import panel  # loads rich, which --help does not need

    coins, plan = options.coins_of(seed), None
    with panel.progress("counting triangles") as tell:
        exact = graph.triangles()
        if second == "laplace":
            found, bits = _cut(graph, epsilon, alpha, plain, coins)
        else:
            hubs = graph.vertices if plain else None
            estimate = count_triangles(
                graph, epsilon, engine, alpha=alpha, hubs=hubs, coins=coins, workers=workers, progress=tell
            )
            found, bits, plan = estimate, estimate.bits, estimate.plan
    certificate = certify_count("triangles", epsilon, plan)
    if as_json:
        record = {"vertices": graph.vertices, "edges": graph.edges, "epsilon": epsilon, "estimate": found.value}
        ends = {"standard_error": found.standard_error, "low": found.low, "high": found.high, "clear": found.clear}
        rest = {"exact": exact, "bits": bits, "certificate": certificate.record()}
        click.echo(json.dumps({**record, "raw": found.raw, **ends, **rest}))
        return
    click.echo(f"graph        {graph.vertices:,} vertices, {graph.edges:,} edges; epsilon {epsilon:g} for one edge")
    click.echo(f"triangles    {found}; the file has {exact:,}")
    click.echo(f"download     {bits:,} bits, the same for everybody")
    click.echo(f"certificate  {certificate}")
    click.echo(f"promise      {certificate.statement(graph.vertices)}")


def _cut(graph: Graph, epsilon: float, alpha: float, plain: bool, coins: Coins | None) -> tuple[HonestCount, int]:
    """Lists cut to their noisy length; the error is computed from the graph, which only a simulation has."""
    counted = cut_count(graph, epsilon, alpha, "plain" if plain else "compressed", "laplace", coins=coins)
    error = (counted.second_variance + counted.response_variance(graph.shared_pairs())) ** 0.5
    most = graph.vertices * (graph.vertices - 1) * (graph.vertices - 2) // 6
    return HonestCount(counted.estimate, error, most, "triangles"), counted.bits
