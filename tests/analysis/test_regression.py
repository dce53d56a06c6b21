"""Regression: the same likelihood maximised another way gives the same, for classical designs and for all our families."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import deniable as dn
from deniable.analysis.formula import Formula
from deniable.domains.categories import NO_ANSWER
from tests.examples import EXAMPLES

YES = dn.Categories(["no", "yes"])
THIRD = Fraction(1, 3)
DESIGNS: dict[str, dn.Mechanism] = {
    "warner": dn.FiniteChannel.warner(YES, Fraction(3, 4)),
    "forced": dn.FiniteChannel.forced(YES, 2 * THIRD, [Fraction(1, 6)] * 2),
    "unrelated": dn.FiniteChannel.unrelated(YES, 2 * THIRD, [Fraction(1, 5), Fraction(4, 5)]),
    "mangat": dn.FiniteChannel.mangat(YES, 2 * THIRD),
    "kuk": dn.FiniteChannel.kuk(YES, (Fraction(1, 5), Fraction(4, 5)), 3),
    "direct": dn.DirectResponse(YES, 2.0),
    "unary": dn.Unary(YES, 2.0),
    "subset": dn.SubsetSelection(YES, 2.0),
    "hashing": dn.LocalHashing(YES, 2.0),
    "hadamard": dn.HadamardResponse(YES, 2.0),
    "wheel": dn.Wheel(YES, 2.0),
    "memoized": dn.Memoized.direct(YES, 3.0, 2.0),
}
RANDOM = np.random.default_rng(8)
PEOPLE = 800
X, Z = RANDOM.normal(size=(2, PEOPLE))
SMOKES = (RANDOM.random(PEOPLE) < 1 / (1 + np.exp(-Z))).astype(int)
LOGIT = 1 / (1 + np.exp(-(-0.5 + 0.8 * X + 0.6 * SMOKES)))
SAYS = (RANDOM.random(PEOPLE) < LOGIT).astype(int)
NUMBER = 1 + 0.5 * X + 0.9 * SMOKES + RANDOM.normal(size=PEOPLE)


def words(indices: Any) -> list[str]:
    return [("no", "yes")[place] for place in indices.tolist()]


def likelihood(mechanism: dn.Mechanism, reports: dn.Reports) -> Any:
    """P(report | answer) for every report, looked up in the exact law."""
    laws = [dict(dn.law(mechanism, index).items()) for index in range(mechanism.domain.size)]
    rows = mechanism.layout.rows(reports.columns)
    return np.array([[float(law.get(row.tobytes(), 0)) for law in laws] for row in rows])


def maximised(log_likelihood: Callable[[Any], Any], start: Any) -> Any:
    """The maximum by SciPy's BFGS, with derivatives by complex steps."""

    def slope(at: Any) -> Any:
        return np.array([-np.imag(log_likelihood(at + 1e-30j * unit)) / 1e-30 for unit in np.eye(len(at))])

    found = minimize(lambda at: -np.real(log_likelihood(at)), start, jac=slope, method="BFGS", options={"gtol": 1e-7})
    for _ in range(3):  # Newton's method from there on, its second derivatives by differences
        step = 1e-6
        curve = np.stack(
            [(slope(found.x + step * u) - slope(found.x - step * u)) / (2 * step) for u in np.eye(len(found.x))]
        )
        found.x = found.x - np.linalg.solve(curve, slope(found.x))
    return found.x, np.linalg.inv(curve)


@pytest.mark.parametrize("name", DESIGNS)
def test_logistic_regression_is_the_maximum_of_the_likelihood(name: str) -> None:
    mechanism = DESIGNS[name]
    reports = mechanism.perturb(words(SAYS), dn.SeededCoins(1))
    no, yes = likelihood(mechanism, reports).T

    def value(at: Any) -> Any:
        p = 1 / (1 + np.exp(-(at[0] + at[1] * X + at[2] * Z + at[3] * X * Z)))
        return np.log(no * (1 - p) + yes * p).sum()

    wanted, covariance = maximised(value, np.zeros(4))
    found = dn.regress("says ~ x*z", {"says": reports, "x": X, "z": Z}, {"says": mechanism})
    assert found.names == ["(intercept)", "x", "z", "x:z"]
    assert found.converged and np.abs(found.coefficients - wanted).max() < 1e-6
    assert np.allclose(found.standard_error, np.sqrt(np.diag(covariance)), rtol=1e-5)


@pytest.mark.parametrize("name", ["forced", "mangat", "kuk", "unary", "hashing"])
@pytest.mark.parametrize("family", ["logistic", "linear"])
def test_a_randomized_covariate_is_the_maximum_of_the_likelihood(name: str, family: str) -> None:
    mechanism = DESIGNS[name]
    reports = mechanism.perturb(words(SMOKES), dn.SeededCoins(2))
    seen = likelihood(mechanism, reports)

    def value(at: Any) -> Any:
        share = 1 / (1 + np.exp(-(at[-2] + at[-1] * X)))  # of the covariate, given the open one
        total = 0
        for state, chance in ((0, 1 - share), (1, share)):
            predictor = at[0] + at[1] * X + at[2] * state
            if family == "logistic":
                p = 1 / (1 + np.exp(-predictor))
                outcome = np.where(SAYS == 1, p, 1 - p)
            else:
                outcome = np.exp(-(((NUMBER - predictor) / np.exp(at[3])) ** 2) / 2 - at[3])
            total = total + chance * seen[:, state] * outcome
        return np.log(total + 1e-300).sum()

    wanted, covariance = maximised(value, np.zeros(5 + (family == "linear")))
    data = {"y": SAYS if family == "logistic" else NUMBER, "x": X, "smokes": reports}
    found = dn.regress("y ~ x + smokes", data, {"smokes": mechanism})
    assert (found.family, found.converged) == (family, True)
    assert np.abs(found.coefficients - wanted[:3]).max() < 1e-6
    assert np.allclose(found.standard_error, np.sqrt(np.diag(covariance))[:3], rtol=1e-4)


def test_both_sides_randomized_are_the_maximum_of_the_likelihood() -> None:
    outcome, covariate = DESIGNS["forced"], dn.DirectResponse(dn.Categories(["a", "b", "c"]), 3.0)
    town = (RANDOM.random(PEOPLE) * 3).astype(int)
    reports = outcome.perturb(words(SAYS), dn.SeededCoins(3)), covariate.perturb(["abc"[i] for i in town], dn.SeededCoins(4))
    (no, yes), seen = likelihood(outcome, reports[0]).T, likelihood(covariate, reports[1])

    def value(at: Any) -> Any:
        weights = [np.exp(0 * at[4]), np.exp(at[4]), np.exp(at[5])]
        total = 0
        for state in range(3):
            p = 1 / (1 + np.exp(-(at[0] + (0, at[1], at[2])[state] + 0 * X)))
            total = total + weights[state] / sum(weights) * seen[:, state] * (no * (1 - p) + yes * p)
        return np.log(total).sum() - at[3] ** 2  # a parameter that is not used

    wanted, _ = maximised(value, np.zeros(6))
    found = dn.regress("says ~ town", {"says": reports[0], "town": reports[1]}, {"says": outcome, "town": covariate})
    assert found.names == ["(intercept)", "town[b]", "town[c]"] and found.randomized == ("says", "town")
    assert np.abs(found.coefficients - wanted[:3]).max() < 1e-6


def test_open_data_give_the_usual_estimates() -> None:
    data = {"y": NUMBER, "x": X, "z": Z, "region": [("north", "south", "west")[i % 3] for i in range(PEOPLE)]}
    columns = np.stack([np.ones(PEOPLE), X, *(np.array(data["region"]) == name for name in ("south", "west"))]).T
    for method in ("likelihood", "moments"):
        found = dn.regress("y ~ x + region", data, method=method)
        assert np.allclose(found.coefficients, np.linalg.lstsq(columns, NUMBER, rcond=None)[0], atol=1e-9)
        assert found.names == ["(intercept)", "x", "region[south]", "region[west]"]
    weights = np.where(np.arange(PEOPLE) < 400, 3.0, 1.0)
    root = np.sqrt(weights)
    found = dn.regress("y ~ x + region", data, weights=weights)
    assert np.allclose(found.coefficients, np.linalg.lstsq(columns * root[:, None], NUMBER * root, rcond=None)[0], atol=1e-8)
    bread = np.linalg.inv((columns.T * weights) @ columns)
    scores = columns * (weights * (NUMBER - columns @ found.coefficients))[:, None]
    assert np.allclose(found.covariance, bread @ (scores.T @ scores) @ bread, rtol=1e-6)


def test_moments_agree_with_the_truth() -> None:
    """A randomized number, explained by a randomized answer: six standard errors, false alarms below 1e-8."""
    random, people = np.random.default_rng(2), 60_000
    smokes = random.integers(0, 2, people)
    hours = np.clip(np.rint(3 + 2 * smokes + random.normal(size=people)), 0, 10)
    number, answer = dn.Piecewise(dn.Interval(0, 10, steps=10), 2.0), DESIGNS["forced"]
    data: dict[str, Any] = {
        "hours": number.perturb(hours, dn.SeededCoins(5)),
        "smokes": answer.perturb(words(smokes), dn.SeededCoins(6)),
    }
    found = dn.regress("hours ~ smokes", data, {"hours": number, "smokes": answer})
    assert (found.family, found.method) == ("linear", "moments")
    truth = np.array([hours[smokes == 0].mean(), hours[smokes == 1].mean() - hours[smokes == 0].mean()])
    assert (np.abs(found.coefficients - truth) < 6 * found.standard_error).all() and found.standard_error.max() < 0.2
    three = dn.Unary(dn.Categories(["a", "b", "c"]), 2.0)
    town = random.integers(0, 3, people)
    data = {"town": three.perturb(["abc"[i] for i in town], dn.SeededCoins(7)), "x": random.normal(size=people)}
    found = dn.regress("town[b] ~ x", data, {"town": three})
    assert (found.family, found.method) == ("logistic", "moments")
    assert abs(found["x"]) < 6 * found.standard_error[1] and abs(found["(intercept)"] - np.log(0.5)) < 0.2


def test_a_summary_reads_like_those_of_other_packages() -> None:
    reports = DESIGNS["forced"].perturb(words(SAYS), dn.SeededCoins(1))
    found = dn.regress("says ~ x", {"says": reports, "x": X}, {"says": DESIGNS["forced"]})
    text = str(found)
    assert text.splitlines()[0] == "logistic regression: says ~ x"
    assert "800 people, randomized: says, exact likelihood, log-likelihood -" in text
    assert text.splitlines()[2].split() == ["coef", "std", "err", "z", "P>|z|", "[0.025", "0.975]"]
    assert [row["name"] for row in found.rows()] == ["(intercept)", "x"]
    low, high = found.interval(0.9)
    assert (low < found.coefficients).all() and (found.coefficients < high).all()
    with pytest.raises(dn.InvalidParameter, match=r"The coefficients are '\(intercept\)', 'x'"):
        found["y"]


def test_separation_is_said_in_words() -> None:
    x = np.arange(100.0)
    found = dn.regress("y ~ x", {"y": (x > 49).astype(int), "x": x})
    assert not found.converged and any(note.startswith("Separation: the coefficient of") for note in found.notes)
    assert "Leave the covariate out" in str(found)
    nobody = DESIGNS["forced"]
    data = {"says": np.array([0] * 50 + [1, 0] * 50), "group": ["a"] * 50 + ["b"] * 100}
    found = dn.regress("says ~ group", data, {"says": nobody})  # fewer say yes in group a than are forced to
    assert not found.converged and "Separation" in str(found)


@pytest.mark.parametrize(
    ("formula", "words_of"),
    [
        ("y ~ x + twice", "'twice' is collinear: it follows from 'x'"),
        ("y ~ x + nothing", "no column 'nothing'"),
        ("y ~ x + zero", "'zero' is zero for everybody"),
        ("y ~ short", "not answered by the same people"),
        ("y ~ missing", "missing values"),
        ("y x", "one ~"),
        ("y ~ x +", "ends where a name is expected"),
        ("y ~ x ^ 2", "where a name is expected"),
        ("y ~ y + x", "The outcome is among the covariates"),
        ("y ~ x x", "joined by"),
        ("y ~ C(x", "not closed"),
        ("says ~ x", "need their mechanism"),
        ("town ~ x", "Choose the one to explain: town"),
        ("optional ~ x", "skipped 'optional'"),
        ("y ~ optional", "skipped 'optional'"),
        ("town[d] ~ x", "'town' has no answer 'd'"),
        ("y ~ a + b + c", "at most 256 are supported"),
    ],
)
def test_bad_models_are_refused(formula: str, words_of: str) -> None:
    many = dn.DirectResponse(dn.Categories(range(10)), 1.0)
    skipped = dn.DirectResponse(dn.Categories(["no", "yes", NO_ANSWER]), 1.0)
    three = EXAMPLES["direct-words"]
    data: dict[str, Any] = {
        "y": NUMBER, "x": X, "twice": 2 * X, "zero": 0 * X, "short": X[:10], "missing": np.where(X > 0, X, np.nan),
        "says": DESIGNS["forced"].perturb(words(SAYS)), "town": three.perturb(["a"] * PEOPLE),
        "optional": skipped.perturb(words(SAYS)), **{name: many.perturb(SAYS) for name in "abc"},
    }  # fmt: skip
    own = {"optional": skipped, "town": three, "a": many, "b": many, "c": many}
    with pytest.raises(dn.InvalidParameter, match=words_of):
        dn.regress(formula, data, own)


def test_other_bad_requests_are_refused() -> None:
    data = {"y": NUMBER, "x": X, "says": DESIGNS["forced"].perturb(words(SAYS))}
    own = {"says": DESIGNS["forced"]}
    for named, words_of in (
        ({"family": "poisson"}, "logistic"),
        ({"weights": [1, 2]}, "Weights are one number"),
        ({"family": "logistic"}, "an outcome of 0 and 1"),
    ):
        with pytest.raises(dn.InvalidParameter, match=words_of):
            dn.regress("y ~ x", data, own, **named)
    three = dn.DirectResponse(dn.Categories([1, 2, 3]), 1.0)
    data["rank"] = three.perturb(SAYS + 1)
    with pytest.raises(dn.InvalidParameter, match="no exact likelihood"):
        dn.regress("rank ~ x", data, {"rank": three}, method="likelihood")
    with pytest.raises(dn.InvalidParameter, match="also distinguish its other answers"):
        dn.regress("rank[2] ~ x", data, {"rank": three}, method="likelihood")
    with pytest.raises(dn.InvalidParameter, match="at least 6 people"):
        dn.regress("y ~ x", {"y": [1.0, 2.0], "x": [1.0, 0.0]})
    with pytest.raises(dn.InvalidParameter, match="Name the column that each mechanism has randomized"):
        dn.regress("says ~ x", data, DESIGNS["forced"])  # type: ignore[arg-type]
    with pytest.raises(dn.InvalidParameter, match="a mapping from names to columns"):
        dn.regress("y ~ x", [1, 2])
    with pytest.raises(dn.InvalidParameter, match="numbers from 0 to 1"):
        dn.regress("says ~ x", {"says": np.full(PEOPLE, 2), "x": X}, own)


def test_silence_can_be_counted_as_not_that_answer() -> None:
    skipped = dn.DirectResponse(dn.Categories(["no", "yes", NO_ANSWER]), 3.0)
    found = dn.regress("says[yes] ~ x", {"says": skipped.perturb(words(SAYS)), "x": X}, {"says": skipped})
    assert found.family == "logistic" and found.method == "moments"
    assert dn.regress("y ~ says[yes]", {"says": skipped.perturb(words(SAYS)), "y": NUMBER}, {"says": skipped}).converged


def test_reports_may_be_given_as_people_said_them() -> None:
    forced = DESIGNS["forced"]
    reports = forced.perturb(words(SAYS), dn.SeededCoins(1))
    numbers = reports.columns["value"].astype(int)
    found = [
        dn.regress("says ~ x", {"says": says, "x": X}, {"says": forced}).coefficients
        for says in (reports, numbers, words(numbers))
    ]
    assert all(np.array_equal(found[0], each) for each in found[1:])


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("y ~ a", "y ~ a"),
        ("y ~ a*b*c", "y ~ a + b + c + a:b + a:c + b:c + a:b:c"),
        ("y ~ a*b - a", "y ~ b + a:b"),
        ("y ~ 0 + a", "y ~ a - 1"),
        ("y ~ 1", "y ~ 1"),
        ("y[not sure] ~ `income last year` + C(age.band)", "y[not sure] ~ `income last year` + C(age.band)"),
    ],
)
def test_formulas_are_read_and_written(text: str, terms: str) -> None:
    assert str(Formula.parse(text)) == terms
    assert Formula.parse(terms) == Formula.parse(text)


def test_categories_without_an_intercept_keep_all_of_them() -> None:
    data = {"y": NUMBER, "region": ["a", "b"] * (PEOPLE // 2)}
    found = dn.regress("y ~ region - 1", data)
    assert found.names == ["region[a]", "region[b]"]
    assert np.allclose(found.coefficients, [NUMBER[::2].mean(), NUMBER[1::2].mean()])
    by_number = dn.regress("y ~ C(band)", {"y": NUMBER, "band": np.arange(PEOPLE) % 2})
    assert by_number.names == ["(intercept)", "C(band)[1.0]"]
    assert np.isclose(by_number.coefficients.sum(), NUMBER[1::2].mean())


def test_designs_have_the_laws_of_the_literature() -> None:
    F = Fraction
    assert DESIGNS["forced"].loss().odds == 5
    assert DESIGNS["warner"].loss().odds == 3
    assert DESIGNS["mangat"].loss().odds is None and not dn.certify(DESIGNS["mangat"]).holds
    kuk = dn.FiniteChannel.kuk(YES, (F(1, 5), F(4, 5)), 2)
    assert kuk.channel == ((F(16, 25), F(8, 25), F(1, 25)), (F(1, 25), F(8, 25), F(16, 25)))
    assert dn.FiniteChannel.unrelated(YES, F(1, 2), [F(1, 4), F(3, 4)]).channel == ((F(5, 8), F(3, 8)), (F(1, 8), F(7, 8)))
    for name, each in DESIGNS.items():
        if name != "mangat":
            assert dn.certify(each).holds, name
    wrong: list[Callable[[], dn.FiniteChannel]] = [
        lambda: dn.FiniteChannel.warner(dn.Categories(range(3)), F(3, 4)),
        lambda: dn.FiniteChannel.forced(YES, F(2, 3), [F(1, 6), F(1, 3)]),
        lambda: dn.FiniteChannel.kuk(YES, (F(1, 5), F(4, 5)), 0),
    ]
    for make in wrong:
        with pytest.raises(dn.InvalidParameter):
            make()
