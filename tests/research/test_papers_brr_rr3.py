"""The papers BRR and RR3: formulas as printed beside the exact channels, and checks that can fail."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from research.papers import Data
from research.papers.brr import about as brr
from research.papers.brr import authors_trees, fig5, fig8, fig9, published_sgd, published_vectors, theorems
from research.papers.brr.regions import by_prefix
from research.papers.figure import Result, rounds_to
from research.papers.rr3 import about as rr3
from research.papers.rr3 import formulas, graphs, variance


def verdicts(result: Result) -> dict[str, bool]:
    return {check.claim: check.holds for check in result.checks}


class TestNumbersComeFromTheMechanisms:
    def test_with_another_distance_the_printed_losses_are_not_met(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stated = [each for each in brr.STATED if each.place == "Fig. 3" and not each.erratum]
        assert all(each.matched for each in stated)
        right = dn.Ordered.losses
        monkeypatch.setattr(dn.Ordered, "losses", lambda self, rows: 2 * right(self, rows) + 1)
        assert not any(each.matched for each in stated)

    def test_with_another_channel_the_printed_conditions_are_not_met(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stated = [each for each in rr3.STATED if each.place.startswith("Corollary") and not each.erratum]
        assert len(stated) == 4 and all(each.matched for each in stated)
        right = dn.ThreeState.channel.fget  # type: ignore[attr-defined]

        def leaning(self: dn.ThreeState) -> object:
            none, high, low = right(self)
            tenth = Fraction(1, 10)
            return (none[0] - tenth, none[1] + tenth, none[2]), (high[0], high[1] - tenth, high[2] + tenth), low

        monkeypatch.setattr(dn.ThreeState, "channel", property(leaning))
        assert not any(each.matched for each in stated)

    def test_with_another_loss_the_best_fake_weight_is_another(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert formulas.best_fake() == 0
        right = dn.KeySampling.privkv.__func__  # type: ignore[attr-defined]

        def shifted(cls: type, domain: dn.KeyValue, key: float, value: float, fake: float = 0.0) -> dn.KeySampling:
            made: dn.KeySampling = right(cls, domain, key, value, fake=min(1.0, fake + 0.3))
            return made

        monkeypatch.setattr(dn.KeySampling, "privkv", classmethod(shifted))
        assert formulas.best_fake() == pytest.approx(-0.3)

    def test_fractions_are_met_exactly(self) -> None:
        assert rounds_to(1 / 3, "1/3") and not rounds_to(0.3333, "1/3") and not rounds_to(0.45, "1/2")


class TestPrintedFormulasOfBRR:
    def test_all_of_figure_3(self) -> None:
        """Every entry, for some larger numbers of points: the first column is wrong but for its first entry."""
        for size in (20, 40):
            exact = np.array([theorems.sorted_losses(size, truth)[:12] for truth in range(1, 8)])
            wrong = np.argwhere(exact != np.array(theorems.FIGURE3)).tolist()
            assert wrong == [[row, 0] for row in range(1, 7)]

    @pytest.mark.parametrize(("size", "near", "epsilon"), fig5.ODD)
    def test_row_losses_and_their_sum(self, size: int, near: int, epsilon: float) -> None:
        exact = dn.Bipartite(dn.Ordered(range(1, size + 1)), epsilon, near=near).row_losses()
        printed = [theorems.row_loss(size, near, epsilon, min(place, size - 1 - place)) for place in range(size)]
        assert printed == pytest.approx(exact, rel=1e-9)
        first, second = theorems.equation20(size, near, epsilon)
        assert second == pytest.approx(exact.sum(), rel=1e-9) and first < 0

    @pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
    def test_limits_are_approached(self, epsilon: float) -> None:
        stated = theorems.near_share(epsilon), *theorems.row_ratios(epsilon), theorems.mean_ratio(epsilon)
        apart = [np.abs(np.array(theorems.exact_limits(epsilon, size)) / stated - 1).max() for size in (1000, 100_000)]
        assert apart[1] < 1e-3 and apart[1] < apart[0] / 10

    def test_where_the_bounds_of_the_proof_meet(self) -> None:
        for size in (5, 100):
            assert theorems.crossing(size) == pytest.approx(2 * math.log((math.sqrt(5) + 1) / 2), rel=1e-9)

    def test_a_wrong_limit_is_seen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        name = "the ratio of the mean losses comes to the limit of Theorem 3 for many points (within 0.1%)"
        assert verdicts(fig5.run(True, 1, Data()))[name]
        monkeypatch.setattr(fig5, "mean_ratio", lambda epsilon: 1.01 * theorems.mean_ratio(epsilon))
        assert not verdicts(fig5.run(True, 1, Data()))[name]

    def test_a_mended_formula_is_seen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        name = "both lines of Eq. (20) are their sum"
        assert not verdicts(fig5.run(True, 1, Data()))[name]
        right = theorems.equation20
        monkeypatch.setattr(fig5, "equation20", lambda *case: (right(*case)[1], right(*case)[1]))
        assert verdicts(fig5.run(True, 1, Data()))[name]


class TestPrintedFormulasOfRR3:
    @pytest.mark.parametrize(("p1", "p2", "share"), [(0.7, 0.5, 0.4), (0.4, 0.6, 0.9)])
    def test_variance_of_dagger_and_its_derivatives(self, p1: float, p2: float, share: float) -> None:
        made = dn.ThreeState.dagger(Fraction(str(p1)), Fraction(str(p2)))
        exact = made.predict([share, 1 - share, 0], 1).for_population().standard_error[0] ** 2
        assert formulas.degree_variance(p1, p2, share) == pytest.approx(exact, rel=1e-9)
        assert formulas.eq29(p1, p2, share) == pytest.approx(exact, rel=1e-9)
        printed, slopes = formulas.eq40(p1, p2, share), formulas.exact_slopes(p1, p2, share)
        assert printed[0] == pytest.approx(slopes[0], rel=1e-6)
        assert slopes[1] - printed[1] == pytest.approx(-share / (2 * p1 + p2 - 1) ** 2, rel=1e-5)

    @pytest.mark.parametrize("pi", [(0.5, 0.3, 0.2), (0.9, 0.02, 0.08)])
    def test_the_other_estimators_and_variances_are_right(self, pi: tuple[float, float, float]) -> None:
        """Eqs. 15, 16, 31, 32, 33 and 35, on expected counts and on the exact variance."""
        p, (p1, p2, q) = 0.7, (0.8, 0.65, 0.9)

        def seen(three: dn.ThreeState) -> tuple[float, float, float]:
            first, second, _ = np.array(pi) @ three.matrix
            return first, second, three.predict(pi, 1).for_population().standard_error[0] ** 2

        n0, n1, spread = seen(dn.ThreeState.dagger(Fraction(str(p)), Fraction(str(p))))
        assert [((1 - p) * (1 - 2 * n) - 2 * p * n) / (1 - 3 * p) for n in (n0, n1)] == pytest.approx(pi[:2])
        slope = 3 * p - 1
        assert spread == pytest.approx((1 - p**2 + 2 * p * slope * pi[0] - slope**2 * pi[0] ** 2) / slope**2)
        change = (formulas.eq29(p + 1e-6, p + 1e-6, pi[0]) - formulas.eq29(p - 1e-6, p - 1e-6, pi[0])) / 2e-6
        assert change == pytest.approx((2 * p - 6 - 2 * slope * pi[0]) / slope**3, rel=1e-5)
        spread = seen(dn.ThreeState.ddagger(Fraction(str(p1)), Fraction(str(q))))[2]
        turn = (2 * p1 - 1) ** 2
        assert spread == pytest.approx((p1 * (1 - p1) + turn * pi[0] - turn * pi[0] ** 2) / turn)
        n0, n1, spread = seen(dn.ThreeState.club(Fraction(str(p1)), Fraction(str(p2)), Fraction(str(q))))
        slope, turn = p1 + p2 - 1, 2 * p2 * (2 * q - 1)
        assert (p2 - 1 + n0) / slope == pytest.approx(pi[0])
        assert p1 / (2 * slope) - 1 / turn - n0 / (2 * slope) + (2 * n1 + n0) / turn == pytest.approx(pi[1])
        numerator = p2 * (1 - p2) + (2 * p2 - 1) * slope * pi[0] - slope**2 * pi[0] ** 2
        assert spread == pytest.approx(numerator / slope**2)

    def test_eq27_is_right_for_two_only(self) -> None:
        for n in (2, 3, 5):
            same = formulas.eq27(n, 0.8, 0.3) == pytest.approx(formulas.exact_ewrr(n, 0.8, 0.3), rel=1e-9)
            assert same == (n == 2)

    @pytest.mark.parametrize("below", [False, True])
    def test_the_best_p_is_found_without_its_formula(self, below: bool) -> None:
        for n, epsilon in ((3, 1.0), (5, 0.5)):
            assert variance.best_equal(n, epsilon, below) == pytest.approx(
                variance.stated_equal(n, epsilon, below), rel=1e-8
            )

    def test_a_wrong_theorem_is_seen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert variance.best_check().holds
        right = variance.stated_equal
        monkeypatch.setattr(variance, "stated_equal", lambda n, *given: right(n + 1, *given))
        assert not variance.best_check().holds

    @pytest.mark.parametrize(("error", "holds"), [(1.0, True), (1.35, True), (1.5, False), (0.5, False)])
    def test_errors_that_are_not_as_predicted_are_seen(self, error: float, holds: bool) -> None:
        """One is predicted with a standard error of a tenth: from 0.6 to 1.4 is allowed."""
        rows = [("ratings", 1.0, name, value, 0.1, 1.0, 1.0, 1.0) for name, value in (("a", 1.0), ("b", error))]
        assert graphs.predicted(Result(graphs.COLUMNS, rows)).holds == holds


class TestAsTheAuthorsDid:
    def test_one_draw_for_a_leaf_does_not_average(self) -> None:
        """2,000 people with the residual 0.2: a draw for each is within 0.05 of it, one draw is not."""
        ways: tuple[authors_trees.Way, ...] = ("one draw", "draw each")
        rest = np.full(2000, 0.2)
        made = {way: [authors_trees.Program(way, 5.0, 0.2, seed) for seed in range(30)] for way in ways}
        leaves = {way: [each.leaf(rest, 1.0) for each in programs] for way, programs in made.items()}
        assert np.std(leaves["draw each"]) < 0.05 < 0.2 < np.std(leaves["one draw"])

    def test_its_trees_learn(self) -> None:
        random = np.random.default_rng(1)
        rows = random.uniform(0, 1, (1500, 3))
        found = authors_trees.program_errors(rows, np.where(rows[:, 0] > 0.5, 1.0, -1.0), ("bipartite",), 50.0, 0.2, 1, 1)
        assert found["bipartite"].mean() < 0.3

    def test_reasons_are_sure_only_where_the_program_gives_the_number(self) -> None:
        def table(shared: float) -> Result:
            rows = [("bias", 5.0, name, 1.0, 0.001, 5.0) for name in fig9.WAYS.values()]
            rows += [
                ("bias", 5.0, name, shared if way == "bipartite" else 1.0, 0.001, 5.0) for way, name in fig9.PROGRAM.items()
            ]
            return Result(fig9.COLUMNS, rows)

        close, far = (fig9.ratio_check(table(shared), "bias", "0.66") for shared in (0.63, 0.3))
        assert not close.holds and close.sure and close.faulty and "Only with the authors' fault: " in close.line
        assert not far.holds and not far.sure and "Not matched: " in far.line and "not what is stated" in far.line

    def test_the_sign_is_all_that_is_learnt_from(self) -> None:
        """At a thousandth of the budget the released sizes carry nothing; the descent as published learns all the same."""
        shown = published_sgd.pixels(Data(), 1, 2048, 500, 2)
        last = [published_sgd.course(shown, "bipartite", epsilon, 20, 20, 1)[-1] for epsilon in (1.0, 1e-3)]
        assert min(last) > 0.4  # a tenth is guessing

    def test_the_noise_of_the_grid_knows_no_budget(self) -> None:
        assert math.isinf(published_vectors.grid_loss())
        held = published_vectors.columns(Data(), "adult", 1, 600)
        assert published_vectors.budgets(held, 1.0).sum() > 5
        scores = {published_vectors.accuracy(held, "grid", epsilon, 1) for epsilon in (0.01, 5.0)}
        assert len(scores) == 1

    def test_all_ways_to_cut_rings(self) -> None:
        """One of them at one budget, from the whole channel; two regions count by their places."""
        random = np.random.default_rng(3)
        regions = [random.uniform((40.0, 20.0), (42.0, 24.0), (size, 2)) for size in (9, 6)]
        tiles, km = ([dn.Points(points, kind) for points in regions] for kind in ("quadkey", "haversine"))
        levels = np.unique(np.concatenate([np.unique(each.losses(np.arange(each.size))) for each in tiles]))
        found = fig8.grouped_savings(regions, np.full(len(fig8.EPSILONS), 10.0))
        count = len(levels) - 1
        assert found.shape == (count + count * (count - 1) // 2, len(fig8.EPSILONS))
        edges = [float(levels[0]), float(levels[1])]  # the first of those with three rings
        far = [
            float(
                (fig8.staircase_channel(tile, fig8.EPSILONS[3], edges) * own.losses(np.arange(own.size))).sum(axis=1).mean()
            )
            for tile, own in zip(tiles, km, strict=True)
        ]
        assert found[count, 3] == pytest.approx(100 * (1 - 10.0 / (0.6 * far[0] + 0.4 * far[1])), rel=1e-9)

    def test_staircase_of_the_program(self) -> None:
        """Four places in two far tiles: each reports its own tile with odds e^epsilon : 1, so that this is what it costs."""
        points = np.array([[40.0, -74.0], [40.00001, -74.00001], [41.5, -72.0], [41.50001, -72.00001]])
        distance, cost = fig8.programmed_staircase(points, 1.0)
        assert cost == pytest.approx(1.0, rel=1e-9)
        apart = dn.Points(points, "haversine").losses(np.arange(4))[0, 2]
        assert distance == pytest.approx(apart / (math.e + 1), rel=1e-3)

    def test_uneven_rings_cost_more(self) -> None:
        """Tiles of three, one and one: a place alone in its tile reports itself with 10.9 times the odds of others."""
        points = np.array([[40.0, -74.0], [40.00001, -74.00001], [40.00002, -74.00002], [41.5, -72.0], [43.0, -78.0]])
        chances = math.e / (math.e + 1), 1 / (math.e + 1) / 4
        assert fig8.programmed_staircase(points, 1.0)[1] == pytest.approx(math.log(chances[0] / chances[1]), rel=1e-9)

    def test_regions_by_prefix(self) -> None:
        random = np.random.default_rng(1)
        points = np.concatenate([random.normal(centre, 0.001, (20, 2)) for centre in ([40, -74], [10, 20], [-30, 100])])
        assert np.bincount(by_prefix(points, 20)).tolist() == [20, 20, 20]
        assert np.bincount(by_prefix(points, 21)).tolist() == [60]
