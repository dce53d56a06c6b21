"""The shares that fit the reports best: a smooth curve and a few heaps, how smooth and how many as the reports say.

In the neighbourhood of a reference g of the expected reports, the logarithm of the likelihood is a quadratic form in the
shares f: - (f - f^)' L (f - f^) / 2 with L = n P G P', G = diag(1 / g). To it a penalty on the second differences of the
curve is added, as for cubic smoothing splines, times the factor with the largest marginal likelihood (Wahba 1985): the one
under which the reports are most probable if the curve itself was drawn with such a penalty. Heaps are answers that have more
people than the curve can explain, by `CLEAR` standard errors; they are found one after the other, the clearest first, and
have shares of their own. At the end the shares are those with the smallest penalized form that are not negative: a quadratic
program, solved by block principal pivoting (Portugal, Judice, Vicente 1994).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.kernels.ems import smoothed_em

ORDER = 2  # of the differences that are penalized
CLEAR = 3.4  # standard errors that a heap must have: with 256 answers one smooth distribution in 12 gets a false one
MOST_HEAPS = 64
FACTORS = 10.0 ** np.arange(-12.0, 4.0, 0.1)
REFERENCE_ROUNDS = 100


class Penalty(NamedTuple):
    """What a rough curve costs: a quadratic form in its shares, which is zero for combinations of `free` curves."""

    form: Floats
    free: int

    @classmethod
    def line(cls, size: int, circular: bool) -> "Penalty":
        """The integral of the square of the second derivative of the density, on an interval of length one."""
        return cls(differences(size, ORDER, circular) * float(size) ** (2 * ORDER + 1), 1 if circular else ORDER)


def fitted(
    matrix: Floats,
    counts: Ints,
    circular: bool = False,
    penalty: Penalty | None = None,
    clear: float = CLEAR,
) -> tuple[Floats, list[int]]:
    """The shares that fit counted reports of this channel, and which answers are heaps; a map has a penalty of its own."""
    size, n = len(matrix), float(counts.sum())
    seen = counts.astype(np.float64)
    reference, _ = smoothed_em(matrix, seen, size > 2 and penalty is None, circular, REFERENCE_ROUNDS, 0.0)
    weighted = matrix / (reference @ matrix)
    # The sum of the shares is known; ten times as many reports as there are say so.
    form, score = n * (weighted @ matrix.T) + 10 * n, weighted @ seen + 10 * n
    if size < 5:  # no room for a curve
        shares = nonnegative(form, score)
        return shares / shares.sum(), []
    penalty, heaps = Penalty.line(size, circular) if penalty is None else penalty, list[int]()
    for _ in range(2):  # the curve is smoother once the heaps have been taken out of it
        factor = _factor(*_without(form, score, heaps), penalty)
        found = _heaps(form, score, factor * penalty.form, clear)
        heaps, known = found, heaps
        if found == known:
            break
    own = form[:, heaps]
    joint = np.block([[form + factor * penalty.form, own], [own.T, form[np.ix_(heaps, heaps)]]])
    both = nonnegative(joint, np.concatenate([score, score[heaps]]))
    shares = both[:size]
    shares[heaps] += both[size:]
    return shares / shares.sum(), sorted(heaps)


def differences(size: int, order: int, circular: bool) -> Floats:
    """The matrix of the sum of squares of all differences of this order."""
    rows = np.eye(size)
    for _ in range(order):
        rows = np.roll(rows, -1, axis=0) - rows if circular else np.diff(rows, axis=0)
    return np.asarray(rows.T @ rows)


def _without(form: Floats, score: Floats, heaps: Sequence[int]) -> tuple[Floats, Floats]:
    """What is known about the curve if the shares of the heaps may be anything."""
    if not len(heaps):
        return form, score
    own = form[:, heaps]
    solved = _solved(form[np.ix_(heaps, heaps)], np.column_stack([own.T, score[heaps]]))
    return form - own @ solved[:, :-1], score - own @ solved[:, -1]


def _factor(form: Floats, score: Floats, penalty: Penalty) -> float:
    """The factor of the penalty with the largest marginal likelihood.

    In the basis in which the form is one and the penalty diagonal, with roughness r, the coefficients of what is not free
    are independent and normal with variance 1 + 1 / (factor r).
    """
    size = len(form)
    if penalty.free >= size:
        return 0.0
    scale = float(np.trace(form)) / size
    root = np.linalg.cholesky(form + 1e-9 * scale * np.eye(size))
    half = np.linalg.solve(root, penalty.form)
    roughness, basis = np.linalg.eigh(np.linalg.solve(root, half.T))
    part = (basis.T @ np.linalg.solve(root, score))[penalty.free :]
    rough = FACTORS[:, None] * np.maximum(roughness[penalty.free :], 1e-280)  # one over it is still a number
    criterion = (rough / (1 + rough)) @ part**2 + np.log1p(1 / rough).sum(axis=1)  # twice its negative logarithm
    return float(FACTORS[int(criterion.argmin())])


def _heaps(form: Floats, score: Floats, penalty: Floats, clear_by: float) -> list[int]:
    """Answers that have clearly more people than the curve, the clearest first."""
    smoother = _solved(form + penalty, np.column_stack([form, score]))
    rest = score - form @ smoother[:, -1]  # what the curve leaves of the score, and its covariance
    spread = form - form @ smoother[:, :-1]
    first, found = spread.diagonal().copy(), list[int]()
    while len(found) < min(MOST_HEAPS, len(form) // 3):
        own = spread.diagonal()
        open_ = own > 1e-3 * first
        clear = np.where(open_, rest / np.sqrt(np.where(open_, own, 1.0)), 0.0)
        best = int(clear.argmax())
        if clear[best] < clear_by:
            break
        found.append(best)
        column = spread[:, best] / spread[best, best]
        rest, spread = rest - column * rest[best], spread - np.outer(column, spread[best])
    return found


def _solved(form: Floats, right: Floats) -> Floats:
    """The solution of these equations; of several, as few reports with a small epsilon may leave, the shortest."""
    try:
        return np.asarray(np.linalg.solve(form, right), np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(form, right)[0], np.float64)


def nonnegative(form: Floats, score: Floats, max_rounds: int = 300) -> Floats:
    """The x with no negative entry that minimises x' form x / 2 - score' x.

    >>> nonnegative(np.eye(2), np.array([1.0, -1.0]))
    array([1., 0.])
    """
    size = len(score)
    free, fewest, patience = np.ones(size, np.bool_), size + 1, 3
    room = 1e-10 * float(np.abs(score).max())
    solution = np.zeros(size)
    for _ in range(max_rounds):
        solution, inside = np.zeros(size), np.flatnonzero(free)
        solution[inside] = _solved(form[np.ix_(inside, inside)], score[inside])
        wrong = np.where(free, solution < 0, form @ solution - score < -room)
        count = int(wrong.sum())
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, 3
        elif patience:
            patience -= 1
        else:  # one at a time, always the last: this cannot go round in a circle
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free = free ^ wrong
    return np.maximum(solution, 0)
