"""Private graphs: counts against their definitions, exact means and variances over all noisy graphs, noise, bad input."""

import itertools
import math

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.graphs import Graph, Split, best_split, common_neighbours, count_triangles, noise
from deniable.graphs.foreseen import RESPONSES, WIDENINGS, foreseen_shared_pairs, foreseen_split, foreseen_variance
from deniable.graphs.outlook import largest_answer
from deniable.graphs.response import CompressedLists, NoisyGraph, compressed_response, plain_response, transposed
from deniable.graphs.triangles import cut_to, laplace_scale, second_round
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from research.rivals.asymmetric import Asymmetric, asymmetric_response, count_triangles_asymmetric, triangles_of
from research.rivals.grouped import Grouped, count_triangles_grouped, grouped_round
from tests.mechanisms.test_sparse_law import is_likely

FIVE = Graph.of([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4)])
PAIRS = [(j, k) for k in range(5) for j in range(k)]


def random_graph(vertices: int, share: float, seed: int) -> Graph:
    random = np.random.default_rng(seed)
    pairs = np.array([(j, k) for k in range(vertices) for j in range(k)])
    return Graph.of(pairs[random.random(len(pairs)) < share], vertices)


def matrix(graph: Graph) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    out = np.zeros((graph.vertices, graph.vertices), np.int64)
    out[graph.owners, graph.lower] = out[graph.lower, graph.owners] = 1
    return out


class TestGraph:
    def test_counts_are_those_of_the_matrix(self) -> None:
        graph = random_graph(40, 0.3, 1)
        a = matrix(graph)
        assert graph.triangles() == np.trace(a @ a @ a) // 6
        assert graph.edges == a.sum() // 2
        assert sum(len(i) for i, _, _ in graph.wedges()) == graph.wedge_counts.sum()
        for i, j, k in graph.wedges():
            assert ((j < k) & (k < i)).all() and a[i, j].all() and a[i, k].all()
        lower = np.tril(a, -1)
        shared = sum(
            int((lower[k + 1 :, j] * lower[k + 1 :, k]).sum()) ** 2 for j, k in itertools.combinations(range(40), 2)
        )
        assert graph.shared_pairs() == shared
        assert graph.neighbours(7).tolist() == np.flatnonzero(a[7]).tolist()

    def test_wedges_come_in_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = random_graph(30, 0.4, 2)
        whole = [np.concatenate(parts) for parts in zip(*graph.wedges(), strict=True)]
        monkeypatch.setattr("deniable.graphs.graph.WEDGES", 7)
        parts = list(graph.wedges())
        assert len(parts) > 10
        for first, second in zip(whole, (np.concatenate(each) for each in zip(*parts, strict=True)), strict=True):
            assert np.array_equal(first, second)

    def test_renumbering_keeps_the_triangles(self) -> None:
        graph = random_graph(30, 0.3, 3)
        assert graph.renumbered(np.random.default_rng(4).permutation(30)).triangles() == graph.triangles()

    def test_names(self) -> None:
        graph, names = Graph.named([("b", "a"), ("c", "a"), ("a", "b")])
        assert (graph.vertices, graph.edges, names.tolist()) == (3, 2, ["a", "b", "c"])

    def test_refusals(self) -> None:
        for edges in ([(1, 2, 3)], [(0.5, 1)], [1, 2]):
            with pytest.raises(dn.InvalidParameter, match="pairs of whole numbers"):
                Graph.of(edges)
        for pair in ((0, 9), (-1, 2)):
            with pytest.raises(dn.InvalidParameter, match="from 0 to 4"):
                Graph.of([pair], 5)
        with pytest.raises(dn.EmptyBatch):
            Graph.of([])
        with pytest.raises(dn.EmptyBatch):
            Graph.named([])
        assert Graph.of([], 3).triangles() == 0 and Graph.of([], 3).shared_pairs() == 0


class TestTwoRounds:
    def test_exact_mean_and_variance_over_all_noisy_graphs(self) -> None:
        """Every noisy graph on five vertices with its probability: right on average, with the stated variance."""
        coordinate = CoordinateResponse.of(0.7)
        p, q, mean, square = float(coordinate.p), float(coordinate.q), 0.0, 0.0
        for outcome in itertools.product((0, 1), repeat=len(PAIRS)):
            noisy = NoisyGraph.of(Graph.of([pair for pair, one in zip(PAIRS, outcome, strict=True) if one], 5), coordinate)
            truth = FIVE.are_edges(*(np.array(each) for each in zip(*PAIRS, strict=True)))
            chance = math.prod(p if one == true else q for one, true in zip(outcome, truth, strict=True))
            value = float(second_round(FIVE, noisy, with_local=False).counts(coordinate).sum())
            mean += chance * value
            square += chance * value**2
        assert mean == pytest.approx(FIVE.triangles(), abs=1e-9)
        assert square - mean**2 == pytest.approx(coordinate.noise * FIVE.shared_pairs(), rel=1e-9)

    def test_local_sensitivity_is_the_worst_change(self) -> None:
        graph, coordinate = random_graph(14, 0.5, 5), CoordinateResponse.of(0.4)
        noisy = NoisyGraph.of(random_graph(14, 0.5, 6), coordinate)
        seen = second_round(graph, noisy)
        for vertex in range(14):
            here = seen.counts(coordinate)[vertex]
            mine, worst = set(graph.below(vertex).tolist()), 0.0
            for other in range(vertex):
                edges = [(vertex, each) for each in mine ^ {other}]
                changed = second_round(Graph.of(np.array(edges, np.int64).reshape(-1, 2), 14), noisy)
                worst = max(worst, abs(changed.counts(coordinate)[vertex] - here))
            if mine:
                assert seen.local[vertex] == pytest.approx(worst, abs=1e-9)

    def test_cut_lists_change_by_no_more_than_the_scale(self) -> None:
        """All single changes of one list of a graph whose lists are cut to three."""
        coordinate, graph = CoordinateResponse.of(0.4), random_graph(10, 0.7, 7)
        noisy, most = NoisyGraph.of(random_graph(10, 0.5, 8), coordinate), np.full(10, 3)
        here = second_round(cut_to(graph, most), noisy).counts(coordinate)[9]
        assert cut_to(graph, most).degrees.max() == 3
        for other in range(9):
            edges = [(9, each) for each in set(graph.below(9).tolist()) ^ {other}]
            changed = second_round(cut_to(Graph.of(np.array(edges).reshape(-1, 2), 10), most), noisy).counts(coordinate)[9]
            assert abs(changed - here) <= laplace_scale(most, coordinate, 1.0)[9] + 1e-9

    @pytest.mark.needs("numba")
    @pytest.mark.parametrize("method", ["compressed", "plain"])
    @pytest.mark.parametrize("second", ["smooth", "laplace"])
    def test_within_its_error(self, method: str, second: str) -> None:
        """Sixty runs: their mean within six standard errors, wrong once in 5e8 (cut lists lose next to nothing here)."""
        graph = random_graph(60, 0.2, 9)
        runs = [
            count_triangles(graph, 6.0, method=method, second=second, coins=dn.SeededCoins(seed))  # type: ignore[arg-type]
            for seed in range(60)
        ]
        shared = 2 * graph.shared_pairs()  # it depends on the order; this is above that of any
        variance = np.mean([run.second_variance + run.response_variance(shared) for run in runs])
        assert abs(np.mean([run.estimate for run in runs]) - graph.triangles()) < 6 * (variance / 60) ** 0.5
        assert all(run.bits > 0 for run in runs)

    def test_refusals(self) -> None:
        for options in ({"method": "other"}, {"second": "other"}, {"alpha": 1.0}):
            with pytest.raises(dn.InvalidParameter):
                count_triangles(FIVE, 1.0, **options)
        for shares in ((0.5, 0.5), (0.0, 0.5), (-0.1, 0.5)):
            with pytest.raises(dn.InvalidParameter, match="shares"):
                Split(1.0, *shares)
        with pytest.raises(dn.InvalidParameter, match="widening"):
            Split(1.0, widening=1.0)
        with pytest.raises(dn.InvalidParameter):
            count_triangles(FIVE, 0.0)

    @pytest.mark.needs("numba")
    def test_the_best_split_is_no_worse_than_the_default(self) -> None:
        graph = random_graph(80, 0.3, 18)
        split = best_split(graph, 4.0, coins=dn.SeededCoins(1))
        assert split.epsilon == 4.0
        variances = []
        for each in (split, Split(4.0)):
            runs = [count_triangles(graph, each, coins=dn.SeededCoins(seed)) for seed in range(5)]
            variances.append(np.mean([run.second_variance + run.response_variance(graph.shared_pairs()) for run in runs]))
        assert variances[0] < 1.1 * variances[1]

    def test_the_foreseen_split_is_near_the_best(self) -> None:
        """On a graph of another kind than the one it reckons with, beside all splits that it chooses among."""
        graph = random_graph(400, 0.1, 30)
        noisy = graph.degrees + NoisyCount(0.08).noise(400, dn.SeededCoins(31))
        chosen = foreseen_split(noisy, 1.0, lambda response: response / 3)
        exact = (graph.degrees.astype(float), np.ones(400, np.int64), float(graph.shared_pairs()))
        variance = foreseen_variance(chosen, chosen.for_response / 3, *exact)
        others = (Split(1.0, 0.08, r, w) for r in RESPONSES.tolist() for w in WIDENINGS.tolist())
        best = min(foreseen_variance(split, split.for_response / 3, *exact) for split in others)
        assert variance <= 1.1 * best
        assert RESPONSES[0] < chosen.response < RESPONSES[-1] and WIDENINGS[0] < chosen.widening < WIDENINGS[-1]
        assert chosen.epsilon == 1.0 and chosen.degrees == 0.08

    def test_what_is_foreseen_is_about_what_comes(self) -> None:
        """Of a graph without structure: the shared pairs within a fifth, the variance of the second round within two."""
        graph, noisy_count = random_graph(400, 0.1, 32), NoisyCount(0.08)
        noisy = graph.degrees + noisy_count.noise(400, dn.SeededCoins(33))
        assert foreseen_shared_pairs(noisy, noisy_count) == pytest.approx(graph.shared_pairs(), rel=0.2)
        found = count_triangles(graph, 1.0, method="plain", coins=dn.SeededCoins(34))
        own = (graph.degrees.astype(float), np.ones(400, np.int64), 0.0)
        assert foreseen_variance(found.split, found.split.for_response, *own) == pytest.approx(
            found.second_variance, rel=0.4
        )

    def test_the_split_adds_up(self) -> None:
        split = Split(1.5)
        assert split.for_degrees + split.for_response + split.for_second_round == pytest.approx(1.5)


class TestResponse:
    @pytest.mark.needs("numba")
    @pytest.mark.parametrize("compressed", [False, True])
    def test_answers_have_their_frequencies(self, compressed: bool) -> None:
        """Of edges and of pairs that are none, over 30 graphs; each within six standard deviations, wrong once in 2e8."""
        graph = random_graph(150, 0.1, 10)
        yes, edges, none, others = 0, 0, 0, 0
        for seed in range(30):
            coins = dn.SeededCoins(seed)
            if compressed:
                lists = CompressedLists(3.0, 1.5, NoisyCount(0.5))
                answered = compressed_response(graph, lists, graph.degrees, coins)
            else:
                answered = plain_response(graph, 1.0, coins)
            coordinate, bits = answered.coordinate, np.tril(answered.rows.unpack(), -1)
            assert np.array_equal(bits, answered.rows.unpack())
            a = np.tril(matrix(graph), -1)
            yes, edges = yes + int(bits[a == 1].sum()), edges + graph.edges
            none, others = none + int(bits[a == 0].sum()), others + 150 * 149 // 2 - graph.edges
        for times, total, chance in ((yes, edges, float(coordinate.p)), (none, others, float(coordinate.q))):
            assert abs(times - total * chance) < 6 * (total * chance * (1 - chance)) ** 0.5

    def test_bits_are_transposed(self) -> None:
        random = np.random.default_rng(21)
        for rows, width in ((1, 1), (8, 3), (13, 2), (70, 9)):
            bits = random.integers(0, 2, (rows, 8 * width)).astype(np.uint8)
            turned = np.unpackbits(transposed(np.packbits(bits, axis=1, bitorder="little")), axis=1, bitorder="little")
            assert np.array_equal(turned[:, :rows], bits.T) and not turned[:, rows:].any()

    def test_both_ways_is_symmetric(self) -> None:
        for vertices in (3, 64, 1100):
            graph = Graph.of(np.random.default_rng(11).integers(0, vertices, (500, 2)), vertices)
            noisy = NoisyGraph.of(graph, CoordinateResponse.of(1.0))
            bits = np.unpackbits(noisy.both_ways.view(np.uint8), axis=1, bitorder="little")[:, :vertices]
            assert np.array_equal(bits, matrix(graph))
            assert np.array_equal(noisy.answers(graph.lower, graph.owners), np.ones(graph.edges, np.bool_))


class TestNoise:
    @pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
    def test_smooth_noise_keeps_its_promise(self, epsilon: float) -> None:
        """The worst ratio of densities over a grid, for a shift of one sensitivity and any change of scale within e^beta."""
        for share in (0.1, 0.35, 0.6):
            beta = share * epsilon / noise.FREEDOM
            scale = noise.smooth_scale(epsilon, beta)
            x = np.concatenate([-np.geomspace(1e4, 1e-4, 4000), np.geomspace(1e-4, 1e4, 4000)]) * scale

            def log_density(shift: float, width: float, x: Floats = x) -> Floats:
                # variance one: Student's variable is sqrt(d / (d - 2)) times as wide
                square = ((x - shift) / width) ** 2 / (noise.FREEDOM - 2)
                return np.asarray(-(noise.FREEDOM + 1) / 2 * np.log1p(square) - math.log(width))

            worst = max(
                float(np.abs(log_density(0, scale) - log_density(shift, scale * math.exp(by))).max())
                for shift in (-1.0, -0.5, 0.0, 0.5, 1.0)
                for by in np.linspace(-beta, beta, 9)
            )
            assert 0.5 * epsilon < worst <= epsilon
        for wrong in (0.0, epsilon / noise.FREEDOM):
            with pytest.raises(dn.InvalidParameter):
                noise.smooth_scale(epsilon, wrong)

    def test_smooth_noise_has_its_density(self) -> None:
        """40,000 draws in cells; alarms falsely less than once in 1e6."""
        drawn = noise.smooth(np.ones(40_000), dn.SeededCoins(12))
        edges = np.linspace(-4, 4, 41)
        fine = np.linspace(-4, 4, 40_001)
        density = 8 / (3 * math.pi * math.sqrt(3)) / (1 + fine**2 / 3) ** 3  # of variance one, with five degrees
        inside = (density[:-1] + density[1:]) / 2 * (fine[1] - fine[0])
        expected = 40_000 * inside.reshape(40, -1).sum(axis=1)
        counts = np.histogram(drawn, edges)[0]
        assert is_likely(np.append(counts, 40_000 - counts.sum()), np.append(expected, 40_000 - expected.sum()))

    def test_laplace_noise_has_its_density(self) -> None:
        drawn = noise.laplace(np.full(40_000, 2.0), dn.SeededCoins(13))
        edges = np.linspace(-8, 8, 33)
        below = np.where(edges < 0, np.exp(np.minimum(edges, 0) / 2) / 2, 1 - np.exp(-np.maximum(edges, 0) / 2) / 2)
        counts = np.histogram(drawn, edges)[0]
        expected = 40_000 * np.diff(below)
        assert is_likely(np.append(counts, 40_000 - counts.sum()), np.append(expected, 40_000 - expected.sum()))

    def test_smooth_sensitivity_is_the_largest_term(self) -> None:
        local = np.array([0.0, 5.0, 80.0, 500.0])
        steps = np.arange(4000)[:, None]
        for step, beta in ((6.0, 0.03), (1.5, 0.4), (9.0, 3.0)):
            direct = (np.exp(-beta * steps) * (local + steps * step)).max(axis=0)
            found = noise.smooth_sensitivity(local, step, beta)
            assert found == pytest.approx(direct, rel=1e-12)
            # one edge further away both local sensitivities differ by a step at most
            assert (np.log(noise.smooth_sensitivity(local + step, step, beta) / found) <= beta + 1e-12).all()

    def test_largest_change(self) -> None:
        coordinate = CoordinateResponse.of(0.5)
        both = coordinate.indicator(np.array([0, 1]), 1)
        assert largest_answer(coordinate) == pytest.approx(np.abs(both).max())


class TestOthers:
    def test_asymmetric_is_unbiased_over_all_noisy_graphs(self) -> None:
        """Every noisy graph on five vertices with its probability; nothing is cut."""
        response = Asymmetric(0.8, 0.7)
        truth = FIVE.are_edges(*(np.array(each) for each in zip(*PAIRS, strict=True)))
        mean = 0.0
        for outcome in itertools.product((0, 1), repeat=len(PAIRS)):
            noisy = NoisyGraph.of(
                Graph.of([pair for pair, one in zip(PAIRS, outcome, strict=True) if one], 5), CoordinateResponse.of(1.0)
            )
            heads = [response.mu * (1.0 if true else response.rho) for true in truth]
            chance = math.prod(h if one else 1 - h for one, h in zip(outcome, heads, strict=True))
            mean += chance * triangles_of(FIVE, noisy, response, 100.0)[1]
        # pairs (k, i) are edges, so both of a triangle's are there with mu^2, and otherwise with mu^2 rho
        assert mean == pytest.approx(FIVE.triangles(), abs=1e-9)

    def test_asymmetric_answers(self) -> None:
        """Six standard deviations, wrong once in 2e8."""
        graph, response = random_graph(200, 0.2, 14), Asymmetric(0.7, 0.6)
        answered = asymmetric_response(graph, response, dn.SeededCoins(15))
        bits, a = answered.rows.unpack(), np.tril(matrix(graph), -1)
        lower = np.tril(np.ones((200, 200), bool), -1)
        for mask, chance in ((a == 1, response.mu), ((a == 0) & lower, response.mu * response.rho)):
            assert abs(bits[mask].sum() - mask.sum() * chance) < 6 * (mask.sum() * chance * (1 - chance)) ** 0.5

    @pytest.mark.parametrize("which", ["asymmetric", "grouped"])
    def test_within_its_error(self, which: str) -> None:
        """Thirty runs with a generous budget: the mean within six standard errors of what was measured."""
        graph = random_graph(50, 0.3, 16)
        runs = []
        for seed in range(30):
            coins = dn.SeededCoins(seed)
            if which == "asymmetric":
                runs.append(count_triangles_asymmetric(graph, Split(12.0, 0.1, 0.5), 0.5, 10.0, coins)[0])
            else:
                runs.append(count_triangles_grouped(graph, Split(12.0, 0.1, 0.5), 4.0, coins)[0])
        assert abs(np.mean(runs) - graph.triangles()) < 6 * np.std(runs) / 30**0.5

    def test_grouped_changes_by_no_more_than_its_local_sensitivity(self) -> None:
        """All single changes of the last vertex's list, which leave everybody else's answers as they are."""
        graph, split = random_graph(30, 0.4, 19), Split(3.0, 0.1, 0.5)
        order = np.argsort(dn.SeededCoins(20).public(1 << 62, 30), kind="stable")
        last = int(np.flatnonzero(order == 29)[0])
        here = grouped_round(graph, split, 8.0, dn.SeededCoins(20))
        worst = 0.0
        for other in (vertex for vertex in range(30) if vertex != last):
            pairs = {frozenset(pair) for pair in zip(graph.owners.tolist(), graph.lower.tolist(), strict=True)}
            edges = np.array([sorted(pair) for pair in pairs ^ {frozenset((last, other))}])
            changed = grouped_round(Graph.of(edges, 30), split, 8.0, dn.SeededCoins(20))
            worst = max(worst, abs(changed.counts[29] - here.counts[29]))
        assert here.local[29] == pytest.approx(worst, abs=1e-9)

    def test_grouped_costs_its_budget(self) -> None:
        """One edge more in a bin of s: the odds of an answer change by e^eps at most, and by that at the first edge."""
        response = Grouped(0.45, 8, 100)
        odds = math.exp(response.boosted)
        yes = [(odds * held / 8 + 1 - held / 8) / (1 + odds) for held in range(9)]
        ratios = [max(b / a, (1 - a) / (1 - b)) for a, b in itertools.pairwise(yes)]
        assert max(ratios) == pytest.approx(math.exp(0.45))

    def test_common_neighbours(self) -> None:
        """Within six standard deviations for twenty seeds: wrong once in 2e7."""
        graph = random_graph(120, 0.3, 17)
        a = matrix(graph)
        for seed in range(20):
            found = common_neighbours(graph, 5, 80, 4.0, coins=dn.SeededCoins(seed))
            assert abs(found.estimate - int(a[5] @ a[80])) < 6 * found.variance**0.5
            assert 0 < found.bits < 150
        for first, second in ((5, 5), (5, 120), (-1, 5)):
            with pytest.raises(dn.InvalidParameter):
                common_neighbours(graph, first, second, 1.0)
