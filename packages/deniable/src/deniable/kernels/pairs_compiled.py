"""Lists of many people, compiled by numba; each loop gives exactly what its twin in pairs.py gives."""

import numpy as np
from numba import njit

from deniable.arrays import Floats, Ints
from deniable.kernels.pairs import FINE, KEY_OUTSIDE, UNSORTED, VALUE_OUTSIDE


def _check(starts: Ints, numbers: Ints) -> None:
    """A compiled loop would read beside the numbers."""
    if not len(starts) or starts[0] != 0 or starts[-1] != len(numbers) or not (starts[1:] >= starts[:-1]).all():
        raise IndexError("Lists must begin where the one before ends.")


def fault(starts: Ints, keys: Ints, values: Floats, size: int, low: float, high: float) -> int:
    _check(starts, keys)
    wrong = int(_fault(keys, values, size, low, high))
    return wrong or (UNSORTED if _falls(starts, keys).any() else FINE)


@njit(cache=True, nogil=True)
def _fault(keys, values, size, low, high):  # type: ignore[no-untyped-def]
    wrong = np.int64(0)
    for i in range(keys.shape[0]):
        wrong |= np.int64(keys[i] < 0) | np.int64(keys[i] >= size)
    if wrong:
        return KEY_OUTSIDE
    for i in range(values.shape[0]):
        wrong |= np.int64(not values[i] >= low) | np.int64(not values[i] <= high)
    return VALUE_OUTSIDE if wrong else FINE


@njit(cache=True, nogil=True)
def _falls(starts, keys):  # type: ignore[no-untyped-def]
    # Two loops without a branch: people's lists have all lengths, which would often be guessed wrong.
    falls = np.zeros(keys.shape[0] + 1, np.bool_)
    for i in range(1, keys.shape[0]):
        falls[i] = keys[i] <= keys[i - 1]
    for person in range(starts.shape[0]):
        falls[starts[person]] = False
    return falls


def in_order(starts: Ints, keys: Ints, values: Floats) -> tuple[Ints, Floats, bool]:
    _check(starts, keys)
    keys, values = keys.copy(), values.copy()
    people = np.searchsorted(starts, np.flatnonzero(_falls(starts, keys)), side="right") - 1
    return keys, values, bool(_in_order(starts, keys, values, people))


@njit(cache=True, nogil=True)
def _in_order(starts, keys, values, people):  # type: ignore[no-untyped-def]
    twice = np.int64(0)
    for person in people:
        first, last = starts[person], starts[person + 1]
        order = np.argsort(keys[first:last], kind="mergesort")
        own_keys, own_values = keys[first:last].copy(), values[first:last].copy()
        for i in range(last - first):
            keys[first + i], values[first + i] = own_keys[order[i]], own_values[order[i]]
        for i in range(first + 1, last):
            twice |= np.int64(keys[i] == keys[i - 1])
    return twice


def heads_of(starts: Ints, keys: Ints, values: Floats, key: Ints, low: float, high: float, whole: int) -> Ints:
    _check(starts, keys)
    found = np.empty(len(starts) - 1, np.int64)
    _heads_of(starts, keys, values, key, low, high, float(whole), found)
    return found


@njit(cache=True, nogil=True)
def _heads_of(starts, keys, values, key, low, high, whole, found):  # type: ignore[no-untyped-def]
    for person in range(found.shape[0]):
        at = np.int64(-1)
        for i in range(starts[person], starts[person + 1]):
            at = np.int64(i) if keys[i] == key[person] else at
        found[person] = np.int64(whole) + 1 if at < 0 else np.int64(np.rint((values[at] - low) / (high - low) * whole))


def shares(values: Floats, low: float, high: float, whole: int) -> Ints:
    found = np.empty(len(values), np.int64)
    _shares(values, low, high, float(whole), found)
    return found


@njit(cache=True, nogil=True)
def _shares(values, low, high, whole, found):  # type: ignore[no-untyped-def]
    width = high - low
    for i in range(values.shape[0]):
        found[i] = np.int64(np.rint((values[i] - low) / width * whole))


def numbers_at(starts: Ints, numbers: Ints, padding: Ints, place: Ints) -> Ints:
    _check(starts, numbers)
    if len(place) != len(starts) - 1 or (len(place) and not 0 <= place.min() <= place.max() < len(padding)):
        raise IndexError("A place is outside the padding.")
    found = np.empty(len(place), np.int64)
    _numbers_at(starts, numbers, padding, place, found)
    return found


@njit(cache=True, nogil=True)
def _numbers_at(starts, numbers, padding, place, found):  # type: ignore[no-untyped-def]
    for person in range(found.shape[0]):
        at = starts[person] + place[person]
        found[person] = numbers[at] if at < starts[person + 1] else padding[place[person]]
