"""Every epsilon that is allowed can be planned for: from 1e-6 to 100, for few and many answers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.means.mean_mechanism import MeanMechanism

SCATTERED = np.random.default_rng(1).random((1000, 2))


def scale(size: int) -> dn.Interval:
    return dn.Interval(0, 100, steps=size - 1)


QUESTIONS: dict[str, Callable[[int, float], dn.Mechanism[Any, Any]]] = {
    "shares": lambda size, epsilon: dn.plan(dn.Categories(range(size)), epsilon),
    "sensitive": lambda size, epsilon: dn.plan(dn.Categories(range(size)), epsilon, sensitive=range(size // 2)),
    "mean": lambda size, epsilon: dn.plan(scale(size), epsilon, target="mean"),
    "release": lambda size, epsilon: dn.plan(scale(size), epsilon, target="release"),
    "key-value": lambda size, epsilon: dn.plan(dn.KeyValue(range(size), -1, 1, at_most=2), epsilon),
    "vectors": lambda size, epsilon: dn.plan(dn.Features(size, -1, 1), epsilon, target="mean"),
    "unit vectors": lambda size, epsilon: dn.plan(dn.UnitVectors(size), epsilon, target="mean"),
    "places": lambda size, epsilon: dn.plan(dn.Points(SCATTERED[:size]), epsilon),
    "combinations": lambda size, epsilon: dn.plan(
        dn.Product([dn.Categories(range(size)), dn.Categories(range(2))]), epsilon
    ),
    "texts": lambda size, epsilon: dn.plan_discovery(epsilon, at_most=min(size, 8)),
}
# What takes seconds to plan for a thousand answers
SLOWER: dict[str, Callable[[int, float], dn.Mechanism[Any, Any]]] = {
    "records": lambda size, epsilon: dn.plan(dn.Vectors([dn.Categories(range(size)), dn.Categories(range(3))]), epsilon),
    "tables": lambda size, epsilon: dn.plan_tables([dn.Categories(range(size))] * 3, epsilon, 10_000),
    "distribution": lambda size, epsilon: dn.plan(scale(size), epsilon, target="distribution"),
    "ordered": lambda size, epsilon: dn.plan(dn.Ordered(range(size)), epsilon, target="distribution"),
    "smooth": lambda size, epsilon: dn.plan(scale(size), epsilon, target="distribution", prior="smooth"),
    "spiky": lambda size, epsilon: dn.plan(scale(size), epsilon, target="distribution", prior="spiky"),
    "quantiles": lambda size, epsilon: dn.plan(scale(size), epsilon, target="quantiles"),
    "ranges": lambda size, epsilon: dn.plan(scale(size), epsilon, target="ranges"),
    "circle": lambda size, epsilon: dn.plan(dn.Ordered(range(size)), epsilon, target="distribution", circular=True),
    "direction": lambda size, epsilon: dn.plan(dn.Ordered(range(size + 1)), epsilon, target="mean", circular=True),
    "map": lambda size, epsilon: dn.plan(
        dn.Product([dn.Ordered(range(size)), dn.Ordered(range(4))]), epsilon, target="ranges"
    ),
    "map of places": lambda size, epsilon: dn.plan(
        dn.Points([(i % 4, i // 4) for i in range(4 * size)]), epsilon, target="ranges"
    ),
    "mean with a prior": lambda size, epsilon: dn.plan(scale(size), epsilon, target="mean", prior=np.full(size, 1 / size)),
    "release with a prior": lambda size, epsilon: dn.plan(
        scale(size), epsilon, target="release", prior=np.full(size, 1 / size)
    ),
    "windows": lambda size, epsilon: dn.plan_windows(dn.Categories(range(size)), epsilon, 4).mechanism,
    "repeated": lambda size, epsilon: dn.plan_repeated(
        dn.Categories(range(size)), max(2e-6, epsilon), max(1e-6, epsilon / 2)
    ),
}


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.01, 1.0, 10.0, 36.0, 60.0, 100.0])
@pytest.mark.parametrize("size", [2, 10])
@pytest.mark.parametrize("question", [*QUESTIONS, *SLOWER])
@pytest.mark.filterwarnings("error")
def test_a_plan_is_made(question: str, size: int, epsilon: float) -> None:
    mechanism = {**QUESTIONS, **SLOWER}[question](size, epsilon)
    assert 0 < mechanism.loss().epsilon() <= epsilon
    assert "Infinity" not in mechanism.explain()


@pytest.mark.parametrize("epsilon", [1e-6, 100.0])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_plan_is_made_for_many_answers(question: str, epsilon: float) -> None:
    assert 0 < QUESTIONS[question](1000, epsilon).loss().epsilon() <= epsilon


@pytest.mark.parametrize("bits", [0, 513, 8000])
def test_strings_of_too_many_bits_are_refused(bits: int) -> None:
    with pytest.raises(dn.InvalidParameter, match="1 to 512 bits"):
        dn.plan_discovery(1.0, bits=bits)


@pytest.mark.parametrize("epsilon", [1e-6, 100.0])
def test_windows_are_compared_with_a_budget_that_would_be_too_small_for_a_report(epsilon: float) -> None:
    plan = dn.plan_windows(dn.Categories(range(4)), epsilon, span=8)
    assert plan.divided > plan.error > 0 and "Infinity" not in plan.explain()
    if epsilon < 1:
        assert plan.gain == pytest.approx(8, rel=0.02)  # with an eighth of everything the variance is 64 times as large


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("steps", [1, 2, 17])
@pytest.mark.parametrize("family", [dn.Piecewise, dn.Piecewise.original, dn.Hybrid])
def test_second_moments_in_closed_form_are_the_sums(
    family: Callable[[dn.Interval, float], MeanMechanism], steps: int, epsilon: float
) -> None:
    mechanism = family(dn.Interval(0, 1, steps=steps), epsilon)
    summed = [float(mechanism.chances(index) @ mechanism._centred**2) for index in range(steps + 1)]
    assert np.allclose(mechanism.second_moments, summed, rtol=1e-11, atol=0)
