"""Comparisons, power and synthetic rows."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.domains.categories import NO_ANSWER

YES = dn.Categories(["no", "yes"])
DIRECT = dn.DirectResponse(YES, 2.0)
RANDOM = np.random.default_rng(1)
PEOPLE = 20_000
GROUP = RANDOM.integers(0, 3, PEOPLE)
SAYS = (RANDOM.random(PEOPLE) < 0.3 + 0.1 * GROUP).astype(int)
NUMBER = 2.0 + GROUP + RANDOM.normal(size=PEOPLE)


def words(indices: Any) -> list[str]:
    return [("no", "yes")[place] for place in indices.tolist()]


def test_shares_of_open_groups_are_those_of_separate_estimates() -> None:
    data = {"says": DIRECT.perturb(words(SAYS), dn.SeededCoins(1)), "wave": GROUP}
    found = dn.compare_groups(data, "says[yes]", "wave", {"says": DIRECT})
    separate = {}
    for wave in range(3):
        own = {name: column[wave == GROUP] for name, column in data["says"].columns.items()}  # type: ignore[attr-defined]
        reports = dn.Reports(DIRECT.fingerprint, DIRECT.layout, own)
        separate[float(wave)] = DIRECT.estimate(DIRECT.tally(reports))
    same = dn.compare_estimates(separate, "yes")
    assert np.allclose(found.values, same.values) and np.allclose(found.standard_error, same.standard_error, rtol=1e-3)
    assert found.groups == same.groups == (0.0, 1.0, 2.0)
    difference = found.difference(0.0, 2.0)
    assert abs(difference.value - 0.2) < 6 * difference.standard_error and difference.p_value < 1e-6
    assert found.test().p_value < 1e-6 and found.test().degrees == 2
    assert "2.0 less 0.0: " in str(found) and "%" in str(found)


def test_means_in_randomized_groups() -> None:
    """Six standard errors."""
    smoking = dn.FiniteChannel.forced(YES, Fraction(2, 3), [Fraction(1, 6)] * 2)
    data: dict[str, Any] = {"number": NUMBER, "smokes": smoking.perturb(words(SAYS), dn.SeededCoins(2))}
    found = dn.compare_groups(data, "number", "smokes", {"smokes": smoking})
    truth = [NUMBER[each == SAYS].mean() for each in (0, 1)]
    assert (np.abs(found.values - truth) < 6 * found.standard_error).all() and found.measure == "mean"
    number = dn.Piecewise(dn.Interval(-5, 10, steps=30), 2.0)
    data["number"] = number.perturb(NUMBER, dn.SeededCoins(4))
    both = dn.compare_groups(data, "number", "smokes", {"smokes": smoking, "number": number})
    assert (np.abs(both.values - truth) < 6 * both.standard_error).all()
    assert both.standard_error.min() > found.standard_error.max()


def test_a_correlation_of_open_numbers_is_the_usual_one() -> None:
    found = dn.correlate({"x": NUMBER, "y": GROUP}, "x", "y")
    assert np.isclose(found.value, np.corrcoef(NUMBER, GROUP)[0, 1]) and found.n == PEOPLE
    number = dn.Piecewise(dn.Interval(-5, 10, steps=30), 4.0)
    noisy = dn.correlate({"x": number.perturb(NUMBER, dn.SeededCoins(3)), "y": GROUP}, "x", "y", {"x": number})
    assert abs(noisy.value - found.value) < 6 * noisy.standard_error < 0.3


def test_bad_comparisons_are_refused() -> None:
    three = dn.DirectResponse(dn.Categories(["a", "b", NO_ANSWER]), 1.0)
    town = dn.DirectResponse(dn.Categories(["a", "b", "c"]), 1.0)
    data = {"says": DIRECT.perturb(words(SAYS)), "one": [1] * PEOPLE, "x": NUMBER, "short": [1, 2],
            "silent": three.perturb(["a"] * PEOPLE), "town": town.perturb(["a"] * PEOPLE), "group": GROUP}  # fmt: skip
    own = {"says": DIRECT, "silent": three, "town": town}
    for outcome, by, words_of in (
        ("says", "one", "'one' has 1 groups"),
        ("says", "x", "groups; 2 to 64"),
        ("says", "short", "not answered by the same people"),
        ("silent", "group", "skipped 'silent'"),
        ("town", "group", "Name one, such as town"),
        ("town[d]", "group", "no answer 'd'"),
    ):
        with pytest.raises(dn.InvalidParameter, match=words_of):
            dn.compare_groups(data, outcome, by, own)
    found = dn.compare_groups(data, "says", "group", own)
    with pytest.raises(dn.InvalidParameter, match="Name two of the groups"):
        found.difference()
    with pytest.raises(dn.InvalidParameter, match="two estimates or more"):
        dn.compare_estimates({"a": DIRECT.predict([0.5, 0.5], 10)}, "yes")
    with pytest.raises(dn.InvalidParameter, match="Name one of the answers"):
        dn.compare_estimates({"a": DIRECT.predict([0.5, 0.5], 10), "b": DIRECT.predict([0.5, 0.5], 10)})
    with pytest.raises(dn.InvalidParameter, match="not numbers"):
        dn.correlate(data, "town", "x", own)


def test_power_grows_and_required_n_inverts_it() -> None:
    pair = dn.OnePair(dn.Vectors([dn.Categories(range(3))] * 3), 1.0)
    targets = {
        "share": (dn.share_of(DIRECT, 0.3), 0.05),
        "difference": (dn.difference_of(DIRECT, 0.3, answer="yes"), 0.05),
        "table": (dn.table_of(DIRECT, dn.DirectResponse(dn.Categories(range(4)), 2.0)), 0.2),
        "compound": (dn.table_of(dn.SubsetSelection(dn.Product([YES, YES]), 1.0)), 0.2),
        "pairs": (dn.table_of(pair), 0.3),
        "coefficient": (dn.coefficient_of(DIRECT, 0.3), 0.2),
        "group coefficient": (dn.coefficient_of(DIRECT, 0.3, 0.5), 0.4),
    }
    for name, (target, effect) in targets.items():
        n = dn.required_n(target, effect=effect, power=0.8)
        assert target.power(effect, n) >= 0.8 > target.power(effect, n - 1), name
        assert np.isclose(dn.smallest_effect(target, n), effect, rtol=1e-2), name
        assert target.power(effect / 2, n) < 0.5, name
        assert abs(target.power(1e-9, n) - 0.05) < 1e-3, name
        assert "an effect is" in str(target)


def test_power_of_a_difference_is_what_happens() -> None:
    """200 collections: chance moves the figure by 3.5 points, and 18 are allowed (false alarms below 1e-6)."""
    target = dn.difference_of(DIRECT, 0.3)
    found = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        group = random.integers(0, 2, 1000)
        says = (random.random(1000) < 0.3 + 0.12 * group).astype(int)
        data = {"says": DIRECT.perturb(words(says), dn.SeededCoins(seed)), "group": group}
        found += dn.compare_groups(data, "says", "group", {"says": DIRECT}).difference().p_value < 0.05
    assert abs(found / 200 - target.power(0.12, 1000)) < 0.18


def test_bad_plans_of_power_are_refused() -> None:
    target = dn.share_of(DIRECT, 0.3)
    cases: list[tuple[Any, str]] = [
        (lambda: target.power(0, 100), "above 0"),
        (lambda: target.power(0.1, 1), "at least two people"),
        (lambda: target.people(0.1, power=0.01), "the power above it"),
        (lambda: dn.smallest_effect(target, 3), "no effect at all"),
        (lambda: dn.share_of(DIRECT, 1.5), "between 0 and 1"),
        (lambda: dn.share_of(DIRECT, 0.5, "maybe"), "Name one of the answers"),
        (lambda: dn.table_of(DIRECT), "two mechanisms"),
        (lambda: dn.table_of(DIRECT, DIRECT, margins=[[0.5, 0.5], [1.0, 0.0]]), "all above 0"),
        (lambda: dn.coefficient_of(dn.DirectResponse(dn.Categories(range(3)), 1.0), 0.3), "two answers"),
        (lambda: dn.required_n(target), "an effect"),  # type: ignore[call-overload]
        (lambda: dn.required_n(YES, 1.0), "an epsilon and an error"),  # type: ignore[call-overload]
        (lambda: target.people(1e-8), "No number of people"),
    ]
    for call, words_of in cases:
        with pytest.raises(dn.InvalidParameter, match=words_of):
            call()


def test_synthetic_rows_follow_the_tables_and_say_what_they_are() -> None:
    x = RANDOM.integers(0, 3, PEOPLE)
    data = {"x": x, "y": np.where(RANDOM.random(PEOPLE) < 0.8, x, 0), "z": RANDOM.integers(0, 2, PEOPLE)}
    tables = [dn.crosstab(data, {}, a, b) for a, b in (("x", "y"), ("y", "z"), ("x", "z"))]
    rows = dn.synthesize(tables, 30_000, seed=4)
    assert len(rows) == 30_000 and rows.links[0] == ("x", "y") and len(rows.links) == 2
    drawn = dn.crosstab({name: np.array(own) for name, own in rows.columns.items()}, {}, "x", "y")
    assert np.abs(drawn.shares - tables[0].shares).max() < 6 * 0.5 / np.sqrt(30_000)
    assert rows.to_csv().splitlines()[0] == "x,y,z,synthetic" and rows.to_csv().splitlines()[1].endswith(",yes")
    assert "No row is a person" in rows.statement
    assert dn.synthesize(tables, 50, seed=4).columns == dn.synthesize(tables, 50, seed=4).columns
    apart = dn.synthesize([tables[0], dn.crosstab({"p": data["z"], "q": data["z"]}, {})], 10, seed=1)
    assert list(apart.columns) == ["x", "y", "p", "q"] and apart.columns["p"] == apart.columns["q"]
    for given, count in (([], 1), (tables, 0)):
        with pytest.raises(dn.InvalidParameter):
            dn.synthesize(given, count, 1)
