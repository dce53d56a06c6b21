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
from functools import lru_cache
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


@lru_cache(maxsize=1 << 14)
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
    found = list[Jump]()
    while (jump := _next(values, weights, fresh, kept, found[-1:], series, false_alarms)) is not None:
        found.append(jump)
    return found


def _next(
    values: Floats, weights: Floats, fresh: Floats, kept: Floats, last: list[Jump], series: int, false_alarms: float
) -> Jump | None:
    """The first change that is named after the last one: the most significant comparison of its place."""
    start, seen = (last[0].since, last[0].named) if last else (0, 0)
    own = slice(start, None)
    columns = weights[own], weights[own] * values[own], weights[own] ** 2 * fresh[own], weights[own] * np.sqrt(kept[own])
    sums, spent, square, root = (np.concatenate(([0.0], np.cumsum(column))) for column in columns)
    ends = np.arange(seen - start + 2, len(sums))  # how many periods there are at each place
    if not len(ends):
        return None
    # A row for each place and a column for each length; where there are not so many periods, nothing is compared.
    splits = ends[:, None] - np.array(lengths(len(sums) - 1))
    real, splits, ends = splits > 0, np.maximum(splits, 1), ends[:, None]
    early, late = sums[splits], sums[ends] - sums[splits]
    differences = (spent[ends] - spent[splits]) / late - spent[splits] / early
    variances = square[splits] / early**2 + (square[ends] - square[splits]) / late**2
    variances += (root[splits] / early) ** 2 + ((root[ends] - root[splits]) / late) ** 2
    errors = np.sqrt(variances)
    scores = np.divide(np.abs(differences), errors, out=np.zeros_like(errors), where=real & (errors > 0))
    best = scores.argmax(axis=1)
    for place, column in enumerate(best):
        now = seen + place + 1
        if scores[place, column] > threshold(now + 1, int(real[place].sum()), series, false_alarms):
            at = place, column
            return Jump(start + int(splits[at]), now, float(differences[at]), float(errors[at]))
    return None


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
