"""Correlations of numbers and of ranks, which privacy noise does not weaken."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.analysis.distributions import NORMAL, two_sided
from deniable.arrays import Floats
from deniable.core import confidence_each
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Correlation:
    """A correlation in the population, with its standard error, its interval, and the p-value of no correlation."""

    value: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    n: int
    ranks: bool = False


def correlation_of(value: float, error: float, p_value: float, n: int, ranks: bool, confidence: float) -> Correlation:
    """The interval is that of Fisher's transformation, which keeps it within -1 and 1."""
    reach = NORMAL.inv_cdf((1 + confidence_each(confidence, 1)) / 2)
    if abs(value) >= 1:  # noise has taken the estimate past the end
        ends = (max(-1.0, value - reach * error), min(1.0, value + reach * error))
    else:
        middle, step = math.atanh(value), reach * error / (1 - value * value)
        ends = (math.tanh(middle - step), math.tanh(middle + step))
    return Correlation(value, error, ends, p_value, n, ranks)


def table_correlation(
    shares: Floats,
    answers: Sequence[Sequence[Any]],
    law: Callable[[Floats], Floats],
    n: int,
    ranks: bool,
    confidence: float,
) -> Correlation:
    """The correlation in a table of two questions, with the error that the covariance of its shares gives it."""
    if shares.ndim != 2:
        raise InvalidParameter("A correlation needs two questions. Take a pair of them: table.pair(first, second).")
    if not ranks and any(isinstance(label, str) for each in answers for label in each):
        raise InvalidParameter("The answers are not numbers. To correlate their ranks, use correlation(ranks=True).")
    fixed = None if ranks else [np.array(each, np.float64) for each in answers]
    value, covariance, slope, flat = _correlated(shares, fixed)
    spread = law(shares)
    error = math.sqrt(max(0.0, float(slope @ spread @ slope)))
    # Whether it is zero is decided by the covariance itself, whose error does not hang on the two variances.
    null = math.sqrt(max(1e-300, float(flat @ law(np.outer(*_positive(shares))) @ flat)))
    return correlation_of(value, error, two_sided(covariance / null), n, ranks, confidence)


def _positive(shares: Floats) -> tuple[Floats, Floats]:
    own = [np.maximum(shares.sum(axis=1 - axis), 0) for axis in (0, 1)]
    return own[0] / own[0].sum(), own[1] / own[1].sum()


def _correlated(shares: Floats, fixed: list[Floats] | None) -> tuple[float, float, Floats, Floats]:
    """The correlation, the covariance, and the derivatives of both by the shares, row by row."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    if fixed is None:  # the middle rank of each answer, as a share
        scores = [np.cumsum(own) - own / 2 for own in (rows, columns)]
        steps = [np.tril(np.ones((len(own),) * 2)) - np.eye(len(own)) / 2 for own in (rows, columns)]
    else:
        scores = fixed
        steps = [np.zeros((len(own),) * 2) for own in fixed]
    x, y = scores
    means = float(rows @ x), float(columns @ y)
    dx, dy = x - means[0], y - means[1]
    joint = float(dx @ shares @ dy)
    spread = float(rows @ dx**2), float(columns @ dy**2)
    if min(spread) <= 0:
        raise InvalidParameter(
            "The noise is larger than the spread of the answers, so their correlation cannot be estimated. Collect more "
            "reports."
        )
    # Through the shares themselves, and through scores that are ranks: x = steps @ rows.
    flat = np.outer(dx, dy)
    flat = flat + (shares @ dy @ steps[0])[:, None] + (dx @ shares @ steps[1])[None, :]
    first = dx**2 + 2 * (rows * dx) @ steps[0]
    second = dy**2 + 2 * (columns * dy) @ steps[1]
    value = joint / math.sqrt(spread[0] * spread[1])
    slope = flat / math.sqrt(spread[0] * spread[1]) - value / 2 * (first[:, None] / spread[0] + second[None, :] / spread[1])
    return value, joint, slope.ravel(), flat.ravel()
