"""Whether the error bars of graph counts hold: how often a 95 % interval has the true count in it, on graphs of all kinds.

    python -m research.experiments.graph_coverage --data DIR          writes graph_coverage.md, 40 minutes
    python -m research.experiments.graph_coverage --data DIR --quick  prints it for a few runs
    python -m research.experiments.graph_coverage --only star         prints the rows of the graphs with such names

Intervals are those of the raw count, before it is cut to what is possible; the shown ones hold the truth at least as often.
No setting was chosen on the graphs from `HELD_OUT` on. Common neighbours are those of the two people with the most
neighbours. The real graphs are of the SNAP collection.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import numpy as np

from deniable.core.coins import SeededCoins
from deniable.graphs import Graph, HonestCount, common_neighbours, estimate_triangles
from research.data.folder import Data
from research.data.lists import edges
from research.experiments.command import data_option, deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
REACH = 1.96
RUNS = 200
HELD_OUT = "power law 2.2, held out"
REAL = ("wiki_vote", "facebook_combined")


def complete(size: int) -> Graph:
    """Everybody is joined to everybody."""
    return Graph.of(np.argwhere(np.tri(size, k=-1) > 0), size)


def two_sides(first: int, second: int) -> Graph:
    """Everybody on one side is joined to everybody on the other."""
    return Graph.of([(i, first + j) for i in range(first) for j in range(second)], first + second)


def road(side: int) -> Graph:
    """A grid of streets with a diagonal in every third block."""
    pairs = [((x, y), (x + 1, y)) for x in range(side - 1) for y in range(side)]
    pairs += [((x, y), (x, y + 1)) for x in range(side) for y in range(side - 1)]
    pairs += [((x, y), (x + 1, y + 1)) for x in range(side - 1) for y in range(side - 1) if (x + y) % 3 == 0]
    return Graph.of([(a * side + b, c * side + d) for (a, b), (c, d) in pairs], side * side)


def power_law(size: int, mean: float, exponent: float, seed: int) -> Graph:
    """Expected degrees that follow a power law, and no other structure."""
    weights = (np.arange(size) + 10.0) ** (-1 / (exponent - 1))
    weights *= mean * size / weights.sum()
    random = np.random.default_rng(seed)
    rows = [
        np.stack([np.full(i, i), np.arange(i)], axis=1)[random.random(i) < weights[i] * weights[:i] / weights.sum()]
        for i in range(1, size)
    ]
    return Graph.of(np.concatenate(rows), size)


def communities(size: int, each: int, inside: float, between: float, seed: int) -> Graph:
    """Groups that are dense inside."""
    random = np.random.default_rng(seed)
    group = np.arange(size) // each
    chance = np.where(group[:, None] == group[None, :], inside, between)
    return Graph.of(np.argwhere(np.tril(random.random((size, size)) < chance, -1)), size)


def small_world(size: int, reach: int, rewired: float, seed: int) -> Graph:
    """A ring of neighbours, some of whose edges lead elsewhere (Watts and Strogatz 1998)."""
    random = np.random.default_rng(seed)
    first = np.repeat(np.arange(size), reach)
    second = (first + np.tile(np.arange(1, reach + 1), size)) % size
    second = np.where(random.random(len(first)) < rewired, random.integers(0, size, len(first)), second)
    return Graph.of(np.stack([first, second], axis=1), size)


def graphs(data: Data) -> Iterator[tuple[str, Graph]]:
    """All graphs with their names, real ones where there are data."""
    yield "two people, joined", Graph.of([(0, 1)])
    yield "empty, 500 people", Graph.of([], 500)
    yield "star of 1,000", Graph.of([(0, i) for i in range(1, 1000)])
    yield "K(3,250)", two_sides(3, 250)
    yield "clique of 100", complete(100)
    yield "road-like, 1,600 crossings", road(40)
    yield "power law 2.5, 1,000 people", power_law(1000, 20.0, 2.5, 1)
    yield HELD_OUT, power_law(800, 12.0, 2.2, 2)
    yield "communities of 40, held out", communities(800, 40, 0.5, 0.005, 3)
    yield "small world, held out", small_world(800, 8, 0.1, 4)
    for name in REAL:
        if data.has(f"graphs/{name}.csv.gz"):
            yield name, edges(data, f"graphs/{name}.csv.gz")


@dataclass(frozen=True)
class Row:
    """What many runs of one count gave."""

    covered: int
    clear: int
    error: float
    stated: float

    @classmethod
    def of(cls, found: Sequence[HonestCount], truth: int) -> "Row":
        """Measured against the truth."""
        off = np.array([each.raw - truth for each in found])
        stated = np.array([each.standard_error for each in found])
        inside = int((np.abs(off) <= REACH * stated).sum())
        return cls(inside, sum(each.clear for each in found), rms(off), rms(stated))


def rms(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The root of the mean square."""
    return math.sqrt(float(np.mean(numbers**2)))


def runs_of(count: Callable[[SeededCoins], HonestCount], truth: int, runs: int) -> Row:
    """So many runs of a count, each with its own coins."""
    return Row.of([count(SeededCoins(7000 + run)) for run in range(runs)], truth)


def _triangles(graph: Graph, coins: SeededCoins) -> HonestCount:
    return estimate_triangles(graph, 1.0, coins=coins)


def _common(graph: Graph, first: int, second: int, coins: SeededCoins) -> HonestCount:
    return common_neighbours(graph, first, second, 2.0, coins=coins)


def rows(name: str, graph: Graph, runs: int) -> list[str]:
    """The rows of one graph."""
    lines: list[str] = []

    def add(what: str, epsilon: float, truth: int, count: Callable[[SeededCoins], HonestCount]) -> None:
        row = runs_of(count, truth, runs)
        counts = f"{row.covered / runs:.1%} | {row.clear / runs:.0%}"
        lines.append(f"| {name} | {what} | {epsilon:g} | {truth:,} | {row.error:,.1f} | {row.stated:,.1f} | {counts} |")
        click.echo(lines[-1], err=True)

    add("triangles", 1.0, graph.triangles(), partial(_triangles, graph))
    if graph.vertices > 80:
        degrees = np.bincount(np.concatenate([graph.owners, graph.lower]), minlength=graph.vertices)
        first, second = np.argsort(-degrees, kind="stable")[:2].tolist()
        shared = len(np.intersect1d(graph.neighbours(first), graph.neighbours(second)))
        add("common neighbours", 2.0, shared, partial(_common, graph, first, second))
    return lines


def table(data: Data, runs: int, only: str) -> list[str]:
    """A row for each graph and count."""
    head = ["| graph | count | epsilon | truth | error measured | error stated | covered | clear |"]
    head.append("|---|---|--:|--:|--:|--:|--:|--:|")
    return [*head, *(line for name, graph in graphs(data) if only in name for line in rows(name, graph, runs))]


def page(data: Data, runs: int, only: str = "") -> str:
    """The whole result."""
    what = f"root mean square error measured and stated, and how many of {runs} intervals of 95 % have the truth in them:"
    return "\n".join([f"Error bars of graph counts: {what}", "", *table(data, runs, only), ""])


@click.command()
@data_option
@quick_option("A few runs")
@click.option("--only", default="", metavar="TEXT", help="Graphs with this in their names; prints their rows.")
def main(data: Data, quick: bool, only: str) -> None:
    """Measure the coverage on all graphs."""
    deliver(page(data, 4 if quick else RUNS, only), None if quick or only else RESULT)


if __name__ == "__main__":
    main()
