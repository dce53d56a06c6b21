"""Utility-optimized response: everything that it promises, on the exact law of its code."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.core import Coins, lookup
from deniable.core.layout import Columns
from deniable.core.mechanism import Mechanism
from deniable.mechanisms.algebra.utility_formulas import true_odds
from deniable.mechanisms.shares.subset_selection import subset_error
from deniable.wrappers.open_answers import OpenAnswers
from tests.open_examples import EPSILON, LEAN, PUBLISHED, SEVEN, TWO, lean, number

ALL: dict[str, OpenAnswers] = {**LEAN, **{f"published-{name}": each for name, each in PUBLISHED.items()}}
every = pytest.mark.parametrize("name", ALL)
every_lean = pytest.mark.parametrize("name", LEAN)


@cache
def laws(name: str) -> list[dict[bytes, Fraction]]:
    return [dict(dn.law(ALL[name], index).items()) for index in range(ALL[name].domain.size)]


@cache
def reports(name: str) -> list[bytes]:
    return sorted(set().union(*laws(name)))


def disclosed(name: str) -> NDArray[np.int64]:
    rows = np.array([list(report) for report in reports(name)], np.uint8)
    return ALL[name].disclosed_index(ALL[name].disclosed(ALL[name].layout.columns(rows)))


@every
def test_a_report_that_tells_can_come_from_nobody_else(name: str) -> None:
    """The first half of the definition."""
    for report, value in zip(reports(name), disclosed(name), strict=True):
        possible = [index for index, law in enumerate(laws(name)) if report in law]
        if value >= 0:
            assert possible == [value]
            assert not ALL[name].secret[value]
        else:
            assert len(possible) == ALL[name].domain.size


@every
def test_worst_ratio_of_the_protected_reports_is_the_declared_loss(name: str) -> None:
    """The second half, and the certificate says the same."""
    mechanism = ALL[name]
    hidden = [report for report, value in zip(reports(name), disclosed(name), strict=True) if value < 0]
    worst = max(max(law[report] for law in laws(name)) / min(law[report] for law in laws(name)) for report in hidden)
    assert worst == mechanism.loss().odds
    certificate = dn.certify(mechanism)
    assert certificate.loss.odds == worst
    assert certificate.loss.proof == "proved"
    assert certificate.loss.protects == "sensitive values"
    if certificate.worst_pair is None:
        certificate = dn.certify(mechanism, "enumerated")
    assert certificate.worst_pair is not None and certificate.loss.odds == worst
    first, second = (mechanism.domain.labels.index(value) for value in certificate.worst_pair)
    report = bytes.fromhex(certificate.worst_report)
    assert laws(name)[first][report] / laws(name)[second][report] == worst


@every_lean
def test_promise_is_kept_and_used_up(name: str) -> None:
    """Exactly the odds that were asked for: nothing of the budget is left unused."""
    mechanism = LEAN[name]
    assert dn.certify(mechanism).holds
    assert mechanism.loss().epsilon() == pytest.approx(mechanism.epsilon, abs=1e-9)
    assert mechanism.loss().epsilon() <= mechanism.epsilon


@every
def test_open_answers_are_disclosed_as_often_as_stated(name: str) -> None:
    for index in np.flatnonzero(~ALL[name].secret):
        share = sum(
            laws(name)[index].get(report, 0)
            for report, value in zip(reports(name), disclosed(name), strict=True)
            if value >= 0
        )
        assert float(share) == pytest.approx(ALL[name].disclosed_share, rel=1e-12)


@every_lean
def test_no_other_mask_discloses_more(name: str) -> None:
    """Every report must be possible under an open answer, with 1 / odds of its largest probability; the mask has no more."""
    mechanism = LEAN[name]
    hidden = [report for report, value in zip(reports(name), disclosed(name), strict=True) if value < 0]
    secret = [law for law, own in zip(laws(name), mechanism.secret, strict=True) if own]
    least = sum(max(law[report] for law in secret) for report in hidden) / mechanism.odds
    if mechanism.flat or name.startswith(("hashing", "wheel")):  # these hide behind all reports alike
        assert mechanism.mask.hidden >= least
    else:
        assert mechanism.mask.hidden == least


@every_lean
def test_stated_variance_is_unbiased_too(name: str) -> None:
    """The variance that an estimate states, averaged over all reports, is the true one."""
    mechanism, size = LEAN[name], LEAN[name].domain.size
    shares = np.full(size, 1 / size)
    columns = mechanism.layout.columns(np.array([list(report) for report in reports(name)], np.uint8))
    stated = np.zeros(size)
    for place, report in enumerate(reports(name)):
        counts = mechanism.votes({key: column[place : place + 1] for key, column in columns.items()})
        variance = mechanism.estimate(dn.Tally(mechanism.fingerprint, 1, counts)).variance
        assert variance is not None
        stated += float(sum(law.get(report, 0) for law in laws(name)) / size) * variance
    np.testing.assert_allclose(stated, mechanism.predict(shares, 1).standard_error ** 2, rtol=1e-9)


@every_lean
def test_guess_total_and_worst_noise(name: str) -> None:
    mechanism, size = LEAN[name], LEAN[name].domain.size
    best = sum(max(law.get(report, Fraction(0)) for law in laws(name)) for report in reports(name)) / size
    assert mechanism.guess() == pytest.approx(float(best), rel=1e-9)
    shares = np.where(mechanism.secret, 0.25 / mechanism.secret.sum(), 0.75 / (~mechanism.secret).sum())
    assert mechanism.total_noise(0.75) == pytest.approx(
        float((mechanism.predict(shares, 1).standard_error ** 2).sum()), rel=1e-9
    )
    everyone = [float((mechanism.predict(people, 1).standard_error ** 2).max()) for people in np.eye(size)]
    assert mechanism.worst_noise() == pytest.approx(max(everyone), rel=1e-9)


def test_errors_are_numbers_however_few_the_reports() -> None:
    """The variance is right on average; from a single report it may come out negative, and the error is then 0."""
    mechanism = LEAN["channel"]
    singles = [mechanism.estimate(mechanism.tally(mechanism.perturb(["none"], dn.SeededCoins(seed)))) for seed in range(50)]
    assert min(float(np.min(each.variance)) for each in singles if each.variance is not None) < 0
    assert all(np.isfinite(each.interval(0.95)).all() for each in singles)


def test_likelihood_of_supports_is_refused() -> None:
    mechanism: Any = LEAN["direct"]
    with pytest.raises(dn.InvalidParameter, match="em_channel"):
        dn.em(mechanism, mechanism.perturb(["flu"]))


def test_reports_are_small() -> None:
    """An open answer is a further number where the base sends one number, so that no bit is spent on which it is."""
    assert lean(dn.BlockDesign, range(424), number(1000), 1.0).layout.bits == 11
    assert LEAN["direct"].layout.bits == 3
    assert LEAN["subset"].layout.bits == 2 + 4


# --- published mechanisms


@pytest.mark.parametrize("name", ["uRR", "uSS", "uUE"])
def test_published_mechanisms_that_keep_their_word(name: str) -> None:
    assert dn.certify(PUBLISHED[name]).holds


@pytest.mark.parametrize("name", ["uLH", "uLH-uneven", "uWheel"])
def test_published_hashing_does_not_keep_its_word(name: str) -> None:
    certificate = dn.certify(PUBLISHED[name])
    assert not certificate.holds
    assert certificate.loss.epsilon() > PUBLISHED[name].epsilon + 0.1
    assert "DOES NOT HOLD" in str(certificate)


def test_counterexample_of_published_hashing() -> None:
    """Two sensitive values, two buckets, odds of 3: a function that separates them is worth 3.75."""
    f, z = Fraction(4, 5), Fraction(1, 2)
    assert true_odds(2, Fraction(3), f * (1 - z), 1) == Fraction(15, 4)


@pytest.mark.parametrize("family", [dn.DirectResponse, dn.SubsetSelection, dn.Unary])
@pytest.mark.parametrize("size", [40, 3000])
def test_published_mechanisms_are_proved_at_real_size(family: type[Any], size: int) -> None:
    mechanism = dn.PublishedUtility(family, number(size), range(size // 2), 2.0)
    certificate = dn.certify(mechanism)
    assert certificate.loss.odds == mechanism.loss().odds and certificate.loss.proof == "proved" and certificate.holds


@pytest.mark.parametrize("family", [dn.LocalHashing, dn.Wheel])
def test_published_hashing_at_real_size_is_not_proved_to_keep_its_word(family: type[Any]) -> None:
    """What the worst hash function costs has a formula; the proof allows for functions that would be worse still."""
    mechanism = dn.UtilityOptimized.as_published(family, number(400), range(250), 2.0, 0.95)
    certificate = dn.certify(mechanism)
    assert certificate.loss.odds is not None and certificate.loss.odds > (mechanism.loss().odds or 0) > mechanism.odds
    assert not certificate.holds and "loss at most" in str(certificate)


def test_recommended_parameters() -> None:
    made = [
        dn.UtilityOptimized.as_published(family, number(40), range(25), 1.0, 0.95)
        for family in (dn.SubsetSelection, dn.Unary)
    ]
    subset, unary = (mechanism.base for mechanism in made)
    assert isinstance(subset, dn.SubsetSelection)
    assert subset.size == 7
    assert isinstance(unary, dn.Unary)
    assert float(unary.p) == pytest.approx(0.500586963869177, abs=1e-6)


# --- tuning


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.75, 1.0])
def test_parameters_are_the_best_there_are(epsilon: float, share: float) -> None:
    """Against every size, arc and number of buckets."""
    odds = dn.odds_below(epsilon)
    for size in (2, 3, 5, 12, 30):
        secret, question = range(size), number(size + 2)
        subset = dn.UtilityOptimized(dn.SubsetSelection, question, secret, epsilon, share)
        errors = [subset_error(size, size, k, odds, Fraction(share)) for k in range(1, size)]
        assert isinstance(subset.base, dn.SubsetSelection)
        assert errors[subset.base.size - 1] == min(errors)
        assert subset.total_noise(share) == pytest.approx(float(min(errors)), rel=1e-9)
        for family, choices in ((dn.LocalHashing, range(2, 14)), (dn.Wheel, range(1, max(size, 3)))):
            tuned = dn.UtilityOptimized(family, question, secret, epsilon, share).total_noise(share)
            for choice in choices:
                if family is dn.LocalHashing and choice > max(size, 3):
                    break
                other = dn.UtilityOptimized(family(number(size), epsilon, choice), question, secret, epsilon, share)
                assert tuned <= other.total_noise(share) * (1 + 1e-12)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_unary_is_tuned_by_its_true_error(share: float) -> None:
    tuned = dn.UtilityOptimized(dn.Unary, number(27), range(25), 1.0, share).total_noise(share)
    for p in np.linspace(0.05, 0.95, 181):
        base = dn.Unary(number(25), 1.0, Fraction(p))
        assert tuned <= dn.UtilityOptimized(base, number(27), range(25), 1.0).total_noise(share) * (1 + 1e-9)


# From the exact variances of the published and the lean estimators; settings are those of the paper's four data sets.
TABLE = {
    (25, 0.95): {1.0: (58.1, 63.3, 60.5, 85.1), 2.0: (9.01, 9.76, 9.44, 16.0), 4.0: (0.85, 0.96, 0.92, 1.14)},
    (230, 0.77): {1.0: (619.5, 625.4, 621.8, 839.6), 2.0: (103.2, 104.5, 104.1, 164.4), 4.0: (9.83, 10.2, 10.1, 16.4)},
    (424, 0.56): {1.0: (1264.7, 1274, 1271, 1553.8), 2.0: (225.6, 227.5, 228.1, 304.7), 4.0: (22.4, 23.2, 22.9, 31.1)},
    (3, 0.78): {1.0: (5.27, 9.54, 5.27, 5.27)},
}


@pytest.mark.parametrize(("size", "share"), TABLE)
def test_errors_at_the_settings_of_the_paper(size: int, share: float) -> None:
    """n times the total error of subset selection; hashing and designs at most what was worked out for simpler ones."""
    for epsilon, (subset, hashing, design, published) in TABLE[size, share].items():
        made = {
            family: dn.UtilityOptimized(family, number(size + 5), range(size), epsilon, share).total_noise(share)
            for family in (dn.SubsetSelection, dn.LocalHashing, dn.BlockDesign)
        }
        assert made[dn.SubsetSelection] == pytest.approx(subset, rel=0.006)
        assert made[dn.LocalHashing] <= hashing * 1.006
        assert made[dn.BlockDesign] <= design * 1.006
        paper = dn.UtilityOptimized.as_published(dn.SubsetSelection, number(size + 5), range(size), epsilon, share)
        shares = np.where(paper.secret, (1 - share) / size, share / 5)
        assert float((paper.predict(shares, 1).standard_error ** 2).sum()) == pytest.approx(published, rel=0.006)


@pytest.mark.parametrize("family", [dn.SubsetSelection, dn.LocalHashing, dn.BlockDesign, dn.Unary])
def test_measured_error_at_real_size(family: type[Any]) -> None:
    """With fixed coins: the squared error of 60 collections over its prediction, within six of its standard errors.

    The error of a collection is a mean over hundreds of nearly independent values, so it is nearly normal; six standard
    errors are exceeded with probability below 1e-8 for each of the four.
    """
    size, share, people, repeats = 230, 0.77, 20_000, 60
    mechanism = dn.UtilityOptimized(family, number(300), range(size), 2.0, share)
    held = np.zeros(300, np.int64)
    held[:size], held[size:] = round(people * (1 - share) / size), round(people * share / 70)
    answers, coins = np.repeat(np.arange(300), held), dn.SeededCoins(11)
    truth = held / held.sum()
    predicted = float((mechanism.predict(truth, len(answers)).standard_error ** 2).sum())
    found = [
        float(((mechanism.estimate(mechanism.tally(mechanism.perturb(answers, coins))).values - truth) ** 2).sum())
        / predicted
        for _ in range(repeats)
    ]
    assert abs(np.mean(found) - 1) < 6 * np.std(found, ddof=1) / math.sqrt(repeats)


# --- planner and pilot


def test_planner_wraps_every_family() -> None:
    planned = dn.plan(number(1000), 1.0, 100_000, sensitive=range(424), open_share=0.56)
    assert isinstance(planned, dn.UtilityOptimized)
    assert isinstance(planned.base, dn.BlockDesign)
    assert "424 of them sensitive" in planned.explain()
    alone = dn.plan(SEVEN, 1.0, 100, sensitive=["cancer"])
    assert isinstance(alone, dn.UtilityOptimized)
    assert dn.required_n(SEVEN, 1.0, 0.01, sensitive=["cancer"]) < dn.required_n(SEVEN, 1.0, 0.01)


def collected(mechanism: Mechanism, answers: NDArray[np.int64], seed: int) -> dn.Tally:
    return mechanism.tally(mechanism.perturb(answers, dn.SeededCoins(seed)))


def test_pilot_tunes_the_rest_and_keeps_the_first() -> None:
    question, secret = number(40), range(25)
    pilot = dn.Pilot(dn.SubsetSelection, question, secret, 2.0)
    answers = np.concatenate([np.repeat(np.arange(25), 4), np.repeat(np.arange(25, 40), 126)])  # 95 % have an open one
    first = collected(pilot.first, answers, 1)
    share, error = pilot.shown(first)
    assert abs(share - 0.95) < 6 * error  # false alarm below 1e-8
    assert 0 < error < 0.02
    rest = pilot.rest(first)
    assert isinstance(rest.base, dn.SubsetSelection)
    assert isinstance(pilot.first.base, dn.SubsetSelection)
    assert rest.base.size > pilot.first.base.size
    second = collected(rest, np.tile(answers, 19), 2)
    estimate = pilot.estimate(first, second)
    early, late = pilot.first.estimate(first), rest.estimate(second)
    np.testing.assert_allclose(estimate.values, (early.values + 19 * late.values) / 20, rtol=1e-12)
    variance = (early.standard_error**2 + 361 * late.standard_error**2) / 400
    np.testing.assert_allclose(estimate.standard_error**2, variance, rtol=1e-12)
    np.testing.assert_allclose(np.diag(estimate.covariance()), variance, rtol=1e-12)
    assert estimate.n == len(answers) * 20
    assert estimate.open_share == share
    assert estimate.open_share_error == error
    assert 0 < estimate.extra < 0.013
    with pytest.raises(dn.SurveyMismatch):
        pilot.estimate(first, first)


def test_starting_share_is_nearly_right_for_all() -> None:
    """Tuned for three quarters, subset selection is at most a fifth to a quarter off, whatever the share turns out to be."""
    for epsilon, most in ((1.0, 0.03), (2.0, 0.08), (4.0, 0.23)):
        start = dn.UtilityOptimized(dn.SubsetSelection, number(240), range(230), epsilon)
        for share in np.linspace(0, 1, 21):
            best = dn.UtilityOptimized(dn.SubsetSelection, number(240), range(230), epsilon, float(share))
            assert start.total_noise(share) <= (1 + most) * best.total_noise(share)


# --- personal sensitivity


def test_withheld_answers_have_the_law_of_the_answer_that_stands_for_them() -> None:
    mechanism = LEAN["subset"]
    mapped = mechanism.withhold(["flu", "cold", "AIDS"], [["flu", "burn"], [], []], instead="other")
    assert mapped == ["other", "cold", "AIDS"]
    with pytest.raises(dn.InvalidParameter, match="one of the sensitive"):
        mechanism.withhold(["flu"], [["flu"]], instead="cold")
    with pytest.raises(dn.InvalidParameter, match="one list of declared answers"):
        mechanism.withhold(["flu", "cold"], [["flu"]], instead="other")
    with pytest.raises(dn.OutsideDomain):
        mechanism.withhold(["measles"], [[]], instead="other")


def test_hiding_always_looks_like_sensitive_answers() -> None:
    """Why withheld answers need an answer of their own: always hidden ones look like an even mix of the sensitive ones."""
    mechanism = LEAN["direct"]
    hidden = [report for report, value in zip(reports("direct"), disclosed("direct"), strict=True) if value < 0]
    secret = [law for law, own in zip(laws("direct"), mechanism.secret, strict=True) if own]
    for report in hidden:
        always = laws("direct")[0][report] / mechanism.mask.hidden
        assert always == sum(law[report] for law in secret) / len(secret)


# --- bad input


@pytest.mark.parametrize(
    ("secret", "says"),
    [
        (["measles"], "not one of the question"),
        ([], "nothing to protect"),
        (list(SEVEN.labels), "Every answer is sensitive"),
        ("AIDS", "must be a list"),
        (7, "must be a list"),
    ],
)
def test_impossible_choices_of_sensitive_answers(secret: Any, says: str) -> None:
    with pytest.raises(dn.InvalidParameter, match=says):
        lean(dn.Unary, secret)
    with pytest.raises(dn.InvalidParameter, match=says):
        dn.plan(SEVEN, 1.0, 10, sensitive=secret)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "half", True])
def test_impossible_open_shares(share: Any) -> None:
    with pytest.raises(dn.InvalidParameter, match="from 0 to 1"):
        dn.UtilityOptimized(dn.Unary, SEVEN, TWO, 1.0, share)


@pytest.mark.parametrize(
    ("base", "says"),
    [
        (dn.DirectResponse(number(2), 2.0), "costs more than epsilon 1 itself"),
        (dn.FiniteChannel(number(2), 1.0, [[9, 1], [1, 9]]), "costs more than epsilon 1 itself"),
        (dn.FiniteChannel(number(2), 1.0, [[1, 1, 0], [1, 0, 1]]), "costs more than epsilon 1 itself"),
        (dn.DirectResponse(number(3), 1.0), "for 2 values"),
        ("subset", "for 2 values"),
        (dn.Mechanism, "for 2 values"),
    ],
)
def test_impossible_bases(base: Any, says: str) -> None:
    with pytest.raises(dn.InvalidParameter, match=says):
        dn.UtilityOptimized(base, SEVEN, TWO, 1.0)


def test_published_mechanisms_refuse_what_they_are_not_for() -> None:
    with pytest.raises(dn.InvalidParameter, match="two sensitive"):
        dn.PublishedUtility(dn.SubsetSelection, SEVEN, ["AIDS"], 1.0)
    with pytest.raises(dn.InvalidParameter, match="two sensitive"):
        dn.UtilityOptimized.as_published(dn.SubsetSelection, SEVEN, ["AIDS"], 1.0)
    with pytest.raises(dn.InvalidParameter, match="made of"):
        dn.PublishedUtility(dn.HadamardResponse, SEVEN, TWO, 1.0)


def refused(mechanism: OpenAnswers, columns: Mapping[str, NDArray[Any]]) -> str:
    with pytest.raises(dn.InvalidReport) as error:
        dn.Reports.of(mechanism.fingerprint, mechanism.layout, columns)
    with pytest.raises(dn.InvalidReport):
        mechanism.votes(columns)
    return str(error.value)


def test_impossible_combinations_are_refused() -> None:
    subset = LEAN["subset"]  # one cell of four
    cells = np.array([[1]], np.uint8)
    assert "also has a protected part" in refused(subset, {"open": np.array([2], np.uint8), "cells": cells})
    assert "exactly" in refused(subset, {"open": np.array([0], np.uint8), "cells": cells * 0})
    assert "not below" in refused(subset, {"open": np.array([4], np.uint8), "cells": cells * 0})
    assert "not below" in refused(LEAN["direct"], {"value": np.array([7], np.uint8)})
    published = PUBLISHED["uSS"]
    none, one = np.zeros(1, np.uint8), np.ones(1, np.uint8)
    three = np.array([[3]], np.uint8)
    assert "marked as having none" in refused(published, {"open": one, "masked": none, "cells": three})
    one_only = {"open": one, "masked": one, "value": none}
    assert "also has a protected part" in refused(PUBLISHED["uRR"], one_only)  # z is 0, so there are no pairs
    assert "is empty" in refused(published, {"open": none, "masked": none, "cells": three * 0})


# --- planted bugs: the certificate must see them


@dataclass(frozen=True, init=False)
class Planted(dn.UtilityOptimized):
    """Somebody edits the code and forgets what it promises."""

    def randomize(self, truth: NDArray[np.int64], coins: Coins) -> Mapping[str, NDArray[Any]]:
        raise NotImplementedError


def planted(
    randomize: Callable[..., Mapping[str, NDArray[Any]]], base: Any = dn.DirectResponse, size: int = 4
) -> OpenAnswers:
    kind = type("Changed", (Planted,), {"randomize": randomize})
    made: OpenAnswers = kind(base, number(size + 3), range(size), EPSILON)
    return made


def hides_too_rarely(self: Any, truth: NDArray[np.int64], coins: Coins) -> Mapping[str, NDArray[Any]]:
    number, secret = lookup(self._open_number, truth), lookup(self.secret, truth)
    own = self.base.randomize(lookup(self._place, truth), coins)
    blank, hidden = self.mask.draw(len(truth), coins)
    hidden = hidden & coins.toss(Fraction(1, 2), len(truth))
    chosen = {name: np.where(secret, column, blank[name]) for name, column in own.items()}
    return self.layout.join(number * ~hidden, chosen)


def discloses_a_sensitive_one(self: Any, truth: NDArray[np.int64], coins: Coins) -> Mapping[str, NDArray[Any]]:
    columns = dn.UtilityOptimized.randomize(self, truth, coins)
    (name,) = columns
    return {name: np.where(truth == 2, self.base.domain.size, columns[name])}  # discloses the first open answer instead


def uses_a_draw_that_should_not_matter(self: Any, truth: NDArray[np.int64], coins: Coins) -> Mapping[str, NDArray[Any]]:
    number = lookup(self._open_number, truth)
    own = self.base.randomize(lookup(self._place, truth), coins)
    _, hidden = self.mask.draw(len(truth), coins)
    return self.layout.join(number * ~hidden, own)


def test_hiding_too_rarely_is_seen() -> None:
    for base, size in ((dn.DirectResponse, 4), (dn.BlockDesign, 1500)):
        certificate = dn.certify(planted(hides_too_rarely, base, size))
        assert certificate.loss.odds == 6
        assert not certificate.holds


def test_disclosing_a_sensitive_answer_is_seen() -> None:
    certificate = dn.certify(planted(discloses_a_sensitive_one))
    assert certificate.loss.odds is None
    assert not certificate.holds


def test_one_answer_of_many_that_is_disclosed_is_seen() -> None:
    with pytest.raises(dn.NotCertifiable, match="Not proved at this size"):
        dn.certify(planted(discloses_a_sensitive_one, dn.BlockDesign, 1500))


@pytest.mark.parametrize(
    "family", [dn.DirectResponse, dn.SubsetSelection, dn.Wheel, dn.BlockDesign, dn.HadamardResponse, dn.LocalHashing]
)
def test_many_sensitive_answers_are_certified(family: type[Any]) -> None:
    mechanism = dn.UtilityOptimized(family, number(1503), range(1500), 1.0)
    certificate = dn.certify(mechanism)
    assert certificate.holds and certificate.loss.odds == mechanism.odds


def test_a_draw_that_matters_after_all_is_seen() -> None:
    certificate = dn.certify(planted(uses_a_draw_that_should_not_matter))
    assert certificate.loss.odds == Fraction(9, 2) and not certificate.holds
    with pytest.raises(dn.NotCertifiable, match="Not proved at this size"):
        dn.certify(planted(uses_a_draw_that_should_not_matter, dn.BlockDesign, 1500))


@pytest.mark.parametrize(
    "family", [dn.Unary, dn.SubsetSelection, dn.LocalHashing, dn.Wheel, dn.BlockDesign, dn.HadamardResponse]
)
def test_large_questions_are_certified(family: type[Any]) -> None:
    mechanism = dn.UtilityOptimized(family, number(300), range(5, 155), 1.0)
    certificate = dn.certify(mechanism)
    assert certificate.holds
    assert certificate.loss.odds == mechanism.odds
    assert certificate.disclosed == mechanism.disclosed_share


def test_open_answers_are_not_supported_by_columns_of_another_mechanism() -> None:
    columns: Columns = {"value": np.zeros(3, np.uint8)}
    assert LEAN["direct"].votes(columns).tolist() == [3, 0, 0, 0, 0, 0, 0]


def test_former_names_still_work() -> None:
    mechanism = LEAN["direct"]
    columns: Columns = {"value": np.array([0, 2, 6], np.uint8)}
    with pytest.warns(DeprecationWarning, match="disclosed_share"):
        assert mechanism.told_share == mechanism.disclosed_share
    with pytest.warns(DeprecationWarning, match="disclosed"):
        numbers = mechanism.told(columns)
    with pytest.warns(DeprecationWarning, match="disclosed_index"):
        assert mechanism.told_index(numbers).tolist() == mechanism.disclosed_index(mechanism.disclosed(columns)).tolist()
