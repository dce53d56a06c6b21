"""The contest on digits anew: every learner may choose its rate and its number of rounds.

    python -m research.experiments.fair_images --data DIR --kept FOLDER    writes fair_images.md

All learners get the same 98 numbers of an image, made by a public function (learning_images.py). Class means and signed
vectors have neither rate nor rounds, and so nothing to choose.
"""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np

import deniable as dn
import deniable_learn as learning
from deniable.arrays import Floats, Ints
from deniable_learn import PrivateMeansClassifier, PrivateSGDClassifier
from research.data.folder import Data
from research.experiments.learning_images import CLASSES, Images, made_up, read
from research.fair_contest import Fair, FairContest, Setting, fair_command

RESULT = Path(__file__).with_suffix(".md")
BUDGETS = (0.5, 2.0, 4.0)
GRID: tuple[Setting, ...] = tuple({"rate": rate, "rounds": rounds} for rate, rounds in product(("10", "30", "100"), "25"))
Score = Callable[[Floats, Ints, Floats, Ints, Setting, float, int], tuple[float, float]]


def means(
    rows: Floats, labels: Ints, test: Floats, right: Ints, _: Setting, epsilon: float, seed: int
) -> tuple[float, float]:
    """One report of each person on the class and the direction together."""
    made = PrivateMeansClassifier(epsilon, CLASSES, (-1, 1), shares=[0.1] * 10, seed=seed).fit(rows, labels)
    return made.score(test, right), made.privacy_loss().epsilon()


def signed(
    rows: Floats, labels: Ints, test: Floats, right: Ints, _: Setting, epsilon: float, seed: int
) -> tuple[float, float]:
    """One report of each person on the vector with a public sign of the class."""
    vectors, kinds = dn.UnitVectors(rows.shape[1]), dn.Categories(CLASSES)
    made = learning.privatize_together(
        (rows, labels), features=vectors, labels=kinds, epsilon=epsilon, coins=dn.SeededCoins(seed)
    )
    return learning.fit_moments(made).accuracy(test, right), made.guarantee.sample.epsilon()


def descent(way: str) -> Score:
    """Gradient descent with one report of each person."""

    def train(
        rows: Floats, labels: Ints, test: Floats, right: Ints, setting: Setting, epsilon: float, seed: int
    ) -> tuple[float, float]:
        rate, rounds = float(setting["rate"]), int(setting["rounds"])
        made = PrivateSGDClassifier(epsilon, CLASSES, (-1, 1), way, rounds=rounds, rate=rate, seed=seed).fit(rows, labels)
        return made.score(test, right), made.privacy_loss().epsilon()

    return train


def learners(images: Images) -> list[Fair]:
    """Ours and the papers', judged by accuracy; while choosing, on a quarter of the training people."""

    def fair(name: str, made: Score, paper: str = "", tuned: bool = True) -> Fair:
        def train(setting: Setting, epsilon: float, seed: int, choosing: bool) -> tuple[float, float]:
            rows, labels, test, right = images
            if choosing:
                order = np.random.default_rng(seed).permutation(len(rows))
                own, held = order[len(order) // 4 :], order[: len(order) // 4]
                rows, labels, test, right = rows[own], labels[own], rows[held], labels[held]
            return made(rows, labels, test, right, setting, epsilon, seed)

        return Fair(name, train, paper, tuned)

    return [
        fair("class means", means, tuned=False),
        fair("signed vectors, moments", signed, tuned=False),
        fair("SGD, unit axes", descent("unit-axes")),
        fair("SGD, PrivUnit", descent("privunit"), "Bhowmick et al. 2018"),
        fair("BRR-SGD on [-C, C], certified", descent("bipartite"), "BRR"),
        fair("SGD, clamped Laplace", descent("laplace"), "BRR's rival"),
    ]


def contests(data: Data) -> Iterator[FairContest]:
    """MNIST, or made-up patterns."""
    images = read(data) if data.folder else made_up()
    yield FairContest("MNIST" if data.folder else "made up", "accuracy", learners(images), GRID, BUDGETS)


HEAD = f"""Fair contests on digits; `python -m research.experiments.fair_images --data DIR` writes this.

All learners get the same 98 numbers of an image, 60,000 people with one image each, and 10,000 images to test
with; local; epsilon is for a whole person. Every learner that descends chose from the same {len(GRID)} settings:
rates of 10, 30 and 100, in 2 or 5 rounds of different people. The choice was made on training people, three
quarters to learn from and a quarter to judge by, with {{selecting}} seeds of its own for each setting; epsilon
does not cover it. Class means and signed vectors have nothing to choose.
"""

main = fair_command(RESULT, HEAD, contests)


if __name__ == "__main__":
    main()
