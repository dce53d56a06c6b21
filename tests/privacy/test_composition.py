"""Composition: exact laws of the loss, the optimal bound, the known bounds, and that none promises too much."""

import itertools
import math
from fractions import Fraction

import pytest

import deniable as dn
from deniable.privacy.composition import advanced_epsilon, between, concentrated_epsilon
from tests.examples import ALL as EXAMPLES
from tests.examples import FIVE, THREE, TWO

SKEW = dn.FiniteChannel(THREE, 2.0, [[6, 1, 2], [1, 6, 2], [2, 2, 5]])


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_closed_form_is_that_of_the_code(name: str) -> None:
    mechanism = EXAMPLES[name]
    laws = [dn.law(mechanism, index) for index in range(min(3, mechanism.domain.size))]
    closed = {odds: mass for odds, mass in dn.loss_law(mechanism).masses.items() if mass}
    for one, other in itertools.permutations(laws, 2):
        assert between(one, other).masses == closed


def pairs(mechanism: dn.Mechanism) -> list[dn.LossLaw]:
    laws = [dn.law(mechanism, index) for index in range(mechanism.domain.size)]
    return [between(one, other) for one, other in itertools.permutations(laws, 2)]


def test_a_law_above_all_pairs_is_as_low_as_can_be_where_they_bend() -> None:
    found, every = dn.loss_law(SKEW), pairs(SKEW)
    for odds in {odds for law in every for odds in law.masses} | {Fraction(k, 7) for k in range(30)}:
        highest = max(law.delta(odds) for law in every)
        assert found.delta(odds) >= highest
        if any(odds in law.masses for law in every):
            assert found.delta(odds) == highest
    assert found.odds_at(0) == SKEW.loss().odds
    assert sum(found.masses.values()) == 1


def test_steps_all_at_once_are_the_product_of_single_ones() -> None:
    for law in (dn.loss_law(EXAMPLES["subset"]), dn.LossLaw.worst(Fraction(5, 2))):
        assert law**5 == law * law * law * law * law


def test_two_reports_have_the_product_of_their_laws() -> None:
    """Delta against its definition: summed over all pairs of reports of two different mechanisms."""
    first, second = dn.DirectResponse(THREE, 1.0), SKEW
    whole = dn.loss_law(first) * pairs(second)[0]
    a, b = (dict(dn.law(first, index).items()) for index in (0, 1))
    c, d = (dict(dn.law(second, index).items()) for index in (0, 1))
    for odds in (Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4), Fraction(40)):
        exact = sum(max(Fraction(0), a[x] * c[y] - odds * b[x] * d[y]) for x in a for y in c)
        assert whole.delta(odds) == exact


@pytest.mark.parametrize("times", range(1, 8))
def test_the_optimal_composition_is_that_of_its_paper(times: int) -> None:
    """Kairouz, Oh, Viswanath 2015, Theorem 3.3: delta at epsilon (k - 2 i), in odds."""
    odds = Fraction(7, 3)
    law = dn.LossLaw.worst(odds) ** times
    for i in range(times // 2 + 1):
        terms = (math.comb(times, turn) * (odds ** (times - turn) - odds ** (times - 2 * i + turn)) for turn in range(i))
        assert law.delta(odds ** (times - 2 * i)) == sum(terms, Fraction(0)) / (1 + odds) ** times


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 3)])
def test_the_epsilon_for_a_delta_is_the_smallest(delta: Fraction) -> None:
    for law in (dn.LossLaw.worst(Fraction(3)) ** 9, dn.loss_law(SKEW) ** 2, dn.loss_law(EXAMPLES["subset"]) ** 5):
        odds = law.odds_at(delta)
        assert odds is not None and law.delta(odds) <= delta
        if odds > 1:
            assert law.delta(odds * Fraction(999_999, 1_000_000)) > delta
        assert law.epsilon(delta) == pytest.approx(math.log(odds), abs=1e-12)


def test_exact_is_below_optimal_and_both_below_the_sum() -> None:
    for mechanism, times in ((EXAMPLES["direct"], 12), (EXAMPLES["subset-nine"], 12), (SKEW, 2)):
        found = dn.compose([mechanism], 1e-6, times)
        assert found.exact is not None
        assert found.exact <= found.optimal <= found.pure.epsilon() == pytest.approx(times * mechanism.loss().epsilon())
        assert found.epsilon == found.exact
        assert found.pure.answers == times
    many = dn.compose([dn.DirectResponse(TWO, 0.1)], 1e-6, 100)
    assert many.concentrated is not None
    assert many.optimal < min(many.concentrated, many.advanced) < many.pure.epsilon()


def test_different_questions_and_losses_alone_compose() -> None:
    parts = [dn.DirectResponse(TWO, 0.5), dn.Unary(FIVE, 0.7), SKEW]
    found, odds = dn.compose(parts, 1e-3), [part.loss().odds for part in parts]
    assert found.pure.odds == math.prod(each for each in odds if each is not None)
    losses = dn.compose([part.loss() for part in parts], 1e-3)
    assert losses.exact is None and losses.optimal == found.optimal and losses.epsilon >= found.epsilon
    assert "3 answers of one person, delta 0.001" in str(found) and "exact laws" in str(found)
    assert "exact laws" not in str(losses)
    pure = dn.compose(parts)
    assert pure.epsilon == pure.pure.epsilon() == pure.exact == pure.optimal


def test_what_promises_nothing_composes_to_nothing() -> None:
    found = dn.compose([dn.PrivacyLoss(None), dn.DirectResponse(TWO, 1.0)], 1e-6)
    assert found.epsilon == math.inf and found.pure.odds is None
    law = dn.LossLaw({Fraction(2): Fraction(1, 2)}, Fraction(1, 2))
    assert law.odds_at(Fraction(1, 4)) is None and law.epsilon(Fraction(1, 4)) == math.inf
    assert (law * law).unbounded == Fraction(3, 4)
    with pytest.raises(dn.InvalidParameter):
        law.renyi(2)


@pytest.mark.parametrize("order", [2, 3, 7])
def test_divergences_are_rounded_up_and_tight(order: int) -> None:
    law = dn.loss_law(EXAMPLES["subset"])
    exact = sum((mass * odds ** (order - 1) for odds, mass in law.masses.items()), Fraction(0))
    found = law.renyi(order)
    assert float(found) == pytest.approx(math.log(exact) / (order - 1), rel=1e-14)
    above = dn.PrivacyLoss(exact).epsilon()  # rounded up to a float
    assert found * (order - 1) <= Fraction(above) * (1 + Fraction(1, 10**15))
    assert (law**4).renyi(order) == pytest.approx(4 * found, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_concentrated_loss_is_an_upper_bound_and_tight(epsilon: float) -> None:
    for law in (dn.LossLaw.worst(dn.odds_below(epsilon)), dn.loss_law(dn.DirectResponse(FIVE, epsilon))):
        rho = float(law.concentrated())
        looked = max(float(law.renyi(Fraction(step, 50))) / (step / 50) for step in range(51, 400, 6))
        assert looked <= rho <= 1.02 * looked and rho <= epsilon**2 / 2 * (1 + 1e-12)
    assert float(dn.loss_law(dn.DirectResponse(FIVE, epsilon)).concentrated()) < 0.9 * epsilon**2 / 2


def test_many_different_odds_are_raised_never_lowered() -> None:
    law = dn.loss_law(SKEW) ** 3
    fewer = law._within(6)
    assert len(fewer.masses) <= 6 < len(law.masses) and fewer.raised and not law.raised
    for odds in law.masses:
        assert fewer.delta(odds) >= law.delta(odds)
    assert sum(fewer.masses.values()) == sum(law.masses.values())


def test_the_same_answer_told_twice_may_cost_less_than_the_product() -> None:
    near = dn.FiniteChannel(THREE, 3.0, [[8, 1, 1], [1, 8, 1], [1, 1, 8]])
    left = dn.FiniteChannel(THREE, 2.0, [[4, 1, 1], [1, 4, 1], [2, 2, 2]])
    both = dn.same_answer([left, near])
    assert both.odds == 32 and both.unit == "one answer given 2 times"
    edge = dn.FiniteChannel(THREE, 2.0, [[1, 1, 4], [2, 2, 2], [1, 4, 1]])
    product = (left.loss() + edge.loss()).odds
    assert dn.same_answer([left, edge]).odds < product  # type: ignore[operator]
    with pytest.raises(dn.InvalidParameter):
        dn.same_answer([near, dn.DirectResponse(TWO, 1.0)])


def test_known_bounds_are_rounded_up() -> None:
    odds, delta = dn.odds_below(0.1), Fraction(1, 10**6)
    mean = 50 * 0.1 * (math.exp(0.1) - 1) / (math.exp(0.1) + 1)
    plain = math.sqrt(2 * 50 * 0.01 * math.log(10**6)) + mean
    assert plain * (1 - 1e-13) <= advanced_epsilon([odds], 50, delta) <= plain * (1 + 1e-12)
    rho = Fraction(1, 4)
    assert concentrated_epsilon(rho, delta) == pytest.approx(0.25 + 2 * math.sqrt(0.25 * math.log(10**6)), rel=1e-14)


def test_nonsense_is_refused() -> None:
    mechanism = dn.DirectResponse(TWO, 1.0)
    for parts, delta, times in (([], 0, 1), ([mechanism], 1, 1), ([mechanism], -0.1, 1), ([mechanism], 0, 0)):
        with pytest.raises(dn.InvalidParameter):
            dn.compose(parts, delta, times)
    with pytest.raises(dn.InvalidParameter):
        dn.LossLaw.worst(Fraction(1, 2))
    with pytest.raises(dn.InvalidParameter):
        dn.LossLaw.worst(Fraction(2)).renyi(1)
    with pytest.raises(dn.InvalidParameter):
        dn.LossLaw.worst(Fraction(2)) ** -1
    with pytest.raises(dn.InvalidParameter):
        concentrated_epsilon(Fraction(1), Fraction(0))
    with pytest.raises(dn.NotCertifiable):
        dn.loss_law(dn.Duchi(dn.Interval(0, 1, steps=10_000), 1.0))
    assert dn.LossLaw.worst(Fraction(1)).odds_at(0) == 1
