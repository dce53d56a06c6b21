"""`deniable compare`: predicted against measured error of mechanisms, on simulated people."""

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from numpy.typing import NDArray

from deniable.cli import options
from deniable.cli.mechanisms import MAKERS, NAMES, short
from deniable.cli.targets import check_picture, draw
from deniable.core.coins import Coins
from deniable.core.mechanism import Mechanism
from deniable.core.tally import Tally
from deniable.domains import Categories
from deniable.errors import InvalidParameter, MissingExtra
from deniable.files.reports import batch_size
from deniable.planner import Option
from deniable.planner import options as planned

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

Ints = NDArray[np.int64]


LEGEND = (
    "errors: of a share, in % points; ratio: measured squared error to predicted, and its standard error; "
    "perturb, count: seconds for a million reports; bits: of a report"
)


@click.command(short_help="Measure mechanisms beside their prediction.", epilog=f"Names of mechanisms: {NAMES}.")
@options.question
@options.epsilon
@options.people
@click.option("--repeats", type=click.IntRange(min=2), default=20, show_default=True, metavar="R", help="Collections each.")
@click.option(
    "--truth",
    type=click.Choice(["zipf", "uniform"]),
    default="zipf",
    show_default=True,
    help="What people answer: the x-th value in proportion to 1/x, or all values alike.",
)
@click.option("--mechanisms", "names", metavar="A,B,C", help="Only these, separated by commas.")
@options.seed
@options.picture
@options.json_flag
def compare(
    values: int | None,
    words: tuple[str, ...],
    file: Path | None,
    other: str | None,
    epsilon: float,
    people: int,
    repeats: int,
    truth: str,
    names: str | None,
    seed: int | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Simulate whole collections and hold the measured error beside the predicted one.

    For each mechanism, people with known answers are randomized, counted and estimated, again and again. Their squared error
    divided by the one that the planner predicts should be 1; behind it stands its own standard error, from the number of
    repeats. The times are seconds for a million reports on this machine in the fastest
    collection, perturb on the devices' side and count on the server's.

    \b
    deniable compare --values 64 --epsilon 1 --people 10000
    deniable compare --values 1024 --epsilon 2 --people 20000 --mechanisms subset,design,wheel --picture errors.png
    deniable compare --category yes --category no --epsilon 0.5 --people 1000 --repeats 200 --seed 1 --json
    """
    check_picture(picture)
    question = options.domain(values, words, file, other)
    ranked = _chosen(planned(question, epsilon, people), names)

    from deniable.cli import panel  # loads rich, which --help does not need

    answers = _people(question, people, truth)
    coins, results = options.coins_of(seed), []
    with panel.progress("simulating") as advance_to:
        for place, option in enumerate(ranked):

            def advance(share: float, place: int = place) -> None:
                advance_to((place + share) / len(ranked))

            results.append(_measured(option, answers, repeats, coins, advance))
    if picture is not None:
        draw(_plot(results), picture)
    if as_json:
        about = {"people": people, "repeats": repeats, "truth": truth}
        click.echo(json.dumps(about | {"mechanisms": [result.record() for result in results]}))
        return
    console = panel.console()
    console.print(
        f"{question.size:,} answers, epsilon {epsilon:g} for one answer, {people:,} people, {repeats:,} collections each:",
        markup=False,
    )
    console.print(_table(results))
    console.print(LEGEND, style="dim", markup=False)
    if picture is not None:
        console.print(f"The picture is in {picture}.", soft_wrap=True, markup=False)


@dataclass(frozen=True)
class Result:
    """What was predicted and what was measured for one mechanism."""

    name: str
    predicted: float  # root mean square, as a share
    measured: float
    ratio: float  # of squared errors
    ratio_error: float  # standard error of that
    perturb_seconds: float  # for a million reports
    count_seconds: float
    bits: int

    def record(self) -> dict[str, object]:
        """All of it as plain data."""
        return dict(vars(self))


def _chosen(ranked: list[Option], names: str | None) -> list[Option]:
    if names is None:
        return ranked
    wanted = names.split(",")
    for name in wanted:
        if name not in MAKERS:
            raise InvalidParameter(f"There is no mechanism {name!r}. Use some of {NAMES}, separated by commas.")
    kept = [option for option in ranked if short(option.name) in wanted]
    if len(kept) != len(set(wanted)):
        raise InvalidParameter("Some of these mechanisms are not for so many answers. Leave them out.")
    return kept


def _people(question: Categories, people: int, truth: str) -> Ints:
    """How many people hold each value: as near to the wanted shares as whole people allow."""
    ranks = np.arange(1, question.size + 1)
    weights = 1 / ranks if truth == "zipf" else np.ones(question.size)
    edges = np.rint(np.cumsum(weights) / weights.sum() * people).astype(np.int64)
    return np.diff(edges, prepend=0)


def _measured(option: Option, people: Ints, repeats: int, coins: Coins, advance: Callable[[float], None]) -> Result:
    mechanism, total, fastest = option.mechanism, int(people.sum()), np.full(2, np.inf)
    answers = np.repeat(np.arange(len(people)), people)
    squares = []
    for turn in range(repeats):
        seconds = np.zeros(2)
        tally = _collected(mechanism, answers, coins, seconds)
        fastest = np.minimum(fastest, seconds)  # the first collections load the compiled loops
        squares.append(float(np.mean((mechanism.estimate(tally).values - people / total) ** 2)))
        advance((turn + 1) / repeats)
    mean, spread = float(np.mean(squares)), float(np.std(squares, ddof=1))
    perturb, count = 1e6 * fastest / total
    ratio, ratio_error = mean / option.error**2, spread / math.sqrt(repeats) / option.error**2
    return Result(
        short(option.name), option.error, math.sqrt(mean), ratio, ratio_error, float(perturb), float(count), option.bits
    )


def _collected(mechanism: Mechanism, indices: Ints, coins: Coins, seconds: NDArray[np.float64]) -> Tally:
    """One collection; the seconds that perturbing and counting took are added up."""
    tally = Tally(mechanism.fingerprint, 0, np.zeros(mechanism.cells, np.int64))
    for answers in _parts(mechanism, indices):
        start = time.perf_counter()
        reports = mechanism.perturb(answers, coins)
        middle = time.perf_counter()
        tally += mechanism.tally(reports)
        seconds += (middle - start, time.perf_counter() - middle)
    return tally


def _parts(mechanism: Mechanism, indices: Ints) -> Iterator[list[str | int] | Ints]:
    labels, size = mechanism.domain.labels, batch_size(mechanism)
    for start in range(0, len(indices), size):
        part = indices[start : start + size]
        yield part if isinstance(labels, range) else [labels[index] for index in part.tolist()]


def _table(results: list[Result]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    table.add_column("mechanism", no_wrap=True)
    for heading in ("predicted", "measured", "ratio", "perturb", "count", "bits"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        table.add_row(
            result.name,
            f"{100 * result.predicted:.3g}",
            f"{100 * result.measured:.3g}",
            f"{result.ratio:.3f} +- {result.ratio_error:.3f}",
            f"{result.perturb_seconds:.2g}",
            f"{result.count_seconds:.2g}",
            f"{result.bits:,}",
        )
    return table


def _plot(results: list[Result]) -> "Figure":
    """A row for each mechanism: the measured error with two standard errors, and a mark where it was predicted."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("A plot", "plot") from None
    figure = Figure(figsize=(7, 1.4 + 0.35 * len(results)), layout="constrained")
    axes = figure.subplots()
    rows = range(len(results), 0, -1)
    # For a root, d sqrt(x) = dx / (2 sqrt(x)); twice that is drawn.
    spread = [100 * result.predicted * result.ratio_error / math.sqrt(result.ratio) for result in results]
    predicted, measured = [100 * result.predicted for result in results], [100 * result.measured for result in results]
    axes.plot(predicted, rows, "|", color="#cc3311", markersize=18, markeredgewidth=2, label="predicted")
    axes.errorbar(measured, rows, xerr=spread, fmt="o", color="#4477aa", ecolor="#222222", capsize=3, label="measured")
    axes.set_yticks(rows, [result.name for result in results])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("error of a share, % points, with two standard errors")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    return figure
