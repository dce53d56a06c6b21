"""The law with the smallest largest variance of a mean, and the proof that nothing is below it."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.algebra.mean_program import DIGITS, Multipliers, least_variance, proved, reports
from deniable.mechanisms.registry import mechanism_from_json
from deniable.planning.bounds import mean_bound
from tests.examples import MEANS, SMALL
from tests.mechanisms.test_means import exact_variance

LINE = dn.Interval(-1, 1, steps=64)
WEIGHTS = [[5, 2, 2], [3, 3, 3]]


@pytest.mark.needs("scipy")
@pytest.mark.parametrize(("epsilon", "above"), [(0.5, 0.002), (1.0, 0.002), (3.0, 0.006)])
def test_the_best_law_is_at_the_bound(epsilon: float, above: float) -> None:
    mechanism, bound = dn.OptimalMean.best(LINE, epsilon), mean_bound(LINE, epsilon, 1) ** 2
    assert bound <= mechanism.worst_variance() <= (1 + above) * bound
    assert max(exact_variance(mechanism, index) for index in range(LINE.size)) >= Fraction(bound) * (1 - Fraction(1, 10**12))
    certificate = dn.certify(mechanism)
    assert certificate.holds and certificate.loss.proof == "proved" and certificate.slack < 1e-5
    for index in range(0, LINE.size, 7):  # without bias, exactly
        pairs = zip(mechanism.row(index), mechanism.centred, strict=True)
        assert sum(chance * value for chance, value in pairs) == mechanism.point(index)
    assert mechanism_from_json(mechanism.to_json()) == mechanism


@pytest.mark.needs("scipy")
def test_a_coarse_interval_has_fewer_knots() -> None:
    assert [dn.OptimalMean.best(dn.Interval(0, 1, steps), 1.0).knots for steps in (2, 3, 5, 64)] == [2, 2, 4, 16]
    with pytest.raises(dn.InvalidParameter, match="at least 2 steps"):
        dn.OptimalMean.best(dn.Interval(0, 1, 1), 1.0)


@pytest.mark.needs("scipy")
def test_for_a_small_budget_the_optimum_has_a_closed_form() -> None:
    for epsilon in (0.1, 0.5):
        c = 1 / math.tanh(epsilon / 2)
        closed = c / math.tanh(1 / c) - 1
        assert mean_bound(LINE, epsilon, 1) ** 2 == pytest.approx(closed, rel=1e-3)


@pytest.mark.needs("scipy")
def test_the_proof_is_checked_for_reports_of_every_size() -> None:
    found = proved(math.exp(2.0), 4, reports(2.0, 41))
    assert found.excess() == 0
    # As floats on a fine grid of reports, far beyond those of any law: what the check in whole numbers must have seen.
    unit, places = float(1 << DIGITS), [float(x) for x in found.x]
    x = np.array([-place for place in places[:0:-1]] + places)
    a, b, m = (np.array(part, np.float64) / unit for part in (found.a, found.b, found.m))
    a, b, m = np.append(a[:0:-1], a), np.append(-b[:0:-1], b), np.append(m[:0:-1], m)
    y = np.linspace(-100, 100, 200_001)[:, None]
    g = a + b * y - m * y**2
    assert (g + (math.exp(2.0) - 1) * np.maximum(g, 0)).sum(axis=1).max() <= 1e-9
    assert float(found.bound) == pytest.approx(a.sum() + b @ x - m @ x**2, rel=1e-9)
    # A law that keeps the odds cannot be below; one that exceeds them can.
    grid = np.linspace(0, 1, 5)
    assert least_variance(math.exp(2.0), grid, reports(2.0, 41), rounded=False).variance >= found.bound
    assert least_variance(math.exp(2.1), grid, reports(2.1, 41), rounded=False).variance < found.bound


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("part", ["a", "b", "m"])
def test_a_proof_that_was_changed_does_not_hold(part: str) -> None:
    found = proved(math.exp(1.0), 4, reports(1.0, 41))
    numbers = list(getattr(found, part))
    numbers[-1] += 1 << DIGITS - 4
    parts = {name: getattr(found, name) for name in "abm"} | {part: tuple(numbers)}
    changed = Multipliers(found.odds, found.x, parts["a"], parts["b"], parts["m"])
    assert changed.excess() != 0
    assert changed.bound != found.bound


@pytest.mark.parametrize(
    ("unit", "places", "weights", "says"),
    [
        (Fraction(3), [-1, 0, 2], WEIGHTS, "symmetric"),
        (Fraction(3), [-1, 0, 1], [[5, 2, 2], [4, 3, 2]], "symmetric"),
        (Fraction(3), [-1, 0, 1], [[5, 2, 2]], "symmetric"),
        (Fraction(3), [-1, 1], WEIGHTS, "symmetric"),
        (Fraction(5, 2), [-1, 0, 1], WEIGHTS, "biased"),
        (Fraction(3), [-1, 0, 1], [[5, 2, 2], [3, 3, 4]], "same sum"),
        (Fraction(9, 5), [-1, 0, 1], [[6, 2, 1], [3, 3, 3]], "exceed"),
    ],
)
def test_a_table_that_is_biased_or_exceeds_epsilon_is_refused(
    unit: Fraction, places: list[int], weights: list[list[int]], says: str
) -> None:
    with pytest.raises(dn.InvalidParameter, match=says):
        dn.OptimalMean(SMALL, 1.0, unit, places, weights)


def test_numbers_between_knots_are_rounded_without_bias() -> None:
    mechanism = MEANS["optimal-odd"]
    law = {int.from_bytes(report, "little"): chance for report, chance in dn.law(mechanism, 1).items()}
    assert law == dict(enumerate(mechanism.row(1)))
