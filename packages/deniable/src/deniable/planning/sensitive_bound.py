"""The error of shares that no mechanism can beat where only some of the answers are sensitive.

There are s sensitive and m other answers, of which the others have the share theta in all, spread evenly on either side. A
report that discloses nothing is at most `odds` times as likely under one answer as under another; any other report comes
from a single answer that is not sensitive (Murakami, Kawamoto 2019).

Proof. Let p_y be the column of the probabilities of report y under each answer, and pi the shares. An unbiased estimate
from one report has variances that sum to at least tr(J^-1) - sum pi^2, where J = sum_y p_y p_y^T / (p_y . pi) (Cramer and
Rao, on shares that sum to one); of these, 1 - sum pi^2 is the sampling of people. So reports add noise of at least tr(J^-1)
- 1. For every symmetric matrix B, tr(J^-1) >= 2 tr(B) - tr(B J B), and tr(B J B) is a sum over the reports of |B p_y|^2 /
(p_y . pi). If that is at most lambda S / s + mu T / m, S and T being the sums of p_y over the sensitive and the other
answers, the whole is at most lambda + mu, because all the S sum to s and all the T to m. Both sides scale with p_y and the
left one is convex, so the extreme reports decide: a sensitive and b other answers have the odds and the rest do not, for
any a and b, or a single answer that is not sensitive. B is found from the best mixture of two subset selections, and the
inequalities are checked for all extreme reports in whole numbers. The limit was studied by arXiv
2509.24173 (uBD); the proof and the check here are our own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from deniable.core import checked_epsilon

Counts = np.ndarray[tuple[int], np.dtype[np.object_]]  # whole numbers without a limit

MOST = 20_000  # sensitive or other answers, whichever are fewer
FEW = 2000  # sensitive answers for which all sizes of subset selection are tried
CLOSE = 1e-9
ROUNDS = 40  # of the search for the best mixture
LEAST = 1e-6  # of the first of two sizes


def sensitive_share_bound(sensitive: int, others: int, epsilon: float, n: int, open_share: float) -> float | None:
    """The error of a share, root mean square over all answers, that no mechanism with this epsilon can beat.

    None where nobody is expected to have an answer that is not sensitive, where there are too many answers to check, and
    where the numbers are too far apart for the search, so that nothing was proved.

    >>> round(sensitive_share_bound(25, 75, 1.0, 100, 0.75), 6)
    0.080199
    """
    if open_share <= 0 or others < 1 or min(sensitive, others) > MOST:
        return None
    noise = _least_noise(sensitive, others, checked_epsilon(epsilon), float(open_share))
    return math.sqrt(noise / (n * (sensitive + others))) if noise > 0 else None


@dataclass(frozen=True)
class _Symmetric:
    """A matrix that no exchange of answers on one side changes.

    It is alpha I + beta 1 1^T on the sensitive answers, delta I + eta 1 1^T on the others, and gamma 1 1^T between them.
    """

    alpha: Fraction
    beta: Fraction
    gamma: Fraction
    delta: Fraction
    eta: Fraction


@dataclass(frozen=True)
class _Setting:
    """How many answers are sensitive and how many are not, the odds, and the share of people with one of the latter."""

    s: int
    m: int
    odds: Fraction
    open_share: Fraction

    def inverse(self, mass: dict[int, float]) -> _Symmetric:
        """The inverse of J where subset selection of each size makes this part of the sensitive answers' reports."""
        s, m, odds, theta = self.s, self.m, float(self.odds), float(self.open_share)
        diagonal = beside = across = both = hidden = 0.0
        for size, part in mass.items():
            total, squares = size * odds + s - size, size * odds**2 + s - size
            often = part * s / total
            scale = often / ((1 - theta) * total / s + theta)
            diagonal += scale * squares / s
            beside += scale * (total**2 - squares) / (s * max(s - 1, 1))
            across += scale * total / s
            both += scale
            hidden += often
        disclosed = (1 - hidden) * m / theta
        # On vectors that are constant on each side, J is a matrix of two rows.
        first, second, mixed = diagonal + (s - 1) * beside, m * both + disclosed, math.sqrt(s * m) * across
        determinant = first * second - mixed**2
        alpha, delta = 1 / (diagonal - beside) if s > 1 else second / determinant, 1 / disclosed
        gamma = -mixed / determinant / math.sqrt(s * m)
        entries = alpha, (second / determinant - alpha) / s, gamma, delta, (first / determinant - delta) / m
        return _Symmetric(*map(Fraction, entries))

    def trace(self, b: _Symmetric) -> Fraction:
        return self.s * (b.alpha + b.beta) + self.m * (b.delta + b.eta)

    def noise(self, mass: dict[int, float]) -> float:
        """What such a mixture adds."""
        return float(self.trace(self.inverse(mass))) - 1

    def proved(self, b: _Symmetric) -> Fraction:
        """The least noise, as far as this matrix proves it: lambda and mu are as small as the extreme reports allow."""
        s, m, theta = self.s, self.m, self.open_share
        whole = math.lcm(*(each.denominator for each in (b.alpha, b.beta, b.gamma, b.delta, b.eta)))
        alpha, beta, gamma, delta, eta = (int(whole * each) for each in (b.alpha, b.beta, b.gamma, b.delta, b.eta))
        # A single answer that is not sensitive: |B p|^2 / (theta / m) <= mu / m.
        mu = Fraction(delta**2 + 2 * delta * eta + m * eta**2 + s * gamma**2, whole**2) * m**2 / theta
        high, low = self.odds.numerator, self.odds.denominator
        t, u = theta.numerator, theta.denominator

        def terms(a: Counts, c: Counts) -> tuple[Counts, Counts]:
            """`above` and `beside`, whose quotient lambda / s must not be below: both are quadratic in a and in c."""
            own, other = a * high + (s - a) * low, c * high + (m - c) * low
            first, second = beta * own + gamma * other, gamma * own + eta * other
            length = alpha**2 * (a * high**2 + (s - a) * low**2) + 2 * alpha * own * first + s * first**2
            length = length + delta**2 * (c * high**2 + (m - c) * low**2) + 2 * delta * other * second + m * second**2
            # length / whole^2 / (p . pi) <= lambda own / s + mu other / m, where p . pi is `likely` over u s m.
            likely = (u - t) * m * own + t * s * other
            above = length * (u * s * m**2 * mu.denominator) - whole**2 * mu.numerator * likely * other
            return above, whole**2 * m * mu.denominator * likely * own

        most = _largest(terms if s <= m else lambda a, c: terms(c, a), min(s, m), max(s, m))
        return 2 * self.trace(b) - s * most - mu - 1


def _largest(terms: Callable[[Counts, Counts], tuple[Counts, Counts]], few: int, many: int) -> Fraction:
    """At least the largest quotient of two quadratic terms of a and c, whole numbers up to `few` and up to `many`.

    A number q is as large as all quotients if the first term less q times the second is never above 0. For every a that is
    quadratic in c: largest at an end, or next to its vertex. Where it is above 0, the quotient there is the next q.
    """
    a = np.arange(few + 1).astype(object)
    starts = [terms(a, a * 0), terms(a, a * 0 + many)]
    while True:
        ratio = max(float((above / beside).max()) for above, beside in starts)  # of whole numbers, correctly rounded
        most = Fraction(math.nextafter(ratio, math.inf))

        def left(c: Counts, most: Fraction = most) -> Counts:
            above, beside = terms(a, c)
            return above * most.denominator - beside * most.numerator

        first, second, third = (left(a * 0 + place) for place in range(3))
        bend, slope = third - 2 * second + first, second - first
        # g(c) = first + slope c + bend c (c - 1) / 2 has its vertex at 1/2 - slope / bend.
        vertex = (bend - 2 * slope) // (2 * bend + (bend == 0))
        beside = [np.minimum(np.maximum(vertex + more, 0), many) for more in (0, 1)]
        tried = [terms(a, c) for c in beside]
        if not any((left(c) > 0).any() for c in (a * 0, a * 0 + many, *beside)):
            return most
        starts = [*starts, *tried]


@lru_cache(maxsize=256)
def _least_noise(s: int, m: int, epsilon: float, open_share: float) -> Fraction:
    """The sum of the variances that the randomness of one report adds, at least."""
    setting = _Setting(s, m, Fraction(math.nextafter(math.exp(epsilon), math.inf)), Fraction(open_share))
    best = _best_size(setting)
    sizes = sorted({max(best - 1, 1), best, min(best + 1, s)})
    found = setting.proved(setting.inverse({best: 1.0}))
    if float(found) < setting.noise({best: 1.0}) * (1 - CLOSE):  # a mixture of sizes has less noise, and proves more
        mixed = (setting.proved(setting.inverse(_mixture(setting, pair))) for pair in pairwise(sizes))
        found = max((found, *mixed))
    return found


def _best_size(setting: _Setting) -> int:
    """The size with the least noise, among all of them or, of many, among those next to the usual one."""
    sizes = range(1, max(setting.s, 2))
    if setting.s > FEW:
        usual = round(setting.s / (float(setting.odds) + 1))
        sizes = range(max(1, usual - FEW // 2), min(setting.s, usual + FEW // 2))
    return min(sizes, key=lambda size: setting.noise({size: 1.0}))


def _mixture(setting: _Setting, sizes: tuple[int, int]) -> dict[int, float]:
    """The best mixture of two sizes, in which the noise is a convex function of the part that the first has."""

    def mass(part: float) -> dict[int, float]:
        return dict(zip(sizes, (part, 1 - part), strict=True))

    low, high = LEAST, 1.0  # all sensitive answers at once, a size that alone would tell none apart, may be the second
    for _ in range(ROUNDS):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, right) if setting.noise(mass(left)) < setting.noise(mass(right)) else (left, high)
    return mass((low + high) / 2)
