"""What can be learnt about triangles at which size and epsilon: the expected error, relative to their number.

    python -m research.experiments.graph_sizes          writes graph_sizes.md, some minutes
    python -m research.experiments.graph_sizes --quick  prints it for few people

People are in groups; two of the same group know each other with probability 1/2, and others never do. The expected error is
what the error model says before anything is counted: noisy numbers of friends are drawn from their law, and the triangles
are as many as expected. For 1,000 people it is also measured, as a root mean square.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from deniable.core.coins import SeededCoins
from deniable.graphs import estimate_triangles
from deniable.graphs.outlook import Outlook
from deniable.graphs.plan import DEGREES, planned
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from research.experiments.command import deliver, quick_option
from research.experiments.graph_shapes import communities

RESULT = Path(__file__).with_suffix(".md")
PEOPLE, GROUPS, EPSILONS = (1_000, 10_000, 100_000, 1_000_000), (20, 100), (1.0, 2.0, 4.0)
ALPHA, CHANCE, RUNS, MEASURED = 1.5, 0.5, 20, 1_000


@dataclass(frozen=True)
class Village:
    """So many people in groups of one size."""

    people: int
    group: int

    @property
    def edges(self) -> float:
        """How many edges are expected."""
        return CHANCE * self.people * (self.group - 1) / 2

    @property
    def triangles(self) -> float:
        """How many triangles are expected."""
        return CHANCE**3 * math.comb(self.group, 3) * self.people / self.group

    def expected(self, epsilon: float) -> float:
        """The standard error that the model expects."""
        random, noise = np.random.default_rng(self.people + self.group), NoisyCount(DEGREES * epsilon)
        owned = random.binomial(random.binomial(self.group - 1, CHANCE, self.people), 0.5)
        noisy = owned + noise.noise(self.people, SeededCoins(self.people))
        outlook = Outlook(np.sort(noisy)[::-1], noise)
        plan = planned(outlook, epsilon, ALPHA, noise.epsilon)
        return math.sqrt(plan.variance(outlook, self.triangles))

    def measured(self, epsilon: float, runs: int) -> float:
        """The root mean square error of so many runs, each on a graph of its own."""
        errors = []
        for run in range(runs):
            graph = communities(self.people, self.group, CHANCE, 0.0, run)
            found = estimate_triangles(graph, epsilon, ALPHA, coins=SeededCoins(7000 + run))
            errors.append(found.raw - graph.triangles())
        return float(np.sqrt(np.mean(np.square(errors))))


def table(people: tuple[int, ...], runs: int) -> list[str]:
    """A row for each size and epsilon."""
    lines = ["| people | group | edges | triangles | epsilon | expected error | measured | shown |"]
    lines.append("|--:|--:|--:|--:|--:|--:|--:|---|")
    for size in people:
        for group in GROUPS:
            village = Village(size, group)
            for epsilon in EPSILONS:
                relative = village.expected(epsilon) / village.triangles
                seen = f"{100 * village.measured(epsilon, runs) / village.triangles:.3g} %" if size == MEASURED else ""
                shown = "yes" if 2 * 1.96 * relative <= 1 else "no"
                counts = f"{village.edges:,.0f} | {village.triangles:,.0f}"
                lines.append(f"| {size:,} | {group} | {counts} | {epsilon:g} | {100 * relative:.3g} % | {seen} | {shown} |")
                click.echo(lines[-1], err=True)
    return lines


def page(people: tuple[int, ...], runs: int) -> str:
    """The whole result."""
    what = "the expected standard error of their number, as a share of it, and whether a number is shown:"
    return "\n".join([f"Triangles among people in groups, {what}", "", *table(people, runs), ""])


@click.command()
@quick_option("Only 1,000 people, two runs")
def main(quick: bool) -> None:
    """Compute the table."""
    deliver(page(PEOPLE[:1] if quick else PEOPLE, 2 if quick else RUNS), None if quick else RESULT)


if __name__ == "__main__":
    main()
