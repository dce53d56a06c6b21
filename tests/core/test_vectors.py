"""Vectors on their way to bits: compiled loops give what the plain ones give."""

from typing import Any

import numpy as np
import pytest

from deniable.kernels import steps, vectors
from tests.twins import plain_loops

pytestmark = pytest.mark.needs("numba")
PLAIN = plain_loops(vectors)


@pytest.mark.parametrize("bits", [1, 2, 8, 9, 10, 16, 17, 33, 40])
@pytest.mark.parametrize("unit", [2.0**-9, 1.0, 2.0**5])
def test_codes_and_their_bits(bits: int, unit: float) -> None:
    from deniable.kernels import vectors_compiled

    random = np.random.default_rng(bits)
    numbers = random.standard_normal((37, 131)) * random.choice([0, 1, 1e5, 1e-5, 1e300, 1e-300], (37, 131))
    numbers[0, :4] = -0.0, -unit, unit * (1 << bits - 1), np.nextafter(unit, 0)
    codes = PLAIN.sign_magnitude(numbers, unit, bits)
    ours = vectors_compiled.sign_magnitude(numbers, unit, bits)
    assert ours is not None and ours.dtype == codes.dtype == np.min_scalar_type((1 << bits) - 1)
    np.testing.assert_array_equal(ours, codes)
    for place in range(bits):
        np.testing.assert_array_equal(vectors_compiled.bit_rows(codes, place), PLAIN.bit_rows(codes, place))
    for wrong in (np.nan, np.inf, -np.inf):
        numbers[5, 5] = wrong
        for loops in (vectors_compiled, PLAIN):
            assert loops.sign_magnitude(numbers, unit, bits) is None


@pytest.mark.parametrize("width", [1, 7, 64, 100, 131, 768])
def test_bits_of_numbers_of_every_type(width: int) -> None:
    from deniable.kernels import vectors_compiled

    random = np.random.default_rng(width)
    for kind in (np.bool_, np.uint8, np.uint16, np.uint32, np.uint64, np.int64):
        vector: Any = random.integers(0, 2 if kind is np.bool_ else 250, (9, width)).astype(kind)
        for place in (0, 1, 7, 8, 40, 61):
            found = PLAIN.bit_rows(vector.astype(np.int64), place)
            np.testing.assert_array_equal(vectors_compiled.bit_rows(vector, place), found)


def test_points_of_a_grid_in_narrow_numbers() -> None:
    from deniable.kernels import steps_compiled

    points, numbers = np.linspace(-1, 1, 1025), np.random.default_rng(1).uniform(-1, 1, 5000)
    wide = plain_loops(steps).grid_codes(numbers, points)
    for loops in (steps_compiled, plain_loops(steps)):
        below, up = loops.grid_codes(numbers, points, np.uint16)
        assert below.dtype == np.uint16 and up.dtype == np.int64
        np.testing.assert_array_equal(below, wide[0])
        np.testing.assert_array_equal(up, wide[1])


@pytest.mark.parametrize("steps_of_grid", [1, 3, 1000, 1024])
@pytest.mark.parametrize("ends", [(-1, 1), (0.1, 0.1 + 2**-4), (-3, 4), (0, 2.0**-1030), (0, 2.0**1005), (1e-3, 0.9)])
def test_places_on_grids_of_every_width(ends: tuple[float, float], steps_of_grid: int) -> None:
    """Also as wide as a power of two, where nothing is divided; on the points and right beside them."""
    from deniable.kernels import steps_compiled

    points = np.linspace(*ends, steps_of_grid + 1)
    beside = [np.nextafter(points, ends[0]), points, np.nextafter(points, ends[1])]
    numbers = np.concatenate([*beside, np.random.default_rng(1).uniform(*ends, 3000)])
    found, expected = steps_compiled.grid_codes(numbers, points), plain_loops(steps).grid_codes(numbers, points)
    assert found is not None
    np.testing.assert_array_equal(found, expected)
    for wrong in (np.nan, np.nextafter(ends[0], -np.inf), np.nextafter(ends[1], np.inf)):
        assert steps_compiled.grid_codes(np.append(numbers, wrong), points) is None
