"""The planner: nearly optimal everywhere, honest about its alternatives, and as small as the bits allow."""

import math

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.registry import candidates
from deniable.planning import options

SIZES = [2, 3, 5, 8, 16, 32, 57, 100, 256, 777, 1024, 4096]
EPSILONS = [0.1, 0.35, 0.7, 1.0, 1.5, 2.5, 3.2, 4.0, 6.0, 8.0]


@pytest.mark.parametrize("size", SIZES)
def test_plan_is_within_two_percent_of_the_optimum(size: int) -> None:
    """Subset selection with the best size is optimal; no mechanism beats it and the planned one hardly misses it."""
    domain = dn.Categories(range(size))
    uniform = [1 / size] * size
    for epsilon in EPSILONS:
        optimum = (dn.SubsetSelection(domain, epsilon).predict(uniform, 100).standard_error ** 2).sum()
        for option in options(domain, epsilon, 100):
            error = (option.mechanism.predict(uniform, 100).standard_error ** 2).sum()
            assert error >= optimum * (1 - 1e-12)
            assert option.error == pytest.approx(math.sqrt(error / size), rel=1e-9)
        planned = dn.plan(domain, epsilon, 100).predict(uniform, 100)
        assert (planned.standard_error**2).sum() <= 1.02 * optimum


def test_options_are_ranked_and_complete() -> None:
    ranked = options(dn.Categories(range(100)), 1.0, 1000)
    assert {option.name for option in ranked} == set(candidates())
    assert [option.error for option in ranked] == sorted(option.error for option in ranked)
    assert all(option.bits == option.mechanism.layout.bits for option in ranked)
    assert all(option.mechanism.loss().epsilon() <= 1.0 for option in ranked)


def test_few_bits_are_respected_or_refused() -> None:
    domain = dn.Categories(range(1000))
    for bits in (10, 11, 20, 1000):
        assert dn.plan(domain, 1.0, 1000, max_bits=bits).layout.bits <= bits
    assert dn.plan(domain, 1.0, 1000, max_bits=10).wire == "hadamard-1"
    with pytest.raises(dn.InvalidParameter, match="the smallest needs 10"):
        dn.plan(domain, 1.0, 1000, max_bits=9)
    with pytest.raises(dn.InvalidParameter, match="a whole number of bits"):
        dn.plan(domain, 1.0, 1000, max_bits="10")  # type: ignore[call-overload]


def test_explanation_shows_the_alternatives() -> None:
    mechanism = dn.plan(dn.Categories(range(1000)), 1.0, 50_000, max_bits=64)
    text = mechanism.explain()
    assert "1,000 values, epsilon 1 for one answer, 50,000 people, at most 64 bits" in text
    assert all(name in text for name in candidates())
    (marked,) = [line for line in text.splitlines() if line.startswith("*")]
    assert marked.split()[1] == "design"
    assert "chosen by hand" in dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0).explain()


def test_planned_mechanisms_are_the_same_as_those_made_by_hand() -> None:
    domain = dn.Categories(["yes", "no"])
    assert dn.plan(domain, 1.0, 10) == dn.DirectResponse(domain, 1.0)


def test_required_number_gives_the_error_asked_for() -> None:
    for size, epsilon in ((2, 1.0), (20, 0.5), (300, 2.0)):
        domain = dn.Categories(range(size))
        n = dn.required_n(domain, epsilon, 0.02)
        mechanism = dn.plan(domain, epsilon, n, error=0.02)
        worst = []
        for people in (n - 1, n):
            truth = np.zeros(size)
            truth[0] = 1.0  # the first share is one and the others are zero: the two extremes
            low, high = mechanism.predict(truth, people).interval(0.95)
            worst.append(float((high - low).max() / 2))
        assert worst[1] <= 0.02 < worst[0]


def test_senseless_questions_are_refused() -> None:
    domain = dn.Categories(["yes", "no"])
    for n in (0, -5):
        with pytest.raises(dn.InvalidParameter):
            dn.plan(domain, 1.0, n)
    for error in (0, 1, -0.1, math.nan):
        with pytest.raises(dn.InvalidParameter):
            dn.required_n(domain, 1.0, error)
    for epsilon in (0, math.nan):
        with pytest.raises(dn.InvalidParameter):
            dn.plan(domain, epsilon, 10)


def test_huge_questions_leave_out_what_cannot_do_them() -> None:
    names = {option.name for option in options(dn.Categories(range(1 << 25)), 1.0, 100)}
    assert names == {"direct", "wheel", "hashing, binary", "hashing, optimized", "hadamard"}


def test_no_guess_is_better_than_the_budget_allows() -> None:
    """Whatever the mechanism, the best guess is right at most odds / (odds + d - 1) of the time."""
    for size in (2, 3, 4, 7, 16, 50):
        for option in options(dn.Categories(range(size)), 1.0, 100):
            assert 1 / size <= (option.costs["guess"] or 0) <= math.e / (math.e + size - 1) + 1e-12


def test_a_million_values_need_no_dense_report() -> None:
    domain = dn.Categories(range(1_000_003))
    mechanism = dn.plan(domain, 2.0, 100_000)
    assert mechanism.layout.bits < 64
    reports = mechanism.perturb(np.arange(2000) % 7, dn.SeededCoins(1))
    estimate = mechanism.estimate(mechanism.tally(reports))
    assert len(estimate.values) == domain.size
