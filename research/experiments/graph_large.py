"""Triangles of a graph with a million people and twenty million edges on one machine: time, memory, error.

    python -m research.experiments.graph_large                  writes graph_large.md
    python -m research.experiments.graph_large --people 100000  prints it for fewer people
    python -m research.experiments.graph_large --quick          prints it for a small graph

Expected degrees follow a power law; pairs are drawn by them, and those that come up twice count once. The edges are in a
Parquet file, and what is measured is `deniable graph triangles`: it reads the file, counts the triangles of the graph, and
runs all three rounds on two processes beside the one that asks. Memory is the largest sum of what all of them hold at a
time, looked at five times a second.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import click
import numpy as np

from deniable.files.arrow import pyarrow_package
from deniable.graphs import Graph
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
PEOPLE, MEAN, EXPONENT, WORKERS = 1_000_000, 40.0, 2.5, 2
EPSILONS = (1.0, 2.0)
OFTEN = 0.2  # seconds between two looks at the memory


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


def write_edges(graph: Graph, path: Path) -> None:
    """The edges as two columns of a Parquet file."""
    arrow = pyarrow_package()
    arrow.parquet.write_table(arrow.table({"first": graph.owners, "second": graph.lower}), path)


def memory_of(process: int) -> int:
    """The bytes that a process and all that it started hold."""
    parents, held = dict[int, int](), dict[int, int]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            rest = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(folder.name)], held[int(folder.name)] = int(rest[1]), int(rest[21]) * resource.getpagesize()
    family = {process}
    while more := {each for each, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(held.get(each, 0) for each in family)


@dataclass(frozen=True)
class Used:
    """What a command printed, how long it took, the seconds of the processor, and the largest memory in bytes."""

    record: dict[str, float]
    wall: float
    seconds: float
    memory: int

    @classmethod
    def of(cls, *arguments: str) -> "Used":
        """Of a command of `deniable`, with all processes that it starts."""
        before, start, most, done = _processor(), time.perf_counter(), 0, Event()
        command = [sys.executable, "-m", "deniable", *arguments, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:

            def watch() -> None:
                nonlocal most
                while not done.wait(OFTEN):
                    most = max(most, memory_of(process.pid))

            watcher = Thread(target=watch, daemon=True)
            watcher.start()
            printed = process.communicate()[0]
            done.set()
            watcher.join()
        if process.returncode:
            raise SystemExit(process.returncode)
        return cls(json.loads(printed), time.perf_counter() - start, _processor() - before, most)


def _processor() -> float:
    """The seconds of the processor that processes which have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(people: int, epsilons: tuple[float, ...]) -> list[str]:
    """A row for each epsilon."""
    lines = ["| people | edges | triangles | epsilon | found | error stated | off by | Mbit | CPU seconds | wall | GB |"]
    lines.append("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.parquet"
        write_edges(large_power_law(people, MEAN, EXPONENT, 1), path)
        for epsilon in epsilons:
            given = "--epsilon", f"{epsilon:g}", "--workers", str(WORKERS), "--seed", "11"
            used = Used.of("graph", "triangles", str(path), *given)
            found = used.record
            graph = f"{found['vertices']:,} | {found['edges']:,} | {found['exact']:,}"
            off = (found["raw"] - found["exact"]) / found["standard_error"]
            numbers = f"{found['raw']:,.0f} | {found['standard_error']:,.0f} | {off:.2f} errors"
            taken = f"{found['bits'] / 1e6:.1f} | {used.seconds:.0f} | {used.wall:.0f} | {used.memory / 1e9:.1f}"
            lines.append(f"| {graph} | {epsilon:g} | {numbers} | {taken} |")
            click.echo(lines[-1], err=True)
    return lines


def page(people: int, epsilons: tuple[float, ...]) -> str:
    """The whole result."""
    what = f"edges are read from a Parquet file, all three rounds run on {WORKERS} processes beside the one that asks:"
    return "\n".join([f"Triangles of a graph whose degrees follow a power law; {what}", "", *table(people, epsilons), ""])


@click.command()
@click.option(
    "--people", type=click.IntRange(min=1000), default=PEOPLE, show_default=True, help="How many people there are."
)
@click.option("--epsilon", "epsilons", type=float, multiple=True, default=EPSILONS, show_default=True, help="Budgets.")
@quick_option("A small graph")
def main(people: int, epsilons: tuple[float, ...], quick: bool) -> None:
    """Count the triangles of a large graph."""
    deliver(page(20_000 if quick else people, epsilons), RESULT if people == PEOPLE and not quick else None)


if __name__ == "__main__":
    main()
