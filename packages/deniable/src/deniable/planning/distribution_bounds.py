"""The error of a distribution that no channel can beat, whatever its reports: of all linear questions, and of fitted shares.

What a report says about d shares, all answers being equally common, is J = 1 1^T + the mean of z z^T, where 1 + z(x) is the
probability of a report under x divided by its mean: z sums to 0, and the odds bound the ratios of 1 + z. The sum of its
squares is convex, and so largest where k answers have the odds and the others do not. That bounds the trace of J
(`most_information`), and everything here follows from it alone (McKenna, Maity, Mazumdar, Miklau 2020, for questions).
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats
from deniable.mechanisms.algebra.information import least_sum, most_information, most_of_one, most_variance, singular_values
from deniable.mechanisms.distributions.distribution_mechanism import MOST_POINTS
from deniable.mechanisms.distributions.workload import Workload

UNBIASED = "any channel with an unbiased estimate"  # of what the bound of questions is
LARGEST = MOST_POINTS  # answers for which bounds are worked out: all that plans accept
STEPS = 20  # of the search for the best J
NEAR = 0.995  # of the smallest error with any J0: where what is proved comes so far, the search ends
MOST_WAVES = 256
ROUNDING = 1e-9  # of the sums, relatively: many times what floats can be off
MORE_ROUNDING = 1e-6  # of fitted shares, whose precisions are far apart
LEAST = 1e-12
PARTS = 10  # steps from the expected shares to even ones, of which the best proves most
GROUPS = 128  # of answers, with which the best step is searched


def _odds(epsilon: float) -> Fraction:
    return Fraction(math.nextafter(math.exp(epsilon), math.inf))


def unproved(size: int) -> str:
    """Why there is no bound for so many answers."""
    if size > LARGEST:
        return f"the bound is worked out for at most {LARGEST:,} answers, and there are {size:,}"
    return "the search for a proof found nothing above 0"


def question_bound(workload: Workload, epsilon: float, n: int, shares: Floats | None = None) -> float | None:
    """The standard error of linear questions, root mean square, that no channel with an unbiased estimate can beat.

    For n people whose answers have these shares, or are equally common; their drawing is no error of a report.

    >>> round(question_bound(Workload.prefixes(64), 1.0, 1), 3)
    3.006
    >>> round(question_bound(Workload.prefixes(64), 1.0, 1, np.arange(64) / 2016), 3)
    2.94
    """
    if workload.size > LARGEST:
        return None
    if shares is not None:
        least = _expected_noise(workload, float(_odds(epsilon)), shares) / workload.questions
        return math.sqrt(least / n) if least > 0 else None
    even = np.eye(workload.size) / workload.size - 1 / workload.size**2
    least = workload.bound(_odds(epsilon)) * (1 - ROUNDING) - workload.mean_square(even) * (1 + ROUNDING)
    return math.sqrt(least / n) if least > 0 else None


def _expected_noise(workload: Workload, odds: float, shares: Floats) -> float:
    """The least sum of variances that a report adds to linear questions, for people with these shares f.

    Proof. Let W be the questions, p the column of the probabilities of a report under each answer, and J the sum of
    p p^T / (p . f) over all reports. Subtracting its answer under shares g from a question changes no noise, as shares sum
    to 1. So let W g = 0. The variances, of the best unbiased estimate, sum to tr(W J^-1 W^T), of which the drawing of people
    makes up the mean of |W e_x|^2 over answers x with shares f. With D = diag(g), r = p / (p . g) and z = r - 1, the mean of
    z^2 under g is at most T, `most_variance`. For every matrix Z,

        tr(W J^-1 W^T) >= 2 tr(W D^1/2 Z^T) - sum |Z D^1/2 p|^2 / (p . f), where |Z D^1/2 p|^2 <= |Z|^2 T (p . g)^2

    if Z D^1/2 1 = 0. Now let u = (p . f) / (p . g), which is from a to b for all columns that the odds allow. Then
    1 / u <= (a + b - u) / (a b), as (u - a) (b - u) >= 0. So (p . g)^2 / (p . f) is at most (a + b) / (a b) (p . g) less
    (p . f) / (a b), and sums to at most k = (a + b - 1) / (a b). With the best Z, a multiple of an isometry, the variances
    sum to at least S^2 / (k T), where S is the sum of the singular values of W D^1/2.

    Any g proves something: even shares do most for small budgets, and g = f does for large ones, where moreover no
    eigenvalue of what reports say is above `most_of_one` over d, whose proof holds for all shares.
    """
    even = np.full(workload.size, 1 / workload.size)
    steps: Sequence[int] = range(PARTS + 1)
    if workload.size > GROUPS:
        group = np.arange(workload.size) * GROUPS // workload.size
        member = (group == np.arange(GROUPS)[:, None]).astype(np.float64)
        merge, own, evenly = member / member.sum(axis=1, keepdims=True), member @ shares, member @ even
        few = Workload(merge @ workload.gram @ merge.T, questions=1)
        proved = [_proved(few, odds, own, _between(own, evenly, step)) for step in steps]
        steps = [int(np.argmax(proved))]
    return max(_proved(workload, odds, shares, _between(shares, even, step)) for step in steps)


def _between(shares: Floats, even: Floats, step: int) -> Floats:
    """The shares g of a step from the expected ones to even ones."""
    return shares + step / PARTS * (even - shares)


def _proved(workload: Workload, odds: float, shares: Floats, other: Floats) -> float:
    """What the proof above yields with shares g; less than nothing where they are too far away."""
    low, high = _ratios(shares, other, odds)
    means = workload.gram @ other
    centred = workload.gram - means - means[:, None] + other @ means  # questions less their answers under these shares
    root, drawn = np.sqrt(other), float(shares @ centred.diagonal())
    values, room = singular_values(root * centred * root[:, None]), most_variance(other, odds)
    total = float(values.sum()) ** 2 / room * (low * high) / (low + high - 1)
    if np.array_equal(shares, other):
        total = max(total, least_sum(values, room, float(most_of_one(1, Fraction(odds)))))
    return total * (1 - ROUNDING) - drawn * (1 + ROUNDING)


def _ratios(shares: Floats, other: Floats, odds: float) -> tuple[float, float]:
    """The least and the largest (p . f) / (p . g) of columns p within the odds: some answers have them, by f over g."""
    order = np.argsort(shares / np.maximum(other, np.finfo(np.float64).tiny))
    ends = []
    for way in (order, order[::-1]):
        above = [1 + (odds - 1) * np.concatenate([[0.0], np.cumsum(each[way])]) for each in (shares, other)]
        ends.append(above[0] / above[1])
    return min(1.0, float(ends[0].min())), max(1.0, float(ends[1].max()))


def fitted_bound(known: Floats, epsilon: float, n: int, circular: bool = False) -> float | None:
    """The expected mean error of the distribution function that no channel and no estimate can beat.

    For shares that are normal around even ones, `known` being one over their covariance, and estimates that know it.

    Proof. The error at answer i is, but for a factor, f_i(J) = sqrt(c_i (n J + known)^-1 c_i), where c_i sums up to i. As
    1 / f_i^2 is concave in J, f_i is convex, and so is their mean F. So F(J) is at least F(J0) + <M, J0> - <M, J>, with -M
    the gradient at any J0, and <M, J> at most the largest eigenvalue of M times the trace of J. Here J is what is learnt
    beyond 1 1^T. Steps from one J0 to the next multiply it by the root of M, from both sides. None where they do not come
    far enough to prove anything.

    With many answers, only shares that are a sum of long waves count. For every A and every U with orthonormal columns,
    c A^-1 c is the largest 2 c x - x A x, and so at least that over x = U w, which is (c U) (U^T A U)^-1 (U^T c). And the
    trace of U^T J U is at most that of J. What is lost are short waves, which sums hardly see.

    >>> from deniable.mechanisms.distributions.fitting import differences
    >>> round(fitted_bound(1e3 * differences(16, 2, False) + np.eye(16), 1.0, 10_000), 5)
    0.01242
    """
    size = len(known)
    if size > LARGEST:
        return None
    trace, waves = float(most_information(size, _odds(epsilon))), _waves(size, circular)
    before, sums = waves.T @ known @ waves, np.cumsum(waves, axis=0)[:-1]  # the questions; the last has no error
    learnt = np.eye(len(before)) * trace / len(before)
    best, least = 0.0, math.inf
    for _ in range(STEPS):
        pulled = sums @ np.linalg.inv(before + n * learnt)
        errors = np.sqrt((pulled * sums).sum(axis=1))
        slope = n / (2 * size) * pulled.T @ (pulled / errors[:, None])
        values, turn = np.linalg.eigh(slope)
        least = min(least, float(errors.sum()) / size)
        best = max(best, float(errors.sum()) / size + float((slope * learnt).sum()) - trace * float(values[-1]))
        if best > NEAR * least:
            break
        own, axes = np.linalg.eigh(learnt)
        half = (axes * np.sqrt(np.maximum(own, LEAST * own[-1]))) @ axes.T
        learnt = half @ ((turn * np.sqrt(np.maximum(values, 0))) @ turn.T) @ half
        learnt *= trace / np.trace(learnt)
    return math.sqrt(2 / math.pi) * best * (1 - MORE_ROUNDING) if best > 0 else None


def _waves(size: int, circular: bool) -> Floats:
    """Shares that sum to zero, a column each, orthonormal: of many answers the longest waves only."""
    if circular and size > MOST_WAVES:
        angles = 2 * np.pi / size * np.arange(size)[:, None] * np.arange(1, MOST_WAVES // 2 + 1)
        return np.asarray(math.sqrt(2 / size) * np.concatenate([np.cos(angles), np.sin(angles)], axis=1))
    angles = np.pi / size * (np.arange(size)[:, None] + 0.5) * np.arange(1, min(size, MOST_WAVES + 1))
    return np.asarray(math.sqrt(2 / size) * np.cos(angles))
