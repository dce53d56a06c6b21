"""Steps of laws, compiled by numba; each loop gives exactly what its twin in steps.py gives."""

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
    return (below, up) if _grid_codes(numbers, points, below, up) else None


@njit(cache=True, nogil=True, error_model="numpy")
def _grid_codes(numbers, points, below, up):  # type: ignore[no-untyped-def]
    low, high, steps, whole = points[0], points[-1], float(points.shape[0] - 1), float(WHOLE)
    step, wrong = (high - low) / steps, np.int64(0)
    for i in range(numbers.shape[0]):
        number = numbers[i] if numbers[i] >= low else low  # also where it is none
        number = number if number <= high else high
        wrong += np.int64(number != numbers[i])
        position = min(max((number - low) / (high - low) * steps, 0.0), steps)
        near = np.rint(position)
        point = near * step + low if near < steps else high  # points[near], as `linspace` makes them: nothing is looked up
        position = near if number == point else position
        point = min(np.floor(position), steps - 1.0)
        below[i] = np.int64(point)
        up[i] = np.int64(np.rint((position - point) * whole))
    return wrong == 0
