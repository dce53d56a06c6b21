"""A classifier from the mean vector of every class: one report of each person, and no rounds."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.core.coins import Coins
from deniable.core.loss import PrivacyLoss
from deniable.core.odds import checked_epsilon
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.learning.codes import LabelledCodes, LabelledVectors
from deniable.learning.learner import (
    Learner,
    Range,
    accuracy,
    checked_classes,
    checked_features,
    checked_range,
    checked_whole,
    class_numbers,
    coins_from,
    scaled,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONSTANT = 0.5  # beside a direction of length one: what tells how many people are in each class
WELL = 0.15  # the squared error of the middle, of vectors of length one, below which it is worth asking for
PRIOR = 0.2  # the part of the spread of vectors that is between classes, thought likely before anybody has told anything


class PrivateMeansClassifier(Learner):
    """Learns the mean of every class; a vector belongs to the class whose mean is nearest, classes weighed by their shares.

    Every person sends one report with all of the budget. Some of them, drawn in public (`centre` of all), tell where the
    middle of all vectors is, with `LabelledCodes` for a single class; the others their class and in which direction from
    that middle they lie. No vector is ever averaged with fewer than all reports of its group, so this needs far smaller
    budgets than gradients do, which learn a little from each of many groups. Means are drawn together as far as their
    known noise demands; without any signal the most common class is told. `shares` of the classes, if they are public,
    need not be asked for. Without `centre`, a tenth of all people tell the middle where that can be told well enough.

    Features outside their public range are moved to its ends. What makes a good vector (edges of an image, logarithms)
    is for a public function to do before.
    """

    _kind = "classifier"

    def __init__(
        self,
        epsilon: float = 1.0,
        classes: Sequence[Hashable] | None = None,
        feature_range: Range | None = None,
        shares: Sequence[float] | None = None,
        centre: float | None = None,
        codes: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.classes = classes
        self.feature_range = feature_range
        self.shares = shares
        self.centre = centre
        self.codes = codes
        self.seed = seed

    def _check(self) -> None:
        checked_epsilon(self.epsilon)
        checked_classes(self.classes)
        checked_range(self.feature_range, "features")
        if self.codes is not None:
            checked_whole(self.codes, "The number of directions", 2, 4096)
        if self.centre is not None and not (isinstance(self.centre, int | float) and 0 <= self.centre < 1):
            raise InvalidParameter("The share of people who tell the middle lies from 0 to below 1.")
        if self.shares is not None:
            shares = np.asarray(self.shares, np.float64)
            if (
                shares.shape != (len(checked_classes(self.classes)),)
                or not (shares > 0).all()
                or abs(shares.sum() - 1) > 1e-6
            ):
                raise InvalidParameter("The public shares of the classes are positive numbers, one for each, that sum to 1.")

    def _centre(self, people: int, dimensions: int) -> float:
        """The share of people who tell the middle; it depends on nothing private."""
        if self.centre is not None:
            return float(self.centre)
        few = max(1, people // 10)
        mechanism = self._mechanism(dimensions, 1)
        return 0.1 if mechanism.error / few < WELL else 0.0

    def _mechanism(self, dimensions: int, classes: int) -> LabelledCodes:
        codes = (32 if self.epsilon < 3 else 128) if self.codes is None else self.codes
        return LabelledCodes(LabelledVectors(dimensions + 1, classes), self.epsilon, codes=codes)

    def privacy_loss(self) -> PrivacyLoss:
        self._fitted("means_")
        classes = len(checked_classes(self.classes))
        # A person sends one of the two reports; which one is public.
        losses = [self._mechanism(self.n_features_in_, each).loss() for each in (1, classes)]
        worst = max(losses, key=lambda loss: loss.epsilon())
        return PrivacyLoss(worst.odds, worst.proof, "any two examples of one person, local: nobody else sees them")

    def fit(self, X: ArrayLike, y: ArrayLike | Sequence[Any]) -> "PrivateMeansClassifier":
        """Collect one report of each person, and learn from the reports only."""
        self._check()
        classes, ends = checked_classes(self.classes), checked_range(self.feature_range, "features")
        rows = checked_features(X)
        kinds = class_numbers(y, classes, len(rows))
        vectors, coins = unit(scaled(rows, ends)), coins_from(self.seed)
        first = coins.below(1 << 20, len(rows)) < round(self._centre(*rows.shape) * (1 << 20))
        if first.all():
            raise EmptyBatch("Too few people: all of them tell the middle, and nobody a class.")
        self.classes_ = np.array(classes)
        self.n_features_in_ = rows.shape[1]
        self.middle_ = self._learn_middle(vectors[first], coins) if first.any() else np.zeros(rows.shape[1])
        self._learn_means(unit(vectors[~first] - self.middle_), kinds[~first], coins)
        return self

    def _learn_middle(self, vectors: Floats, coins: Coins) -> Floats:
        estimate = self._collect(vectors, np.zeros(len(vectors), np.int64), 1, coins)
        middle, noise = estimate[0][0, :-1], estimate[1]
        size = float(middle @ middle)  # James and Stein 1961: shrink by what the noise adds to the length
        return np.asarray(middle * max(0.0, 1 - len(middle) * noise / size)) if size else middle

    def _collect(self, vectors: Floats, kinds: Ints, classes: int, coins: Coins) -> tuple[Floats, float]:
        """Share times mean of each class, the constant in the last column as if it were 1; and the variance of a number."""
        constant = CONSTANT if classes > 1 and self.shares is None else 1e-9
        long = (1 + constant**2) ** 0.5
        mechanism = self._mechanism(vectors.shape[1], classes)
        beside = np.full((len(vectors), 1), constant / long)
        estimate = mechanism.estimate(
            mechanism.tally(mechanism.perturb(np.concatenate([kinds[:, None], vectors / long, beside], axis=1), coins))
        )
        told = estimate.values.reshape(classes, -1) * long
        told[:, -1] /= constant
        assert estimate.variance is not None
        return told, float(estimate.variance[0]) * long**2

    def _learn_means(self, vectors: Floats, kinds: Ints, coins: Coins) -> None:
        told, noise = self._collect(vectors, kinds, len(self.classes_), coins)
        self.shares_ = self._learn_shares(told[:, -1], noise / CONSTANT**2) if self.shares is None else np.array(self.shares)
        overall = told[:, :-1].sum(axis=0)
        means = told[:, :-1] / self.shares_[:, None]
        own = noise / self.shares_**2  # the variance of one number of the mean of a class
        apart = self.shares_ @ ((means - overall) ** 2).mean(axis=1) - self.shares_ @ own
        # How far classes lie apart is told with an error too; weighed against what is usual, a fifth of all spread.
        usual, doubt = PRIOR / vectors.shape[1], float(own @ self.shares_) * (2 / means.size) ** 0.5
        apart = (float(apart) / doubt**2 + usual / usual**2) / (1 / doubt**2 + 1 / usual**2)
        apart = max(apart, usual / 100)
        keep = apart / (apart + own)
        self.means_ = overall + (means - overall) * keep[:, None]
        inside = max(1 - float(self.shares_ @ (self.means_**2).sum(axis=1)), 0.1) / vectors.shape[1]
        self.spread_ = inside + float(self.shares_ @ (keep * own))  # of vectors around their mean, and of the mean itself

    def _learn_shares(self, told: Floats, noise: float) -> Floats:
        """Shares have an error of their own: they are moved to equal ones as far as it is large, none below a tenth."""
        equal = 1 / len(told)
        spread = max(float(((told - equal) ** 2).mean()) - noise, 0.0)
        shares = np.maximum(equal + (told - equal) * spread / (spread + noise), 0.1 * equal)
        return np.asarray(shares / shares.sum())

    def decision_function(self, X: ArrayLike) -> Floats:
        """The logarithm of how likely each class is, up to the same number for all."""
        self._fitted("means_")
        rows = checked_features(X, self.n_features_in_)
        vectors = unit(unit(scaled(rows, checked_range(self.feature_range, "features"))) - self.middle_)
        likely = vectors @ self.means_.T - (self.means_**2).sum(axis=1) / 2
        return np.asarray(likely / self.spread_ + np.log(self.shares_))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """How likely each class is, if all vectors are spread evenly around the mean of their class."""
        scores = self.decision_function(X)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most likely class of each vector."""
        told = self.decision_function(X).argmax(axis=1)
        return np.asarray(self.classes_[told])

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """The share of people whose class is told right."""
        return accuracy(y, self.predict(X))


def unit(vectors: Floats) -> Floats:
    """The same vectors with length one; one of length zero becomes the first axis, so that everybody sends something."""
    length = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    first = np.eye(1, vectors.shape[1])
    return np.where(length > 1e-12, vectors / np.maximum(length, 1e-12), first)
