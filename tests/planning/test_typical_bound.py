"""Bounds for coordinates of a typical size: met by the best channel for one number, and never beaten, by any law."""

import itertools
import math

import numpy as np
import pytest

import deniable as dn
from deniable.planning.typical_bound import typical_bound
from deniable.planning.vector_bounds import box_bound
from deniable.planning.vectors import vector_options
from tests.planning.best_channels import best_expected_noise
from tests.planning.test_vector_bounds import channels


def bound_of(dimensions: int, epsilon: float, size: float) -> float:
    found = typical_bound(dn.Features(dimensions, -1, 1), epsilon, 1, size)
    assert found is not None
    return found**2


@pytest.mark.parametrize("size", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 3.0])
def test_of_one_number_the_bound_is_the_optimum(epsilon: float, size: float) -> None:
    """By brute force over all channels on both ends and both typical numbers."""
    points = np.array([-1.0, 1.0, -size, size] if size else [-1.0, 1.0, 0.0])
    shares = np.array([0, 0, 0.5, 0.5] if size else [0, 0, 1.0])
    best = best_expected_noise(np.outer(points, points), math.exp(epsilon), shares)
    assert best == pytest.approx(bound_of(1, epsilon, size), rel=1e-6)


@pytest.mark.parametrize("size", [0.1, 0.6])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_no_channel_is_below(epsilon: float, size: float) -> None:
    """Two coordinates: four corners and four typical vectors, each decoded without bias in the best way."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=2)))
    points = np.concatenate([signs, size * signs])
    least = bound_of(2, epsilon, size)
    for channel in channels(8, epsilon, 7):
        often = channel[4:].mean(0)
        solved = np.linalg.lstsq((channel / often) @ channel.T, points, rcond=1e-13)[0]
        decoded = (channel / often).T @ solved
        if np.abs(channel @ decoded - points).max() < 1e-9:
            assert (often @ decoded**2).mean() - size**2 >= least * (1 - 1e-9)


@pytest.mark.parametrize("dimensions", [1, 3, 20, 300])
@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 1.0, 2.0, 4.0, 10.0])
def test_every_candidate_is_above(dimensions: int, epsilon: float) -> None:
    domain = dn.Features(dimensions, -1, 1)
    for size in (0.0, 0.1, 0.5, 1.0):
        ranked = vector_options(domain, epsilon, 100, size)
        assert ranked.bound is not None and all(row.error >= ranked.bound * (1 - 1e-12) for row in ranked)
        above = ranked.above(ranked[0])
        assert above is not None and (epsilon > 2 or above < 0.3)
        assert size > 0 or epsilon < 2 or above < 0.01  # most reports on zeros are zero, and no more can be


def test_at_the_corners_it_is_the_bound_of_the_box() -> None:
    for dimensions, epsilon in ((20, 0.5), (300, 2.0), (5000, 3.0)):
        worst = box_bound(dn.Features(dimensions, -1, 1), epsilon, 1)
        assert worst is not None and bound_of(dimensions, epsilon, 1.0) == pytest.approx(worst**2, rel=2e-3)


def test_the_error_is_the_same_for_all_signs_so_that_their_mean_is_what_plans_state() -> None:
    for row in vector_options(dn.Features(3, -1, 1), 2.0, 100, 0.25):
        for signs in itertools.product([-1, 1], repeat=3):
            found = row.mechanism.predict([0.25 * np.array(signs)], 100).standard_error
            np.testing.assert_allclose(found, row.error, rtol=1e-9)


@pytest.mark.filterwarnings("error")
def test_the_smallest_sizes_are_like_zeros() -> None:
    for epsilon in (0.1, 3.0, 12.0):
        for size in (1e-300, 1e-9):
            assert bound_of(3, epsilon, size) == pytest.approx(bound_of(3, epsilon, 0.0), rel=1e-6)


def test_ranges_are_scaled_and_budgets_beyond_floats_prove_nothing() -> None:
    wide = typical_bound(dn.Features(20, 0, 10), 1.0, 1, 1.0)
    assert wide is not None and wide**2 == pytest.approx(25 * bound_of(20, 1.0, 0.2), rel=1e-9)
    assert typical_bound(dn.Features(20, -1, 1), 100.0, 1, 0.5) is None
