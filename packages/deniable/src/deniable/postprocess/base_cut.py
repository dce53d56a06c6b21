"""Base-cut: set to zero what cannot be distinguished from zero."""

from statistics import NormalDist

import numpy as np

from deniable.core import Estimate, confidence_each


def base_cut(estimate: Estimate, confidence: float = 0.95) -> Estimate:
    """The estimate with every share that may well be noise set to zero (Wang et al. 2020).

    If all shares were zero, all would be cut with this confidence. What is kept is not changed, so shares need not sum to
    one, and those that are kept are too large on average; it is for finding the common values, not for measuring them.

    >>> base_cut(Estimate(["a", "b"], np.array([0.5, 0.1]), np.array([0.01, 0.01]), 10)).values
    array([0.5, 0. ])
    """
    threshold = NormalDist().inv_cdf(confidence_each(confidence, len(estimate.values))) * estimate.standard_error
    return estimate.cleaned(np.where(estimate.values < threshold, 0.0, estimate.values))
