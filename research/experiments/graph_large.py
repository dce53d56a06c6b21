"""Triangles of a graph with a million people and twenty million edges on one machine: time, memory, error.

    python -m research.experiments.graph_large          writes graph_large.md, 10 minutes on two cores
    python -m research.experiments.graph_large --quick  prints it for a small graph

Expected degrees follow a power law; pairs are drawn by them, and those that come up twice count once. Seconds are those of
the processor, of all processes together, and the memory is the largest of the process that asks plus that of each worker.
"""

import resource
import time
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from deniable.aggregate.graphs import count_triangles
from deniable.cli.panel import progress
from deniable.core.coins import SeededCoins
from deniable.graphs import Graph
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
PEOPLE, MEAN, EXPONENT, WORKERS = 1_000_000, 40.0, 2.5, 2
EPSILONS = (1.0, 2.0)


def large_power_law(size: int, mean: float, exponent: float, seed: int) -> Graph:
    """As `power_law`, in time that grows with the number of edges."""
    weights = (np.arange(size) + 10.0) ** (-1 / (exponent - 1))
    random, sums = np.random.default_rng(seed), np.cumsum(weights / weights.sum())
    wanted = round(mean * size / 2)
    first, second = (
        np.minimum(np.searchsorted(sums, np.sort(random.random(round(1.15 * wanted)))), size - 1) for _ in range(2)
    )
    random.shuffle(second)
    found = Graph.of(np.stack([first, second], axis=1), size)
    kept = np.sort(random.permutation(found.edges)[:wanted])
    return Graph.of(np.stack([found.owners[kept], found.lower[kept]], axis=1), size)


@dataclass(frozen=True)
class Used:
    """Processor seconds and bytes so far, of this process and the largest of those it started."""

    seconds: float
    here: int
    there: int

    @classmethod
    def now(cls) -> "Used":
        """What was used until now."""
        own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        seconds = sum(each.ru_utime + each.ru_stime for each in (own, others))
        return cls(seconds, 1024 * own.ru_maxrss, 1024 * others.ru_maxrss)


def table(people: int) -> list[str]:
    """A row for each epsilon."""
    graph = large_power_law(people, MEAN, EXPONENT, 1)
    truth = graph.triangles()
    click.echo(f"{graph.vertices:,} people, {graph.edges:,} edges, {truth:,} triangles", err=True)
    lines = ["| people | edges | triangles | epsilon | found | error stated | off by | Mbit | CPU seconds | wall | GB |"]
    lines.append("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for epsilon in EPSILONS:
        before, start = Used.now(), time.perf_counter()
        with progress(f"epsilon {epsilon:g}") as advance_to:
            found = count_triangles(graph, epsilon, coins=SeededCoins(11), workers=WORKERS, progress=advance_to)
        after, wall = Used.now(), time.perf_counter() - start
        memory = (after.here + WORKERS * after.there) / 1e9
        numbers = f"{found.raw:,.0f} | {found.standard_error:,.0f} | {(found.raw - truth) / found.standard_error:.2f} errors"
        used = f"{found.bits / 1e6:.1f} | {after.seconds - before.seconds:.0f} | {wall:.0f} | {memory:.1f}"
        lines.append(f"| {graph.vertices:,} | {graph.edges:,} | {truth:,} | {epsilon:g} | {numbers} | {used} |")
        click.echo(lines[-1], err=True)
    return lines


def page(people: int) -> str:
    """The whole result."""
    what = f"all three rounds on {WORKERS} processes, whose memory is added up:"
    return "\n".join([f"Triangles of a graph whose degrees follow a power law, {what}", "", *table(people), ""])


@click.command()
@quick_option("A small graph")
def main(quick: bool) -> None:
    """Count the triangles of a large graph."""
    deliver(page(20_000 if quick else PEOPLE), None if quick else RESULT)


if __name__ == "__main__":
    main()
