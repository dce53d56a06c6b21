"""The least worst-case variance of an unbiased number under a budget: a linear program, and a proof that nothing is below.

On [-1, 1], a law gives report y the probability P(y | x), unbiased: the mean of y is x. By symmetry only x >= 0 is solved
for, and P(y | -x) = P(-y | x).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.algebra.concave_sum import largest_sum
from deniable.mechanisms.algebra.mean_formulas import duchi_scale, suboptimal_end

DIGITS = 40  # binary digits of the multipliers of a proof
HALVINGS = 12  # of what every a may have to be lowered by
MANY = 100  # reports above which a linear program is given those only that it used before
SHARP = Fraction(1001, 1000)  # how near the linear program a proof should come


@dataclass(frozen=True)
class Program:
    """A solution: P(y | x) row by row for x >= 0, the largest variance, and the multipliers of the conditions and of it."""

    chances: Floats
    variance: float
    sums: Floats
    means: Floats
    worst: Floats


def least_variance(odds: float, x: Floats, y: Floats, rounded: bool) -> Program:
    """The unbiased law on these numbers and reports with the smallest largest variance; the odds bound its ratios.

    x rises from 0 to 1, and y is symmetric. With `rounded`, numbers halfway between two of x count too, which a coin rounds.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_array
    except ImportError:
        raise MissingExtra("The best law for a mean", "stats") from None
    inputs, outputs = len(x), len(y)
    many = inputs * outputs  # variables: p row by row, then the least of each pair of columns y and -y, then the variance
    j, k = np.divmod(np.arange(many), outputs)
    each, least, t = np.arange(many), many + np.minimum(k, outputs - 1 - k), many + (outputs + 1) // 2
    ones, rows = np.ones(many), np.arange(inputs)
    above = [(each, each, -ones), (each, least, ones), (many + each, each, ones), (many + each, least, -odds * ones)]
    above += [(2 * many + j, each, y[k] ** 2), (2 * many + rows, np.full(inputs, t), -np.ones(inputs))]
    limits = [np.zeros(2 * many), x**2]
    if rounded:
        lower, upper = each[j < inputs - 1], each[j > 0]
        start, between = 2 * many + inputs, rows[:-1]
        above += [(start + j[lower], lower, y[k[lower]] ** 2 / 2), (start + j[upper] - 1, upper, y[k[upper]] ** 2 / 2)]
        above.append((start + between, np.full(inputs - 1, t), -np.ones(inputs - 1)))
        limits.append(((x[:-1] + x[1:]) / 2) ** 2)
    entries = [np.concatenate(part) for part in zip(*above, strict=True)]
    cost = np.append(np.zeros(t), 1.0)
    found = linprog(
        cost,
        coo_array((entries[2], (entries[0], entries[1])), shape=(sum(map(len, limits)), t + 1)).tocsr(),
        np.concatenate(limits),
        coo_array((np.append(ones, y[k]), (np.append(j, inputs + j), np.tile(each, 2))), shape=(2 * inputs, t + 1)).tocsr(),
        np.append(np.ones(inputs), x),
        (0, None),
        method="highs-ds",
    )
    if not found.success:
        raise InvalidParameter("The linear program for the mean cannot be solved in floats at this epsilon.")
    worst = -found.ineqlin.marginals[2 * many : 2 * many + inputs]
    sums, means = np.split(found.eqlin.marginals, 2)
    return Program(found.x[:many].reshape(inputs, outputs), float(found.fun), sums, means, worst)


@dataclass(frozen=True)
class Multipliers:
    """A proof that no unbiased law whose ratios are at most the odds has a smaller largest variance than `bound`.

    For numbers x and whatever a_x, b_x and m_x >= 0 of sum 1, let g_x(y) = a_x + b_x y - m_x y^2. If the sum over x of
    c_x g_x(y) is at most 0 for every report y and all factors c_x from 1 to odds, then so is the sum of P(y | x) g_x(y),
    since the P(y | x) of one report are such factors but for a scale. Summed over y it is the sum over x of
    a_x + b_x x - m_x E[y^2], and E[y^2] = x^2 + variance at x. So the variances, weighted with m, are at least the sum of
    a_x + b_x x - m_x x^2, and the largest is. All numbers here are whole multiples of 2^-40. Only x >= 0 is given: a and m
    are even in x, b is odd.
    """

    odds: int
    x: tuple[Fraction, ...]
    a: tuple[int, ...]
    b: tuple[int, ...]
    m: tuple[int, ...]

    @property
    def bound(self) -> Fraction:
        """The variance that cannot be beaten, if the proof holds."""
        total = Fraction(0)
        for x, a, b, m in zip(self.x, self.a, self.b, self.m, strict=True):
            total += (2 if x else 1) * (a + b * x - m * x * x)
        return total / (1 << DIGITS)

    def made_valid(self) -> "Multipliers":
        """With every a smaller by just so much that the proof holds."""
        excess = self.excess()
        if excess is None:
            raise InvalidParameter("The bound of the mean cannot be proved at this epsilon.")
        # Lowering all a by excess / (their number) suffices; less may do, as factors are up to the odds.
        enough = -(-excess // (2 * len(self.x) - 1))
        found = [self._lowered(enough)]
        for halvings in range(1, HALVINGS):
            less = self._lowered(enough >> halvings)
            found.append(less._lowered(-(-(less.excess() or 0) // (2 * len(self.x) - 1))))
        return max(found, key=lambda each: each.bound)

    def _lowered(self, by: int) -> "Multipliers":
        return Multipliers(self.odds, self.x, tuple(a - by for a in self.a), self.b, self.m)

    def excess(self) -> int | None:
        """By how much the sum can exceed 0 at most, for all y, in whole numbers; None if b or m is not as it must be."""
        quadratics = [(a, side * b, m) for x, a, b, m in self._each() for side in ((1, -1) if x else (1,))]
        unit, more = 1 << DIGITS, self.odds - (1 << DIGITS)  # 1 and odds - 1
        odd = all(b == 0 for x, _, b, _ in self._each() if not x)
        if not odd or any(m < 0 for _, _, m in quadratics) or sum(m for _, _, m in quadratics) != unit:
            return None
        excess = largest_sum(quadratics, unit, more)
        return None if excess is None else -(-excess // unit)

    def _each(self) -> Sequence[tuple[Fraction, int, int, int]]:
        return list(zip(self.x, self.a, self.b, self.m, strict=True))


def proved(odds: float, steps: int, y: Floats, rounds: int = 5) -> Multipliers:
    """A proof for reports of any size, from the linear program on some of them; those it misses the most are added in turn.

    It is about the numbers -1, -1 + 1 / steps, ..., 1, and therefore about every law on a set that contains them.
    """
    unit = 1 << DIGITS
    least, best = math.ceil(math.nextafter(odds, math.inf) * unit), None
    x, mirrored = np.linspace(0, 1, steps + 1), np.append(1.0, np.full(steps, 2.0))
    for _ in range(rounds):
        program = least_variance(odds, x, y, rounded=False)
        weights = np.maximum(program.worst, 0) / mirrored
        a, b, m = program.sums / mirrored, program.means / mirrored, weights / (mirrored @ weights)
        b[0] = 0  # by symmetry, and since the larger of g and odds g is convex in g
        whole = [[math.floor(number * unit) for number in part.tolist()] for part in (a, b, m)]
        whole[2][0] += unit - whole[2][0] - 2 * sum(whole[2][1:])
        places = tuple(Fraction(place, steps) for place in range(steps + 1))
        found = Multipliers(least, places, *(tuple(part) for part in whole))
        found = found.made_valid()
        best = found if best is None else max(best, found, key=lambda each: each.bound)
        if program.variance < best.bound * SHARP:
            break
        y = _sharper(odds, (a, b, m), y if len(y) < MANY else y[program.chances.max(axis=0) > 0])
    assert best is not None
    return best


def _sharper(odds: float, multipliers: tuple[Floats, Floats, Floats], y: Floats) -> Floats:
    """These reports and those between them where the sum of a proof exceeds 0 the most."""
    a, b, m = multipliers
    fine: Floats = np.linspace(0, float(y.max()), 64 * len(y))[:, None]
    ahead, behind = a + b * fine - m * fine**2, a - b * fine - m * fine**2
    halves = np.where(np.arange(len(a)) > 0, 1.0, 0.5)  # x = 0 is its own mirror image
    total = sum((halves * (g + (odds - 1) * np.maximum(g, 0))).sum(axis=1) for g in (ahead, behind))
    peak = (total[1:-1] > np.maximum(total[:-2], total[2:])) & (total[1:-1] > 0)
    more = fine[1:-1, 0][peak]
    return np.unique(np.concatenate([y, more, -more]))


def reports(epsilon: float, size: int) -> Floats:
    """So many equally spaced reports, an odd number, from the smallest to the largest that any of the best laws uses."""
    return np.linspace(-1, 1, size) * max(duchi_scale(epsilon) + 1, suboptimal_end(epsilon))
