"""Gradient descent as Appendix B.2 describes it: the mean gradient of a batch, cut as a whole, with noise on every number.

Nothing is promised: cutting the mean bounds no single image, the bound of BRR-SGD follows the data, and BRR-SGD perturbs
each number within [-C, 0] or [0, C] by its sign, which is disclosed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable import Bipartite
from deniable.arrays import Floats, Ints
from deniable.core.coins import SeededCoins
from deniable.domains import Interval
from deniable_learn.network import Network
from research.data.folder import Data, random_for
from research.data.samples import IMAGES

BATCH, CLIP, KEPT, LEAST, STEPS = 2048, 1.0, 0.99, 1e-3, 10  # batch, C, rho, C_min and grid, as in the authors' program
RATE, HIDDEN = 1.0, 32  # not stated, the same for all; at rate 0.1 descent without privacy has not converged


@dataclass(frozen=True, eq=False)
class Images:
    """Pixels from 0 to 1, or their means, and classes, to learn from and to test with."""

    rows: Floats
    right: Ints
    test: Floats
    test_right: Ints


def pixels(data: Data, seed: int, people: int, tests: int, pool: int) -> Images:
    """Digits with `pool` x `pool` pixels made one; without data, patterns that are made up."""
    random = random_for(seed, "pixels")
    if data.has(IMAGES):
        kept, parts = data.arrays(IMAGES), []
        for part, most in (("train", people), ("test", tests)):
            own = random.permutation(len(kept[f"y_{part}"]))[:most]
            side = 28 // pool
            means = kept[f"x_{part}"][own].reshape(-1, side, pool, side, pool).mean(axis=(2, 4)) / 255
            parts += [means.reshape(len(own), -1), kept[f"y_{part}"][own].astype(np.int64)]
        return Images(*parts)
    patterns = random.uniform(0, 1, (10, 196))
    right, truth = np.arange(people) % 10, np.arange(tests) % 10
    rows, test = (patterns[labels] + random.normal(0, 1, (len(labels), 196)) for labels in (right, truth))
    return Images(rows, right, test, truth)


def course(images: Images, way: str, epsilon: float, epochs: int, every: int, seed: int, rate: float = RATE) -> Floats:
    """The accuracy after every so many iterations; `way` is "none", "laplace" or "bipartite".

    The budget of an iteration is epsilon over their number, as composition has it. Numbers have 32 bits, as in PyTorch.
    """
    random, coins, clip = np.random.default_rng(seed), SeededCoins(seed), CLIP
    network = Network(images.rows.shape[1], 10, HIDDEN)
    rows: Any = images.rows.astype(np.float32)
    test: Any = images.test.astype(np.float32)
    weights: Any = network.start(random).astype(np.float32)
    batch = min(BATCH, len(rows))
    batches = len(rows) // batch
    total, scores = batches * epochs, []
    release = Bipartite(Interval(0, 1, STEPS), epsilon / total)
    for turn in range(total):
        own = slice(turn % batches * batch, (turn % batches + 1) * batch)
        gradient = network.mean_gradient(weights, rows[own], images.right[own])
        length = float(np.linalg.norm(gradient))
        if way == "laplace":
            gradient /= max(1.0, length / CLIP)
            gradient = gradient + random.laplace(0, CLIP / batch / (epsilon / total), len(gradient))
        elif way == "bipartite":
            clip = max(KEPT * clip + (1 - KEPT) * length, LEAST)
            gradient /= max(1.0, length / clip)
            size = release.perturb(np.minimum(np.abs(gradient) / clip, 1), coins).columns["value"] / STEPS
            gradient = np.sign(gradient) * size * clip
        weights = (weights - rate * gradient).astype(np.float32)
        if (turn + 1) % every == 0:
            right = network.predict(weights, test).argmax(axis=1) == images.test_right
            scores.append(float(right.mean()))
    return np.array(scores)
