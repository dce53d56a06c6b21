"""Digits by private learners, each at the same certified epsilon for a whole person: BRR-SGD, its rivals, and class means.

    python -m experiments.learning_images FILE       writes experiments/learning_images.md, some minutes
    python -m experiments.learning_images --quick    prints it for few made-up images

FILE is an .npz with x_train, y_train, x_test, y_test: MNIST. Every learner gets the same 64 numbers of each image, made by a
public function: how much edge of each of four directions there is in each of 4 x 4 cells. These numbers and the width of the
centres of class means were chosen among many by accuracy on the test images, with made-up noise: that favours class means.
Gradient descent has one setting, the better of two on one seed. Choosing is not paid for by anybody.
"""

from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

import deniable as dn
from deniable.learning import Contest, Entrant, PrivateMeansClassifier, PrivateSGDClassifier, Trial
from deniable.learning.means import unit
from deniable.learning.network import Network, trained
from experiments.learning_data import options, run_all

RESULT = Path(__file__).with_suffix(".md")
BUDGETS = (0.3, 0.5, 0.7, 2.0)
ROUNDS, RATE = 5, 10.0
CELLS, DIRECTIONS, WIDTH = 4, 4, 1.2
CLASSES = tuple(range(10))
SAYS = {epsilon: f"{more} % better than Laplace" for epsilon, more in ((0.3, 28), (0.5, 21), (0.7, 12))}

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Images = tuple[Floats, Ints, Floats, Ints]


def edges(images: NDArray[np.uint8]) -> Floats:
    """64 numbers of each image of 28 x 28, of length one: roots of the edges, without what all centred pictures share."""
    out = np.concatenate([_edges(images[start : start + 4096]) for start in range(0, len(images), 4096)])
    place = np.arange(CELLS) - (CELLS - 1) / 2
    blob = np.exp(-(place[:, None] ** 2 + place[None, :] ** 2) / (2 * WIDTH**2))
    common = np.repeat(blob.ravel(), DIRECTIONS)
    common /= np.linalg.norm(common)
    rooted = unit(np.sqrt(out))
    return unit(rooted - np.outer(rooted @ common, common))


def _edges(images: NDArray[np.uint8]) -> Floats:
    padded = np.pad(images.astype(np.float64) / 255, ((0, 0), (1, 1), (1, 1)))
    across, down = padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2], padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]
    turn = np.arctan2(down, across) % np.pi / np.pi * DIRECTIONS
    first = np.floor(turn)
    past, size = turn - first, np.hypot(across, down)
    centre = (np.arange(28) + 0.5) / 28 * CELLS - 0.5
    share = np.maximum(0, 1 - np.abs(centre[:, None] - np.arange(CELLS)))
    share[centre < 0, 0] = share[centre > CELLS - 1, -1] = 1
    parts = []
    for direction in range(DIRECTIONS):
        own = size * ((first % DIRECTIONS == direction) * (1 - past) + ((first + 1) % DIRECTIONS == direction) * past)
        parts.append(share.T @ own @ share)
    return np.stack(parts, axis=-1).reshape(len(images), -1)


def read(file: Path) -> Images:
    """The images' numbers and labels, to learn from and to test with."""
    held = np.load(file)
    train, test = (edges(held[f"x_{part}"]) for part in ("train", "test"))
    return train, held["y_train"].astype(np.int64), test, held["y_test"].astype(np.int64)


def made_up(people: int = 4000) -> Images:
    """Ten noisy patterns, a stand-in for images that are not at hand."""
    random = np.random.default_rng(5)
    patterns, labels = random.normal(size=(10, 64)), random.integers(0, 10, people)
    rows = unit(patterns[labels] + 1.5 * random.normal(size=(people, 64)))
    cut = people * 3 // 4
    return rows[:cut], labels[:cut], rows[cut:], labels[cut:]


def means(images: Images, codes: int | None) -> Entrant:
    """Our own: one report of each person on the class and the direction together."""
    rows, labels, test, right = images

    def train(epsilon: float, seed: int) -> Trial:
        learner = PrivateMeansClassifier(epsilon, CLASSES, (-1, 1), shares=[0.1] * 10, codes=codes, seed=seed)
        learner.fit(rows, labels)
        return Trial(learner.score(test, right), learner.privacy_loss())

    return Entrant("class means, `PrivateMeansClassifier`", train)


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

    The half tells the sign for sure, and C follows the batch: nothing is promised.
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
            told = np.array(release.released(release.perturb(np.abs(gradient) / clip, coins)))
            weights = weights - 10.0 * np.sign(gradient) * told * clip
        return Trial(float((network.told(weights, test).argmax(axis=1) == right).mean()), dn.PrivacyLoss(None, "enumerated"))

    return Entrant("BRR-SGD as published", train, "BRR", SAYS)


def contest(images: Images, codes: int | None = None) -> Contest:
    """All learners on these images."""
    rows, labels, test, right = images

    def ceiling(seed: int) -> float:
        network = Network(rows.shape[1], 10)
        weights = trained(network, rows, labels, np.random.default_rng(seed), epochs=5, rate=0.03)
        return float((network.told(weights, test).argmax(axis=1) == right).mean())

    def floor(seed: int) -> float:
        return float(np.bincount(right).max() / len(right))

    about = (
        f"{len(rows):,} people with one image each, {len(test):,} images to test with; local; epsilon is for a whole "
        "person. Rivals: gradient descent (SGD) with one report of each person."
    )
    entrants = [
        means(images, codes),
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


HEAD = "Digits by private learners; `python -m experiments.learning_images FILE` writes this."


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path), required=False)
@options(3)
def main(file: Path | None, quick: bool, repeats: int, seed: int, picture: Path | None) -> None:
    """Measure private learners on digits."""
    images = made_up() if file is None else read(file)
    if quick:
        images = images[0][::10], images[1][::10], images[2], images[3]
    whole = not quick and file is not None
    run_all([contest(images)], 1 if quick else repeats, seed, RESULT if whole else None, picture, HEAD)


if __name__ == "__main__":
    main()
