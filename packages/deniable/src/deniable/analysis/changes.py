"""Changes that are larger than noise: which are named, when, and how often one is named that is none.

After each period, the mean of the last 1, 2, 4, 8, ... periods is compared with the mean of all earlier ones since the last
change. The false-alarm rate is for all answers and all periods together, however many come: period t may use 6 / (pi t)^2 of
it, shared out over the answers, the comparisons and both directions (Bonferroni's inequality). Tails are those of the normal
distribution, so there should be hundreds of reports in a period.

People who keep permanent answers keep their noise. It cancels in a comparison if they are the same people before and after,
and does not average out if they were replaced in between. What holds whoever they are is taken: the noise of the permanent
answers of both sides counts in full.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter

FALSE_ALARMS = 1e-4


@dataclass(frozen=True)
class Jump:
    """A change of one series: found after period `named`, begun in period `since`; places, not numbers, of periods."""

    since: int
    named: int
    difference: float
    error: float


def threshold(place: int, comparisons: int, series: int, false_alarms: float) -> float:
    """How many standard errors a difference must have after so many periods."""
    share = false_alarms * 6 / (math.pi * place) ** 2 / (2 * comparisons * series)
    return -NormalDist().inv_cdf(share)


def lengths(size: int) -> list[int]:
    """How many of the last periods are compared with those before, if there are so many: 1, 2, 4, ...

    >>> lengths(9)
    [1, 2, 4, 8]
    """
    return [1 << power for power in range(max(size - 1, 0).bit_length()) if 1 << power < size]


def contrast(weights: Floats, fresh: Floats, kept: Floats, split: int, last: int) -> Floats:
    """The standard error of the mean of the places from `split` to `last` less that of those before."""
    total = 0.0
    for part in (slice(0, split), slice(split, last + 1)):
        share = weights[part] / weights[part].sum()
        total += float(share**2 @ fresh[part]) + float(share @ np.sqrt(kept[part])) ** 2
    return np.sqrt(total)


def jumps(
    values: Floats, weights: Floats, fresh: Floats, kept: Floats, series: int = 1, false_alarms: float = FALSE_ALARMS
) -> list[Jump]:
    """The changes of one series, of `series` that are watched together; `fresh` and `kept` are the parts of its variance."""
    check_rate(false_alarms)
    found, start = list[Jump](), 0
    for now in range(1, len(values)):
        span = slice(start, now + 1)
        best = _largest(values[span], weights[span], fresh[span], kept[span])
        if best is None:
            continue
        score, split, difference, error, comparisons = best
        if score > threshold(now + 1, comparisons, series, false_alarms):
            found.append(Jump(start + split, now, difference, error))
            start += split
    return found


def _largest(values: Floats, weights: Floats, fresh: Floats, kept: Floats) -> tuple[float, int, float, float, int] | None:
    """The most significant comparison at the last place."""
    tried, best = lengths(len(values)), None
    sums, spent = np.cumsum(weights), np.cumsum(weights * values)
    square, root = np.cumsum(weights**2 * fresh), np.cumsum(weights * np.sqrt(kept))
    for size in tried:
        split = len(values) - size
        early, late = sums[split - 1], sums[-1] - sums[split - 1]
        difference = (spent[-1] - spent[split - 1]) / late - spent[split - 1] / early
        variance = square[split - 1] / early**2 + (square[-1] - square[split - 1]) / late**2
        variance += (root[split - 1] / early) ** 2 + ((root[-1] - root[split - 1]) / late) ** 2
        score = abs(difference) / math.sqrt(variance) if variance > 0 else 0.0
        if best is None or score > best[0]:
            best = score, split, float(difference), math.sqrt(variance), len(tried)
    return best


def named_by(
    truth: Floats,
    weights: Floats,
    fresh: Floats,
    kept: Floats,
    series: int = 1,
    false_alarms: float = FALSE_ALARMS,
    power: float = 0.9,
) -> int | None:
    """The first place at which a change of this true series is named with at least this probability; None if at none.

    One comparison alone exceeds its threshold that often: its difference is normal, and its mean and variance are known.
    """
    check_rate(false_alarms)
    reach = NormalDist().inv_cdf(power)
    for now in range(1, len(truth)):
        tried = lengths(now + 1)
        bar = threshold(now + 1, len(tried), series, false_alarms)
        for size in tried:
            split = now + 1 - size
            early, late = (
                np.average(truth[part], weights=weights[part]) for part in (slice(0, split), slice(split, now + 1))
            )
            if abs(late - early) / contrast(weights, fresh, kept, split, now) >= bar + reach:
                return now
    return None


def check_rate(false_alarms: float) -> None:
    """Refuse what is no rate."""
    if not 0 < false_alarms < 1:
        raise InvalidParameter("The false-alarm rate is a probability between 0 and 1, such as 0.0001.")
