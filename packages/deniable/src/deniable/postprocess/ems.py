"""Smoothed expectation maximisation: likely shares of ordered answers, under the belief that neighbours are alike."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from deniable.core import Estimate
from deniable.errors import InvalidParameter
from deniable.kernels.ems import smoothed_em
from deniable.postprocess.em import checked_channel


def ems(
    channel: ArrayLike,
    counts: ArrayLike,
    labels: Sequence[str | int] | None = None,
    circular: bool = False,
    max_rounds: int = 10_000,
    tolerance: float = 1e-3,
) -> Estimate:
    """As `em_channel`, where after each round every share is averaged with its neighbours, with weights 1, 2, 1.

    It is the estimate that Li et al. (2020) propose for the square wave. It ends when the logarithm of the likelihood of all
    reports changes by less than the tolerance. Not unbiased, and it has no error in closed form; spikes are blurred.

    >>> ems([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]], [40, 30, 30]).values.round(3)
    array([0.377, 0.329, 0.294])
    """
    if max_rounds < 1 or not tolerance > 0:
        raise InvalidParameter("Expectation maximisation needs at least one round and a tolerance above 0.")
    matrix, seen = checked_channel(channel, counts)
    kept = matrix[:, seen > 0].copy()
    shares, _ = smoothed_em(kept, seen[seen > 0], True, circular, max_rounds, tolerance)
    return Estimate(range(len(matrix)) if labels is None else labels, shares, None, int(seen.sum()))
