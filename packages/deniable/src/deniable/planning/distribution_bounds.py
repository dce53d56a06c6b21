"""The error of a distribution that no channel can beat, whatever its reports: of all linear questions, and of fitted shares.

What a report says about d shares, all answers being equally common, is J = 1 1^T + the mean of z z^T, where 1 + z(x) is the
probability of a report under x divided by its mean: z sums to 0, and the odds bound the ratios of 1 + z. The sum of its
squares is convex, and so largest where k answers have the odds and the others do not. That bounds the trace of J
(`most_information`), and everything here follows from it alone (McKenna, Maity, Mazumdar, Miklau 2020, for questions).
"""

import math
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats
from deniable.mechanisms.algebra.information import most_information
from deniable.mechanisms.distributions.workload import Workload

UNBIASED = "any channel with an unbiased estimate"  # of what the bound of questions is
LARGEST = 1024  # answers for which bounds are worked out
STEPS = 30  # of the search for the best J
FULL, MORE_STEPS = 256, 60  # answers up to which J0 may be any matrix, and the steps of that search
NEAR = 0.75  # of the error with J0: what is proved should be at least so much
ROUNDING = 1e-9  # of the sums, relatively: many times what floats can be off
LEAST = 1e-12


def _odds(epsilon: float) -> Fraction:
    return Fraction(math.nextafter(math.exp(epsilon), math.inf))


def unproved(size: int) -> str:
    """Why there is no bound for so many answers."""
    if size > LARGEST:
        return f"the bound is worked out for at most {LARGEST:,} answers, and there are {size:,}"
    return "the search for a proof found nothing above 0"


def question_bound(workload: Workload, epsilon: float, n: int) -> float | None:
    """The standard error of linear questions, root mean square, that no channel with an unbiased estimate can beat.

    For n people whose answers are equally common; their drawing is no error of a report.

    >>> round(question_bound(Workload.prefixes(64), 1.0, 1), 3)
    3.006
    """
    if workload.size > LARGEST:
        return None
    even = np.eye(workload.size) / workload.size - 1 / workload.size**2
    least = workload.bound(_odds(epsilon)) * (1 - ROUNDING) - workload.mean_square(even) * (1 + ROUNDING)
    return math.sqrt(least / n) if least > 0 else None


def fitted_bound(known: Floats, epsilon: float, n: int) -> float | None:
    """The expected mean error of the distribution function that no channel and no estimate can beat.

    For shares that are normal around even ones, `known` being one over their covariance, and estimates that know it.

    Proof. The error at answer i is, but for a factor, f_i(J) = sqrt(c_i (n J + known)^-1 c_i), where c_i sums up to i. As
    1 / f_i^2 is concave in J, f_i is convex, and so is their mean F. So F(J) is at least F(J0) + <M, J0> - <M, J>, with -M
    the gradient at any J0, and <M, J> at most the largest eigenvalue of M times the trace of J. Here J is what is learnt
    beyond 1 1^T. None where the search for J0 does not come far enough to prove anything.

    >>> from deniable.mechanisms.distributions.fitting import differences
    >>> round(fitted_bound(1e3 * differences(16, 2, False) + np.eye(16), 1.0, 10_000), 5)
    0.0114
    """
    size = len(known)
    if size > LARGEST:
        return None
    trace = float(most_information(size, _odds(epsilon)))
    basis = np.linalg.eigh(np.eye(size) - 1 / size)[1][:, 1:]  # shares that sum to zero
    values, turn = np.linalg.eigh(basis.T @ known @ basis)
    basis = basis @ turn
    sums = np.cumsum(basis, axis=0)[:-1]  # the questions, a row each; the last has no error
    learnt = np.full(size - 1, trace / (size - 1))
    for step in range(STEPS + 1):
        # J0 has the eigenvectors of `known`, and so have its inverse and the inverse of the sum.
        inverse = 1 / (values + n * learnt)
        errors = np.sqrt((sums**2 * inverse).sum(axis=1))
        pulled = sums * inverse
        diagonal = n / (2 * size) * (pulled**2 / errors[:, None]).sum(axis=0)
        if step < STEPS:
            learnt = learnt * np.sqrt(np.maximum(diagonal, LEAST * diagonal.max()))
            learnt *= trace / learnt.sum()
    slope = n / (2 * size) * pulled.T @ (pulled / errors[:, None])
    least = float(errors.sum()) / size + float(learnt @ diagonal) - trace * float(np.linalg.eigvalsh(slope)[-1])
    if least < NEAR * float(errors.sum()) / size and size <= FULL:  # as on a circle, whose questions start somewhere
        least = max(least, _by_any(np.diag(values), sums, trace, n))
    return math.sqrt(2 / math.pi) * least * (1 - ROUNDING) if least > 0 else None


def _by_any(known: Floats, sums: Floats, trace: float, n: int) -> float:
    """What any J0 proves, but for the factor: each step multiplies it by the root of M, from both sides."""
    size, best = len(known) + 1, 0.0
    learnt = np.eye(size - 1) * trace / (size - 1)
    for _ in range(MORE_STEPS):
        pulled = sums @ np.linalg.inv(known + n * learnt)
        errors = np.sqrt((pulled * sums).sum(axis=1))
        slope = n / (2 * size) * pulled.T @ (pulled / errors[:, None])
        values, turn = np.linalg.eigh(slope)
        best = max(best, float(errors.sum()) / size + float((slope * learnt).sum()) - trace * float(values[-1]))
        own, axes = np.linalg.eigh(learnt)
        half = (axes * np.sqrt(np.maximum(own, LEAST * own[-1]))) @ axes.T
        learnt = half @ ((turn * np.sqrt(np.maximum(values, 0))) @ turn.T) @ half
        learnt *= trace / np.trace(learnt)
    return best
