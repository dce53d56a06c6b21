"""Vectors that are filled up stand for the arrays that they are, and are refused where those would be."""

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.operations import Type
from deniable.core.orders import Gridded, Orders, Padded, Ranked, padded
from deniable.core.running import checked_code


def made(starts: list[int], numbers: list[int], padding: list[int]) -> Padded:
    return Padded(np.array(starts), np.array(numbers, np.int64), np.array(padding))


KEYS = Type(0, 8, 3, distinct=True)  # 0 to 5, and 6, 7, 8 for padding


def test_numbers_and_padding() -> None:
    code = checked_code(made([0, 2, 2, 5], [1, 4, 0, 3, 5], [6, 7, 8]), KEYS, 3)
    assert isinstance(code, Padded)
    assert np.asarray(code).tolist() == [[1, 4, 8], [6, 7, 8], [0, 3, 5]]
    assert code.at(np.array([2, 0, 1])).tolist() == [8, 6, 3] and code.at(1).tolist() == [4, 7, 3]
    nobody = checked_code(made([0, 0], [], [6, 7, 8]), KEYS, 1)
    assert np.asarray(nobody).tolist() == [[6, 7, 8]]


def test_one_vector_is_the_array_that_several_stand_for() -> None:
    for numbers in ([], [1], [1, 4, 5]):
        given = np.array([0, len(numbers)]), np.array(numbers, np.int64), np.array([6, 7, 8])
        assert np.asarray(checked_code(padded(*given), KEYS, 1)).tolist() == np.asarray(Padded(*given)).tolist()
    assert isinstance(padded(np.array([0, 1, 1]), np.array([1]), np.array([6, 7, 8])), Padded)


def test_what_is_not_in_order_is_looked_at_as_an_array() -> None:
    code = checked_code(made([0, 2], [4, 1], [6, 7, 8]), KEYS, 1)
    assert np.asarray(code).tolist() == [[4, 1, 8]]


@pytest.mark.parametrize(
    ("starts", "numbers", "padding"),
    [
        ([0, 2], [1, 1], [6, 7, 8]),  # twice
        ([0, 2], [2, 1, 0], [6, 7, 8]),  # numbers beyond the last start
        ([0, 4], [0, 1, 2, 3], [6, 7, 8]),  # more than fit
        ([0, 2, 1, 3], [0, 1, 2], [6, 7, 8]),  # starts that go back
        ([1, 2], [0, 1], [6, 7, 8]),  # a first number that is nobody's
        ([0, 1], [9], [6, 7, 8]),  # too large
        ([0, 1], [-1], [6, 7, 8]),
        ([0, 1], [6], [6, 7, 7]),  # padding twice
        ([0, 2], [1, 8], [6, 7, 8]),  # a number that padding has too
        ([0, 1], [1], [6, 7]),  # too narrow
        ([0, 1], [1], [6, 7, 9]),
    ],
)
def test_a_law_is_not_run_on_anything_else(starts: list[int], numbers: list[int], padding: list[int]) -> None:
    with pytest.raises(dn.OutsideDomain, match="Nothing was reported"):
        checked_code(made(starts, numbers, padding), KEYS, len(starts) - 1)


def test_no_object_has_a_function_in_place_of_a_method() -> None:
    """An encoder makes these; what it put into the object would run after it was looked at."""
    orders = Orders(3, lambda answers: np.tile(np.arange(3), (len(answers), 1)))
    numbers = np.zeros((2, 3))
    codes: list[Any] = [orders, orders.of(np.array([1])), Ranked(numbers), Gridded(numbers, (-1.0, 1.0, 4), 0, list)]
    for code in (*codes, made([0, 1], [1], [6, 7])):
        for name in ("at", "copy", "fits", "is_plain", "knows", "round_into"):
            with pytest.raises(AttributeError):
                setattr(code, name, lambda *_: np.zeros(1, np.int64))
