"""Distributions of a number: exact laws at any size, least squares, weights of levels, bands that hold, and refusals."""

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.core import odds_below
from deniable.kernels import ems as rounds_in_numpy
from deniable.mechanisms.distributions.comb_wave import PIECES, ROUND_PIECES, ROUND_UNIT, best_pieces, round_pieces
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.distributions.fitting import FACTORS, Penalty, _factor, fitted, nonnegative
from deniable.mechanisms.distributions.hierarchy import gain, level_oracle, level_weights
from deniable.mechanisms.distributions.workload_channel import whole_weights
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.shares.subset_selection import best_size, chance
from deniable.planning.distributions import Shapes
from deniable.testing import checks
from tests.examples import DISTRIBUTIONS, EPSILON
from tests.twins import plain_loops


def line(size: int) -> dn.Ordered:
    return dn.Ordered(range(size))


def collected(mechanism: DistributionMechanism, people: Floats, seed: int) -> dn.Tally:
    """A tally drawn from the law, of so many people with each answer."""
    random = np.random.default_rng(seed)
    rows = zip(people, mechanism.matrix, strict=True)
    counts = np.sum([random.multinomial(int(many), row) for many, row in rows], axis=0)
    return dn.Tally(mechanism.fingerprint, int(people.sum()), counts)


class TestLaws:
    @pytest.mark.parametrize("size", [3, 24, 257, 1024])
    @pytest.mark.parametrize(
        "make",
        [
            dn.SquareWave,
            lambda domain, epsilon: dn.SquareWave(domain, epsilon, circular=True),
            dn.CombWave,
            dn.Hierarchy.comb,
            dn.Hierarchy.weighted,
            dn.Hierarchy.fours,
        ],
        ids=["square", "circular", "comb", "comb-points", "weighted", "fours"],
    )
    def test_every_size_is_proved(self, make: Callable[..., dn.Mechanism], size: int) -> None:
        for domain in (line(size), dn.Interval(0, 120, steps=size - 1)):
            found = dn.certify(make(domain, 1.0))
            assert found.holds and found.loss.proof == "proved"
            assert found.loss.odds == odds_below(1.0)

    @pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0, 8.0])
    def test_every_budget_has_good_pieces_and_windows(self, epsilon: float) -> None:
        for size in (16, 100, 256):
            for mechanism in (dn.SquareWave(line(size), epsilon), dn.CombWave(line(size), epsilon)):
                assert mechanism.rank == size
                assert dn.certify(mechanism).holds

    def test_windows_of_a_circle_can_be_inverted(self) -> None:
        for size in (8, 12, 24, 60, 96):
            assert dn.SquareWave(line(size), 1.0, circular=True).rank == size

    def test_pieces_are_scaled(self) -> None:
        for epsilon, (places, pieces) in PIECES.items():
            assert best_pieces(128, epsilon) == (places, pieces)
            width = sum(pieces[1::2]) - sum(pieces[::2])
            assert width / places == pytest.approx(1 / (1 + np.exp(epsilon)), rel=2)

    def test_workload_channels_keep_their_budget_exactly(self) -> None:
        mechanism = dn.WorkloadChannel.optimal(line(12), 1.0, dn.Workload.ranges(12), rounds=20)
        odds = mechanism.loss().odds
        assert odds is not None and odds <= odds_below(1.0)
        assert dn.certify(mechanism).holds

    def test_rounded_weights(self) -> None:
        weights = whole_weights(np.array([[0.6, 0.3], [0.4, 0.7]]), Fraction(2))
        assert (weights.sum(axis=1) == 1 << 40).all()
        assert (2 * weights.min(axis=0) >= weights.max(axis=0)).all()


class TestLeastSquares:
    @pytest.mark.parametrize("name", [name for name, each in DISTRIBUTIONS.items() if each.rank == each.domain.size])
    def test_no_linear_estimate_is_better_if_answers_are_even(self, name: str) -> None:
        """Any other unbiased estimate has at least its variance, for people drawn at random (Gauss, Markov)."""
        mechanism = DISTRIBUTIONS[name]
        matrix, even = mechanism.matrix, np.full(mechanism.domain.size, 1 / mechanism.domain.size)
        assert np.allclose(mechanism.inverse @ matrix.T, np.eye(len(matrix)), atol=1e-10)
        other = np.linalg.pinv(matrix.T)
        reports = np.diag(even @ matrix)
        gap = other @ reports @ other.T - mechanism.inverse @ reports @ mechanism.inverse.T
        assert np.linalg.eigvalsh(gap)[0] > -1e-9

    @pytest.mark.parametrize("name", candidates("distributions"))
    def test_predicted_errors_are_those_of_the_law(self, name: str) -> None:
        """Exactly, for every mechanism of the planner: the covariance that follows from its enumerated law."""
        mechanism = candidates("distributions")[name].made(line(9), 1.0, dn.Workload.prefixes(9))
        (check,) = (each for each in checks(mechanism) if each.name == "variance")
        assert check() is None  # raises where they differ, and says why where it does not apply
        even = np.full(9, 1 / 9)
        np.testing.assert_allclose(mechanism.even_noise, mechanism.joint_noise(even), rtol=1e-8, atol=1e-9)

    def test_the_trace_of_information_is_bounded(self) -> None:
        """What `Workload.bound` rests on: no mechanism says more in total than d (odds - 1)^2 / (4 odds)."""
        most = float((odds_below(1.0) - 1) ** 2 / (4 * odds_below(1.0)))
        for size in (8, 64):
            for mechanism in (
                dn.SquareWave(line(size), 1.0),
                dn.CombWave(line(size), 1.0),
                dn.Hierarchy.comb(line(size), 1.0),
                dn.Hierarchy.weighted(line(size), 1.0),
            ):
                assert np.trace(mechanism.information) - size * mechanism.information.mean() <= size * most * (1 + 1e-9)


def figure(mechanism: DistributionMechanism, workload: dn.Workload) -> float:
    """n times the variance plus the square, averaged over questions, for people drawn from even answers."""
    size = mechanism.domain.size
    even = np.full(size, 1 / size)
    covariance = mechanism.joint_noise(even) + np.diag(even) - np.outer(even, even)
    return workload.mean_square(covariance + np.outer(even, even))


def formula(workload: dn.Workload, cells: list[int], shares: Floats) -> float:
    """The same, where each level has the optimum, subset selection: exact, since levels are cut in two."""
    size, odds = workload.size, odds_below(1.0)
    precision = np.full((size, size), 1e6)
    for each, share in zip(cells, shares, strict=True):
        cell = np.arange(size) * each // size
        same = (cell[:, None] == cell[None, :]).astype(np.float64)
        precision += share * subset_gain(each, odds) * (same - 1 / each)
    even = np.full(size, 1 / size)
    return workload.mean_square(np.linalg.inv(precision) + np.outer(even, even))


def subset_gain(cells: int, odds: Fraction) -> float:
    """One over the variance of a contrast of cells."""
    size = best_size(cells, odds)
    p, q = chance(cells, size, odds)
    return float((p - q) ** 2 * Fraction(cells - 1, cells) / (Fraction(size, cells) * (1 - Fraction(size, cells))))


class TestLevels:
    @pytest.mark.parametrize(
        ("workload", "flat", "equal", "weighted"),
        [
            (dn.Workload.prefixes(64), 39.0, 15.2, 12.8),
            (dn.Workload.prefixes(256), 156.8, 25.3, 21.8),
            (dn.Workload.ranges(64), 39.4, 25.4, 18.4),
        ],
        ids=["prefixes-64", "prefixes-256", "ranges-64"],
    )
    def test_weights_follow_the_workload(self, workload: dn.Workload, flat: float, equal: float, weighted: float) -> None:
        """Known figures of the optimum at each level; ours, whose reports are one number, are at most 2 % above."""
        size, odds = workload.size, odds_below(1.0)
        cells = [1 << level for level in range(1, size.bit_length())]
        best = level_weights(workload, cells, [subset_gain(each, odds) for each in cells])
        assert formula(workload, [size], np.ones(1)) == pytest.approx(flat, abs=0.06)
        assert formula(workload, cells, np.full(len(cells), 1 / len(cells))) == pytest.approx(equal, abs=0.06)
        assert formula(workload, cells, best) == pytest.approx(weighted, abs=0.06)
        made = dn.Hierarchy.weighted(line(size), 1.0, workload)
        assert weighted < figure(made, workload) < 1.025 * weighted
        assert workload.bound(odds) < figure(dn.Hierarchy.comb(line(size), 1.0, 40), workload) < weighted * 1.001 or (
            workload.questions > size
        )

    @pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.5, 1.0, 2.0, 4.0])
    @pytest.mark.parametrize("workload", [dn.Workload.prefixes(256), dn.Workload.ranges(256)], ids=["prefixes", "ranges"])
    def test_haar_wavelets_are_hardly_ever_better(self, workload: dn.Workload, epsilon: float) -> None:
        """A person reports one Haar coefficient with its sign: the best such protocol has variance 1 / tanh(epsilon / 2)^2.

        Its levels say nothing about each other, so that the best weights give (sum of root(cost / strength))^2.
        """
        size, cells = 256, [1 << level for level in range(1, 9)]
        shown = [0.0]
        for each in cells:
            sums = workload.centred.reshape(each, size // each, each, size // each).sum(axis=(1, 3))
            shown.append(float(np.trace(sums)) * each / size)
        costs = np.diff(shown) / workload.questions
        haar = float(np.sqrt(costs / [2 * np.tanh(epsilon / 2) ** 2 * size / each for each in cells]).sum() ** 2)
        assert figure(dn.Hierarchy.weighted(line(size), epsilon, workload), workload) < haar * (
            1 if epsilon >= 0.5 else 1.025
        )

    def test_no_other_weights_are_better(self) -> None:
        workload, cells = dn.Workload.prefixes(32), [2, 4, 8, 16, 32]
        gains = [gain(level_oracle(each, 1.0)) for each in cells]
        best = level_weights(workload, cells, gains)
        smallest = formula(workload, cells, level_weights(workload, cells, [subset_gain(k, odds_below(1.0)) for k in cells]))
        assert best.sum() == pytest.approx(1)
        random = np.random.default_rng(3)
        for _ in range(50):
            other = best * np.exp(random.normal(0, 0.2, len(cells)))
            assert formula(workload, cells, other / other.sum()) >= smallest - 1e-9

    def test_channels_for_workloads_come_closer_to_the_bound(self) -> None:
        for workload in (dn.Workload.prefixes(16), dn.Workload.ranges(16)):
            ours = figure(dn.WorkloadChannel.optimal(line(16), 1.0, workload, rounds=60), workload)
            assert (
                workload.bound(odds_below(1.0))
                < ours
                < 0.93 * figure(dn.Hierarchy.weighted(line(16), 1.0, workload), workload)
            )

    def test_workloads(self) -> None:
        rows = [[1 if first <= x <= last else 0 for x in range(6)] for first in range(6) for last in range(first, 6)]
        assert np.array_equal(dn.Workload(rows).gram, dn.Workload.ranges(6).gram)
        assert dn.Workload(rows).questions == dn.Workload.ranges(6).questions == 21
        assert np.array_equal(dn.Workload(np.tril(np.ones((6, 6)))).gram, dn.Workload.prefixes(6).gram)


class TestFit:
    @pytest.mark.needs("numba")
    def test_compiled_rounds_give_the_same(self) -> None:
        from deniable.kernels import ems_compiled

        mechanism = dn.SquareWave(line(40), 1.0)
        counts = collected(mechanism, np.full(40, 50.0), 1).counts.astype(np.float64)
        for smooth, circular in ((False, False), (True, False), (True, True)):
            plain, rounds = plain_loops(rounds_in_numpy).smoothed_em(mechanism.matrix, counts, smooth, circular, 200, 1e-6)
            fast, same = ems_compiled.smoothed_em(mechanism.matrix, counts, smooth, circular, 200, 1e-6)
            assert rounds == same
            np.testing.assert_allclose(plain, fast, rtol=1e-9)

    def test_quadratic_programs(self) -> None:
        """The conditions of Karush, Kuhn and Tucker hold, whatever the form is."""
        random = np.random.default_rng(5)
        for size in (1, 2, 7, 30):
            half = random.normal(size=(size + 2, size))
            form, score = half.T @ half + 0.01 * np.eye(size), random.normal(size=size)
            found = nonnegative(form, score)
            slope = form @ found - score
            assert found.min() >= 0 and slope.min() > -1e-8
            assert abs(found @ slope) < 1e-8

    def test_what_few_reports_leave_open(self) -> None:
        """Of many solutions one is given, and a direction that costs nothing is smoothed without an overflow."""
        assert nonnegative(np.ones((2, 2)), np.ones(2)) == pytest.approx([0.5, 0.5])
        assert _factor(np.eye(6), np.arange(6.0), Penalty(np.zeros((6, 6)), 2)) == max(FACTORS)

    def test_expected_reports_give_back_smooth_shares_and_heaps(self) -> None:
        size = 64
        curve = np.exp(-(((np.arange(size) - 30) / 9) ** 2) / 2)
        truth = 0.8 * curve / curve.sum()
        truth[[10, 40]] += 0.1
        mechanism = dn.Hierarchy.comb(line(size), 2.0)
        counts = np.rint(1e7 * truth @ mechanism.matrix).astype(np.int64)
        shares, heaps = fitted(mechanism.matrix, counts)
        assert heaps == [10, 40]
        assert np.abs(np.cumsum(shares - truth)).max() < 0.005

    @pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
    def test_few_answers(self, size: int) -> None:
        mechanism = dn.SquareWave(line(size), 1.0)
        found = mechanism.distribution(collected(mechanism, np.arange(1.0, size + 1) * 100, 2))
        assert found.values.sum() == pytest.approx(1) and found.values.min() >= 0
        assert 0 <= found.quantile(0.5) <= size - 1


@pytest.fixture(scope="module")
def found() -> dn.Distribution:
    domain = dn.Interval(0, 120, steps=60)
    mechanism = dn.Hierarchy.comb(domain, 1.0)
    ages = np.random.default_rng(0).normal(45, 15, 20_000).clip(0, 120)
    return mechanism.distribution(mechanism.tally(mechanism.perturb(ages, dn.SeededCoins(1))))


class TestDistribution:
    def test_answers_agree_with_each_other(self, found: dn.Distribution) -> None:
        assert float(found.cdf(0)) == 0 and found.cdf(120) == pytest.approx(1)
        assert found.share(18, 30) == pytest.approx(found.cdf(30) - found.cdf(18))
        assert found.cdf(found.quantile(0.3)) == pytest.approx(0.3)
        assert found.histogram(12).values.sum() == pytest.approx(1)
        assert found.histogram(4).values[0] == pytest.approx(found.cdf(30))
        assert abs(found.quantile(0.5) - 45) < 3 and abs(found.mean() - 45) < 3
        low, high = found.quantile(0.5).interval(0.95)
        assert low < 45 < high and high - low < 15
        wide = found.quantile(0.5).interval(0.999)
        assert wide[0] <= low and high <= wide[1]

    def test_errors_are_those_of_the_linear_estimate(self, found: dn.Distribution) -> None:
        rows = np.array([found.grid.below(x) for x in (30.0, 50.0)])
        covariance = rows @ found.covariance @ rows.T
        assert found.cdf(30).standard_error == pytest.approx(covariance[0, 0] ** 0.5)
        assert found.cdf(30).raw == pytest.approx(rows[0] @ found.raw)
        assert found.histogram(4).standard_error[0] == pytest.approx(covariance[0, 0] ** 0.5)
        low, high = found.cdf(30).interval(0.95)
        assert high - low == pytest.approx(2 * 1.959964 * found.cdf(30).standard_error, rel=1e-6)

    def test_intervals_of_shares_are_never_empty(self, found: dn.Distribution) -> None:
        bins = found.histogram(60)
        low, high = bins.interval(0.5)
        assert (
            bins.raw.min() + 0.6744 * bins.standard_error[bins.raw.argmin()] < 0
        )  # cut off on both sides, it would be empty
        assert (high - low).min() > 0.6 * bins.standard_error.min() and low.min() == 0
        ends = found.share(119, 120).interval(0.95)
        assert 0 <= ends[0] < ends[1] <= 1

    def test_a_band_is_a_pair_of_distribution_functions(self, found: dn.Distribution) -> None:
        band, wider = found.band(0.95), found.band(0.99)
        assert (np.diff(band.lower) >= 0).all() and (np.diff(band.upper) >= 0).all()
        assert band.lower.min() >= 0 and band.upper.max() == 1
        assert (wider.lower <= band.lower).all() and (band.upper <= wider.upper).all()

    def test_values_can_be_sent(self, found: dn.Distribution) -> None:
        back = pickle.loads(pickle.dumps(found.mean()))
        assert back == found.mean() and back.standard_error == found.mean().standard_error

    @pytest.mark.needs("matplotlib")
    def test_plot(self, found: dn.Distribution) -> None:
        axes = found.plot()
        left, right = axes.figure.axes
        assert left is axes and len(left.patches) == 40 and len(left.lines) == 3
        assert np.array_equal(right.lines[0].get_ydata(), 100 * np.cumsum(found.values))
        assert found.plot(ax=axes) is axes

    def test_ordered_words_have_a_median(self) -> None:
        mechanism = dn.plan(dn.Ordered(["never", "rarely", "often", "always"]), 2.0, 5000, target="quantiles")
        found = mechanism.distribution(collected(mechanism, np.array([500.0, 1000, 2500, 1000]), 4))
        assert float(found.quantile(0.5)) == 2
        assert found.quantile(0.5).interval(0.95)[0] <= 2 <= found.quantile(0.5).interval(0.95)[1]
        assert found.cdf(1) == pytest.approx(0.3, abs=0.06)  # a standard error is 0.011
        assert found.share(2, 2) == pytest.approx(found.values[2])

    def test_the_interval_of_a_quantile_in_a_heap_holds_the_number_that_people_have(self) -> None:
        """The distribution function jumps at 0.2, in the middle of a cell, and nobody can see where in the cell."""
        mechanism = dn.Hierarchy.comb(dn.Interval(0, 1, steps=30), 2.0)
        numbers = np.concatenate([np.linspace(0, 1, 40_001), np.full(60_000, 0.2)])
        found = mechanism.distribution(mechanism.tally(mechanism.perturb(numbers, dn.SeededCoins(3))))
        assert 6 in found.heaps and found.grid.points[6] == 0.2
        for share in (0.15, 0.3, 0.5, 0.6):  # of people in the heap, from a twelfth to two thirds have at most 0.2
            low, high = found.quantile(share).interval(0.95)
            assert low <= 0.2 <= high and found.cdf(high) >= share >= found.cdf(low)

    def test_bands_and_intervals_hold(self) -> None:
        """200 collections: 95 % bands hold 190 +- 3.1 times; below 172 or never missing is beyond chance (1e-6)."""
        mechanism = dn.Hierarchy.comb(dn.Interval(0, 1, steps=31), 1.0)
        people = np.rint(4000 * np.exp(-np.arange(32) / 10))
        truth = np.cumsum(people / people.sum())
        bands, intervals = 0, 0
        for seed in range(200):
            found = mechanism.distribution(collected(mechanism, people, seed))
            band = found.band(0.95)
            bands += bool(((band.lower <= truth + 1e-12) & (truth <= band.upper + 1e-12)).all())
            low, high = found.quantile(float(truth[9])).interval(0.95)
            intervals += low <= found.grid.edges[10] <= high
        assert 172 <= bands < 200 and 172 <= intervals < 200


class TestCircles:
    def test_arcs(self) -> None:
        rows = [[(x - start) % 7 < length for x in range(7)] for start in range(7) for length in range(1, 7)]
        assert np.array_equal(dn.Workload(np.array(rows, float)).gram, dn.Workload.arcs(7).gram)
        assert dn.Workload.arcs(7).questions == len(rows)

    @pytest.mark.parametrize("target", ["ranges", "distribution"])
    @pytest.mark.parametrize("size", [2, 7, 24, 96])
    def test_plans_are_proved_and_go_round(self, size: int, target: Literal["ranges", "distribution"]) -> None:
        mechanism = dn.plan(line(size), 1.0, 10_000, target=target, circular=True)
        assert mechanism.circular and dn.certify(mechanism).holds

    @pytest.mark.parametrize(("size", "most"), [(24, 1.07), (96, 1.1)])
    def test_plans_for_ranges_are_near_the_bound(self, size: int, most: float) -> None:
        asked = dn.Workload.arcs(size)
        noise = asked.mean_square(dn.plan(line(size), 1.0, 10_000, target="ranges", circular=True).even_noise)
        drawn = asked.mean_square(np.eye(size) / size - 1 / size**2)  # the bound is for people who are drawn at random
        assert 1 < noise / (asked.bound(odds_below(1.0)) - drawn) < most

    @pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 8.0])
    def test_combs_that_go_round(self, epsilon: float) -> None:
        for size in (2, 3, 7, 24, 96, 365):
            comb = dn.CombWave.round(line(size), epsilon)
            assert comb.circular and comb.places == size
            assert np.array_equal(np.roll(comb.matrix[0], 1), comb.matrix[1])
        assert not dn.CombWave(line(24), epsilon).circular and round_pieces(ROUND_UNIT, 1.0) == ROUND_PIECES[1.0]

    def test_ranges_past_midnight_and_quantiles_from_an_origin(self) -> None:
        people = np.where(np.isin(np.arange(24), [23, 0, 1]), 1e6, 0)
        mechanism = dn.plan(line(24), 1.0, 10_000, target="ranges", circular=True)
        counts = np.rint(people @ mechanism.matrix).astype(np.int64)
        found = mechanism.distribution(dn.Tally(mechanism.fingerprint, 3_000_000, counts))
        assert found.share(22, 2).raw == pytest.approx(1, abs=1e-3) and found.share(23, 0).raw == pytest.approx(
            2 / 3, abs=1e-3
        )
        assert found.share(0, 1).raw == pytest.approx(2 / 3, abs=1e-3)
        opened = found.starting_at(12)
        assert float(opened.quantile(0.5)) == 24 and opened.mean().raw == pytest.approx(24, abs=0.05)
        assert opened.share(22, 26).standard_error == pytest.approx(found.share(22, 2).standard_error)
        asked: list[Callable[[], object]] = [found.mean, found.band, found.plot]
        asked += [lambda: found.cdf(3), lambda: found.quantile(0.5)]
        for ask in asked:
            with pytest.raises(dn.InvalidParameter, match="starting_at"):
                ask()
        with pytest.raises(dn.InvalidParameter):
            found.starting_at(24)
        with pytest.raises(dn.InvalidParameter):
            opened.starting_at(3)


class TestQuantilePlans:
    @pytest.mark.parametrize(("size", "epsilon", "n"), [(4, 2.0, 5000), (16, 0.5, 10_000), (64, 1.0, 20_000)])
    def test_what_is_best_for_the_fitted_distribution_is_best_for_its_quantiles(
        self, size: int, epsilon: float, n: int
    ) -> None:
        plans = [dn.plan(line(size), epsilon, n, target=target) for target in ("distribution", "quantiles")]
        assert plans[0].fingerprint == plans[1].fingerprint

    def test_the_plan_says_what_it_gives_up_and_for_what(self) -> None:
        """With many people, spikes decide; with few, one wave is best for every shape, but for its bands."""
        many = dn.plan(line(121), 1.0, 100_000, target="quantiles").explain()
        assert "comb is best for smooth numbers and comb, 20 % points for numbers with spikes" in many
        few = dn.plan(line(121), 1.0, 1_000, target="quantiles").explain()
        assert "would be best, whether numbers are smooth or have spikes; but its bands are wider" in few

    def test_a_prior_counts_errors_where_people_are_expected(self) -> None:
        """Nobody is expected above the fourth answer: errors there count for the distribution only."""
        expected = np.array([0.1, 0.2, 0.3, 0.4, *[0.0] * 12])
        mechanism = dn.Hierarchy.of(line(16), 1.0, [16])
        everywhere, ranks = (Shapes.of(16, expected, of_ranks).errors(mechanism, 1000)[0] for of_ranks in (False, True))
        chances = expected @ mechanism.matrix
        values = [
            fitted(mechanism.matrix, counts)[0]
            for counts in np.random.default_rng(0).multinomial(1000, chances / chances.sum(), 3)
        ]
        wrong = np.abs(np.cumsum(np.array(values) - expected, axis=1))
        assert everywhere == pytest.approx(wrong.mean(), abs=1e-9)
        assert ranks == pytest.approx((wrong @ expected).mean(), abs=1e-9)
        assert ranks != pytest.approx(everywhere, rel=0.01)


class TestPilot:
    def test_a_pilot_is_a_prior_and_counts_in_the_end(self) -> None:
        truth = np.exp(-np.arange(32) / 6)
        people = np.rint(20_000 * truth / truth.sum())
        first = dn.plan(line(32), 1.0, 20_000, target="distribution")
        pilot = first.distribution(tally := collected(first, people, 1))
        second = dn.plan(line(32), 1.0, 80_000, target="ranges", prior=pilot.values / pilot.values.sum())
        both = dn.combined([(first, tally), (second, collected(second, 4 * people, 2))])
        assert both.n == tally.n + 4 * int(people.sum())
        assert both.mean().standard_error < 0.6 * pilot.mean().standard_error


class TestRefusals:
    @pytest.mark.parametrize(
        "make",
        [
            lambda: dn.SquareWave(dn.Categories(["a", "b"]), 1.0),
            lambda: dn.SquareWave(line(5), 1.0, -1),
            lambda: dn.SquareWave(line(5), 1.0, 5, circular=True),
            lambda: dn.SquareWave(dn.Interval(0, 1, steps=5000), 1.0),
            lambda: dn.CombWave(line(5), 1.0, [0, 2, 1, 3], 9),
            lambda: dn.CombWave(line(5), 1.0, [0, 9], 9),
            lambda: dn.CombWave(line(5), 1.0, [0, 2, 3], 9),
            lambda: dn.CombWave(line(5), 1.0, [0, 2], 4),
            lambda: dn.Hierarchy(line(5), 1.0, [], []),
            lambda: dn.Hierarchy.of(line(5), 1.0, [2, 5], [1]),
            lambda: dn.Hierarchy.of(line(5), 1.0, [2, 5], [1, 0]),
            lambda: dn.Hierarchy.of(line(5), 1.0, [6]),
            lambda: dn.Hierarchy(line(5), 1.0, [dn.Unary(line(5), 1.0)], [1]),
            lambda: dn.Hierarchy.comb(line(16), 1.0, 100),
            lambda: dn.WorkloadChannel(line(3), 1.0, [[1, 1]]),
            lambda: dn.WorkloadChannel.optimal(line(500), 1.0),
            lambda: dn.Workload([1, 2, 3]),
            lambda: dn.plan(dn.Categories(["a", "b"]), 1.0, 100, target="quantiles"),
            lambda: dn.plan(line(5), 1.0, 100, target=dn.Workload([[1, 0]])),
            lambda: dn.plan(line(5), 1.0, 100, target="quantiles", circular=True),
            lambda: dn.plan(dn.Interval(0, 24, steps=24), 1.0, 100, target="ranges", circular=True),
            lambda: dn.plan(line(5), 1.0, 100, target="ranges", prior="smooth"),
            lambda: dn.plan(line(5), 1.0, 100, target="distribution", prior=[0.5, 0.5]),
            lambda: dn.plan(dn.Interval(0, 1), 1.0, 100, target="mean", prior="smooth"),
            lambda: dn.ems([[0.5, 0.5], [0.5, 0.5]], [1, 1], tolerance=0),
        ],
    )
    def test_what_cannot_be(self, make: Callable[[], object]) -> None:
        with pytest.raises(dn.InvalidParameter):
            make()

    def test_questions_that_cannot_be(self) -> None:
        mechanism = DISTRIBUTIONS["square-wave"]
        found = mechanism.distribution(collected(mechanism, np.full(5, 100.0), 1))
        for ask in (
            lambda: found.quantile(0),
            lambda: found.quantile(1.5),
            lambda: found.share(5, 2),
            lambda: found.histogram(0),
            lambda: found.linear(np.ones(3)),
            lambda: found.band(2),
            lambda: found.quantile(0.5).interval(0),
        ):
            with pytest.raises(dn.InvalidParameter):
                ask()

    def test_odds(self) -> None:
        assert {each.loss().odds for each in DISTRIBUTIONS.values() if each.epsilon == EPSILON} == {Fraction(3)}
