"""Errors that no mechanism can beat."""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from deniable.core import checked_epsilon
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.information import most_information

LEAST_EPSILON = 0.01  # of the linear program
LARGE_EPSILON = 4.5  # from which on the numbers of its proof are not on a grid: windows of reports become narrow


def share_bound(values: int, epsilon: float, n: int) -> float:
    """The error of a share, root mean square over all answers, that no mechanism with this epsilon can beat.

    It holds for every law, every report and every unbiased estimate, on average over populations of n people whose answers
    are drawn uniformly. Proof. Let r(x) be the probability of a report under answer x, divided by its mean over the d
    answers. At equal shares, the Fisher information of one answer about the shares has the trace E[sum_x (r(x) - 1)^2], so
    the variances sum to at least (d - 1)^2 / n over that trace (Cramer and Rao; the harmonic mean). Epsilon bounds the ratio
    of any two r(x) by odds, and the sum is convex: it is largest where k answers have the odds and the others do not, namely
    d k (d - k) (odds - 1)^2 / (d - k + k odds)^2. Of the sum, (1 - 1/d) / n is the sampling of people, which is no error
    of a report. Subset selection with the best k reaches it (Ye and Barg 2018).

    >>> round(share_bound(2, 1.0, 100), 6)
    0.095952
    """
    if values == 1:
        return 0.0
    odds = Fraction(math.nextafter(math.exp(checked_epsilon(epsilon)), math.inf))
    return math.sqrt(((values - 1) ** 2 / most_information(values, odds) - (1 - Fraction(1, values))) / (n * values))


def mean_bound(domain: Interval, epsilon: float, n: int) -> float:
    """The standard error of a mean, for the worst answers, that no mechanism with this epsilon can beat.

    It holds for every law and report whose expectation is the number, for answers that may be any numbers of the
    interval. The proof is a solution of the dual linear program, checked in whole numbers: on a grid (`Multipliers`), and
    from epsilon 4.5 on over all numbers (`DensityProof`). For the smallest budgets, two answers decide: reports of mean +-1
    at the ends, of which the one is at most `odds` times as likely as the other, have a mean square of at least
    ((odds + 1) / (odds - 1))^2.

    >>> 3.98 < mean_bound(Interval(-1, 1), 1.0, 1) ** 2 < 3.994
    True
    """
    return (domain.high - domain.low) / 2 * math.sqrt(_least_variance(checked_epsilon(epsilon)) / n)


@lru_cache(maxsize=64)
def _least_variance(epsilon: float) -> Fraction:
    """The variance of one report that cannot be beaten, on [-1, 1]."""
    if epsilon < LEAST_EPSILON:
        odds = Fraction(math.nextafter(math.exp(epsilon), math.inf))
        return ((odds + 1) / (odds - 1)) ** 2 - 1
    if epsilon >= LARGE_EPSILON:
        from deniable.mechanisms.algebra.density_program import density_proof  # which plans for shares need not load

        return density_proof(epsilon).bound
    from deniable.mechanisms.algebra.mean_program import proved, reports

    steps = 8 if epsilon <= 3 else 16
    return proved(math.exp(epsilon), steps, reports(epsilon, 10 * steps + 1)).bound


def prior_mean_bound(domain: Interval, epsilon: float, n: int, prior: ArrayLike) -> float | None:
    """The standard error of a mean, expected under a prior, that no mechanism with this epsilon can beat.

    The prior gives the points of the grid their shares. The bound holds for every law and report whose expectation is the
    number, at each point of the grid, and counts what a report adds to a number that is such a point: rounding to the grid
    is left out, as it is from the errors of a plan with a prior. The proof is a solution of the dual linear program, or of
    a part of it, checked in whole numbers (`PriorProof`). None where nothing above 0 is proved.

    >>> middle = [0.0, 0.0, 1.0, 0.0, 0.0]  # three outputs are best for it
    >>> 0.459 < (prior_mean_bound(Interval(-1, 1, 4), 2.0, 1, middle) or 0) ** 2 < 0.461
    True
    """
    shares = tuple(np.asarray(prior, np.float64).tolist())
    whole = abs(sum(shares) - 1) <= 1e-9  # or else the bound were that of more people, or of fewer
    if len(shares) != domain.size or not all(share >= 0 for share in shares) or not whole:
        raise InvalidParameter(
            f"A prior must be {domain.size} non-negative shares that sum to 1, one for each point of the grid."
        )
    variance = _least_expected(shares, checked_epsilon(epsilon))
    return (domain.high - domain.low) / 2 * math.sqrt(variance / n) or None


@lru_cache(maxsize=16)
def _least_expected(shares: tuple[float, ...], epsilon: float) -> Fraction:
    from deniable.mechanisms.algebra.mean_prior import prior_variance  # which plans for shares need not load

    return prior_variance(shares, epsilon)
