"""Tests of independence with the exact covariance of the estimated shares."""

import itertools
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from deniable.analysis.distributions import chi_square_tail
from deniable.analysis.outcome import TestOutcome
from deniable.arrays import Floats
from deniable.core import Estimate
from deniable.errors import InvalidParameter
from deniable.postprocess.norm_sub import norm_sub

RAREST = 1e-3  # expected margins below this count as this, so that an effect is not divided by noise


def contrasts(size: int) -> Floats:
    """Orthonormal rows that are orthogonal to a constant."""
    return np.linalg.qr(np.hstack([np.ones((size, 1)), np.eye(size)[:, : size - 1]]))[0][:, 1:].T


def margins(shares: Floats) -> list[Floats]:
    """The shares of each question alone."""
    axes = range(shares.ndim)
    return [shares.sum(axis=tuple(set(axes) - {axis})) for axis in axes]


def product(parts: list[Floats]) -> Floats:
    """The table of independent questions with these shares."""
    return reduce(np.multiply.outer, parts)


def kron(parts: Sequence[Floats]) -> Floats:
    """The Kronecker product of several matrices."""
    found = np.ones((1, 1))
    for part in parts:
        found = np.asarray(np.kron(found, part), np.float64)
    return found


def summing(shape: tuple[int, ...], axes: Sequence[int]) -> Floats:
    """What turns the cells of a table into the shares of some of its questions."""
    return kron([np.eye(size) if axis in axes else np.ones((1, size)) for axis, size in enumerate(shape)])


def departures(shape: tuple[int, ...]) -> Floats:
    """Rows that pick out all interactions of a table: contrasts of two questions or more, sums over the others."""
    rows = []
    for size in range(2, len(shape) + 1):
        for chosen in itertools.combinations(range(len(shape)), size):
            parts = [contrasts(each) if axis in chosen else np.ones((1, each)) for axis, each in enumerate(shape)]
            rows.append(kron(parts))
    return np.vstack(rows)


def deviation(shares: Floats) -> tuple[Floats, Floats]:
    """How far a table is from the product of its margins, and the derivative of that by the shares."""
    own, shape = margins(shares), shares.shape
    slope = np.eye(shares.size)
    for axis in range(len(shape)):
        # The margin of this question is a sum over the others; the other margins stand as factors beside it.
        parts = [np.eye(n) if place == axis else np.outer(own[place], np.ones(n)) for place, n in enumerate(shape)]
        slope = slope - kron(parts)
    return (shares - product(own)).ravel(), slope


def independence_test(shares: Floats, covariance: Callable[[Floats], Floats], n: int, method: str = "wald") -> TestOutcome:
    """Whether the questions of a table are independent; `covariance` is that of the shares, were the true ones these.

    "wald": the squared distance from independence, in units of the covariance that it has if the hypothesis is true.
    "rao-scott": Pearson's statistic of the estimated shares, with its mean and variance corrected (Rao, Scott 1984).
    """
    if method not in ("wald", "rao-scott"):
        raise InvalidParameter('The method of a test is "wald" or "rao-scott".')
    expected = product([_cleaned(own, n) for own in margins(shares)])
    distance, slope = deviation(shares)
    spread = slope @ covariance(expected) @ slope.T
    rows = departures(shares.shape)
    degrees = len(rows)
    divided = 1 / product([np.maximum(own, RAREST) for own in margins(expected)]).ravel()
    inside = rows @ spread @ rows.T
    if method == "wald":
        statistic = float((rows @ distance) @ np.linalg.solve(inside, rows @ distance))
        p_value = chi_square_tail(statistic, degrees)
    else:
        pearson = float(distance**2 @ divided)
        weights = np.linalg.eigvals(spread * divided[None, :]).real
        mean, square = float(weights.sum()), float((weights**2).sum())
        degrees_used = mean * mean / square
        statistic = pearson * mean / square
        return TestOutcome(
            "Independence", statistic, degrees_used, chi_square_tail(statistic, degrees_used),
            _cramer(distance, divided, spread, shares.shape), "Cramer's V", n,
        )  # fmt: skip
    return TestOutcome(
        "Independence", statistic, degrees, p_value, _cramer(distance, divided, spread, shares.shape), "Cramer's V", n
    )


def _cramer(distance: Floats, divided: Floats, spread: Floats, shape: tuple[int, ...]) -> float:
    """Cramer's V; what noise adds to the squares on average is taken off. Of three questions, by their total association."""
    raw = float(distance**2 @ divided) - float(np.diag(spread) @ divided)
    most = min(shape) - 1 if len(shape) == 2 else sum(sorted(shape)[:-1]) - len(shape) + 1
    return float(np.sqrt(min(1.0, max(0.0, raw / most))))


def _cleaned(shares: Floats, n: int) -> Floats:
    return norm_sub(Estimate(range(len(shares)), shares, None, n)).values
