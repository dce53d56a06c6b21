"""Gradient-boosted trees: for a curator who sees everybody's data, or from one report of each person."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable import Bipartite, Coarsened
from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins
from deniable.core.loss import PrivacyLoss
from deniable.core.odds import checked_epsilon, rounded_down
from deniable.domains import Interval
from deniable.errors import InvalidParameter
from deniable_learn.learner import (
    Range,
    Regressor,
    checked_choice,
    checked_features,
    checked_positive,
    checked_range,
    checked_targets,
    checked_whole,
    coins_from,
    scaled,
    unscaled,
)
from deniable_learn.local_trees import PARTS, LeafReports
from deniable_learn.noise import geometric, step_odds
from deniable_learn.tree import SPLIT_SENSITIVITY, Tree, grow

GRID = 64  # whole numbers that stand for the largest residual
MODELS = ("central", "local")
LEAVES = ("sums", "laplace", "bipartite", "coarsened")
SPLITS = ("exponential", "drawn")
COUNTING = Fraction(1, 4)  # of a leaf's budget, for how many people are in it, where sums are published


class PrivateGBDTRegressor(Regressor):
    """Boosted regression trees whose cuts lie on public grids, with exact budgets for every tree, level and leaf.

    `model="central"`: a curator sees all data, and what is published hides whether any one person took part. Trees come in
    groups of `disjoint`; within a group everybody is in one tree, drawn in public, so that a group costs what one of its
    trees costs, and groups add up. A tree spends `split_share` of its part on choosing splits by the exponential mechanism,
    the same for every level, and the rest on its leaves (`splits="drawn"`: splits are drawn in public, and leaves have
    all). Leaves are published as

    - `sums`: the sum of the residuals and the number of people, each with two-sided geometric noise; what averages over
      many people then has little noise, and values are shrunk by how much there is.
    - `laplace`: DPBoost's design (Li, Wu, Wen, He 2020). The value, cut to clip (1 - rate)^t, with noise for the largest
      change one person can make in the smallest leaf, clip / (1 + regular).
    - `bipartite`, `coarsened`: the value is released by BRR (Zhang et al. 2025) or by coarsened response.

    `model="local"`: nobody sees anything but reports, one of each person. A fifth of the people report where targets lie, a
    fifth exactly where, and the others on trees whose splits are drawn in public, each about one: the residual, with a
    public sign of their own leaf (`LeafReports`). Of the `trees` as many are grown as this number of people and epsilon can
    bear, if none all report on the mean. What is added is the decoded sum less its known noise, so there is no `rate`. Trees
    of `depth` 1 are best unless there is much of both.

    Targets and features need public ranges; what lies outside is moved to the ends.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        feature_range: Range | None = None,
        target_range: tuple[float, float] | None = None,
        model: str = "central",
        leaves: str = "sums",
        splits: str = "exponential",
        trees: int = 20,
        disjoint: int = 1,
        depth: int = 3,
        bins: int = 32,
        rate: float = 0.3,
        clip: float = 1.0,
        regular: int = 1,
        split_share: float = 0.5,
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.feature_range = feature_range
        self.target_range = target_range
        self.model = model
        self.leaves = leaves
        self.splits = splits
        self.trees = trees
        self.disjoint = disjoint
        self.depth = depth
        self.bins = bins
        self.rate = rate
        self.clip = clip
        self.regular = regular
        self.split_share = split_share
        self.seed = seed

    def _check(self) -> None:
        checked_epsilon(self.epsilon)
        checked_range(self.feature_range, "features")
        checked_range(self.target_range, "targets")
        checked_choice(self.model, MODELS, "The model is")
        checked_choice(self.leaves, LEAVES, "Leaves are published as")
        checked_choice(self.splits, SPLITS, "Splits are")
        checked_whole(self.trees, "The number of trees")
        checked_whole(self.disjoint, "The number of trees in a group", 1, self.trees)
        checked_whole(self.depth, "The depth", 1, 12)
        checked_whole(self.bins, "The number of bins", 2, 4096)
        checked_whole(self.regular, "The regularization", 0)
        checked_positive(self.clip, "The clip")
        if not 0 < checked_positive(self.rate, "The rate") <= 1 or self.clip > 2:
            raise InvalidParameter(
                "The rate must be above 0 and at most 1, and the clip at most 2, the whole range of targets."
            )
        if not 0 < checked_positive(self.split_share, "The share for splits") < 1:
            raise InvalidParameter("The share of the budget for splits must be between 0 and 1.")
        if self.model == "local" and self.leaves != "sums":
            raise InvalidParameter('In the local model, each person reports on a sum. Use leaves="sums".')
        if self.model == "central":
            self._budgets()

    @property
    def groups(self) -> int:
        """How many groups of trees there are: everybody takes part once in each."""
        return -(-self.trees // self.disjoint)

    def _budgets(self) -> tuple[Fraction, Fraction]:
        """What one tree may spend on one level of splits, and on its leaves: fractions of epsilon, exact."""
        tree = Fraction(checked_epsilon(self.epsilon)) / self.groups
        share = Fraction(0) if self.splits == "drawn" else Fraction(self.split_share)
        level = tree * share / self.depth
        if level:
            step_odds(rounded_down(level), 2 * SPLIT_SENSITIVITY)  # refuses what is too small
        checked_epsilon(rounded_down(tree * (1 - share)))
        return level, tree * (1 - share)

    def _level_step(self) -> Fraction | None:
        level, _ = self._budgets()
        return step_odds(rounded_down(level), 2 * SPLIT_SENSITIVITY) if level else None

    def _bound(self, place: int) -> float:
        """Where the values of leaves are cut: public, and smaller from tree to tree of a group where DPBoost does so."""
        return float(self.clip) if self.leaves == "sums" else float(self.clip) * (1 - self.rate) ** place

    def _leaf_steps(self, place: int) -> tuple[Fraction, int, Fraction]:
        """For noise on numbers: the odds of one step, how many steps one person can move, the odds of one person more."""
        _, leaf = self._budgets()
        if self.leaves == "sums":
            counting = step_odds(rounded_down(leaf * COUNTING), 1)
            return step_odds(rounded_down(leaf * (1 - COUNTING)), GRID), GRID, counting
        # A value is written in units of clip / (GRID (1 + regular)), so that clip / (1 + regular) are GRID of them.
        sensitivity = max(1, min(GRID, 2 * self._cut(place)))
        return step_odds(rounded_down(leaf), sensitivity), sensitivity, Fraction(1)

    def _cut(self, place: int) -> int:
        return int(self._bound(place) / self.clip * GRID * (1 + self.regular))

    def _leaf_release(self, place: int) -> Bipartite | Coarsened:
        """The release of one leaf's value; of all leaves of a tree, one person is in one only."""
        make: Any = Bipartite if self.leaves == "bipartite" else Coarsened
        bound = self._bound(place)
        made: Bipartite | Coarsened = make(Interval(-bound, bound, GRID, clip=True), rounded_down(self._budgets()[1]))
        return made

    def tree_odds(self, place: int = 0) -> Fraction:
        """The exact odds of one person in the tree at this place of its group."""
        level = self._level_step()
        odds = Fraction(1) if level is None else level ** (2 * SPLIT_SENSITIVITY * self.depth)
        if self.leaves in ("bipartite", "coarsened"):
            leaf = self._leaf_release(place).loss().odds
            assert leaf is not None
            return odds * leaf
        step, sensitivity, counting = self._leaf_steps(place)
        return odds * step**sensitivity * counting

    def privacy_loss(self) -> PrivacyLoss:
        """The exact loss of one person in all trees; the privacy model is described in words."""
        self._check()
        if self.model == "local":
            odds = LeafReports.of(self.epsilon, 1 << self.depth).loss().odds
            return PrivacyLoss(odds, "proved", "any two examples of one person, local: nobody else sees them")
        group = max(self.tree_odds(place) for place in range(self.disjoint))
        words = "one person taking part or not, central: a curator sees all data"
        return PrivacyLoss(group**self.groups, "proved", words, self.groups)

    def fit(self, X: ArrayLike, y: ArrayLike) -> "PrivateGBDTRegressor":
        """Grow the trees one after the other, each on what those before it leave unexplained."""
        self._check()
        rows = checked_features(X)
        targets = checked_targets(y, checked_range(self.target_range, "targets"), len(rows))
        places, coins = self._places(rows), coins_from(self.seed)
        self.n_features_in_ = rows.shape[1]
        self.trees_: list[Tree] = []
        self.start_ = 0.0
        if self.model == "local":
            self._fit_local(places, targets, coins)
            return self
        for _ in range(self.groups):
            member = coins.public(self.disjoint, len(rows)) if self.disjoint > 1 else np.zeros(len(rows), np.int64)
            for place in range(min(self.disjoint, self.trees - len(self.trees_))):
                own = member == place
                rest = np.clip(targets[own] - self._sum(places[own]), -self.clip, self.clip)
                self.trees_.append(self._grow(places[own], rest, place, coins))
        return self

    def _places(self, rows: Floats) -> Ints:
        """The place of each feature on its public grid."""
        unit = (scaled(rows, checked_range(self.feature_range, "features")) + 1) / 2
        return np.minimum((unit * self.bins).astype(np.int64), self.bins - 1)

    def _sum(self, places: Ints) -> Floats:
        total, rate = np.full(len(places), self.start_), self.rate if self.model == "central" else 1.0
        for tree in self.trees_:
            total += rate * tree.predict(places)
        return total

    def _grow(self, places: Ints, rest: Floats, place: int, coins: Coins) -> Tree:
        whole = np.rint(rest / self.clip * GRID).astype(np.int64)
        step = self._level_step()
        if step is None:
            tree = Tree.drawn(self.depth, places.shape[1], self.bins, coins)
        else:
            tree = grow(places, whole, self.depth, self.bins, GRID, [step] * self.depth, coins)
        leaf = tree.leaf(places)
        sums = np.zeros(tree.leaves, np.int64)
        np.add.at(sums, leaf, whole)
        tree.values = self._leaf_values(sums, np.bincount(leaf, minlength=tree.leaves), place, coins)
        return tree

    def _leaf_values(self, sums: Ints, many: Ints, place: int, coins: Coins) -> Floats:
        """What is published of the leaves."""
        bound, unit = self._bound(place), float(self.clip) / GRID
        if self.leaves == "sums":
            step, _, counting = self._leaf_steps(place)
            noisy = sums + geometric(step, len(sums), coins)
            people = np.maximum(many + geometric(counting, len(sums), coins), 1)
            noise = 2 * float(step) / float(step - 1) ** 2
            shrunk = noisy * (noisy**2 / (noisy**2 + noise))  # towards 0 where the sum could be noise
            return np.clip(shrunk * unit / (people + self.regular), -bound, bound)
        below = np.maximum(many + self.regular, 1)
        if self.leaves == "laplace":
            # In whole numbers: sum (1 + regular) / (people + regular), rounded down, moves by at most GRID with one person.
            step, _, _ = self._leaf_steps(place)
            cut = self._cut(place)
            whole = np.clip(sums * (1 + self.regular) // below, -cut, cut)
            return (whole + geometric(step, len(sums), coins)) * unit / (1 + self.regular)
        exact = np.clip(sums * unit / below, -bound, bound)
        release = self._leaf_release(place)
        return np.asarray(release.released(release.perturb(exact, coins)), np.float64)

    def _fit_local(self, places: Ints, targets: Floats, coins: Coins) -> None:
        reports, people = LeafReports.of(self.epsilon, 1 << self.depth), len(targets)
        part = coins.public(PARTS, people)
        bound = self.clip * reports.bound(people // PARTS)
        trees = reports.trees(people * (PARTS - 2) // PARTS, self.trees)
        self.start_ = reports.mean(targets[part == 0], coins)
        fine = part == 1 if trees else part > 0
        self.start_ += bound * reports.mean(np.clip((targets[fine] - self.start_) / bound, -1, 1), coins)
        turn = coins.public(trees, people) if trees > 1 else np.zeros(people, np.int64)
        for place in range(trees):
            own = (part > 1) & (turn == place)
            tree = Tree.drawn(self.depth, places.shape[1], self.bins, coins)
            rest = np.clip((targets[own] - self._sum(places[own])) / bound, -1, 1)
            tree.values = bound * reports.values(tree.leaf(places[own]), rest, coins)
            self.trees_.append(tree)

    def predict(self, X: ArrayLike) -> Floats:
        """The predicted targets, in their public range."""
        self._fitted("trees_")
        places = self._places(checked_features(X, self.n_features_in_))
        return unscaled(self._sum(places), checked_range(self.target_range, "targets"))
