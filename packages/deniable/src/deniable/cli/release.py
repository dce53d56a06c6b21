"""`deniable release`: release places, numbers or other answers near the truth, and what each way to do so costs."""

import csv
import gzip
import io
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deniable.arrays import Floats, Ints
from deniable.cli import options
from deniable.cli.targets import check_picture, check_target, draw, write_text
from deniable.domains import Ordered, Points
from deniable.domains.metric import Metric
from deniable.errors import InvalidParameter, MissingExtra
from deniable.files import read_losses
from deniable.mechanisms.releases.bipartite import Bipartite
from deniable.mechanisms.releases.coarsened import Coarsened
from deniable.mechanisms.releases.comparison import compare_releases
from deniable.mechanisms.releases.release import Release
from deniable.mechanisms.releases.staircase import Staircase
from deniable.planning.releases import plan_release

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
NAMES = ("best", "bipartite", "bipartite-mean", "staircase", "coarsened")


@click.command(short_help="Release places or numbers near the truth.")
@click.argument("data", type=click.Path(path_type=Path), metavar="[DATA]", required=False)
@click.option("--epsilon", type=float, default=1.0, show_default=True, metavar="E", help="The privacy budget of one answer.")
@click.option("--numbers", type=(int, int), metavar="LOW HIGH", help="The answers are the whole numbers from LOW to HIGH.")
@click.option("--places", type=click.Path(path_type=Path), metavar="FILE", help="CSV with columns lat and lon: the places.")
@click.option("--label", metavar="NAME", help="The column of --places that names them; they are numbered unless given.")
@click.option("--city", type=click.IntRange(min=2), metavar="N", help="Places and people of a made-up city, to try it out.")
@click.option(
    "--losses", type=click.Path(path_type=Path), metavar="FILE", help="CSV with what each answer costs: any losses."
)
@click.option("--column", metavar="NAME", help="The column of DATA with the answers; for places lat and lon unless given.")
@click.option("--mechanism", "name", type=click.Choice(NAMES), default="best", show_default=True, help="How to release.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write what is released to FILE, as CSV.")
@click.option("--table", is_flag=True, help="Print the expected losses on lines of 5 to 50 points, and nothing else.")
@options.picture
@options.seed
@options.force
@options.json_flag
def release(
    data: Path | None,
    epsilon: float,
    numbers: tuple[int, int] | None,
    places: Path | None,
    label: str | None,
    city: int | None,
    losses: Path | None,
    column: str | None,
    name: str,
    out: Path | None,
    table: bool,
    picture: Path | None,
    seed: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Release one answer for each answer in DATA, near the truth if that is how it comes up, with a promise of privacy.

    A release is used as it is, so what counts is how far it is from the truth on average. Say which answers there are, in
    one of four ways; the list must be public. Without DATA, all mechanisms are compared and nothing is released.

    \b
    deniable release --numbers 18 99 --epsilon 1
    deniable release people.csv --column age --numbers 18 99 --epsilon 1 --out released.csv
    deniable release checkins.csv --places venues.csv --epsilon 4 --out released.csv --picture map.png
    deniable release --city 300 --epsilon 4 --picture map.png
    deniable release --table

    The best is the smallest expected loss when all answers are equally common. The promise is one over the whole list: a
    release never stays within a part of the list that depends on the truth. The picture shows the truth and three releases
    on a map.
    """
    if table:
        _print_table(as_json)
        return
    check_picture(picture)
    check_target(out, force)
    domain, names = _domain(numbers, places, label, city, losses)
    if picture is not None and not (isinstance(domain, Points) and domain.points.shape[1] == 2):
        raise InvalidParameter("A map needs --places or --city.")
    if data is None and out is not None:
        raise InvalidParameter("There is nothing to release without DATA.")
    truth = _truth(domain, names, data, column, city)
    coins = options.coins_of(seed)
    if data is not None:
        mechanism = _made(name, domain, epsilon)
        released = mechanism.outputs[mechanism.perturb([domain.labels[i] for i in truth], coins).columns["value"]]
        paid = domain.paid(truth, released)
        if out is not None:
            write_text(out, _csv(domain, released))
        record = {
            "released": len(truth),
            "mechanism": mechanism.wire,
            "fingerprint": mechanism.fingerprint,
            "epsilon": mechanism.epsilon,
            "loss": float(paid.mean()),
            "expected_loss": float(mechanism.row_losses()[truth].mean()),
        }
        said = (
            f"{len(truth):,} answers released by {mechanism.wire}, epsilon {epsilon:g} for one answer: mean loss "
            f"{record['loss']:.4g}, expected {record['expected_loss']:.4g}."
        )
    else:
        comparison = compare_releases(domain, epsilon)
        record = {"epsilon": epsilon, "answers": domain.size, "bound": comparison.bound}
        record["releases"] = [vars(line) for line in comparison.lines]
        said = str(comparison)
    if picture is not None:
        assert isinstance(domain, Points)
        draw(_map(domain, truth, epsilon, coins), picture)
        said += f"\nThe picture is in {picture}."
    click.echo(json.dumps(record) if as_json else said)


def _domain(
    numbers: tuple[int, int] | None, places: Path | None, label: str | None, city: int | None, losses: Path | None
) -> tuple[Metric, Mapping[str, Any]]:
    """The possible answers, and those among them that other names stand for."""
    if sum(each is not None for each in (numbers, places, city, losses)) != 1:
        raise InvalidParameter("Say which answers there are: --numbers, --places, --city or --losses, one of them.")
    if numbers is not None:
        return Ordered(range(numbers[0], numbers[1] + 1)), {}
    if losses is not None:
        return read_losses(losses), {}
    if city is not None:
        return Points(_city(city)[0], "haversine"), {}
    assert places is not None
    rows = _read(places, ["lat", "lon", *([label] if label else [])])
    where = _floats(places, rows[:2])
    # Venues at the same place cannot be told apart by where they are: the first one stands for all of them.
    kept, same = np.unique(where, axis=0, return_index=True, return_inverse=True)[1:]
    order = np.argsort(kept)
    domain = Points(where[kept[order]], "haversine", [rows[2][i] for i in kept[order]] if label else None)
    owner = np.argsort(order)[same.ravel()]
    given = rows[2] if label else [str(place) for place in range(len(where))]
    return domain, {name: domain.labels[place] for name, place in zip(given, owner.tolist(), strict=True)}


def _truth(domain: Metric, names: Mapping[str, Any], data: Path | None, column: str | None, city: int | None) -> Ints:
    """The true answers: from DATA, or of the people of a made-up city."""
    if data is None:
        return _city(city)[1] if city is not None else np.arange(domain.size)
    if column is None:
        if not isinstance(domain, Points):
            raise InvalidParameter("Say which column of DATA has the answers: --column NAME.")
        return domain.nearest(_floats(data, _read(data, ["lat", "lon"])))
    (texts,) = _read(data, [column])
    if isinstance(domain, Ordered):
        return domain.index(_floats(data, [texts])[:, 0])
    numbered = isinstance(domain.labels, range) and not names
    return domain.index([int(text) if numbered and text.isdigit() else names.get(text, text) for text in texts])


@lru_cache(maxsize=8)
def _made(name: str, domain: Metric, epsilon: float) -> Release:
    match name:
        case "bipartite":
            return Bipartite(domain, epsilon)
        case "bipartite-mean":
            return Bipartite(domain, epsilon, "mean")
        case "staircase":
            return Staircase(domain, epsilon)
        case "coarsened":
            return Coarsened(domain, epsilon)
    return plan_release(domain, epsilon)


def _read(path: Path, names: list[str]) -> list[list[str]]:
    """Columns of a CSV file, which may be compressed."""
    packed = path.read_bytes()
    try:
        text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode("utf-8-sig")
    except (gzip.BadGzipFile, EOFError, UnicodeDecodeError):
        raise InvalidParameter(f"The file {path} is not text in UTF-8, or not whole.") from None
    rows = list(csv.DictReader(io.StringIO(text)))
    for name in names:
        if not rows or rows[0].get(name) is None:
            raise InvalidParameter(f"The file {path} has no rows, or no column {name!r}.")
    return [[str(row[name] or "") for row in rows] for name in names]


def _floats(path: Path, columns: list[list[str]]) -> Floats:
    try:
        return np.array(columns, np.float64).T
    except ValueError:
        raise InvalidParameter(f"A cell of {path} that should be a number is none. Mend the file.") from None


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


def _print_table(as_json: bool) -> None:
    """The expected loss of every release on equidistant points, equally common, beside the optimum."""
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


def _map(domain: Points, truth: Ints, epsilon: float, coins: Any) -> "Figure":
    """Four maps: where people are, and where three releases say that they are."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("A plot", "plot") from None
    shown: list[tuple[str, Ints]] = [("truth", truth)]
    for name in ("bipartite", "staircase", "coarsened"):
        mechanism = _made(name, domain, epsilon)
        values = mechanism.perturb([domain.labels[i] for i in truth], coins).columns["value"]
        loss = float(mechanism.row_losses()[truth].mean())
        shown.append((f"{name}, {loss:.3g} km away on average", mechanism.outputs[values]))
    figure = Figure(figsize=(9, 8), layout="constrained")
    latitude, longitude = domain.points.T
    for axes, (title, where) in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, shown, strict=True):
        people = np.bincount(where, minlength=domain.size)
        axes.scatter(longitude, latitude, s=3, color="#bbbbbb", linewidths=0)
        axes.scatter(longitude, latitude, s=6000 * people / len(truth), color="#4477aa", alpha=0.6, linewidths=0)
        axes.set_title(title, fontsize=10)
        axes.set_aspect(1 / np.cos(np.radians(latitude.mean())))
    figure.supxlabel("longitude")
    figure.supylabel("latitude")
    figure.suptitle(f"{len(truth):,} people, {domain.size:,} places, epsilon {epsilon:g} for one answer")
    return figure
