"""The one step from a float to a probability, and back."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable.core.odds import log_up, odds_below, rounded_down, rounded_up, simplest_between

epsilons = st.one_of(st.floats(1e-6, 30), st.floats(-13.8, 3.4).map(lambda e: min(30.0, max(1e-6, math.exp(e)))))


@given(epsilons)
def test_odds_never_exceed_the_budget_and_hardly_miss_it(epsilon: float) -> None:
    odds = odds_below(epsilon)
    with localcontext() as context:
        context.prec = 120
        true = Decimal(epsilon).exp()  # a float is an exact decimal
        assert Decimal(odds.numerator) / Decimal(odds.denominator) <= true
    certified = log_up(odds)
    assert epsilon - 1e-9 <= certified <= epsilon
    assert certified >= epsilon * (1 - 1e-14)


@given(epsilons, st.integers(2, 2000))
def test_certified_epsilon_of_every_mechanism_keeps_the_budget(epsilon: float, size: int) -> None:
    domain = dn.Categories(range(size))
    mechanisms = [dn.DirectResponse(domain, epsilon), dn.Unary(domain, epsilon), dn.SubsetSelection(domain, epsilon)]
    mechanisms.append(dn.Unary.symmetric(domain, epsilon) if epsilon >= 2e-6 else dn.Unary(domain, epsilon))
    for mechanism in mechanisms:
        assert epsilon - 1e-9 <= mechanism.loss().epsilon() <= epsilon


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**12))
def test_logarithm_is_rounded_up(odds: Fraction) -> None:
    with localcontext() as context:
        context.prec = 100
        exact = (Decimal(odds.numerator) / Decimal(odds.denominator)).ln()
        assert Decimal(log_up(odds)) >= exact
        assert Decimal(math.nextafter(log_up(odds), -math.inf)) < exact + Decimal(10) ** -40


@given(st.fractions())
def test_rounding_names_its_direction(number: Fraction) -> None:
    up, down = rounded_up(number), rounded_down(number)
    assert Fraction(down) <= number <= Fraction(up)
    assert up in (down, math.nextafter(down, math.inf))


@given(st.fractions(min_value=Fraction(1, 1000), max_value=1000), st.fractions(min_value=0, max_value=1))
def test_simplest_fraction_lies_between_and_no_simpler_one_does(low: Fraction, width: Fraction) -> None:
    found = simplest_between(low, low + width)
    assert low <= found <= low + width
    for denominator in range(1, min(found.denominator, 50)):
        assert math.ceil(low * denominator) > (low + width) * denominator


def test_losses_compose_by_multiplying_odds() -> None:
    half, more = dn.PrivacyLoss(Fraction(3, 2), "proved"), dn.PrivacyLoss(Fraction(5), "theorem")
    both = half + more
    assert (both.odds, both.proof, both.unit) == (Fraction(15, 2), "theorem", "2 answers together")
    assert both.epsilon() >= math.log(7.5)
    nothing = both + dn.PrivacyLoss(None, "theorem")
    assert nothing.odds is None
    assert nothing.epsilon() == math.inf
    assert "no promise" in str(nothing)
    assert "one answer" in str(half)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, -math.inf, 1e-9, 101, 1e300, "1", None, True, 1j])
def test_senseless_epsilons_are_refused(epsilon: float) -> None:
    domain = dn.Categories(["yes", "no"])
    for make in (dn.DirectResponse, dn.Unary, dn.Unary.symmetric, dn.SubsetSelection):
        with pytest.raises(dn.InvalidParameter, match="Epsilon must be"):
            make(domain, epsilon)
