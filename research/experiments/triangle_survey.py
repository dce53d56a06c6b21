"""The error of `estimate_triangles` on real graphs, and on a graph that no setting was chosen on.

    python -m research.experiments.triangle_survey --data DIR          writes triangle_survey.md, two minutes
    python -m research.experiments.triangle_survey --data DIR --quick  prints it for two runs

The graphs are wiki_vote and facebook_combined of the SNAP collection, and one that is made here. The stated error is worked
out from the reports, the measured one is the root mean square over all runs.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from deniable.core.coins import SeededCoins
from deniable.graphs import Graph, estimate_triangles
from research.data.folder import Data
from research.data.lists import edges
from research.experiments.command import data_option, deliver, quick_option
from research.experiments.graph_coverage import Row, power_law

RESULT = Path(__file__).with_suffix(".md")
RUNS = 20
ONE, TWO = (1.0, 1.5), (2.0, 1.25)  # epsilon and alpha: a larger budget can do with less compression


@dataclass(frozen=True)
class Case:
    """A graph, how often its triangles are counted, and with which settings."""

    name: str
    graph: Callable[[Data], Graph]
    runs: int = RUNS
    settings: tuple[tuple[float, float], ...] = (ONE,)


CASES = (
    Case("wiki_vote", lambda data: edges(data, "graphs/wiki_vote.csv.gz"), settings=(ONE, TWO)),
    Case("facebook_combined", lambda data: edges(data, "graphs/facebook_combined.csv.gz"), settings=(ONE, TWO)),
    Case("power law 2.1, held out", lambda _: power_law(8000, 30.0, 2.1, 5), runs=10),
)


def table(data: Data, most: int) -> list[str]:
    """A row for each graph and setting."""
    lines = ["| graph | triangles | epsilon | alpha | error measured | error stated | covered | kbit | seconds |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for case in CASES:
        graph = case.graph(data)
        truth, runs = graph.triangles(), min(case.runs, most)
        for epsilon, alpha in case.settings:
            start = time.process_time()
            found = [estimate_triangles(graph, epsilon, alpha, coins=SeededCoins(9000 + run)) for run in range(runs)]
            seconds = (time.process_time() - start) / runs
            bits = float(np.mean([each.bits for each in found]))
            row = Row.of(found, truth)
            lines.append(line(case.name, truth, (epsilon, alpha), row, runs, bits, seconds))
            click.echo(lines[-1], err=True)
    return lines


def line(name: str, truth: int, setting: tuple[float, float], row: Row, runs: int, bits: float, seconds: float) -> str:
    """One row of the table."""
    errors = f"{row.error:,.0f} | {row.stated:,.0f} | {row.covered} of {runs} | {bits / 1000:,.0f} | {seconds:.1f}"
    return f"| {name} | {truth:,} | {setting[0]:g} | {setting[1]:g} | {errors} |"


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
    deliver(page(data, 2 if quick else RUNS), None if quick else RESULT)


if __name__ == "__main__":
    main()
