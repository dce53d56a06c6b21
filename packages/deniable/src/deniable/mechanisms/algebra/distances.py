"""Distances between answers for metric privacy: which losses are some, sparse graphs of them, weights that keep them."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core.odds import log_up, rounded_up
from deniable.domains.metric import Metric
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.repair import TOTAL

LARGEST = 1 << 10  # answers: a table has their square in weights
SMALLEST = 1e-5  # epsilon between the nearest two answers: whole weights with the sum 2^50 cannot differ by much less
WIDEST = 600.0  # epsilon: larger ones count as this one, e^600 being near the largest float
RAREST = 1e-260  # of a probability, above e^-600: where nothing larger is needed, none is lowered for it
STEPS = 20  # halvings in the search for theta
MARGIN = 1e-10  # the share of epsilon that is left unused, so that floats can tell which pairs keep it


def distances_of(metric: Metric) -> Floats:
    """The distances between all answers; refuses losses that are none, since "epsilon per unit" would mean nothing."""
    if metric.size > LARGEST:
        raise InvalidParameter(f"Metric privacy takes at most {LARGEST:,} answers; this domain has {metric.size:,}.")
    apart = metric.losses(np.arange(metric.size))
    near = 1e-9 * float(apart.max())
    if np.diag(apart).any() or (apart + np.eye(metric.size) <= 0).any() or np.abs(apart - apart.T).max() > near:
        raise InvalidParameter(
            "Metric privacy needs distances: the same in both directions, zero from an answer to itself and to no other."
        )
    apart = (apart + apart.T) / 2
    if any((apart > way[:, None] + way[None, :] + near).any() for way in apart):
        raise InvalidParameter(
            "These losses are not distances: for some pair, the way through a third answer is shorter. Use distances, for "
            "example Ordered with power 1."
        )
    return apart


def spanner(apart: Floats, dilation: float) -> tuple[Ints, Ints]:
    """The ends of the edges of a greedy spanner: no way along them is longer than `dilation` times the distance.

    From the nearest pair to the farthest, a pair becomes an edge where the way so far is longer (Althofer et al. 1993).
    """
    ways = np.where(np.eye(len(apart), dtype=np.bool_), 0.0, np.inf)
    first, second = np.triu_indices(len(apart), 1)
    order, edges = np.argsort(apart[first, second], kind="stable"), []
    for a, b in zip(first[order].tolist(), second[order].tolist(), strict=True):
        length = float(apart[a, b])
        if ways[a, b] > dilation * length * (1 + 1e-12):
            edges.append((a, b))
            over = (ways[:, a] + length)[:, None] + ways[b]
            np.minimum(ways, over, out=ways)
            np.minimum(ways, over.T, out=ways)
    ends = np.array(edges, np.int64)
    return ends[:, 0], ends[:, 1]


def laplace_channel(apart: Floats, rate: float) -> Floats:
    """Probabilities c_z exp(-theta d(x, z)) / n_x: the Laplace law on these answers, with the largest theta for the rate.

    If c solves sum of c_z exp(-rate d(x, z)) = 1 for all x and is not negative, every n_x is 1 and theta is the whole rate:
    always so on a line, where the law is the truncated geometric one. Where c would be negative, those answers get none, and
    theta is the largest, by bisection, at which n_x and n_x' differ little enough: at least rate / 2.
    """
    laws = []
    for weigh in (_column_weights, lambda kernel: np.ones(len(kernel))):
        theta, step = rate, rate / 4
        used, channel = _laplace_at(theta, apart, weigh)
        if used > rate:  # from the half upward, which equal weights keep by the triangle inequality
            theta = rate / 2
            used, channel = _laplace_at(theta, apart, weigh)
            for _ in range(STEPS):
                more, other = _laplace_at(theta + step, apart, weigh)
                if more <= rate:
                    theta, used, channel = theta + step, more, other
                step /= 2
        if used <= rate * (1 + 1e-9):
            laws.append(channel)
    return min(laws, key=lambda channel: float((channel * apart).sum()))


def _laplace_at(theta: float, apart: Floats, weigh: Callable[[Floats], Floats]) -> tuple[float, Floats]:
    """The law with this theta and these column weights, and the epsilon per unit that it takes at most."""
    kernel = np.exp(-theta * apart)
    weights = weigh(kernel)
    sums = kernel @ weights
    steeper = (np.log(sums)[:, None] - np.log(sums)[None, :]) / np.where(apart > 0, apart, np.inf)
    steepest = float(steeper.max())
    return theta + (steepest if steepest > 1e-9 * theta else 0.0), kernel * weights / sums[:, None]


def _column_weights(kernel: Floats) -> Floats:
    """Weights that make the rows of the kernel sum to one; where they would be negative, 0, and others are tried again."""
    kept = np.arange(len(kernel))
    for _ in range(len(kernel)):
        try:
            weights = np.linalg.solve(kernel[np.ix_(kept, kept)], np.ones(len(kept)))
        except np.linalg.LinAlgError:
            break
        if weights.min() >= 0:
            found = np.zeros(len(kernel))
            found[kept] = weights
            return found
        kept = kept[weights > 0]
    return np.ones(len(kernel))


def whole_weights(channel: Floats, limits: Floats) -> Ints:
    """Whole weights with the sum 2^50 in each row, near the channel, whose ratios in a column keep e^limits for every pair.

    Each column is lowered to the largest one below it that keeps the limits. What its row then lacks is shared out evenly,
    and a small share of the uniform law is mixed in: it gives every pair slack, which pays for that and for the rounding.
    """
    size = len(channel)
    growth = np.exp(np.minimum(limits * (1 - MARGIN), WIDEST))
    clear = np.where(np.eye(size, dtype=np.bool_), np.inf, np.expm1(np.minimum(limits, WIDEST)))
    if clear.min() < SMALLEST:
        raise InvalidParameter(
            f"Epsilon between the two nearest answers is below {SMALLEST:g}, too little for exact weights. Use a larger "
            "epsilon per unit, or answers farther apart."
        )
    start = np.maximum(channel, RAREST)
    lowered = np.stack([(start * row[:, None]).min(axis=0) for row in growth])
    lowered /= max(1.0, float(lowered.sum(axis=1).max()))
    lacking = 1 - lowered.sum(axis=1)
    share = float((lacking[:, None] / clear).max()) + 16 * size * float(1 + 2 / clear.min()) / TOTAL
    if share > 1:
        raise InvalidParameter("This channel is too far from the distances to be repaired. Use a larger epsilon per unit.")
    exact = TOTAL * ((1 - share) * (lowered + lacking[:, None] / size) + share / size)
    weights = np.floor(exact).astype(np.int64)
    # What flooring took, less than one each, goes back to the largest remainders: no weight is off by more than one.
    missing = TOTAL - weights.sum(axis=1)
    order = np.argsort(weights - exact, axis=1, kind="stable")
    for row, places, count in zip(weights, order, missing.tolist(), strict=True):
        step, rest = divmod(count, size)
        row += step
        row[places[:rest]] += 1
    return weights


@dataclass(frozen=True)
class Steepest:
    """The pair of answers whose loss is largest for its distance, its exact odds, and all losses in floats."""

    pair: tuple[int, int]
    odds: Fraction | None  # None: a report is possible under the first only
    rate: float | None  # the logarithm of the odds for each unit of distance, rounded up
    losses: Floats


def steepest(weights: Ints, apart: Floats) -> Steepest:
    """Where a law, given as whole weights with one sum in each row, distinguishes two answers best for their distance."""
    losses = pair_losses(weights)
    rates = np.where(apart > 0, losses / np.where(apart > 0, apart, 1.0), -1.0)  # of two that are apart, though all may be 0
    first, second = map(int, np.unravel_index(int(rates.argmax()), rates.shape))
    odds = pair_odds(weights[first], weights[second])
    distance = Fraction(float(apart[first, second]))
    # The largest rate in floats may be another pair's by a few units in the last place, which the factor covers.
    rate = None if odds is None else rounded_up(Fraction(log_up(odds)) / distance * (1 + Fraction(1, 10**14)))
    return Steepest((first, second), odds, rate, losses)


def pair_losses(weights: Ints) -> Floats:
    """The logarithm of the largest ratio of each pair, in floats that are off by a few units in the last place."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log((weights / weights[0].sum()).astype(np.float64))
        rows = [np.nan_to_num(row - logs, nan=0.0, posinf=np.inf, neginf=-np.inf).max(axis=1) for row in logs]
    return np.stack(rows)


def pair_odds(first: Ints, second: Ints) -> Fraction | None:
    """The largest ratio of two laws, exactly; None if something is possible under the first only."""
    pairs = [(int(a), int(b)) for a, b in zip(first, second, strict=True) if a]
    return None if any(b == 0 for _, b in pairs) else max(Fraction(a, b) for a, b in pairs)
