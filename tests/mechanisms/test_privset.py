"""Reports that name several keys of a set: the law by enumeration, the best numbers by search, the proof at real size."""

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import Program, odds_below
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value import privset
from deniable.mechanisms.key_value.key_value_protocol import total_error
from deniable.mechanisms.key_value.privset import PrivSet, best_sizes
from deniable.planning.key_value import key_value_options
from deniable.privacy.law import law_of
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from deniable.testing import check_mechanism
from tests.examples import keys

SMALL = [(2, 1, 1, 1), (2, 2, 2, 1), (3, 2, 2, 1), (3, 2, 2, 2), (3, 2, 4, 2), (4, 2, 3, 1), (4, 3, 4, 3)]
EPSILONS = (0.05, 0.5, 1.0, 2.0, 4.0, 6.0, 9.0)


def made(given: tuple[int, int, int, int], epsilon: float = 1.0) -> PrivSet:
    size, most, named, threshold = given
    return PrivSet(keys(size, most), epsilon, named, threshold)


@pytest.mark.parametrize("given", SMALL, ids=str)
def test_a_report_is_as_likely_as_its_shared_places_say(given: tuple[int, int, int, int]) -> None:
    """In exact fractions, for every set of keys and every report."""
    mechanism = made(given)
    size, most, named, threshold = given
    least, weights = mechanism.near
    assert sum(weights) <= privset.PARTS and least >= threshold
    chances = {least + place: Fraction(weight, sum(weights)) for place, weight in enumerate(weights)}
    for count in range(most + 1):
        for own in itertools.combinations(range(size), count):
            padded = {*own, *range(size + count, size + most)}
            law = dict(law_of(mechanism, dict.fromkeys(own, 1.0)).items())
            for places in itertools.combinations(range(size + most), named):
                shared = len(padded & set(places))
                wanted = mechanism.share / math.comb(size + most, named)
                ways = math.comb(most, shared) * math.comb(size, named - shared)
                wanted += (1 - mechanism.share) * chances.get(shared, Fraction(0)) / ways
                report = sum(1 << place for place in places).to_bytes((size + most + 7) // 8, "little")
                assert law.pop(report) == wanted
            assert not law


@pytest.mark.parametrize("given", SMALL, ids=str)
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_rules_find_the_loss_of_all_sets(given: tuple[int, int, int, int], epsilon: float) -> None:
    mechanism = made(given, epsilon)
    found = dn.certify(mechanism)
    assert found.rules == ("permutation",) and found.holds
    assert found.loss.odds == mechanism.loss().odds == dn.certify(mechanism, "enumerated").loss.odds
    assert 0 <= epsilon - mechanism.loss().epsilon() < 1e-12


@pytest.mark.parametrize("epsilon", [1e-5, 20.0, 60.0])
@pytest.mark.parametrize("size", [(1, 1), (2, 1), (3, 3)], ids=str)
def test_tiny_and_huge_budgets_keep_every_law(size: tuple[int, int], epsilon: float) -> None:
    """One less the probability that a key is named may be far smaller than what floats around one tell apart."""
    check_mechanism(PrivSet(keys(*size), epsilon))


@pytest.mark.parametrize("size", [(50, 5), (1000, 1), (1000, 30), (300, 300), (2000, 500), (20_000, 5)], ids=str)
def test_the_loss_is_proved_at_real_size(size: tuple[int, int]) -> None:
    for epsilon in (0.25, 2.0, 6.0):
        mechanism = PrivSet(keys(*size), epsilon)
        found = dn.certify(mechanism)
        assert found.rules == ("permutation",) and found.holds and found.loss.odds == mechanism.loss().odds
        assert 0 <= epsilon - found.loss.epsilon() < 1e-12


@pytest.mark.parametrize("given", [*SMALL, (6, 4, 9, 4), (40, 30, 35, 3), (200, 20, 30, 2)], ids=str)
def test_reports_are_counted_one_number_of_shared_places_after_the_other(given: tuple[int, int, int, int]) -> None:
    size, most, named, threshold = given
    mechanism = made(given)
    least, ways = mechanism._ways
    assert least == max(threshold, named - size)
    assert ways == [math.comb(most, c) * math.comb(size, named - c) for c in range(least, min(named, most) + 1)]
    first, weights = mechanism.near
    densest = max(Fraction(weight, way) for weight, way in zip(weights, ways[first - least :], strict=False))
    assert mechanism._lift == densest * math.comb(size + most, named) / sum(weights)


def test_the_loss_of_the_longest_reports_is_known_at_once() -> None:
    longest = PrivSet(keys((1 << 20) - 1024, 1024), 1.0, 4096, 1)
    assert 0 <= 1.0 - longest.loss().epsilon() < 1e-12


@pytest.mark.parametrize("given", [(600, 200, 200, 1), (3000, 600, 500, 90), (1_000_000, 1000, 0, 0)], ids=str)
def test_many_numbers_of_shared_places_are_followed_before_a_rule_that_finds_more(given: tuple[int, int, int, int]) -> None:
    mechanism = made(given, 0.3)
    found = dn.certify(mechanism)
    assert found.holds and found.rules == ("permutation",) and found.loss.odds == mechanism.loss().odds


def test_exchanges_are_a_permutation_whatever_they_are() -> None:
    """Also with keys that need not differ, and with places that stand for no padding: nobody learns more by that."""
    law = json.loads(PrivSet(keys(20, 3), 1.0, 4, 1).law.to_json())
    odds = PrivSet(keys(20, 3), 1.0, 4, 1).loss().odds
    codes = [node for node in law["nodes"] if node[0] == "code"]
    codes[0][6] = 0
    assert proved(Problem.of(Program.from_json(json.dumps(law)))).odds == odds  # type: ignore[union-attr]
    for node in law["nodes"]:
        if node[0] == "const" and node[2] in (20, 21):
            node[2] = 7
    assert proved(Problem.of(Program.from_json(json.dumps(law)))).odds == odds  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [(1, 1), (3, 1), (3, 3), (12, 2), (12, 9), (30, 5), (60, 12), (40, 40)], ids=str)
def test_size_and_threshold_are_the_best_of_all(size: tuple[int, int]) -> None:
    for epsilon in EPSILONS:
        odds = odds_below(epsilon)
        tables = [privset._errors(*size, named, float(odds)) for named in range(1, sum(size))]
        named, threshold = best_sizes(*size, odds)
        assert tables[named - 1][threshold - 1] == pytest.approx(min(table.min() for table in tables), rel=1e-9)
        assert best_sizes(*size, odds, threshold) == (named, threshold)
        assert PrivSet(keys(*size), epsilon, named).threshold == threshold


def test_the_error_is_that_of_the_search_but_for_rounding() -> None:
    for size, epsilon in itertools.product([(12, 2), (50, 5), (200, 20), (1000, 5)], EPSILONS):
        mechanism = PrivSet(keys(*size), epsilon)
        error = privset._errors(*size, mechanism.size, float(mechanism.odds))[mechanism.threshold - 1]
        share = min(0.1, size[1] / size[0])
        assert total_error(mechanism, share, 0.0, "frequency") == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("size", [(50, 5), (10, 10), (200, 20)], ids=str)
def test_one_place_is_the_frequencies_of_pckv(size: tuple[int, int]) -> None:
    for epsilon in (0.5, 2.0):
        one, direct = PrivSet(keys(*size), epsilon, 1), dn.PCKVDirect.frequencies(keys(*size), epsilon)
        assert float(one.p) == pytest.approx(float((direct.a + (size[1] - 1) * direct.b) / size[1]), rel=1e-9)
        assert total_error(one, 0.1, 0.0, "frequency") == pytest.approx(total_error(direct, 0.1, 0.0, "frequency"), rel=1e-9)


def test_it_is_never_better_than_the_bound_and_near_it_at_small_budgets() -> None:
    for size, epsilon in itertools.product([(4, 2), (50, 1), (50, 5), (200, 5), (100, 50)], (0.25, 0.5, 1.0, 1.5, 2.0, 4.0)):
        ranking = key_value_options(keys(*size), epsilon, 1000, values=False)
        (row,) = (row for row in ranking if row.name == "privset")
        assert row.error <= 1.0001 * next(row for row in ranking if row.name == "pckv-direct, frequency").error
        assert ranking.bound is None or row.error > ranking.bound
    most = {0.5: (0.170, 0.184), 1.0: (0.112, 0.118), 1.5: (0.075, 0.074)}
    for epsilon, limits in most.items():
        for size, limit in zip(((50, 5), (200, 5)), limits, strict=True):
            ranking = key_value_options(keys(*size), epsilon, 1000, values=False)
            above = ranking.above(ranking.best)
            assert ranking.best.name == "privset" and above is not None and above < limit


def test_estimates_of_many_people_are_right() -> None:
    """Errors of 50 frequencies beyond six standard errors are rarer than 1e-7."""
    mechanism = PrivSet(keys(50, 5), 0.5)
    rng = np.random.default_rng(1)
    people = [{int(key): 1.0 for key in rng.choice(12, rng.integers(0, 6), replace=False)} for _ in range(20_000)]
    truth = np.bincount(mechanism.domain.index(people).keys, minlength=50) / len(people)
    reports = mechanism.perturb(people, dn.SeededCoins(1))
    found = mechanism.estimate(mechanism.tally(reports)).frequency
    assert np.abs((found.values - truth) / found.standard_error).max() < 6
    low, high = found.interval(0.95)
    assert ((low < truth) & (truth < high)).mean() > 0.7  # 35 or fewer of 50: below 1e-6
    with pytest.raises(InvalidParameter, match="frequencies only"):
        _ = mechanism.estimate(mechanism.tally(reports)).weight


@pytest.mark.parametrize(
    ("size", "given"),
    [
        ((5, 2), {"size": -1}),
        ((5, 2), {"size": 2.0}),
        ((5, 2), {"threshold": True}),
        ((5, 2), {"threshold": 3}),
        ((5, 2), {"size": 6, "threshold": 1}),
        ((5, 2), {"size": 7}),
        ((5, 2), {"size": 1, "threshold": 2}),
        ((2000, 1025), {}),
        ((10_000, 5), {"size": 4097}),
        ((1 << 20, 1), {}),
    ],
    ids=str,
)
def test_other_numbers_are_refused(size: tuple[int, int], given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        PrivSet(keys(*size), 1.0, **given)
