"""Whether the error bars of graph counts hold: how often a 95 % interval has the true count in it, on graphs of all kinds.

    python -m research.experiments.graph_coverage --data DIR              adds missing rows to .json, writes .md
    python -m research.experiments.graph_coverage --data DIR --only star  measures graphs with such names only
    python -m research.experiments.graph_coverage --quick                 prints it for a few runs on graphs made up

Rows are kept, so that it can be taken up again. Intervals of counts are those of the raw count, before it is cut to what is
possible; the shown ones hold the truth at least as often. Those of people above a threshold, of shares and of cores are as
they are shown. Triangles: first rounds with 5 of the later rounds each, and how many intervals are expected to hold, which
follows from the true variance of each run if errors are normal. Those of real graphs are the runs of `triangle_survey`,
which come first. Common neighbours are those of the two people with the most neighbours. No setting was chosen on the graphs
that are called held out, but true errors on those made up were looked at on other seeds.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
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
from deniable.graphs.threshold_count import ThresholdCount
from research.data.folder import Data
from research.experiments import triangle_survey
from research.experiments.command import data_option, deliver, quick_option
from research.experiments.graph_runs import REACH, SETTINGS, FirstRound, Run
from research.experiments.graph_shapes import graphs, small_graphs
from research.experiments.runs import Runs

RESULT = Path(__file__).with_suffix(".md")
RUNS, LATER = 200, 5  # runs; of triangles, so many have the noisy numbers of one first round
MORE = dict.fromkeys(  # 200 leave open whether as many hold as should
    ("K(3,250)", "two camps, held out", "soc_slashdot0902", "contacts, Gowalla, held out"), 1_000
)
Found = HonestCount | HonestShare | CoreEstimate


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
    if isinstance(found, ThresholdCount | HonestShare):
        return found.interval()
    if isinstance(found, HonestCount):
        return found.raw - REACH * found.standard_error, found.raw + REACH * found.standard_error
    return found.low, found.high


def holds(found: Found, truth: float) -> bool:
    """Whether the truth is in the interval."""
    low, high = ends(found)
    return low <= truth <= high


def stated_error(found: Found) -> float:
    """The standard error, or where there is only an interval, that of a normal law with it."""
    if isinstance(found, HonestCount):
        return found.standard_error
    low, high = ends(found)
    return (high - low) / (2 * REACH)


def rms(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The root of the mean square."""
    return math.sqrt(float(np.mean(numbers**2)))


@dataclass(frozen=True)
class Case:
    """A count of a graph, what it should be, and how so many runs of it are made."""

    graph: str
    count: str
    epsilon: float
    truth: float
    measure: Callable[[int], Row]

    @property
    def key(self) -> str:
        """What its row is called in the file."""
        return f"{self.graph}, {self.count}, epsilon {self.epsilon:g}"

    def run(self, few: int | None) -> list[float]:
        """So many runs, or as many as the graph should have."""
        runs = few or MORE.get(self.graph, RUNS)
        row = self.measure(runs)
        click.echo(f"{self.key}: {row}", err=True)
        return [row.covered, row.clear, row.error, row.stated, row.expected, runs]

    def line(self, found: Sequence[float]) -> str:
        """One row of the table."""
        covered, clear, error, stated, expected, runs = found
        digits = 3 if self.count in SHARES else 1
        numbers = " | ".join(f"{each:,.{digits}f}" for each in (error, stated))
        truth = f"{self.truth:,.3f}" if self.count in SHARES else f"{self.truth:,.0f}"
        shares = f"{covered / runs:.1%} | {'' if math.isnan(expected) else f'{expected:.1%}'} | {clear / runs:.0%}"
        return f"| {self.graph} | {self.count} | {self.epsilon:g} | {truth} | {runs:,.0f} | {numbers} | {shares} |"


def simulated(make: Callable[[SeededCoins], Sequence[Found | Run]], truth: float, runs: int) -> Row:
    """So many runs, with coins of their own; `make` gives as many as come with one first round."""
    made: list[Found | Run] = []
    while len(made) < runs:
        made += make(SeededCoins(7000 + len(made)))
    expected = math.nan
    if all(isinstance(each, Run) for each in made):
        expected = float(np.mean([each.coverage for each in made if isinstance(each, Run)]))
    return Row.of([each.found if isinstance(each, Run) else each for each in made[:runs]], truth, expected)


def surveyed(name: str, graph: Graph, setting: triangle_survey.Setting, runs: int) -> Row:
    """The runs that `triangle_survey` has kept."""
    found = triangle_survey.known(Runs(triangle_survey.RESULT.with_suffix(".json")), name, setting, runs)
    if len(found) < runs:
        raise click.ClickException(f"{name} was counted {len(found)} times so far. Run triangle_survey first.")
    truth, most = graph.triangles(), math.comb(graph.vertices, 3)
    counts = [HonestCount(truth + each.off, each.stated, most, "triangles") for each in found]
    return Row.of(counts, truth, fmean(each.coverage for each in found))


SHARES = ("clustering", "homophily")
SURVEYED = [case.name for case in triangle_survey.CASES if case.real and min(case.runs) >= RUNS]


def cases(only: str, real: Sequence[tuple[str, Graph]]) -> list[Case]:
    """All rows of the table, of graphs with such names."""
    made_up, real = ([(name, graph) for name, graph in some if only in name] for some in (graphs(), real))
    found = []
    for setting in SETTINGS:
        found += [triangles(name, graph, *setting) for name, graph in made_up]
        found += [real_triangles(name, graph, setting) for name, graph in real if name in SURVEYED]
    found += [common(name, graph, epsilon) for epsilon, _ in SETTINGS for name, graph in (*made_up, *real)]
    for name, graph in small_graphs():
        if only in name:
            found += other_cases(name, graph)
    return found


def real_graphs(data: Data) -> list[tuple[str, Graph]]:
    """The real graphs of `triangle_survey`."""
    return [(case.name, case.graph(data)) for case in triangle_survey.CASES if case.real]


def triangles(name: str, graph: Graph, epsilon: float, alpha: float) -> Case:
    """Triangles of a graph."""
    truth = graph.triangles()
    return Case(name, "triangles", epsilon, truth, partial(simulated, partial(_triangles, graph, epsilon, alpha), truth))


def real_triangles(name: str, graph: Graph, setting: triangle_survey.Setting) -> Case:
    """Triangles of a real graph, as they were counted before."""
    return Case(name, "triangles", setting[0], graph.triangles(), partial(surveyed, name, graph, setting))


def common(name: str, graph: Graph, epsilon: float) -> Case:
    """Common neighbours of the two people with the most neighbours."""
    first, second = np.argsort(-_degrees(graph), kind="stable")[:2].tolist()
    shared = len(np.intersect1d(graph.neighbours(first), graph.neighbours(second)))
    make = partial(_common, graph, first, second, epsilon)
    return Case(name, "common neighbours", epsilon, shared, partial(simulated, make, shared))


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
    return [
        Case(name, count, epsilon, truth, partial(simulated, partial(_once, make), truth))
        for count, epsilon, truth, make in rows
    ]


def _degrees(graph: Graph) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.bincount(np.concatenate([graph.owners, graph.lower]), minlength=graph.vertices)


def _once(make: Callable[[SeededCoins], Found], coins: SeededCoins) -> list[Found]:
    return [make(coins)]


def _triangles(graph: Graph, epsilon: float, alpha: float, coins: SeededCoins) -> list[Run]:
    first = FirstRound.of(graph, epsilon, alpha, coins)
    return [first.rest(coins) for _ in range(LATER)]


def _common(graph: Graph, first: int, second: int, epsilon: float, coins: SeededCoins) -> list[Found]:
    return [common_neighbours(graph, first, second, epsilon, coins=coins)]


def page(kept: Runs, real: Sequence[tuple[str, Graph]], few: int | None = None, only: str = "") -> str:
    """The whole result; rows that are missing are measured first."""
    kept.make([(case.key, case.run, (few,)) for case in cases(only, real)])
    known = kept.known()
    what = "root mean square error measured and stated, and how many 95 % intervals contain the truth:"
    lines = ["| graph | count | epsilon | truth | runs | error measured | error stated | covered | expected | clear |"]
    lines.append("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    lines += [case.line(known[case.key]) for case in cases("", real) if case.key in known]
    return "\n".join([f"Error bars of graph counts: {what}", "", *lines, ""])


@click.command()
@data_option
@quick_option("A few runs")
@click.option("--only", default="", metavar="TEXT", help="Measure graphs with this in their names only.")
def main(data: Data, quick: bool, only: str) -> None:
    """Measure the coverage on all graphs."""
    if quick:
        with TemporaryDirectory() as folder:
            deliver(page(Runs(Path(folder) / "rows.json"), [], 4, only), None)
    else:
        deliver(page(Runs(RESULT.with_suffix(".json")), real_graphs(data), None, only), RESULT)


if __name__ == "__main__":
    main()
