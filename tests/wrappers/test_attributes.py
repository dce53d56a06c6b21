"""Several answers of one person: exact losses of records, what sampling hides and what it does not, exact errors."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import deniable as dn
from tests.examples import EPSILON
from tests.examples import PAIR as SMALL
from tests.examples import RECORDS as MADE

SAME = dn.Vectors([dn.Categories(range(2)), dn.Categories(range(2))])
every = pytest.mark.parametrize("name", MADE)


@cache
def laws(name: str) -> list[dict[bytes, Fraction]]:
    mechanism = MADE[name]
    return [dict(dn.law(mechanism, index).items()) for index in range(mechanism.domain.size)]


def worst(name: str, differ: int | None = None) -> Fraction:
    """The worst odds between two records, or between those that differ in so many answers."""
    domain, found = MADE[name].domain, Fraction(1)
    for one, other in itertools.permutations(range(domain.size), 2):
        apart = sum(x != y for x, y in zip(domain.answer(one), domain.answer(other), strict=True))
        if differ is None or apart == differ:
            found = max(found, *(chance / laws(name)[other][report] for report, chance in laws(name)[one].items()))
    return found


@every
def test_laws_sum_to_one_and_have_the_declared_loss(name: str) -> None:
    mechanism = MADE[name]
    assert all(sum(law.values()) == 1 for law in laws(name))
    assert worst(name) == mechanism.loss().odds
    assert dn.certify(mechanism, "enumerated").loss.odds == dn.certify(mechanism).loss.odds == worst(name)
    assert dn.certify(mechanism).holds == (not name.startswith("published"))


@pytest.mark.parametrize("name", [name for name in MADE if "fake" in name or "published" in name])
def test_what_the_secret_drawing_hides_is_exact(name: str) -> None:
    mechanism = MADE[name]
    assert isinstance(mechanism, dn.FakeAttributes)
    assert worst(name, 1) == mechanism.attribute_loss().odds
    assert worst(name, 1) < worst(name, 2) == mechanism.loss().odds


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (2, 2, 2), (4, 7, 30)])
def test_the_amplification_of_the_paper_fails_for_records(sizes: tuple[int, ...]) -> None:
    """It is right for one answer with fakes of noise alone, or of uniform values of the same number; for records never."""
    domain, claimed = dn.Vectors([dn.Categories(range(size)) for size in sizes]), dn.odds_below(1.0)
    uniform = dn.FakeAttributes.as_published(domain, 1.0)
    zero = dn.FakeAttributes.as_published(domain, 1.0, dn.Unary)
    random = dn.FakeAttributes.as_published(domain, 1.0, dn.Unary, random_fakes=True)
    amplified = len(sizes) * (claimed - 1) + 1
    for mechanism in (uniform, zero, random):
        odds = mechanism.loss().odds
        assert odds is not None and claimed < odds <= amplified and odds == pytest.approx(amplified, rel=1e-12)
    assert zero.attribute_loss().odds == pytest.approx(claimed, rel=1e-12)
    if len(set(sizes)) == 1:
        assert uniform.attribute_loss().odds == pytest.approx(claimed, rel=1e-12)
    else:
        assert uniform.attribute_loss().odds > claimed  # type: ignore[operator]
    if max(sizes) > 2:
        assert random.attribute_loss().odds > claimed  # type: ignore[operator]


def test_the_variance_of_one_attribute_counts_who_was_drawn() -> None:
    """Four people, two of whom are drawn: the exact variance of the share, over all draws and all coins."""
    domain = dn.Vectors([dn.Categories(range(2)), dn.Categories(range(2))])
    mechanism = dn.OneAttribute.of(domain, EPSILON)
    part, answers = mechanism.parts[0], (0, 0, 0, 1)
    p, q = part.p, part.q
    moments = [Fraction(0), Fraction(0)]
    drawn = list(itertools.combinations(answers, 2))
    for pair in drawn:
        for bits in itertools.product((0, 1), repeat=2):
            chance = Fraction(1, len(drawn))
            for answer, bit in zip(pair, bits, strict=True):
                heads = p if answer == 0 else q
                chance *= heads if bit else 1 - heads
            share = (Fraction(sum(bits), 2) - q) / (p - q)
            moments[0] += chance * share
            moments[1] += chance * share**2
    assert moments[0] == Fraction(3, 4)
    found = mechanism.noise(0, np.array([0.75, 0.25]), 4, [2, 2])
    assert found[0] == pytest.approx(float(moments[1] - moments[0] ** 2), rel=1e-12)


def test_large_records_are_certified_by_their_attributes() -> None:
    domain = dn.Vectors([dn.Categories(range(60)), dn.Categories(range(50)), dn.Categories(range(7))])
    for mechanism in (
        dn.EveryAttribute.of(domain, 3.0),
        dn.OneAttribute.of(domain, 1.0, dn.SubsetSelection),
        dn.FakeAttributes.of(domain, 1.0, dn.Unary),
    ):
        found = dn.certify(mechanism)
        assert found.loss.proof == "proved" and found.holds and found.loss.odds == mechanism.loss().odds
    assert not dn.certify(dn.FakeAttributes.as_published(domain, 1.0)).holds


class Leaky(dn.EveryAttribute):
    """Planted: the second answer is reported as it is."""

    def randomize(self, truth, coins):  # type: ignore[no-untyped-def]
        return {**super().randomize(truth, coins), "1.value": truth[:, 1]}


def test_planted_bugs_are_found() -> None:
    leaky = Leaky(SMALL, 2.0, MADE["every"].parts)
    assert dn.certify(leaky, "enumerated").loss.odds is None
    found = dn.certify(leaky)
    assert found.loss.odds is None and not found.holds


def test_bad_reports_and_parameters_are_refused() -> None:
    one = dn.OneAttribute.of(dn.Vectors([*SMALL.parts, dn.Categories(range(9))]), EPSILON)
    reports = one.perturb([("yes", "a", 1)], dn.SeededCoins(1))
    for which, report in ((3, 0), (0, 2), (1, 3)):
        columns = {"which": np.array([which], np.uint8), "report": np.array([[report]], np.uint8)}
        with pytest.raises(dn.InvalidReport):
            one.votes(columns)
    with pytest.raises(dn.EmptyBatch):
        one.estimate(one.tally(reports))
    for domain, parts in ((SMALL, []), (SAME, MADE["one"].parts), (SMALL.parts[0], MADE["one"].parts)):
        with pytest.raises(dn.InvalidParameter):
            dn.OneAttribute(domain, 1.0, parts)  # type: ignore[arg-type]
    first, second = SMALL.parts
    uneven = [dn.DirectResponse(first, 1.0), dn.DirectResponse(second, 0.5)]
    with pytest.raises(dn.InvalidParameter):
        dn.FakeAttributes(SMALL, 1.0, uneven)
    with pytest.raises(dn.InvalidParameter):
        dn.FakeAttributes.of(SMALL, 1.0, dn.SubsetSelection, random_fakes=True)
    mechanism = MADE["every"]
    for truth in ([1, 0, 1, 0], [1, 0, 1, 0, 1], [0.5, 0.5, 2, -1, 0]):
        with pytest.raises(dn.InvalidParameter):
            mechanism.predict(truth, 10)
    with pytest.raises(dn.SurveyMismatch):
        mechanism.estimate(dn.Tally("0" * 32, 1, np.zeros(5, np.int64)))
    with pytest.raises(dn.EmptyBatch):
        mechanism.estimate(dn.Tally(mechanism.fingerprint, 0, np.zeros(5, np.int64)))
    with pytest.raises(dn.InvalidReport):
        mechanism.estimate(dn.Tally(mechanism.fingerprint, 1, np.full(5, 2)))
    with pytest.raises(dn.OutsideDomain):
        mechanism.perturb([("yes",)])


def test_many_people_agree_with_the_prediction() -> None:
    """Mean over 60 collections within 6 standard errors for each of 5 shares: false alarm below 1e-7."""
    records = [SMALL.answer(person % 6) for person in range(1200)]
    for name in ("every", "one", "fake-random"):
        mechanism, coins = MADE[name], dn.SeededCoins(8)
        found = [mechanism.estimate(mechanism.tally(mechanism.perturb(records, coins))).values for _ in range(60)]
        predicted = mechanism.predict([0.5, 0.5, 1 / 3, 1 / 3, 1 / 3], 1200).standard_error
        error = np.abs(np.mean(found, axis=0) - [0.5, 0.5, 1 / 3, 1 / 3, 1 / 3])
        assert (error < 6 * predicted / math.sqrt(60)).all()
        assert (np.abs(np.std(found, axis=0) / predicted - 1) < 0.55).all()
