"""What all learners share: scikit-learn's conventions without needing it, public ranges, refusals before data are read."""

import inspect
import math
import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins, SecureCoins, SeededCoins
from deniable.core.loss import PrivacyLoss
from deniable.errors import EmptyBatch, InvalidParameter, OutsideDomain

Range = tuple[ArrayLike, ArrayLike]
OBSERVED = "observed"  # classes: those that occur, which reveals which ones do


class NotNumbers(OutsideDomain, TypeError):
    """Features that are no numbers."""


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
    @cache  # reading a signature takes longer than many reports
    def _parameters(cls) -> tuple[str, ...]:
        return tuple(name for name in inspect.signature(cls.__init__).parameters if name != "self")

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
            classifier_tags=ClassifierTags(poor_score=True) if self._kind == "classifier" else None,
            regressor_tags=RegressorTags(poor_score=True) if self._kind == "regressor" else None,
            non_deterministic=getattr(self, "seed", None) is None,  # coins are secure unless there is a seed
        )

    def privacy_loss(self) -> PrivacyLoss:
        """The exact loss of one person in all of the training, with its proof and its model in words."""
        raise NotImplementedError

    def _fitted(self, name: str) -> None:
        if not hasattr(self, name):
            raise not_fitted()("This learner has not been fitted yet. Call fit first.")


class Classifier(Learner):
    """A learner that predicts how likely each of its classes is."""

    _kind = "classifier"
    classes: Sequence[Hashable] | str | None
    classes_: NDArray[Any]

    def _check_classes(self) -> None:
        """Refuse wrong classes before any data are read."""
        if not self._observes:
            checked_classes(self.classes)

    @property
    def _observes(self) -> bool:
        return isinstance(self.classes, str) and self.classes == OBSERVED

    def _classes(self, *labels: ArrayLike | Sequence[Any] | None) -> tuple[Hashable, ...]:
        """The public classes: as they were given, or those of these labels, or of the labels that were fitted."""
        if not self._observes:
            return checked_classes(self.classes)
        if labels:
            return observed_classes(labels[0])
        self._fitted("classes_")
        return tuple(self.classes_.tolist())

    def decision_function(self, X: ArrayLike) -> Floats:
        """The score of each class, a column each; of two classes one number, above zero for the second."""
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def _scores(self, X: ArrayLike) -> Floats:
        """The logarithm of how likely each class is, up to the same number for all."""
        return np.asarray(np.log(np.maximum(self.predict_proba(X), 1e-300)))

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


def not_fitted() -> type[InvalidParameter]:
    """The error of a learner that has not been fitted: also scikit-learn's own, where that is installed."""
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return InvalidParameter
    return cast("type[InvalidParameter]", type("NotFitted", (InvalidParameter, NotFittedError), {}))


def checked_features(features: ArrayLike, width: int | None = None, who: str = "This learner") -> Floats:
    """Rows of finite numbers, as many in each as there were in training. No message repeats one of them."""
    if hasattr(features, "tocsr"):
        raise OutsideDomain("Sparse data were passed, but dense data are required. Convert them with X.toarray().")
    try:
        rows = np.asarray(features)
        rows = rows.astype(np.float64) if rows.dtype == object else rows
    except TypeError:
        raise NotNumbers("Each feature's argument must be a string or a number. Convert categories to numbers.") from None
    except ValueError:
        rows = np.empty(0, object)
    if rows.dtype.kind == "c":
        raise OutsideDomain("Complex data not supported: features must be real numbers.")
    if rows.ndim == 1:
        raise OutsideDomain(
            "Features must be rows of numbers, one row for each person. Expected 2D array, got 1D array instead. Reshape "
            "your data with X.reshape(-1, 1) for one feature, or X.reshape(1, -1) for one person."
        )
    if rows.ndim != 2 or rows.dtype.kind not in "iufb":
        raise OutsideDomain("Features must be rows of numbers, one row for each person.")
    if len(rows) == 0:
        raise EmptyBatch("There are no people to learn from: 0 sample(s), while a minimum of 1 is required.")
    if rows.shape[1] < 1:
        raise OutsideDomain(f"0 feature(s) (shape={rows.shape}) while a minimum of 1 is required.")
    if width is not None and rows.shape[1] != width:
        raise OutsideDomain(f"X has {rows.shape[1]} features, but {who} is expecting {width} features as input.")
    if not np.isfinite(rows).all():
        raise OutsideDomain("A feature is not a finite number (NaN or inf). Leave the person out, or replace it first.")
    return rows.astype(np.float64, copy=False)


def scaled(rows: Floats, ends: tuple[Floats, Floats]) -> Floats:
    """Features in their public range, moved to [-1, 1]; what lies outside is moved to the ends."""
    low, high = ends
    if (low.ndim and len(low) != rows.shape[1]) or (high.ndim and len(high) != rows.shape[1]):
        raise InvalidParameter(
            f"There are {rows.shape[1]} features: the public range must have one pair of ends, or one for each feature."
        )
    found = np.clip(rows, low, high)  # then 2 (x - low) / (high - low) - 1, in the same memory
    found -= low
    found *= 2
    found /= high - low
    found -= 1
    return np.asarray(found)


def checked_classes(classes: Sequence[Hashable] | str | None) -> tuple[Hashable, ...]:
    """At least two different labels, known beforehand."""
    if classes is None or isinstance(classes, str) or len(tuple(classes)) < 2 or len(set(classes)) != len(tuple(classes)):
        raise InvalidParameter(
            "Give the classes, at least two different labels. They must be public: a label that only one person has would "
            f"identify that person. Where all labels that occur are public anyway, write classes={OBSERVED!r}."
        )
    return tuple(classes)


def observed_classes(labels: ArrayLike | Sequence[Any] | None) -> tuple[Hashable, ...]:
    """The labels that occur, in order, where those are public."""
    found = np.unique(labelled(labels))
    if len(found) < 2:
        raise InvalidParameter("There is only 1 class, which all people have. A classifier needs at least two classes.")
    return tuple(found.tolist())


def labelled(labels: ArrayLike | Sequence[Any] | None) -> NDArray[Any]:
    """One label for each person, as a row."""
    if labels is None:
        raise InvalidParameter("This learner requires y to be passed, but the target y is None.")
    given = np.asarray(labels)
    if given.ndim == 2 and given.shape[1] == 1:
        warn_about_column()
        given = given[:, 0]
    if given.ndim != 1:
        raise OutsideDomain("Give one label for each person: y should be a 1d array.")
    if given.dtype.kind == "f" and not (np.isfinite(given).all() and (given == np.rint(given)).all()):
        raise OutsideDomain("Unknown label type: labels must be classes, not NaN, infinity or numbers with a fraction.")
    return given


def warn_about_column() -> None:
    """Labels in a column are taken as a row, with scikit-learn's own warning where that is installed."""
    kind: type[Warning] = UserWarning
    with suppress(ImportError):
        from sklearn.exceptions import DataConversionWarning

        kind = DataConversionWarning
    warnings.warn("A column-vector y was passed when a 1d array was expected.", kind, stacklevel=4)


def class_numbers(labels: ArrayLike | Sequence[Hashable], classes: Sequence[Hashable], people: int) -> Ints:
    """The place of each label among the classes; other labels are refused."""
    given = labelled(labels)
    if len(given) != people:
        raise OutsideDomain("Give one label for each person: X and y have inconsistent numbers of samples.")
    known = np.array(classes) if all(type(label) is int and abs(label) < 1 << 62 for label in classes) else None
    if known is not None and given.dtype == np.int64:  # as most are: in a twentieth of the time
        order = np.argsort(known)
        found = order[np.minimum(np.searchsorted(known, given, sorter=order), len(known) - 1)]
        if np.array_equal(known[found], given):
            return found
    places = {label: place for place, label in enumerate(classes)}
    try:
        return np.array([places[label] for label in given.tolist()], np.int64)
    except KeyError:
        raise OutsideDomain(
            "A label is not one of the classes. Add it to the classes, or map it to one of them first."
        ) from None


def sorted_places(numbers: Ints) -> Ints:
    """The places of numbers in their order, equal ones as they come."""
    order = np.argsort(numbers)  # which may swap equal ones, but takes a third of the time
    ordered = numbers[order]
    return np.argsort(numbers, kind="stable") if (ordered[1:] == ordered[:-1]).any() else order


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
