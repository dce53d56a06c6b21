"""Lists of many people, compiled by numba; each loop gives exactly what its twin in pairs.py gives."""

import numpy as np
from numba import njit

from deniable.arrays import Floats, Ints
from deniable.kernels.pairs import FINE, KEY_OUTSIDE, UNSORTED, VALUE_OUTSIDE

FEW = 32  # keys of a person


def _check(starts: Ints, numbers: Ints) -> None:
    """A compiled loop would read beside the numbers."""
    if not len(starts) or starts[0] != 0 or starts[-1] != len(numbers) or not _follow(starts):
        raise IndexError("Lists must begin where the one before ends.")


@njit(cache=True, nogil=True)
def _follow(starts):  # type: ignore[no-untyped-def]
    wrong = np.int64(0)
    for i in range(1, starts.shape[0]):
        wrong |= np.int64(starts[i] < starts[i - 1])
    return wrong == 0


def fault(starts: Ints, keys: Ints, values: Floats, size: int, low: float, high: float) -> int:
    _check(starts, keys)
    return int(_fault(keys, values, size, low, high)) or (FINE if _rise(starts, keys) else UNSORTED)


def rise(starts: Ints, numbers: Ints) -> bool:
    _check(starts, numbers)
    return bool(_rise(starts, numbers))


@njit(cache=True, nogil=True)
def _rise(starts, numbers):  # type: ignore[no-untyped-def]
    # All that are not above the one before, less those that begin a list: two loops without a branch, since people's lists
    # have all lengths, which would often be guessed wrong.
    falls = np.int64(0)
    for i in range(1, numbers.shape[0]):
        falls += np.int64(numbers[i] <= numbers[i - 1])
    last = numbers.shape[0] - 1
    for person in range(starts.shape[0] - 1):
        at = max(starts[person], 1)  # where the list has a number, and one before it
        counts = np.int64(starts[person] >= 1) & np.int64(starts[person + 1] > starts[person])
        at = min(at, last)
        falls -= np.int64(numbers[at] <= numbers[max(at - 1, 0)]) & counts if last >= 0 else 0
    return falls == 0


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
    # Without a branch, as above.
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
        if last - first <= FEW:
            for i in range(first + 1, last):  # one after the other is put in its place: no memory is asked for
                key, value, at = keys[i], values[i], i
                while at > first and keys[at - 1] > key:
                    keys[at], values[at] = keys[at - 1], values[at - 1]
                    at -= 1
                keys[at], values[at] = key, value
        else:
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
    last = numbers.shape[0] - 1
    for person in range(found.shape[0]):
        at, pad = starts[person] + place[person], padding[place[person]]
        number = numbers[min(at, last)] if last >= 0 else pad
        # Selected by a mask: a branch would often be guessed wrong.
        found[person] = pad ^ ((number ^ pad) & -np.int64(at < starts[person + 1]))
