"""How to spend a budget on a sample with features and a label: on both as one, or in two parts, and which."""

import math
from dataclasses import dataclass

from deniable import UnitAxes
from deniable.core.odds import checked_epsilon
from deniable.domains.features import UnitVectors
from deniable.errors import InvalidParameter
from deniable_learn.signed import sign_product

SHARES = tuple(place / 40 for place in range(2, 39))  # of the budget for the label


@dataclass(frozen=True)
class SampleSplit:
    """The way to spend a budget: `parts` is None for both as one (`privatize_together`), else for features and label.

    `noise` is the variance that one sample adds to a coordinate of the difference between two class means.
    """

    parts: tuple[float, float] | None
    noise: float


def signed_noise(domain: UnitVectors, classes: int, epsilon: float) -> float:
    """The noise of signed samples: 2 / (1 - r) times the mean square of a reported coordinate."""
    return 2 / (1 - sign_product(classes)) * (UnitAxes(domain, epsilon).error + 1) / domain.dimensions


def split_noise(domain: UnitVectors, classes: int, features: float, label: float) -> float:
    """The noise of separate reports, classes being equally frequent: (2 / C) / (p - q)^2 times the same."""
    odds = math.exp(label)
    gap = (odds - 1) / (odds + classes - 1)  # p - q
    return 2 / classes / gap**2 * (UnitAxes(domain, features).error + 1) / domain.dimensions


def split_sample(domain: UnitVectors, classes: int, epsilon: float) -> SampleSplit:
    """The way with the least noise for linear models on vectors of length one; nothing is read off the data.

    >>> split_sample(UnitVectors(384), 4, 2.0).parts is None, split_sample(UnitVectors(384), 4, 32.0).parts
    (True, (26.4, 5.6))
    """
    if not isinstance(domain, UnitVectors) or classes < 2:
        raise InvalidParameter("A split needs UnitVectors and at least two classes.")
    whole = checked_epsilon(epsilon)
    found = [SampleSplit(None, signed_noise(domain, classes, whole))]
    for share in SHARES:
        label = round(whole * share, 6)
        parts = round(whole - label, 6), label
        if min(parts) >= 0.01:
            found.append(SampleSplit(parts, split_noise(domain, classes, *parts)))
    return min(found, key=lambda each: each.noise)
