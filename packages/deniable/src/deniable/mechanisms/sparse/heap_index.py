"""The published encoder of Poisson private representation, for comparison on small inputs.

It goes through all points in the order of T min(V, 1)^(1/alpha), keeps in a heap those whose rank is not known yet, and must
rank every point up to the one that it sends. The rank K has tail index alpha - 1, so that its mean time is infinite for
alpha <= 2.
"""

import heapq
import math
from collections.abc import Callable, Iterator

from deniable.core import StreamCoins
from deniable.kernels.encoder_plain import exponential
from deniable.kernels.poisson_plain import uniform

BLOCK = 512  # random words drawn at a time


def heap_index(
    net: Callable[[int], int], epsilon: float, alpha: float, differing: int, coins: StreamCoins
) -> tuple[int, int]:
    """The index K, and how many points were ranked to find it; net(k) is how well draw k agrees with the truth."""
    words, a, most = _words(coins), 1 - 1 / alpha, math.exp(epsilon * differing)
    low_rate = _lower_gamma(a)  # of points with V <= 1, by s = T V^(1/alpha); marks have density ~ v^(a-1) e^-v
    level_low, level_high = exponential(next(words)) / low_rate, exponential(next(words)) * math.e
    waiting: list[tuple[float, float]] = []  # (T, T V^(1/alpha)) of points that are known but not ranked
    best, index, rank = math.inf, 0, 0
    while True:
        level = min(level_low, level_high)
        while waiting and waiting[0][0] <= level:
            _, weight = heapq.heappop(waiting)
            rank += 1
            weight *= math.exp(-epsilon * net(rank))
            if weight < best:
                best, index = weight, rank
        if level >= best * most and all(weight >= best * most for _, weight in waiting):
            return index, rank
        if level_low <= level_high:
            mark = _small_mark(words, a)
            heapq.heappush(waiting, (level_low * mark ** (-1 / alpha), level_low))
            level_low += exponential(next(words)) / low_rate
        else:
            mark = 1 + exponential(next(words))
            heapq.heappush(waiting, (level_high, level_high * mark ** (1 / alpha)))
            level_high += exponential(next(words)) * math.e


def _words(coins: StreamCoins) -> Iterator[int]:
    while True:
        yield from coins.draw(8 * BLOCK).view("<u8").tolist()


def _small_mark(words: Iterator[int], a: float) -> float:
    while True:
        mark = uniform(next(words)) ** (1 / a)
        if uniform(next(words)) < math.exp(-mark):
            return mark


def _lower_gamma(a: float) -> float:
    """The integral of v^(a-1) e^-v from 0 to 1."""
    return math.fsum((-1) ** n / (math.factorial(n) * (a + n)) for n in range(20))
