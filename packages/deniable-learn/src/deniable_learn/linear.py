"""Linear models from randomized data, in NumPy: by moments without the noise, and by softmax with corrected losses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.errors import InvalidParameter, OutsideDomain
from deniable_learn.noisy_labels import unbiased_labels

Correction = Literal["none", "forward", "backward"]

TIMES = (1.0, 3.0, 10.0, np.inf)  # penalties that are tried, in units of the noise
SMALL = (0.1, 0.3)  # and these where the features have none, and only chance distinguishes two halves


class Moments(Protocol):
    """Data that estimate two means without bias: of x (1{y = c} - 1/C), and of x x' where that is known."""

    @property
    def noisy(self) -> bool:
        """Whether the features were randomized."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Self: ...

    def cross(self) -> Floats:
        """The first."""
        ...

    def squares(self) -> Floats | None:
        """The second."""
        ...


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A score for each class that is linear in the features; the class with the highest is predicted."""

    weights: Floats
    bias: Floats

    def scores(self, x: ArrayLike) -> Floats:
        """The score of each class for each row."""
        rows = np.asarray(x, np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.weights):
            raise OutsideDomain(f"This model is for rows of {len(self.weights)} numbers.")
        return np.asarray(rows @ self.weights + self.bias)

    def predict(self, x: ArrayLike) -> Ints:
        """The class of each row."""
        return self.scores(x).argmax(axis=1)

    def accuracy(self, x: ArrayLike, y: ArrayLike) -> float:
        """The share of rows whose class is predicted."""
        return float((self.predict(x) == np.asarray(y)).mean())


def fit_moments(data: Moments, penalty: float | None = None) -> LinearModel:
    """Ridge regression on the classes from moments that the noise was taken out of: W = (G + penalty I)^-1 M.

    With noisy features the plain Gram matrix is too large by the covariance of the noise, which shrinks the weights unevenly
    (errors in variables). Here G and M are unbiased. Without G, or with a penalty of infinity, W = M: every row goes to the
    class whose mean it is nearest to in direction.

    Without a penalty, a few are tried from the size of the noise in G upwards, which is half of how far the G of two halves
    of the data are apart; taken is the one that is best for either half when trained on the other. That is worked out from
    the randomized data alone, so it costs nothing.
    """
    if penalty is None:
        halves = [(part.cross(), part.squares()) for part in (data[0::2], data[1::2])]
        penalty = _penalty(halves, TIMES if data.noisy else SMALL + TIMES)
    cross, gram = data.cross(), data.squares() if np.isfinite(penalty) else None
    return LinearModel(_solved(cross, gram, penalty), np.zeros(cross.shape[1]))


def _penalty(halves: Sequence[tuple[Floats, Floats | None]], tried: Sequence[float]) -> float:
    (_, first), (_, second) = halves
    if first is None or second is None:
        return np.inf
    noise = float(np.abs(np.linalg.eigvalsh(first - second)).max()) / 2
    return max((noise * times for times in tried), key=lambda each: _gain(halves, each))


def _solved(cross: Floats, gram: Floats | None, penalty: float) -> Floats:
    if gram is None or not np.isfinite(penalty):
        return cross
    if not penalty >= 0:
        raise InvalidParameter("The penalty must be a non-negative number.")
    values, axes = np.linalg.eigh(gram)
    shrunk = np.maximum(values, 0) + max(penalty, 1e-12)  # noise makes some below 0, which no matrix of squares has
    return np.asarray(axes @ ((axes.T @ cross) / shrunk[:, None]))


def _gain(halves: Sequence[tuple[Floats, Floats | None]], penalty: float) -> float:
    """By how much the best multiple of the weights from one half lowers the squared error on the other; both ways."""
    gain = 0.0
    for (cross, gram), (other_cross, other_gram) in (halves, halves[::-1]):
        assert other_gram is not None
        weights = _solved(cross, gram, penalty)
        along, square = float((weights * other_cross).sum()), float((weights * (other_gram @ weights)).sum())
        gain += along * abs(along) / square if square > 0 else 0.0
    return gain


def fit_softmax(
    x: ArrayLike,
    labels: ArrayLike,
    channel: ArrayLike,
    correction: Correction = "forward",
    penalty: float = 1e-3,
    rounds: int = 80,
) -> LinearModel:
    """Softmax regression on labels that went through a known channel.

    Correction "forward": the loss -log (T' p)[z] of what was reported; "backward": losses of all labels with the weights of
    T's inverse; "none": as if labels were true. Rounds of accelerated gradient descent in the metric of the features' Gram
    matrix (Boehning 1992: a quarter to a half of it bounds the curvature).
    """
    matrix = np.asarray(channel, np.float64)
    if correction not in ("none", "forward", "backward"):
        raise InvalidParameter('correction must be "none", "forward" or "backward".')
    rows, reported, classes = np.asarray(x, np.float64), np.asarray(labels, np.int64), len(matrix)
    wide = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
    ridge = penalty * np.append(np.ones(rows.shape[1]), 1e-3)
    metric = wide.T @ wide / len(wide) / 2 + np.diag(ridge)
    inverse = np.linalg.inv(metric)
    one_hot = np.eye(classes)[reported]
    target = unbiased_labels(reported, matrix) if correction == "backward" else one_hot
    weights = np.zeros((wide.shape[1], classes))
    ahead, momentum = weights, 1.0
    for _ in range(rounds):
        scores = wide @ ahead
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        if correction == "forward":
            joint = p * matrix[:, reported].T  # of each class and the label that was reported
            target = joint / joint.sum(axis=1, keepdims=True)
        gradient = wide.T @ (p - target) / len(wide) + ridge[:, None] * ahead
        after = ahead - inverse @ gradient
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, weights, momentum = after + (momentum - 1) / following * (after - weights), after, following
    return LinearModel(weights[:-1], weights[-1])
