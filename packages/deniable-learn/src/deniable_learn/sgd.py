"""Gradient descent on reports: every person reports on one gradient, cut to a public bound, in one round."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins, SecureCoins
from deniable.core.loss import PrivacyLoss
from deniable.core.odds import checked_epsilon
from deniable.errors import EmptyBatch
from deniable.kernels.lengths import Factors
from deniable_learn.gradients import WAYS, GradientReports, shared_out
from deniable_learn.learner import (
    Classifier,
    Learner,
    Range,
    Regressor,
    checked_choice,
    checked_features,
    checked_positive,
    checked_range,
    checked_targets,
    checked_whole,
    class_numbers,
    coins_from,
    scaled,
    sorted_places,
    unscaled,
)
from deniable_learn.network import Network

BLOCK = 1 << 21  # numbers of gradients that are made at a time; what a seed gives depends on it
SECURE_BLOCK = 10 << 14  # the same with secure coins: so few that most of what is made of them stays in the cache


class _PrivateSGD(Learner):
    """What the classifier and the regressor share."""

    epsilon: float
    feature_range: Range | None
    way: str
    clip: float
    reach: float
    rounds: int
    passes: int
    hidden: int
    rate: float
    seed: int | None

    def _check(self) -> None:
        checked_epsilon(self.epsilon)
        checked_range(self.feature_range, "features")
        checked_whole(self.rounds, "The number of rounds")
        checked_whole(self.passes, "The number of passes")
        checked_whole(self.hidden, "The number of hidden units", 0)
        for name in ("clip", "rate"):
            checked_positive(getattr(self, name), f"The {name}")
        checked_choice(self.way, WAYS, "Gradients are reported by")
        shared_out(self.epsilon, self.passes)

    def _reports(self, dimensions: int) -> GradientReports:
        epsilon = checked_epsilon(shared_out(self.epsilon, self.passes))
        return GradientReports(dimensions, epsilon, self.way, float(self.clip), float(self.reach))

    def privacy_loss(self) -> PrivacyLoss:
        """The exact loss of one person: that of one report, once for each pass. Rounds are of different people."""
        self._fitted("network_")
        one = self._reports(self.network_.size).loss()
        assert one.odds is not None
        words = f"any two examples of one person, local: nobody else sees them; {self.passes} report(s) of each person"
        return PrivacyLoss(one.odds**self.passes, one.proof, words)

    def _learn(self, rows: Floats, right: NDArray[Any], outputs: int, classify: bool) -> None:
        people = len(rows)
        if people < self.rounds:
            raise EmptyBatch(
                f"Each of the {self.rounds} rounds needs its own people, and there are too few. Use fewer rounds."
            )
        self.network_ = Network(rows.shape[1], outputs, self.hidden, classify)
        self.n_features_in_ = rows.shape[1]
        reports, coins = self._reports(self.network_.size), coins_from(self.seed)
        weights = self.network_.start(np.random.default_rng(coins.below(1 << 32, 1)))
        total, average, step = self.passes * self.rounds, np.zeros_like(weights), 0
        for _ in range(self.passes):
            # In which round a person takes part is drawn in public.
            order = sorted_places(coins.below(1 << 62, people))
            for own in np.array_split(order, self.rounds):
                mean = reports.mean_of(self._blocks(weights, rows, right, own, coins), coins)
                step += 1
                weights = weights - self.rate / np.sqrt(step) * mean
                if 2 * step > total:  # the mean of the later weights is steadier than the last (Polyak, Juditsky 1992)
                    average += weights / (total - total // 2)
        self.weights_ = average

    def _blocks(self, weights: Floats, rows: Floats, right: NDArray[Any], own: Ints, coins: Coins) -> Iterator[Factors]:
        room = SECURE_BLOCK if type(coins) is SecureCoins else BLOCK
        step = max(1, room // self.network_.size)
        for first in range(0, len(own), step):
            part = own[first : first + step]
            yield self.network_.factors(weights, rows[part], right[part])

    def _outputs(self, X: ArrayLike) -> Floats:
        self._fitted("weights_")
        rows = checked_features(X, self.n_features_in_, type(self).__name__)
        return self.network_.predict(self.weights_, scaled(rows, checked_range(self.feature_range, "features")))


class PrivateSGDClassifier(_PrivateSGD, Classifier):
    """Softmax regression, or a network with one layer of `hidden` units, from one report of each person.

    People are divided in public into `rounds`; those of a round each report on the gradient of their own example at the
    weights so far, cut to length `clip`, by one of `GradientReports`' ways. So one person's loss is that of one report.
    With `passes` above one, everybody reports that many times with a part of the budget each. Features are moved to [-1, 1]
    by their public range, those outside to its ends; the classes must be public too.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        classes: Sequence[Hashable] | str | None = None,
        feature_range: Range | None = None,
        way: str = "directions",
        clip: float = 1.0,
        reach: float = 0.0,
        rounds: int = 10,
        passes: int = 1,
        hidden: int = 0,
        rate: float = 1.0,
        seed: int | None = None,
    ) -> None:
        self._keep(locals())

    def _check(self) -> None:
        super()._check()
        self._check_classes()

    def fit(self, X: ArrayLike, y: ArrayLike | Sequence[Any]) -> "PrivateSGDClassifier":
        """Go through the rounds, and learn from the reports only."""
        self._check()
        rows, classes = checked_features(X), self._classes(y)
        kinds = class_numbers(y, classes, len(rows))
        self.classes_ = np.array(classes)
        self._learn(scaled(rows, checked_range(self.feature_range, "features")), kinds, len(classes), True)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probabilities of the classes."""
        return self._outputs(X)


class PrivateSGDRegressor(_PrivateSGD, Regressor):
    """Least squares, linear or with a hidden layer, from one report of each person: as `PrivateSGDClassifier`.

    Targets need a public range as features do; those outside are moved to its ends.
    """

    target_range: tuple[float, float] | None

    def __init__(
        self,
        epsilon: float = 1.0,
        feature_range: Range | None = None,
        target_range: tuple[float, float] | None = None,
        way: str = "directions",
        clip: float = 1.0,
        reach: float = 0.0,
        rounds: int = 10,
        passes: int = 1,
        hidden: int = 0,
        rate: float = 0.3,
        seed: int | None = None,
    ) -> None:
        self._keep(locals())

    def _check(self) -> None:
        super()._check()
        checked_range(self.target_range, "targets")

    def fit(self, X: ArrayLike, y: ArrayLike) -> "PrivateSGDRegressor":
        """Go through the rounds, and learn from the reports only."""
        self._check()
        rows = checked_features(X)
        targets = checked_targets(y, checked_range(self.target_range, "targets"), len(rows))
        self._learn(scaled(rows, checked_range(self.feature_range, "features")), targets, 1, False)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """The predicted targets, in their public range."""
        return unscaled(self._outputs(X)[:, 0], checked_range(self.target_range, "targets"))
