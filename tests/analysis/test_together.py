"""Regression on reports of several questions at once: equal to the likelihood maximised by SciPy, or refused clearly."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collector import open_store
from deniable.core import concatenate
from deniable.errors import InvalidParameter
from tests.analysis.test_regression import LOGIT, NUMBER, PEOPLE, RANDOM, SAYS, SMOKES, YES, X, likelihood, maximised, words
from tests.collector.test_tables import SPLIT, collected
from tests.survey.test_tables import PAIR, QUESTIONS, written

TOWNS = dn.Categories(["a", "b", "c"])
TOWN = RANDOM.choice(3, PEOPLE, p=[0.5, 0.3, 0.2])
BOTH = ("says", "smokes")
ALL = (*BOTH, "town")


def combined() -> list[Any]:
    return list(zip(words(SAYS), words(SMOKES), [TOWNS.labels[place] for place in TOWN], strict=True))


@pytest.mark.parametrize("make", [dn.DirectResponse, dn.SubsetSelection, dn.Unary], ids=lambda each: each.__name__)
def test_a_compound_report_on_outcome_and_covariate(make: Any) -> None:
    mechanism = make(dn.Product([YES, YES]), 3.0)
    reports = mechanism.perturb([row[:2] for row in combined()], dn.SeededCoins(1))
    seen = likelihood(mechanism, reports).reshape(-1, 2, 2)

    def value(at: Any) -> Any:
        share = 1 / (1 + np.exp(-(at[3] + at[4] * X)))
        total = 0
        for state, own in enumerate((1 - share, share)):
            p = 1 / (1 + np.exp(-(at[0] + at[1] * X + at[2] * state)))
            total = total + own * (seen[:, 0, state] * (1 - p) + seen[:, 1, state] * p)
        return np.log(total).sum()

    wanted, covariance = maximised(value, np.zeros(5))
    found = dn.regress("says ~ x + smokes", {BOTH: reports, "x": X}, {BOTH: mechanism})
    assert found.converged and found.method == "likelihood" and found.randomized == ("says", "smokes")
    assert np.abs(found.coefficients - wanted[:3]).max() < 1e-6
    assert np.allclose(found.standard_error, np.sqrt(np.diag(covariance))[:3], rtol=1e-4)


def test_pairs_drawn_in_public() -> None:
    """Reports that involve a question outside the model say nothing; the others are those of a log-linear model."""
    mechanism = dn.OnePair(dn.Vectors([YES, YES, TOWNS]), 3.0)
    reports = mechanism.perturb(combined(), dn.SeededCoins(2))
    columns = reports.columns
    group = mechanism.group_of(columns["slot"].astype(np.int64))
    draws = [columns[name] for name in ("t", "s", "b")[: len(mechanism.hashed.draws)]]
    seen = np.ones((PEOPLE, 2, 2, 3))
    for place, (first, second) in enumerate(mechanism.groups):  # the law, written with the hash function alone
        for row in np.flatnonzero(group == place):
            for at in itertools.product(range(2), range(2), range(3)):
                pair = at[first], 0 if second is None else at[second]
                hit = mechanism.hashed.bucket(*pair, [int(draw[row]) for draw in draws]) == columns["bucket"][row]
                seen[(row, *at)] = float(mechanism.odds) if hit else 1.0

    def value(at: Any) -> Any:
        predictor = at[0] + at[1] * X[:, None, None] + at[2] * np.arange(2)[:, None] + np.array([0 * at[0], at[3], at[4]])
        p = 1 / (1 + np.exp(-predictor))
        level = np.array([[0 * at[0], at[6], at[7]], [at[5], at[5] + at[6] + at[8], at[5] + at[7] + at[9]]])
        slope = np.array([[0 * at[0], at[11], at[12]], [at[10], at[10] + at[11], at[10] + at[12]]])
        shares = np.exp(level + slope * X[:, None, None])
        shares = shares / shares.sum(axis=(1, 2), keepdims=True)
        return np.log((shares * (seen[:, 0] * (1 - p) + seen[:, 1] * p)).sum(axis=(1, 2))).sum()

    wanted, covariance = maximised(value, np.zeros(13))
    found = dn.regress("says ~ x + smokes + town", {ALL: reports, "x": X}, {ALL: mechanism})
    assert found.converged and np.abs(found.coefficients - wanted[:5]).max() < 1e-6
    assert np.allclose(found.standard_error, np.sqrt(np.diag(covariance))[:5], rtol=1e-4)
    fewer = dn.regress("says ~ x + smokes", {ALL: reports, "x": X}, {ALL: mechanism})
    assert fewer.converged and fewer.method == "likelihood"
    with pytest.raises(InvalidParameter, match="nothing is known about 'says' by 'smokes' and 'town' at once"):
        dn.regress("says ~ smokes*town", {ALL: reports}, {ALL: mechanism})
    with pytest.raises(InvalidParameter, match="no unbiased indicator of all answers at once"):
        dn.regress("says ~ smokes", {ALL: reports}, {ALL: mechanism}, method="moments")


def test_covariates_that_are_reported_together() -> None:
    mechanism = dn.DirectResponse(dn.Product([YES, TOWNS]), 4.0)
    own = ("smokes", "town")
    reports = mechanism.perturb([row[1:] for row in combined()], dn.SeededCoins(3))
    found = dn.regress("y ~ x + smokes + town", {own: reports, "x": X, "y": NUMBER}, {own: mechanism})
    assert found.converged and found.family == "linear"
    wanted = np.array([1, 0.5, 0.9, 0, 0])  # what NUMBER is made of
    assert (np.abs(found.coefficients - wanted) < 6 * found.standard_error).all()  # with probability above 1 - 1e-7
    yes = (RANDOM.random(PEOPLE) < LOGIT).astype(int)
    assert dn.regress("y ~ smokes*town", {own: reports, "y": yes}, {own: mechanism}).n == PEOPLE


def test_what_a_model_leaves_out_of_a_compound_report() -> None:
    mechanism = dn.DirectResponse(dn.Product([YES, YES, TOWNS]), 4.0)
    data = {ALL: mechanism.perturb(combined(), dn.SeededCoins(4))}
    assert dn.regress("says ~ smokes", data, {ALL: mechanism}).method == "moments"
    with pytest.raises(InvalidParameter, match="leaves 'town' out, whose shares the likelihood would need"):
        dn.regress("says ~ smokes", data, {ALL: mechanism}, method="likelihood")
    with pytest.raises(InvalidParameter, match="as many different names"):
        dn.regress("says ~ smokes", {BOTH: data[ALL]}, {BOTH: mechanism})
    with pytest.raises(InvalidParameter, match="under the same names"):
        dn.regress("says ~ smokes", data, {BOTH: mechanism})
    alone = dn.OneAttribute(dn.Vectors([YES, YES]), 2.0, [dn.DirectResponse(YES, 2.0)] * 2)
    with pytest.raises(InvalidParameter, match="reported one answer"):
        dn.regress("says ~ smokes", {BOTH: alone.perturb([row[:2] for row in combined()])}, {BOTH: alone})


def test_every_answer_with_a_split_budget() -> None:
    parts = [dn.DirectResponse(YES, 2.0), dn.DirectResponse(YES, 2.0)]
    mechanism = dn.EveryAttribute(dn.Vectors([YES, YES]), 4.0, parts)
    reports = mechanism.perturb([row[:2] for row in combined()], dn.SeededCoins(5))
    found = dn.regress("says ~ x + smokes", {BOTH: reports, "x": X}, {BOTH: mechanism})
    own = dict(zip(BOTH, mechanism.reports_on(reports, range(2)), strict=True))
    wanted = dn.regress("says ~ x + smokes", {**own, "x": X}, dict(zip(BOTH, parts, strict=True)))
    assert np.allclose(found.coefficients, wanted.coefficients) and np.allclose(found.covariance, wanted.covariance)


@pytest.mark.parametrize("questions", [QUESTIONS, SPLIT], ids=["together", "by themselves"])
def test_what_a_survey_has_counted(questions: dict[str, str], tmp_path: Path) -> None:
    """The tallies of a table give what the reports themselves give by moments."""
    (tmp_path / "health.toml").write_text(written(PAIR, questions=questions))
    survey = dn.Survey.load(tmp_path / "health.toml")
    store = open_store(str(tmp_path / "health.db"))
    _, messages = collected(survey, store, 3000)
    store.close()
    found = dn.regress("smokes ~ age", counted := dn.collected(tmp_path / "health.toml"))
    assert found.names == ["(intercept)", "age[40-64]", "age[65+]"] and found.converged and found.method == "moments"
    columns = [survey.unpack(message) for message in messages]
    units = [tuple(member.id for member in question.members) for question in survey.questions]
    names = [unit if len(unit) > 1 else unit[0] for unit in units]
    data: dict[Any, Any] = {name: concatenate(each[place] for each in columns) for place, name in enumerate(names)}
    mechanisms: Any = {name: question.mechanism for name, question in zip(names, survey.questions, strict=True)}
    wanted = dn.regress("smokes ~ age", data, mechanisms, method="moments")
    assert np.allclose(found.coefficients, wanted.coefficients, atol=1e-6)
    assert np.allclose(found.standard_error, wanted.standard_error, rtol=0.15)  # by the law, not by the spread that was seen
    assert dn.regress("smokes[yes] ~ age[65+]", counted).names == ["(intercept)", "age[65+]"]
    with pytest.raises(InvalidParameter, match="fitted by moments"):
        dn.regress("smokes ~ age", counted, method="likelihood")
    with pytest.raises(InvalidParameter, match="tables of two or three questions, and this model has 4"):
        dn.regress("smokes ~ age + town + height", counted)
    with pytest.raises(InvalidParameter, match="counted separately"):
        dn.regress("smokes ~ town", counted)
