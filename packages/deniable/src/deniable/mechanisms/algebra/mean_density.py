"""The least worst-case variance of an unbiased number under a large budget: a proof over all numbers, not over a grid.

With a large budget the best reports stay within a narrow window around the number, about e^(-epsilon / 3) wide, and a
grid of numbers would have to be as fine. Inside [-1, 1] the dual solution is smooth, so it is given by a polynomial, and
by a few single numbers near either end, where reports come from one side only.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

POWERS = (0, 1, 2, 4, 8, 16)  # k of the terms x^(2k) of the density
BITS = 256  # binary digits after the point, in the check
ROOT_BITS = 40  # significant binary digits of a root
STRETCHES, DEPTH = 128, 8  # of the reports near the end, and how often one is halved
SPLITS = 4096  # of the interior, at most
MOST, PAD = 1000, 1 << 40  # the largest sum of the w, and what roundings add up to at most, in multiples of 2^-BITS

Single = tuple[Fraction, Fraction, Fraction, Fraction]  # a number x, and its a, b and m


@dataclass(frozen=True)
class DensityProof:
    """A proof that no unbiased law whose ratios are at most the odds has a smaller largest variance than `bound`.

    It is that of `Multipliers`, with integrals: if the sum over numbers x of c_x g_x(y) is at most 0 for every report y and
    all factors c_x from 1 to odds, then the sum over x of E[g_x(y)] is at most 0 as well. (Sums over finer and finer grids
    tend to these integrals, so nothing is assumed about how a law depends on x.) Here

        g_x(y) = f(x) (r - s x y - (x - y)^2)   with f(x) = sum_k w_k x^(2k) >= 0, for |x| <= cut,
        g_x(y) = a_x + b_x y - m_x y^2          for some single x near 1, and g_(-x)(y) = g_x(-y),

    where f and the m sum to 1. As E[y] = x and E[y^2] = x^2 + variance, the variances weighted by f and m are at least
    the sum of f(x) (r - s x^2) and of a_x + b_x x - m_x x^2.

    What must hold is F(y) = sum_x g_x(y) + (odds - 1) sum_x max(g_x(y), 0) <= 0, for y >= 0 by symmetry. For one y, the
    density is above 0 within R of t y, t = 1 - s / 2 and R^2 = r - (1 - t^2) y^2, and adds f(x) (R^2 - (x - t y)^2) there.

    - Up to `start` no single number adds anything. F is y^2 less than a constant, and the integral over a window that is
      not cut is R^3 times a polynomial in y^2 and R^2. So F <= 0 is a question about the sign of a polynomial in y^2. It is
      positive on a stretch if its Bernstein coefficients are; otherwise the stretch is halved.
    - From `start` to `end`, F is evaluated at the ends of short stretches. Each g_x is concave in y, so between two places
      h apart neither it nor its positive part exceeds the chord by more than its weight times h^2 / 4.
    - Beyond `end` nothing is above 0, and F falls.

    Where no single number adds anything, the second step is not needed if t y = cut at `start` or before. From there on a
    window holds numbers up to its middle only. As f rises and is convex, and R falls, it adds at most half of what the whole
    window adds at `start`, where F was at most 0.
    """

    odds: Fraction
    r: Fraction
    s: Fraction
    cut: Fraction
    w: tuple[Fraction, ...]
    single: tuple[Single, ...]
    start: Fraction
    end: Fraction

    @property
    def bound(self) -> Fraction:
        """The variance that cannot be beaten, if the proof holds."""
        single = sum(((a + b * x - m * x * x) for x, a, b, m in self.single), Fraction(0))
        return self.r * self._moment(0) - self.s * self._moment(1) + 2 * single

    def holds(self) -> bool:
        """Whether this is a proof."""
        return self._is_sound() and self._holds_inside() and self._holds_near_the_end()

    def _moment(self, k: int) -> Fraction:
        """The integral of x^(2k) f(x)."""
        pairs = zip(POWERS, self.w, strict=True)
        return 2 * sum((w * self.cut ** (2 * (power + k) + 1) / (2 * (power + k) + 1) for power, w in pairs), Fraction(0))

    @cached_property
    def _constant(self) -> Fraction:
        """The sum of all g_x(y), which is this less y^2."""
        return self.r * self._moment(0) - self._moment(1) + 2 * sum((a for _, a, _, _ in self.single), Fraction(0))

    def _is_sound(self) -> bool:
        """What the proof takes for granted: the weights, and where the single numbers add something."""
        weights = self._moment(0) + 2 * sum((m for *_, m in self.single), Fraction(0))
        inside = 0 < self.cut <= 1 and 0 < self.s < 2 and self.odds >= 1 and 0 <= self.start <= self.end
        spread = min(self.w) >= 0 and sum(self.w) <= MOST and weights == 1 and self._constant <= 0
        single = all(0 < x <= 1 and (m > 0 or (m == b == 0 >= a)) for x, a, b, m in self.single)
        return inside and spread and single and all(map(self._is_local, self._adding))

    @cached_property
    def _adding(self) -> list[Single]:
        """The single numbers that add something somewhere: those whose g is above 0 for some y."""
        return [each for each in self.single if each[2] ** 2 + 4 * each[1] * each[3] > 0]

    def _is_local(self, each: Single) -> bool:
        """Whether g is above 0 between `start` and `end` only, so that its mirror image is not where y >= 0."""
        _, a, b, m = each
        rises = b - 2 * m * self.start >= 0 >= a + b * self.start - m * self.start**2
        falls = b - 2 * m * self.end <= 0 and a + b * self.end - m * self.end**2 <= 0
        return rises and falls

    def _centre(self, y: Fraction) -> Fraction:
        return (1 - self.s / 2) * y

    def _radius(self, y: Fraction) -> Fraction:
        """R, rounded up."""
        square = self.r - (self.s - self.s**2 / 4) * y * y
        return Fraction(0) if square <= 0 else _root_above(square)

    def _holds_inside(self) -> bool:
        """Whether ((odds - 1) times the whole window)^2 <= (y^2 - constant)^2 for all y up to `start`."""
        towards, square = (1 - self.s / 2) ** 2, [self.r, self.s**2 / 4 - self.s]  # t^2; R^2, by powers of y^2
        powers = [[Fraction(1)]]
        for _ in range(max(POWERS)):
            powers.append(_times(powers[-1], square))
        window = [Fraction(0)] * (max(POWERS) + 1)
        for k, w in zip(POWERS, self.w, strict=True):
            for i in range(k + 1 if w else 0):
                mean = Fraction(3 * math.comb(2 * k, 2 * i), (2 * i + 1) * (2 * i + 3))  # of u^(2i), as of 3 (1 - u^2) / 4
                for place, each in enumerate(powers[i], k - i):
                    window[place] += w * mean * towards ** (k - i) * each
        factor = (Fraction(4, 3) * (self.odds - 1)) ** 2
        found = [-factor * each for each in _times(powers[3], _times(window, window))]
        for place, each in enumerate((self._constant**2, -2 * self._constant, Fraction(1))):
            found[place] += each
        return _is_positive(found, self.start**2)

    def _holds_near_the_end(self) -> bool:
        if not self._adding:
            return self._centre(self.start) >= self.cut
        if self._centre(self.end) - self._radius(self.end) < self.cut:
            return False
        step = (self.end - self.start) / STRETCHES
        places = [self.start + step * each for each in range(STRETCHES + 1)]
        known = [(place, self._at(place)) for place in places]
        return all(self._holds_on(low, high, DEPTH) for low, high in pairwise(known))

    def _holds_on(self, low: tuple[Fraction, int], high: tuple[Fraction, int], depth: int) -> bool:
        """Whether F is at most 0 between two places, each with F there."""
        (start, at_start), (end, at_end) = low, high
        most = max(at_start, at_end)
        if most > 0:
            return False
        if most + _above(self._curvature(start, end) * (end - start) ** 2 / 4) <= 0:
            return True
        if not depth:
            return False
        middle = (start + end) / 2
        half = middle, self._at(middle)
        return self._holds_on(low, half, depth - 1) and self._holds_on(half, high, depth - 1)

    def _at(self, y: Fraction) -> int:
        """F at one place, rounded up to a multiple of 2^-BITS."""
        positive = sum((max(a + b * y - m * y * y, Fraction(0)) for _, a, b, m in self._adding), Fraction(0))
        return _above(self._constant - y * y + (self.odds - 1) * (positive + self._window(y)))

    def _window(self, y: Fraction) -> Fraction:
        """The integral of f(x) (R^2 - (x - t y)^2) within R of t y, up to the cut, rounded up.

        It is worked out in multiples of 2^-BITS. All factors are at most 1, or one of the w, whose sum is at most MOST. Each
        of the fewer than a thousand roundings adds less than 100 MOST of them to the whole, which PAD exceeds.
        """
        centre, radius, cut = (_above(each) for each in (self._centre(y), self._radius(y), self.cut))
        low, high = max(centre - radius, -cut), min(centre + radius, cut)
        if low >= high:
            return Fraction(0)
        level, total = (radius * radius - centre * centre) >> BITS, PAD
        for x, side in ((high, 1), (low, -1)):
            square = x * x >> BITS
            power, reached = x, 0  # x^(2 k + 1)
            for k, w in zip(POWERS, self._whole, strict=True):
                for _ in range(reached, k):
                    power = power * square >> BITS
                n, reached = 2 * k + 1, k
                part = level // n + (2 * centre * x >> BITS) // (n + 1) - square // (n + 2)
                total += side * (w * (power * part >> BITS) >> BITS)
        return Fraction(total, 1 << BITS)

    @cached_property
    def _whole(self) -> list[int]:
        return [_above(w) for w in self.w]

    def _curvature(self, start: Fraction, end: Fraction) -> Fraction:
        """The weights of all that may be above 0 between two places, and of all once."""
        low = max(self._centre(start) - self._radius(start), -self.cut)
        high = min(self._centre(end) + self._radius(start), self.cut)
        total = Fraction(0)
        if low < high:
            pairs = zip(POWERS, self.w, strict=True)
            total = sum((w * (high - low) * max(abs(low), abs(high)) ** (2 * k) for k, w in pairs), Fraction(0))
        total += sum((m for *_, m in self._adding), Fraction(0))
        return 1 + (self.odds - 1) * total


Polynomial = list[Fraction]  # the lowest power first


def _times(first: Polynomial, second: Polynomial) -> Polynomial:
    product = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            product[i + j] += a * b
    return product


def _is_positive(polynomial: Polynomial, top: Fraction) -> bool:
    """Whether a polynomial is at least 0 from 0 to `top`: its Bernstein coefficients are, on stretches that are halved.

    >>> _is_positive([Fraction(1), Fraction(-3), Fraction(3)], Fraction(1))
    True
    >>> _is_positive([Fraction(1), Fraction(-4), Fraction(3)], Fraction(1))
    False
    """
    degree, unit = len(polynomial) - 1, 1 << BITS
    scaled = [each * top**power for power, each in enumerate(polynomial)]
    largest = max(map(abs, scaled))
    whole = [math.floor(each / largest * unit) for each in scaled]
    # Each term is rounded down twice, by less than one unit, and so are the coefficients of the halves.
    bernstein = [sum(math.comb(j, i) * whole[i] // math.comb(degree, i) for i in range(j + 1)) for j in range(degree + 1)]
    stretches = [bernstein]
    for _ in range(SPLITS):
        if not stretches:
            return True
        coefficients = stretches.pop()
        if min(coefficients[0], coefficients[-1]) < 0:
            return False
        if min(coefficients) < 0:
            stretches += _halves(coefficients)
    return not stretches


def _halves(coefficients: Sequence[int]) -> Iterator[list[int]]:
    """The Bernstein coefficients on either half of a stretch, rounded down (de Casteljau)."""
    left, right, row = list[int](), list[int](), list(coefficients)
    while row:
        left.append(row[0])
        right.append(row[-1])
        row = [(a + b) >> 1 for a, b in pairwise(row)]
    yield left
    yield right[::-1]


def _above(number: Fraction) -> int:
    """The number in multiples of 2^-BITS, rounded up."""
    return -(-(number.numerator << BITS) // number.denominator)


def _root_above(square: Fraction) -> Fraction:
    """The square root, rounded up to about so many significant digits.

    >>> float(_root_above(Fraction(2)) ** 2 - 2) < 1e-9 and _root_above(Fraction(2)) ** 2 >= 2
    True
    """
    shift = 2 * ROOT_BITS + square.denominator.bit_length() - square.numerator.bit_length()
    shift += shift % 2
    whole = square * Fraction(2) ** shift
    return Fraction(math.isqrt(math.ceil(whole)) + 1) / Fraction(2) ** (shift // 2)
