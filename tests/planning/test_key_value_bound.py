"""The bound of keys with values: never beaten, by any channel or candidate, and nearly met where people have one key."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.planning.key_value import key_value_options
from deniable.planning.key_value_bound import key_value_bound
from tests.planning.test_vector_bounds import channels


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 2.5])
@pytest.mark.parametrize(("keys", "share"), [(2, Fraction(3, 10)), (3, Fraction(1, 3)), (2, Fraction(1, 2))])
def test_no_channel_is_below(keys: int, share: Fraction, epsilon: float) -> None:
    """Random laws of people with one key, high or low, or with none: the best unbiased decoding of their reports."""
    f = float(share)
    rows = [(key, end) for key in range(keys) for end in (1, -1)]
    common = np.array([f / 2] * len(rows) + [1 - keys * f])
    told = np.zeros((len(rows) + 1, 2 * keys))
    for place, (key, end) in enumerate(rows):
        told[place, key], told[place, keys + key] = 1, end
    common, told = (common, told) if keys * share < 1 else (common[:-1], told[:-1])
    bounds = [key_value_bound(keys, share, epsilon, 1, values) for values in (True, False)]
    assert bounds[0] is not None
    for channel in channels(len(told), epsilon, 6):
        information = (channel / (common @ channel)) @ channel.T
        inverse = np.linalg.pinv(information, rcond=1e-12)
        second = np.einsum("xi,xy,yi->i", told, inverse, told)  # of the best numbers, where they exist
        frequency, weight = second[:keys].sum() - keys * f, second[keys:].sum()
        if np.linalg.matrix_rank(channel, 1e-9) == len(told):
            assert math.sqrt((frequency + weight) / (2 * keys)) >= bounds[0] * (1 - 1e-9)
            assert bounds[1] is None or math.sqrt(frequency / keys) >= bounds[1] * (1 - 1e-9)


@pytest.mark.parametrize("values", [True, False], ids=["values", "frequencies"])
def test_every_candidate_is_above(values: bool) -> None:
    for keys, most in ((4, 1), (20, 1), (50, 5), (100, 12)):
        for epsilon in (0.3, 1.0, 3.0):
            ranked = key_value_options(dn.KeyValue(range(keys), -1, 1, most), epsilon, 1000, values)
            assert ranked.bound is not None or epsilon > 1
            assert ranked.bound is None or all(row.error >= ranked.bound for row in ranked)


def test_with_one_key_a_person_the_best_is_nearly_met() -> None:
    for epsilon, most in ((0.5, 1.01), (1.0, 1.01), (2.0, 1.03), (4.0, 1.08)):
        ranked = key_value_options(dn.KeyValue(range(200), -1, 1, 1), epsilon, 1000)
        above = ranked.above(ranked[0])
        assert above is not None and 1 + above < most


def test_the_plan_says_of_which_mechanisms_the_bound_is() -> None:
    words = dn.plan(dn.KeyValue(range(20), 0, 5, 1), 1.0, 1000).explain()
    assert "the best that any mechanism with an unbiased estimate that rounds values to an end first can have" in words
    assert key_value_bound(5000, Fraction(1, 5000), 1.0, 10) is None  # too many keys to try all reports
