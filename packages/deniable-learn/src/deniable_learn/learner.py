"""What all learners share: scikit-learn's conventions without needing it, public ranges, refusals before data are read."""

import inspect
import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins, SecureCoins, SeededCoins
from deniable.core.loss import PrivacyLoss
from deniable.errors import EmptyBatch, InvalidParameter, OutsideDomain

Range = tuple[ArrayLike, ArrayLike]


class Learner:
    """Parameters are the arguments of the constructor, kept as given; `fit` learns, `predict` predicts.

    `get_params` and `set_params` are as scikit-learn wants them, so that its `clone` and searches work. (A search over
    parameters looks at private data again: what it costs is the caller's to add.)
    """

    _kind = ""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def _keep(self, arguments: Mapping[str, Any]) -> None:
        """Keep the arguments of a constructor as they were given: its `locals()`."""
        for name in self._parameters():
            setattr(self, name, arguments[name])

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def set_params(self, **parameters: Any) -> Self:
        """Change some of them."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise InvalidParameter(f"There is no parameter {name!r}. The parameters are {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks every learner; nothing else calls it."""
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type=self._kind,
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if self._kind == "classifier" else None,
            regressor_tags=RegressorTags() if self._kind == "regressor" else None,
        )

    def privacy_loss(self) -> PrivacyLoss:
        """The exact loss of one person in all of the training, with its proof and its model in words."""
        raise NotImplementedError

    def _fitted(self, name: str) -> None:
        if not hasattr(self, name):
            raise InvalidParameter("This learner has not been fitted yet. Call fit first.")


class Classifier(Learner):
    """A learner that predicts how likely each of its classes is."""

    _kind = "classifier"
    classes_: NDArray[Any]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """How likely each class is, a row for each person."""
        raise NotImplementedError

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most likely class of each person."""
        predicted = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[predicted])

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """The share of people whose class is predicted correctly."""
        return accuracy(y, self.predict(X))


class Regressor(Learner):
    """A learner that predicts a number."""

    _kind = "regressor"

    def predict(self, X: ArrayLike) -> Floats:
        """The predicted targets, in their public range."""
        raise NotImplementedError

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """The share of the targets' variance that is explained, as scikit-learn counts it."""
        return explained(y, self.predict(X))


def coins_from(seed: int | None) -> Coins:
    """Secure coins, or seeded ones for an experiment that can be repeated."""
    if seed is None:
        return SecureCoins()
    return SeededCoins(seed)


def checked_range(given: Range | None, what: str) -> tuple[Floats, Floats]:
    """Two finite ends, the lower one first; one pair for all, or one for each column."""
    if given is None:
        raise InvalidParameter(
            f"Give the public range of the {what}, as (low, high). A range taken from the data would reveal the extremes, "
            "and without a range the influence of one person is unbounded."
        )
    try:
        low, high = (np.asarray(end, np.float64) for end in given)
        good = bool(np.isfinite(low).all() and np.isfinite(high).all())
        np.broadcast_shapes(low.shape, high.shape)
        good = good and low.ndim <= 1 and high.ndim <= 1 and bool((low < high).all())
    except (ValueError, TypeError):
        good = False
    if not good:
        raise InvalidParameter(f"The public range of the {what} must be a pair of finite numbers, the lower one first.")
    return low, high


def checked_features(features: ArrayLike, width: int | None = None) -> Floats:
    """Rows of finite numbers, as many in each as there were in training."""
    try:
        rows = np.asarray(features)
    except ValueError:
        rows = np.empty(0, object)
    if rows.ndim != 2 or rows.shape[1] < 1 or rows.dtype.kind not in "iufb":
        raise OutsideDomain("Features must be rows of numbers, one row for each person.")
    if len(rows) == 0:
        raise EmptyBatch("There are no people to learn from.")
    if width is not None and rows.shape[1] != width:
        raise OutsideDomain(f"Each person must have {width} features.")
    if not np.isfinite(rows).all():
        raise OutsideDomain("A feature is not a finite number. Leave the person out, or replace it first.")
    return rows.astype(np.float64)


def scaled(rows: Floats, ends: tuple[Floats, Floats]) -> Floats:
    """Features in their public range, moved to [-1, 1]; what lies outside is moved to the ends."""
    low, high = ends
    if (low.ndim and len(low) != rows.shape[1]) or (high.ndim and len(high) != rows.shape[1]):
        raise InvalidParameter(
            f"There are {rows.shape[1]} features: the public range must have one pair of ends, or one for each feature."
        )
    return np.asarray(2 * (np.clip(rows, low, high) - low) / (high - low) - 1)


def checked_classes(classes: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    """At least two different labels, known beforehand."""
    if classes is None or isinstance(classes, str) or len(tuple(classes)) < 2 or len(set(classes)) != len(tuple(classes)):
        raise InvalidParameter(
            "Give the classes, at least two different labels. They must be public: a label that only one person has would "
            "identify that person."
        )
    return tuple(classes)


def class_numbers(labels: ArrayLike | Sequence[Hashable], classes: Sequence[Hashable], people: int) -> Ints:
    """The place of each label among the classes; other labels are refused."""
    given = np.asarray(labels)
    if given.ndim != 1 or len(given) != people:
        raise OutsideDomain("Give one label for each person.")
    places = {label: place for place, label in enumerate(classes)}
    try:
        return np.array([places[label] for label in given.tolist()], np.int64)
    except KeyError:
        raise OutsideDomain(
            "A label is not one of the classes. Add it to the classes, or map it to one of them first."
        ) from None


def checked_targets(targets: ArrayLike, ends: tuple[Floats, Floats], people: int) -> Floats:
    """Targets in their public range, moved to [-1, 1]; what lies outside is moved to the ends."""
    given = np.asarray(targets)
    if given.shape != (people,) or given.dtype.kind not in "iufb":
        raise OutsideDomain("Give one target for each person, a number.")
    if not np.isfinite(given).all():
        raise OutsideDomain("A target is not a finite number. Leave the person out, or replace it first.")
    return scaled(given.astype(np.float64)[:, None], ends)[:, 0]


def unscaled(predicted: Floats, ends: tuple[Floats, Floats]) -> Floats:
    """What was learnt of targets in [-1, 1], moved back to their public range, and not beyond it."""
    low, high = ends
    return np.asarray(low + (np.clip(predicted, -1, 1) + 1) / 2 * (high - low))


def checked_choice(value: object, allowed: Collection[str], what: str) -> None:
    """One of some names."""
    if value not in allowed:
        raise InvalidParameter(f"{what} one of {', '.join(allowed)}.")


def checked_whole(number: object, name: str, least: int = 1, most: int = 1 << 20) -> int:
    """A whole number in a range."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or not least <= number <= most:
        raise InvalidParameter(f"{name} must be a whole number from {least} to {most:,}.")
    return int(number)


def checked_positive(number: object, name: str) -> float:
    """A positive, finite number."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < math.inf:
        raise InvalidParameter(f"{name} must be a positive number.")
    return float(number)


def accuracy(truth: ArrayLike, predicted: ArrayLike) -> float:
    """The share of labels that were predicted correctly."""
    return float(np.mean(np.asarray(truth) == np.asarray(predicted)))


def explained(truth: ArrayLike, predicted: ArrayLike) -> float:
    """The share of the targets' variance that is explained, as scikit-learn counts it."""
    right, guess = np.asarray(truth, np.float64), np.asarray(predicted, np.float64)
    return float(1 - ((right - guess) ** 2).sum() / ((right - right.mean()) ** 2).sum())


def root_mean_square(truth: ArrayLike, predicted: ArrayLike) -> float:
    """The root mean square error."""
    return float(np.sqrt(np.mean((np.asarray(truth, np.float64) - np.asarray(predicted, np.float64)) ** 2)))


def area_under_curve(positive: ArrayLike, score: ArrayLike) -> float:
    """How often a positive one has a higher score than a negative one; half where they are equal.

    >>> area_under_curve([True, False, False], [0.7, 0.7, 0.2])
    0.75
    """
    truth, scores = np.asarray(positive, np.bool_), np.asarray(score, np.float64)
    _, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(many) - (many - 1) / 2)[place]
    above, below = int(truth.sum()), int((~truth).sum())
    if not above or not below:
        raise InvalidParameter("The area under the curve needs people of both classes.")
    return float((rank[truth].sum() - above * (above + 1) / 2) / (above * below))
