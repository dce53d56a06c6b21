"""Expectation maximisation: the shares under which the reports that came in are most likely."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.core import Estimate, PureProtocol, Reports, distinct_rows
from deniable.errors import EmptyBatch, InvalidParameter

Rounds = Callable[[int, float], None]

_STEP = 1 << 12  # distinct reports looked at together


def em(
    mechanism: PureProtocol,
    reports: Reports,
    max_rounds: int = 10_000,
    tolerance: float = 1e-9,
    progress: Rounds | None = None,
) -> Estimate:
    """The maximum-likelihood shares, from the reports themselves rather than their tally.

    Not unbiased, but never negative and often closer for rare values. `progress` gets the round and the last change.
    A report is `odds` times as likely under a value it supports as under another, so one round multiplies f_x by the mean
    over reports of (1 + (odds - 1) supports_x) / (1 + (odds - 1) sum of f over supported values).
    """
    if not isinstance(mechanism, PureProtocol):
        raise InvalidParameter("Reports of this mechanism support no set of values. em_channel takes any finite channel.")
    if len(mechanism.checked_reports(reports)) == 0:
        raise EmptyBatch("There are no reports to estimate from.")
    odds = mechanism.loss().odds
    if odds is None:
        raise InvalidParameter("This mechanism has an unbounded privacy loss, so its likelihood is not known.")
    distinct, people = _distinct(mechanism, reports)
    gain, cells = float(odds) - 1, np.arange(mechanism.domain.size)

    def factors(shares: Floats) -> Floats:
        weight = np.zeros(len(cells))
        for start in range(0, len(people), _STEP):
            part = slice(start, start + _STEP)
            supported = mechanism.supports(distinct[part].columns, cells).astype(np.float64)
            likelihood = people[part] / (1 + gain * (supported @ shares))
            weight += likelihood.sum() + gain * (likelihood @ supported)
        return weight / len(reports)

    shares = _climbed(len(cells), factors, max_rounds, tolerance, progress)
    return Estimate(mechanism.domain.labels, shares, None, len(reports))


def em_channel(
    channel: ArrayLike,
    counts: ArrayLike,
    labels: Sequence[object] | None = None,
    max_rounds: int = 10_000,
    tolerance: float = 1e-9,
    progress: Rounds | None = None,
) -> Estimate:
    """The maximum-likelihood shares for any finite channel: row x of it holds the probability of each report under value x.

    >>> em_channel([[0.75, 0.25], [0.25, 0.75]], [60, 40], ["yes", "no"]).values.round(6)
    array([0.7, 0.3])
    """
    matrix, seen = checked_channel(channel, counts)
    matrix, seen = matrix[:, seen > 0], seen[seen > 0]

    def factors(shares: Floats) -> Floats:
        return matrix @ (seen / (shares @ matrix)) / seen.sum()

    shares = _climbed(len(matrix), factors, max_rounds, tolerance, progress)
    return Estimate(range(len(matrix)) if labels is None else labels, shares, None, int(seen.sum()))


def checked_channel(channel: ArrayLike, counts: ArrayLike) -> tuple[Floats, Floats]:
    """The channel and the counts as floats, refused where they cannot belong together."""
    matrix, seen = np.asarray(channel, np.float64), np.asarray(counts, np.float64)
    stochastic = matrix.ndim == 2 and (matrix >= 0).all() and np.allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-9)
    if not stochastic or seen.shape != matrix.shape[1:] or not (seen >= 0).all():
        raise InvalidParameter("A channel is a matrix whose rows are probabilities, with a count for each of its columns.")
    if seen.sum() <= 0:
        raise EmptyBatch("There are no reports to estimate from.")
    if seen[matrix.max(axis=0) == 0].any():
        raise InvalidParameter("The tally counts a report that this channel never sends.")
    return matrix, seen


def _climbed(
    size: int, factors: Callable[[Floats], Floats], max_rounds: int, tolerance: float, progress: Rounds | None
) -> Floats:
    """Multiply equal shares by their factors until they change no more."""
    if max_rounds < 1 or not tolerance > 0:
        raise InvalidParameter("Expectation maximisation needs at least one round and a tolerance above 0.")
    shares = np.full(size, 1 / size)
    for turn in range(1, max_rounds + 1):
        new = shares * factors(shares)
        change = float(np.abs(new - shares).max())
        shares = new / new.sum()  # rounding only: the sum is one already
        if progress:
            progress(turn, change)
        if change < tolerance:
            break
    return shares


def _distinct(mechanism: PureProtocol, reports: Reports) -> tuple[Reports, Floats]:
    """The different reports, and how many people sent each."""
    example, which = distinct_rows(mechanism.layout.rows(reports.columns))
    columns = {name: column[example] for name, column in reports.columns.items()}
    return Reports(reports.fingerprint, reports.layout, columns), np.bincount(which).astype(np.float64)
