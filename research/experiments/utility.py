"""Open answers: the exact error of every mechanism at the settings of four known data sets, and real histograms.

    python -m research.experiments.utility                       prints the exact tables, a few seconds
    python -m research.experiments.utility --data DIR            writes utility.md, with measurements on real histograms

The coins are seeded, so that the tables can be made again.
"""

from dataclasses import replace
from pathlib import Path

import click
import numpy as np

from deniable import SubsetSelection, Unary
from deniable.core.coins import SeededCoins
from deniable.domains import Categories
from deniable.mechanisms.registry import candidates
from deniable.metrics import mse, top_f1, top_ndcg
from deniable.wrappers.open_answers import OpenAnswers
from deniable.wrappers.utility_optimized import UtilityOptimized
from research.data.folder import Data
from research.data.histograms import CHECKINS, FOURSQUARE, VENUES, Histogram, grid, histogram
from research.experiments.command import data_option, deliver

RESULT = Path(__file__).with_suffix(".md")
SETTINGS = [(25, 0.95), (230, 0.77), (424, 0.56), (3, 0.78)]
EPSILONS = (1.0, 2.0, 4.0)
REPEATS, PEOPLE, TOP = 20, 100_000, 20
ACS = "surveys/acs2023_uldp_histogram.csv.gz"


def mechanisms(domain: Categories, secret: list[object], epsilon: float, share: float) -> dict[str, OpenAnswers]:
    """Every family for any number of answers made for these sensitive answers, and what was published before."""
    made: dict[str, OpenAnswers] = {
        name: UtilityOptimized(candidate.make, domain, secret, epsilon, share)
        for name, candidate in candidates("shares", 1).items()
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
    names = [*candidates("shares", 1), "uSS as published", "uUE as published"]
    lines = [f"| sensitive | open share | epsilon | {' | '.join(names)} |", "|--:|--:|--:|" + "--:|" * len(names)]
    for size, share in SETTINGS:
        for epsilon in EPSILONS:
            made = mechanisms(Categories(range(size + 5)), list(range(size)), epsilon, share)
            cells = " | ".join(f"{total(made[name], share):.4g}" for name in names)
            lines.append(f"| {size} | {share:g} | {epsilon:g} | {cells} |")
    return lines


def surveys(data: Data) -> list[Histogram]:
    """The real histograms."""
    (people,) = data.table(ACS, ["count"])
    rules = {rule: data.table(ACS, [f"sensitive_{rule}"])[0] for rule in ("and", "or")}
    acs = [
        Histogram(
            f"American Community Survey 2023, rule {rule}",
            np.array(people, np.int64),
            tuple(place for place, mark in enumerate(marks) if mark == "1"),
        )
        for rule, marks in rules.items()
    ]
    drugs = replace(histogram(data, "Drug", 1), name="drug reviews, ratings 1 to 3")
    gowalla = grid("Gowalla check-ins in Manhattan", data, VENUES, CHECKINS, "venue")
    return [*acs, drugs, gowalla, grid("Foursquare check-ins in Manhattan", data, *FOURSQUARE, "poi")]


def measured_table(survey: Histogram, epsilon: float) -> list[str]:
    """Predicted and measured error of every mechanism on a real histogram, the smallest prediction first."""
    domain, held = Categories(range(len(survey.people))), survey.scaled(PEOPLE)
    truth = held / held.sum()
    share = float(1 - truth[np.array(survey.sensitive, np.int64)].sum())
    top = min(TOP, len(held) // 2)
    answers, n = np.repeat(np.arange(len(held)), held), int(held.sum())
    lines = [
        f"{survey.name}: {len(held)} answers, {len(survey.sensitive)} sensitive, open share {share:.3f}, "
        f"{n:,} people, epsilon {epsilon:g}, {REPEATS} collections.",
        "",
        f"| mechanism | n x error, predicted | measured | F1 of the top {top} | NDCG |",
        "|---|--:|--:|--:|--:|",
    ]
    made = mechanisms(domain, [*survey.sensitive], epsilon, share)
    for name in sorted(made, key=lambda each: total(made[each], share)):
        coins = SeededCoins(f"{survey.name} {name}".encode())
        found = [made[name].estimate(made[name].tally(made[name].perturb(answers, coins))).values for _ in range(REPEATS)]
        error = n * len(held) * float(np.mean([mse(truth, values) for values in found]))
        ranking = [np.mean([rule(truth, values, top) for values in found]) for rule in (top_f1, top_ndcg)]
        lines.append(f"| {name} | {total(made[name], share):.4g} | {error:.4g} | {ranking[0]:.3f} | {ranking[1]:.3f} |")
    return lines


@click.command()
@data_option
def main(data: Data) -> None:
    """Work out, and measure, what it is worth that some answers are open."""
    lines = [
        "# What open answers are worth",
        "",
        "n times the total squared error, exactly, at the best parameter of each mechanism.",
        "",
        *exact_table(),
    ]
    for survey in surveys(data) if data.folder else ():
        click.echo(survey.name, err=True)
        lines += ["", *measured_table(survey, 1.0)]
    deliver("\n".join([*lines, ""]), RESULT if data.folder else None)


if __name__ == "__main__":
    main()
