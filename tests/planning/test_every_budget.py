"""Every epsilon that is allowed can be planned for: from 1e-6 to 100, for few and many answers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.means.mean_mechanism import MeanMechanism

QUESTIONS: dict[str, Callable[[int, float], dn.Mechanism[Any, Any]]] = {
    "shares": lambda size, epsilon: dn.plan(dn.Categories(range(size)), epsilon),
    "sensitive": lambda size, epsilon: dn.plan(dn.Categories(range(size)), epsilon, sensitive=range(size // 2)),
    "mean": lambda size, epsilon: dn.plan(dn.Interval(0, 100, steps=size - 1), epsilon, target="mean"),
    "release": lambda size, epsilon: dn.plan(dn.Interval(0, 100, steps=size - 1), epsilon, target="release"),
    "key-value": lambda size, epsilon: dn.plan(dn.KeyValue(range(size), -1, 1, at_most=2), epsilon),
    "vectors": lambda size, epsilon: dn.plan(dn.Features(size, -1, 1), epsilon, target="mean"),
}


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.01, 1.0, 10.0, 36.0, 60.0, 100.0])
@pytest.mark.parametrize("size", [2, 10])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_plan_is_made(question: str, size: int, epsilon: float) -> None:
    mechanism = QUESTIONS[question](size, epsilon)
    assert 0 < mechanism.loss().epsilon() <= epsilon
    assert "Infinity" not in mechanism.explain()


@pytest.mark.parametrize("epsilon", [1e-6, 100.0])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_plan_is_made_for_many_answers(question: str, epsilon: float) -> None:
    assert 0 < QUESTIONS[question](1000, epsilon).loss().epsilon() <= epsilon


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("steps", [1, 2, 17])
@pytest.mark.parametrize("family", [dn.Piecewise, dn.Piecewise.original, dn.Hybrid])
def test_second_moments_in_closed_form_are_the_sums(
    family: Callable[[dn.Interval, float], MeanMechanism], steps: int, epsilon: float
) -> None:
    mechanism = family(dn.Interval(0, 1, steps=steps), epsilon)
    summed = [float(mechanism.chances(index) @ mechanism._centred**2) for index in range(steps + 1)]
    assert np.allclose(mechanism.second_moments, summed, rtol=1e-11, atol=0)
