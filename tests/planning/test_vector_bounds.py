"""Bounds of the mean of vectors: met where they should be, and never beaten, by any law."""

import itertools
import math

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.planning import corner_table
from deniable.planning.bounds import mean_bound
from deniable.planning.vector_bounds import box_bound, corner_gain, direction_gain, unit_bound
from deniable.planning.vectors import unit_options, vector_options
from research import corner_sums


def least_square(channel: Floats, points: Floats) -> float:
    """The mean square of the best unbiased decoding of a channel's reports, where these points are equally common."""
    often = channel.mean(0)
    information = (channel / often) @ channel.T
    return float(np.trace(points.T @ np.linalg.pinv(information) @ points))


def channels(points: int, epsilon: float, seed: int) -> list[Floats]:
    """Random laws with this epsilon, extreme ones among them; the last reports make rows sum to one."""
    random, found = np.random.default_rng(seed), []
    for place in range(200):
        likely = np.exp(epsilon * (random.integers(0, 2, (points, 30)) if place % 2 else random.random((points, 30))))
        part = likely * random.dirichlet(np.full(30, 0.2))
        part *= (1 - math.exp(-epsilon)) / part.sum(1).max()
        rest = 1 - part.sum(1)  # which differ by less than the odds
        found.append(np.concatenate([part, rest[:, None]], 1))
        assert (found[-1].max(0) <= math.exp(epsilon) * found[-1].min(0) * (1 + 1e-9)).all()
    return found


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_no_channel_is_below_the_bound_of_a_box(dimensions: int, epsilon: float) -> None:
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=dimensions)))
    least = (dimensions / float(corner_gain(dimensions, epsilon))) ** 2
    assert all(least_square(channel, corners) >= least * (1 - 1e-9) for channel in channels(len(corners), epsilon, 3))
    # One sign of a coordinate that is drawn, as by a coin: the best up to odds of 3.
    odds = math.exp(epsilon)
    signs = np.concatenate(
        [[1 + (odds - 1) * (corners[:, k] > 0), 1 + (odds - 1) * (corners[:, k] < 0)] for k in range(dimensions)]
    )
    reached = least_square(signs.T / signs.sum(0)[:, None], corners)
    assert reached >= least * (1 - 1e-9)
    assert odds > 3 or reached == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_no_channel_is_below_the_bound_of_the_circle(epsilon: float) -> None:
    """64 directions stand for the circle: a channel on them is one on arcs, whose mean directions are a little shorter."""
    angles = np.arange(64) * 2 * np.pi / 64
    points = np.stack([np.cos(angles), np.sin(angles)], 1)
    short = math.sin(math.pi / 64) / (math.pi / 64)
    least = (short / float(direction_gain(2, epsilon))) ** 2
    assert all(least_square(channel, points) >= least * (1 - 1e-9) for channel in channels(64, epsilon, 4))
    arcs = [1 + (math.exp(epsilon) - 1) * (np.cos(angles - at) >= limit) for at in angles for limit in (0.2, 0.4, 0.6)]
    reached = [least_square(np.array(arcs[k::3]).T / np.sum(arcs[k::3], 0)[:, None], points) for k in range(3)]
    assert least < min(reached) < least * 1.05


@pytest.mark.parametrize("dimensions", [2, 3, 4, 5, 30, 31, 300])
def test_privunit_meets_the_bound_of_directions(dimensions: int) -> None:
    domain = dn.UnitVectors(dimensions)
    for epsilon in (0.1, 1.0, 4.0):
        error = dn.PrivUnit(domain, epsilon).length ** -2 - 1
        assert unit_bound(domain, epsilon, 1) ** 2 * dimensions == pytest.approx(error, rel=1e-6)


def test_the_gains_are_what_they_are_proved_to_be() -> None:
    """Against plain sums and integrals: all signs of nine coordinates with several weights, and a fine grid of angles."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=9)))
    weights = [np.eye(9)[0], np.ones(9) / 3, np.r_[1, 1, np.zeros(7)] / 2**0.5, np.r_[3, 2, 2, 1, 1, 1, 1, 1, 1] / 23**0.5]
    angles = (np.arange(200_000) + 0.5) / 200_000 * np.pi
    for epsilon in (0.1, 0.9, 1.2, 3.0, 6.0, 20.0):
        more, g = math.expm1(epsilon), float(corner_gain(9, epsilon))
        assert all(more * np.maximum(signs @ each - g, 0).mean() <= g * (1 + 1e-9) for each in weights)
        for dimensions in (2, 3, 8, 41) if epsilon < 9 else ():
            g, density = float(direction_gain(dimensions, epsilon)), np.sin(angles) ** (dimensions - 2)
            excess = more * np.average(np.maximum(np.cos(angles) - g, 0), weights=density)
            assert excess == pytest.approx(g, rel=1e-3)
            assert excess <= g * (1 + 1e-6)


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_the_best_of_all_extreme_reports_has_the_gain(dimensions: int) -> None:
    """All sets of corners that a report can make likelier: no mean goes beyond g, and the best one comes near."""
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=dimensions)))
    sets = np.array(list(itertools.product([0.0, 1.0], repeat=len(corners))))
    lengths, sizes = np.linalg.norm(sets @ corners, axis=1), sets.sum(1)
    for epsilon in (0.3, 1.0, 1.3, 1.8, 2.3, 2.9, 3.4, 3.9):
        more = math.expm1(epsilon)
        best = float((more * lengths / (len(corners) + more * sizes)).max())
        assert best <= float(corner_gain(dimensions, epsilon)) * (1 + 1e-12)
        word = max(math.sqrt(k) * more / (more + 2**k) for k in range(1, dimensions + 1))
        assert best == pytest.approx(word, rel=1e-9)  # of `SignWord`
        if epsilon < 1 + 0.75 * dimensions:  # with a larger budget, more coordinates would be better
            assert float(corner_gain(dimensions, epsilon)) < best * 1.005


def test_words_of_signs_have_nearly_the_best_gain_in_any_dimension() -> None:
    for dimensions in (64, 4096):
        for epsilon, most in ((1.2, 1.005), (2.0, 1.003), (3.0, 1.003), (4.0, 1.005), (6.0, 1.04)):
            word = dn.SignWord(dn.Features(dimensions, -1, 1, steps=1), epsilon)
            reached = math.sqrt(dimensions / word.worst_variance())
            assert reached <= float(corner_gain(dimensions, epsilon)) <= reached * most


def test_many_signs_would_be_better_than_words_for_large_budgets() -> None:
    """As the documentation says: by so much, for reports that are likelier where most of up to 64 signs agree."""
    for epsilon, less in ((4.0, 0.0), (5.0, 0.013), (6.0, 0.043), (8.0, 0.087)):
        low, high, more = 0.5, 4.0, math.expm1(epsilon)
        for _ in range(40):
            middle = (low + high) / 2
            enough = more * corner_sums.reached(np.array([middle]), 64)[0] <= middle
            low, high = (low, middle) if enough else (middle, high)
        word = max(math.sqrt(k) * more / (more + 2**k) for k in range(1, 13))
        assert 1 - (word / high) ** 2 == pytest.approx(less, abs=1e-3)


@pytest.mark.parametrize("dimensions", [8, 64])
def test_the_table_of_sums_is_what_its_proof_finds(dimensions: int) -> None:
    found, stored = corner_sums.written(dimensions), corner_table.BOUNDS[dimensions]
    assert stored == pytest.approx(found, rel=1e-6)
    excess = corner_sums.Excess(dimensions)
    assert 0.25 + excess.table.max() ** 2 < corner_sums.BEND**2  # which the proof needs


@pytest.mark.parametrize("dimensions", [8, 64, 4096])
def test_no_vector_goes_beyond_the_table(dimensions: int) -> None:
    """Equal coordinates, and 300 vectors of seven with weights of all sorts, each moved to where it goes farthest."""
    places = np.array([float(place) for place in corner_table.PLACES])
    most = np.array(corner_table.BOUNDS[dimensions])
    assert (np.diff(most) <= 0).all() and (corner_sums.reached(places, dimensions) <= most).all()
    random, signs = np.random.default_rng(8), np.array(list(itertools.product([-1.0, 1.0], repeat=7)))
    for _ in range(300):
        weights = random.random(7) ** random.choice([0.2, 1, 4])
        for place in random.choice(places, 3):
            for _ in range(5):  # towards the mean of the corners beyond the place
                weights = weights / np.linalg.norm(weights)
                beyond = signs[signs @ weights > place]
                weights = beyond.mean(0) if len(beyond) else weights
            unit = weights / np.linalg.norm(weights)
            assert (np.maximum(signs @ unit - places[:, None], 0).mean(1) <= most * (1 + 1e-12)).all()


def test_every_candidate_is_above_and_the_best_is_near() -> None:
    near = {0.5: 1.01, 1.0: 1.01, 2.0: 1.02, 3.0: 1.03, 4.0: 1.05, 8.0: 1.3}
    for epsilon, most in near.items():
        ranked = vector_options(dn.Features(64, -1, 1, steps=3), epsilon, 100)
        assert ranked.bound == box_bound(dn.Features(64, -1, 1), epsilon, 100)
        assert ranked.bound is not None
        assert all(row.error >= ranked.bound for row in ranked)
        assert (ranked[0].error / ranked.bound) ** 2 < most
        units = unit_options(dn.UnitVectors(384), epsilon, 100)
        assert units.bound is not None and units[0].error >= units.bound
        assert (units[0].error / units.bound) ** 2 < 1.04


def test_few_dimensions_have_the_bound_of_a_number_where_it_is_larger() -> None:
    one, three = (box_bound(dn.Features(k, -1, 1), 5.0, 1) for k in (1, 3))
    assert one is not None and three is not None
    assert one == three > 0
    assert box_bound(dn.Features(2, -1, 1), 12.0, 1) == mean_bound(dn.Interval(-1, 1), 12.0, 1)
    assert box_bound(dn.Features(9, -1, 1), 12.0, 1) is None
    assert vector_options(dn.Features(2, -1, 1, steps=3), 12.0, 1).bound is not None


def test_the_plan_says_of_which_mechanisms_the_bound_is() -> None:
    words = dn.plan(dn.UnitVectors(300), 4.0, 1000, target="mean").explain()
    assert "the best that any mechanism whose reports are decoded without bias can have" in words
    constant = [
        line
        for line in dn.plan(dn.Features(768, -1, 1), 1.0, 10, target="mean").explain().splitlines()
        if "constant" in line
    ]
    assert len(constant) == 1 and "%" not in constant[0]  # which is biased
    with pytest.raises(dn.InvalidParameter, match="prior"):
        dn.plan(dn.UnitVectors(3), 1.0, 10, target="mean", prior=[0.1])  # type: ignore[call-overload]


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("epsilon", [6.0, 15.0, 40.0, 60.0])
def test_numbers_between_the_points_of_a_grid_count_at_large_budgets(epsilon: float) -> None:
    """There reports are nearly exact, and what is left is the coin that rounds a number to the grid."""
    for dimensions, steps in ((1, 4), (1, 1024), (3, 16)):
        domain = dn.Features(dimensions, -1, 1, steps)
        ranked = vector_options(domain, epsilon, 1)
        assert ranked.bound is not None and all(row.error >= ranked.bound for row in ranked)
        mechanism = dn.FeatureVector(domain, epsilon)
        found = [mechanism.predict([[x] * dimensions], 1).variance for x in np.linspace(-1, 1, 8 * steps + 1)]
        assert max(float(each[0]) for each in found if each is not None) == pytest.approx(
            mechanism.worst_variance(), rel=2e-2
        )
