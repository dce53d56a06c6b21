"""How small the rank error of a quantile can be without rounds: a bound over all channels, for random densities.

Densities are drawn around the even one with the covariance that the planner assumes for smooth, or for spiky numbers; let
L be one over it. A report of any channel with these odds says J about the shares, and the trace of J is at most
d (odds - 1)^2 / (4 odds) for d answers. So the mean squared error of the share below a place w is at least
w' (L + n J)^-1 w. Here the mean of that over places is minimised over all J >= 0 with such a trace. It is convex in J: from
the gradient at any J follows what no other J can go below, so the bound holds however far the minimisation came.
"""

import math
from functools import lru_cache

import numpy as np

from deniable.arrays import Floats
from deniable.core import odds_below
from deniable.domains import Ordered
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.distributions.hierarchy import Hierarchy
from deniable.mechanisms.distributions.workload import Workload
from deniable.mechanisms.distributions.workload_channel import WorkloadChannel, improved, whole_weights
from deniable.planning.distributions import precision

ANSWERS = 64  # densities are the same for any number of answers
STEPS, CHANNEL_STEPS = 400, 150
ABSOLUTE = math.sqrt(2 / math.pi)  # the mean size of a normal error of variance one


def places(low: float, high: float, size: int = ANSWERS) -> Floats:
    """The shares below places from `low` to `high` of the range, a row each, as weights of the answers."""
    return np.tril(np.ones((size, size)))[round(low * size) : min(round(high * size), size - 1)]


def rank_error(mechanism: DistributionMechanism, n: int, kind: str, low: float, high: float) -> float:
    """The mean size of the error of the shares below these places that a mechanism leaves to the best estimate."""
    asked = places(low, high, mechanism.domain.size)
    known = precision(mechanism.domain.size, kind, False) + n * mechanism.information + 10 * n
    return ABSOLUTE * math.sqrt(float(np.mean(np.sum(asked @ np.linalg.inv(known) * asked, axis=1))))


@lru_cache(maxsize=4)
def best_known(epsilon: float, n: int, kind: str, low: float, high: float, steps: int = CHANNEL_STEPS) -> WorkloadChannel:
    """The channel for these densities and places that gradient steps over all channels lead to, from the comb."""
    domain = Ordered(range(ANSWERS))
    start = Hierarchy.comb(domain, epsilon).matrix.T
    known = (precision(ANSWERS, kind, False) / n + 10) / ANSWERS
    odds = odds_below(epsilon)
    found = improved(start, Workload(places(low, high)), float(odds), steps, known)
    return WorkloadChannel(domain, epsilon, whole_weights(found, odds).tolist())


def least_rank_error(odds: float, n: int, kind: str, low: float, high: float, steps: int = STEPS) -> float:
    """What no channel can go below: the same, less the gap to the least.

    >>> bounds = [least_rank_error(math.e, 100_000, "smooth", 0.15, 0.85, steps) for steps in (20, 100)]
    >>> bounds[0] <= bounds[1] < 0.0047
    True
    """
    basis = np.linalg.qr(np.column_stack([np.ones(ANSWERS), np.eye(ANSWERS)[:, 1:]]))[0][:, 1:]  # shares that sum to zero
    asked = places(low, high) @ basis
    squares, known = asked.T @ asked / len(asked), basis.T @ precision(ANSWERS, kind, False) @ basis
    trace = ANSWERS * (odds - 1) ** 2 / (4 * odds)

    def error_and_slope(information: Floats) -> tuple[float, Floats]:
        spread = np.linalg.inv(known + n * information)
        return float(np.sum(spread * squares)), np.asarray(n * spread @ squares @ spread)

    best = np.eye(len(known)) * trace / len(known)
    error, slope = error_and_slope(best)
    ahead, before, length, momentum = best, best, trace / len(known) / float(np.abs(slope).max()), 1.0
    bound = 0.0
    for _ in range(steps):
        error, slope = error_and_slope(ahead)
        gap = trace * float(np.linalg.eigvalsh(slope)[-1]) - float(np.sum(slope * ahead))
        bound = max(bound, error - gap)
        while True:
            best = _within(ahead + length * slope, trace)
            moved = best - ahead
            if error_and_slope(best)[0] <= error - float(np.sum(slope * moved)) + float(np.sum(moved**2)) / (2 * length):
                break
            length /= 2
        further = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead, before, momentum = _within(best + (momentum - 1) / further * (best - before), trace), best, further
        length *= 1.1
    return ABSOLUTE * math.sqrt(max(bound, 0.0))


def _within(matrix: Floats, trace: float) -> Floats:
    """The nearest matrix that is not negative and has this trace."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    falling = values[::-1]
    over = (np.cumsum(falling) - trace) / np.arange(1, len(values) + 1)
    level = over[np.flatnonzero(falling > over)[-1]]
    return np.asarray((vectors * np.maximum(values - level, 0)) @ vectors.T)
