"""`deniable graph common-neighbours`: how many neighbours two people share."""

import json
from pathlib import Path

import click
import numpy as np

from deniable.cli import options
from deniable.cli.graph_files import graph_in
from deniable.errors import InvalidParameter
from deniable.graphs.certificates import certify_count
from deniable.graphs.neighbours import common_neighbours


@click.command("common-neighbours", short_help="Estimate the number of common neighbours of two people.")
@click.argument("edges", type=click.Path(path_type=Path), metavar="EDGES")
@click.argument("first")
@click.argument("second")
@click.option(
    "--epsilon", type=float, required=True, metavar="E", help="The privacy budget of one entry in a list of neighbours."
)
@options.alpha
@options.seed
@options.json_flag
def neighbours(edges: Path, first: str, second: str, epsilon: float, alpha: float, seed: int | None, as_json: bool) -> None:
    """Estimate how many neighbours FIRST and SECOND have in common in the graph in EDGES.

    EDGES is a CSV file with a line of column names and one edge per line, or a Parquet file. The two ends of an edge are in
    the first two columns. It may also be a sparse matrix (.npz) or a GraphML file.

    SECOND sends a compressed randomized response of their list of neighbours. FIRST adds up its unbiased estimates over
    their own list and reports the sum with noise added, and the length of their list with noise, from which the interval is
    computed. If the interval is wider than the estimate, the command says so instead of printing a number. Neither learns
    the other's list.

    \b
    deniable graph common-neighbours edges.csv ann bob --epsilon 2
    """
    graph, names = graph_in(edges)
    for name in (first, second):
        if name not in names:
            raise InvalidParameter("FIRST and SECOND must be names in the file.")
    ends = names.index(first), names.index(second)
    found = common_neighbours(graph, *ends, epsilon, alpha, coins=options.coins_of(seed))
    exact = len(np.intersect1d(graph.neighbours(ends[0]), graph.neighbours(ends[1])))
    certificate = certify_count("common", epsilon)
    if as_json:
        record = {"epsilon": epsilon, "estimate": found.value, "standard_error": found.standard_error, "exact": exact}
        shown = {"raw": found.raw, "low": found.low, "high": found.high, "clear": found.clear}
        click.echo(json.dumps({**record, **shown, "bits": found.bits, "certificate": certificate.record()}))
        return
    click.echo(f"common neighbours  {found}; the file has {exact:,}")
    click.echo(f"message            {found.bits:,} bits, from {graph.vertices:,} possible neighbours")
    click.echo(f"certificate        {certificate}")
    click.echo(f"promise            {certificate.statement(graph.vertices)}")
