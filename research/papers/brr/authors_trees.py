"""Boosted trees as the authors' program grows them, so that what it does to its rivals can be measured.

One group of trees, each on people of its own: the first on a tenth of them, the others on a share that is read off the
first tree's success, in the clear. Leaves publish the mean of their people's residuals, each cut to c = (1 - share)^t.
What is different is the noise: for bipartite response every residual is released on its own, so that errors average out;
for Laplace noise one and the same draw is added to all residuals of a leaf, so that they do not. Without privacy the trees
take the best splits, and leaves are shrunk to a tenth.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deniable import Bipartite
from deniable.arrays import Floats
from deniable.core.coins import SeededCoins
from deniable.domains import Interval

Bytes = NDArray[np.uint8]
Way = Literal["DPBoost", "one draw", "draw each", "bipartite", "none"]

TREES, REGULAR, SHARE, STEPS = 50, 0.1, 0.1, 20
DEPTHS = {"DPBoost": 6}  # of the program's trees, 5 for the others
NONE_RATE = 0.1  # by which the program shrinks leaves without privacy
CUTS = 64  # of each feature; the program tries all values


@dataclass
class Grown:
    """A tree: where it asks and what its leaves say."""

    feature: int = -1
    cut: int = 0
    value: float = 0.0
    below: "Grown | None" = None
    above: "Grown | None" = None

    def predict(self, places: Bytes) -> Floats:
        """The value of each person's leaf."""
        if self.below is None or self.above is None:
            return np.full(len(places), self.value)
        under = places[:, self.feature] <= self.cut
        out = np.empty(len(places))
        out[under], out[~under] = self.below.predict(places[under]), self.above.predict(places[~under])
        return out


@dataclass
class Program:
    """How the noise is drawn, and with which budgets."""

    way: Way
    epsilon: float
    split_share: float
    seed: int
    trees: int = TREES

    def __post_init__(self) -> None:
        self.random, self.coins = np.random.default_rng(self.seed), SeededCoins(self.seed)
        self.boost, self.depth = self.way == "DPBoost", DEPTHS.get(self.way, 5)
        split = 0.5 if self.boost else self.split_share
        self.leaf_epsilon, self.level_epsilon = self.epsilon * (1 - split), self.epsilon * split / self.depth
        self.release = Bipartite(Interval(-1, 1, STEPS), self.leaf_epsilon, "mean")

    def leaf(self, rest: Floats, clip: float) -> float:
        """The mean of the residuals with noise."""
        if not len(rest):
            return 0.0
        if self.way == "none":
            return NONE_RATE * float(rest.sum()) / (len(rest) + REGULAR)
        if self.boost:
            mean = float(np.clip(rest.sum() / (len(rest) + REGULAR), -clip, clip))
            return 0.1 * (mean + float(self.random.laplace(0, min(1 / (1 + REGULAR), 2 * clip) / self.leaf_epsilon)))
        cut = np.clip(rest, -clip, clip)
        match self.way:
            case "one draw":
                cut = cut + self.random.laplace(0, 2 * clip / self.leaf_epsilon)
            case "draw each":
                cut = cut + self.random.laplace(0, 2 * clip / self.leaf_epsilon, len(cut))
            case "bipartite":
                shown = np.clip(cut / clip, -1, 1)
                cut = clip * (2 * self.release.perturb(shown, self.coins).columns["value"] / STEPS - 1)
        return float(cut.sum() / (len(cut) + REGULAR))

    def grow(self, places: Bytes, rest: Floats, clip: float, depth: int = 0) -> Grown:
        """Splits by the exponential mechanism on the gain."""
        if depth == self.depth or len(rest) < 2 or np.ptp(rest) == 0:
            return Grown(value=self.leaf(rest, clip))
        features = places.shape[1]
        cells = (places + np.arange(features) * CUTS).ravel()
        sums = np.bincount(cells, np.repeat(rest, features), features * CUTS).reshape(features, CUTS).cumsum(axis=1)
        many = np.bincount(cells, minlength=features * CUTS).reshape(features, CUTS).cumsum(axis=1)
        whole, all_of = rest.sum(), len(rest)
        gain = sums**2 / (many + REGULAR) + (whole - sums) ** 2 / (all_of - many + REGULAR) - whole**2 / (all_of + REGULAR)
        real = (many > 0) & (many < all_of) & (gain > 0) & (np.diff(many, axis=1, prepend=0) > 0)
        if not real.any():
            return Grown(value=self.leaf(rest, clip))
        if self.way == "none":
            best = int(np.where(real, gain, -np.inf).argmax())
            return self.split(places, rest, clip, depth, best)
        # the program's sensitivities of the gain: 3 where it follows DPBoost, 2 for half of it
        scores = np.where(real, gain * self.level_epsilon / (6 if self.boost else 8), -np.inf)
        chances = np.exp(scores - scores.max()).ravel()
        best = int(np.searchsorted(np.cumsum(chances), self.random.random() * chances.sum(), side="right"))
        return self.split(places, rest, clip, depth, min(best, features * CUTS - 1))

    def split(self, places: Bytes, rest: Floats, clip: float, depth: int, best: int) -> Grown:
        """A node that asks whether a feature is at most a cut, the two being numbered together."""
        feature, cut = divmod(best, CUTS)
        under = places[:, feature] <= cut
        below = self.grow(places[under], rest[under], clip, depth + 1)
        above = self.grow(places[~under], rest[~under], clip, depth + 1)
        return Grown(feature, cut, 0.0, below, above)

    def trained(self, places: Bytes, targets: Floats) -> list[Grown]:
        """All trees; targets lie in [-1, 1]. People whose residual is above one wait for a later tree."""
        left, predicted, share, trees = np.arange(len(targets)), np.zeros(len(targets)), SHARE, []
        for number in range(self.trees):
            rest = targets[left] - predicted[left]
            turn = (number + 1) % self.trees
            late = 0 if self.boost else 1
            wanted = int(len(targets) * share * (1 - share) ** (turn - late) / (1 - (1 - share) ** (self.trees - late)))
            drawn = self.random.permutation(len(left))[: min(wanted, len(left))]
            used = drawn if self.way == "none" else drawn[np.abs(rest[drawn]) <= 1]
            tree = self.grow(places[left[used]], rest[used], (1 - share) ** number)
            trees.append(tree)
            left = np.delete(left, used)
            predicted[left] += tree.predict(places[left])
            if number == 0:
                share = _success(predicted[left], targets[left], len(targets))
        return trees


def _success(predicted: Floats, right: Floats, people: int) -> float:
    """The mean of the smaller over the larger of what is predicted and what is right, as the program has it: over all."""
    small, large = np.minimum(np.abs(predicted), np.abs(right)), np.maximum(np.abs(predicted), np.abs(right))
    return float((small / np.maximum(large, 1e-12)).sum() / people)


def places_of(rows: Floats, test: Floats) -> tuple[Bytes, Bytes]:
    """The place of each feature among its quantiles, in a byte: trees copy them again and again."""
    edges = [np.unique(np.quantile(column, np.linspace(0, 1, CUTS + 1)[1:-1])) for column in rows.T]
    own, held = (
        np.stack([np.searchsorted(edge, column) for edge, column in zip(edges, each.T, strict=True)], axis=1).astype(
            np.uint8
        )
        for each in (rows, test)
    )
    return own, held


def program_errors(
    rows: Floats,
    right: Floats,
    ways: tuple[Way, ...],
    epsilon: float,
    split_share: float,
    rounds: int,
    seed: int,
    trees: int = TREES,
) -> dict[str, Floats]:
    """The root mean square errors of each way, in the target's units; in a round each of five parts is the test once."""
    low, high = float(right.min()), float(right.max())
    scaled = (2 * right - high - low) / (high - low)
    random = np.random.default_rng(seed)
    parts = [part for _ in range(rounds) for part in np.array_split(random.permutation(len(rows)), 5)]
    found: dict[str, list[float]] = {way: [] for way in ways}
    for number, held in enumerate(parts):
        own = np.setdiff1d(np.arange(len(rows)), held)
        places, test = places_of(rows[own], rows[held])
        for way in ways:
            grown = Program(way, epsilon, split_share, 1000 * seed + number, trees).trained(places, scaled[own])
            predicted = np.sum([tree.predict(test) for tree in grown], axis=0)
            found[way].append(math.sqrt(float(((predicted - scaled[held]) ** 2).mean())) * (high - low) / 2)
    return {way: np.array(errors) for way, errors in found.items()}
