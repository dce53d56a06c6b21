"""An interval of numbers: exact at its points, right on average between them, and deaf to what is not a number."""

from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.domains import domain_from_spec
from tests.every import EveryCoin

AGES = dn.Interval(18, 98, steps=8)


def test_points_are_answers_of_their_own() -> None:
    thirds = dn.Interval(-1, 1, steps=3)
    assert thirds.index(thirds.labels).tolist() == [0, 1, 2, 3]
    for seed in range(20):
        assert thirds.place(thirds.labels, dn.SeededCoins(seed)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("value", [18.0, 19.0, 47.5, 97.999, 98.0])
def test_rounding_is_right_on_average(value: float) -> None:
    """Over both outcomes of the coin, with their exact chances."""
    coins = EveryCoin()
    AGES.place([value], coins)
    coins.follow(np.arange(coins.combinations))
    places = AGES.place([value] * coins.combinations, coins)
    code, chances = coins.chances()
    mean = sum(Fraction(AGES.points[place]) * chances[c] for place, c in zip(places, code, strict=True))
    assert abs(mean - Fraction(value)) < Fraction(1, 2**45)


@pytest.mark.parametrize(
    "values", [[float("nan")], [float("inf")], ["18"], [[18.0, 19.0]], [[1], [1, 2]], [True], [17.0], [99]]
)
def test_what_is_not_a_number_inside_is_refused(values: list[object]) -> None:
    for rule in (AGES.index, lambda answers: AGES.place(answers, dn.SeededCoins(1))):
        with pytest.raises(dn.OutsideDomain) as refused:
            rule(values)
        assert "17" not in str(refused.value)
        assert "99" not in str(refused.value)


def test_clipping_is_asked_for_and_counted() -> None:
    clipped = dn.Interval(18, 98, steps=8, clip=True)
    assert clipped.index([-5.0, 200.0, 18.0]).tolist() == [0, 8, 0]
    assert clipped.outside([-5.0, 200.0, 18.0]) == 2
    with pytest.raises(dn.OutsideDomain, match="finite number"):
        clipped.index([float("nan")])


@pytest.mark.parametrize(
    "bad", [(1, 1, 4), (2, 1, 4), (float("nan"), 1, 4), (0, float("inf"), 4), (0, 1, 0), (0, 1, 2.5), (0, 1, True)]
)
def test_impossible_intervals_are_refused(bad: tuple[float, float, int]) -> None:
    with pytest.raises(dn.InvalidParameter):
        dn.Interval(*bad)


def test_it_comes_back_from_its_description() -> None:
    for domain in (AGES, dn.Interval(0.1, 0.7, 3, clip=True)):
        assert domain_from_spec(domain.spec()) == domain
    with pytest.raises(dn.InvalidParameter, match='"kind"'):
        domain_from_spec({"kind": "nothing"})
