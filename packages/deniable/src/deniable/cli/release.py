"""`deniable release`: release places, numbers or other answers near the truth, and what each way to do so costs."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.core import ParameterSource

from deniable.arrays import Floats, Ints
from deniable.cli import options, panel
from deniable.cli.modes import Modes, has
from deniable.cli.targets import draw, write_text
from deniable.core import Coins
from deniable.domains import Ordered, Points
from deniable.domains.metric import Metric, checked_prior
from deniable.errors import InvalidParameter, MissingExtra, OutsideDomain
from deniable.files import read_losses
from deniable.files.answers import AnswerBatch
from deniable.files.tables import read_columns
from deniable.mechanisms.algebra.metric_program import EXACT
from deniable.mechanisms.algebra.release_bound import release_bound
from deniable.mechanisms.releases.bipartite import Bipartite
from deniable.mechanisms.releases.coarsened import Coarsened
from deniable.mechanisms.releases.comparison import compare_metric_releases, compare_releases
from deniable.mechanisms.releases.metric_release import Accuracy, MetricRelease, distance_to, promised
from deniable.mechanisms.releases.release import Release
from deniable.mechanisms.releases.staircase import Staircase
from deniable.planning.ranking import counted
from deniable.planning.releases import plan_release
from deniable.plugins import optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SIZES, EPSILONS = (5, 10, 20, 50), (0.25, 0.5, 1.0, 2.0, 4.0)
COLUMNS = (
    "direct",
    "exponential",
    "exponential, tight",
    "bipartite, min",
    "bipartite, mean",
    "constant answer",
    "coarsened",
)
MAKERS: dict[str, Callable[[Metric, float], Release]] = {
    "best": plan_release,
    "bipartite": Bipartite,
    "bipartite-mean": partial(Bipartite, rule="mean"),
    "staircase": Staircase,
    "coarsened": Coarsened,
}
BY_DISTANCE: dict[str, Callable[[Metric, float], Release]] = {
    "best": MetricRelease.optimal,
    "laplace": MetricRelease.laplace,
}
PICTURED = ("bipartite", "staircase", "coarsened")


How = tuple[Mapping[str, Callable[[Metric, float], Release]], float, str]  # makers, their epsilon, and what it is for


def _makers(epsilon: float, metric: float | None) -> tuple[Mapping[str, Callable[[Metric, float], Release]], float]:
    """The mechanisms to choose from, and the epsilon that they take: for one answer, or per unit of distance."""
    if metric is None:
        return MAKERS, epsilon
    if click.get_current_context().get_parameter_source("epsilon") is ParameterSource.COMMANDLINE:
        raise InvalidParameter("Give --epsilon, for one answer, or --metric, per unit of distance, not both.")
    return BY_DISTANCE, metric


def _mode(args: Sequence[str]) -> str:
    if has(args, "--table"):
        return "table"
    takes_file = ("--places", "--losses", "--out", "--picture")
    tables = (arg for before, arg in pairwise(["", *args]) if before not in takes_file and not arg.startswith("-"))
    return "data" if any(arg.endswith((".csv", ".csv.gz")) for arg in tables) or not args[0].startswith("-") else "compare"


@click.group(cls=Modes, pick=_mode, short_help="Release noisy places or numbers that stay close to the truth.")
def release() -> None:
    """Randomize each row of a table and write one noisy value per row, close to the truth on average.

    Released values are used as they are, so their average distance from the truth is what counts. Specify the possible
    answers in one of four ways; the list must be public.

    \b
    deniable release people.csv --column age --numbers 18 99 --epsilon 1 --out released.csv
    deniable release checkins.csv --places venues.csv --epsilon 4 --out released.csv --picture map.png
    deniable release checkins.csv --places venues.csv --metric 0.5 --out released.csv
    deniable release --numbers 18 99 --epsilon 1
    deniable release --table

    With --metric, epsilon is for each unit of distance, and near answers are better protected than far ones: at 0.5 per
    kilometre, the odds between two places 1 km apart change at most by a factor of e^0.5, 5 km apart by e^2.5.

    You can leave the mode out, as above: a table means data, --table means table, and anything else means compare.
    """


def answers(command: options.Command) -> options.Command:
    """The possible answers, in one of four ways, and the options that all modes share."""
    for option in (
        options.json_flag,
        options.seed,
        options.picture,
        options.file_option("--losses", help="CSV with the loss of each answer."),
        click.option("--city", type=click.IntRange(min=2), metavar="N", help="N places and the people of a made-up city."),
        click.option("--label", metavar="NAME", help="The column of --places with their names; numbered by default."),
        options.file_option("--places", help="CSV of places: columns lat, lon."),
        click.option("--numbers", type=(int, int), metavar="LOW HIGH", help="The whole numbers from LOW to HIGH."),
        click.option("--metric", type=float, metavar="E", help="Epsilon per unit of distance (places: km), not --epsilon."),
        click.option("--epsilon", type=float, default=1.0, show_default=True, metavar="E", help=options.EPSILON),
    ):
        command = option(command)
    return command


@release.command("data", short_help="Release one value for each row of a table.")
@click.argument("data", type=click.Path(path_type=Path), metavar="DATA")
@answers
@click.option("--column", metavar="NAME", help="The column of DATA with the answers; for places, lat and lon by default.")
@click.option(
    "--mechanism",
    "name",
    type=click.Choice(list(MAKERS | BY_DISTANCE)),
    default="best",
    show_default=True,
    help="The mechanism to use; with --metric best or laplace.",
)
@options.target("--out", help="Write the released values to FILE, as CSV.")
@options.force
def data_mode(
    data: Path,
    column: str | None,
    name: str,
    out: Path | None,
    epsilon: float,
    metric: float | None,
    picture: Path | None,
    seed: int | None,
    as_json: bool,
    **possible: Any,
) -> None:
    """Randomize each row of DATA and write one noisy value per row.

    The best mechanism has the smallest expected loss when all answers are equally common. The promise covers the whole list
    of answers: a release never stays within a part of the list that depends on the truth. The picture shows the truth and
    three releases on a map.

    \b
    deniable release people.csv --column age --numbers 18 99 --epsilon 1 --out released.csv
    deniable release checkins.csv --places venues.csv --epsilon 4 --out released.csv --picture map.png
    deniable release checkins.csv --places venues.csv --metric 0.5 --out released.csv
    """
    makers, budget = _makers(epsilon, metric)
    if name not in makers:
        raise InvalidParameter(f"Use one of {', '.join(makers)} {'with' if metric is not None else 'without'} --metric.")
    domain, names = _domain(**possible)
    _check_map(domain, picture)
    truth, coins = _truth(domain, names, data, column), options.coins_of(seed)
    mechanism = makers[name](domain, budget)
    if isinstance(mechanism, MetricRelease) and mechanism.accuracy is None and domain.size <= EXACT:
        with suppress(MissingExtra, InvalidParameter):
            mechanism = mechanism.bounded()
    released = mechanism.outputs[mechanism.perturb([domain.labels[i] for i in truth], coins).columns["value"]]
    if out is not None:
        write_text(out, _csv(domain, released))
    record = {
        "released": len(truth),
        "mechanism": mechanism.wire,
        "fingerprint": mechanism.fingerprint,
        "epsilon": mechanism.epsilon,
        "loss": float(domain.paid(truth, released).mean()),
        "expected_loss": float(mechanism.row_losses()[truth].mean()),
    }
    unit = "for one answer"
    if metric is not None:
        unit, record["per_unit"] = f"per {domain.unit or 'unit'} of distance", metric
    said = (
        f"{counted(len(truth), 'answer')} released by {mechanism.wire}, epsilon {budget:g} {unit}: mean loss "
        f"{record['loss']:.4g}, expected {record['expected_loss']:.4g}."
    )
    if metric is not None:
        farthest = float(domain.losses(np.arange(domain.size)).max())
        said += (
            f"\nPromise: {promised(metric, farthest, domain.unit)}; d{domain.unit and f' {domain.unit}'} apart: "
            f"e^({metric:g} d). Over the whole list: epsilon {mechanism.epsilon:.4g}."
        )
    record["accuracy"], sentence = _accuracy(domain, mechanism, metric)
    said += f"\n{sentence}"
    _show(record, said, as_json, domain, truth, (makers, budget, unit), coins, picture)


def _accuracy(domain: Metric, mechanism: Release, metric: float | None) -> tuple[dict[str, object] | None, str]:
    """How far the expected loss for equally common answers is at most from the best possible, as data and in words."""
    if metric is None:
        prior = checked_prior(None, domain.size)
        bound = release_bound(domain, mechanism.epsilon, prior)
        found = None if bound is None else Accuracy(mechanism.expected_loss(), bound, True)
    else:
        found = mechanism.accuracy if isinstance(mechanism, MetricRelease) else None
    if found is None:
        return None, "The distance from the best possible loss was not computed for so many answers."
    return found.record(), f"For equally common answers: {distance_to(found.expected, found.bound, domain.unit)}."


@release.command("compare", short_help="Compare all mechanisms for a list of answers.")
@answers
def compare_mode(
    epsilon: float, metric: float | None, picture: Path | None, seed: int | None, as_json: bool, **possible: Any
) -> None:
    """Compare the expected loss of all releases for a list of answers, when all answers are equally common.

    \b
    deniable release --numbers 18 99 --epsilon 1
    deniable release --city 300 --epsilon 4 --picture map.png
    deniable release --city 60 --metric 0.5
    """
    makers, budget = _makers(epsilon, metric)
    domain, _ = _domain(**possible)
    _check_map(domain, picture)
    with panel.progress("comparing") as advance_to:
        if metric is None:
            comparison = compare_releases(domain, epsilon)
        else:
            comparison = compare_metric_releases(domain, metric, progress=advance_to)
    record: dict[str, Any] = {"epsilon": budget, "answers": domain.size, "bound": comparison.bound}
    if metric is not None:
        record["unit"] = comparison.unit
    record["releases"] = [vars(line) for line in comparison.lines]
    truth = _city(possible["city"])[1] if possible["city"] is not None else np.arange(domain.size)
    how = makers, budget, comparison.unit
    _show(record, str(comparison), as_json, domain, truth, how, options.coins_of(seed), picture)


@release.command("table", short_help="Expected losses on lines of 5 to 50 points.")
@click.option("--table", is_flag=True, hidden=True, expose_value=False)
@options.json_flag
def table_mode(as_json: bool) -> None:
    """Print the expected loss of every release on 5 to 50 equidistant, equally common points, next to the optimum.

    \b
    deniable release --table
    """
    rows: list[dict[str, Any]] = []
    for size in SIZES:
        for epsilon in EPSILONS:
            line = Ordered(range(1, size + 1))
            found = compare_releases(line, epsilon)
            rows.append({"points": size, "epsilon": epsilon, "optimum": found.bound})
            rows[-1] |= {name: found[name].expected for name in COLUMNS}
            rows[-1] |= {"near, min": Bipartite(line, epsilon).near, "near, mean": Bipartite(line, epsilon, "mean").near}
            rows[-1] |= {"representatives": Coarsened(line, epsilon).cells}
    if as_json:
        click.echo(json.dumps(rows))
        return
    click.echo("            direct  exponential      bipartite              constant coarsened    optimum  min/opt")
    click.echo("points  eps         eps/2   tight    min (near)   mean (near)              (reps)")
    for row in rows:
        direct, half, tight, smallest, mean, constant, coarsened = (f"{row[name]:7.4f}" for name in COLUMNS)
        click.echo(
            f"{row['points']:6} {row['epsilon']:4g} {direct} {half} {tight} {smallest} ({row['near, min']:2}) {mean} "
            f"({row['near, mean']:2}) {constant} {coarsened} ({row['representatives']:2}) {row['optimum']:7.4f} "
            f"{row['bipartite, min'] / row['optimum']:6.3f}"
        )


def _show(
    record: dict[str, Any],
    said: str,
    as_json: bool,
    domain: Metric,
    truth: Ints,
    how: How,
    coins: Coins,
    picture: Path | None,
) -> None:
    if picture is not None:
        assert isinstance(domain, Points)
        draw(_map(domain, truth, how, coins), picture)
        said += f"\nWrote the picture to {picture}."
    click.echo(json.dumps(record) if as_json else said)


def _check_map(domain: Metric, picture: Path | None) -> None:
    if picture is not None and not (isinstance(domain, Points) and domain.points.shape[1] == 2):
        raise InvalidParameter("A map needs --places or --city.")


def _domain(
    numbers: tuple[int, int] | None, places: Path | None, label: str | None, city: int | None, losses: Path | None
) -> tuple[Metric, Mapping[str, Any]]:
    """The possible answers, and those among them that other names stand for."""
    if sum(each is not None for each in (numbers, places, city, losses)) != 1:
        raise InvalidParameter("Specify the possible answers with exactly one of --numbers, --places, --city and --losses.")
    if numbers is not None:
        return Ordered(range(numbers[0], numbers[1] + 1)), {}
    if losses is not None:
        return read_losses(losses), {}
    if city is not None:
        return Points(_city(city)[0], "haversine"), {}
    assert places is not None
    rows = read_columns(places, ["lat", "lon", *([label] if label else [])])
    where = _floats(places, rows[:2])
    # Venues at the same place cannot be distinguished by where they are: the first one stands for all of them.
    kept, same = np.unique(where, axis=0, return_index=True, return_inverse=True)[1:]
    order = np.argsort(kept)
    domain = Points(where[kept[order]], "haversine", [rows[2][i] for i in kept[order]] if label else None)
    owner = np.argsort(order)[same.ravel()]
    given = rows[2] if label else [str(place) for place in range(len(where))]
    return domain, {name: domain.labels[place] for name, place in zip(given, owner.tolist(), strict=True)}


def _truth(domain: Metric, names: Mapping[str, Any], data: Path, column: str | None) -> Ints:
    """The true answers in DATA."""
    if column is None:
        if not isinstance(domain, Points):
            raise InvalidParameter("Name the column of DATA that holds the answers: --column NAME.")
        return domain.nearest(_floats(data, read_columns(data, ["lat", "lon"])))
    (texts,) = read_columns(data, [column])
    given: list[Any] = []
    if isinstance(domain, Ordered):
        given = _floats(data, [texts])[:, 0].tolist()
    else:
        numbered = isinstance(domain.labels, range) and not names
        given = [int(text) if numbered and text.isdigit() else names.get(text, text) for text in texts]
    try:
        return domain.index(given)
    except OutsideDomain:
        row = AnswerBatch(given, 1, 1.0).first_outside(domain)
        ends = f" It contains the numbers {domain.labels[0]} to {domain.labels[-1]}." if isinstance(domain, Ordered) else ""
        raise OutsideDomain(
            f"Row {row} of {data}, column {column!r}: The answer is not in the list of possible answers.{ends} Correct the "
            "row, or allow more answers."
        ) from None


def _floats(path: Path, columns: list[list[str]]) -> Floats:
    try:
        return np.array(columns, np.float64).T
    except ValueError:
        raise InvalidParameter(
            f"A cell of {path} does not contain a number where one is needed. Correct the file."
        ) from None


def _csv(domain: Metric, released: Ints) -> str:
    if isinstance(domain, Points):
        rows = [f"{domain.labels[i]},{domain.points[i, 0]:.6f},{domain.points[i, 1]:.6f}" for i in released.tolist()]
        return "\n".join(["released,lat,lon", *rows, ""])
    return "\n".join(["released", *(str(domain.labels[i]) for i in released.tolist()), ""])


def _city(size: int) -> tuple[Floats, Ints]:
    """Places in a few districts, and two thousand people who are most often in the first ones. Always the same."""
    random = np.random.default_rng(2025)
    centres = random.normal(0, 0.05, (6, 2)) * [1, 1.3] + [48.86, 2.35]
    places = centres[np.arange(size) % 6] + random.normal(0, 0.012, (size, 2)) * [1, 1.3]
    weights = 1 / (1 + np.arange(size) % 6) / (1 + np.arange(size) // 6) ** 0.5
    return places.round(6), random.choice(size, 2000, p=weights / weights.sum())


def _map(domain: Points, truth: Ints, how: How, coins: Coins) -> "Figure":
    """Up to four maps: where people are, and where releases say that they are."""
    makers, epsilon, unit = how
    figures = optional("matplotlib.figure", "A plot", "plot")
    shown: list[tuple[str, Ints]] = [("truth", truth)]
    for name in PICTURED if set(PICTURED) <= set(makers) else makers:
        mechanism = makers[name](domain, epsilon)
        values = mechanism.perturb([domain.labels[i] for i in truth], coins).columns["value"]
        loss = float(mechanism.row_losses()[truth].mean())
        shown.append((f"{name}, {loss:.3g} km away on average", mechanism.outputs[values]))
    figure: Figure = figures.Figure(figsize=(9, 8), layout="constrained")
    latitude, longitude = domain.points.T
    for axes, (title, where) in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, shown, strict=False):
        people = np.bincount(where, minlength=domain.size)
        axes.scatter(longitude, latitude, s=3, color="#bbbbbb", linewidths=0)
        axes.scatter(longitude, latitude, s=6000 * people / len(truth), color="#4477aa", alpha=0.6, linewidths=0)
        axes.set_title(title, fontsize=10)
        axes.set_aspect(1 / np.cos(np.radians(latitude.mean())))
    figure.supxlabel("longitude")
    figure.supylabel("latitude")
    figure.suptitle(f"{len(truth):,} people, {domain.size:,} places, epsilon {epsilon:g} {unit}")
    return figure
