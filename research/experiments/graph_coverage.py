"""Whether the error bars of graph counts hold: how often a 95 % interval has the true count in it, on graphs of all kinds.

    python -m research.experiments.graph_coverage              adds missing rows to graph_coverage.json, writes .md
    python -m research.experiments.graph_coverage --quick      prints it for a few runs
    python -m research.experiments.graph_coverage --only star  the rows of graphs with such names only

Rows are kept, so that it can be taken up again. Intervals of counts are those of the raw count, before it is cut to what is
possible; the shown ones hold the truth at least as often. Triangles: 40 first rounds with 5 of the later rounds each, and
how many intervals are expected to hold, which follows from the true variance of each run if errors are normal. No setting
was chosen on the graphs from `HELD_OUT` on, but their true errors were looked at on other seeds. Common neighbours are
those of the two people with the most neighbours. Real graphs are in `triangle_survey`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np

from deniable.core.coins import SeededCoins
from deniable.graphs import (
    CoreEstimate,
    Graph,
    HonestCount,
    common_neighbours,
    estimate_clustering,
    estimate_core,
    estimate_cycles,
    estimate_degrees,
    estimate_edges,
    estimate_homophily,
    estimate_stars,
)
from deniable.graphs.cores import exact_core
from deniable.graphs.cycles import exact_cycles
from deniable.graphs.degree_counts import HonestShare
from research.experiments.command import deliver, quick_option
from research.experiments.graph_runs import REACH, SETTINGS, FirstRound, Run
from research.experiments.runs import Runs

RESULT = Path(__file__).with_suffix(".md")
RUNS, LATER = 200, 5  # runs; of triangles, so many have the noisy numbers of one first round
HELD_OUT = "power law 2.2, held out"
Found = HonestCount | HonestShare | CoreEstimate


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


def camps(hubs: int, others: int) -> Graph:
    """Two camps of people, each joined to the hubs of their camp: the degrees do not say which hubs share people."""
    return Graph.of(
        [(2 * hub + camp, 2 * hubs + 2 * i + camp) for camp in (0, 1) for hub in range(hubs) for i in range(others)]
    )


def graphs() -> Iterator[tuple[str, Graph]]:
    """All graphs with their names."""
    yield "empty, 500 people", Graph.of([], 500)
    yield "star of 1,000", Graph.of([(0, i) for i in range(1, 1000)])
    yield "K(3,250)", two_sides(3, 250)
    yield "clique of 100", complete(100)
    yield "road-like, 1,600 crossings", road(40)
    yield "power law 2.5, 1,000 people", power_law(1000, 20.0, 2.5, 1)
    yield HELD_OUT, power_law(800, 12.0, 2.2, 2)
    yield "communities of 40, held out", communities(800, 40, 0.5, 0.005, 3)
    yield "small world, held out", small_world(800, 8, 0.1, 4)
    yield "two camps, held out", camps(5, 200)


def small_graphs() -> Iterator[tuple[str, Graph]]:
    """Those on which all other counts are made."""
    yield "empty, 300 people", Graph.of([], 300)
    yield "star of 300", Graph.of([(0, i) for i in range(1, 300)])
    yield "clique of 60", complete(60)
    yield "power law 2.5, 400 people", power_law(400, 12.0, 2.5, 1)
    yield "communities of 40, 400 people", communities(400, 40, 0.5, 0.005, 3)


@dataclass(frozen=True)
class Row:
    """What many runs of one count gave."""

    covered: int
    clear: int
    error: float
    stated: float
    expected: float = math.nan

    @classmethod
    def of(cls, found: Sequence[Found], truth: float, expected: float = math.nan) -> "Row":
        """Measured against the truth; the stated error of what has only an interval is what a normal one would have."""
        off = np.array([(each.raw if isinstance(each, HonestCount) else each.value) - truth for each in found])
        stated = np.array([stated_error(each) for each in found])
        inside = [holds(each, truth) for each in found]
        return cls(sum(inside), sum(each.clear for each in found), rms(off), rms(stated), expected)


def ends(found: Found) -> tuple[float, float]:
    """The ends of an interval of 95 %, of a count before it is cut to what is possible."""
    if isinstance(found, HonestCount):
        return found.raw - REACH * found.standard_error, found.raw + REACH * found.standard_error
    return found.interval() if isinstance(found, HonestShare) else (found.low, found.high)


def holds(found: Found, truth: float) -> bool:
    """Whether the truth is in the interval."""
    low, high = ends(found)
    return low <= truth <= high


def stated_error(found: Found) -> float:
    """The standard error of a normal law with this interval."""
    low, high = ends(found)
    return (high - low) / (2 * REACH)


def rms(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The root of the mean square."""
    return math.sqrt(float(np.mean(numbers**2)))


@dataclass(frozen=True)
class Case:
    """A count of a graph with coins, and what it should be."""

    graph: str
    count: str
    epsilon: float
    truth: float
    make: Callable[[SeededCoins], Sequence[Found | Run]]  # as many as come with one first round

    @property
    def key(self) -> str:
        """What its row is called in the file."""
        return f"{self.graph}, {self.count}, epsilon {self.epsilon:g}"

    def run(self, runs: int) -> list[float]:
        """So many runs, with coins of their own."""
        made: list[Found | Run] = []
        while len(made) < runs:
            made += self.make(SeededCoins(7000 + len(made)))
        expected = math.nan
        if all(isinstance(each, Run) for each in made):
            expected = float(np.mean([each.coverage for each in made if isinstance(each, Run)]))
        row = Row.of([each.found if isinstance(each, Run) else each for each in made[:runs]], self.truth, expected)
        click.echo(f"{self.key}: {row}", err=True)
        return [row.covered, row.clear, row.error, row.stated, row.expected, runs]

    def line(self, found: Sequence[float]) -> str:
        """One row of the table."""
        covered, clear, error, stated, expected, runs = found
        digits = 3 if self.count in SHARES else 1
        numbers = " | ".join(f"{each:,.{digits}f}" for each in (error, stated))
        truth = f"{self.truth:,.3f}" if self.count in SHARES else f"{self.truth:,.0f}"
        shares = f"{covered / runs:.1%} | {'' if math.isnan(expected) else f'{expected:.1%}'} | {clear / runs:.0%}"
        return f"| {self.graph} | {self.count} | {self.epsilon:g} | {truth} | {numbers} | {shares} |"


SHARES = ("clustering", "homophily")


def cases(only: str) -> list[Case]:
    """All rows of the table, of graphs with such names."""
    chosen = [(name, graph) for name, graph in graphs() if only in name]
    found = [triangles(name, graph, *setting) for setting in SETTINGS for name, graph in chosen]
    found += [common(name, graph, epsilon) for epsilon, _ in SETTINGS for name, graph in chosen]
    for name, graph in small_graphs():
        if only in name:
            found += other_cases(name, graph)
    return found


def triangles(name: str, graph: Graph, epsilon: float, alpha: float) -> Case:
    """Triangles of a graph."""
    return Case(name, "triangles", epsilon, graph.triangles(), partial(_triangles, graph, epsilon, alpha))


def common(name: str, graph: Graph, epsilon: float) -> Case:
    """Common neighbours of the two people with the most neighbours."""
    first, second = np.argsort(-_degrees(graph), kind="stable")[:2].tolist()
    shared = len(np.intersect1d(graph.neighbours(first), graph.neighbours(second)))
    return Case(name, "common neighbours", epsilon, shared, partial(_common, graph, first, second, epsilon))


def other_cases(name: str, graph: Graph) -> list[Case]:
    """All counts but triangles, at epsilon 1; clustering and cores at 4, since less says nothing about most graphs."""
    degrees, groups = _degrees(graph), np.arange(graph.vertices) // 40
    wedges, closed = int((degrees * (degrees - 1) // 2).sum()), 3 * graph.triangles()
    within = int((groups[graph.owners] == groups[graph.lower]).sum())
    core = max(graph.vertices // 6, 2)
    rows: list[tuple[str, float, float, Callable[[SeededCoins], Found]]] = [
        ("edges", 1.0, graph.edges, lambda coins: estimate_edges(graph, 1.0, coins)),
        ("2-stars", 1.0, wedges, lambda coins: estimate_stars(graph, 2, 1.0, coins)),
        ("3-stars", 1.0, sum(math.comb(d, 3) for d in degrees.tolist()), lambda coins: estimate_stars(graph, 3, 1.0, coins)),
        ("10 or more", 1.0, int((degrees >= 10).sum()), lambda coins: estimate_degrees(graph, 1.0, [10], coins)[10]),
        ("4-cycles", 1.0, exact_cycles(graph), lambda coins: estimate_cycles(graph, 1.0, coins)),
        (f"{core}-core", 4.0, exact_core(graph, core), lambda coins: estimate_core(graph, core, 4.0, coins)),
        ("clustering", 4.0, closed / max(wedges, 1), lambda coins: estimate_clustering(graph, 4.0, coins=coins)),
        ("homophily", 1.0, within / max(graph.edges, 1), lambda coins: estimate_homophily(graph, groups, 1.0, coins)),
    ]
    return [Case(name, count, epsilon, truth, partial(_once, make)) for count, epsilon, truth, make in rows]


def _degrees(graph: Graph) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.bincount(np.concatenate([graph.owners, graph.lower]), minlength=graph.vertices)


def _once(make: Callable[[SeededCoins], Found], coins: SeededCoins) -> list[Found]:
    return [make(coins)]


def _triangles(graph: Graph, epsilon: float, alpha: float, coins: SeededCoins) -> list[Run]:
    first = FirstRound.of(graph, epsilon, alpha, coins)
    return [first.rest(coins) for _ in range(LATER)]


def _common(graph: Graph, first: int, second: int, epsilon: float, coins: SeededCoins) -> list[Found]:
    return [common_neighbours(graph, first, second, epsilon, coins=coins)]


def page(kept: Runs, runs: int, only: str = "") -> str:
    """The whole result; rows that are missing are measured first."""
    kept.make([(case.key, case.run, (runs,)) for case in cases(only)])
    known = kept.known()
    what = f"root mean square error measured and stated, and how many of {runs} intervals of 95 % have the truth in them:"
    lines = ["| graph | count | epsilon | truth | error measured | error stated | covered | expected | clear |"]
    lines.append("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    lines += [case.line(known[case.key]) for case in cases("") if case.key in known]
    return "\n".join([f"Error bars of graph counts: {what}", "", *lines, ""])


@click.command()
@quick_option("A few runs")
@click.option("--only", default="", metavar="TEXT", help="Measure graphs with this in their names only.")
def main(quick: bool, only: str) -> None:
    """Measure the coverage on all graphs."""
    if quick:
        with TemporaryDirectory() as folder:
            deliver(page(Runs(Path(folder) / "rows.json"), 4, only), None)
    else:
        deliver(page(Runs(RESULT.with_suffix(".json")), RUNS, only), RESULT)


if __name__ == "__main__":
    main()
