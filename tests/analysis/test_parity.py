"""What R's package RRreg estimates, by its designs and by our families: equal to the same likelihood maximised by SciPy.

Each likelihood is written here a second time, from nothing but the listed law of the mechanism.
"""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import PureProtocol
from tests.analysis.test_regression import (
    DESIGNS,
    LOGIT,
    NUMBER,
    PEOPLE,
    RANDOM,
    SAYS,
    SMOKES,
    YES,
    X,
    likelihood,
    maximised,
    words,
)

CLASSICAL = ["warner", "forced", "unrelated", "mangat", "kuk"]
FAMILIES = ["direct", "unary", "subset", "hashing", "hadamard", "wheel"]
TOWNS = dn.Categories(["a", "b", "c"])
TOWN = RANDOM.choice(3, PEOPLE, p=[0.5, 0.3, 0.2])
SCALE = dn.Interval(0, 4, steps=4)
ONE_CARD = dn.FiniteChannel.kuk(YES, (Fraction(1, 5), Fraction(4, 5)), 1)
HOURS = RANDOM.integers(0, 5, PEOPLE)


def made(mechanism: dn.Mechanism, answers: Any, seed: int) -> tuple[Any, Any]:
    """Reports, and the likelihood of each under every answer."""
    reports = mechanism.perturb(answers, dn.SeededCoins(seed))
    return reports, likelihood(mechanism, reports)


def shares_of(parameters: Any, states: int) -> list[Any]:
    """Multinomial shares, the first state being the reference; parameters are one for each other state and open column."""
    logits = [0 * X, *(own[0] + (own[1] * X if len(own) > 1 else 0 * X) for own in parameters.reshape(states - 1, -1))]
    total = sum(np.exp(each) for each in logits)
    return [np.exp(each) / total for each in logits]


def outcome_of(predictor: Any, kind: str, seen: Any, deviation: Any = 0.0) -> Any:
    if kind == "linear":
        return np.exp(-(((NUMBER - predictor) / np.exp(deviation)) ** 2) / 2 - deviation)
    p = 1 / (1 + np.exp(-predictor))
    return seen[:, 0] * (1 - p) + seen[:, 1] * p


@pytest.mark.parametrize("name", [*CLASSICAL, *FAMILIES, "memoized"])
def test_shares(name: str) -> None:
    mechanism = DESIGNS[name]
    reports, seen = made(mechanism, words(SAYS), 1)
    wanted, covariance = maximised(lambda at: np.log(outcome_of(at[0], "logistic", seen)).sum(), np.array([0.0]))
    found = dn.regress("says ~ 1", {"says": reports}, {"says": mechanism})
    assert abs(found.coefficients[0] - wanted[0]) < 1e-6
    assert np.isclose(found.standard_error[0], np.sqrt(covariance[0, 0]), rtol=1e-5)
    share = 1 / (1 + np.exp(-wanted[0]))
    if len({row.tobytes() for row in mechanism.layout.rows(reports.columns)}) == 2:  # then the unbiased one is the same
        assert abs(mechanism.estimate(mechanism.tally(reports)).values[1] - share) < 1e-6
    if isinstance(mechanism, PureProtocol):
        assert abs(dn.em(mechanism, reports, tolerance=1e-12).values[1] - share) < 1e-6


@pytest.mark.parametrize(
    "names", [("warner", "forced"), ("unrelated", "mangat"), ("one card", "warner"), ("direct", "subset")]
)
def test_correlations(names: tuple[str, str]) -> None:
    """Of two answers, by the shares of all four combinations that the reports are most likely under."""
    designs = [{**DESIGNS, "one card": ONE_CARD}[name] for name in names]
    (first, a), (second, b) = made(designs[0], words(SAYS), 1), made(designs[1], words(SMOKES), 2)

    def joint(at: Any) -> Any:
        return np.array([1 + 0 * at[0], *np.exp(at)]) / (1 + np.exp(at).sum())

    def value(at: Any) -> Any:
        shares = joint(at)
        return np.log(sum(shares[2 * s + t] * a[:, s] * b[:, t] for s, t in itertools.product(range(2), repeat=2))).sum()

    def correlation(at: Any) -> Any:
        _, only_second, only_first, both = joint(at)
        p, q = only_first + both, only_second + both
        return (both - p * q) / np.sqrt(p * (1 - p) * q * (1 - q))

    wanted, covariance = maximised(value, np.zeros(3))
    slope = np.array([np.imag(correlation(wanted + 1e-30j * unit)) / 1e-30 for unit in np.eye(3)])
    mechanisms = dict(zip(("says", "smokes"), designs, strict=True))
    found = dn.correlate({"says": first, "smokes": second}, "says", "smokes", mechanisms, ranks=True)
    assert abs(found.value - correlation(wanted)) < 1e-6
    assert np.isclose(found.standard_error, np.sqrt(slope @ covariance @ slope), rtol=1e-3)
    table = dn.crosstab({"says": first, "smokes": second}, mechanisms)
    assert np.allclose(table.shares.ravel(), joint(wanted), atol=1e-6)


@pytest.mark.parametrize("place", range(len(CLASSICAL) + len(FAMILIES)))
@pytest.mark.parametrize("kind", ["logistic", "linear"])
def test_regressions_with_a_randomized_covariate(place: int, kind: str) -> None:
    """The outcome of a logistic model is randomized as well, by the design before."""
    names = [*CLASSICAL, *FAMILIES]
    covariate, outcome = DESIGNS[names[place]], DESIGNS[names[place - 1]]
    (says, own), (smokes, seen) = made(outcome, words(SAYS), 3), made(covariate, words(SMOKES), 4)

    def value(at: Any) -> Any:
        shares = shares_of(at[-2:], 2)
        parts = [outcome_of(at[0] + at[1] * X + at[2] * state, kind, own, at[3]) for state in range(2)]
        return (
            np.log(sum(shares[s] * seen[:, s] * parts[s] for s in range(2)) + 1e-300).sum()
            - (kind == "logistic") * at[3] ** 2
        )

    wanted, covariance = maximised(value, np.array([0.0, 0, 0, 0, 0, 0]))
    data = {"y": says if kind == "logistic" else NUMBER, "x": X, "smokes": smokes}
    found = dn.regress("y ~ x + smokes", data, {"smokes": covariate} | ({"y": outcome} if kind == "logistic" else {}))
    assert found.converged and found.family == kind
    assert np.abs(found.coefficients - wanted[:3]).max() < 1e-6
    assert np.allclose(found.standard_error, np.sqrt(np.diag(covariance))[:3], rtol=1e-4)


@pytest.mark.parametrize(
    "covariate",
    [
        dn.DirectResponse(TOWNS, 3.0),
        dn.SubsetSelection(TOWNS, 3.0),
        dn.Unary(TOWNS, 3.0),
        dn.LocalHashing(TOWNS, 3.0),
        dn.HadamardResponse(TOWNS, 3.0),
        dn.Wheel(TOWNS, 3.0),
    ],
    ids=lambda each: each.wire,
)
def test_categories_of_every_family_as_covariates(covariate: dn.Mechanism) -> None:
    reports, seen = made(covariate, [TOWNS.labels[place] for place in TOWN], 5)
    outcome = (RANDOM.random(PEOPLE) < LOGIT).astype(int)
    own = np.stack([1 - outcome, outcome], axis=1)

    def value(at: Any) -> Any:
        shares, effects = shares_of(at[4:], 3), [0, at[2], at[3]]
        parts = [outcome_of(at[0] + at[1] * X + effects[state], "logistic", own) for state in range(3)]
        return np.log(sum(shares[s] * seen[:, s] * parts[s] for s in range(3))).sum()

    wanted, covariance = maximised(value, np.zeros(8))
    found = dn.regress("y ~ x + town", {"y": outcome, "x": X, "town": reports}, {"town": covariate})
    assert found.converged and np.abs(found.coefficients - wanted[:4]).max() < 1e-6
    assert np.allclose(found.standard_error, np.sqrt(np.diag(covariance))[:4], rtol=1e-4)


@pytest.mark.parametrize(
    "covariate", [dn.Piecewise(SCALE, 4.0), dn.SubsetSelection(dn.Ordered(range(5)), 4.0)], ids=lambda each: each.wire
)
def test_numbers_as_covariates(covariate: dn.Mechanism) -> None:
    """A mechanism for means, and one for the shares of a scale; shares of the states depend on nothing."""
    reports, seen = made(covariate, HOURS.tolist(), 6)
    number = 1 + 0.7 * HOURS + RANDOM.normal(size=PEOPLE)

    def value(at: Any) -> Any:
        shares = shares_of(at[3:], 5)
        parts = [np.exp(-(((number - at[0] - at[1] * state) / np.exp(at[2])) ** 2) / 2 - at[2]) for state in range(5)]
        return np.log(sum(shares[s] * seen[:, s] * parts[s] for s in range(5)) + 1e-300).sum()

    wanted, covariance = maximised(value, np.array([number.mean(), 0.1, 0.5, 0, 0, 0, 0]))
    found = dn.regress("y ~ hours", {"y": number, "hours": reports}, {"hours": covariate})
    assert found.converged and np.abs(found.coefficients - wanted[:2]).max() < 1e-6
    assert np.allclose(found.standard_error, np.sqrt(np.diag(covariance))[:2], rtol=1e-4)


def test_two_randomized_covariates_with_their_interaction() -> None:
    designs = {"smokes": DESIGNS["unrelated"], "drinks": DESIGNS["unary"]}
    (smokes, a), (drinks, b) = made(designs["smokes"], words(SMOKES), 7), made(designs["drinks"], words(SAYS), 8)
    number = 1 + SMOKES - 0.5 * SAYS + 0.8 * SMOKES * SAYS + RANDOM.normal(size=PEOPLE)
    states = list(itertools.product(range(2), repeat=2))

    def value(at: Any) -> Any:
        shares, total = shares_of(at[5:], 4), 0
        for share, (s, t) in zip(shares, states, strict=True):
            predictor = at[0] + at[1] * s + at[2] * t + at[3] * s * t
            total = total + share * a[:, s] * b[:, t] * np.exp(-(((number - predictor) / np.exp(at[4])) ** 2) / 2 - at[4])
        return np.log(total + 1e-300).sum()

    wanted, covariance = maximised(value, np.array([number.mean(), 0.1, 0.1, 0.1, 0, 0, 0, 0]))
    found = dn.regress("y ~ smokes*drinks", {"y": number, "smokes": smokes, "drinks": drinks}, designs)
    assert found.converged and np.abs(found.coefficients - wanted[:4]).max() < 1e-6
    assert np.allclose(found.standard_error, np.sqrt(np.diag(covariance))[:4], rtol=1e-4)


def test_people_who_look_alike_are_counted_together() -> None:
    """Rows that coincide change nothing, with weights and without: open columns of few values, 40 times as many people."""
    design = DESIGNS["forced"]
    band, group = RANDOM.integers(0, 3, 6000), np.array(["a", "b"])[RANDOM.integers(0, 2, 6000)]
    smokes = (RANDOM.random(6000) < 0.2 + 0.2 * band).astype(int)
    y = (RANDOM.random(6000) < 0.3 + 0.1 * band + 0.2 * smokes).astype(int)
    data: dict[str, Any] = {"band": band, "group": group, "y": y, "smokes": design.perturb(words(smokes), dn.SeededCoins(1))}
    weights = RANDOM.random(6000) + 0.5
    apart = {**data, "band": band + 1e-9 * RANDOM.random(6000)}  # no two rows coincide
    for given in (None, weights):
        counted = dn.regress("y ~ band + group + smokes", data, {"smokes": design}, weights=given)
        single = dn.regress("y ~ band + group + smokes", apart, {"smokes": design}, weights=given)
        assert np.allclose(counted.coefficients, single.coefficients, atol=1e-6)
        assert np.allclose(counted.covariance, single.covariance, rtol=1e-5)


def test_an_open_covariate_may_determine_a_randomized_one() -> None:
    """The share of smokers is then 0 or 1, and what is left is the regression on the true answers.

    A covariate that equals the open one cannot be distinguished from it, and that is said.
    """
    design, sure = DESIGNS["forced"], (X > 0).astype(int)
    smokes = design.perturb(words(sure), dn.SeededCoins(2))
    found = dn.regress("y ~ x + smokes", {"y": NUMBER, "x": X, "smokes": smokes}, {"smokes": design})
    wanted = np.linalg.lstsq(np.stack([np.ones(PEOPLE), X, sure], axis=1), NUMBER, rcond=None)[0]
    assert found.converged and (np.abs(found.coefficients - wanted) < 2 * found.standard_error).all()
    same = dn.regress("y ~ sex + smokes", {"y": NUMBER, "sex": sure, "smokes": smokes}, {"smokes": design})
    said = " ".join(same.notes)
    assert "nearly collinear" in said or "flat in some direction" in said
