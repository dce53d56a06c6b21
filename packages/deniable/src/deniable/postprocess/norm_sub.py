"""Norm-sub: shift all shares by one constant and cut at zero, so that they sum to one."""

import numpy as np

from deniable.core import Estimate


def norm_sub(estimate: Estimate) -> Estimate:
    """The closest shares that are not negative and sum to one (Wang et al. 2020); this is projection onto the simplex.

    Not unbiased: small shares gain. The raw estimate keeps the error bars.

    >>> norm_sub(Estimate(["a", "b", "c"], np.array([0.9, 0.3, -0.1]), None, 10)).values.round(6)
    array([0.8, 0.2, 0. ])
    """
    ordered = np.sort(estimate.values)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(ordered) + 1)
    kept = np.flatnonzero(ordered > excess)[-1]  # the largest shares, which stay positive after the shift
    return estimate.cleaned(np.maximum(estimate.values - excess[kept], 0))
