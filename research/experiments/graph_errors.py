"""How near the stated error of a count of triangles is to the true one, which only a simulation knows.

    python -m research.experiments.graph_errors --data DIR          writes graph_errors.md, some minutes
    python -m research.experiments.graph_errors --data DIR --quick  prints it for one run

Given the graph, the order of the people and the answers, the variance is exact: that of one answer times the sum of c^2, c
being how many people are joined to both of a pair, and the squares of the noise that everybody adds. So a few runs show what
counting covered intervals shows in thousands. The coverage is that of normal errors, for each run with its own stated error.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, fmean

import click
import numpy as np

from deniable.arrays import Ints
from deniable.core.coins import SeededCoins
from deniable.graphs import Graph
from deniable.graphs.evidence import Evidence
from deniable.graphs.hubs import step
from deniable.graphs.listed import answered
from deniable.graphs.outlook import Outlook
from deniable.graphs.ownership import Circle
from deniable.graphs.passes import seen
from deniable.graphs.plan import DEGREES, Plan, planned
from deniable.graphs.triangle_survey import first_answers, ranks, with_noise
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from research.data.folder import Data
from research.data.lists import SLASHDOT, edges
from research.experiments.command import data_option, deliver, quick_option
from research.experiments.graph_coverage import REACH, graphs, power_law

RESULT = Path(__file__).with_suffix(".md")
RUNS, LARGE = 5, 3_000  # runs, of larger graphs one
SETTINGS = ((1.0, 1.5), (2.0, 1.25))  # epsilon and alpha
LAST = "power law 2.1, held out"


@dataclass(frozen=True)
class Run:
    """The true standard error of one run, the stated one, and the bits that everybody downloads."""

    true: float
    stated: float
    bits: int

    @property
    def ratio(self) -> float:
        """Of the stated error to the true one."""
        return self.stated / self.true

    @property
    def coverage(self) -> float:
        """How often such an interval holds."""
        return 2 * NormalDist().cdf(REACH * self.ratio) - 1


def shared_squares(ordered: Graph, hubs: int) -> tuple[float, float]:
    """The sum of c^2 over all pairs of hubs, and over all others."""
    codes: list[Ints] = [j * ordered.vertices + k for _, j, k in ordered.wedges()]
    if not codes:
        return 0.0, 0.0
    pairs, counts = np.unique(np.concatenate(codes), return_counts=True)
    squares, inside = counts.astype(np.float64) ** 2, pairs % ordered.vertices < hubs
    return float(squares[inside].sum()), float(squares[~inside].sum())


def one_run(graph: Graph, epsilon: float, alpha: float, coins: SeededCoins) -> Run:
    """All rounds, as `estimate_triangles` has them, with a look at what nobody sees."""
    graph = graph.renumbered(np.argsort(coins.public(1 << 62, graph.vertices), kind="stable"))
    size, degrees = graph.vertices, NoisyCount(DEGREES * epsilon)
    noisy = Circle(size).numbers(graph) + degrees.noise(size, coins)
    rank, outlook = ranks(noisy), Outlook(np.sort(noisy)[::-1], degrees)
    plan = planned(outlook, epsilon, alpha, degrees.epsilon)
    listed = answered(graph, rank, noisy, plan.hubs, plan.between.response, plan.lists, coins)
    ordered, places = graph.renumbered(rank), np.arange(size)
    saw = seen(ordered, listed)
    counts = with_noise(places, saw.counts(ordered, listed), saw.local, plan, coins)
    found = Evidence(counts, first_answers(listed)).triangles(plan, outlook)
    inside, outside = shared_squares(ordered, plan.hubs)
    variance = plan.plain.noise * inside + plan.lists.coordinate.noise * outside + added(saw.local, plan)
    return Run(math.sqrt(variance), found.standard_error, listed.bits)


def added(local: np.ndarray[tuple[int], np.dtype[np.float64]], plan: Plan) -> float:
    """The variance of the noise of the last round."""
    total = 0.0
    for tier, start, part in ((plan.between, 0, local[: plan.hubs]), (plan.other, plan.hubs, local[plan.hubs :])):
        if len(part):
            wide = tier.noise.sensitivities(part, step(start, plan.hubs, plan.plain, plan.lists.coordinate))
            total += float(((tier.noise.deviation * wide) ** 2).sum())
    return total


def all_graphs(data: Data) -> Iterator[tuple[str, Graph]]:
    """Those of the table of coverage and two more; fewer than three people have no triangles."""
    yield from ((name, graph) for name, graph in graphs(data) if graph.vertices > 2)
    yield LAST, power_law(8000, 30.0, 2.1, 5)
    if data.has(SLASHDOT):
        yield "soc_slashdot0902", edges(data, SLASHDOT)


def page(data: Data, runs: int) -> str:
    """The whole result."""
    what = "true standard error, stated one as a share of it (mean, least, most), intervals of 95 % that hold:"
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
