"""Vectors of numbers on their way to bits, compiled by numba; each loop gives exactly what its twin in vectors.py gives."""

import numpy as np
from numba import njit

from deniable.arrays import Bytes, Floats, Ints, Words, Words32
from deniable.kernels.fused import CUT
from deniable.kernels.lanes_compiled import LANES, TILE, lanes_with, store_word, turn_tile
from deniable.kernels.steps_compiled import grid_code, is_power, moved_inside
from deniable.kernels.vectors import Codes, Grid, narrowest

LARGEST = np.finfo(np.float64).max


def sign_magnitude(numbers: Floats, unit: float, bits: int) -> Codes | None:
    codes = np.empty(numbers.shape, narrowest(bits))
    flat = np.ascontiguousarray(numbers).reshape(-1)
    return codes if _sign_magnitude(flat, 1 / unit, float((1 << bits - 1) - 1), bits - 1, codes.reshape(-1)) else None


@njit(cache=True, nogil=True)
def _sign_magnitude(numbers, scale, most, sign, codes):  # type: ignore[no-untyped-def]
    wrong = np.int64(0)
    for i in range(numbers.shape[0]):
        size = abs(numbers[i])
        wrong |= np.int64(not size <= LARGEST)  # also where it is no number
        size = size * scale if size * scale < most else most  # dividing by a power of two is as exact
        codes[i] = np.int64(size) | np.int64(numbers[i] >= 0) << sign
    return wrong == 0


def bit_rows(vector: Codes, place: int) -> Bytes:
    shape = len(vector), (vector.shape[1] + 7) // 8
    if place >= 8 * vector.dtype.itemsize:
        return np.zeros(shape, np.uint8)
    rows = np.empty(shape, np.uint8)
    _bit_rows(_numbers(vector), place, rows)
    return rows


def _numbers(vector: Codes) -> Codes:
    """One after the other, also where they are truth values."""
    return np.ascontiguousarray(vector.view(np.uint8) if vector.dtype == np.bool_ else vector)


@njit(cache=True, nogil=True)
def _bit_rows(vector, place, rows):  # type: ignore[no-untyped-def]
    numbers, width = vector.reshape(-1), vector.shape[1]
    for row in range(rows.shape[0]):
        own, first = rows[row], row * width
        whole = width // LANES
        for part in range(whole):
            store_word(lanes_with(numbers, first + part * LANES, place), own, 8 * part)
        for byte in range(8 * whole, own.shape[0]):
            found = np.int64(0)
            for bit in range(min(8, width - 8 * byte)):
                found |= (np.int64(vector[row, 8 * byte + bit]) >> place & 1) << bit
            own[byte] = np.uint8(found)


def rounded_up(below: Codes, chances: Ints, words: Words, points: Codes) -> None:
    _rounded_up(below, chances, words, points)


@njit(cache=True, nogil=True)
def _rounded_up(below, chances, words, points):  # type: ignore[no-untyped-def]
    for i in range(below.shape[0]):
        points[i] = np.int64(below[i]) + np.int64(np.int64(words[i] >> CUT) < chances[i])


def rounded_numbers(numbers: Floats, grid: Grid, words: Words, points: Codes) -> bool:
    low, high, steps = grid
    divided = _rounded_of_power if is_power(high - low) else _rounded_numbers
    return bool(divided(numbers, low, high, float(steps), words, points))


@njit(cache=True, nogil=True, error_model="numpy")
def _rounded_numbers(numbers, low, high, steps, words, points):  # type: ignore[no-untyped-def]
    wrong = np.int64(0)
    for i in range(numbers.shape[0]):
        number, outside = moved_inside(numbers[i], low, high)
        wrong |= outside
        below, up = grid_code(number, (number - low) / (high - low) * steps, low, high, steps)
        points[i] = below + np.int64(np.int64(words[i] >> CUT) < up)
    return wrong == 0


@njit(cache=True, nogil=True, error_model="numpy")
def _rounded_of_power(numbers, low, high, steps, words, points):  # type: ignore[no-untyped-def]
    wrong, inverse = np.int64(0), 1 / (high - low)
    for i in range(numbers.shape[0]):
        number, outside = moved_inside(numbers[i], low, high)
        wrong |= outside
        below, up = grid_code(number, (number - low) * inverse * steps, low, high, steps)
        points[i] = below + np.int64(np.int64(words[i] >> CUT) < up)
    return wrong == 0


def toss_columns(points: Codes, words: Words32, whole: int, first: int, rows: Bytes) -> None:
    _toss_columns(points, words, np.uint64(whole), first, rows)


@njit(cache=True, nogil=True)
def _toss_columns(points, words, whole, first, rows):  # type: ignore[no-untyped-def]
    # Words lie column by column, bits row by row: a tile of both at a time is turned round.
    (columns, size), flat = words.shape, words.reshape(-1)
    drawn, heads = np.zeros(TILE * LANES, np.uint32), np.zeros(TILE * LANES, np.uint8)
    for start in range(0, columns, LANES):
        many, byte = min(LANES, columns - start), (first + start) // 8
        for top in range(0, size, TILE):
            tall = min(TILE, size - top)
            whole_tiles = many // TILE * TILE if tall == TILE else 0
            for column in range(0, whole_tiles, TILE):
                turn_tile(flat, (start + column) * size + top, size, drawn[column:], LANES)
            for column in range(whole_tiles, many):
                for row in range(tall):
                    drawn[row * LANES + column] = words[start + column, top + row]
            for row in range(tall):
                number = points[top + row, first + start : first + start + many]
                own, head = drawn[row * LANES : (row + 1) * LANES], heads[row * LANES : (row + 1) * LANES]
                for column in range(many):
                    scaled = np.uint32(np.uint64(own[column]) * whole >> np.uint64(32))
                    head[column] = np.uint8(scaled < number[column])
            for row in range(tall):  # once these bytes are written: a load of many of them would wait
                store_word(lanes_with(heads, row * LANES, 0), rows[top + row, : byte + (many + 7) // 8], byte)
