"""Lists of many people: compiled loops give what the plain ones give."""

from itertools import pairwise

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats, Ints
from deniable.kernels import pairs
from tests.twins import plain_loops

pytestmark = pytest.mark.needs("numba")
PLAIN = plain_loops(pairs)


def lists(seed: int, sorted_keys: bool) -> tuple[Ints, Ints, Floats]:
    """Sets of 0 to 5 of 50 keys with values from 0 to 5."""
    draws = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(draws.integers(0, 6, 300))])
    keys = np.concatenate([draws.permutation(50)[: end - start] for start, end in pairwise(starts)])
    values = draws.uniform(0, 5, len(keys))
    if sorted_keys:
        keys, values, _ = PLAIN.in_order(starts, keys, values)
    return starts, keys, values


def test_faults_and_orders() -> None:
    from deniable.kernels import pairs_compiled

    starts, keys, values = lists(1, sorted_keys=False)
    ordered = lists(1, sorted_keys=True)
    twice, outside, nowhere = ordered[1].copy(), values.copy(), keys.copy()
    first = int(np.flatnonzero(np.diff(starts) > 1)[0])
    twice[starts[first] + 1] = twice[starts[first]]
    outside[7], nowhere[9] = np.nan, 50
    for loops in (pairs_compiled, PLAIN):
        assert loops.fault(starts, keys, values, 50, 0.0, 5.0) == pairs.UNSORTED
        assert loops.fault(*ordered, 50, 0.0, 5.0) == pairs.FINE
        assert loops.fault(starts, twice, values, 50, 0.0, 5.0) == pairs.UNSORTED
        assert loops.fault(starts, keys, outside, 50, 0.0, 5.0) == pairs.VALUE_OUTSIDE
        assert loops.fault(starts, nowhere, values, 50, 0.0, 5.0) == pairs.KEY_OUTSIDE
        found = loops.in_order(starts, keys, values)
        np.testing.assert_array_equal(found[0], ordered[1])
        np.testing.assert_array_equal(found[1], ordered[2])
        assert (found[2], loops.in_order(starts, twice, values)[2]) == (False, True)
        assert loops.rise(*ordered[:2]) and not loops.rise(starts, keys) and not loops.rise(starts, twice)


def test_lists_of_every_length_are_put_in_order() -> None:
    """Longer ones are sorted in another way; empty ones begin where the next does."""
    from deniable.kernels import pairs_compiled

    draws = np.random.default_rng(4)
    sizes = np.array([0, 0, 1, 33, 0, 2, 200, 0, 32, 0])
    starts, keys = np.concatenate([[0], np.cumsum(sizes)]), np.concatenate([draws.permutation(300)[:size] for size in sizes])
    values = draws.uniform(0, 5, len(keys))
    ours, expected = pairs_compiled.in_order(starts, keys, values), PLAIN.in_order(starts, keys, values)
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert pairs_compiled.rise(starts, ours[0]) and PLAIN.rise(starts, ours[0])
    nobody = np.zeros(4, np.int64), np.zeros(0, np.int64)
    assert pairs_compiled.rise(*nobody) and PLAIN.rise(*nobody)


def test_what_is_looked_up() -> None:
    from deniable.kernels import pairs_compiled

    starts, keys, values = lists(2, sorted_keys=True)
    draws = np.random.default_rng(3)
    key, place, padding = draws.integers(0, 50, 300), draws.integers(0, 5, 300), np.arange(100, 105)
    key[::2] = keys[np.minimum(starts[:-1], len(keys) - 1)][::2]
    given = (starts, keys, values, key, 0.0, 5.0, 1 << 53)
    np.testing.assert_array_equal(pairs_compiled.heads_of(*given), PLAIN.heads_of(*given))
    assert (PLAIN.heads_of(*given) <= 1 << 53).sum() > 50
    np.testing.assert_array_equal(pairs_compiled.shares(values, 0.0, 5.0, 1 << 53), PLAIN.shares(values, 0.0, 5.0, 1 << 53))
    at = (starts, keys, padding, place)
    np.testing.assert_array_equal(pairs_compiled.numbers_at(*at), PLAIN.numbers_at(*at))
    nobody = np.zeros(4, np.int64), np.zeros(0, np.int64), padding, np.array([0, 1, 4])
    for loops in (pairs_compiled, PLAIN):
        np.testing.assert_array_equal(loops.numbers_at(*nobody), [100, 101, 104])


@pytest.mark.parametrize("starts", [[0, 3, 2, 4], [1, 2, 4], [0, 2, 5], []])
def test_sets_that_do_not_follow_each_other_are_refused(starts: list[int]) -> None:
    from deniable.kernels import pairs_compiled

    table = dn.Pairs(np.array(starts, np.int64), np.arange(4), np.ones(4))
    with pytest.raises(dn.errors.InvalidParameter, match="starts from 0"):
        dn.KeyValue(range(9), 0, 1, 4).index(table)
    with pytest.raises(IndexError):
        pairs_compiled.fault(table.starts, table.keys, table.values, 9, 0.0, 1.0)
