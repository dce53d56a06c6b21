"""How near the stated error of a count of triangles is to the true one, which only a simulation knows.

    python -m research.experiments.graph_errors --data DIR          writes graph_errors.md, some minutes
    python -m research.experiments.graph_errors --data DIR --quick  prints it for one run

Given the graph, the order of the people and the answers, the variance is exact: that of one answer times the sum of c^2, c
being how many people are joined to both of a pair, and the squares of the noise that everybody adds. So a few runs show what
counting covered intervals shows in thousands. The coverage is that of normal errors, for each run with its own stated error.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import click

from deniable.core.coins import SeededCoins
from deniable.graphs import Graph
from research.data.folder import Data
from research.data.lists import SLASHDOT, edges
from research.experiments.command import data_option, deliver, quick_option
from research.experiments.graph_runs import SETTINGS, one_run
from research.experiments.graph_shapes import graphs, power_law

RESULT = Path(__file__).with_suffix(".md")
RUNS, LARGE = 5, 3_000  # runs, of larger graphs one
LAST = "power law 2.1, held out"
REAL = ("wiki_vote", "facebook_combined")


def all_graphs(data: Data) -> Iterator[tuple[str, Graph]]:
    """Those of the table of coverage and two more."""
    yield from graphs()
    for name in REAL:
        if data.has(f"graphs/{name}.csv.gz"):
            yield name, edges(data, f"graphs/{name}.csv.gz")
    yield LAST, power_law(8000, 30.0, 2.1, 5)
    if data.has(SLASHDOT):
        yield "soc_slashdot0902", edges(data, SLASHDOT)


def page(data: Data, runs: int) -> str:
    """The whole result."""
    what = "true standard error, stated one as a share of it (mean, least, most), 95 % intervals that contain the truth:"
    lines = [f"Stated and true errors of counts of triangles: {what}", ""]
    lines.append("| graph | epsilon | alpha | runs | true error | stated | least | most | covered | kbit |")
    lines.append("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, graph in all_graphs(data):
        for epsilon, alpha in SETTINGS:
            count = runs if graph.vertices < LARGE else 1
            found = [one_run(graph, epsilon, alpha, SeededCoins(5000 + number)) for number in range(count)]
            ratios, true = [each.ratio for each in found], math.sqrt(fmean(each.true**2 for each in found))
            shares = f"{fmean(ratios):.3f} | {min(ratios):.3f} | {max(ratios):.3f}"
            rest = f"{fmean(each.coverage for each in found):.1%} | {fmean(each.bits for each in found) / 1000:,.0f}"
            lines.append(f"| {name} | {epsilon:g} | {alpha:g} | {count} | {true:,.0f} | {shares} | {rest} |")
            click.echo(lines[-1], err=True)
    return "\n".join([*lines, ""])


@click.command()
@data_option
@quick_option("One run")
def main(data: Data, quick: bool) -> None:
    """Compare stated and true errors on all graphs."""
    deliver(page(data, 1 if quick else RUNS), None if quick else RESULT)


if __name__ == "__main__":
    main()
