"""Errors of a count of triangles, as the reports themselves show them."""

import itertools
import math

import numpy as np
import pytest

import deniable as dn
from deniable.graphs.evidence import Evidence, looked_at, noise_found, shared_seen
from deniable.graphs.null_model import NullModel
from deniable.graphs.outlook import Counting
from deniable.graphs.plan import Tier
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from research.experiments.graph_runs import FirstRound, shared_squares
from research.experiments.graph_shapes import camps, complete, two_sides
from tests.graphs.test_graphs import FIVE, PAIRS


class TestPairs:
    def test_nobody_is_paired_with_themselves(self) -> None:
        """One hub shares nobody with anybody."""
        for often in ([[1.0, 0.0], [0.0, 9.0]], [[1.0, 0.0], *([[0.0, 1.0]] * 9)]):
            assert NullModel(np.array([9.0, 1.0]), np.array(often)).shared.squares.sum() < 0.05

    def test_a_graph_without_another_of_its_degrees_is_exact(self) -> None:
        """Three hubs in one group or in three, and a clique whose people are each a group."""
        for hubs in ([[3.0, 0.0]], [[1.0, 0.0]] * 3):
            model = NullModel(np.array([250.0, 3.0]), np.array([*hubs, [0.0, 250.0]]))
            assert model.shared.squares.sum() == pytest.approx(3 * 250**2, rel=0.05)
        whole = complete(30)
        clique = NullModel(np.array([29.0]), np.ones((30, 1))).shared
        assert clique.squares.sum() == pytest.approx(sum(shared_squares(whole, 0)), rel=0.02)
        assert clique.triangles == pytest.approx(whole.triangles(), rel=0.02)


class TestShared:
    def test_it_is_right_on_average_over_all_answers(self) -> None:
        """Every outcome of every answer on five people with its probability: the mean is the true sum of c^2, row by row."""
        law = CoordinateResponse.of(1.0)
        truth = FIVE.are_edges(*(np.array(each) for each in zip(*PAIRS, strict=True)))
        mean = np.zeros(4)
        for outcome in itertools.product((0, 1), repeat=len(PAIRS)):
            y = np.zeros((5, 5))
            for (j, k), one in zip(PAIRS, outcome, strict=True):
                y[j, k] = y[k, j] = (one - float(law.q)) / float(1 - 2 * law.q)
            chance = math.prod(float(law.p if one == true else law.q) for one, true in zip(outcome, truth, strict=True))
            mean += chance * shared_seen(y, np.zeros(5))[0]
        expected = np.zeros(5)
        counts = dict.fromkeys(PAIRS, 0)
        for _, first, second in FIVE.wedges():
            for pair in zip(first.tolist(), second.tolist(), strict=True):
                counts[pair] += 1
        for (_, lower), count in counts.items():
            expected[lower] += count**2
        assert mean == pytest.approx(expected[1:], abs=1e-9)

    @pytest.mark.needs("numba")
    def test_what_degrees_do_not_say_is_found(self) -> None:
        """Two camps share more people than others with their degrees; without noise that is believed."""
        graph = camps(5, 200)
        first = FirstRound.of(graph, 4.0, 1.5, dn.SeededCoins(3))
        ordered = graph.renumbered(np.argsort(np.argsort(-np.bincount(np.concatenate([graph.owners, graph.lower])))))
        joined = np.zeros((looked_at(410), 410), np.bool_)
        for i, j in zip(ordered.owners.tolist(), ordered.lower.tolist(), strict=True):
            for a, b in ((i, j), (j, i)):
                if a < len(joined):
                    joined[a, b] = True
        foreseen = first.outlook.shared.squares
        evidence = Evidence(np.zeros(410), joined)
        found = evidence.squares(first.plan, foreseen)
        true = sum(shared_squares(ordered, 0))
        assert foreseen.sum() < 0.7 * true and found.sum() > 0.85 * true
        assert evidence.squares(first.plan, 4 * foreseen).sum() == 4 * foreseen.sum()

    @pytest.mark.needs("numba")
    def test_stated_errors_are_near_true_ones(self) -> None:
        """Where the degrees say little, at three seeds."""
        for graph in (two_sides(3, 250), camps(5, 200)):
            for seed in range(3):
                run = FirstRound.of(graph, 2.0, 1.25, dn.SeededCoins(seed)).rest(dn.SeededCoins(90 + seed))
                assert 0.85 < run.ratio < 1.3


class TestNoise:
    TIER = Tier(0.5, 0.5, 8.0)

    def test_too_little_or_too_much_was_foreseen(self) -> None:
        """Noise of 3,000 people around seven numbers of triangles: known within a fifth, six standard errors."""
        drawn = self.TIER.noise.draw(np.full(3000, 5.0), dn.SeededCoins(4))
        drawn += np.repeat(np.arange(75) % 7, 40) * 100.0
        for times in (0.5, 1.0, 2.0):
            local = np.full((1, 1), 5.0 / times)
            counting = Counting(np.full((1, 1), 3000.0), local, 1e-9)
            found = noise_found(drawn, self.TIER, counting)
            assert found == pytest.approx(times**2, rel=0.2)
            some = np.where(np.arange(3000) % 4, np.nan, drawn) - np.repeat(np.arange(75) % 7, 40) * 100.0
            assert noise_found(some, self.TIER, counting) == pytest.approx(times**2, rel=0.25)

    def test_few_people_say_nothing(self) -> None:
        counting = Counting(np.ones((1, 1)), np.ones((1, 1)), 1.0)
        assert noise_found(np.full(20, 7.0), self.TIER, counting) == 1.0
        assert looked_at(1 << 20) == 2 and looked_at(10) == 10
