"""A classifier from the mean vector of every class: one report of each person, and no rounds."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable import UnitAxes
from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism
from deniable.core.odds import checked_epsilon
from deniable.domains import Interval, UnitVectors
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.planning.means import mean_options
from deniable_learn.learner import (
    Classifier,
    Range,
    checked_classes,
    checked_features,
    checked_range,
    class_numbers,
    coins_from,
    scaled,
)

CONSTANT = 0.5  # beside a direction of length one: it estimates how many people are in each class
WELL = 0.15  # the squared error of the middle, of vectors of length one, below which it is worth asking for
PRIOR = 0.05  # the part of the spread of vectors that is between classes, assumed before any report has come in
WIDE = 30.0  # how much wider than in other directions vectors may be spread between classes; what is more is cut
APART = 0.1  # of the people, asked for the middle, and as many for the spread, where that is worth it
ROWS = 1 << 12  # people at a time


class PrivateMeansClassifier(Classifier):
    """Learns the mean of every class; a vector belongs to the class whose mean is nearest, classes weighed by their shares.

    Every person sends one report with all of the budget, about one of three things; which one is drawn in public. Some
    report where the middle of all vectors is (`centre` of all). Most report their class and their direction from that
    middle, as one vector: zeros for all classes but their own, which has the direction. It has length one, so `UnitAxes`
    can report it, and the error of a number of a class's mean does not grow with the number of classes. The rest report
    how far they are from the mean of their class in the directions between classes, so that it is known how sure one can
    be.

    No vector is ever averaged with fewer than all reports of its group, so this needs far smaller budgets than gradients do,
    which learn a little from each of many groups. Means are drawn together as far as their known noise demands; without any
    signal the most common class is predicted. `shares` of the classes, if they are public, need not be asked for. Without
    `centre`, a tenth of all people report the middle where it can be estimated well enough, and a tenth the spread likewise.

    Features outside their public range are moved to its ends. What makes a good vector (edges of an image, logarithms)
    is for a public function to do before.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        classes: Sequence[Hashable] | str | None = None,
        feature_range: Range | None = None,
        shares: Sequence[float] | None = None,
        centre: float | None = None,
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.classes = classes
        self.feature_range = feature_range
        self.shares = shares
        self.centre = centre
        self.seed = seed

    def _check(self) -> None:
        checked_epsilon(self.epsilon)
        self._check_classes()
        checked_range(self.feature_range, "features")
        if self.centre is not None and not (isinstance(self.centre, int | float) and 0 <= self.centre < 1):
            raise InvalidParameter("The share of people who report the middle must be at least 0 and below 1.")
        if self.shares is not None:
            shares = np.asarray(self.shares, np.float64)
            if (
                (not self._observes and shares.shape != (len(checked_classes(self.classes)),))
                or not (shares > 0).all()
                or abs(shares.sum() - 1) > 1e-6
            ):
                raise InvalidParameter(
                    "The public shares of the classes must be positive numbers, one for each class, that sum to 1."
                )

    def _groups(self, people: int, dimensions: int) -> tuple[float, float]:
        """The shares of people who report the middle and the spread; they depend on nothing private."""
        few = max(1, round(APART * people))
        centre = APART if self._direction(dimensions, 1).error / few < WELL else 0.0
        scale = self._scale(dimensions)
        spread = APART if scale.worst_variance() / few < 1 / dimensions**2 else 0.0
        return centre if self.centre is None else float(self.centre), spread

    def _direction(self, dimensions: int, classes: int) -> UnitAxes:
        return UnitAxes(UnitVectors(max(2, classes * dimensions)), self.epsilon)

    def _scale(self, dimensions: int) -> MeanMechanism:
        return mean_options(Interval(0.0, min(1.0, WIDE / dimensions), 64, clip=True), self.epsilon).best.mechanism

    def _width(self, dimensions: int) -> int:
        return dimensions + (self.shares is None)  # the constant

    def privacy_loss(self) -> PrivacyLoss:
        """Of one report: a person sends one of three, and which one is public."""
        self._fitted("means_")
        d, classes = self.n_features_in_, len(self._classes())
        used: list[Mechanism] = [self._direction(self._width(d), classes)]
        used += [self._direction(d, 1)] * self.asked_[0] + [self._scale(d)] * self.asked_[1]
        worst = max((mechanism.loss() for mechanism in used), key=lambda loss: loss.epsilon())
        return PrivacyLoss(worst.odds, worst.proof, "any two examples of one person, local: nobody else sees them")

    def fit(self, X: ArrayLike, y: ArrayLike | Sequence[Any]) -> "PrivateMeansClassifier":
        """Collect one report of each person, and learn from the reports only."""
        self._check()
        ends = checked_range(self.feature_range, "features")
        rows, classes = checked_features(X), self._classes(y)
        kinds = class_numbers(y, classes, len(rows))
        self.classes_ = np.array(classes)
        return self.learn(unit(scaled(rows, ends)), kinds, coins_from(self.seed))

    def learn(self, vectors: Floats, kinds: Ints, coins: Coins) -> "PrivateMeansClassifier":
        """As `fit`, of vectors of length one and the numbers of their classes, with these coins."""
        drawn, (centre, spread) = coins.below(1 << 20, len(vectors)) / (1 << 20), self._groups(*vectors.shape)
        first, last = drawn < centre, drawn >= 1 - min(spread, (1 - centre) / 2)
        most = ~first & ~last
        if not most.any():
            raise EmptyBatch("Too few people: all of them report the middle or the spread, and nobody reports a class.")
        self.classes_ = np.array(self._classes())
        self.n_features_in_ = vectors.shape[1]
        self.asked_ = bool(first.any()), bool(last.any())
        self.middle_ = self._learn_middle(vectors[first], coins) if first.any() else np.zeros(vectors.shape[1])
        vectors = unit(vectors - self.middle_)
        self._learn_means(vectors[most], kinds[most], coins)
        if last.any():
            self._learn_spread(vectors[last], kinds[last], coins)
        return self

    def _learn_middle(self, vectors: Floats, coins: Coins) -> Floats:
        decoded, noise = self._collect(vectors, np.zeros(len(vectors), np.int64), 1, coins)
        return shortened(decoded[0], len(decoded[0]) * noise)

    def _collect(self, vectors: Floats, kinds: Ints, classes: int, coins: Coins) -> tuple[Floats, float]:
        """The share of each class times the mean of its vectors; and the variance of a number."""
        width = vectors.shape[1]
        mechanism = self._direction(width, classes)
        tally = None
        for start in range(0, len(vectors), ROWS):
            own, place = vectors[start : start + ROWS], kinds[start : start + ROWS]
            wide = np.zeros((len(own), mechanism.domain.dimensions))
            np.put_along_axis(wide, place[:, None] * width + np.arange(width), own, axis=1)
            more = mechanism.tally(mechanism.perturb(wide, coins))
            tally = more if tally is None else tally + more
        assert tally is not None
        estimate = mechanism.estimate(tally)
        assert estimate.variance is not None
        return estimate.values[: classes * width].reshape(classes, width), float(estimate.variance[0])

    def _learn_means(self, vectors: Floats, kinds: Ints, coins: Coins) -> None:
        classes, d = len(self.classes_), vectors.shape[1]
        if self.shares is None:
            long = (1 + CONSTANT**2) ** 0.5
            beside = np.full((len(vectors), 1), CONSTANT / long)
            decoded, noise = self._collect(np.concatenate([vectors / long, beside], axis=1), kinds, classes, coins)
            self.shares_ = self._learn_shares(decoded[:, -1] * long / CONSTANT, noise * (long / CONSTANT) ** 2)
            decoded, noise = decoded[:, :-1] * long, noise * long**2
        else:
            decoded, noise = self._collect(vectors, kinds, classes, coins)
            self.shares_ = np.array(self.shares, np.float64)
        shares, overall, means = self.shares_, decoded.sum(axis=0), decoded / self.shares_[:, None]
        # How far one number of the mean of a class is from that of all: its noise, and its size for means of variance 1.
        noises, sizes = ((1 / shares - 1) ** 2 + classes - 1) * noise, (1 - shares) ** 2 + shares @ shares - shares**2
        # The variance of means is estimated with an error too; weighed against what is usual, a little of all spread.
        size, usual, doubt = float(shares @ sizes), PRIOR / d, float(shares @ noises) * (2 / (means.size - d)) ** 0.5
        apart = float(shares @ ((means - overall) ** 2).mean(axis=1) - shares @ noises)
        keep = sizes * (apart := max(weighed(apart / size, doubt / size, usual), usual / 100)) / (sizes * apart + noises)
        self.means_ = shortened(overall, classes * d * noise) + (means - overall) * keep[:, None]
        self.doubt_ = float(shares @ (keep * noises))  # of the means themselves
        self.spread_ = max(1 - float(shares @ (self.means_**2).sum(axis=1)), 0.1) / d + self.doubt_

    def _learn_spread(self, vectors: Floats, kinds: Ints, coins: Coins) -> None:
        """How far vectors lie from the mean of their class in the directions between classes, instead of in all of them."""
        between = np.linalg.svd(self.means_ - self.shares_ @ self.means_, full_matrices=False)[2][: len(self.classes_) - 1]
        away = (((vectors - self.means_[kinds]) @ between.T) ** 2).mean(axis=1)
        mechanism = self._scale(vectors.shape[1])
        estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(away, coins)))
        inside = self.spread_ - self.doubt_
        found = weighed(float(estimate.values[0]), float(estimate.standard_error[0]), inside)
        self.spread_ = max(found, inside / 4) + self.doubt_

    def _learn_shares(self, decoded: Floats, noise: float) -> Floats:
        """Shares have an error of their own: they are moved to equal ones as far as it is large, none below a tenth."""
        equal = 1 / len(decoded)
        spread = max(float(((decoded - equal) ** 2).mean()) - noise, 0.0)
        shares = np.maximum(equal + (decoded - equal) * spread / (spread + noise), 0.1 * equal)
        return np.asarray(shares / shares.sum())

    def _scores(self, X: ArrayLike) -> Floats:
        self._fitted("means_")
        rows = checked_features(X, self.n_features_in_, type(self).__name__)
        vectors = unit(unit(scaled(rows, checked_range(self.feature_range, "features"))) - self.middle_)
        likely = vectors @ self.means_.T - (self.means_**2).sum(axis=1) / 2
        return np.asarray(likely / self.spread_ + np.log(self.shares_))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """How likely each class is, if all vectors are spread evenly around the mean of their class."""
        scores = self._scores(X)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def unit(vectors: Floats) -> Floats:
    """The same vectors with length one; one of length zero becomes the first axis, so that everybody sends something."""
    length = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    first = np.eye(1, vectors.shape[1])
    return np.where(length > 1e-12, vectors / np.maximum(length, 1e-12), first)


def shortened(vector: Floats, noise: float) -> Floats:
    """A vector without what its noise adds to its length (James, Stein 1961)."""
    size = float(vector @ vector)
    return np.asarray(vector * max(0.0, 1 - noise / size)) if size else vector


def weighed(found: float, doubt: float, usual: float) -> float:
    """What was found with a standard error, weighed against what is usual, which is as unsure as it is large."""
    return (found / doubt**2 + 1 / usual) / (1 / doubt**2 + 1 / usual**2)
