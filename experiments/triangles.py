"""Triangles of real graphs by compressed response, beside its two rivals at no fewer bits.

    python -m experiments.triangles FOLDER          writes experiments/triangles.md, some minutes
    python -m experiments.triangles FOLDER --quick  prints it for a few runs

FOLDER holds the edge lists wiki_vote.csv.gz, facebook_combined.csv.gz and soc_slashdot0902.csv.gz of the SNAP collection,
with a line of column names; of the last one the first 10,000 vertices are taken. Our budget is split the same way for all
graphs. The rivals are given several splits, of which the best is shown for each graph, and more bits than ours. Standard
errors are known exactly given the scales of the noise; for the rivals it is that of their second round alone, which is less
than all of it. The noise has heavy tails, so that the root mean square of some runs, measured, may lie far above it because
of a single one.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import numpy as np

from deniable.core.coins import Coins, SeededCoins
from deniable.files.edges import read_edges
from deniable.graphs import Graph, Split, count_triangles
from deniable.graphs.asymmetric import Asymmetric, count_triangles_asymmetric
from deniable.graphs.grouped import Grouped, count_triangles_grouped

RESULT = Path(__file__).with_suffix(".md")
GRAPHS: dict[str, int | None] = {"wiki_vote": None, "facebook_combined": None, "soc_slashdot0902": 10_000}
EPSILON, RUNS, RIVAL_RUNS = 1.0, 40, 2
ASYMMETRIC = [Split(EPSILON, 0.1, 0.6), Split(EPSILON, 0.1, 0.45), Split(EPSILON, 0.05, 0.5), Split(EPSILON, 0.2, 0.5)]
GROUPED = [Split(EPSILON, 0.05, 0.3), Split(EPSILON, 0.1, 0.45), Split(EPSILON, 0.05, 0.5)]


@dataclass(frozen=True)
class Outcome:
    """The standard error as it is known, the bits that everybody downloads, and what was measured of ours."""

    name: str
    error: float
    bits: float
    measured: float = math.nan
    seconds: float = math.nan


def read(folder: Path, name: str, most: int | None) -> Graph:
    """A graph, or the part of it between the vertices whose names are the numbers below `most`."""
    graph, names = read_edges(folder / f"{name}.csv.gz")
    if most is None:
        return graph
    numbers = np.array([int(each) for each in names])
    pairs = np.stack([numbers[graph.owners], numbers[graph.lower]], axis=1)
    return Graph.of(pairs[(pairs < most).all(axis=1)], most)


def ours(graph: Graph, truth: int, alpha: float, runs: int) -> Outcome:
    """Compressed response with the default split; the time is that of one whole run."""
    count_triangles(graph, EPSILON, alpha, coins=SeededCoins(0))
    start = time.process_time()
    found = [count_triangles(graph, EPSILON, alpha, coins=SeededCoins(1000 + run)) for run in range(runs)]
    seconds = (time.process_time() - start) / runs
    shared = graph.shared_pairs()
    error = math.sqrt(np.mean([each.second_variance + each.response_variance(shared) for each in found]))
    measured = math.sqrt(np.mean([(each.estimate - truth) ** 2 for each in found]))
    bits = float(np.mean([each.bits for each in found]))
    return Outcome(f"compressed, alpha {alpha:g}", error, bits, measured, seconds)


def rival(name: str, run: Callable[[Coins], tuple[float, float, float]], runs: int) -> Outcome:
    """The error that the second round alone gives a rival, as known from its scales, not as drawn."""
    found = [run(SeededCoins(seed)) for seed in range(runs)]
    # In favour of the rival: the first round, whose error is the smaller part, is left out.
    return Outcome(name, math.sqrt(np.mean([variance for _, _, variance in found])), found[0][1])


def asymmetric(graph: Graph, bits: float, runs: int) -> Outcome:
    """The best split, with the mu for which the download is just above ours."""
    outcomes = []
    for split in ASYMMETRIC:
        both = 1e-5
        while Asymmetric(split.for_response, math.sqrt(both)).download_bits(graph.vertices) < bits and both < 1:
            both *= 1.02
        shown = f"ARROne, split {split.degrees:g}/{split.response:g}, mu^2 {both:.2g}"
        run = partial(count_triangles_asymmetric, graph, split, min(both, 1.0), 0.0)
        outcomes.append(rival(shown, run, runs))
    return min(outcomes, key=lambda outcome: outcome.error)


def grouped(graph: Graph, bits: float, runs: int) -> Outcome:
    """The best split, with the largest saving for which the download is still above ours."""
    outcomes = []
    for split in GROUPED:
        saving = 8.0
        while _grouped_bits(graph, split, saving * 1.05) > bits:
            saving *= 1.05
        shown = f"GroupRR, split {split.degrees:g}/{split.response:g}, saving {saving:.3g}"
        outcomes.append(rival(shown, partial(count_triangles_grouped, graph, split, saving), runs))
    return min(outcomes, key=lambda outcome: outcome.error)


def _grouped_bits(graph: Graph, split: Split, saving: float) -> float:
    size = math.ceil(saving ** (1 / 3))
    return Grouped(split.for_response, size, -(-graph.vertices // size)).bits(graph.vertices, min(1.0, size * size / saving))


def table(folder: Path, runs: int, rival_runs: int) -> list[str]:
    """A row for each graph and method."""
    lines = ["| graph | method | error | kbit | measured | seconds |", "|---|---|--:|--:|--:|--:|"]
    for name, most in GRAPHS.items():
        graph = read(folder, name, most)
        truth = graph.triangles()
        click.echo(f"{name}: {graph.vertices:,} vertices, {graph.edges:,} edges, {truth:,} triangles", err=True)
        first, second = ours(graph, truth, 1.5, runs), ours(graph, truth, 2.0, runs)
        outcomes = [first, second, asymmetric(graph, first.bits, rival_runs), grouped(graph, first.bits, rival_runs)]
        title = f"{name}, {truth:,} triangles"
        for outcome in outcomes:
            rest = "  |  " if math.isnan(outcome.seconds) else f"{outcome.measured:,.0f} | {outcome.seconds:.2f}"
            lines.append(f"| {title} | {outcome.name} | {outcome.error:,.0f} | {outcome.bits / 1000:.1f} | {rest} |")
            click.echo(lines[-1], err=True)
    return lines


def page(folder: Path, runs: int, rival_runs: int) -> str:
    """The whole result."""
    what = f"standard error, bits to download, and error measured in {runs} runs:"
    about = f"Triangles at epsilon {EPSILON:g} for one edge: {what}"
    return "\n".join([about, "", *table(folder, runs, rival_runs), ""])


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--quick", is_flag=True, help="A few runs, printed and not written.")
def main(folder: Path, quick: bool) -> None:
    """Count the triangles of three graphs by all methods."""
    if quick:
        click.echo(page(folder, 4, 1))
    else:
        RESULT.write_text(page(folder, RUNS, RIVAL_RUNS), encoding="utf-8")
        click.echo(f"written: {RESULT.name}")


if __name__ == "__main__":
    main()
