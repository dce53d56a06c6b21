"""Open answers: the exact error of every mechanism at the settings of four known data sets, and real histograms.

    python -m research.experiments.utility                       prints the exact tables, a few seconds
    python -m research.experiments.utility --data FOLDER         writes utility.md, with measurements on real histograms

FOLDER holds `surveys/acs2023_uldp_histogram.csv.gz`, `surveys/drug_review_rating_histogram.csv.gz` and the check-ins of
`locations/`. The coins are seeded, so that the tables can be made again.
"""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from deniable import SubsetSelection, Unary
from deniable.arrays import Ints
from deniable.core.coins import SeededCoins
from deniable.domains import Categories
from deniable.mechanisms.registry import candidates
from deniable.metrics import mse, top_f1, top_ndcg
from deniable.wrappers.open_answers import OpenAnswers
from deniable.wrappers.utility_optimized import UtilityOptimized

RESULT = Path(__file__).with_suffix(".md")
SETTINGS = [(25, 0.95), (230, 0.77), (424, 0.56), (3, 0.78)]
EPSILONS = (1.0, 2.0, 4.0)
REPEATS, PEOPLE, TOP = 20, 100_000, 20
BOX, CELLS = ((40.70, 40.88), (-74.02, -73.91)), 25  # Manhattan and its edges, as a grid


def mechanisms(domain: Categories, secret: list[object], epsilon: float, share: float) -> dict[str, OpenAnswers]:
    """Every family made for these sensitive answers, and what was published before."""
    made: dict[str, OpenAnswers] = {
        name: UtilityOptimized(candidate.make, domain, secret, epsilon, share) for name, candidate in candidates().items()
    }
    for name, family in (("uSS as published", SubsetSelection), ("uUE as published", Unary)):
        made[name] = UtilityOptimized.as_published(family, domain, secret, epsilon, share)
    return made


def total(mechanism: OpenAnswers, share: float) -> float:
    """n times the sum of all variances; only the open share matters."""
    secret = mechanism.secret
    shares = np.where(secret, (1 - share) / secret.sum(), share / (~secret).sum())
    return float((mechanism.predict(shares, 1).standard_error ** 2).sum())


def exact_table() -> list[str]:
    """One row for each setting and budget."""
    names = [*candidates(), "uSS as published", "uUE as published"]
    lines = [f"| sensitive | open share | epsilon | {' | '.join(names)} |", "|--:|--:|--:|" + "--:|" * len(names)]
    for size, share in SETTINGS:
        for epsilon in EPSILONS:
            made = mechanisms(Categories(range(size + 5)), list(range(size)), epsilon, share)
            cells = " | ".join(f"{total(made[name], share):.4g}" for name in names)
            lines.append(f"| {size} | {share:g} | {epsilon:g} | {cells} |")
    return lines


@dataclass(frozen=True)
class Survey:
    """A real histogram."""

    name: str
    people: Ints
    secret: list[object]


def surveys(folder: Path) -> Iterator[Survey]:
    """The histograms in the folder."""
    rows = table(folder / "surveys" / "acs2023_uldp_histogram.csv.gz")
    for rule in ("and", "or"):
        marks = [place for place, row in enumerate(rows) if row[f"sensitive_{rule}"] == "1"]
        yield Survey(f"American Community Survey 2023, rule {rule}", np.array([int(row["count"]) for row in rows]), [*marks])
    rows = table(folder / "surveys" / "drug_review_rating_histogram.csv.gz")
    yield Survey("drug reviews, ratings 1 to 3", np.array([int(row["count"]) for row in rows]), [0, 1, 2])
    places = {row["venue"]: row for row in table(folder / "locations" / "gowalla_nyc_venues.csv.gz")}
    visits = [row["venue"] for row in table(folder / "locations" / "gowalla_nyc_checkins.csv.gz")]
    yield grid("Gowalla check-ins in Manhattan", places, visits)
    places = {row["poi"]: row for row in table(folder / "locations" / "foursquare_nyc_pois.csv.gz")}
    visits = [row["poi"] for row in table(folder / "locations" / "foursquare_nyc_checkins.csv.gz")]
    yield grid("Foursquare check-ins in Manhattan", places, visits)


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a packed CSV file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def grid(name: str, places: dict[str, dict[str, str]], visits: list[str]) -> Survey:
    """How many visits fall into each cell; a cell with a sensitive place is sensitive."""
    cell: dict[str, int] = {}
    for key, row in places.items():
        steps = [
            (float(row[axis]) - low) / (high - low) * CELLS for axis, (low, high) in zip(("lat", "lon"), BOX, strict=True)
        ]
        if all(0 <= step < CELLS for step in steps):
            cell[key] = int(steps[0]) * CELLS + int(steps[1])
    inside = [cell[visit] for visit in visits if visit in cell]
    people = np.bincount(inside, minlength=CELLS * CELLS)
    return Survey(name, people, [*sorted({cell[key] for key in cell if places[key]["sensitive"] == "1"})])


def measured_table(survey: Survey, epsilon: float) -> list[str]:
    """Predicted and measured error of every mechanism on a real histogram, the smallest prediction first."""
    domain, held = Categories(range(len(survey.people))), scaled(survey.people)
    truth = held / held.sum()
    share = float(1 - truth[np.array(survey.secret, np.int64)].sum())
    top = min(TOP, len(held) // 2)
    answers, n = np.repeat(np.arange(len(held)), held), int(held.sum())
    lines = [
        f"{survey.name}: {len(held)} answers, {len(survey.secret)} sensitive, open share {share:.3f}, "
        f"{n:,} people, epsilon {epsilon:g}, {REPEATS} collections.",
        "",
        f"| mechanism | n x error, predicted | measured | F1 of the top {top} | NDCG |",
        "|---|--:|--:|--:|--:|",
    ]
    made = mechanisms(domain, survey.secret, epsilon, share)
    for name in sorted(made, key=lambda each: total(made[each], share)):
        coins = SeededCoins(f"{survey.name} {name}".encode())
        found = [made[name].estimate(made[name].tally(made[name].perturb(answers, coins))).values for _ in range(REPEATS)]
        error = n * len(held) * float(np.mean([mse(truth, values) for values in found]))
        ranking = [np.mean([rule(truth, values, top) for values in found]) for rule in (top_f1, top_ndcg)]
        lines.append(f"| {name} | {total(made[name], share):.4g} | {error:.4g} | {ranking[0]:.3f} | {ranking[1]:.3f} |")
    return lines


def scaled(people: Ints) -> Ints:
    """At most `PEOPLE` people with nearly the same shares."""
    if people.sum() <= PEOPLE:
        return people
    return np.diff(np.rint(np.cumsum(people) / people.sum() * PEOPLE).astype(np.int64), prepend=0)


@click.command()
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Also measure on real histograms."
)
def main(data: Path | None) -> None:
    """Work out, and measure, what it is worth that some answers are open."""
    lines = [
        "# What open answers are worth",
        "",
        "n times the total squared error, exactly, at the best parameter of each mechanism.",
        "",
        *exact_table(),
    ]
    if data is None:
        click.echo("\n".join(lines))
        return
    for survey in surveys(data):
        click.echo(survey.name, err=True)
        lines += ["", *measured_table(survey, 1.0)]
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
