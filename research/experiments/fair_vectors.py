"""The contest on Adult and Bank Marketing anew, with the same encodings, features and splits of the budget for everybody.

    python -m research.experiments.fair_vectors --data DIR --kept FOLDER    writes fair_vectors.md

Whoever uses the most important features knows them from one training person in twenty, who is public and not learnt from.
"""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np

import deniable as dn
import deniable_learn as learning
from deniable.arrays import Floats, Ints
from deniable_learn import PrivateMeansClassifier, PrivateVectorClassifier, importance_budgets
from deniable_learn.learner import area_under_curve
from deniable_learn.means import unit
from research.data.folder import Data
from research.data.tables import Table
from research.experiments.learning_vectors import CLASSES, EPOCHS, KEPT, strength, tables
from research.fair_contest import Fair, FairContest, Setting, fair_command

RESULT = Path(__file__).with_suffix(".md")
BUDGETS, PEOPLE = (1.0, 3.5), 6_000
FAINT = 1e-3  # of the largest importance, which every column is taken to have: no budget may vanish
GRID: tuple[Setting, ...] = tuple(
    {"columns": columns, "features": features, "budget": budget}
    for columns, features, budget in product(("ranks", "one-hot"), ("all", str(KEPT)), ("equal", "by importance"))
)


Learner = Callable[[Setting, Ints, Ints, float, int], tuple[Floats, float]]  # scores of the held people, and epsilon


def columns_of(data: Table, setting: Setting, own: Ints) -> tuple[Floats, Floats, Ints]:
    """The columns of all people in [-1, 1], how strongly each goes with the label among public people, and the others."""
    rows = data.one_hot if setting["columns"] == "one-hot" else 2 * (data.rows - data.low) / (data.high - data.low) - 1
    as_table = Table(data.name, rows, data.right, -np.ones(rows.shape[1]), np.ones(rows.shape[1]), rows)
    weights, private = strength(as_table, own)
    weights = np.maximum(weights, FAINT * weights.max())
    kept = np.argsort(-weights)[:KEPT] if setting["features"] != "all" else np.arange(rows.shape[1])
    return rows[:, kept], weights[kept], private


def releasing(setting: Setting, weights: Floats, way: str, epsilon: float, seed: int) -> PrivateVectorClassifier:
    """A learner from columns that people release one by one, with the budgets of a setting."""
    budgets = importance_budgets(weights, epsilon) if setting["budget"] == "by importance" else None
    return PrivateVectorClassifier(epsilon, CLASSES, (-1, 1), budgets, way, epochs=EPOCHS, seed=seed)


def network(data: Table, way: str) -> Learner:
    """A network on vectors that people released column by column."""

    def train(setting: Setting, own: Ints, held: Ints, epsilon: float, seed: int) -> tuple[Floats, float]:
        rows, weights, private = columns_of(data, setting, own)
        made = releasing(setting, weights, way, epsilon, seed).fit(rows[private], data.right[private])
        return made.predict_proba(rows[held])[:, 1], made.privacy_loss().epsilon()

    return train


def means(data: Table) -> Learner:
    """Class means of the columns, one report of each person."""

    def train(setting: Setting, own: Ints, held: Ints, epsilon: float, seed: int) -> tuple[Floats, float]:
        rows, weights, private = columns_of(data, setting, own)
        rows = rows * np.sqrt(weights / weights.max()) if setting["budget"] == "by importance" else rows
        share = float((data.right == 1).mean())
        made = PrivateMeansClassifier(epsilon, CLASSES, (-1, 1), (1 - share, share), seed=seed)
        made.fit(rows[private], data.right[private])
        return made.predict_proba(rows[held])[:, 1], made.privacy_loss().epsilon()

    return train


def signed(data: Table) -> Learner:
    """A linear model of the columns and a constant, reported with the sign of the label."""

    def train(setting: Setting, own: Ints, held: Ints, epsilon: float, seed: int) -> tuple[Floats, float]:
        rows, weights, private = columns_of(data, setting, own)
        rows = rows * np.sqrt(weights / weights.max()) if setting["budget"] == "by importance" else rows
        vectors = unit(np.concatenate([unit(rows), np.ones((len(rows), 1))], axis=1))
        reports = learning.privatize_together(
            (vectors[private], data.right[private]),
            features=dn.UnitVectors(vectors.shape[1]),
            labels=dn.Categories(CLASSES),
            epsilon=epsilon,
            coins=dn.SeededCoins(seed),
        )
        scores = learning.fit_moments(reports).scores(vectors[held])
        return scores[:, 1] - scores[:, 0], reports.guarantee.sample.epsilon()

    return train


def judged(data: Table, name: str, made: Learner, paper: str = "") -> Fair:
    """An entrant that is judged by the area under the curve."""

    def train(setting: Setting, epsilon: float, seed: int, choosing: bool) -> tuple[float, float]:
        own, held = data.parts(seed)
        if choosing:  # the choice sees training people only
            cut = len(own) * 3 // 4
            own, held = own[:cut], own[cut:]
        scores, loss = made(setting, own, held, epsilon, seed)
        return area_under_curve(data.right[held] == 1, scores), loss

    return Fair(f"{name} ({data.name})", train, paper)


def learners(data: Table) -> list[Fair]:
    """Ours and the papers'."""
    return [
        judged(data, "class means", means(data)),
        judged(data, "signed vectors, moments", signed(data)),
        judged(data, "network, coarsened", network(data, "coarsened")),
        judged(data, "DNN-BRR", network(data, "bipartite"), "BRR"),
        judged(data, "DNN-DP, clamped Laplace", network(data, "laplace"), "DNN-DP"),
    ]


def contests(data: Data) -> Iterator[FairContest]:
    """One for each table."""
    for table in tables(data, quick=data.folder is None):
        yield FairContest(table.name, "AUC", learners(table.sampled(PEOPLE)), GRID, BUDGETS)


HEAD = f"""Fair contests on vectors; `python -m research.experiments.fair_vectors --data DIR` writes this.

Every learner chose from the same {len(GRID)} settings: columns as ranks or one-hot, all features or the {KEPT}
most important ones (known from one public person in twenty), and the budget in equal parts or by importance (for
class means and signed vectors, which send one report, the columns are scaled by it). The choice was made on
training people, with {{selecting}} seeds of its own for each setting; epsilon does not cover it. {PEOPLE:,} people
of each table, drawn once; a quarter of them test.
"""

main = fair_command(RESULT, HEAD, contests)


if __name__ == "__main__":
    main()
