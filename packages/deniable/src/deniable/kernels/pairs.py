"""Lists of many people in columns, from their starts on: what is wrong with them, the order of each, one number of each."""

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.kernels.plain import compiled_in

FINE, UNSORTED, KEY_OUTSIDE, VALUE_OUTSIDE = range(4)


@compiled_in("pairs_compiled", lambda starts, keys, *_: 2 * keys.size)
def fault(starts: Ints, keys: Ints, values: Floats, size: int, low: float, high: float) -> int:
    """What is wrong: a key not below `size`, a value not from `low` to `high`, or somebody's keys not in order or twice."""
    if len(keys) and not 0 <= keys.min() <= keys.max() < size:
        return KEY_OUTSIDE
    if not ((values >= low) & (values <= high)).all():
        return VALUE_OUTSIDE
    return FINE if rise(starts, keys) else UNSORTED


@compiled_in("pairs_compiled", lambda starts, numbers: numbers.size)
def rise(starts: Ints, numbers: Ints) -> bool:
    """Whether the numbers of each person are in order, none of them twice."""
    return not falls(starts, numbers).any()


def falls(starts: Ints, keys: Ints) -> Bools:
    """For each number but the first, whether it is not larger than the one before it of the same person."""
    found = keys[1:] <= keys[:-1]
    first = starts[1:-1]
    found[first[(first > 0) & (first < len(keys))] - 1] = False  # the next person's numbers may begin anywhere
    return np.asarray(found)


@compiled_in("pairs_compiled", lambda starts, keys, values: 4 * keys.size)
def in_order(starts: Ints, keys: Ints, values: Floats) -> tuple[Ints, Floats, bool]:
    """Keys and values with the keys of each person in order, and whether one comes twice."""
    sizes = np.diff(starts)
    people = np.unique(np.searchsorted(starts, np.flatnonzero(falls(starts, keys)), side="right") - 1)
    some = sizes[people]
    ends = np.cumsum(some)
    at = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts[people] - ends + some, some)
    order = np.lexsort((keys[at], np.repeat(people, some)))
    keys, values = keys.copy(), values.copy()
    keys[at], values[at] = keys[at[order]], values[at[order]]
    return keys, values, bool(falls(starts, keys).any())


@compiled_in("pairs_compiled", lambda starts, keys, *_: keys.size)
def heads_of(starts: Ints, keys: Ints, values: Floats, key: Ints, low: float, high: float, whole: int) -> Ints:
    """`shares` of the value that each person has for this key, or one more than `whole`; keys are in order and not many."""
    rows, most = np.repeat(np.arange(len(key)), np.diff(starts)), int(max(keys.max(initial=0), key.max(initial=0))) + 1
    cells, wanted = rows * most + keys, np.arange(len(key)) * most + key
    if not len(cells):
        return np.full(len(key), whole + 1)
    at = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    return np.where(cells[at] == wanted, shares(values[at], low, high, whole), whole + 1)


@compiled_in("pairs_compiled", lambda values, *_: values.size)
def shares(values: Floats, low: float, high: float, whole: int) -> Ints:
    """How far each value lies from `low` towards `high`, in parts of 1 / whole."""
    found = values - low
    found /= high - low
    found *= whole
    return np.rint(found, out=found).astype(np.int64)


@compiled_in("pairs_compiled", lambda starts, numbers, *_: starts.size)
def numbers_at(starts: Ints, numbers: Ints, padding: Ints, place: Ints) -> Ints:
    """The number at a place of each list, or of the padding where the list is shorter."""
    at = starts[:-1] + place
    if not len(numbers):
        return padding.take(place).astype(np.int64)
    return np.where(at >= starts[1:], padding.take(place), numbers.take(at, mode="clip")).astype(np.int64, copy=False)
