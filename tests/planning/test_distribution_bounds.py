"""Bounds of distributions: never beaten, by any channel, and not far from our own."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

import deniable as dn
from deniable.arrays import Floats
from deniable.mechanisms.algebra.information import most_information, most_of_one, most_variance, singular_values
from deniable.mechanisms.distributions.plane import plane_of
from deniable.mechanisms.distributions.workload_channel import improved
from deniable.planning.distribution_bounds import LARGEST, MOST_WAVES, _proved, _waves, fitted_bound, question_bound
from deniable.planning.distributions import Shapes, distribution_options, precision, workload_of
from deniable.planning.maps import map_options
from tests.planning.best_channels import best_expected_noise
from tests.planning.test_vector_bounds import channels


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 5.0])
def test_no_channel_is_below(epsilon: float) -> None:
    """For the questions of the workload, and for the fitted distribution function of smooth and of spiky numbers."""
    size, n, asked = 6, 5000, dn.Workload.prefixes(6)
    known = {kind: precision(size, kind, False) for kind in ("smooth", "spiky")}
    least, fitted = question_bound(asked, epsilon, n), {kind: fitted_bound(each, epsilon, n) for kind, each in known.items()}
    assert least is not None
    for channel in channels(size, epsilon, 5):
        information = (channel / channel.mean(0)) @ channel.T
        told = np.trace(information) - information.mean() * size
        assert told <= float(most_information(size, dn.odds_below(epsilon))) * (1 + 1e-6)
        about_one = np.linalg.eigvalsh(information - information.mean())[-1]
        assert about_one <= float(most_of_one(size, dn.odds_below(epsilon))) * (1 + 1e-6)
        if np.linalg.eigvalsh(information)[0] > 1e-6:
            noise = np.linalg.inv(information) - np.eye(size) / size
            assert math.sqrt(asked.mean_square(noise) / n) >= least
        for kind, bound in fitted.items():
            spread = np.linalg.inv(n * information + 10 * n + known[kind])
            sums = np.cumsum(np.cumsum(spread, axis=0), axis=1).diagonal()
            assert bound is not None
            assert float(np.sqrt(2 / np.pi * np.maximum(sums, 0)).mean()) >= bound


@pytest.mark.parametrize("target", ["distribution", "quantiles", "ranges"])
def test_every_candidate_is_above_and_the_best_is_not_far(target: str) -> None:
    for size, epsilon, most in ((8, 0.5, 1.45), (32, 1.0, 1.45), (64, 2.0, 1.7)):
        ranked = distribution_options(dn.Ordered(range(size)), epsilon, 20_000, target)
        assert ranked.bound is not None
        assert all(row.error >= ranked.bound for row in ranked)
        above = ranked.above(ranked[0])
        assert above is not None and 1 + above < most


def test_questions_of_a_person_s_own_are_bounded_too() -> None:
    """The shares themselves: then the bound is that of shares, which subset selection meets."""
    from deniable.planning.bounds import share_bound

    for size in (3, 10, 40):
        asked = dn.Workload(np.eye(size))
        assert question_bound(asked, 1.0, 100) == pytest.approx(share_bound(size, 1.0, 100), rel=1e-6)


def test_circles_and_maps_have_a_bound_and_unknown_settings_none() -> None:
    for ranked in (
        distribution_options(dn.Ordered(range(24)), 1.0, 1000, "ranges", circular=True),
        distribution_options(dn.Ordered(range(24)), 1.0, 1000, circular=True),
        map_options(dn.Product([dn.Interval(0, 1, steps=3), dn.Interval(0, 1, steps=3)]), 1.0, 1000),
    ):
        assert ranked.bound is not None and all(row.error >= ranked.bound for row in ranked)
        assert "can have" in ranked.legend()
    assert question_bound(dn.Workload.prefixes(LARGEST + 1), 1.0, 10) is None
    assert fitted_bound(np.eye(LARGEST + 1), 1.0, 10) is None


def test_no_contrast_is_told_better_than_by_randomized_response() -> None:
    """On whether an answer is in one half; and such a question of its own has exactly the bound."""
    for size, epsilon in ((2, 1.0), (6, 0.5), (8, 3.0)):
        half, odds = np.arange(size) < size // 2, dn.odds_below(epsilon)
        likely = np.where(half[:, None] == np.array([True, False]), float(odds), 1.0)
        channel = likely / likely.sum(1, keepdims=True)
        information = (channel / channel.mean(0)) @ channel.T
        told = np.linalg.eigvalsh(information - 1)[-1]
        assert told == pytest.approx(float(most_of_one(size, odds)), rel=1e-9)
        question = dn.Workload([half.astype(float)])
        noise = float(odds / (odds - 1) ** 2)  # of the share of a half, n times, without the drawing of people
        assert question.bound(odds) - 0.25 == pytest.approx(noise, rel=1e-9)


def test_large_budgets_have_a_bound() -> None:
    """Where the trace alone says nothing, because no report says more of an answer than the answer."""
    for size, epsilon in ((16, 5.0), (64, 5.0), (64, 7.0)):
        ranked = distribution_options(dn.Ordered(range(size)), epsilon, 1000, "ranges")
        assert ranked.bound is not None and all(row.error > ranked.bound > 0 for row in ranked)


def test_the_least_sum_is_that_of_the_best_information() -> None:
    """The bound against projected gradient steps over all eigenvalues that the budget allows."""
    for odds in (Fraction(20), Fraction(60), Fraction(400)):
        asked = dn.Workload.prefixes(12)
        room, most = float(most_information(12, odds)), float(most_of_one(12, odds))
        squares = np.linalg.eigvalsh(asked.centred)[1:]
        found = minimize(
            lambda j, squares=squares: float((squares / j).sum()),
            np.full(11, min(room / 11, most) * 0.9),
            bounds=[(1e-3, most)] * 11,
            constraints={"type": "ineq", "fun": lambda j, room=room: room - j.sum()},
            options={"maxiter": 2000, "ftol": 1e-14},
        )
        assert asked.bound(odds) * asked.questions == pytest.approx(found.fun, rel=1e-5)


@pytest.mark.parametrize(("size", "epsilon"), [(24, 1.0), (64, 0.5), (100, 2.0), (256, 1.0)])
def test_mixed_levels_are_near_the_bound(size: int, epsilon: float) -> None:
    """Of all ranges; survey files keep what they had."""
    ranked = distribution_options(dn.Ordered(range(size)), epsilon, 1000, "ranges")
    (mixed,) = (row for row in ranked if row.name == "comb and levels, mixed")
    assert (ranked.above(mixed) or 0) < 0.12
    assert size < 33 or ranked[0] == mixed
    first = distribution_options(dn.Ordered(range(size)), epsilon, 1000, "ranges", edition=1)
    assert [row.name for row in ranked if row != mixed] == [row.name for row in first]
    planned = dn.plan(dn.Ordered(range(size)), epsilon, 1000, target="ranges", edition=1)
    assert planned == first.within(None)[0].mechanism


def test_mixed_levels_are_for_a_few_answers() -> None:
    with pytest.raises(dn.InvalidParameter, match="at most 256"):
        dn.Hierarchy.mixed(dn.Ordered(range(257)), 1.0)
    assert dn.certify(dn.Hierarchy.mixed(dn.Ordered(range(9)), 1.0)).holds
    everybody = dn.Workload([[1.0] * 9])  # whose share is known
    assert dn.Hierarchy.mixed(dn.Ordered(range(9)), 1.0, everybody).domain.size == 9


def test_gradient_steps_come_nearer_to_the_bound() -> None:
    """As the documentation says: so the bound is not far from what is possible, for ranges and for rectangles."""
    side, line = dn.Ordered(range(8)), dn.Ordered(range(64))
    maps, ranges = map_options(dn.Product([side, side]), 1.0, 1), distribution_options(line, 1.0, 1, "ranges")
    rectangles = plane_of(dn.Product([side, side])).rectangles
    found = ((maps[0], maps.bound, rectangles, 0.09), (ranges[0], ranges.bound, dn.Workload.ranges(64), 0.07))
    for row, bound, asked, above in found:
        assert row.mechanism is not None and bound is not None
        channel = improved(row.mechanism.matrix.T, asked, float(dn.odds_below(1.0)), 20)
        information = (channel / channel.mean(1, keepdims=True)).T @ channel
        noise = asked.mean_square(np.linalg.inv(information) - np.eye(64) / 64)
        assert 0.03 < noise / bound**2 - 1 < above


SHAPES: dict[str, Callable[[int], object]] = {
    "even": lambda size: np.ones(size),
    "falling": lambda size: 1 / np.arange(1, size + 1),
    "one large": lambda size: np.arange(size) * 0.1 // 1 + np.eye(1, size)[0] * 20 + 1,
    "one absent": lambda size: np.arange(size) > 0,
}


def expected(shape: str, size: int) -> Floats:
    weights = np.asarray(SHAPES[shape](size), np.float64)
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [2, 3, 4])
def test_under_expected_shares_the_best_channel_is_not_below_and_is_near_for_small_budgets(size: int, shape: str) -> None:
    """By brute force; an own question of random weights too."""
    shares, own = expected(shape, size), dn.Workload(np.random.default_rng(3).normal(size=(size, size)))
    for epsilon, near in ((0.1, 1.1), (0.5, 1.3), (1.0, 1.5), (3.0, math.inf)):
        for asked in (dn.Workload(np.eye(size)), dn.Workload.prefixes(size), own):
            bound = question_bound(asked, epsilon, 1, shares)
            assert bound is not None
            best = best_expected_noise(asked.gram, math.exp(epsilon), shares) / asked.questions
            assert 1 - 1e-6 <= best / bound**2 < (math.inf if asked is own else near)


@pytest.mark.parametrize("shape", SHAPES)
def test_under_expected_shares_every_candidate_is_above(shape: str) -> None:
    for size, epsilon in ((4, 0.5), (16, 1.0), (64, 3.0), (32, 6.0)):
        for target in ("ranges", dn.Workload.prefixes(size), dn.Workload(np.eye(size)[:3]))[: 3 if size < 30 else 1]:
            shares = expected(shape, size)
            ranked = distribution_options(dn.Ordered(range(size)), epsilon, 1000, target, shares)
            assert ranked.bound is not None and all(row.error >= ranked.bound for row in ranked)
            assert epsilon > 1 or target != "ranges" or (ranked.above(ranked[0]) or 0) < 0.6
            if shape == "even":
                assert ranked.bound == pytest.approx(question_bound(workload_of(target, size), epsilon, 1000), rel=1e-3)


def test_many_answers_with_expected_shares_are_bounded_by_a_step_found_on_fewer() -> None:
    """The best of all steps is found on fewer answers, and no other proves much more."""
    shares, asked = expected("falling", 300), dn.Workload.prefixes(300)
    even = np.full(300, 1 / 300)
    proved = [_proved(asked, math.e, shares, shares + step / 10 * (even - shares)) for step in range(11)]
    found = question_bound(asked, 1.0, 1, shares)
    assert found is not None and 0.99 * max(proved) <= found**2 * 300 <= max(proved) * (1 + 1e-9)


def test_the_largest_variance_is_that_of_some_set_of_answers() -> None:
    random = np.random.default_rng(5)
    for size in (2, 3, 6, 9):
        for odds in (1.2, 3.0, 50.0):
            shares = random.dirichlet(np.full(size, 0.5))
            held = np.array(list(itertools.product([0.0, 1.0], repeat=size)))
            columns = 1 + (odds - 1) * held
            columns /= (columns @ shares)[:, None]
            exact = ((columns - 1) ** 2 @ shares).max()
            assert exact <= most_variance(shares, odds) * (1 + 1e-12) <= exact * (1 + 1e-4) + 0.03


def test_questions_that_are_few_have_no_singular_values_from_rounding() -> None:
    """Of 500 answers, 498 have none; roots of rounding errors would add up."""
    asked = dn.Workload(np.random.default_rng(6).normal(size=(2, 500)))
    values = singular_values(asked.centred)
    assert (values[2:] == 0).all() and values[1] > 1


@pytest.mark.parametrize("circular", [False, True])
@pytest.mark.parametrize("kind", ["smooth", "spiky"])
def test_long_waves_prove_little_less_than_all_of_them(kind: str, circular: bool) -> None:
    """Of few answers all are taken, of many only some: here the same shares, once as few and once as many."""
    size, epsilon, n = 300, 1.0, 10_000
    few, many = (fitted_bound(precision(each, kind, circular), epsilon, n, circular) for each in (MOST_WAVES, size))
    assert few is not None and many is not None and 0.97 < many / few < 1.01
    for each in (20, size):
        waves = _waves(each, circular)
        np.testing.assert_allclose(waves.T @ waves, np.eye(min(each - 1, MOST_WAVES)), atol=1e-9)
        np.testing.assert_allclose(waves.sum(axis=0), 0, atol=1e-9)


def test_the_prefixes_of_as_many_answers_as_plans_accept_have_the_singular_values_of_a_bridge() -> None:
    """Sums of shares that sum to 0 are a walk that ends where it began: 1 / (2 sin(k pi / 2 d)) for k = 1 to d - 1."""
    for size in (5, LARGEST):
        known = 1 / (2 * np.sin(np.arange(1, size) * np.pi / (2 * size)))
        np.testing.assert_allclose(singular_values(dn.Workload.prefixes(size).centred)[:-1], known, rtol=1e-5)


def test_more_than_a_thousand_answers_have_a_bound() -> None:
    size, asked = 1100, dn.Workload.ranges(1100)
    bound, noise = question_bound(asked, 1.0, 1000), dn.Hierarchy.weighted(dn.Ordered(range(size)), 1.0, asked).even_noise
    assert bound is not None and 1 < math.sqrt(asked.mean_square(noise) / 1000) / bound < 1.5
    for circular in (False, True):
        fitted = Shapes.of(size, None).bound(1.0, 1000, circular)
        assert fitted is not None and 0.01 < fitted < 0.1
