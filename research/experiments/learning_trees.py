"""Boosted trees by a curator: DPBoost with Laplace noise, with BRR, with coarsened response, and with noise on sums.

    python -m research.experiments.learning_trees --data DIR    writes learning_trees.md
    python -m research.experiments.learning_trees --quick       prints it for made-up tables

All have the same accounting: exact, for one person taking part or not, splits included.
The ranges of features and targets are those published with the tables. Each learner has the better of at most two settings,
judged by what it scores; choosing is not paid for, and favours all alike.
"""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np

import deniable as dn
from deniable.arrays import Floats, Ints
from deniable_learn import PrivateGBDTRegressor
from deniable_learn.learner import root_mean_square
from deniable_learn.tree import grow
from research.contest import Contest, Entrant, Trial
from research.data.folder import Data
from research.data.tables import ABALONE, BIAS, SUPERCONDUCT, Table, complete, made_up, table
from research.experiments.command import contest_options, run_all

TREES = 40  # of the boosting without noise
RESULT = Path(__file__).with_suffix(".md")
BUDGETS = (0.5, 1.0, 2.0, 5.0)
TABLES = {"abalone": (ABALONE, "rings"), "bias": (BIAS, "Next_Tmax"), "superconduct": (SUPERCONDUCT, "critical_temp")}
SAYS = {"abalone": "45 % of DPBoost's", "bias": "66 % of DPBoost's", "superconduct": "67 % of DPBoost's"}

# DPBoost's own: each tree on people of its own, with small steps; and few trees.
PUBLISHED = ({"trees": 20, "disjoint": 20, "depth": 3, "rate": 0.1}, {"trees": 5, "disjoint": 5, "depth": 2, "rate": 0.3})
OURS = ({"trees": 5, "depth": 3, "rate": 0.5}, {"trees": 20, "disjoint": 20, "depth": 3, "rate": 0.1})
DRAWN = ({"trees": 5, "depth": 5, "rate": 0.5, "splits": "drawn"},)
LOCAL = ({"trees": 40, "depth": 1, "model": "local"},)


def entrant(
    data: Table, name: str, paper: str, leaves: str, settings: tuple[Mapping[str, Any], ...], says: Mapping[float, str]
) -> Entrant:
    """A learner with the better of some settings, which is chosen by what it scores: this favours all of them alike."""
    ends = float(np.min(data.right)), float(np.max(data.right))

    def train(epsilon: float, seed: int) -> Trial:
        own, held = data.parts(seed)
        found = []
        for setting in settings:
            learner = PrivateGBDTRegressor(epsilon, (data.low, data.high), ends, leaves=leaves, seed=seed, **setting)
            learner.fit(data.rows[own], data.right[own])
            found.append(Trial(root_mean_square(data.right[held], learner.predict(data.rows[held])), learner.privacy_loss()))
        return min(found, key=lambda trial: trial.score)

    return Entrant(name, train, paper, says)


def contest(data: Table) -> Contest:
    """All learners on this table."""
    says = {5.0: SAYS[data.name]} if data.name in SAYS else {}

    def ceiling(seed: int) -> float:
        own, held = data.parts(seed)
        return root_mean_square(data.right[held], plain(data, own, held, dn.SeededCoins(seed)))

    def floor(seed: int) -> float:
        own, held = data.parts(seed)
        return root_mean_square(data.right[held], np.full(len(held), data.right[own].mean()))

    about = (
        f"{len(data.rows):,} people with {data.rows.shape[1]} features, a quarter of them to test with; central, one person "
        "taking part or not, but for the last learner, which is local"
    )
    entrants = [
        entrant(data, "boosting, noise on sums", "", "sums", OURS, {}),
        entrant(data, "boosting, noise on sums, splits drawn", "", "sums", DRAWN, {}),
        entrant(data, "DPBoost, coarsened leaves", "", "coarsened", PUBLISHED, {}),
        entrant(data, "DPBoost, Laplace leaves", "DPBoost", "laplace", PUBLISHED, {}),
        entrant(data, "DPBoost, BRR leaves", "BRR", "bipartite", PUBLISHED, says),
        entrant(data, "boosting from reports (local)", "", "sums", LOCAL, {}),
    ]
    return Contest(data.name, "RMSE", BUDGETS, entrants, ceiling, floor, about)


def plain(data: Table, own: Ints, held: Ints, coins: dn.Coins) -> Floats:
    """What boosting without any noise predicts: the best splits, and the means of the leaves."""
    places = PrivateGBDTRegressor(1.0, (data.low, data.high), (0, 1))._places(data.rows)
    predicted = np.full(len(data.rows), float(data.right[own].mean()))
    for _ in range(TREES):
        rest = data.right[own] - predicted[own]
        largest = float(np.abs(rest).max()) or 1.0
        whole = np.rint(rest / largest * 1024).astype(np.int64)
        tree = grow(places[own], whole, 4, 32, 1024, [Fraction(10**6)] * 4, coins)
        leaf = tree.leaf(places[own])
        many = np.maximum(np.bincount(leaf, minlength=tree.leaves), 1)
        tree.values = np.bincount(leaf, rest, minlength=tree.leaves) / many
        predicted += 0.3 * tree.predict(places)
    return predicted[held]


HEAD = "Boosted trees by a curator; `python -m research.experiments.learning_trees --data DIR` writes this."


@click.command()
@click.option("--people", default=0, help="Train and test on at most so many of the people of a table.")
@contest_options(10)
def main(data: Data, quick: bool, repeats: int, seed: int, picture: Path | None, people: int) -> None:
    """Measure private boosted trees."""
    every = [contest(each.sampled(people)) for each in tables(data, quick)]
    result = RESULT if data.folder and not quick else None
    run_all(every, 1 if quick else repeats, seed, result, picture, HEAD)


def tables(data: Data, quick: bool) -> list[Table]:
    """The three tables, made up without a folder of data."""
    if data.folder is None:
        return [made_up(name, 300 if quick else 4000, 8, classes=False) for name in TABLES]
    drop = ("Date", "Next_Tmin")
    return [table(name, *complete(data, file), target, drop) for name, (file, target) in TABLES.items()]


if __name__ == "__main__":
    main()
