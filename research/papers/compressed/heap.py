"""The published encoder with its heap, run on real lists: how many points it ranks, and how long it takes.

Liu, Chen, Ozgur, Li (2024). Points (T, V), with T of a Poisson process and V exponential, come in the order of their level
T min(V, 1)^(1/alpha); those whose rank by T is not known yet wait in a heap. It must rank every point up to the one that it
sends, whose number has no mean at alpha 2. So it is given up at a cap here, which no device may do (giving up discloses
something about the truth): only its work is measured, and its law as far as the cap.
"""

import heapq
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.domains import SparseVector
from deniable.mechanisms.sparse.chunks import chunk_of
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.published_compressed import PublishedCompressed
from research.data.folder import random_for

CAP = 10_000  # points that are ranked for a chunk at most
GIVEN_UP = 0  # no label


def heap_index(
    net: Callable[[], int], epsilon: float, alpha: float, differing: int, random: np.random.Generator, cap: int = CAP
) -> tuple[int, int]:
    """The label and how many points were ranked; `net` draws how the next shared draw agrees with the truth.

    The weight of a point is T V^(1/alpha) / e^(eps net), and the least one wins. A point that waits is marked if it could
    win when it came; when none is marked and no later one can win, the search is over.
    """
    a, power, most = 1 - 1 / alpha, 1 / alpha, math.exp(epsilon * differing)
    below = math.fsum((-1) ** n / (math.factorial(n) * (a + n)) for n in range(20))  # of v^(a-1) e^-v from 0 to 1
    rate, share = below + 1 / math.e, below / (below + 1 / math.e)
    waiting: list[tuple[float, float, bool]] = []
    level, best, index, rank, marked = 0.0, math.inf, GIVEN_UP, 0, 0
    while True:
        level += random.standard_exponential() / rate
        if not marked and level >= best * most:
            return index, rank
        if random.random() < share:
            mark = small_mark(a, random)
            point, weight = level * mark**-power, level
        else:
            point, weight = level, level * (1 + random.standard_exponential()) ** power
        possible = weight < best * most
        marked += possible
        heapq.heappush(waiting, (point, weight, possible))
        while waiting and waiting[0][0] <= level:
            _, weight, possible = heapq.heappop(waiting)
            marked -= possible
            rank += 1
            if rank > cap:
                return GIVEN_UP, cap
            weight *= math.exp(-epsilon * net())
            if weight < best:
                best, index = weight, rank


def small_mark(a: float, random: np.random.Generator) -> float:
    """A number below 1 of density v^(a-1) e^-v."""
    while True:
        mark = float(random.random()) ** (1 / a)
        if random.random() < math.exp(-mark):
            return mark


def encode(
    coordinate: CoordinateResponse, alpha: float, differing: int, random: np.random.Generator, cap: int = CAP
) -> tuple[int, int]:
    """One chunk. Shared draws are independent, so that how many coordinates of one agree is drawn when it is asked for."""
    q = float(coordinate.q)

    def net() -> int:
        return 2 * int(random.binomial(differing, q)) - differing if differing else 0

    return heap_index(net, math.log(coordinate.odds), alpha, differing, random, cap)


@dataclass(frozen=True, eq=False)
class Work:
    """Points ranked and processor time for every person's message, and the share of chunks that were given up.

    `draws` counts a point once for each differing coordinate of its chunk: the authors' encoder evaluates all of them.
    """

    differing: Ints
    ranked: Ints
    draws: Ints
    milliseconds: Floats
    given_up: float


def heap_work(size: int, lists: Sequence[Ints], seed: int, epsilon: float, beta: float) -> Work:
    """The messages of these people at alpha 2."""
    made = PublishedCompressed(SparseVector(size), epsilon, 2.0, beta=beta)
    random = random_for(seed, "heap", epsilon, beta)
    ranked, draws, times, given_up, total = [], [], [], 0, 0
    for each in lists:
        chunks = max(1, math.ceil(beta * made.coordinate.epsilon * len(each)))
        loads = np.bincount(chunk_of(made.permutation.forward(each), size, chunks), minlength=chunks)
        start = time.process_time()
        found = [encode(made.coordinate, made.alpha, load, random) for load in loads.tolist()]
        times.append(1000 * (time.process_time() - start))
        ranked.append(sum(count for _, count in found))
        draws.append(sum(count * load for (_, count), load in zip(found, loads.tolist(), strict=True)))
        given_up += sum(label == GIVEN_UP for label, _ in found)
        total += chunks
    sizes = np.array([len(each) for each in lists])
    return Work(sizes, np.array(ranked), np.array(draws), np.array(times), given_up / total)
