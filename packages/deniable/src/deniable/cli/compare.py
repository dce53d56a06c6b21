"""`deniable compare`: predicted against measured error of mechanisms, on simulated people."""

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.cli import options
from deniable.cli.mechanisms import MAKERS, NAMES, short
from deniable.cli.targets import check_picture, draw
from deniable.core.coins import Coins
from deniable.core.mechanism import Mechanism
from deniable.core.tally import Tally
from deniable.domains import Categories
from deniable.errors import InvalidParameter, MissingExtra
from deniable.files.histogram import read_histogram
from deniable.files.reports import batch_size
from deniable.mechanisms.shares.subset_selection import SubsetSelection
from deniable.mechanisms.shares.unary import Unary
from deniable.metrics import mae, mse, top_f1, top_ndcg
from deniable.planning import Option
from deniable.planning import options as planned
from deniable.wrappers.open_answers import checked_sensitive
from deniable.wrappers.utility_optimized import OPEN_SHARE, UtilityOptimized

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table


LEGEND = (
    "errors: of a share, in % points, root mean square or absolute; ratio: measured squared error to predicted, and its "
    "standard error; F1, NDCG: how well the largest are found and ranked; "
    "perturb, count: seconds for a million reports; bits: of a report"
)


@click.command(short_help="Measure mechanisms beside their prediction.", epilog=f"Names of mechanisms: {NAMES}.")
@options.question
@options.sensitive
@options.epsilon
@click.option("--people", type=int, metavar="N", help="How many people answer; all of the histogram unless given.")
@click.option(
    "--histogram",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the answers and how many people gave each from a CSV file, which may end in .gz.",
)
@click.option("--value-column", default="value", show_default=True, metavar="NAME", help="Its column of answers.")
@click.option("--count-column", default="count", show_default=True, metavar="NAME", help="Its column of people.")
@click.option("--sensitive-column", metavar="NAME", help="Its column that has 1 for a sensitive answer and 0 for others.")
@click.option(
    "--top", type=click.IntRange(min=1), metavar="K", help="Also tell how well the K largest are found and ranked."
)
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
    secrets: tuple[str, ...],
    open_share: float | None,
    epsilon: float,
    people: int | None,
    histogram: Path | None,
    value_column: str,
    count_column: str,
    sensitive_column: str | None,
    top: int | None,
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
    deniable compare --histogram ratings.csv --value-column rating --sensitive 1 --sensitive 2 --epsilon 1 --top 3

    With --sensitive, the mechanisms that protect only those answers stand beside those published before (uSS, uUE), all
    tuned for the true share of the other answers unless --open-share tells another one.
    """
    check_picture(picture)
    if histogram is not None:
        if values is not None or words or file is not None:
            raise InvalidParameter("A histogram has its own answers. Leave --values, --category and --categories out.")
        table = read_histogram(histogram, value_column, count_column, sensitive_column)
        question = Categories(table.labels)
        secrets = secrets or (table.sensitive or ())
        answers = _scaled(np.array(table.people), people)
    elif people is None:
        raise InvalidParameter("Say how many people answer: --people N.")
    else:
        question = options.domain(values, words, file, other)
        answers = _people(question, people, truth)
    secret, total = options.secrets_of(question, secrets), int(answers.sum())
    if secret is not None:
        share = 1 - answers[question.index(list(checked_sensitive(question, secret)))].sum() / total
        open_share = float(share) if open_share is None else open_share
    ranked = planned(question, epsilon, total, secret, OPEN_SHARE if open_share is None else open_share)
    if secret is not None and open_share is not None:
        ranked = sorted(ranked + _published(question, secret, epsilon, total, open_share), key=lambda each: each.error)
    ranked = _chosen(ranked, names)

    from deniable.cli import panel  # loads rich, which --help does not need

    coins, results = options.coins_of(seed), []
    with panel.progress("simulating") as advance_to:
        for place, option in enumerate(ranked):

            def advance(share: float, place: int = place) -> None:
                advance_to((place + share) / len(ranked))

            results.append(_measured(option, answers, repeats, coins, top, advance))
    if picture is not None:
        draw(_plot(results), picture)
    if as_json:
        about = {"people": total, "repeats": repeats, "truth": "histogram" if histogram else truth}
        click.echo(json.dumps(about | {"mechanisms": [result.record() for result in results]}))
        return
    console = panel.console()
    console.print(
        f"{question.size:,} answers{_some(secret, open_share)}, epsilon {epsilon:g} for one answer, {total:,} people, "
        f"{repeats:,} collections each:",
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
    mean_absolute: float
    top_f1: float | None = None
    top_ndcg: float | None = None

    def record(self) -> dict[str, object]:
        """All of it as plain data."""
        return {name: value for name, value in vars(self).items() if value is not None}


def _chosen(ranked: list[Option], names: str | None) -> list[Option]:
    if names is None:
        return ranked
    wanted = names.split(",")
    for name in wanted:
        if name.removesuffix("-published") not in MAKERS:
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


def _scaled(counts: Ints, people: int | None) -> Ints:
    """A histogram of this many people with nearly the same shares."""
    if not counts.sum():
        raise InvalidParameter("Nobody is counted in this histogram.")
    if people is None:
        return counts
    return np.diff(np.rint(np.cumsum(counts) / counts.sum() * people).astype(np.int64), prepend=0)


def _some(secret: Sequence[object] | None, open_share: float | None) -> str:
    return "" if secret is None else f", {len(set(secret)):,} of them sensitive, {open_share:.1%} of people have another"


def _published(question: Categories, secret: Sequence[object], epsilon: float, n: int, open_share: float) -> list[Option]:
    """The published mechanisms that keep their promise."""
    found = []
    if len(set(secret)) > 1:
        for name, family in (("subset, published", SubsetSelection), ("unary, published", Unary)):
            mechanism = UtilityOptimized.as_published(family, question, secret, epsilon, open_share)
            shares = np.where(mechanism.secret, (1 - open_share) / len(set(secret)), 0.0)
            shares[~mechanism.secret] = open_share / (~mechanism.secret).sum()
            error = math.sqrt(float(np.mean(mechanism.predict(shares, n).standard_error ** 2)))
            found.append(Option(name, mechanism, error, mechanism.layout.bits, 1, math.nan))
    return found


def _measured(
    option: Option, people: Ints, repeats: int, coins: Coins, top: int | None, advance: Callable[[float], None]
) -> Result:
    mechanism, total, fastest = option.mechanism, int(people.sum()), np.full(2, np.inf)
    answers = np.repeat(np.arange(len(people)), people)
    squares, others, truth = [], [], people / total
    for turn in range(repeats):
        seconds = np.zeros(2)
        tally = _collected(mechanism, answers, coins, seconds)
        fastest = np.minimum(fastest, seconds)  # the first collections load the compiled loops
        values = mechanism.estimate(tally).values
        squares.append(mse(truth, values))
        others.append([mae(truth, values), *((top_f1(truth, values, top), top_ndcg(truth, values, top)) if top else ())])
        advance((turn + 1) / repeats)
    mean, spread = float(np.mean(squares)), float(np.std(squares, ddof=1))
    perturb, count = 1e6 * fastest / total
    ratio, ratio_error = mean / option.error**2, spread / math.sqrt(repeats) / option.error**2
    return Result(
        short(option.name),
        option.error,
        math.sqrt(mean),
        ratio,
        ratio_error,
        float(perturb),
        float(count),
        option.bits,
        *np.mean(others, axis=0).tolist(),
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
    ranked = results[0].top_f1 is not None
    middle = ("absolute", "F1", "NDCG") if ranked else ("perturb", "count")
    for heading in (*(() if ranked else ("predicted",)), "measured", "ratio", *middle, "bits"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        table.add_row(
            result.name,
            *(() if ranked else (f"{100 * result.predicted:.3g}",)),
            f"{100 * result.measured:.3g}",
            f"{result.ratio:.3f} +- {result.ratio_error:.3f}",
            *(
                (f"{100 * result.mean_absolute:.3g}", f"{result.top_f1:.3f}", f"{result.top_ndcg:.3f}")
                if ranked
                else (f"{result.perturb_seconds:.2g}", f"{result.count_seconds:.2g}")
            ),
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
