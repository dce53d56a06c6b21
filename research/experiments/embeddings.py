"""The mean of real embeddings through every mechanism for vectors, all at the same true epsilon for a whole vector.

    python -m research.experiments.embeddings --data DIR            writes embeddings.md, about a minute
    python -m research.experiments.embeddings --data DIR --quick    prints it for one collection of a tenth of the people

The vectors are embeddings of news texts, of length one, a row for each person. The figure is the root mean square
error of a coordinate of the mean, over all coordinates and collections, in thousandths. The coins are seeded.
"""

from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

import deniable as dn
from deniable.arrays import Floats
from deniable.mechanisms.algebra.mean_formulas import gaussian_scale
from research.data.folder import Data
from research.data.samples import TEXTS
from research.experiments.command import data_option, deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
BUDGETS = (1.0, 4.0, 16.0, 64.0)
REACH = 0.3  # the public range of a coordinate, and of a rotated one
TYPICAL = 0.05  # 1 / sqrt(384): what is known beforehand of the size of a coordinate
COLLECTIONS = 3
DELTA = 1e-6

Estimator = Callable[[Floats, float, dn.Coins], Floats | None]


def through(make: Callable[[int, float], dn.Mechanism]) -> Estimator:
    """The estimate of a mechanism for vectors, or None where the budget is too small for it."""

    def estimated(vectors: Floats, epsilon: float, coins: dn.Coins) -> Floats | None:
        try:
            mechanism = make(vectors.shape[1], epsilon)
        except dn.InvalidParameter:
            return None
        return mechanism.estimate(mechanism.tally(mechanism.perturb(vectors, coins))).values

    return estimated


def rotated(keep: int) -> Estimator:
    """Sampled coordinates after a public rotation, of which the first `keep` coordinates are kept."""

    def estimated(vectors: Floats, epsilon: float, coins: dn.Coins) -> Floats:
        turn = dn.Rotation(vectors.shape[1], keep=min(keep, vectors.shape[1]), seed=1)
        mechanism = dn.FeatureVector.typical(box(turn.keep), epsilon, TYPICAL)
        return turn.undo(mechanism.estimate(mechanism.tally(mechanism.perturb(turn.apply(vectors), coins)))).values

    return estimated


def box(dimensions: int) -> dn.Features:
    """Vectors whose numbers are cut to the public range."""
    return dn.Features(dimensions, -REACH, REACH, clip=True)


def clipped(vectors: Floats, epsilon: float, coins: dn.Coins) -> Floats:
    """The mean without any privacy, but for the public range."""
    return np.asarray(vectors.clip(-REACH, REACH).mean(axis=0))


def zero(vectors: Floats, epsilon: float, coins: dn.Coins) -> Floats:
    """What can be published without asking anybody."""
    return np.zeros(vectors.shape[1])


def laplace(vectors: Floats, epsilon: float, coins: dn.Coins) -> Floats:
    """Laplace noise for each coordinate, simulated in floating point: a reference, not a mechanism of ours."""
    random = np.random.default_rng(coins.below(1 << 32, 1))
    scale = 2 * REACH * vectors.shape[1] / epsilon
    return np.asarray((vectors + random.laplace(0, scale, vectors.shape)).mean(axis=0))


def gaussian(vectors: Floats, epsilon: float, coins: dn.Coins) -> Floats:
    """Gaussian noise for the whole vector, of length one: a reference that keeps epsilon only up to delta."""
    random = np.random.default_rng(coins.below(1 << 32, 1))
    return np.asarray((vectors + random.normal(0, gaussian_scale(epsilon, DELTA), vectors.shape)).mean(axis=0))


ROWS: dict[str, tuple[str, Estimator]] = {
    "no noise, range only": ("", clipped),
    "constant 0": ("", zero),
    "Laplace, all coordinates": ("reference", laplace),
    f"Gaussian, delta {DELTA:g}": ("reference", gaussian),
    "`FeatureVector.composed`": ("certified", through(lambda d, epsilon: dn.FeatureVector.composed(box(d), epsilon))),
    "`FeatureVector`": ("certified", through(lambda d, epsilon: dn.FeatureVector(box(d), epsilon))),
    "`FeatureVector.typical`": ("certified", through(lambda d, epsilon: dn.FeatureVector.typical(box(d), epsilon, TYPICAL))),
    "`Rotation`, `FeatureVector.typical`": ("certified", rotated(384)),
    "`Rotation` to 32, `FeatureVector.typical`": ("certified", rotated(32)),
    "`DuchiVector`": ("certified", through(lambda d, epsilon: dn.DuchiVector(box(d), epsilon))),
    "`PrivUnit`": ("theorem", through(lambda d, epsilon: dn.PrivUnit(dn.UnitVectors(d), epsilon))),
    "`BitRand.offset`": ("certified", through(lambda d, epsilon: dn.BitRand.offset(d, -REACH, REACH, epsilon, clip=True))),
    "`BitRand.water_filled`": ("certified", through(lambda d, epsilon: dn.BitRand.water_filled(d, 10, epsilon, whole=-1))),
}


def error(estimate: Estimator, vectors: Floats, epsilon: float, name: str, collections: int) -> float | None:
    """The root mean square error of a coordinate of the mean."""
    truth, squares = vectors.mean(axis=0), []
    for turn in range(collections):
        found = estimate(vectors, epsilon, dn.SeededCoins(f"{name}, {epsilon:g}, {turn}".encode()))
        if found is None:
            return None
        squares.append(float(((found - truth) ** 2).mean()))
    return float(np.sqrt(np.mean(squares)))


def table(vectors: Floats, collections: int) -> list[str]:
    """One row for each mechanism, in thousandths."""
    lines = [
        f"| mechanism | proof | {' | '.join(f'epsilon {each:g}' for each in BUDGETS)} |",
        "|---|---|" + "--:|" * len(BUDGETS),
    ]
    for name, (proof, estimate) in ROWS.items():
        found = [error(estimate, vectors, epsilon, name, collections) for epsilon in BUDGETS]
        lines.append(f"| {name} | {proof} | {' | '.join('-' if each is None else f'{1000 * each:.3g}' for each in found)} |")
    return lines


def page(vectors: Floats, collections: int) -> str:
    """The whole result."""
    published = dn.BitRand.as_published(vectors.shape[1], 10, 1.0, whole=-1)
    wrong = error(
        through(lambda d, epsilon: dn.BitRand.as_published(d, 10, epsilon, whole=-1)), vectors, 1.0, "published", 1
    )
    assert wrong is not None
    people, dimensions = vectors.shape
    about = (
        f"Root mean square error of a coordinate of the mean, in thousandths, over {collections} collections from "
        f"{people:,} people with vectors of {dimensions} numbers. Epsilon is the true privacy loss of a whole vector:"
    )
    errors = [dn.UnitCodes(dn.UnitVectors(dimensions), epsilon).error for epsilon in BUDGETS]
    predicted = ", ".join(f"{1000 * np.sqrt(each / dimensions / people):.3g}" for each in errors)
    codes = f"`UnitCodes` was not run on that many people. Its exact error formula gives {predicted} thousandths."
    after = (
        f"`BitRand.as_published` with a claimed epsilon of 1 has an error of {1000 * wrong:.3g} thousandths, at a true "
        f"epsilon of {published.loss().epsilon():,.0f}."
    )
    return "\n".join([about, "", *table(vectors, collections), "", codes, "", after, ""])


@click.command()
@data_option
@quick_option("One collection of a tenth of the people")
def main(data: Data, quick: bool) -> None:
    """Measure the error of every mechanism for vectors on real embeddings."""
    vectors = data.arrays(TEXTS)["x_train"].astype(np.float64)
    deliver(page(vectors[::10], 1) if quick else page(vectors, COLLECTIONS), None if quick else RESULT)


if __name__ == "__main__":
    main()
