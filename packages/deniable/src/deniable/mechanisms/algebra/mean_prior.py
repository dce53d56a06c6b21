"""The least expected variance of an unbiased number under a prior and a budget: a proof that nothing is below."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats
from deniable.errors import MissingExtra
from deniable.mechanisms.algebra.concave_sum import largest_sum
from deniable.mechanisms.algebra.mean_formulas import duchi_scale

BITS = 128  # binary digits after the point, of the numbers of a proof
FEW, MANY = 24, 1100  # the most groups of numbers: for the linear program, and for windows
LEAST_PROGRAM, MOST_PROGRAM = 0.02, 9.0  # the budgets for which there is a linear program,
MOST_EXACT = 15.0  # and up to which there is one whose groups are single points
LEAST_WINDOWS = 4.0  # from which on there are windows
FINE = 12  # groups in a length of e^(-epsilon / 3), at the most
ROUNDS = 60  # of either
SHARP = 1e-3  # how near the best of all reports the linear program should come
HALVINGS = 16  # of what a solution has to be lowered by
REPORTS = 801  # at which it is looked for more of them


@dataclass(frozen=True)
class PriorProof:
    """A proof that no unbiased law whose ratios are at most the odds has a smaller expected variance than `bound`.

    The prior gives the points x_j of the grid the shares p_j; the mean report at x_j is x_j, for each of them. Let the
    points be divided into groups. Whoever is in group i sends a report with the probabilities q_i(y), the mean of P(y | x_j)
    in the group weighted by p_j. This is a law with the same odds, its mean report z_i is the mean number of the group, and
    p_i E_i[y^2] is the sum of p_j E_j[y^2], where p_i is the share of the group. The ends of the interval may be groups of
    their own, even if nobody is there.

    Let g_i(y) = a_i + b_i y - m_i y^2 with 0 <= m_i <= p_i. If the sum of c_i g_i(y) is at most 0 for every report y and
    all factors c_i from 1 to odds, then so is the sum of q_i(y) g_i(y), as the q_i(y) of one report are such factors but for
    a scale. Summed over y, it is the sum of a_i + b_i z_i - m_i E_i[y^2]. So the sum of p_j E_j[y^2] is at least that of
    a_i + b_i z_i, and the expected variance is it less the sum of p_j x_j^2. (Points whose shares are rounded down only
    lower it.) All numbers here are whole multiples of 2^-BITS, of a, b and m; z and the squares are fractions.
    """

    odds: int
    z: tuple[Fraction, ...]
    a: tuple[int, ...]
    b: tuple[int, ...]
    m: tuple[int, ...]
    squares: Fraction  # the sum of p_j x_j^2

    @property
    def bound(self) -> Fraction:
        """The expected variance that cannot be beaten, if the proof holds."""
        total = sum((a + b * z for z, a, b in zip(self.z, self.a, self.b, strict=True)), Fraction(0))
        return total / (1 << BITS) - self.squares

    def holds(self) -> bool:
        """Whether the sum is at most 0 for every report, in whole numbers."""
        quadratics = list(zip(self.a, self.b, self.m, strict=True))
        unit = 1 << BITS
        return largest_sum(quadratics, unit, self.odds - unit) == 0

    def made_valid(self, by: Sequence[int]) -> "PriorProof | None":
        """With every a smaller by a share of these, as small a share as makes the proof hold; None if even all does not."""
        whole, low, high = 1 << HALVINGS, -1, 1 << HALVINGS
        found = self._lowered(by, whole)
        if not found.holds():
            return None
        while high - low > 1:
            middle = (low + high) // 2
            tried = self._lowered(by, middle)
            low, high, found = (low, middle, tried) if tried.holds() else (middle, high, found)
        return found

    def _lowered(self, by: Sequence[int], share: int) -> "PriorProof":
        return replace(self, a=tuple(a - (-(-each * share) >> HALVINGS) for a, each in zip(self.a, by, strict=True)))


@dataclass(frozen=True)
class Groups:
    """Numbers with their shares: z exactly, and the shares in multiples of 2^-BITS, rounded down."""

    z: tuple[Fraction, ...]
    m: tuple[int, ...]
    squares: Fraction

    @classmethod
    def of(cls, shares: Sequence[float], most: int, ends: bool) -> "Groups":
        """At most so many groups of neighbours, narrow where many people are, and the ends of the interval if wanted.

        Groups that hold equal parts of the sum of the cube roots of the shares have about the least spread within.
        """
        steps = len(shares) - 1
        whole = [math.floor(Fraction(share) * (1 << BITS)) for share in shares]
        there = np.flatnonzero(np.array(shares) >= 2.0**-BITS)
        roots = np.cbrt(np.array(shares)[there])
        parts = (np.cumsum(roots) - roots / 2) / roots.sum() * most if len(there) > most else np.arange(len(there))
        z, m = ([Fraction(-1), Fraction(1)], [0, 0]) if ends else ([], [])
        for part in np.split(there, np.flatnonzero(np.diff(parts.astype(np.int64))) + 1):
            mass = sum(whole[place] for place in part.tolist())
            z.append(Fraction(sum(whole[place] * (2 * place - steps) for place in part.tolist()), mass * steps))
            m.append(mass)
        squares = sum(each * (2 * place - steps) ** 2 for place, each in enumerate(whole))
        return cls(tuple(z), tuple(m), Fraction(squares, steps**2 << BITS))

    @property
    def exact(self) -> bool:
        """Whether every group is a single point."""
        return sum(m * z * z for z, m in zip(self.z, self.m, strict=True)) == self.squares * (1 << BITS)

    @property
    def numbers(self) -> Floats:
        return np.array([float(z) for z in self.z])

    @property
    def shares(self) -> Floats:
        return np.array([math.ldexp(m, -BITS) for m in self.m])

    def proof(self, odds: float, levels: Floats, slopes: Floats) -> PriorProof:
        """From a + b (y - z) - m (y - z)^2 of each group."""
        a, b = list[int](), list[int]()
        for z, m, level, slope in zip(self.z, self.m, levels.tolist(), slopes.tolist(), strict=True):
            top, tilt = (Fraction(number) * (1 << BITS) for number in (level, slope))
            a.append(math.floor(top - tilt * z - m * z * z))
            b.append(round(tilt + 2 * m * z))
        least = math.ceil(Fraction(math.nextafter(odds, math.inf)) * (1 << BITS))
        return PriorProof(least, self.z, tuple(a), tuple(b), self.m, self.squares)


def prior_variance(shares: Sequence[float], epsilon: float) -> Fraction:
    """The expected variance that no unbiased law on the points of the grid can beat, on [-1, 1]; 0 if none is proved.

    At the smallest budgets a closed form is near it. The two ends are reported with probabilities from m(y) to odds m(y),
    and so is any other number: 2 = sum y (P(y | 1) - P(y | -1)) <= (odds - 1) sum |y| m(y) <= (odds - 1) E|y|.
    """
    odds = Fraction(math.nextafter(math.exp(epsilon), math.inf))
    groups = Groups.of(shares, 1, ends=False)
    closed = (2 / (odds - 1)) ** 2 * Fraction(sum(groups.m), 1 << BITS) - groups.squares
    return max([closed, Fraction(0), *(found.bound for found in proofs(shares, epsilon))])


def proofs(shares: Sequence[float], epsilon: float) -> Iterator[PriorProof]:
    """What is proved about these shares at this epsilon: by a linear program, and by windows."""
    odds = math.exp(epsilon)
    groups = Groups.of(shares, min(FEW, 12 + round(2 * epsilon)), ends=True)
    if LEAST_PROGRAM <= epsilon <= (MOST_EXACT if groups.exact else MOST_PROGRAM):
        levels, slopes = _by_program(groups, odds)
        by = np.full(len(levels), max(levels.sum(), 0.0) / len(levels))
        found = groups.proof(odds, levels, slopes).made_valid(_whole(by))
        if found is not None:
            yield found
    groups = Groups.of(shares, min(MANY, math.ceil(FINE * odds ** (1 / 3))), ends=False)
    if epsilon >= LEAST_WINDOWS and len(groups.z) > 1:
        levels = _by_windows(groups, odds)
        found = groups.proof(odds, levels, np.zeros(len(levels))).made_valid(_whole(levels))
        if found is not None:
            yield found


def _whole(numbers: Floats) -> list[int]:
    return [math.ceil(Fraction(number) * (1 << BITS)) for number in numbers.tolist()]


def _by_windows(groups: Groups, odds: float) -> Floats:
    """The levels of a proof without slopes: each group counts within a window around it, whose level is found in rounds.

    At every report y the windows may add up to so much; a level follows the report in its window that is the fullest.
    """
    z, shares, width = groups.numbers, groups.shares, odds ** (-1 / 3)
    beyond = width * np.linspace(0.1, 2, 20)
    y = np.unique(np.concatenate([z, (z[1:] + z[:-1]) / 2, z[0] - beyond, z[-1] + beyond]))
    mean = float(shares @ z)
    allowed = (shares @ (z - mean) ** 2 + shares.sum() * (y - mean) ** 2) / (odds - 1)
    own = np.interp(z, y, allowed)
    room = np.diff(z, prepend=z[0] - width, append=z[-1] + width)
    apart = (room[1:] + room[:-1]) / 2
    levels: Floats = np.minimum(own, shares * (0.75 * apart * own / shares) ** (2 / 3))
    for _ in range(ROUNDS):
        reach = np.sqrt(levels / shares)
        first, last = np.searchsorted(y, z - reach), np.searchsorted(y, z + reach, "right")
        group = np.repeat(np.arange(len(z)), last - first)
        starts = np.cumsum(last - first) - (last - first)
        place = np.arange(len(group)) - starts[group] + first[group]
        adds = np.maximum(levels[group] - shares[group] * (y[place] - z[group]) ** 2, 0)
        full = np.bincount(place, adds, len(y)) / allowed
        levels = levels * np.maximum.reduceat(full[place], starts) ** (-2 / 3)
    return levels


def _by_program(groups: Groups, odds: float) -> tuple[Floats, Floats]:
    """The levels and slopes of a proof by the linear program.

    A column is a report y with a set of groups for which it is likelier. Those that the multipliers favour are added.
    """
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtra("The best law for a mean", "stats") from None
    z, shares = groups.numbers, groups.shares
    size, unit = len(z), odds ** (2 / 3)  # the costs are small where the odds are large
    y, factors = _first_columns(z, odds)
    fine = _fine_reports(odds)
    goals = np.append(np.ones(size), np.zeros(size))
    best: tuple[Floats, Floats, float] | None = None
    for _ in range(ROUNDS):
        scaled, far = factors / factors.sum(axis=1, keepdims=True), y[:, None] - z
        matrix = np.concatenate([scaled.T, (scaled * far).T])
        cost = unit * (scaled * shares * far**2).sum(axis=1)
        found = linprog(cost, A_eq=matrix, b_eq=goals, bounds=(0, None), method="highs")
        if not found.success:
            break
        levels, slopes = np.split(found.eqlin.marginals / unit, 2)
        away = fine[:, None] - z
        each = levels + slopes * away - shares * away**2
        likelier = np.where(each > 0, odds, 1.0)
        excess = (likelier * each).sum(axis=1) / likelier.sum(axis=1)
        above = max(float(excess.max()), 0.0)
        if best is None or levels.sum() - size * above > best[0].sum() - size * best[2]:
            best = levels, slopes, above
        if size * above <= SHARP * levels.sum():
            break
        peaks = (excess[1:-1] >= np.maximum(excess[:-2], excess[2:])) & (excess[1:-1] > 0)
        places = np.unique(np.append(np.flatnonzero(peaks) + 1, excess.argmax()))
        y, factors = np.append(y, fine[places]), np.concatenate([factors, likelier[places]])
    return best[:2] if best else (np.zeros(size), np.zeros(size))


def _first_columns(z: Floats, odds: float) -> tuple[Floats, Floats]:
    """Reports with which an unbiased law can be made, far out and split anywhere, and narrow ones around each number."""
    scale, width = duchi_scale(math.log(odds)), odds ** (-1 / 3)
    reports, likelier = list[float](), list[np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]()
    for report in (scale * np.linspace(0.1, 1.5, 15)).tolist():
        for split in z.tolist():
            reports += [report, -report]
            likelier += [z >= split, z <= split]
    for place in np.linspace(-1 - width, 1 + width, 81).tolist():
        for reach in (0.7, 1.2, 2.0):
            reports.append(place)
            likelier.append(np.abs(z - place) < reach * width)
    return np.array(reports), np.where(np.array(likelier), odds, 1.0)


def _fine_reports(odds: float) -> Floats:
    width, scale = odds ** (-1 / 3), 2 * duchi_scale(math.log(odds))
    return np.unique(np.append(np.linspace(-scale, scale, REPORTS), np.linspace(-1 - 2 * width, 1 + 2 * width, REPORTS)))
