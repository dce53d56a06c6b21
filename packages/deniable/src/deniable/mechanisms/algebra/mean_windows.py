"""Places for a window that moves over numbers, and where it begins for each of them: near the smallest largest variance.

Everything is computed in whole numbers, so that all machines find the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.mean_profiles import PROFILES

SHARES = 1 << 10  # of a place, in which beginnings of windows are measured
FINEST = 1 << 24  # what the largest place stands for, about
MOST = Fraction(max(PROFILES), 100)  # epsilon
NEAR = 5  # of how many lengths of windows, shorter and longer, the best is taken
# Up to which epsilon so many places and at most so many knots suffice.
SIZES: Mapping[Fraction, tuple[int, int]] = {
    Fraction(3): (480, 64),
    Fraction(5): (960, 128),
    MOST: (1920, 512),
}


@dataclass(frozen=True)
class Windows:
    """How long a window is, what the upper half of the places stands for, and where windows of the upper knots begin."""

    window: int
    values: Sequence[int]
    starts: Sequence[int]


def windows(epsilon: Fraction, odds: Fraction, steps: int) -> Windows:
    """The best that is known for this budget, for numbers on a grid."""
    places, most = next(sizes for largest, sizes in SIZES.items() if epsilon <= largest)
    numbers = steps if steps % 2 == 0 else 2 * steps  # with so many knots, each point of the grid is one
    profile, ratio = _profile(epsilon)
    values, about = _spread(profile, places // 2), round(places / (2 * ratio))
    tried = [2 * each for each in range(max(1, about - NEAR), min(about + NEAR, places // 4) + 1)]
    return _linear(values, min(tried, key=lambda window: _worst(values, window, odds)), min(most, numbers) // 2)


def _profile(epsilon: Fraction) -> tuple[Sequence[Fraction], Fraction]:
    """What evenly spaced places stand for, relative to the last one, and how many times as long as the window they are."""
    above = min(each for each in PROFILES if each >= 100 * epsilon)
    below = max(each for each in PROFILES if each <= 100 * epsilon)
    share = (100 * epsilon - below) / (above - below) if above > below else Fraction(0)
    mixed = [low + share * (high - low) for low, high in zip(PROFILES[below], PROFILES[above], strict=True)]
    return mixed[1:], mixed[0] / 1000


def _spread(profile: Sequence[Fraction], half: int) -> list[int]:
    """What the places of the upper half stand for, between those of a profile on straight lines."""
    pieces, values = len(profile) - 1, list[int]()
    for place in range(half):
        piece, past = divmod((2 * place + 1) * pieces, 2 * half)
        share = Fraction(past, 2 * half)
        values.append(int(FINEST * (profile[piece] + share * (profile[piece + 1] - profile[piece])) / profile[-1]))
    return values


def _worst(values: Sequence[int], window: int, odds: Fraction) -> Fraction:
    """The largest variance of a report with this window, up to a factor, for numbers whose windows begin at a place."""
    one, more = odds.denominator, odds.numerator - odds.denominator
    line, last = [*(-value for value in reversed(values)), *values], 2 * len(values) - window
    squares, scale = sum(value * value for value in line), one * len(line) + more * window
    inside, mean, largest = sum(value * value for value in line[last // 2 : last // 2 + window]), 0, 0
    for start in range(last // 2, last + 1):
        largest = max(largest, scale * (one * squares + more * inside) - (more * mean) ** 2)
        if start < last:
            inside += line[start + window] ** 2 - line[start] ** 2
            mean += line[start + window] - line[start]
    return Fraction(largest, mean * mean)


def _linear(values: list[int], window: int, knots: int) -> Windows:
    """Beginnings of windows whose sums rise from knot to knot by the same number, and places adjusted for that.

    A window that begins s / SHARES places after place o loses this share of place o, and has as much of place o + window,
    by a coin. The odd s is the nearest; then two places are adjusted that no window of a lower knot has reached: the one
    that is reached by a share, so that the share of the difference is whole, and the one before it, by what is missing.
    """
    half, total, start = len(values), 0, len(values) - window // 2
    starts = [start * SHARES]

    def value(place: int) -> int:
        return values[place - half] if place >= half else -values[half - 1 - place]

    rise = sum(map(value, range(2 * half - window, 2 * half))) // knots
    for knot in range(1, knots):
        first = start
        while total + value(start + window) - value(start) <= knot * rise:
            total += value(start + window) - value(start)
            start += 1
        if start < first + 2:
            raise InvalidParameter("There are too few places for so many knots.")
        gap = value(start + window) - value(start)
        past = min((knot * rise - total) * SHARES // gap | 1, SHARES - 1)
        values[start + window - half] -= (gap + SHARES // 2) % SHARES - SHARES // 2
        gap = value(start + window) - value(start)
        missing = knot * rise - total - past * gap // SHARES
        values[start + window - 1 - half] += missing
        total += missing
        starts.append(start * SHARES + past)
    start = 2 * half - window
    values[-1] += knots * rise - sum(map(value, range(start, start + window)))
    return Windows(window, values, [*starts, start * SHARES])
