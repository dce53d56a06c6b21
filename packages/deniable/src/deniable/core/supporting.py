"""What is known of reports that support values: how many one report can support, and exact limits for their shares."""

from fractions import Fraction

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.core.estimate import confidence_each
from deniable.core.layout import Columns
from deniable.errors import MissingExtra


class Supporting:
    """What a family whose reports support values knows of a single report; false reports are judged by it."""

    def supported(self, targets: int) -> tuple[int, int, bool]:
        """The most and the fewest of so many values that one report can support, and whether a report attains them."""
        # With a single target some report supports it and some does not, or reports would say nothing about it.
        return targets, 0, targets == 1

    @property
    def support_variance(self) -> Fraction | None:
        """The variance of how many values a report supports, if they are supported independently; None if not known."""
        return None

    @property
    def likeliest(self) -> Fraction | None:
        """The probability of the likeliest single report under any value; None where no closed form is known."""
        return None

    @property
    def profile_law(self) -> Floats:
        """The probabilities of the profiles of a report, which are the same under every value; empty if none are known."""
        return np.zeros(0)

    def profiles(self, columns: Columns) -> Ints:
        """The profile of each report, where there are any: its place in `profile_law`."""
        return np.zeros(len(next(iter(columns.values()))), np.int64)

    @property
    def choice(self) -> tuple[str, int] | None:
        """The field that names one of so many values or buckets by direct response, if that is what a report does."""
        return None

    @property
    def idle(self) -> Fraction:
        """The probability that a blank report supports no value at all; 0 also where such reports are not distinguished."""
        return Fraction(0)

    @property
    def unsupported(self) -> Fraction:
        """As `idle`, or close to it where that is not known exactly."""
        return self.idle

    def is_idle(self, columns: Columns) -> Bools:
        """Which reports support no value at all, where `idle` is not 0."""
        return np.zeros(len(next(iter(columns.values()))), np.bool_)


def exact_shares(counts: Ints, n: int, confidence: float, together: bool) -> tuple[Floats, Floats]:
    """Lower and upper limits of the probabilities behind binomial counts out of n (Clopper, Pearson 1934)."""
    try:
        from scipy.special import betaincinv
    except ImportError:
        raise MissingExtra("An exact interval", "stats") from None
    tail = (1 - confidence_each(confidence, 1)) / 2 / (len(counts) if together else 1)
    low = np.where(counts == 0, 0.0, betaincinv(np.maximum(counts, 1), n - counts + 1, tail))
    high = np.where(counts == n, 1.0, betaincinv(counts + 1, np.maximum(n - counts, 1), 1 - tail))
    return low, high
