"""Cycles of four: exact on the exact law, intervals that hold, and what is refused."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.graphs.cycles import MOST_PEOPLE as MOST
from deniable.graphs.cycles import (
    _butterflies,
    _butterfly_levels,
    _counted,
    _Found,
    _ring_levels,
    _rings,
    _variance,
    estimate_butterflies,
    estimate_cycles,
    exact_butterflies,
    exact_cycles,
)

RUNS = 200


def brute(graph: dn.Graph) -> int:
    """All rings of four, one by one."""
    joined = {frozenset(pair) for pair in zip(graph.owners.tolist(), graph.lower.tolist(), strict=True)}
    rings = 0
    for a, b, c, d in itertools.combinations(range(graph.vertices), 4):
        for ring in ((a, b, c, d), (a, c, b, d), (a, b, d, c)):
            rings += all(frozenset((ring[i], ring[(i + 1) % 4])) in joined for i in range(4))
    return rings


def random_graph(size: int, chance: float, seed: int) -> dn.Graph:
    random = np.random.default_rng(seed)
    return dn.Graph.of(np.argwhere(np.triu(random.random((size, size)) < chance, 1)), size)


def test_exact_counts() -> None:
    for seed in range(5):
        graph = random_graph(9, 0.6, seed)
        assert exact_cycles(graph) == brute(graph)
    assert exact_cycles(dn.Graph.of([(i, j) for i in range(10) for j in range(i)])) == 3 * math.comb(10, 4)
    everything = [(person, item) for person in range(5) for item in range(4)]
    assert exact_butterflies(everything, 5, 4) == math.comb(5, 2) * math.comb(4, 2)
    assert exact_butterflies(everything[:4], 5, 4) == 0


def test_count_and_variance_are_unbiased_on_the_exact_law() -> None:
    """All 2^6 answers of four people, with their probabilities: the mean is the truth, the mean variance the variance."""
    response, pairs = Fraction(1, 4), list(itertools.combinations(range(4), 2))
    v = float(response * (1 - response) / (1 - 2 * response) ** 2)
    for truth in ([], [(0, 1), (1, 2), (2, 3), (0, 3)], pairs, pairs[:3]):
        means = np.zeros(2)
        second = 0.0
        for lies in itertools.product((0, 1), repeat=6):
            chance = math.prod(float(response) if lie else float(1 - response) for lie in lies)
            answers = np.zeros((4, 4))
            for pair, lie in zip(pairs, lies, strict=True):
                answers[pair] = answers[pair[::-1]] = (((pair in truth) ^ lie) - 0.25) / 0.5
            found = _rings(answers, v, None)
            means += chance * np.array([found.cycles, _variance(found, _ring_levels(found, 4, v))])
            second += chance * found.cycles**2
        exact = brute(dn.Graph.of(truth, 4)) if truth else 0
        assert means[0] == pytest.approx(exact, abs=1e-9)
        assert means[1] == pytest.approx(second - exact**2, rel=1e-9)


def test_butterflies_are_unbiased_on_the_exact_law() -> None:
    """The same for three people and two items."""
    v = 0.25 * 0.75 / 0.25
    for truth in (np.zeros((3, 2)), np.ones((3, 2)), np.array([[1, 0], [1, 1], [1, 1]])):
        means, second = np.zeros(2), 0.0
        for lies in itertools.product((0, 1), repeat=6):
            flipped = np.abs(truth - np.array(lies).reshape(3, 2))
            chance = math.prod(0.25 if lie else 0.75 for lie in lies)
            answers = (flipped - 0.25) / 0.5
            found = _butterflies(answers, v, None)
            means += chance * np.array([found.cycles, _variance(found, _butterfly_levels(found, 3, 2, v))])
            second += chance * found.cycles**2
        exact = exact_butterflies(np.argwhere(truth > 0), 3, 2)
        assert means[0] == pytest.approx(exact, abs=1e-9)
        assert means[1] == pytest.approx(second - exact**2, rel=1e-9)


GRAPHS = {
    "empty": dn.Graph.of([], 40),
    "star": dn.Graph.of([(0, i) for i in range(1, 60)]),
    "clique": dn.Graph.of([(i, j) for i in range(40) for j in range(i)]),
    "two sides": dn.Graph.of([(i, 20 + j) for i in range(20) for j in range(30)]),
    "random": random_graph(60, 0.2, 1),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_intervals_hold(name: str) -> None:
    """At least 90 % of 200 runs: with true coverage 95 %, fewer have a probability of 0.2 %; seeds are fixed.

    Six standard errors of the mean error: false alarms below 1e-8."""
    graph = GRAPHS[name]
    exact = exact_cycles(graph)
    found = [estimate_cycles(graph, 2.0, dn.SeededCoins(seed)) for seed in range(RUNS)]
    errors = np.array([each.raw - exact for each in found])
    assert abs(errors.mean()) < 6 * errors.std() / math.sqrt(RUNS)
    assert sum(each.low <= exact <= each.high for each in found) >= 0.9 * RUNS
    stated = math.sqrt(np.mean([each.standard_error**2 for each in found]))
    assert 0.8 < errors.std() / stated < 1.25


def test_butterfly_intervals_hold() -> None:
    links = np.argwhere(np.random.default_rng(1).random((50, 25)) < 0.3)
    exact = exact_butterflies(links, 50, 25)
    found = [estimate_butterflies(links, 50, 25, 2.0, dn.SeededCoins(seed)) for seed in range(RUNS)]
    errors = np.array([each.raw - exact for each in found])
    assert abs(errors.mean()) < 6 * errors.std() / math.sqrt(RUNS)
    assert sum(each.low <= exact <= each.high for each in found) >= 0.9 * RUNS


def test_too_few_people_and_too_noisy() -> None:
    assert str(estimate_cycles(dn.Graph.of([(0, 1)]), 1.0)) == "0 cycles of four: so few people cannot have any"
    assert "too noisy to say" in str(estimate_cycles(GRAPHS["empty"], 1.0, dn.SeededCoins(1)))
    nothing = _Found(5.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert _counted(nothing, (1.0, 1.0, 1.0), 10, "things").standard_error == pytest.approx(math.sqrt(3))


def test_progress_is_told() -> None:
    told = list[float]()
    estimate_cycles(random_graph(600, 0.01, 2), 1.0, dn.SeededCoins(1), told.append)
    assert told == sorted(told) and len(told) == 2 and told[-1] == 1.0


def test_bad_input() -> None:
    with pytest.raises(dn.InvalidParameter, match="at most 8,192 people"):
        estimate_cycles(dn.Graph.of([(0, 1)], MOST + 1), 1.0)
    for links, people, items in (([[0, 3]], 2, 3), ([[-1, 0]], 2, 3), ([[0, 0, 0]], 2, 3), ([[0.5, 0]], 2, 3)):
        with pytest.raises(dn.InvalidParameter):
            estimate_butterflies(links, people, items, 1.0)
    with pytest.raises(dn.InvalidParameter, match="at most 8,192"):
        estimate_butterflies([[0, 0]], MOST + 1, 2, 1.0)
