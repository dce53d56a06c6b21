"""The privacy profile, delta for every odds, of a mechanism whose loss has no law in closed form; and of several in a row.

For a pair of laws P and Q, delta(x) = sum of max(0, P - x Q) is convex in the odds x. Two laws whose delta lies above that
of others everywhere stay above them in whatever is composed, even if each step is chosen after the last (Zhu, Dong, Wang
2022).

**From above.** Bounds of delta at some odds x_i are the corners of a function; the largest convex one that is nowhere above
them is not below delta, since a convex function is not above its chords. It is the delta of the law that has the odds x_i
with probability x_i times the change of the slope there. All of this is computed in fractions.

**From below.** Tests T_i, with at least P(T_i) and at most Q(T_i), are corners below the curve of all tests; what lies under
their concave hull is attained. Its edges are outcomes, and the logarithm of their odds is rounded down.

Losses of independent steps add. Odds e^(i step) lie on a lattice, so that the sum is a product of transforms.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.privacy.transform import OUTSIDE, TINY, Part, TiltedSum

CLOSE = 1e-4  # to a part of so many an epsilon is found
Corner = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class LossLattice:
    """The law of a loss in steps of a lattice, under the first answer, and the probability of reports without any odds."""

    step: float
    places: Ints
    chances: Floats
    unbounded: float = 0.0

    @classmethod
    def above(cls, bound: Callable[[float], float], step: float, stride: int, until: float) -> "LossLattice":
        """From upper bounds of delta at epsilon 0, stride, 2 stride, ... steps, up to where delta is at most `until`.

        The bound must hold in both directions: for P against Q and for Q against P.
        """
        epsilon, corners = 0.0, list[tuple[Fraction, Fraction]]()
        while not corners or corners[-1][1] > until:
            epsilon = len(corners) * stride * step
            corners.append((Fraction(math.exp(epsilon)), Fraction(min(1.0, bound(epsilon)))))
        mirrored = [(1 / x, 1 - 1 / x + delta / x) for x, delta in corners[:0:-1]]  # Q against P is P against Q at 1 / x
        found = [(Fraction(0), Fraction(1)), *mirrored, *corners]
        place = {x: (k - len(corners)) * stride for k, (x, _) in enumerate(found)}
        kept = lower_hull(found)
        slopes = [(d - c) / (b - a) for (a, c), (b, d) in pairwise(kept)] + [Fraction(0)]
        masses = [x * (after - before) for (x, _), before, after in zip(kept[1:], slopes, slopes[1:], strict=False)]
        places = np.array([place[x] for x, _ in kept[1:]], dtype=np.int64)
        return cls(step, places, np.array([float(mass) for mass in masses]) * (1 + TINY), _up(kept[-1][1]))

    @classmethod
    def below(cls, tests: Sequence[tuple[float, float]], step: float) -> "LossLattice":
        """From tests, each with a lower bound of P and an upper bound of Q."""
        corners = {(Fraction(q), -Fraction(p)) for p, q in tests if q <= 1}
        kept = lower_hull(sorted({(Fraction(0), Fraction(0)), (Fraction(1), Fraction(-1)), *corners}))
        found: dict[int, float] = {}
        for (a, b), (c, d) in pairwise(kept):
            first, second = b - d, c - a
            if first > 0:
                logs = math.log(first), math.log(second)
                at = math.floor((logs[0] - logs[1] - TINY * (1 + abs(logs[0]) + abs(logs[1]))) / step)
                found[at] = found.get(at, 0.0) + float(first)
        places = np.array(sorted(found), dtype=np.int64)
        return cls(step, places, np.array([found[at] for at in sorted(found)]) * (1 - TINY))


def lower_hull(corners: Sequence[Corner]) -> list[Corner]:
    """The corners, from left to right, of the largest convex function that is nowhere above these."""
    kept: list[Corner] = []
    for x, y in corners:
        if kept and kept[-1][0] == x:
            if kept[-1][1] <= y:
                continue
            kept.pop()
        while len(kept) > 1:
            (a, b), (c, d) = kept[-2:]
            if (d - b) * (x - a) < (y - b) * (c - a):
                break
            kept.pop()
        kept.append((x, y))
    return kept


@dataclass(frozen=True)
class Steps:
    """Losses of several steps, all on one lattice, each so many times."""

    parts: Sequence[tuple[LossLattice, int]]

    def delta(self, epsilon: float, up: bool) -> float:
        """The probability by which what is seen exceeds e^epsilon times what else it would be: a bound from either side."""
        step = self.parts[0][0].step
        terms = sum(times for _, times in self.parts)
        widest = max(float(np.abs(law.places).max(initial=0)) for law, _ in self.parts) * step
        epsilon += terms * TINY * (1 + widest) * (-1 if up else 1)  # a place is the logarithm of its odds but for this
        total = TiltedSum([Part(law.places, law.chances, times) for law, times in self.parts], math.floor(epsilon / step))
        law, error = total.law()
        half = np.arange(1, len(law) // 2)
        over = (total.centre + half) * step - epsilon
        weights = -np.expm1(-np.maximum(over, 0.0)) * np.exp(-total.theta * half)
        slack = total.slack(len(law))
        if up:
            found = float((np.maximum(law[1 : len(law) // 2], 0.0) + error) @ weights) + OUTSIDE
            unbounded = sum(times * part.unbounded for part, times in self.parts)
            return min(1.0, found * _exp(total.log_scale) * (1 + slack) + unbounded)
        found = float(np.maximum(law[1 : len(law) // 2] - error, 0.0) @ weights)
        return max(0.0, found * _exp(total.log_scale) * (1 - slack))

    def epsilon(self, delta: float, most: float, up: bool) -> float:
        """The smallest epsilon up to `most` that holds with this delta, from above; from below, one that does not hold."""
        low, high, back = 0.0, most, most / 64
        while not low and back < most:  # from below, the answer is near
            if self.delta(most - back, up) > delta:
                low = most - back
            else:
                high, back = most - back, 4 * back
        for _ in range(60):
            if high - low <= CLOSE * high:
                break
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle, up) > delta else (low, middle)
        return high if up else low


def _exp(number: float) -> float:
    return math.exp(min(number, 700.0))


def _up(number: Fraction) -> float:
    return float(number) * (1 + TINY)
