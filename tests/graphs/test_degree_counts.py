"""Stars, degrees, clustering and homophily: unbiased on the exact law of the noise, with error bars that hold."""

import math

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.graphs import degree_counts
from deniable.graphs.degree_counts import (
    Clustering,
    DegreeReports,
    degree_reports,
    estimate_clustering,
    estimate_degrees,
    estimate_homophily,
    estimate_stars,
)
from deniable.mechanisms.sparse.noisy_count import NoisyCount

RUNS = 300


def spread(size: int = 400) -> dn.Graph:
    random = np.random.default_rng(5)
    weights = random.pareto(1.6, size) + 1
    chance = np.minimum(np.outer(weights, weights) / weights.sum(), 1)
    first, second = np.nonzero(np.triu(random.random((size, size)) < chance, 1))
    return dn.Graph.of(np.stack([first, second], axis=1), size)


def degrees(graph: dn.Graph) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([len(graph.neighbours(person)) for person in range(graph.vertices)])


def two(d: Floats) -> Floats:
    return d * (d - 1) / 2


def two_squared(d: Floats) -> Floats:
    return two(d) ** 2


def three(d: Floats) -> Floats:
    return d * (d - 1) * (d - 2) / 6


def three_squared(d: Floats) -> Floats:
    return three(d) ** 2


def many(d: Floats) -> Floats:
    return np.where(d >= 3, 1.0, 0.0)


class TestExactLaw:
    """All outcomes of the noise with their exact probabilities, up to a tail of 1e-12."""

    @pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
    def test_estimates_and_variances_are_unbiased(self, epsilon: float) -> None:
        numbers = np.arange(5.0)
        assert (degree_counts._choose(numbers, 2) == two(numbers)).all()
        assert np.allclose(degree_counts._choose(numbers, 3), three(numbers))
        noise = NoisyCount(epsilon)
        ratio = 1 / float(noise.odds)
        values = np.arange(-400, 401)
        chances = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values)
        assert chances.sum() == pytest.approx(1, abs=1e-12)
        for true in (0, 1, 7):
            reports = DegreeReports(true + values, noise)
            for function, square in ((two, two_squared), (three, three_squared), (many, many)):
                each = reports.unbiased(function)
                truth = float(function(np.array([float(true)]))[0])
                assert chances @ each == pytest.approx(truth, rel=1e-7, abs=1e-7)
                variance = chances @ each**2 - truth**2
                estimated = chances @ (each**2 - reports.unbiased(square))
                assert estimated == pytest.approx(variance, rel=1e-6)


class TestSimulated:
    """Seeds 0 to 299: means within six standard errors; at least 88 % of 95 % intervals hold (false alarms below 1e-6)."""

    def test_stars_and_degrees(self) -> None:
        graph = spread()
        own = degrees(graph)
        truths = {
            "2-stars": int((own * (own - 1) // 2).sum()),
            "3-stars": sum(math.comb(each, 3) for each in own.tolist()),
            "many": int((own >= 5).sum()),
        }
        found: dict[str, list[tuple[float, float, bool]]] = {name: [] for name in truths}
        for seed in range(RUNS):
            reports = degree_reports(graph, 2.0, dn.SeededCoins(seed))
            counts = [reports.stars(2), reports.stars(3), reports.at_least(5)]
            for (name, truth), count in zip(truths.items(), counts, strict=True):
                found[name].append((count.raw - truth, count.standard_error, count.low <= truth <= count.high))
        for rows in found.values():
            errors, stated, covered = (np.array(column) for column in zip(*rows, strict=True))
            assert abs(errors.mean()) < 6 * errors.std() / math.sqrt(RUNS)
            assert covered.mean() >= 0.88
            assert math.sqrt((stated**2).mean()) == pytest.approx(errors.std(), rel=0.35)

    def test_homophily(self) -> None:
        graph = spread()
        groups = np.arange(graph.vertices) % 3
        same = int((groups[graph.owners] == groups[graph.lower]).sum())
        covered = []
        for seed in range(RUNS):
            found = estimate_homophily(graph, groups, 1.0, dn.SeededCoins(seed))
            low, high = found.interval()
            covered.append(low <= same / graph.edges <= high)
            assert 0 <= low <= found.value <= high <= 1
        assert np.mean(covered) >= 0.88
        empty = dn.Graph.of(np.empty((0, 2), np.int64), 50)
        assert estimate_homophily(empty, np.zeros(50), 1.0, dn.SeededCoins(1)).interval() == (0.0, 1.0)

    def test_clustering(self) -> None:
        clique = dn.Graph.of([(i, j) for i in range(80) for j in range(i)])
        found = estimate_clustering(clique, 4.0, coins=dn.SeededCoins(1))
        low, high = found.interval()
        assert isinstance(found, Clustering) and low <= 1.0 <= high and found.clear and "coefficient 0.9" in str(found)
        assert found.triangles.plan.epsilon + degree_counts.STARS * 4.0 == 4.0
        nobody = estimate_clustering(dn.Graph.of([(0, 1)], 50), 1.0, coins=dn.SeededCoins(1))
        assert str(nobody).startswith("too noisy to say")


def test_functions_read_the_same_reports() -> None:
    graph = spread(50)
    reports = degree_reports(graph, 1.0, dn.SeededCoins(1))
    assert estimate_stars(graph, 2, 1.0, dn.SeededCoins(1)) == reports.stars(2)
    assert estimate_degrees(graph, 1.0, [3, 4], dn.SeededCoins(1)) == {each: reports.at_least(each) for each in (3, 4)}


def test_bad_input() -> None:
    graph = spread(20)
    for ends in (1, 7, True, 2.0):
        with pytest.raises(dn.InvalidParameter, match="2 to 6 ends"):
            estimate_stars(graph, ends, 1.0)  # type: ignore[arg-type]
    for wrong in ([0], [1.5], 3):
        with pytest.raises(dn.InvalidParameter, match="whole numbers"):
            estimate_degrees(graph, 1.0, wrong)
    with pytest.raises(dn.InvalidParameter, match="Every person needs a group"):
        estimate_homophily(graph, [1, 2], 1.0)
