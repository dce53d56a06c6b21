"""Training on released vectors: every person releases all features and the label once, each with a part of the budget."""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable import Bipartite, Coarsened, DirectResponse, ReleaseChannel, VectorRelease
from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins
from deniable.core.loss import PrivacyLoss
from deniable.core.odds import checked_epsilon, rounded_down
from deniable.domains import Categories, Interval, Vectors
from deniable.errors import EmptyBatch, InvalidParameter
from deniable_learn.learner import (
    Classifier,
    Range,
    checked_features,
    checked_range,
    checked_whole,
    class_numbers,
    coins_from,
    scaled,
)
from deniable_learn.means import PrivateMeansClassifier, unit
from deniable_learn.network import Network, trained

SLACK = Fraction(1, 10**9)  # of the budget, that rounding down may leave unused


def importance_budgets(weights: ArrayLike, epsilon: float, label_share: float = 0.3) -> tuple[float, ...]:
    """Budgets of the features, in proportion to their weights, and last of the label; together they are within epsilon.

    The weights must be public, or paid for in another way. A feature of weight 0 is not asked for at all.

    >>> importance_budgets([3, 0, 1], 2.0, label_share=0.5)
    (0.75, 0.0, 0.25, 1.0)
    """
    given = np.asarray(weights, np.float64)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or not (given >= 0).all() or not given.sum() > 0:
        raise InvalidParameter("Weights must be non-negative numbers, one for each feature, not all of them 0.")
    if not 0 < label_share < 1:
        raise InvalidParameter("The label's share of the budget must be between 0 and 1.")
    whole, exact = Fraction(checked_epsilon(epsilon)), [Fraction(float(weight)) for weight in given]
    rest = whole * (1 - Fraction(label_share))
    features = [rounded_down(rest * weight / sum(exact)) if weight else 0.0 for weight in exact]
    return (*features, rounded_down(whole * Fraction(label_share)))


def _coarsened(line: Interval, epsilon: float) -> Coarsened:
    """At least two representatives: the nearest answer to all, which needs no privacy, is of no use to learn from."""
    best = Coarsened(line, epsilon)
    if best.cells > 1 or line.steps == 1:
        return best
    return Coarsened(line, epsilon, (line.steps // 4, line.steps - line.steps // 4))


WAYS: dict[str, Any] = {"bipartite": Bipartite, "coarsened": _coarsened, "laplace": ReleaseChannel.laplace}


class PrivateVectorClassifier(Classifier):
    """A small network, trained on vectors and labels that people released themselves, as in DNN-DP (Wang et al.).

    Feature j is released on a grid over its public range with budgets[j], the label by `DirectResponse` with the last
    budget; the promise is for all of them together, and the budgets must sum to epsilon. Without `budgets`, the label has
    three tenths and the features equal parts of the rest; `importance_budgets` makes others from weights that are public.
    With `ask`, a share of the people, drawn in public, pays for the weights: they release nothing, and report with all of
    their budget how far apart the classes are in each feature, by `PrivateMeansClassifier`. Released data may be used for
    any number of epochs. Labels are corrected for their known noise: their weights are right on average.

    `way` is how a feature is released: `coarsened`, `bipartite` (BRR), or `laplace` (clamped to the range).
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        classes: Sequence[Hashable] | str | None = None,
        feature_range: Range | None = None,
        budgets: Sequence[float] | None = None,
        way: str = "coarsened",
        steps: int = 16,
        hidden: int = 16,
        epochs: int = 10,
        ask: float = 0.0,
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.classes = classes
        self.feature_range = feature_range
        self.budgets = budgets
        self.way = way
        self.steps = steps
        self.hidden = hidden
        self.epochs = epochs
        self.ask = ask
        self.seed = seed

    def _check(self) -> None:
        whole = Fraction(checked_epsilon(self.epsilon))
        self._check_classes()
        checked_range(self.feature_range, "features")
        checked_whole(self.steps, "The number of steps", 1, 1000)
        checked_whole(self.hidden, "The number of hidden units", 0)
        checked_whole(self.epochs, "The number of epochs")
        if self.way not in WAYS:
            raise InvalidParameter(f"way must be one of {', '.join(WAYS)}.")
        if not (isinstance(self.ask, int | float) and 0 <= self.ask < 1):
            raise InvalidParameter("ask, the share of people who report on importance, must be at least 0 and below 1.")
        if self.ask and self.budgets is not None:
            raise InvalidParameter("Give budgets or ask, not both.")
        if self.budgets is not None:
            parts = [Fraction(float(part)) if 0 <= part < np.inf else Fraction(-1) for part in self.budgets]
            if len(parts) < 2 or min(parts) < 0 or not parts[-1]:
                raise InvalidParameter(
                    "Budgets must be non-negative numbers, one for each feature, followed by a positive one for the label."
                )
            if not whole * (1 - SLACK) <= sum(parts) <= whole:
                raise InvalidParameter(
                    f"The budgets of the features and the label sum to {float(sum(parts)):g}, not to epsilon, "
                    f"{self.epsilon:g}. importance_budgets returns budgets that do."
                )

    def _budgets(self, features: int) -> tuple[float, ...]:
        if self.ask:
            self._fitted("budgets_")
            return self.budgets_
        if self.budgets is None:
            return importance_budgets(np.ones(features), self.epsilon)
        if len(self.budgets) != features + 1:
            raise InvalidParameter(f"There are {features} features: give {features + 1} budgets, the last for the label.")
        return tuple(float(part) for part in self.budgets)

    def _mechanisms(self, features: int) -> tuple[Ints, VectorRelease, DirectResponse]:
        """Which features are asked for, and the two releases."""
        budgets = self._budgets(features)
        asked = np.flatnonzero(np.array(budgets[:-1]) > 0)
        if not len(asked):
            raise InvalidParameter("At least one feature needs a budget.")
        line = Interval(-1, 1, self.steps, clip=True)
        parts = [WAYS[self.way](line, budgets[place]) for place in asked]
        vectors = VectorRelease(Vectors([line] * len(asked)), self.epsilon, parts)
        return asked, vectors, DirectResponse(Categories(range(len(self._classes()))), budgets[-1])

    def privacy_loss(self) -> PrivacyLoss:
        """The exact loss of one person's features and label together."""
        self._check()
        features = getattr(self, "n_features_in_", None if self.budgets is None else len(self.budgets) - 1)
        if features is None:
            raise InvalidParameter("The number of features is known only after fit, or from the budgets.")
        _, vectors, label = self._mechanisms(features)
        odds, own = vectors.loss().odds, label.loss().odds
        assert odds is not None and own is not None
        words = "any two examples of one person, features and label together, local: nobody else sees them"
        released = PrivacyLoss(odds * own, "proved", words)
        if not self.ask:
            return released
        asked = self.asked_.privacy_loss()  # nobody is asked both
        return max(released, PrivacyLoss(asked.odds, asked.proof, words), key=lambda loss: loss.epsilon())

    def fit(self, X: ArrayLike, y: ArrayLike | Sequence[Any]) -> "PrivateVectorClassifier":
        """Collect one release of each person, and train on the releases only."""
        self._check()
        ends = checked_range(self.feature_range, "features")
        rows, classes = checked_features(X), self._classes(y)
        kinds = class_numbers(y, classes, len(rows))
        self.n_features_in_, self.classes_ = rows.shape[1], np.array(classes)
        if not self.ask:
            self._mechanisms(rows.shape[1])
        rows, coins = scaled(rows, ends), coins_from(self.seed)
        if self.ask:
            first = coins.below(1 << 20, len(rows)) < round(self.ask * (1 << 20))
            if first.all() or not first.any():
                raise EmptyBatch("Too few people: some must report on importance, and some must release their vectors.")
            self._learn_budgets(rows[first], kinds[first], coins)
            rows, kinds = rows[~first], kinds[~first]
        released, labels = self._release(rows, kinds, coins)
        self.network_ = Network(released.shape[1], len(classes), self.hidden)
        random = np.random.default_rng(coins.below(1 << 32, 1))
        self.weights_ = trained(self.network_, released, labels, random, self.epochs, decay=1e-3)
        return self

    def _learn_budgets(self, rows: Floats, kinds: Ints, coins: Coins) -> None:
        """In proportion to the estimated distance between classes, less what noise adds to it; the least have a little."""
        self.asked_ = PrivateMeansClassifier(self.epsilon, range(len(self.classes_)), (-1, 1), centre=0)
        means = self.asked_.learn(unit(rows), kinds, coins).means_
        squares = self.asked_.shares_ @ (means - self.asked_.shares_ @ means) ** 2
        weights = np.sqrt(np.maximum(squares - self.asked_.doubt_, squares.max() / 100))
        self.budgets_ = importance_budgets(weights + 1e-9, self.epsilon)

    def _release(self, rows: Floats, kinds: Ints, coins: Coins) -> tuple[Floats, Floats]:
        """What the devices send: features, and weights of the labels that are right on average."""
        asked, vectors, label = self._mechanisms(rows.shape[1])
        columns = vectors.perturb(rows[:, asked], coins).columns
        places = [part.outputs[columns[f"value{turn}"].astype(np.int64)] for turn, part in enumerate(vectors.parts)]
        points = np.linspace(-1, 1, self.steps + 1)
        reported = label.perturb(kinds.tolist(), coins).columns["value"].astype(np.int64)
        weights = (np.eye(len(self.classes_))[reported] - float(label.q)) / float(label.p - label.q)
        return points[np.stack(places, axis=1)], weights

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probabilities of the classes, for vectors that are not randomized: the model is used where they are."""
        self._fitted("weights_")
        rows = checked_features(X, self.n_features_in_, type(self).__name__)
        rows = scaled(rows, checked_range(self.feature_range, "features"))
        asked, vectors, _ = self._mechanisms(self.n_features_in_)
        shown = rows[:, asked]
        if self.way == "coarsened":  # as the network has seen them: at the nearest representative
            places = vectors.domain.index(shown)
            points = np.linspace(-1, 1, self.steps + 1)
            near = [part.outputs[part.nearest[places[:, turn]]] for turn, part in enumerate(vectors.parts)]  # type: ignore[attr-defined]
            shown = points[np.stack(near, axis=1)]
        return self.network_.predict(self.weights_, shown)
