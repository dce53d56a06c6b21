"""Steps of laws, compiled by numba; each loop gives exactly what its twin in steps.py gives."""

import math

import numpy as np
from numba import njit
from numpy.typing import DTypeLike

from deniable.arrays import Bools, Floats, Ints
from deniable.kernels.compiled import scale
from deniable.kernels.plain import AnyWords
from deniable.kernels.steps import WHOLE


def add_scaled(values: Ints, words: AnyWords, bound: int, word_bits: int, where: Bools, more: int) -> Ints:
    if word_bits == 64:
        drawn, again = scale(words, bound, word_bits)
        drawn += more
        drawn *= where
        drawn[again] = 0
        values += drawn
        return again
    refused = np.empty(len(words), np.bool_)
    count = _add_scaled(values, words, np.uint64(bound), np.uint64(word_bits), where, more, refused)
    return np.flatnonzero(refused) if count else np.empty(0, np.int64)


@njit(cache=True, nogil=True)
def _add_scaled(values, words, bound, word_bits, where, more, refused):  # type: ignore[no-untyped-def]
    mask = (np.uint64(1) << word_bits) - np.uint64(1)
    threshold = (mask - bound + np.uint64(1)) % bound
    count = np.uint64(0)
    for i in range(words.shape[0]):
        product = words[i] * bound
        low = (product & mask) < threshold
        chosen = np.int64(where[i] & (not low))
        values[i] += (np.int64(product >> word_bits) + more) & -chosen
        refused[i] = low
        count += np.uint64(low)
    return count


def wrap(values: Ints, by: int) -> None:
    _wrap(values, by)


@njit(cache=True, nogil=True)
def _wrap(values, by):  # type: ignore[no-untyped-def]
    for i in range(values.shape[0]):
        less = np.uint64(values[i] - by)
        values[i] = np.int64(min(np.uint64(values[i]), less))


def remainder(values: Ints, by: int, highest: int) -> Ints:
    # x // by = x m >> s for all x up to `highest`, if m = 2^s // by + 1 and 2^s exceeds highest * by: then m by - 2^s is at
    # most `by`, so that x m / 2^s is too large by less than 1 / by.
    shift = (highest * by).bit_length()
    found = np.empty(len(values), np.int64)
    _remainder(values, by, np.uint64((1 << shift) // by + 1), np.uint64(shift), found)
    return found


@njit(cache=True, nogil=True)
def _remainder(values, by, multiplier, shift, found):  # type: ignore[no-untyped-def]
    for i in range(values.shape[0]):
        times = np.int64(np.uint64(values[i]) * multiplier >> shift)
        found[i] = values[i] - times * by


def aim(column: Ints, row: Ints, odd: Ints) -> Ints:
    found = np.empty(len(column), np.int64)
    _aim(column, row, odd, found)
    return found


@njit(cache=True, nogil=True)
def _aim(column, row, odd, found):  # type: ignore[no-untyped-def]
    for i in range(column.shape[0]):
        parity = column[i] & row[i]
        parity ^= parity >> 32
        parity ^= parity >> 16
        parity ^= parity >> 8
        parity ^= parity >> 4
        parity ^= parity >> 2
        parity ^= parity >> 1
        found[i] = column[i] ^ (row[i] & -row[i] & -((parity ^ odd[i]) & 1))


def all_within(values: Ints, low: int, high: int) -> bool:
    return bool(_all_within(values, low, high))


@njit(cache=True, nogil=True)
def _all_within(values, low, high):  # type: ignore[no-untyped-def]
    wrong = np.int64(0)
    for i in range(values.shape[0]):
        wrong |= np.int64(values[i] < low) | np.int64(values[i] > high)
    return wrong == 0


def grid_position(numbers: Floats, points: Floats) -> Floats:
    found = np.empty(len(numbers), np.float64)
    _grid_position(numbers, points, found)
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _grid_position(numbers, points, found):  # type: ignore[no-untyped-def]
    low, high, steps = points[0], points[-1], float(points.shape[0] - 1)
    for i in range(numbers.shape[0]):
        position = min(max((numbers[i] - low) / (high - low) * steps, 0.0), steps)
        near = np.rint(position)
        found[i] = near if numbers[i] == points[np.uint64(near)] else position


def grid_codes(numbers: Floats, points: Floats, kind: DTypeLike = np.int64) -> tuple[Ints, Ints] | None:
    below, up = np.empty(len(numbers), kind), np.empty(len(numbers), np.int64)
    divided = _grid_codes_of_power if is_power(points[-1] - points[0]) else _grid_codes
    return (below, up) if divided(numbers, points, below, up) else None


def is_power(number: float) -> bool:
    """Whether a number is a power of two: multiplying by its inverse is as exact as dividing by it, and faster."""
    fraction, exponent = math.frexp(number)
    return fraction == 0.5 and abs(exponent) < 1000


@njit(cache=True, nogil=True, error_model="numpy")
def _grid_codes(numbers, points, below, up):  # type: ignore[no-untyped-def]
    low, high, steps, wrong = points[0], points[-1], float(points.shape[0] - 1), np.int64(0)
    for i in range(numbers.shape[0]):
        number, outside = moved_inside(numbers[i], low, high)
        wrong |= outside
        below[i], up[i] = grid_code(number, (number - low) / (high - low) * steps, low, high, steps)
    return wrong == 0


@njit(cache=True, nogil=True, error_model="numpy")
def _grid_codes_of_power(numbers, points, below, up):  # type: ignore[no-untyped-def]
    low, high, steps, wrong = points[0], points[-1], float(points.shape[0] - 1), np.int64(0)
    inverse = 1 / (high - low)
    for i in range(numbers.shape[0]):
        number, outside = moved_inside(numbers[i], low, high)
        wrong |= outside
        below[i], up[i] = grid_code(number, (number - low) * inverse * steps, low, high, steps)
    return wrong == 0


@njit(cache=True, nogil=True, inline="always")
def moved_inside(given, low, high):  # type: ignore[no-untyped-def]
    """The number, or an end where it is none or lies outside; and whether it does."""
    number = given if given >= low else low
    number = number if number <= high else high
    return number, np.int64(number != given)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def grid_code(number, position, low, high, steps):  # type: ignore[no-untyped-def]
    """The codes of a number inside: then its position is from 0 to `steps`, however it is rounded."""
    near = np.rint(position)
    point = near * ((high - low) / steps) + low if near < steps else high  # points[near], as `linspace` makes them
    position = near if number == point else position
    point = min(np.floor(position), steps - 1.0)
    return np.int64(point), np.int64(np.rint((position - point) * float(WHOLE)))
