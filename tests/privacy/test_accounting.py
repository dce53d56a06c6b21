"""Composition beside another implementation: dp-accounting, whose bounds accounting.json holds."""

import json
import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable.privacy.loss_law import LossLaw
from deniable.privacy.profile import LossLattice, Steps
from tests.privacy.accounting import CASES, epsilons, laws

FOUND: list[dict[str, Any]] = json.loads(Path(__file__).with_name("accounting.json").read_text(encoding="utf-8"))
ROUNDING = 1e-7  # of its Fourier transforms, beside its own bounds


def test_all_cases_were_asked() -> None:
    assert [tuple(each["case"]) for each in FOUND] == CASES


@pytest.mark.parametrize("found", FOUND, ids=lambda found: "-".join(map(str, found["case"])))
def test_compositions_lie_within_the_bounds_of_dp_accounting(found: dict[str, Any]) -> None:
    """Exactly, in fractions; and by transforms, from above and from below, at most three percent beside them.

    What is above holds for both orders of the two answers. Of a shuffle one order is worse: there it need only be above.
    """
    kind, odds, size, times = found["case"]
    first, second = laws(kind, Fraction(odds), size)
    law, back = _losses(first, second), _losses(second, first)
    asked = epsilons(kind, Fraction(odds), size, times)
    assert asked == pytest.approx(found["epsilons"])
    largest = math.log(max(*law.masses, *back.masses))

    def worse(epsilon: float) -> float:
        return max(float(each.delta(Fraction(math.exp(epsilon)))) for each in (law, back)) * (1 + 1e-12)

    above = LossLattice.above(worse, largest / 40, 1, 0.0)
    pairs = sorted(zip(first, second, strict=True), key=lambda pair: pair[0] / pair[1], reverse=True)
    tests = [(float(sum(a for a, _ in pairs[:n])), float(sum(b for _, b in pairs[:n]))) for n in range(len(pairs) + 1)]
    below = LossLattice.below(tests, largest / 20_000)
    composed = law**times if kind == "response" or times == 1 else None
    for epsilon, least, most in zip(asked, found["least"], found["most"], strict=True):
        low, high = least * (1 - ROUNDING) - 1e-12, most * (1 + ROUNDING) + 1e-12
        if composed is not None:
            assert low <= float(composed.delta(Fraction(math.exp(epsilon)))) <= high
        up, down = Steps([(above, times)]).delta(epsilon, up=True), Steps([(below, times)]).delta(epsilon, up=False)
        assert down <= high and up >= low
        assert down >= 0.97 * least - 1e-6
        assert up <= 1.03 * most + 1e-6 or kind == "shuffle"


def _losses(first: list[Fraction], second: list[Fraction]) -> LossLaw:
    masses: dict[Fraction, Fraction] = defaultdict(Fraction)
    for a, b in zip(first, second, strict=True):
        masses[a / b] += a
    return LossLaw(dict(masses))
