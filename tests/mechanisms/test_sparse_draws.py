"""Shared draws: known answers, both twins alike, access to any coordinate, and a permutation that is one."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Words
from deniable.kernels import draws
from deniable.mechanisms.sparse.chunks import best_load, chunk_of, first_place
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.permutation import Permutation
from research.compressed_formulas import published_chunks
from tests.twins import plain_loops

draws_plain = plain_loops(draws)


def words(*numbers: int) -> Words:
    return np.array(numbers, np.uint64)


def some(size: int, seed: int = 1) -> tuple[Words, Words, Words, Words]:
    random = np.random.default_rng(seed)
    bounds = (50_000, 60, 1 << 43, 1 << 63)
    return tuple(random.integers(0, bound, size).astype(np.uint64) for bound in bounds)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0, 0, 0, 0), 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((0xFFFFFFFF,) * 4, (1 << 64) - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), 0x299F31D0A4093822, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_known_answers(counter: tuple[int, ...], key: int, answer: str) -> None:
    """Of Salmon et al.'s Random123."""
    a, b, c, d = (words(number) for number in counter)
    block = draws_plain.philox(a, b, c, d, words(key))
    assert " ".join(f"{int(word[0]):08x}" for word in block) == answer


@pytest.mark.needs("numba")
def test_twins_draw_the_same() -> None:
    from deniable.kernels import draws_compiled

    for threshold in (
        CoordinateResponse.quantised(0.25).threshold,
        CoordinateResponse.quantised(3.0).threshold,
        1,
        1 << 28,
        (1 << 31) - 1,
    ):
        given = some(3000)
        assert np.array_equal(draws_plain.draw_bits(*given, threshold), draws_compiled.draw_bits(*given, threshold))
    threshold = CoordinateResponse.quantised(0.5, 11).threshold
    given = some(3000, 2)
    assert np.array_equal(draws_plain.draw_values(*given, threshold, 11), draws_compiled.draw_values(*given, threshold, 11))


@pytest.mark.needs("numba")
@pytest.mark.parametrize("size", [1, 31, 32, 33, 200, 1000])
def test_rows_are_the_coordinates(size: int) -> None:
    """Packed rows of both twins, chunk by chunk, against one coordinate at a time."""
    from deniable.kernels import draws_compiled

    threshold, chunks = CoordinateResponse.quantised(0.3).threshold, min(size, 7)
    chunk = np.arange(chunks)
    label, key = words(*range(1, chunks + 1)), np.full(chunks, 99, np.uint64)
    row = np.zeros(chunks, np.int64)
    bounds = first_place(chunk, size, chunks), first_place(chunk + 1, size, chunks)
    rows = [np.zeros((1, (size + 63) // 64 * 2), np.uint32) for _ in range(2)]
    for draw_rows, out in zip((draws_plain.draw_rows, draws_compiled.draw_rows), rows, strict=True):
        draw_rows(out, row, *bounds, chunk.astype(np.uint64), label, key, threshold)
    assert np.array_equal(rows[0], rows[1])
    place = np.arange(size)
    own = chunk_of(place, size, chunks)
    single = draws_plain.draw_bits(place.astype(np.uint64), own.astype(np.uint64), label[own], key[own], threshold)
    assert np.array_equal(np.unpackbits(rows[0].view(np.uint8)[0], bitorder="little")[:size], single)
    assert not np.unpackbits(rows[0].view(np.uint8)[0], bitorder="little")[size:].any()


def test_a_coordinate_is_one_if_its_number_is_below() -> None:
    """The binary digits of U, read from the planes by hand."""
    place, chunk, label, key = some(200, 3)
    threshold = CoordinateResponse.quantised(1.0).threshold
    numbers = np.zeros(200, np.int64)
    for group in range(8):
        counter = (place >> np.uint64(5)) * np.uint64(8) + np.uint64(group)
        for plane in draws_plain.philox(counter, chunk, label & np.uint64(0xFFFFFFFF), label >> np.uint64(32), key):
            numbers = 2 * numbers + (plane >> (place & np.uint64(31)) & np.uint64(1)).astype(np.int64)
    assert np.array_equal(draws_plain.draw_bits(place, chunk, label, key, threshold), numbers < threshold)


def test_draws_have_the_frequencies_of_the_channel() -> None:
    """Six standard deviations for each of eleven values: a false alarm once in 4e7."""
    coordinate, size = CoordinateResponse.quantised(0.5, 11), 200_000
    drawn = np.bincount(draws_plain.draw_values(*some(size, 4), coordinate.threshold, 11), minlength=11)
    for value, times in enumerate(drawn):
        chance = float(coordinate.p if value == 0 else coordinate.q)
        assert abs(times - size * chance) < 6 * (size * chance * (1 - chance)) ** 0.5


@pytest.mark.parametrize("size", [1, 2, 3, 10, 97, 1000, 4096])
def test_permutation(size: int) -> None:
    order = Permutation(size, "test")
    there = order.forward(np.arange(size))
    assert sorted(there.tolist()) == list(range(size))
    assert np.array_equal(order.backward(there), np.arange(size))
    assert np.array_equal(order.backward(there[:1]), [0])
    assert np.array_equal(order.table[there], np.arange(size))


@pytest.mark.needs("numba")
def test_twins_permute_the_same() -> None:
    from deniable.kernels import draws_compiled

    keys = np.random.default_rng(5).integers(0, 1 << 63, 6).astype(np.uint64)
    for size, left, right in ((10**9, 31623, 31623), (1000, 32, 32)):
        values = np.random.default_rng(6).integers(0, size, 500)
        for inverse in (False, True):
            plain = draws_plain.permute(values, keys, left, right, size, inverse)
            assert np.array_equal(plain, draws_compiled.permute(values, keys, left, right, size, inverse))
        assert np.array_equal(draws_plain.permute(plain, keys, left, right, size, False), values)


def test_permutation_spreads_neighbours() -> None:
    """A thousand neighbours over 63 chunks: as even as chance makes them; the fullest has under 40 but once in 1e6."""
    places = Permutation(87_585, "spread").forward(np.arange(1000))
    assert np.bincount(chunk_of(places, 87_585, 63), minlength=63).max() < 40
    assert not np.array_equal(places, Permutation(87_585, "another").forward(np.arange(1000)))


@pytest.mark.parametrize(("size", "chunks"), [(10, 6), (10, 7), (10, 10), (1000, 63), (5, 1)])
def test_chunks_are_balanced_and_none_is_empty(size: int, chunks: int) -> None:
    own = chunk_of(np.arange(size), size, chunks)
    sizes = np.bincount(own, minlength=chunks)
    assert sizes.min() >= 1 and sizes.max() - sizes.min() <= 1
    assert np.array_equal(np.cumsum(sizes) - sizes, first_place(np.arange(chunks), size, chunks))


def test_published_chunks_leave_some_empty() -> None:
    assert published_chunks(10, 7) == (2, 5)
    assert published_chunks(100, 8) == (13, 8)


class TestChannel:
    @pytest.mark.parametrize(("epsilon", "values"), [(0.25, 2), (1.0, 2), (0.5, 3), (0.25, 11), (4.0, 256)])
    def test_quantised_costs_a_little_less(self, epsilon: float, values: int) -> None:
        coordinate = CoordinateResponse.quantised(epsilon, values)
        assert coordinate.p + (values - 1) * coordinate.q == 1
        assert coordinate.q == Fraction(coordinate.threshold, 1 << 32)
        assert epsilon - 2e-6 < coordinate.epsilon <= epsilon
        assert coordinate.odds <= dn.odds_below(epsilon)

    def test_indicator_is_unbiased(self) -> None:
        """Over the exact law of a response to value 2."""
        coordinate = CoordinateResponse.quantised(0.5, 4)
        law = [float(coordinate.p if value == 2 else coordinate.q) for value in range(4)]
        for value in range(4):
            mean = law @ coordinate.indicator(np.arange(4), value)
            assert mean == pytest.approx(float(value == 2), abs=1e-12)
        square = law @ coordinate.indicator(np.arange(4), 1) ** 2
        assert square == pytest.approx(coordinate.noise)

    def test_refusals(self) -> None:
        for values in (1, 257, True, 2.0):
            with pytest.raises(dn.InvalidParameter, match="2 to 256 values"):
                CoordinateResponse.quantised(1.0, values)  # type: ignore[arg-type]
        with pytest.raises(dn.InvalidParameter, match="less likely"):
            CoordinateResponse(2, Fraction(1, 2))
        with pytest.raises(dn.InvalidParameter, match="quantised"):
            _ = CoordinateResponse.of(1.0).threshold

    def test_load_keeps_the_work(self) -> None:
        for epsilon in (0.1, 0.25, 1.0):
            coordinate = CoordinateResponse.quantised(epsilon)
            load, growth = best_load(coordinate), float(coordinate.odds) - 1
            assert np.exp(load * growth) / load <= max(7.01, math.e * growth * 1.001)
