"""The error of the mean of vectors that no mechanism with an unbiased estimate can beat: in a box, and of length one.

Proof. Vectors x are drawn at random, and a report is decoded as a vector Y whose mean is x. Let r(x) be the probability of
a report under x divided by its mean over x, so that the mean of r is 1 and ratios of r are at most the odds. Then
E[x . Y] = E|x|^2, and it is also the mean over reports of Y . E[r(x) x], which is at most |Y| g if no E[r(x) u . x] exceeds
g for a vector u of length one. So E|x|^2 <= g E|Y|, and E|Y|^2 >= (E|x|^2 / g)^2. Vectors for the worst x have no smaller
a mean square than for those that are drawn.

What is g? With S = u . x, E[r (S - g)] is largest where r is as large as it may be for S > g, and as small elsewhere: it is
at most 0 if odds E(S - g)^+ <= E(g - S)^+, that is, if (odds - 1) E(S - g)^+ <= g, since the mean of S is 0. So a number g
for which this holds proves a bound, and it is checked in whole numbers.
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from deniable.core import checked_epsilon
from deniable.domains.features import Features, UnitVectors
from deniable.errors import DeniableError
from deniable.planning.bounds import mean_bound
from deniable.planning.corner_table import BOUNDS, PLACES

FEW = 8  # dimensions, in which a bound of one coordinate may be the larger one
POWERS = 24  # moments that are tried
FEW_BITS, MANY_BITS = 96, 256  # binary digits after the point, in the search for g and in the check
MARGINS = (1e-12, 1e-9, 1e-6, 1e-3)  # by which g may be above what was found
ROUNDS = 48  # of the search for it


def box_bound(domain: Features, epsilon: float, n: int) -> float | None:
    """The root mean square error of a coordinate, for the worst vectors, that no mechanism with this epsilon can beat.

    It holds for every law and report that is decoded without bias, for vectors with any coordinates of the range. The
    vectors of the proof are drawn from the corners of the box; their second moments are d / g^2 for a coordinate, of which
    1 is their own. With odds up to 3 they are met by one coordinate, reported by its sign; up to epsilon 4, words of a few
    signs come within 1 % of g. None where nothing is proved.

    >>> round((box_bound(Features(100, -1, 1), 1.0, 1) or 0) ** 2 + 1, 3)
    468.269
    """
    budget, half = checked_epsilon(epsilon), (domain.high - domain.low) / 2
    proved = half * math.sqrt(max(domain.dimensions / float(corner_gain(domain.dimensions, budget)) ** 2 - 1, 0) / n)
    if domain.dimensions <= FEW:
        with suppress(DeniableError):  # no SciPy
            proved = max(proved, mean_bound(domain.coordinate, budget, n))  # each coordinate is a number
    return proved or None


def unit_bound(domain: UnitVectors, epsilon: float, n: int) -> float:
    """The root mean square error of a coordinate of a vector of length one, at worst, that no mechanism can beat.

    It holds for every law and report that is decoded without bias. PrivUnit with the best cap meets it, in exact arithmetic
    (Asi, Feldman, Talwar 2022).

    >>> round(unit_bound(UnitVectors(64), 4.0, 1) ** 2 * 64, 2)
    27.15
    """
    budget, d = checked_epsilon(epsilon), domain.dimensions
    return math.sqrt((1 / float(direction_gain(d, budget)) ** 2 - 1) / (d * n))


@lru_cache(maxsize=256)
def corner_gain(dimensions: int, epsilon: float) -> Fraction:
    """g for the corners of a box [-1, 1]^d.

    If g is at most 1/2, (s - g)^+ + (-s - g)^+ <= s^2 / 2 + 1/2 - g, so that E(S - g)^+ <= (1 - g) / 2, as E S^2 = 1. Else
    `corner_table` has bounds of E(S - g)^+ for all vectors u of d coordinates. They lead to a g that is less than 1 % above
    what `SignWord` reaches up to epsilon 4. For vectors and budgets that are not in the table,
    (s - g)^+ + (-s - g)^+ <= 2 c s^(2k) with c = (2k - 1)^(2k-1) / (2 (2k)^(2k) g^(2k-1)), which touches it at one place,
    and E S^(2k) is at most that of a normal number, (2k - 1)!! (Khinchine).

    >>> float(corner_gain(64, 1.0)) - math.tanh(0.5) < 1e-8, round(float(corner_gain(10_000, 4.0)), 3)
    (True, 1.706)
    """
    odds = Fraction(math.nextafter(math.exp(epsilon), math.inf))
    return (odds - 1) / (odds + 1) if odds <= 3 else min((*_by_table(dimensions, odds), *_by_powers(odds)))


def _by_table(dimensions: int, odds: Fraction) -> Iterator[Fraction]:
    """Where (odds - 1) E(S - g)^+, by the chords of the table, is g; nothing beyond its ends."""
    known = next((BOUNDS[most] for most in sorted(BOUNDS) if most >= dimensions), ())
    for (left, high), (right, low) in pairwise(zip(PLACES, map(Fraction, known), strict=False)):
        if (odds - 1) * high > left and (odds - 1) * low <= right:
            slope = (low - high) / (right - left)
            yield (odds - 1) * (high - slope * left) / (1 - (odds - 1) * slope)


def _by_powers(odds: Fraction) -> Iterator[Fraction]:
    moment = 1
    for k in range(1, POWERS + 1):
        moment *= 2 * k - 1
        least = (odds - 1) * moment * Fraction((2 * k - 1) ** (2 * k - 1), 2 * (2 * k) ** (2 * k))  # of g^(2k)
        g = Fraction(float(least) ** (1 / (2 * k)) * (1 + 1e-12))
        if g ** (2 * k) >= least:
            yield g


@lru_cache(maxsize=256)
def direction_gain(dimensions: int, epsilon: float) -> Fraction:
    """g for vectors of length one in so many dimensions: S is the first coordinate of a direction that is drawn uniformly.

    >>> round(float(direction_gain(2, 1.0)), 4), round(float(direction_gain(3, 1.0)), 4)
    (0.3083, 0.2449)
    """
    odds = Fraction(math.nextafter(math.exp(epsilon), math.inf))
    low, high = 0.0, 1.0  # 1 always holds
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if _is_gain(middle, dimensions, odds, FEW_BITS) else (middle, high)
    for margin in MARGINS:  # the search had few digits
        g = min(high * (1 + margin), 1.0)
        if _is_gain(g, dimensions, odds, MANY_BITS):
            return Fraction(g)
    return Fraction(1)


def _is_gain(g: float, dimensions: int, odds: Fraction, bits: int) -> bool:
    """Whether (odds - 1) E(S - g)^+ <= g for certain. The density of S is that of (1 - s^2)^((d - 3) / 2)."""
    fixed = _Fixed(bits)
    place = fixed.of(g)
    # The integral of s (1 - s^2)^((d - 3) / 2) from g to 1, less g times that of the density.
    ahead = fixed.power(place, dimensions - 1)[1] // (dimensions - 1) + 1
    excess = (ahead << bits) - place * fixed.tail(place, dimensions)[0]
    return (odds - 1) * excess <= place * 2 * fixed.tail(0, dimensions)[0]


Bounds = tuple[int, int]  # at least the first, at most the second


@dataclass(frozen=True)
class _Fixed:
    """Whole multiples of 2^-bits, with bounds on both sides of what lies between them."""

    bits: int

    @property
    def one(self) -> int:
        return 1 << self.bits

    def of(self, number: float) -> int:
        return int(Fraction(number) * self.one)

    def beside(self, g: int) -> Bounds:
        """1 - g^2."""
        square = (self.one * self.one - g * g) >> self.bits
        return square, square + 1

    def root(self, square: Bounds) -> Bounds:
        return math.isqrt(square[0] << self.bits), math.isqrt(square[1] << self.bits) + 1

    def times(self, a: Bounds, b: Bounds) -> Bounds:
        """The product of two numbers that are not negative."""
        return (a[0] * b[0]) >> self.bits, ((a[1] * b[1]) >> self.bits) + 1

    def power(self, g: int, halves: int) -> Bounds:
        """(1 - g^2)^(halves / 2)."""
        base = self.beside(g)
        found = self.root(base) if halves % 2 else (self.one, self.one)
        halves //= 2
        while halves:
            found = self.times(found, base) if halves % 2 else found
            base, halves = self.times(base, base), halves // 2
        return found

    def tail(self, g: int, dimensions: int) -> Bounds:
        """The integral of (1 - s^2)^((d - 3) / 2) from g to 1, by parts, two dimensions at a time."""
        odd, square = dimensions % 2, self.beside(g)
        low, high = (self.one - g, self.one - g) if odd else self.arc_cosine(g)
        part = (self.one, self.one) if odd else self.root(square)
        for d in range(5 if odd else 4, dimensions + 1, 2):  # (d - 2) J_d = (d - 3) J_(d-2) - g (1 - g^2)^((d - 3) / 2)
            part = self.times(part, square) if d > 4 else part
            least, most = self.times((g, g), part)
            low, high = ((d - 3) * low - most) // (d - 2), ((d - 3) * high - least) // (d - 2) + 1
        return low, high

    def arc_cosine(self, g: int) -> Bounds:
        """The angle whose cosine is g: pi / 2, three times the arc sine of 1/2, less the arc sine of g."""
        quarter = self.arc_sine(self.one // 2)
        if 2 * g * g > self.one * self.one:  # the arc sine of the other side, whose series converges
            low, high = self.root(self.beside(g))
            return self.arc_sine(low)[0], self.arc_sine(high)[1]
        low, high = self.arc_sine(g)
        return 3 * quarter[0] - high, 3 * quarter[1] - low

    def arc_sine(self, g: int) -> Bounds:
        total, term, place, square = 0, g, 0, g * g >> self.bits
        while term > 1:
            total += term // (2 * place + 1)
            place += 1
            term = (term * square >> self.bits) * (2 * place - 1) // (2 * place)
        # Each term was rounded down by less than 4 units in all, as were those left out together.
        return total, total + 8 * place + 8
