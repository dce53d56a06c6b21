"""Noise that is added to an answer: its loss is known however many values it has, and is that of the law."""

import itertools
import json
from fractions import Fraction
from typing import Any

import pytest

import deniable as dn
from deniable.core.program import Program
from deniable.planning.records import record_options
from deniable.privacy import rules
from deniable.privacy import shift as shift_module
from deniable.privacy.bounds import Effort
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from tests.privacy.test_random_laws import exact


def added(values: int, noise: list[Any]) -> Program:
    """An answer and noise, modulo the number of values."""
    nodes = [["code", [], "x", 0, values - 1], noise, ["add", [0, 1]], ["mod", [2], values]]
    return Program.from_json(json.dumps({"nodes": nodes, "report": [["y", 3]]}))


def split(heads: str, first: int, second: int) -> list[Any]:
    return ["split", [], heads, first, second]


@pytest.mark.parametrize("values", [1 << 22, 1 << 40])
def test_noise_of_very_many_values_is_proved(values: int) -> None:
    for first, heads in itertools.product((1, 7, values - 1), ("3/4", "1/1000")):
        p = Fraction(heads)
        odds = p / first / ((1 - p) / (values - first))
        found = proved(Problem.of(added(values, split(heads, first, values - first))))
        assert found is not None and found.odds == max(odds, 1 / odds) and found.rules == ("shift",)
    even = proved(Problem.of(added(values, ["below", [], values])))
    assert even is not None and even.odds == 1
    for heads, first, other in (("1/1", 1, values - 1), ("0/1", 1, values - 1), ("1/2", 1, values - 2)):
        never = proved(Problem.of(added(values, split(heads, first, other))))  # numbers that this noise does not have
        assert never is None or never.odds is None


def test_what_is_known_without_following_every_value_is_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "LIMITS", (0,))
    monkeypatch.setattr(shift_module, "LIMITS", (0,))
    for first, second, heads in itertools.product((1, 2, 3), (1, 2, 4), ("1/2", "1/3", "9/10", "1/100")):
        program = added(first + second, split(heads, first, second))
        found = rules.bound(Problem.of(program), Effort(0))
        assert found is not None and found.odds == exact(program)


@pytest.mark.parametrize("sizes", [(50,) * 4, (3,) * 14, (2000, 2000)], ids=str)
def test_planned_records_of_very_many_combinations_are_proved(sizes: tuple[int, ...]) -> None:
    best = record_options(dn.Vectors([dn.Categories(range(size)) for size in sizes]), 20.0, 10**6).best.mechanism
    assert isinstance(best, dn.WholeRecord) and best.domain.size > 1 << 21
    found = dn.certify(best)
    assert found.holds and found.loss.odds == best.loss().odds
