"""Estimates that look like what they are about: shares that sum to one, means within their range."""

import numpy as np

from deniable.arrays import Floats
from deniable.core.domain import Domain
from deniable.core.estimate import Estimate
from deniable.domains import KeyValue
from deniable.postprocess import norm_sub


def cleaned(domain: Domain, estimate: Estimate) -> Floats:
    """The nearest values that are possible. They have no error of their own, and are not right on average.

    Shares of one answer each sum to one; people may have several keys, so shares of keys only lie between 0 and 1.
    """
    if estimate.measure != "share":
        return np.array([within(domain, float(value)) for value in estimate.values])
    return np.clip(estimate.values, 0, 1) if isinstance(domain, KeyValue) else norm_sub(estimate).values


def within(domain: Domain, mean: float) -> float:
    """The mean, or the nearest end of the range that answers come from.

    >>> from deniable.domains import Interval
    >>> within(Interval(0, 10, 5), 11.5), within(Interval(0, 10, 5), 3.5)
    (10.0, 3.5)
    """
    ends = getattr(domain, "low", None), getattr(domain, "high", None)
    low, high = (domain.labels[0], domain.labels[-1]) if None in ends else ends
    return min(max(mean, float(low)), float(high))  # type: ignore[arg-type]
