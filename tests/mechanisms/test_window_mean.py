"""A window that moves over unevenly spaced places: near the bound at every budget, and the same on every machine."""

import ast
import inspect
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.algebra import mean_profiles, mean_windows
from deniable.mechanisms.algebra.mean_windows import MOST, SHARES
from deniable.mechanisms.registry import mechanism_from_json
from deniable.planning.bounds import mean_bound
from deniable.planning.means import mean_options
from tests.examples import ODD
from tests.mechanisms.test_means import exact_variance

FINE = dn.Interval(-1, 1, steps=1024)
VALUES, STARTS = [1, 3, 4], [2048, 2944, 4096]


@pytest.mark.needs("scipy")
@pytest.mark.parametrize(
    ("epsilon", "above"),
    [(0.5, 0.004), (1.0, 0.01), (2.0, 0.01), (2.6, 0.01), (4.0, 0.012), (5.75, 0.02), (8.0, 0.014), (10.0, 0.017)],
)
def test_the_best_windows_are_near_the_bound(epsilon: float, above: float) -> None:
    mechanism, bound = dn.WindowMean.best(FINE, epsilon), mean_bound(FINE, epsilon, 1) ** 2
    assert bound <= mechanism.worst_variance() <= (1 + above) * bound


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.5])
def test_the_best_windows_are_private_and_without_bias(epsilon: float) -> None:
    line = dn.Interval(0, 10, steps=200)
    mechanism = dn.WindowMean.best(line, epsilon)
    certificate = dn.certify(mechanism)
    assert certificate.holds and certificate.loss.proof == "proved" and certificate.slack < 1e-14
    for index in range(0, line.size, 23):
        pairs = zip(mechanism.row(index), mechanism.centred, strict=True)
        assert sum(chance * value for chance, value in pairs) == mechanism.point(index)
        assert mechanism.variance(line.points[index]) == pytest.approx(25 * float(exact_variance(mechanism, index)))
    assert mechanism_from_json(mechanism.to_json()) == mechanism


def test_windows_are_known_at_every_budget() -> None:
    for epsilon in (1e-6, *np.linspace(0.01, float(MOST), 60).tolist()):
        for steps in (2, 3, 10, 1024):
            mechanism = dn.WindowMean.best(dn.Interval(0, 1, steps), epsilon)
            assert mechanism.knots % steps == 0 or mechanism.knots >= 64
    with pytest.raises(dn.InvalidParameter, match="up to epsilon 12"):
        dn.WindowMean.best(FINE, 12.1)
    with pytest.raises(dn.InvalidParameter, match="at least 2 steps"):
        dn.WindowMean.best(dn.Interval(0, 1, 1), 1.0)


@pytest.mark.parametrize("module", [mean_windows, mean_profiles])
def test_windows_are_found_in_whole_numbers(module: object) -> None:
    """Survey files are planned wherever they are read: nothing here may depend on how a machine computes with floats."""
    nodes = [*ast.walk(ast.parse(inspect.getsource(module)))]  # type: ignore[arg-type]
    imported = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert not any(isinstance(node, ast.Import) for node in nodes)
    assert {name for name in imported if name and not name.startswith("deniable")} <= {
        "collections.abc", "dataclasses", "fractions"
    }  # fmt: skip
    assert not any(isinstance(node, ast.Constant) and isinstance(node.value, float) for node in nodes)
    assert "float" not in {node.id for node in nodes if isinstance(node, ast.Name)}


@pytest.mark.parametrize(
    ("epsilon", "fingerprint"),
    [
        (0.7, "3e3573cf0ee5c8f6761357b7a3bc5740"),
        (1.0, "8c77b8d881322ff018f9fda77dd74179"),
        (3.3, "f34a230ef19008f2d714ddb63044f961"),
        (8.0, "578e3adab88b24979ee432acdf5069e7"),
    ],
)
def test_every_machine_finds_the_same_windows(epsilon: float, fingerprint: str) -> None:
    assert dn.WindowMean.best(FINE, epsilon).fingerprint == fingerprint


def test_surveys_have_windows_from_the_second_edition_on() -> None:
    first, second = (mean_options(FINE, 1.0, edition=edition) for edition in (1, 2))
    assert {row.name for row in second} - {row.name for row in first} == {"window"}
    assert second.best.mechanism.wire == "window-mean-1" and first.best.mechanism.wire == "hybrid-1"


def test_the_chances_of_a_small_line() -> None:
    mechanism = dn.WindowMean(ODD, 1.0, 2, VALUES, STARTS)
    likely, else_ = mechanism.odds, Fraction(1)
    total = 2 * likely + 4
    assert mechanism.row(0) == [likely / total] * 2 + [else_ / total] * 4
    assert mechanism.row(5) == [else_ / total] * 4 + [likely / total] * 2
    assert sum(mechanism.row(2)) == 1 and mechanism.knots == 4
    for index in range(6):
        np.testing.assert_allclose(mechanism.chances(index), [float(chance) for chance in mechanism.row(index)])


@pytest.mark.parametrize(
    ("window", "values", "starts", "says"),
    [
        (2, [1, 3, 5], STARTS, "biased"),
        (2, VALUES, [2048, 2945, 4096], "biased"),
        (2, [-1, -3, -4], STARTS, "biased"),
        (2, VALUES, [2047, 2944, 4096], "in the middle"),
        (2, VALUES, [2048, 2944, 4097], "begin on it"),
        (2, VALUES, [2048], "begin on it"),
        (1, [2, 5, 3], [2560, 3221], "at a multiple"),
        (4, [3, 5, 0], [1024, 1811], "at a multiple"),
        (6, VALUES, [0, 0], "shorter"),
        (0, VALUES, [3 * SHARES, 6 * SHARES], "shorter"),
        (2, [1, 3, 1 << 50], STARTS, "at most"),
        (2, [1, 3, 4.0], STARTS, "whole numbers"),
        (2.0, VALUES, STARTS, "whole numbers"),
        (2, [], STARTS, "shorter"),
    ],
)
def test_windows_that_are_biased_or_not_on_the_line_are_refused(
    window: int, values: list[int], starts: list[int], says: str
) -> None:
    with pytest.raises(dn.InvalidParameter, match=says):
        dn.WindowMean(ODD, 1.0, window, values, starts)


def test_numbers_of_numpy_are_as_good_and_do_not_overflow() -> None:
    plain = dn.WindowMean(ODD, 1.0, 2, VALUES, STARTS)
    given: list[Any] = [np.int64(2), np.array(VALUES), np.array(STARTS)]
    assert dn.WindowMean(ODD, 1.0, *given).fingerprint == plain.fingerprint
    half, large = 1 << 15, 1 << 40  # their sum is 2^55, which is multiplied by 2^10
    starts = [half // 2 * SHARES, half * SHARES]
    every: list[Any] = [[large] * half, np.full(half, large)]
    for values in every:
        assert dn.WindowMean(dn.Interval(0, 1, 2), 1.0, half, values, starts)._mean(starts[-1]) == 1 << 65
