"""Single reports as vectors: an unbiased reading of each, and of the products of its numbers.

The mechanisms do it themselves, also those of other packages: by a method `decode` that returns a row for each report, and
where reports determine it, by `outer_mean`, the mean of x x' from decoded rows.
"""

from typing import Protocol, runtime_checkable

import numpy as np

from deniable.arrays import Floats
from deniable.core.mechanism import Mechanism
from deniable.core.reports import Reports
from deniable.errors import InvalidParameter, SurveyMismatch

ROWS = 1 << 11  # reports decoded at a time


@runtime_checkable
class Decodes(Protocol):
    """A mechanism whose single reports can be read as vectors."""

    def decode(self, reports: Reports) -> Floats:
        """A row of numbers for each report."""


@runtime_checkable
class OuterMean(Protocol):
    """A mechanism whose reports determine the mean of x x'."""

    def outer_mean(self, rows: Floats) -> Floats | None:
        """That mean, from decoded rows."""


def decode(mechanism: Mechanism, reports: Reports) -> Floats:
    """One row of numbers for each report, whose mean over the coins is the person's vector.

    Coordinates that a report leaves out are at the middle of the range. Releases (`VectorRelease`) are read as they are,
    and are not unbiased.
    """
    if reports.fingerprint != mechanism.fingerprint:
        raise SurveyMismatch("These reports were made by another mechanism. Read them with the one that made them.")
    if not isinstance(mechanism, Decodes):
        raise InvalidParameter(
            f"Single reports of {mechanism.wire} cannot be decoded as vectors. Use FeatureVector, DuchiVector, UnitAxes, "
            "UnitCodes, PrivUnit, BitRand or VectorRelease."
        )
    return np.concatenate([mechanism.decode(reports[start : start + ROWS]) for start in range(0, len(reports), ROWS)])


def squares(mechanism: Mechanism, rows: Floats) -> Floats | None:
    """An unbiased estimate of the mean of x x' from decoded rows; None where the reports do not determine it.

    The square of an unbiased number is not an unbiased square: its mean is too large by the variance.
    """
    return mechanism.outer_mean(rows) if isinstance(mechanism, OuterMean) else None
