"""Constrained least squares: the shares whose expected reports are nearest to those that came in."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from deniable.core import Estimate
from deniable.errors import InvalidParameter
from deniable.postprocess.em import checked_channel
from deniable.postprocess.norm_sub import norm_sub


def least_squares(
    channel: ArrayLike,
    counts: ArrayLike,
    labels: Sequence[object] | None = None,
    max_rounds: int = 10_000,
    tolerance: float = 1e-10,
) -> Estimate:
    """The shares, not negative and with sum one, that bring a finite channel nearest to the counted reports.

    Not unbiased. Where rows of the channel depend on each other many shares fit equally well, and this is one of them: the
    first that projected gradient steps reach from equal shares (with the momentum of Beck and Teboulle, 2009).

    >>> least_squares([[0.75, 0.25], [0.25, 0.75]], [60, 40], ["yes", "no"]).values.round(6)
    array([0.7, 0.3])
    """
    matrix, seen = checked_channel(channel, counts)
    if max_rounds < 1 or not tolerance > 0:
        raise InvalidParameter("Least squares need at least one round and a tolerance above 0.")
    size, wanted = len(matrix), seen / seen.sum()
    result = Estimate(range(size) if labels is None else labels, np.full(size, 1 / size), None, int(seen.sum()))
    step = 1 / np.linalg.norm(matrix, 2) ** 2
    ahead, momentum = result.values, 1.0
    for _ in range(max_rounds):
        moved = norm_sub(result.cleaned(ahead - step * (matrix @ (ahead @ matrix - wanted))))
        change = moved.values - result.values
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved.values + (momentum - 1) / following * change
        result, momentum = moved, following
        if np.abs(change).max() < tolerance:
            break
    return result
