"""The error of `estimate_triangles` on real graphs, and on graphs that no setting was chosen on.

    python -m research.experiments.triangle_survey --data DIR          writes triangle_survey.md, half an hour
    python -m research.experiments.triangle_survey --data DIR --quick  prints it for two runs

The graphs are wiki_vote, facebook_combined and soc_slashdot0902 of the SNAP collection. The stated error is worked out from
the reports, the measured one is the root mean square over all runs.
"""

import time
from pathlib import Path

import click
import numpy as np

from deniable.core.coins import SeededCoins
from deniable.graphs import estimate_triangles
from research.data.folder import Data
from research.data.lists import edges
from research.experiments.command import data_option, deliver, quick_option
from research.experiments.graph_coverage import Row, communities, power_law

RESULT = Path(__file__).with_suffix(".md")
RUNS = {"soc_slashdot0902": 2}
SETTINGS = ((1.0, 1.5), (2.0, 1.25))  # epsilon and alpha: a larger budget can do with less compression
OTHERS = 20
REAL = ("wiki_vote", "facebook_combined", "soc_slashdot0902")


def table(data: Data, most: int) -> list[str]:
    """A row for each graph and setting."""
    lines = ["| graph | triangles | epsilon | alpha | error measured | error stated | covered | kbit | seconds |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    graphs = {name: edges(data, f"graphs/{name}.csv.gz") for name in REAL}
    made = {
        "power law 2.1, held out": power_law(8000, 30.0, 2.1, 5),
        "communities of 80, held out": communities(5000, 80, 0.6, 0.002, 6),
    }
    for name, graph in {**made, **graphs}.items():
        truth, runs = graph.triangles(), min(RUNS.get(name, OTHERS), most)
        for epsilon, alpha in SETTINGS:
            start = time.process_time()
            found = [estimate_triangles(graph, epsilon, alpha, coins=SeededCoins(9000 + run)) for run in range(runs)]
            seconds = (time.process_time() - start) / runs
            row = Row.of(found, truth)
            bits = np.mean([each.bits for each in found]) / 1000
            errors = f"{row.error:,.0f} | {row.stated:,.0f} | {row.covered} of {runs} | {bits:,.0f} | {seconds:.1f}"
            lines.append(f"| {name} | {truth:,} | {epsilon:g} | {alpha:g} | {errors} |")
            click.echo(lines[-1], err=True)
    return lines


def page(data: Data, most: int) -> str:
    """The whole result."""
    what = "root mean square error, bits that each person downloads, CPU seconds of one run:"
    return "\n".join(
        [f"Triangles with an error bar that is worked out from the reports: {what}", "", *table(data, most), ""]
    )


@click.command()
@data_option
@quick_option("Two runs")
def main(data: Data, quick: bool) -> None:
    """Count the triangles of all graphs."""
    deliver(page(data, 2 if quick else OTHERS), None if quick else RESULT)


if __name__ == "__main__":
    main()
