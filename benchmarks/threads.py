"""Several cores: how many answers a second are randomized on all of them, beside one.

python -m benchmarks.threads     all families, with one thread and with all cores in turns, into threads.md
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from threading import get_ident
from time import thread_time

import click
import numpy as np

import deniable as dn
from benchmarks import effort as effort_module
from benchmarks import frequency, key_value, numbers, releases, utility
from benchmarks.cell import Cell
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from benchmarks.frequency import mechanism, values
from deniable.core import Coins
from deniable.core import mechanism as mechanism_module
from deniable.core.threads import LIMIT, Part, cores, in_parts
from deniable.mechanisms.sparse import compressed

CELLS = [Cell("direct", "perturb", "", 1024), Cell("unary", "perturb", "optimized", 128), Cell("subset", "perturb", "", 128)]
TURNS = 5
PAGE = """# Randomizing on several cores

Written by `python -m benchmarks.threads --n {n}` on {cores} cores, with secure coins; `--n` is the size of a batch of short
answers. Time is that of the processor along the longest way: what the first thread does, and where another one takes longer
than its part, that. So the other work of the machine, whose load was {before:.1f} before and {after:.1f} after, is left out,
and so is waiting for the lock of the interpreter. One thread and all cores took {turns} turns; rates are the best, speed-ups
the median. Coins with a seed use one thread, so that their bytes do not depend on how many there are.

"""
HEAD = "| answers a second | one thread | all cores | speed-up |\n|---|--:|--:|--:|"


class LongestWay:
    """A clock of the processor for work on several threads: the first one's time, and how much longer another one takes."""

    def __init__(self) -> None:
        self._longer = 0.0

    def clock(self) -> float:
        return thread_time() + self._longer

    def in_parts(self, part: Part, answers: int, step: int, coins: Coins) -> None:
        times: dict[int, float] = {}

        def timed(begin: int, end: int, own: Coins) -> None:
            start = thread_time()
            part(begin, end, own)
            times[get_ident()] = times.get(get_ident(), 0.0) + thread_time() - start

        in_parts(timed, answers, step, coins)
        self._longer += max(times.values()) - times[get_ident()]


def limited(rate: Callable[[Effort], float], limit: str, effort: Effort) -> float:
    """A rate with at most so many threads; all cores without a limit."""
    before = os.environ.get(LIMIT)
    os.environ[LIMIT] = limit
    try:
        return rate(effort)
    finally:
        os.environ.pop(LIMIT) if before is None else os.environ.update({LIMIT: before})


def perturbed(cell: Cell, effort: Effort) -> float:
    oracle, truth = mechanism(cell), values(cell, effort.n)
    return effort.rate(lambda: oracle.perturb(truth), effort.n)


def rate(cell: Cell, limit: str, effort: Effort) -> float:
    return limited(partial(perturbed, cell), limit, effort)


def bound(cell: Cell, effort: Effort) -> tuple[float, str]:
    return cores_there() * rate(cell, "1", effort), "ours on one thread, times the cores"


def cores_there() -> int:
    """Without the limit that other figures are measured with."""
    before = os.environ.pop(LIMIT, "")
    found = cores()
    os.environ[LIMIT] = before
    return found


def unit_vectors(kind: type[dn.UnitCodes] | type[dn.PrivUnit], people: int, effort: Effort) -> float:
    rows = np.random.default_rng(1).normal(size=(people, 384))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chosen = kind(dn.UnitVectors(384), 4.0)
    return effort.rate(lambda: chosen.perturb(rows), people)


def sparse_vectors(effort: Effort) -> float:
    random, chosen = np.random.default_rng(1), dn.Compressed(dn.SparseVector(87_585), epsilon=1.0, alpha=2.0)
    given = [np.unique(random.integers(0, 87_585, 100)).tolist() for _ in range(2000)]
    return effort.rate(lambda: chosen.perturb(given), len(given))


def figures() -> Iterator[tuple[str, Callable[[Effort], float]]]:
    """All that randomize, then families whose answers are long, in batches that are large for them."""
    for figure in [
        *frequency.FIGURES,
        *utility.FIGURES,
        *releases.FIGURES,
        *numbers.FIGURES,
        *key_value.FIGURES,
    ]:
        is_release = figure.name.startswith("release/") and not figure.name.startswith("release/set-up")
        if "/perturb/" in f"{figure.name}/" or is_release:
            yield figure.name, figure.ours
    yield "unit-axes/384", partial(unit_vectors, dn.UnitAxes, 20_000)
    yield "unit-codes/384", partial(unit_vectors, dn.UnitCodes, 4_000)
    yield "privunit/384", partial(unit_vectors, dn.PrivUnit, 20_000)
    yield "compressed/100", sparse_vectors


FIGURES = [
    Figure(f"threads/{cell.name}", "reports/second", partial(rate, cell, ""), partial(bound, cell), has_peers=False)
    for cell in CELLS
]


@click.command()
@click.option("--n", type=click.IntRange(min=1), default=1_000_000, help="Reports in a batch.", show_default=True)
@click.option("--seconds", type=float, default=0.1, help="Least time of a turn.", show_default=True)
def main(n: int, seconds: float) -> None:
    """Randomizing with one thread and with all cores, in turns."""
    before, effort, lines = os.getloadavg()[0], Effort(n, seconds), [HEAD]
    way = LongestWay()
    mechanism_module.in_parts = compressed.in_parts = way.in_parts  # type: ignore[attr-defined]
    effort_module.perf_counter = way.clock  # type: ignore[attr-defined]
    click.echo(HEAD)
    for name, ours in figures():
        turns = [(limited(ours, "1", effort), limited(ours, "", effort)) for _ in range(TURNS)]
        speed_up = median(several / one for one, several in turns)
        best = [max(rates) for rates in zip(*turns, strict=True)]
        lines.append(f"| {name} | {best[0]:,.0f} | {best[1]:,.0f} | {speed_up:.2f} |")
        click.echo(lines[-1])
    load = {"before": before, "after": os.getloadavg()[0]}
    told = PAGE.format(n=n, cores=cores_there(), turns=TURNS, **load)
    Path(__file__).with_suffix(".md").write_text(told + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.threads")
