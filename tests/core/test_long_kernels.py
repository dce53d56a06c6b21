"""Compiled loops for long answers beside their twins in NumPy: whole numbers agree, and floats to the last digits."""

from typing import Any

import numpy as np
import pytest

from deniable.kernels import draws, lengths, rotations, sorting

pytestmark = pytest.mark.needs("numba")
SIZES = [128, 256, 512, 1024]


def plain_of(loop: Any) -> Any:
    """The loop in NumPy."""
    return loop.__wrapped__


@pytest.mark.parametrize("size", SIZES)
def test_axes_are_summed_alike(size: int) -> None:
    from deniable.kernels import rotations_compiled

    random, people = np.random.default_rng(size), 77  # not a multiple of the rows that stand side by side
    words = random.integers(0, 1 << 63, (people, 3 * size // 64)).astype(np.uint64) * np.uint64(2)
    given = random.integers(0, size, people), random.integers(0, 2, people), words, size, size - 9, 1 << 24
    np.testing.assert_array_equal(rotations_compiled.axis_sums(*given), plain_of(rotations.axis_sums)(*given))


@pytest.mark.parametrize("size", [10, 33, *SIZES])
def test_the_same_column_stands_at_a_place(size: int) -> None:
    """Also where numbers are the same, opposite, zero or none."""
    from deniable.kernels import rotations_compiled

    random = np.random.default_rng(size)
    rows = random.normal(size=(70, size)).astype(np.float32)
    rows[:, 5], rows[3], rows[4, ::2], rows[5, 7], rows[6, 3] = -rows[:, 9], 1.0, 0.0, np.nan, np.inf
    rows.view(np.uint32)[7, :4] = 0xFFFFFFFF  # the largest of what are no numbers
    place = random.integers(0, size, 70)
    place[7] = 2
    np.testing.assert_array_equal(
        rotations_compiled.largest_at(rows, place),
        plain_of(rotations.largest_at)(rows, place),
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("people", [1, 77])
def test_the_same_axis_is_named_after_turns(size: int, people: int) -> None:
    """From seeds to named axes, also of vectors with many equal numbers."""
    from deniable.kernels import rotations_compiled

    random = np.random.default_rng(size + people)
    words = rotations_compiled.sign_words(random.integers(0, 1 << 48, people), size)
    rows = random.normal(size=(people, size - 9)).astype(np.float32)
    rows[5:6], rows[6:7], rows[7:8, 2:] = 0.0, 1.0, 0.0
    given = rows, words, size, random.integers(0, size, people)
    np.testing.assert_array_equal(rotations_compiled.turned_at(*given), plain_of(rotations.turned_at)(*given))


def test_the_same_signs_come_from_a_seed() -> None:
    from deniable.kernels import rotations_compiled

    for seed in (np.arange(5), np.array([(1 << 48) - 1, 0, 77])):
        for size in SIZES:
            words = plain_of(rotations.sign_words)(seed, size)
            np.testing.assert_array_equal(rotations_compiled.sign_words(seed, size), words)


def test_vectors_are_sorted_by_chunks_alike() -> None:
    from deniable.kernels import sorting_compiled

    random = np.random.default_rng(1)
    counts, sizes = np.array([0, 5, 300, 1, 0, 2000]), np.array([10, 5, 301, 1 << 40, 7, 10**9])
    chunks = np.array([3, 5, 17, 1 << 10, 1, 900])
    places = np.concatenate([random.integers(0, size, count) for size, count in zip(sizes, counts, strict=True)])
    places[5 : 5 + 4] = [300, 0, 299, 150]
    given = places, random.integers(1, 9, len(places)), np.concatenate([[0], np.cumsum(counts)]), sizes, chunks
    for ours, plain in zip(sorting_compiled.sorted_by_chunk(*given), plain_of(sorting.sorted_by_chunk)(*given), strict=True):
        np.testing.assert_array_equal(ours, plain)


@pytest.mark.parametrize("size", [1, 2, 1000, 87_585, 10**9, (1 << 53) - 1])
def test_coordinates_are_permuted_alike(size: int) -> None:
    from deniable.kernels import draws_compiled

    left = int(np.sqrt(size - 1)) + 1
    keys, values = (
        np.arange(6, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15),
        np.unique(np.linspace(0, size - 1, 5000).astype(np.int64)),
    )
    given = values, keys, left, -(-size // left), size, False
    moved = draws_compiled.permute(*given)
    np.testing.assert_array_equal(moved, plain_of(draws.permute)(*given))
    assert len(np.unique(moved)) == len(values) and moved.max() < size


def test_short_vectors_are_multiplied_alike() -> None:
    from deniable.kernels import lengths_compiled

    random = np.random.default_rng(2)
    rows, others, few = random.normal(size=(50, 21)), random.normal(size=(50, 10)), random.normal(size=(10, 21))
    few[3] = 0.0
    for name, given in (
        ("on_sphere", (np.concatenate([rows / 9, few]), 1.5)),
        ("outer_rows", (others, rows)),
    ):
        plain = plain_of(getattr(lengths, name))(*given)
        off = 1e-7 if name == "on_sphere" else 1e-15  # the root of what rounding leaves of 1 - 1
        np.testing.assert_allclose(getattr(lengths_compiled, name)(*given), plain, rtol=1e-13, atol=off)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for changed, right in ((1.0, True), (1.02, False), (np.nan, False), (np.inf, False)):
        given_rows = unit.copy()
        given_rows[7, 3] *= changed
        given_rows[7] *= changed
        ours, plain = (each(given_rows, 1e-2) for each in (lengths_compiled.unit_rows, plain_of(lengths.unit_rows)))
        assert ours[1] == plain[1] == right
        np.testing.assert_allclose(ours[0], plain[0], rtol=1e-13)
        for each, (long, _) in ((lengths_compiled.unit_rows, ours), (plain_of(lengths.unit_rows), plain)):
            np.testing.assert_array_equal(each(given_rows, 1e-2, np.float32)[0], long.astype(np.float32))


@pytest.mark.parametrize("clip", [1.0, 1.5])
def test_products_come_to_the_sphere_as_if_they_were_written_down(clip: float) -> None:
    """Also where another block was in the same memory before."""
    from deniable.kernels import lengths_compiled

    random = np.random.default_rng(3)
    factors = [(random.normal(size=(50, 4)) / 9, random.normal(size=(50, 21))), (random.normal(size=(50, 3)), np.eye(50, 5))]
    for some in (factors, factors[:1]):
        rows = np.concatenate([lengths_compiled.outer_rows(*pair) for pair in some], axis=1)
        room = np.full((60, rows.shape[1] + 1), 7.0)
        ours = lengths_compiled.outer_on_sphere(some, clip, room)
        np.testing.assert_allclose(ours, lengths_compiled.on_sphere(rows, clip), rtol=1e-13, atol=1e-7)
        plain = plain_of(lengths.outer_on_sphere)(some, clip, np.empty_like(room))
        np.testing.assert_allclose(ours, plain, rtol=1e-13, atol=1e-7)
