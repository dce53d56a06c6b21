"""Small networks on released vectors, as in DNN-DP, and class means: Adult and Bank Marketing, features and label protected.

    python -m research.experiments.learning_vectors --data DIR    writes learning_vectors.md
    python -m research.experiments.learning_vectors --quick       prints it for made-up tables

Epsilon is for a whole person: all features and the label. The ranges of features are those
published with the tables, as are the shares of the classes, which class means are given. For "importance", one person in
twenty is public and is not learnt from: budgets are in proportion to how strongly each feature goes with the label there.
"""

from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

import deniable as dn
import deniable_learn as learning
from deniable.arrays import Floats, Ints
from deniable_learn import PrivateMeansClassifier, PrivateVectorClassifier, importance_budgets
from deniable_learn.learner import area_under_curve, scaled
from deniable_learn.means import unit
from deniable_learn.network import Network, trained
from research.contest import Contest, Entrant, Trial
from research.data.folder import Data
from research.data.tables import ADULT, BANK, Table, complete, made_up, table
from research.experiments.command import contest_options, run_all

RESULT = Path(__file__).with_suffix(".md")
BUDGETS = (0.25, 1.0, 3.5)
CLASSES = (0, 1)
EPOCHS = 3
KEPT = 4  # features that are asked for where only the most important ones are
SAYS = {0.25: "5.29 % better than Laplace (Adult)"}

Trained = Callable[[Table, Ints, Ints, float, int], tuple[Floats, dn.PrivacyLoss]]


def strength(data: Table, own: Ints, most: int = 0) -> tuple[Floats, Ints]:
    """How strongly each feature goes with the label among the public people, and who the others are."""
    public, private = own[: len(own) // 20], own[len(own) // 20 :]
    rows, right = data.rows[public], data.right[public].astype(np.float64)
    spread = rows.std(axis=0) * right.std()
    weights = np.abs(((rows - rows.mean(axis=0)) * (right - right.mean())[:, None]).mean(axis=0)) / np.maximum(spread, 1e-12)
    weights = np.where(spread > 0, weights, 0) + 1e-6
    if most:
        weights = np.where(weights >= np.sort(weights)[-most], weights, 0)
    return weights, private


def released(way: str, split: str) -> Trained:
    """A network on released vectors, the budget split in one of three ways."""

    def train(data: Table, own: Ints, held: Ints, epsilon: float, seed: int) -> tuple[Floats, dn.PrivacyLoss]:
        budgets = None
        if split != "equal":
            weights, own = strength(data, own, KEPT if split == "few" else 0)
            budgets = importance_budgets(weights, epsilon)
        learner = PrivateVectorClassifier(
            epsilon, CLASSES, (data.low, data.high), budgets, way, epochs=EPOCHS, seed=seed
        ).fit(data.rows[own], data.right[own])
        return learner.predict_proba(data.rows[held])[:, 1], learner.privacy_loss()

    return train


def labels_open(data: Table, own: Ints, held: Ints, epsilon: float, seed: int) -> tuple[Floats, dn.PrivacyLoss]:
    """DNN-BRR as published protects the features only: the label is used as it is, and nothing is promised about it."""
    budgets = (*(epsilon / data.rows.shape[1] for _ in data.low), 100.0)
    learner = PrivateVectorClassifier(100.0, CLASSES, (data.low, data.high), None, "bipartite", epochs=EPOCHS, seed=seed)
    learner.classes_, learner.budgets = np.array(CLASSES), budgets
    rows, _ = learner._release(
        scaled(data.rows[own], (data.low, data.high)), data.right[own].astype(np.int64), dn.SeededCoins(seed)
    )
    network = Network(rows.shape[1], 2, learner.hidden)
    weights = trained(network, rows, data.right[own], np.random.default_rng(seed), EPOCHS, decay=1e-3)
    return network.predict(weights, scaled(data.rows[held], (data.low, data.high)))[:, 1], dn.PrivacyLoss(None)


def means(data: Table, own: Ints, held: Ints, epsilon: float, seed: int) -> tuple[Floats, dn.PrivacyLoss]:
    """Class means of the features, categories with a column each: one report of each person."""
    share = float((data.right == 1).mean())
    learner = PrivateMeansClassifier(epsilon, CLASSES, (-1, 1), (1 - share, share), seed=seed)
    learner.fit(data.one_hot[own], data.right[own])
    return learner.predict_proba(data.one_hot[held])[:, 1], learner.privacy_loss()


def signed(data: Table, own: Ints, held: Ints, epsilon: float, seed: int) -> tuple[Floats, dn.PrivacyLoss]:
    """A linear model of the same columns and a constant: each person reports the vector with the sign of the label."""
    vectors = unit(np.concatenate([unit(data.one_hot), np.ones((len(data.rows), 1))], axis=1))
    reports = learning.privatize_together(
        (vectors[own], data.right[own]),
        features=dn.UnitVectors(vectors.shape[1]),
        labels=dn.Categories(CLASSES),
        epsilon=epsilon,
        coins=dn.SeededCoins(seed),
    )
    scores = learning.fit_moments(reports).scores(vectors[held])
    return (1 + scores[:, 1] - scores[:, 0]) / 2, reports.guarantee.sample


LEARNERS: dict[str, tuple[str, Trained]] = {
    "class means, `PrivateMeansClassifier`": ("", means),
    "signed vectors, moments": ("", signed),
    "network, coarsened, equal parts": ("", released("coarsened", "equal")),
    "network, coarsened, by importance": ("", released("coarsened", "importance")),
    f"network, coarsened, {KEPT} features": ("", released("coarsened", "few")),
    "DNN-BRR, equal parts": ("BRR", released("bipartite", "equal")),
    "DNN-BRR, by importance": ("BRR", released("bipartite", "importance")),
    "DNN-DP, clamped Laplace, by importance": ("DNN-DP", released("laplace", "importance")),
    "DNN-BRR, labels in the clear": ("BRR", labels_open),
}


def contests(data: Table) -> list[Contest]:
    """The accuracy and the area under the curve, of the same trainings."""
    known: dict[tuple[str, float, int], tuple[Floats, dn.PrivacyLoss]] = {}

    def scored(measure: str, chances: Floats, held: Ints) -> float:
        right = data.right[held] == 1
        return area_under_curve(right, chances) if measure == "AUC" else float(((chances > 0.5) == right).mean())

    def entrant(measure: str, name: str) -> Entrant:
        def train(epsilon: float, seed: int) -> Trial:
            own, held = data.parts(seed)
            if (name, epsilon, seed) not in known:
                known[name, epsilon, seed] = LEARNERS[name][1](data, own, held, epsilon, seed)
            chances, loss = known[name, epsilon, seed]
            return Trial(scored(measure, chances, held), loss)

        paper = LEARNERS[name][0]
        return Entrant(name, train, paper, SAYS if paper == "BRR" and measure == "accuracy" else {})

    def ceiling(measure: str) -> Callable[[int], float]:
        def score(seed: int) -> float:
            own, held = data.parts(seed)
            network = Network(data.one_hot.shape[1], 2, 16)
            weights = trained(network, data.one_hot[own], data.right[own], np.random.default_rng(seed), 4)
            return scored(measure, network.predict(weights, data.one_hot[held])[:, 1], held)

        return score

    def floor(measure: str) -> Callable[[int], float]:
        return lambda seed: 0.5 if measure == "AUC" else float(max(share := (data.right == 1).mean(), 1 - share))

    about = (
        f"{len(data.rows):,} people with {data.rows.shape[1]} features, a quarter of them to test with; local; epsilon is "
        "for a whole person, features and label"
    )
    return [
        Contest(
            data.name,
            measure,
            BUDGETS,
            [entrant(measure, name) for name in LEARNERS],
            ceiling(measure),
            floor(measure),
            about,
        )
        for measure in ("accuracy", "AUC")
    ]


HEAD = "Networks on released vectors; `python -m research.experiments.learning_vectors --data DIR` writes this."


@click.command()
@click.option("--people", default=0, help="Train and test on at most so many of the people of a table.")
@contest_options(20)
def main(data: Data, quick: bool, repeats: int, seed: int, picture: Path | None, people: int) -> None:
    """Measure private learners on tables of people."""
    every = [contest for each in tables(data, quick) for contest in contests(each.sampled(people))]
    result = RESULT if data.folder and not quick else None
    run_all(every, 1 if quick else repeats, seed, result, picture, HEAD)


def tables(data: Data, quick: bool) -> list[Table]:
    """Adult and Bank Marketing, made up without a folder of data."""
    if data.folder is None:
        people = 400 if quick else 8000
        return [made_up("Adult", people, 14, classes=True), made_up("Bank", people, 20, classes=True)]
    adult, bank = (complete(data, file) for file in (ADULT, BANK))
    return [
        table("adult", *adult, "income", ("split",), ("capital_gain", "capital_loss", "fnlwgt"), positive=">50K"),
        table("bank_additional_full", *bank, "y", logs=("duration", "campaign", "previous"), positive="yes"),
    ]


if __name__ == "__main__":
    main()
