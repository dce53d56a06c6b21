"""The error of the mean of vectors with coordinates of a typical size that no mechanism with an unbiased estimate can beat.

The box is [-1, 1]^d, and the vectors of interest are s v for signs v, all of which are equally common. Reports are decoded
as vectors Y whose mean is x for every x of the box, so also for the corners v.

Proof. Let q be the probability of a report over all vectors s v together, and q t(v) and q r(v) those under s v and under
the corner v. So the mean of t over v is 1, and all of r and t lie between some l and l odds. As Y has the mean s v under s v
and v under v, the sums over reports of q Y . E[t v] and of q Y . E[r v] are s d and d, and those of q E r are 1. For all
numbers a, b with a + s b = 1, all k and all c >= 0, the sum of q |Y|^2 is therefore at least

    2 k d - the largest k^2 (|a E[r v] + b E[t v]|^2 - c (E r - 1)),

because |Y|^2 - 2 k Y . z >= - k^2 |z|^2. With the best k, it is at least d^2 over the largest value in brackets, C.

What is C? With r = l (1 + (odds - 1) h), 0 <= h <= 1, and E h = p, the length of E[r v] is the largest l (odds - 1) E[h S]
for S = u . v and |u| = 1. And E[h S] is at most H(y) + y p for every y, where H(y) bounds E(S - y)^+ for all u. The least of
these lines is e(p). As S is symmetric, e(1 - p) = e(p) bounds it for 1 - p. So C is at most the largest

    ((odds - 1) l (a e(p) + b e(w)))^2 - c (l (1 + (odds - 1) p) - 1) with l = 1 / (1 + (odds - 1) w), p <= 1/2, w <= 1.

Where e is a line, it is convex in p, and convex in l, as w l is linear in l. So p and w are where two lines meet.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from deniable.arrays import Floats
from deniable.core import checked_epsilon
from deniable.domains.features import Features
from deniable.planning.corner_table import BOUNDS, PLACES
from deniable.planning.vector_bounds import POWERS

FARTHER = tuple(4.4 + 0.1 * place for place in range(1, 40))  # places y beyond the table
ROUNDS = 40  # of the search for b, and for c
GOLDEN = (math.sqrt(5) - 1) / 2
LARGEST = 100  # the largest b that is tried, over the odds
EACH = 1e-14  # relatively, of the terms of a difference: many times what floats can be off
ROUNDING = 1e-9  # the same of the result


def typical_bound(domain: Features, epsilon: float, n: int, typical: float) -> float | None:
    """The root mean square error of a coordinate that no mechanism with this epsilon can beat, for this size of coordinates.

    It holds for every law and report that is decoded without bias, on average over all signs that the coordinates can have.
    Each coordinate is a number of its own, so that what holds for one number holds too. None where nothing is proved.

    >>> round(typical_bound(Features(100, -1, 1), 2.0, 1, 0.0) ** 2, 2)  # met: most reports on zeros are zero
    46.0
    """
    budget, half = checked_epsilon(epsilon), (domain.high - domain.low) / 2
    size = min(max(typical / half, 0.0), 1.0)
    square = max(_least_square(d, budget, size) for d in {1, domain.dimensions})
    least = square * (1 - ROUNDING) - size**2 * (1 + ROUNDING)
    return half * math.sqrt(least / n) if least > 0 else None


@lru_cache(maxsize=256)
def _least_square(dimensions: int, epsilon: float, size: float) -> float:
    """The mean square of a decoded coordinate, at least: d / C, for the best a, b and c that a search finds."""
    more = math.nextafter(math.exp(epsilon), math.inf) - 1  # the odds, less 1
    places, reach = _corners(dimensions)
    own = np.concatenate([places, 1 - places])[:, None]
    least = 1 / (1 + more * own)  # l
    apart = least * (1 + more * places) - 1
    corner, middle = more * least * reach, more * least * np.concatenate([reach, reach])[:, None]

    def largest(b: float) -> float:
        squares = ((1 - size * b) * corner + b * middle) ** 2
        most = 4 * float(squares.max())

        def value(power: float) -> float:
            c = most * math.exp(-power)
            return float((squares * (1 + EACH) - c * (apart - EACH * (apart + 2))).max())

        return _smallest(value, 2 * epsilon + 10)

    return dimensions / (_smallest(largest, min(1 / size, LARGEST * (more + 1))) if size > 0 else largest(0.0))


def _smallest(value: Callable[[float], float], end: float) -> float:
    """The smallest value of a function from 0 to an end, first falling and then rising, that a search finds."""
    low, high = 0.0, end
    left, right = high - GOLDEN * end, GOLDEN * end
    first, second = value(left), value(right)
    found = min(value(low), value(high), first, second)
    for _ in range(ROUNDS):
        if first < second:
            high, right, second = right, left, first
            left = high - GOLDEN * (high - low)
            first = value(left)
        else:
            low, left, first = left, right, second
            right = low + GOLDEN * (high - low)
            second = value(right)
        found = min(found, first, second)
    return found


def _corners(dimensions: int) -> tuple[Floats, Floats]:
    """Where two of the lines that make up e(p) meet, for p up to 1/2, and e there."""
    lines = sorted(_lines(dimensions), reverse=True)  # the steepest first, as p rises
    line, places, reach = lines[0], [0.0], [0.0]
    while places[-1] < 0.5:
        meets = [((height - line[1]) / (line[0] - slope), slope, height) for slope, height in lines if slope < line[0]]
        place, slope, height = min((0.5, *line), *meets)
        places.append(place)
        reach.append(line[1] + line[0] * place)
        line = slope, height
    return np.array(places), np.array(reach)


def _lines(dimensions: int) -> Iterator[tuple[float, float]]:
    """Places y with bounds H(y) of E(S - y)^+: slopes of lines, and their heights at 0.

    S is at most the root of d, and E(S - y)^+ at most (1 - y) / 2 for y up to 1/2. The others are as in `corner_gain`.
    """
    yield math.sqrt(dimensions), 0.0
    yield 0.0, 0.5
    yield 0.5, 0.25
    known = next((BOUNDS[most] for most in sorted(BOUNDS) if most >= dimensions), (math.inf,) * len(PLACES))
    table = [(float(place), bound) for place, bound in zip(PLACES, known, strict=True) if place > 0.5]
    for place, bound in (*table, *((place, math.inf) for place in FARTHER)):
        moment, best = 1.0, bound
        for k in range(1, POWERS + 1):
            moment *= 2 * k - 1
            best = min(best, moment * ((2 * k - 1) / (2 * k * place)) ** (2 * k - 1) / (4 * k))
        if place < math.sqrt(dimensions):
            yield place, best
