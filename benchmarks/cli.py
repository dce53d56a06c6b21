"""The command line: which figures, how much effort, and a table or JSON."""

import json
import os

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import (
    aggregation,
    collector,
    distributions,
    frequency,
    javascript,
    key_value,
    learning,
    loading,
    memory,
    numbers,
    proofs,
    releases,
    run,
    sparse,
    threads,
    utility,
)
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from benchmarks.table import tables
from deniable.core.threads import LIMIT

FIGURES = [
    *frequency.FIGURES,
    *threads.FIGURES,
    *utility.FIGURES,
    *releases.FIGURES,
    *numbers.FIGURES,
    *distributions.FIGURES,
    *key_value.FIGURES,
    *sparse.FIGURES,
    *learning.FIGURES,
    *aggregation.FIGURES,
    *collector.FIGURES,
    *javascript.FIGURES,
    *memory.FIGURES,
    *loading.FIGURES,
    *proofs.FIGURES,
]


class Bar:
    """Progress on the error stream, so that the output can be piped."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=total)

    def doing(self, what: str) -> None:
        self._progress.update(self._task, description=what)

    def done(self) -> None:
        self._progress.advance(self._task)

    def note(self, what: str) -> None:
        self._progress.console.print(what, style="yellow", highlight=False, soft_wrap=True)


def choose(names: tuple[str, ...]) -> list[Figure]:
    for name in names:
        if not any(figure.is_under(name) for figure in FIGURES):
            raise click.BadParameter(f"No figure is {name!r} or stands under it; --list shows them all.")
    return [figure for figure in FIGURES if not names or any(figure.is_under(name) for name in names)]


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
@click.option("--n", type=click.IntRange(min=1), help="Reports in a batch of ours: 1,000,000 unless said.")
@click.option("--quick", is_flag=True, help="A tenth of the reports and of the time: rough figures.")
@click.option("--list", "only_list", is_flag=True, help="The names of the figures, without measuring.")
def main(names: tuple[str, ...], as_json: bool, n: int | None, quick: bool, only_list: bool) -> None:
    """How fast deniable is, beside its peers and beside what the hardware allows.

    NAME is a figure or the beginning of its path; without any, all are measured.

    \b
    python -m benchmarks                      everything, some minutes
    python -m benchmarks direct               all figures of direct response
    python -m benchmarks unary/count --json   counting unary reports, for a program
    python -m benchmarks direct/perturb/16 --quick

    The best peer is the fastest of pure-ldp, multi-freq-ldpy, ldp-toolbox and OpenDP. The first run installs
    them into the folder .venv-peers. They have no batch calls, so they are given one value at a time and as
    many values as the time allows. The bound is a plain C loop for the same work (NumPy where there is no C
    compiler), secure random words included. All three are measured in the same run, best of several
    repeats, on one thread.
    """
    figures = choose(names)
    os.environ.setdefault(LIMIT, "1")
    if only_list:
        for figure in figures:
            click.echo(figure.name)
        return
    effort = Effort(n or (100_000 if quick else 1_000_000), seconds=0.06 if quick else 0.6)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # a slow refresh: the display shares the machine with what is measured
    with Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=2) as progress:
        lines = run.lines(figures, effort, Bar(progress, run.steps(figures)))
        if as_json:
            for line in lines:
                click.echo(json.dumps(line.record()))
            return
        measured = list(lines)
    for table in tables(measured):
        Console().print(table, "")
