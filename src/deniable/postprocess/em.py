"""Expectation maximisation: the shares under which the reports that came in are most likely."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deniable.core.bits import distinct_rows
from deniable.core.estimate import Estimate
from deniable.core.mechanism import PureProtocol
from deniable.core.reports import Reports
from deniable.errors import EmptyBatch, InvalidParameter, SurveyMismatch

Floats = NDArray[np.float64]

_STEP = 1 << 12  # distinct reports looked at together


def em(
    mechanism: PureProtocol,
    reports: Reports,
    max_rounds: int = 10_000,
    tolerance: float = 1e-9,
    progress: Callable[[int, float], None] | None = None,
) -> Estimate:
    """The maximum-likelihood shares, from the reports themselves rather than their tally.

    Not unbiased, but never negative and often closer for rare values. `progress` is told the round and the last change.
    A report is `odds` times as likely under a value it supports as under another, so one round is
    f_x <- f_x * mean over reports of (1 + (odds - 1) supports_x) / (1 + (odds - 1) sum of f over supported values).
    """
    if reports.fingerprint != mechanism.fingerprint:
        raise SurveyMismatch("These reports were made by another mechanism. Use the one that made them.")
    if len(reports) == 0:
        raise EmptyBatch("There are no reports to estimate from.")
    if max_rounds < 1 or not tolerance > 0:
        raise InvalidParameter("Expectation maximisation needs at least one round and a tolerance above 0.")
    odds = mechanism.loss().odds
    if odds is None:
        raise InvalidParameter("This mechanism makes no promise, so its likelihood is not known.")
    distinct, people = _distinct(mechanism, reports)
    gain, cells = float(odds) - 1, np.arange(mechanism.domain.size)
    shares = np.full(len(cells), 1 / len(cells))
    for turn in range(1, max_rounds + 1):
        weight = np.zeros(len(cells))
        for start in range(0, len(people), _STEP):
            part = slice(start, start + _STEP)
            supported = mechanism.supports(distinct[part].columns, cells).astype(np.float64)
            likelihood = people[part] / (1 + gain * (supported @ shares))
            weight += likelihood.sum() + gain * (likelihood @ supported)
        new = shares * weight / len(reports)
        change = float(np.abs(new - shares).max())
        shares = new / new.sum()  # rounding only: the sum is one already
        if progress:
            progress(turn, change)
        if change < tolerance:
            break
    return Estimate(mechanism.domain.labels, shares, None, len(reports))


def _distinct(mechanism: PureProtocol, reports: Reports) -> tuple[Reports, Floats]:
    """The different reports, and how many people sent each."""
    example, which = distinct_rows(mechanism.layout.rows(reports.columns))
    columns = {name: column[example] for name, column in reports.columns.items()}
    return Reports(reports.fingerprint, reports.layout, columns), np.bincount(which).astype(np.float64)
