"""Releases from explicit tables: the exponential mechanism, clamped Laplace noise, the published staircase, the optimum."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.core import Domain, checked_epsilon, odds_below
from deniable.domains.metric import Metric, metric_of
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.optimal import optimal_channel
from deniable.mechanisms.algebra.repair import TOTAL, repaired
from deniable.mechanisms.releases.release_table import ReleaseTable
from deniable.mechanisms.shares.finite_channel import equal_sums

LARGEST = 1 << 10  # answers for which a table is written


@dataclass(frozen=True)
class ReleaseChannel(ReleaseTable):
    """A table of whole weights whose columns are the answers themselves, so that a report is a release.

    The constructors work out probabilities in floats and repair them to whole weights with the sum 2^50, so that the
    certificate is exact for what is sent; the published staircase is the exception that does not keep its promise.
    """

    wire = "release-1"

    @classmethod
    def exponential(cls, domain: Domain, epsilon: float, tight: bool = False) -> "ReleaseChannel":
        """Answer y with probability proportional to exp(-theta loss(x, y)) (McSherry, Talwar 2007).

        theta = epsilon / (2 D), where D is how much the loss of one answer can change with the truth. This usually costs
        less than epsilon; with `tight`, theta is as large as the budget allows.
        """
        metric = _small(domain)
        return cls(domain, epsilon, repaired(exponential_channel(metric, epsilon, tight), odds_below(epsilon)))

    @classmethod
    def laplace(cls, domain: Domain, epsilon: float) -> "ReleaseChannel":
        """Discrete Laplace noise on equidistant points, clamped to the ends: what falls outside becomes the nearest end.

        With a = exp(-epsilon / (N - 1)) for N points, inside y has probability (1 - a) / (1 + a) a^|x - y|.
        """
        line = _small(domain).line
        if line is None or not line.even:
            raise InvalidParameter("Clamped Laplace noise is for equidistant points on a line.")
        own = np.arange(line.size)
        ratio = np.exp(-checked_epsilon(epsilon) / (line.size - 1))
        channel = (1 - ratio) / (1 + ratio) * ratio ** np.abs(own[:, None] - own[None, :])
        channel[:, 0], channel[:, -1] = ratio**own / (1 + ratio), ratio ** own[::-1] / (1 + ratio)
        return cls(domain, epsilon, repaired(channel, odds_below(epsilon)))

    @classmethod
    def staircase_as_published(cls, domain: Domain, epsilon: float, edges: Sequence[float]) -> "ReleaseChannel":
        """L-SRR as published (Wang, Hong, Xiong, Qin, Hong 2022): rings by thresholds of the loss, each row on its own.

        Ring j holds the answers with a loss up to edges[j] that are in no ring before. Rings have other sizes around other
        answers, so the least probability differs from row to row, and the true loss can be up to twice epsilon.
        Four places in two cells of three and one, rings "itself", "same cell", "elsewhere": epsilon 1 is really 1.263.
        """
        metric, limits = _small(domain), np.asarray(edges, np.float64)
        if limits.ndim != 1 or not len(limits) or not (np.diff(limits) > 0).all():
            raise InvalidParameter("The edges of the rings are losses in increasing order, at least one.")
        ring = np.searchsorted(limits, metric.losses(np.arange(metric.size)))
        odds = odds_below(epsilon)
        steps = [
            odds.denominator * len(limits) + (len(limits) - j) * (odds.numerator - odds.denominator)
            for j in range(len(limits) + 1)
        ]
        rows = [[steps[j] for j in row] for row in ring.tolist()]
        return cls(domain, epsilon, one_sum(rows))

    @classmethod
    def optimal(
        cls, domain: Domain, epsilon: float, prior: ArrayLike | None = None, worst: bool = False
    ) -> "ReleaseChannel":
        """The smallest expected loss under the prior that the odds allow, or with `worst` the smallest worst loss."""
        odds = odds_below(epsilon)
        return cls(domain, epsilon, repaired(optimal_channel(metric_of(domain), odds, prior, worst)[1], odds))


def exponential_channel(metric: Metric, epsilon: float, tight: bool = False) -> Floats:
    """The probabilities of the exponential mechanism."""
    return _softmax(metric.losses(np.arange(metric.size)), exponential_scale(metric, epsilon, tight))


def exponential_scale(metric: Metric, epsilon: float, tight: bool = False) -> float:
    """theta: epsilon / (2 D), or the largest whose exact loss is at most epsilon, by bisection."""
    losses, budget = metric.losses(np.arange(metric.size)), checked_epsilon(epsilon)
    span = float((losses.max(axis=0) - losses.min(axis=0)).max())
    if span == 0:
        raise InvalidParameter("Every answer has the same loss whatever the truth is, so none is better than another.")
    if not tight:
        return budget / (2 * span)

    def level(theta: float) -> float:
        logs = np.log(_softmax(losses, theta))
        return float((logs.max(axis=0) - logs.min(axis=0)).max())

    low, high = budget / (2 * span), budget / span
    while level(high) < budget:
        low, high = high, 2 * high
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if level(middle) <= budget else (low, middle)
    return low


def _softmax(losses: Floats, theta: float) -> Floats:
    weights = np.exp(-theta * (losses - losses.min(axis=1, keepdims=True)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _small(domain: Domain) -> Metric:
    metric = metric_of(domain)
    if metric.size > LARGEST:
        raise InvalidParameter(f"A table of weights takes at most {LARGEST:,} answers; this domain has {metric.size:,}.")
    return metric


def one_sum(rows: list[list[int]]) -> list[list[int]]:
    """Rows in these proportions with one sum; if that takes too large numbers, nearly, with the sum 2^50."""
    try:
        return equal_sums(rows)
    except InvalidParameter:
        out = []
        for row in rows:
            whole = sum(row)
            scaled = [weight * TOTAL // whole for weight in row]
            scaled[scaled.index(max(scaled))] += TOTAL - sum(scaled)
            out.append(scaled)
        return out
