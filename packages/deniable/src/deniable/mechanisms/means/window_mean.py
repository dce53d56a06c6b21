"""The mean by a window that moves over unevenly spaced numbers, near the smallest largest variance that is possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Candidate, Coins, Drawn, checked_epsilon, lookup, odds_below
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.mean_windows import MOST, SHARES, windows
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.means.mean_mechanism import MeanMechanism

MOST_PLACES = 1 << 16
LARGEST_VALUE = 1 << 40


@dataclass(frozen=True)
class WindowMean(MeanMechanism):
    """Report one of K places; each in the window of the true number is `odds` times as likely as each outside.

    The number is first rounded to one of G + 1 equally spaced knots by a coin. `starts` has where the windows of the knots
    from the middle to the upper end begin, in shares of a place: a coin decides between the two places next to it. The last
    one begins at a place. `values` has what the places of the upper half stand for, relative to each other. Lower knots and
    places are mirror images. The mean report is the number, exactly: parameters for which it is not are refused.
    P(window) = w odds / (w odds + K - w).

    `WindowMean.best` has places and windows near the smallest largest variance that is possible, within about 1 %.
    """

    domain: Interval
    epsilon: float
    window: int
    values: Sequence[int]
    starts: Sequence[int]
    wire = "window-mean-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        values, starts = tuple(self.values), tuple(self.starts)
        if not all(map(is_whole, (self.window, *values, *starts))):
            raise InvalidParameter("The window, the values of places and the beginnings of windows must be whole numbers.")
        window, values, starts = int(self.window), tuple(map(int, values)), tuple(map(int, starts))  # which never overflow
        self._fix(window=window, values=values, starts=starts)
        last = (self.places - self.window) * SHARES
        within = 1 <= self.window < self.places <= MOST_PLACES
        if within and max(map(abs, values)) > LARGEST_VALUE:
            raise InvalidParameter(f"The values of places can be at most {LARGEST_VALUE:,}.")
        if not within or len(starts) < 2 or not all(0 <= start <= last for start in starts) or 2 * starts[0] != last:
            raise InvalidParameter(
                "The window must be shorter than the line of places, and windows must begin on it, the first in the middle."
            )
        if starts[-1] % SHARES:  # else no place is certain to be in a window, and less is lost than the odds allow
            raise InvalidParameter(f"The last window must begin at a place: at a multiple of {SHARES:,}.")
        knots, means = len(starts) - 1, [self._mean(start) for start in starts]
        if means[-1] <= 0 or any(mean * knots != knot * means[-1] for knot, mean in enumerate(means)):
            raise InvalidParameter("The expected report of these windows is not the true value: a mean would be biased.")

    @classmethod
    def best(cls, domain: Interval, epsilon: float) -> "WindowMean":
        """With places and windows near the smallest largest variance over all numbers of the interval."""
        if not isinstance(domain, Interval) or domain.steps < 2:
            raise InvalidParameter("A window for a mean needs an Interval of at least 2 steps.")
        if checked_epsilon(epsilon) > MOST:
            raise InvalidParameter(f"Windows for a mean are known up to epsilon {float(MOST):g}.")
        found = windows(Fraction(checked_epsilon(epsilon)), odds_below(epsilon), domain.steps)
        return cls(domain, epsilon, found.window, found.values, found.starts)

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("window", cls.best, since=2),)

    @property
    def places(self) -> int:
        """K, how many places the line has."""
        return 2 * len(self.values)

    @property
    def knots(self) -> int:
        """G: windows are known for G + 1 numbers."""
        return 2 * len(self.starts) - 2

    @cached_property
    def _all_starts(self) -> Ints:
        """Where the windows of all knots begin, in shares of a place."""
        upper, last = np.array(self.starts, np.int64), (self.places - self.window) * SHARES
        return np.append(last - upper[:0:-1], upper)

    @cached_property
    def _sums(self) -> Sequence[int]:
        """The sum of the values of the places up to each."""
        sums = [0]
        for value in (*(-value for value in reversed(self.values)), *self.values):
            sums.append(sums[-1] + value)
        return sums

    def _mean(self, start: int) -> int:
        """The expected sum of the values in a window, SHARES times."""
        (first, past), sums, window = divmod(start, SHARES), self._sums, self.window
        later = min(first + 1, self.places - window)  # which it is not where nothing is past
        return (SHARES - past) * (sums[first + window] - sums[first]) + past * (sums[later + window] - sums[later])

    @cached_property
    def inside(self) -> Fraction:
        """The probability that the report lies in the window."""
        return self.window * self.odds / (self.window * self.odds + self.places - self.window)

    @cached_property
    def _likely(self) -> tuple[Fraction, Fraction]:
        """The probability of a place in the window, and of one outside."""
        return self.inside / self.window, (1 - self.inside) / (self.places - self.window)

    @cached_property
    def centred(self) -> Sequence[Fraction]:
        high, low = self._likely
        unit = SHARES / ((high - low) * self._mean(self.starts[-1]))
        upper = [unit * value for value in self.values]
        return [*(-value for value in reversed(upper)), *upper]

    @property
    def cells(self) -> int:
        return self.places

    def _covered(self, knot: int) -> Ints:
        """How likely each place is in the window of a knot, in shares."""
        first, past = divmod(int(self._all_starts[knot]), SHARES)
        covered = np.zeros(self.places + 1, np.int64)
        covered[first : first + self.window] = SHARES
        covered[first] -= past
        covered[first + self.window] += past
        return covered[:-1]

    def _between_knots(self, index: int) -> tuple[int, int]:
        """The knot below a point of the grid, and how far the point is past it, in steps."""
        return divmod(index * self.knots, self.domain.steps)

    def row(self, index: int) -> Sequence[Fraction]:
        (knot, past), steps = self._between_knots(index), self.domain.steps
        covered = (steps - past) * self._covered(knot) + past * self._covered(min(knot + 1, self.knots))
        high, low = self._likely
        return [low + (high - low) * Fraction(share, SHARES * steps) for share in covered.tolist()]

    def chances(self, index: int) -> Floats:
        (knot, past), steps = self._between_knots(index), self.domain.steps
        covered = (steps - past) * self._covered(knot) + past * self._covered(min(knot + 1, self.knots))
        high, low = (float(each) for each in self._likely)
        return np.asarray(low + (high - low) * covered / (SHARES * steps))

    @cached_property
    def second_moments(self) -> Floats:
        high, low = (float(each) for each in self._likely)
        squares = self._centred**2
        sums = np.append(0.0, np.cumsum(squares))
        begins = self._all_starts / SHARES  # between two places, a coin decides
        inside = np.interp(begins + self.window, np.arange(len(sums)), sums) - np.interp(begins, np.arange(len(sums)), sums)
        at_knots = low * sums[-1] + (high - low) * inside
        return np.interp(self._points, np.linspace(-1, 1, self.knots + 1), at_knots)

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        place = truth * self.knots
        up = coins.toss_each(place % self.domain.steps, self.domain.steps)
        start = lookup(self._all_starts, np.minimum(place // self.domain.steps + up, self.knots))  # which it never exceeds
        later = coins.toss_each(start % SHARES, SHARES)
        drawn = coins.split(self.inside, self.window, self.places - self.window, len(truth))  # from where the window begins
        return {"value": (drawn + start // SHARES + later) % self.places}
