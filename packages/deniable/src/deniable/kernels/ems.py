"""Expectation maximisation with a smoothing step: rounds over a whole channel, in NumPy and compiled."""

import numpy as np

from deniable.arrays import Floats
from deniable.kernels.plain import compiled_in


@compiled_in("ems_compiled", lambda matrix, counts, smooth, circular, max_rounds, tolerance: matrix.size * max_rounds >> 10)
def smoothed_em(
    matrix: Floats, counts: Floats, smooth: bool, circular: bool, max_rounds: int, tolerance: float
) -> tuple[Floats, int]:
    """The shares after the last round, and how many rounds there were.

    A round multiplies each share by how much likelier it makes the reports, and with `smooth` averages neighbours with
    weights 1, 2, 1. It ends when the logarithm of the likelihood of all reports changes by less than the tolerance.
    """
    size, total = len(matrix), counts.sum()
    shares, last = np.full(size, 1 / size), -np.inf
    for turn in range(max_rounds):
        expected = shares @ matrix
        likelihood = float(counts @ np.log(expected))
        if abs(likelihood - last) < tolerance:
            return shares, turn
        last = likelihood
        shares = shares * (matrix @ (counts / expected)) / total
        if smooth:
            before, after = np.roll(shares, 1), np.roll(shares, -1)
            if not circular:
                before[0], after[-1] = shares[0], shares[-1]
            shares = (before + 2 * shares + after) / 4
        shares = shares / shares.sum()
    return shares, max_rounds
