"""Cross-tables: unbiased, with the exact covariance, from reports on several questions, compound ones and pairs."""

import itertools
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.analysis.decoder import decoder
from deniable.analysis.joint_tally import product_covariance
from deniable.domains.categories import NO_ANSWER
from deniable.testing.exact import Exact

A, B = dn.Categories(["a", "b", "c"]), dn.Categories(["no", "yes"])
PAIRS: dict[str, tuple[dn.Mechanism, dn.Mechanism]] = {
    "direct": (dn.DirectResponse(A, 1.0), dn.DirectResponse(B, 1.0)),
    "unary": (dn.Unary(A, 2.0), dn.SubsetSelection(B, 1.5)),
    "hashing": (dn.LocalHashing(A, 2.0), dn.HadamardResponse(B, 2.0)),
    "channel": (dn.FiniteChannel(A, 2.0, [[4, 1, 1], [1, 4, 1], [2, 1, 3]]), dn.Wheel(B, 1.0)),
    "sensitive": (dn.UtilityOptimized(dn.DirectResponse, A, ["a", "b"], 1.5), dn.DirectResponse(B, 2.0)),
}
SHARES = np.array([[0.2, 0.1], [0.3, 0.15], [0.05, 0.2]])


def collected(name: str, people: int = 3000, shares: Any = SHARES, seed: int = 11) -> tuple[dict[str, Any], dict[str, Any]]:
    x, y = np.divmod(np.random.default_rng(seed).choice(6, people, p=shares.ravel()), 2)
    first, second = PAIRS[name]
    reports = {
        "x": first.perturb([A.labels[i] for i in x], dn.SeededCoins(seed)),
        "y": second.perturb([B.labels[i] for i in y], dn.SeededCoins(seed + 1)),
    }
    return reports, {"x": first, "y": second}


@pytest.mark.parametrize("name", PAIRS)
def test_tables_are_unbiased_with_the_covariance_of_the_law(name: str) -> None:
    """What one person's reports say of all cells, over every pair of reports that the laws allow."""
    parts = [decoder(each) for each in PAIRS[name]]
    exact = [Exact(each) for each in PAIRS[name]]
    reports = [dn.Reports(each.mechanism.fingerprint, each.mechanism.layout, each.columns) for each in exact]
    made = [rows[which] for which, rows in (part.indicators(own) for part, own in zip(parts, reports, strict=True))]
    chance = exact[0].matrix.T @ SHARES @ exact[1].matrix
    z = np.einsum("ia,jb->ijab", *made).reshape(chance.size, 6)
    assert np.allclose(chance.ravel() @ z, SHARES.ravel(), atol=1e-10)
    wanted = (z.T * chance.ravel()) @ z - np.outer(SHARES, SHARES)
    assert np.allclose(product_covariance(parts, SHARES), wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("name", PAIRS)
def test_a_table_is_near_the_truth(name: str) -> None:
    """Six standard errors for each of 6 cells: a false alarm below 1e-7."""
    reports, mechanisms = collected(name)
    table = dn.crosstab(reports, mechanisms).for_population()
    assert table.shares.shape == (3, 2) and (np.abs(table.shares - SHARES) < 6 * table.standard_error).all()
    assert table.test().p_value < 0.02
    margins = table.margins()
    assert np.allclose(margins["x"].values, table.shares.sum(axis=1))
    alone = mechanisms["x"].estimate(mechanisms["x"].tally(reports["x"]))
    assert np.isclose(table.shares.sum(), 1)
    assert np.allclose(margins["x"].values, alone.values - alone.values.mean() + 1 / 3)
    if np.isclose(alone.values.sum(), 1):
        own = dn.crosstab(reports, mechanisms).margins()["x"]
        assert np.allclose(own.standard_error, alone.standard_error, rtol=1e-6)


def test_tallies_of_pairs_are_whole_numbers_that_add() -> None:
    reports, mechanisms = collected("unary")
    parts = [decoder(each) for each in mechanisms.values()]
    whole = dn.JointTally.of(parts, list(reports.values()))
    cuts = (slice(0, 999), slice(999, None))
    halves = [dn.JointTally.of(parts, [each[part] for each in reports.values()]) for part in cuts]
    assert halves[0] + halves[1] == whole == sum(halves) == dn.JointTally.from_json(whole.to_json())
    assert whole.counts.dtype == np.int64 and whole.counts[-1, -1] == whole.n == 3000
    assert whole.counts[:-1, -1].tolist() == mechanisms["x"].count(reports["x"]).tolist()
    assert np.array_equal(dn.crosstab(whole, mechanisms).shares, dn.crosstab(reports, mechanisms).shares)
    with pytest.raises(dn.SurveyMismatch):
        whole + dn.JointTally.of(parts[::-1], list(reports.values())[::-1])
    with pytest.raises(dn.SurveyMismatch):
        dn.crosstab(whole, {"y": mechanisms["y"], "x": mechanisms["x"]})
    for text in ("{", '{"fingerprints": ["a"], "n": 1, "counts": [1.5]}', '{"fingerprints": ["a"], "n": 1, "counts": [2]}'):
        with pytest.raises(dn.InvalidReport, match="joint tally"):
            dn.JointTally.from_json(text)


def test_a_compound_question_gives_a_table() -> None:
    mechanism = dn.SubsetSelection(dn.Product([A, B]), 1.0)
    rows = [(A.labels[i], B.labels[j]) for i in range(3) for j in range(2) for _ in range(int(10_000 * SHARES[i, j]))]
    reports = mechanism.perturb(rows, dn.SeededCoins(3))
    table = dn.crosstab(reports, mechanism, names=["x", "y"])
    estimate = mechanism.estimate(mechanism.tally(reports))
    assert np.array_equal(table.shares.ravel(), estimate.values)
    assert np.allclose(table.covariance(), estimate.covariance(), rtol=1e-9)
    assert np.array_equal(dn.crosstab(mechanism.tally(reports), mechanism, names=["x", "y"]).shares, table.shares)
    assert dn.mechanism_from_json(mechanism.to_json()) == mechanism


def test_three_questions_give_a_table_and_its_pairs() -> None:
    every = dn.EveryAttribute.of(dn.Vectors([A, B, B]), 6.0)
    random = np.random.default_rng(5)
    rows = [(A.labels[i % 3], B.labels[int(random.random() < 0.2 + 0.3 * (i % 3))], B.labels[i % 2]) for i in range(6000)]
    reports = every.perturb(rows, dn.SeededCoins(5))
    table = dn.crosstab(reports, every, names=["town", "smokes", "sex"])
    assert table.shares.shape == (3, 2, 2)
    pair = dn.crosstab(reports, every, "town", "smokes", names=["town", "smokes", "sex"])
    assert np.allclose(table.pair("town", "smokes").shares, pair.shares)
    assert np.allclose(table.pair("town", "smokes").covariance(), pair.covariance(), rtol=1e-6, atol=1e-12)
    turned, places = table.pair("smokes", "town"), np.arange(6).reshape(3, 2).T.ravel()
    assert np.allclose(turned.shares, pair.shares.T)
    assert np.allclose(turned.covariance(), pair.covariance()[np.ix_(places, places)], rtol=1e-6, atol=1e-12)
    assert table.test().p_value < 1e-6 and table.test().degrees == 12 - 2 - 1 - 1 - 1
    assert table.pair("town", "sex").test().p_value > 1e-6
    assert dn.crosstab(reports, every).questions == ("0", "1", "2")
    text = str(table)
    assert text.splitlines()[0].split() == ["town", "/", "smokes", "/", "sex", "no", "yes"]


def test_open_columns_stand_beside_randomized_ones() -> None:
    reports, mechanisms = collected("direct")
    table = dn.crosstab({**reports, "wave": [2024, 2025] * 1500}, mechanisms, "y", "wave")
    assert table.answers[1] == [2024, 2025]
    assert np.allclose(table.margins()["wave"].values, 0.5) and np.allclose(table.margins()["wave"].variance, 0)  # type: ignore[arg-type]
    both = dn.crosstab({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "x"]}, {})
    assert np.array_equal(both.shares, [[0.25, 0.25], [0.5, 0]]) and np.allclose(both.standard_error, 0)


def test_rows_pictures_and_data_frames() -> None:
    reports, mechanisms = collected("direct")
    table = dn.crosstab(reports, mechanisms)
    assert table.rows()[0].keys() == {"x", "y", "share", "standard_error", "low", "high"} and len(table.rows()) == 6
    low, high = table.interval(0.9)
    assert ((low < table.shares) & (table.shares < high)).all()
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert table.plot(ax=axes) is axes and axes.get_ylabel() == "x" and len(axes.texts) == 6
    assert "<table" in table._repr_html_() and table.to_arrow().column_names == list(table.rows()[0])
    assert (table.cleaned() >= 0).all() and np.isclose(table.cleaned().sum(), 1)
    try:
        import pandas
    except ImportError:
        with pytest.raises(dn.MissingPackage, match="pip install pandas"):
            table.to_pandas()
    else:
        assert isinstance(table.to_pandas(), pandas.DataFrame)


def test_silence_is_left_out_or_refused() -> None:
    """Among those who answered, the shares are those of a table without silence: six standard errors."""
    optional = dn.DirectResponse(dn.Categories(["no", "yes", NO_ANSWER]), 2.0)
    random = np.random.default_rng(2)
    says = random.choice(3, 8000, p=[0.5, 0.3, 0.2])
    group = np.where(random.random(8000) < 0.2 + 0.4 * (says == 1), "old", "young")
    reports = {"says": optional.perturb([optional.domain.labels[i] for i in says], dn.SeededCoins(2)), "age": group}
    table = dn.crosstab(reports, {"says": optional})
    with pytest.raises(dn.InvalidParameter, match=r"skipped 'says'.*table.without"):
        table.test()
    with pytest.raises(dn.InvalidParameter, match="skipped 'says'"):
        table.correlation(ranks=True)
    answered = table.without("says", NO_ANSWER).for_population()
    truth = np.array([[np.mean((says == i) & (group == age)) for age in ("old", "young")] for i in (0, 1)])
    assert answered.answers[0] == ["no", "yes"] and np.isclose(answered.shares.sum(), 1)
    assert (np.abs(answered.shares - truth / truth.sum()) < 6 * answered.standard_error).all()
    assert answered.test().p_value < 1e-6 and table.test(silence=True).degrees == 2
    with pytest.raises(dn.InvalidParameter, match="at least two others"):
        answered.without("says", "no")


def test_bad_tables_are_refused() -> None:
    reports, mechanisms = collected("direct")
    wide = dn.DirectResponse(dn.Categories(range(40)), 1.0)
    many = {"p": wide.perturb(np.arange(40)), "q": wide.perturb(np.arange(40))}
    short = {"x": reports["x"][:10], "y": reports["y"]}
    one = dn.OneAttribute.of(dn.Vectors([A, B]), 1.0)
    cases: list[tuple[Any, str]] = [
        (lambda: dn.crosstab(many, {"p": wide, "q": wide}), "1,600 cells; at most 1,024"),
        (lambda: dn.crosstab(short, mechanisms), "not answered by the same people: 'x' has 10, 'y' has 3,000 reports"),
        (lambda: dn.crosstab(reports, mechanisms, "x"), "two or three questions, not 1"),
        (lambda: dn.crosstab(reports, mechanisms, "x", "z"), "no reports on 'z'"),
        (lambda: dn.crosstab(reports, {"x": mechanisms["x"]}), "need their mechanism"),
        (lambda: dn.crosstab(reports["x"], mechanisms), "a mapping from each question"),
        (lambda: dn.crosstab(reports, "x", "y"), r"collected\('survey.toml'\)"),  # type: ignore[call-overload]
        (lambda: dn.crosstab(one.perturb([("a", "no")]), one), "say nothing about how answers are related"),
        (lambda: dn.crosstab(reports["x"], mechanisms["x"]), "several questions"),
        (lambda: dn.crosstab(reports, mechanisms).pair("x", "x"), "two different questions"),
        (lambda: dn.crosstab(reports, mechanisms).pair("x", "z"), "has the questions 'x', 'y'"),
        (lambda: dn.crosstab(reports, mechanisms).test("fisher"), '"wald" or "rao-scott"'),
        (lambda: dn.crosstab(reports, mechanisms).correlation(), "not numbers"),
    ]
    every = dn.EveryAttribute.of(dn.Vectors([A, B]), 1.0)
    own = every.perturb([("a", "no")] * 4)
    cases += [
        (lambda: dn.crosstab(every.tally(own), every), "tally of single answers"),
        (lambda: dn.crosstab(own, every, 0, 5), "no question 5"),
        (lambda: dn.crosstab(own, every, names=["x", "x"]), "2 different names"),
        (lambda: dn.crosstabs(own, every), "OnePair"),  # type: ignore[arg-type]
    ]
    for call, words in cases:
        with pytest.raises(dn.InvalidParameter, match=words):
            call()
    with pytest.raises(dn.EmptyBatch):
        dn.crosstab({name: each[:0] for name, each in reports.items()}, mechanisms)
    pairs = dn.OnePair(dn.Vectors([A, B, B]), 1.0)
    with pytest.raises(dn.InvalidParameter, match="two questions"):
        dn.crosstab(pairs.perturb([("a", "no", "no")] * 4), pairs)


@pytest.mark.parametrize("method", ["wald", "rao-scott"])
def test_tests_have_their_size(method: str) -> None:
    """200 independent tables: 10 +- 3 rejections are expected, and 32 or more happen in less than one of 1e8 runs."""
    null = np.outer(SHARES.sum(axis=1), SHARES.sum(axis=0))
    found = [dn.crosstab(*collected("direct", 1500, null, seed)).test(method) for seed in range(200)]
    assert sum(each.p_value < 0.05 for each in found) < 32
    assert sum(each.p_value < 0.5 for each in found) > 50  # of 100 expected
    assert np.median([each.effect for each in found]) < 0.1


def test_an_effect_is_not_inflated_by_noise() -> None:
    exact = dn.crosstab(*collected("direct", 200_000)).test()
    truth = np.sqrt(((SHARES - np.outer(SHARES.sum(1), SHARES.sum(0))) ** 2 / np.outer(SHARES.sum(1), SHARES.sum(0))).sum())
    assert abs(exact.effect - truth) < 0.05 and exact.measure == "Cramer's V"
    assert "Independence: contradicted" in str(exact)


@pytest.mark.parametrize("ranks", [False, True])
def test_correlations_are_not_weakened_by_noise(ranks: bool) -> None:
    """Six standard errors; the derivatives are those of finite differences."""
    scale, random = dn.Ordered(range(5)), np.random.default_rng(4)
    mechanism = dn.DirectResponse(scale, 2.0)
    x = random.binomial(4, 0.5, 40_000)
    y = np.where(random.random(40_000) < 0.6, x, random.binomial(4, 0.5, 40_000))
    data = {"x": mechanism.perturb(x, dn.SeededCoins(1)), "y": mechanism.perturb(y, dn.SeededCoins(2))}
    mechanisms = {"x": mechanism, "y": mechanism}
    found = dn.crosstab(data, mechanisms).correlation(ranks=ranks)
    truth = np.corrcoef(x, y)[0, 1]
    if ranks:
        middle = [np.cumsum(np.bincount(v)) - np.bincount(v) / 2 for v in (x, y)]
        truth = np.corrcoef(middle[0][x], middle[1][y])[0, 1]
    assert abs(found.value - truth) < 6 * found.standard_error < 0.2
    assert found.interval[0] < found.value < found.interval[1] and found.p_value < 1e-6
    same = dn.correlate(data, "x", "y", mechanisms, ranks=ranks)
    assert np.isclose(same.value, found.value, rtol=1e-6) and np.isclose(same.standard_error, found.standard_error, rtol=0.1)


def test_plans_compare_the_three_ways() -> None:
    many = dn.plan_tables([dn.Categories(range(4))] * 10, 1.0, 100_000)
    assert isinstance(many, dn.OnePair) and "every answer, split budget" in many.explain()
    assert "Left out: compound question. It would have 1,048,576 answers" in many.explain()
    few = dn.plan_tables([B, B], 1.0, 1000)
    assert isinstance(few.domain, dn.Product)
    with pytest.raises(dn.InvalidParameter, match="two questions or more"):
        dn.plan_tables([B], 1.0, 1000)


@pytest.mark.parametrize("sizes", [(2, 3), (2, 2, 2)])
def test_predicted_errors_are_those_of_tables(sizes: tuple[int, ...]) -> None:
    """For equally common answers, from the exact covariance of one table of each pair."""
    from deniable.analysis.plan import table_options

    n = 6000
    rows = np.stack(np.meshgrid(*(np.arange(size) for size in sizes)), -1).reshape(-1, len(sizes))
    people = rows[np.arange(n) % len(rows)]
    for row in table_options([dn.Categories(range(size)) for size in sizes], 2.0, n):
        reports = row.mechanism.perturb(people, dn.SeededCoins(1))
        noise = []
        for pair in itertools.combinations(range(len(sizes)), 2):
            table = dn.crosstab(reports, row.mechanism, *pair)
            noise.append(table.standard_error.ravel() ** 2)
        assert np.isclose(np.sqrt(np.mean(np.concatenate(noise))), row.error, rtol=0.05), row.name
