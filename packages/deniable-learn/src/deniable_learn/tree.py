"""Trees on public grids: how they divide people, and how a curator grows one privately."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins
from deniable_learn.noise import choose

SPLIT_SENSITIVITY = 2  # of the score of a split, in units of the largest gradient
CANDIDATES = 64  # splits looked at in a node, drawn in public


@dataclass
class Tree:
    """Complete, with `depth` questions on the way to each of 2^depth leaves: is this feature above this cut of the grid?

    Node i has the children 2 i + 1 (no) and 2 i + 2 (yes). Features are whole numbers, their place on a public grid.
    """

    depth: int
    feature: Ints
    cut: Ints
    values: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def drawn(cls, depth: int, features: int, bins: int, coins: Coins) -> "Tree":
        """A tree whose questions are drawn in public: it costs no privacy."""
        nodes = (1 << depth) - 1
        return cls(
            depth, coins.public(features, nodes), coins.public(bins - 1, nodes) if bins > 2 else np.zeros(nodes, np.int64)
        )

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return 1 << self.depth

    def leaf(self, places: Ints) -> Ints:
        """The leaf of each person, from 0."""
        node = np.zeros(len(places), np.int64)
        for _ in range(self.depth):
            own = places[np.arange(len(places)), self.feature[node]]
            node = 2 * node + 1 + (own > self.cut[node])
        return node - ((1 << self.depth) - 1)

    def predict(self, places: Ints) -> Floats:
        """The value of each person's leaf."""
        return self.values[self.leaf(places)]


def split_scores(left: Ints, many_left: Ints, whole: int, many: int, largest: int) -> Ints:
    """How well splits divide a node: |sum of the left gradients less their fair share of the sum|, over the largest one.

    With G of the n gradients on the left G_l of n_l this is |G_l - G n_l / n| / largest, rounded down. One person more or
    less on the left changes it by at most 2: G_l (n - n_l) / n - G_r n_l / n moves by g n_r / (n + 1) <= largest, and by
    (|G_l| + |G_r|) n_r / (n (n + 1)) <= largest as n grows; on the right likewise. Rounding down a number that moves by a
    whole number at most moves no further.
    """
    if many == 0:
        return np.zeros(len(left), np.int64)
    return np.abs(left * many - whole * many_left) // (many * largest)


def grow(
    places: Ints,
    gradients: Ints,
    depth: int,
    bins: int,
    largest: int,
    steps: Sequence[Fraction],
    coins: Coins,
) -> Tree:
    """A tree with splits chosen by the exponential mechanism, level by level; step^(2 s) is the odds of each level.

    A person is in one node of each level, so that the nodes of a level cost what one of them costs. Which splits a node
    looks at is drawn in public.
    """
    nodes = (1 << depth) - 1
    tree = Tree(depth, np.zeros(nodes, np.int64), np.zeros(nodes, np.int64))
    node = np.zeros(len(places), np.int64)
    for level in range(depth):
        for own in range((1 << level) - 1, (2 << level) - 1):
            here = np.flatnonzero(node == own)
            feature = coins.public(places.shape[1], CANDIDATES)
            cut = coins.public(bins - 1, CANDIDATES) if bins > 2 else np.zeros(CANDIDATES, np.int64)
            right = places[here[:, None], feature[None, :]] > cut[None, :]
            own_gradients = gradients[here]
            left = own_gradients.sum() - own_gradients @ right
            many_left = len(here) - right.sum(axis=0)
            scores = split_scores(left, many_left, int(own_gradients.sum()), len(here), largest)
            best = choose(scores, steps[level], coins)
            tree.feature[own], tree.cut[own] = feature[best], cut[best]
        above = places[np.arange(len(places)), tree.feature[node]] > tree.cut[node]
        node = 2 * node + 1 + above
    return tree
