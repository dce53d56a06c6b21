"""The k-core: ends that hold, privacy on the exact law, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.graphs.cores import CoreEstimate, estimate_core, exact_core, largest
from deniable.mechanisms.sparse.noisy_count import NoisyCount


def village(inner: int, chance: float, size: int, seed: int = 1) -> dn.Graph:
    """So many people who know each other with this chance, among others who know one person each."""
    random = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(random.random((inner, inner)) < chance, 1))
    rest = np.stack([np.arange(inner, size), random.integers(0, inner, size - inner)], axis=1)
    return dn.Graph.of(np.concatenate([pairs, rest]), size)


@pytest.mark.parametrize(("k", "epsilon"), [(60, 4.0), (90, 4.0), (105, 8.0), (125, 8.0), (3, 8.0), (1, 1.0)])
def test_the_ends_hold(k: int, epsilon: float) -> None:
    """In all of 40 runs but two: failures have probability 5 % at most, in truth far less; seeds are fixed."""
    graph = village(150, 0.8, 250)
    exact = exact_core(graph, k)
    found = [estimate_core(graph, k, epsilon, dn.SeededCoins(seed)) for seed in range(40)]
    assert sum(not each.low <= exact <= each.high for each in found) <= 2
    assert all(0 <= each.low <= each.high <= 250 for each in found)


def test_it_says_something_where_the_core_is_dense() -> None:
    graph = village(300, 1.0, 500)
    found = estimate_core(graph, 150, 4.0, dn.SeededCoins(1))
    assert (found.low, found.high) == (300, 300) and found.clear and "300" in str(found)
    noisy = estimate_core(graph, 150, 0.5, dn.SeededCoins(1))
    assert not noisy.clear and "too noisy to say" in str(noisy)
    none = estimate_core(graph, 450, 4.0, dn.SeededCoins(1))
    assert none.high == 0 and none.clear and "nobody" in str(none)


def geometric(noise: NoisyCount, number: int) -> Fraction:
    """The exact probability of a number."""
    ratio = 1 / noise.odds
    return (1 - ratio) / (1 + ratio) * ratio ** abs(number)


def test_leaving_costs_what_it_says_on_the_exact_law() -> None:
    """One person whose neighbours leave one after the other: whenever they leave, the odds with one more neighbour differ by
    the odds of the two noises together at most. Noise is cut where it has probability below 1e-12."""
    noise = NoisyCount(0.5)
    reach = math.ceil(28 / math.log(noise.odds))
    span = range(-reach, reach + 1)
    chance = [float(geometric(noise, number)) for number in span]
    above = np.concatenate([np.cumsum(chance[::-1])[::-1], [0.0]])  # Pr[noise >= number - reach]

    def stays(count: int, wanted: int) -> float:
        return float(above[min(max(wanted - count + reach, 0), len(span))])

    def leaving(counts: list[int], threshold: int) -> list[float]:
        """The probability of leaving in each round, and of staying."""
        out = np.zeros(len(counts) + 1)
        for number, p in zip(span, chance, strict=True):
            still = p
            for at, count in enumerate(counts):
                kept = stays(count, threshold + number)
                out[at] += still * (1 - kept)
                still *= kept
            out[-1] += still
        return out.tolist()

    for counts, more in (([5, 4, 4, 3], [6, 5, 4, 3]), ([5, 5, 5, 5], [6, 6, 6, 6]), ([3, 3, 1, 0], [4, 3, 1, 0])):
        for threshold in (2, 4, 6):
            pairs = list(zip(leaving(counts, threshold), leaving(more, threshold), strict=True))
            worst = max(max(a / b, b / a) for a, b in pairs if min(a, b) > 1e-9)
            assert 1 < worst <= float(noise.odds) ** 2 * (1 + 1e-6)


def test_bounds_of_noise() -> None:
    for epsilon, doubt in ((0.5, 1e-3), (2.0, 1e-9)):
        noise = NoisyCount(epsilon)
        bound = largest(noise, doubt)
        beyond = 1 - sum(geometric(noise, number) for number in range(-bound, bound + 1))
        assert float(beyond) / 2 <= doubt * (1 + 1e-9)


def test_bad_input() -> None:
    for k in (0, -1, True, 1.5):
        with pytest.raises(dn.InvalidParameter, match="k is a whole number"):
            estimate_core(village(10, 0.5, 12), k, 1.0)  # type: ignore[arg-type]
    assert CoreEstimate(2, 0.0, 0.0, 5, 1).value == 0
    told = list[float]()
    estimate_core(village(20, 0.5, 30), 2, 1.0, dn.SeededCoins(1), told.append)
    assert told
