"""Digits by private learners, each at the same certified epsilon for a whole person: BRR-SGD, its rivals, and class means.

    python -m research.experiments.learning_images --data DIR    writes learning_images.md, half an hour
    python -m research.experiments.learning_images --quick       prints it for few made-up images

The images are those of MNIST. Every learner gets the same 98 numbers of each image, made by
a public function: the slant of the writing is taken out, and each of 7 x 7 cells has two numbers, how much its edges run
across rather than down, and along one diagonal rather than along the other. This function was chosen among some with
made-up noise on 10,000 of the images to learn from; nobody has looked at the test images for it. Gradient descent has one
setting, the better of two on one seed. Choosing is not paid for by anybody.
"""

from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

import deniable as dn
import deniable_learn as learning
from deniable.arrays import Floats, Ints
from deniable_learn import PrivateMeansClassifier, PrivateSGDClassifier
from deniable_learn.means import unit
from deniable_learn.network import Network, trained
from research.contest import Contest, Entrant, Trial
from research.data.folder import Data
from research.data.samples import IMAGES
from research.experiments.command import contest_options, run_all

RESULT = Path(__file__).with_suffix(".md")
BUDGETS = (0.3, 0.5, 0.7, 2.0, 4.0)
ROUNDS, RATE = 5, 10.0
CELLS = 7
CLASSES = tuple(range(10))
SAYS = {epsilon: f"{more} % better than Laplace" for epsilon, more in ((0.3, 28), (0.5, 21), (0.7, 12))}

Images = tuple[Floats, Ints, Floats, Ints]


def edges(images: NDArray[np.uint8]) -> Floats:
    """98 numbers of each image of 28 x 28, of length one."""
    return unit(np.concatenate([_edges(images[start : start + 4096]) for start in range(0, len(images), 4096)]))


def _edges(images: NDArray[np.uint8]) -> Floats:
    """An edge of length g that is turned by t counts as g cos 2t and g sin 2t: opposite sides of a stroke add up."""
    padded = np.pad(upright(images.astype(np.float64) / 255), ((0, 0), (1, 1), (1, 1)))
    across, down = padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2], padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]
    length = np.maximum(np.hypot(across, down), 1e-12)
    parts = np.stack([(across**2 - down**2) / length, 2 * across * down / length], axis=1)
    side = parts.shape[-1] // CELLS
    return parts.reshape(-1, 2, CELLS, side, CELLS, side).mean(axis=(3, 5)).reshape(len(images), -1)


def upright(images: Floats) -> Floats:
    """Every line moved sideways, so that the ink of all lines has its middle above each other; at most by 45 degrees."""
    place = np.arange(images.shape[1])
    ink = np.maximum(images.sum(axis=(1, 2)), 1e-12)
    middle = images.sum(axis=2) @ place / ink
    away = place - middle[:, None]
    slant = (images @ place * away).sum(axis=1) / np.maximum((images.sum(axis=2) * away**2).sum(axis=1), 1e-12)
    source = place + (np.clip(slant, -1, 1)[:, None] * away)[:, :, None]
    left = np.floor(source).astype(np.int64)
    wide = np.pad(images, ((0, 0), (0, 0), (1, 1)))  # empty where the image has ended
    near, far = (np.take_along_axis(wide, np.clip(each + 1, 0, len(place) + 1), axis=2) for each in (left, left + 1))
    return np.asarray(near + (source - left) * (far - near))


def read(data: Data) -> Images:
    """The images' numbers and labels, to learn from and to test with."""
    held = data.arrays(IMAGES)
    train, test = (edges(held[f"x_{part}"]) for part in ("train", "test"))
    return train, held["y_train"].astype(np.int64), test, held["y_test"].astype(np.int64)


def made_up(people: int = 4000) -> Images:
    """Ten noisy patterns, a stand-in for images that are not at hand."""
    random = np.random.default_rng(5)
    patterns, labels = random.normal(size=(10, 64)), random.integers(0, 10, people)
    rows = unit(patterns[labels] + 1.5 * random.normal(size=(people, 64)))
    cut = people * 3 // 4
    return rows[:cut], labels[:cut], rows[cut:], labels[cut:]


def means(images: Images) -> Entrant:
    """Our own: one report of each person on the class and the direction together."""
    rows, labels, test, right = images

    def train(epsilon: float, seed: int) -> Trial:
        learner = PrivateMeansClassifier(epsilon, CLASSES, (-1, 1), shares=[0.1] * 10, seed=seed)
        learner.fit(rows, labels)
        return Trial(learner.score(test, right), learner.privacy_loss())

    return Entrant("class means, `PrivateMeansClassifier`", train)


def signed(images: Images) -> Entrant:
    """Our own: one report of each person on the vector with a public sign of the class."""
    rows, labels, test, right = images

    def train(epsilon: float, seed: int) -> Trial:
        data = learning.privatize_together(
            (rows, labels),
            features=dn.UnitVectors(rows.shape[1]),
            labels=dn.Categories(CLASSES),
            epsilon=epsilon,
            coins=dn.SeededCoins(seed),
        )
        return Trial(learning.fit_moments(data).accuracy(test, right), data.guarantee.sample)

    return Entrant("signed vectors, moments", train)


def descent(images: Images, way: str, name: str, paper: str, says: dict[float, str] | None = None) -> Entrant:
    """Gradient descent with one report of each person."""
    rows, labels, test, right = images

    def train(epsilon: float, seed: int) -> Trial:
        learner = PrivateSGDClassifier(epsilon, CLASSES, (-1, 1), way, rounds=ROUNDS, rate=RATE, seed=seed)
        learner.fit(rows, labels)
        return Trial(learner.score(test, right), learner.privacy_loss())

    return Entrant(name, train, paper, says or {})


def published(images: Images) -> Entrant:
    """BRR-SGD as it is described: the mean gradient of a batch, every coordinate in the half of [-C, C] that its sign says.

    The half discloses the sign, and C follows the batch: nothing is promised.
    """
    rows, labels, test, right = images
    network, rounds, steps = Network(rows.shape[1], 10), 20, 50

    def train(epsilon: float, seed: int) -> Trial:
        coins, weights, clip = dn.SeededCoins(seed), np.zeros(network.size), 1.0
        order = np.random.default_rng(seed).permutation(len(rows))
        release = dn.Bipartite(dn.Interval(0, 1, steps), epsilon / rounds)
        for own in np.array_split(order, rounds):
            gradient = network.mean_gradient(weights, rows[own], labels[own])
            length = float(np.linalg.norm(gradient))
            clip = max(0.9 * clip + 0.1 * length, 0.01)
            gradient *= min(1.0, clip / max(length, 1e-12))
            released = np.array(release.released(release.perturb(np.abs(gradient) / clip, coins)))
            weights = weights - 10.0 * np.sign(gradient) * released * clip
        return Trial(float((network.predict(weights, test).argmax(axis=1) == right).mean()), dn.PrivacyLoss(None))

    return Entrant("BRR-SGD as published", train, "BRR", SAYS)


def contest(images: Images) -> Contest:
    """All learners on these images."""
    rows, labels, test, right = images

    def ceiling(seed: int) -> float:
        network = Network(rows.shape[1], 10)
        weights = trained(network, rows, labels, np.random.default_rng(seed), epochs=5, rate=0.03)
        return float((network.predict(weights, test).argmax(axis=1) == right).mean())

    def floor(seed: int) -> float:
        return float(np.bincount(right).max() / len(right))

    about = (
        f"{len(rows):,} people with one image each, {len(test):,} images to test with; local; epsilon is for a whole "
        "person. Rivals: gradient descent (SGD) with one report of each person."
    )
    entrants = [
        means(images),
        signed(images),
        descent(images, "coarsened", "SGD, coarsened", ""),
        descent(images, "bipartite", "BRR-SGD on [-C, C], certified", "BRR", SAYS),
        descent(images, "laplace", "SGD, clamped Laplace", "BRR's rival"),
        descent(images, "duchi", "SGD, Duchi (LDP-FL)", "Duchi et al. 2013"),
        descent(images, "piecewise", "SGD, piecewise", "Wang et al. 2019"),
        descent(images, "hybrid", "SGD, hybrid", "Wang et al. 2019"),
        descent(images, "three-outputs", "SGD, three outputs", "Zhao et al. 2020"),
        descent(images, "privunit", "SGD, PrivUnit", "Bhowmick et al. 2018"),
        published(images),
    ]
    return Contest("MNIST", "accuracy", BUDGETS, entrants, ceiling, floor, about)


HEAD = "Digits by private learners; `python -m research.experiments.learning_images --data DIR` writes this."


@click.command()
@contest_options(10)
def main(data: Data, quick: bool, repeats: int, seed: int, picture: Path | None) -> None:
    """Measure private learners on digits."""
    images = read(data) if data.folder else made_up()
    if quick:
        images = images[0][::10], images[1][::10], images[2], images[3]
    result = RESULT if data.folder and not quick else None
    run_all([contest(images)], 1 if quick else repeats, seed, result, picture, HEAD)


if __name__ == "__main__":
    main()
