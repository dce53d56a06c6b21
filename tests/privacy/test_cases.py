"""The rule of cases on random laws of questions with non-sensitive answers: no bound is below the exact loss."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from deniable.privacy import cases
from tests.law_fuzz import accepted
from tests.law_reference import TooMany
from tests.privacy import open_laws
from tests.privacy.changed_laws import Asked, exact_open

Made = Callable[[random.Random], Asked]


def is_proved(asked: Asked) -> bool:
    """Whether the rule of cases gives a bound that can be compared; and then it is not below the exact loss."""
    assert asked.opens is not None
    found = cases.open_bound(asked.program, *asked.opens, asked.sensitive)
    if found is None or found.odds is None:
        return False
    try:
        loss = exact_open(asked.program, *asked.opens, asked.sensitive)
    except TooMany:
        return False
    assert loss is not None and loss <= found.odds, json.dumps(asked.law)
    return True


@pytest.mark.parametrize("made", [open_laws.number_law, open_laws.row_law])
@pytest.mark.parametrize("most", [4, 16, 1 << 21])
def test_no_bound_is_below_the_exact_loss(made: Made, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few worlds may be followed at first, so that the other ways of the rule come before enumeration."""
    monkeypatch.setattr(cases, "LIMITS", (0, most))
    rng = random.Random(most)
    made_of = (made(rng) for _ in range(150))
    assert sum(is_proved(asked) for asked in made_of if accepted(asked.law) is not None) > 10


def disclosing(nodes: list[list[Any]], seen: int) -> Asked:
    """A law that reports this node of those given, and with one chance in two the answer, from 3 on."""
    at = len(nodes)
    more: list[list[Any]] = [["toss", [], "1/2"], ["and", [1, at]], ["const", [], 1], ["add", [0, at + 2]], ["const", [], 0]]
    nodes = [*nodes, *more, ["where", [at + 1, at + 3, at + 4]]]
    return Asked({"nodes": nodes, "report": [["disclosed", at + 5], ["seen", seen]]}, ("disclosed", 1), frozenset(range(3)))


ANSWERS: list[list[Any]] = [["code", [], "x", 0, 6], ["table", [0], [0, 0, 0, 1, 1, 1, 1]]]
BY_A_DRAW = disclosing(  # with one chance in seven the answer as it is: the table that decides says what the draw was
    [
        *ANSWERS,
        ["below", [], 7],
        ["table", [2], [1, 0, 0, 0, 0, 0, 0]],
        ["add", [0, 2]],
        ["mod", [4], 7],
        ["below", [], 7],
        ["where", [3, 5, 6]],
    ],
    7,
)
BY_A_TOSS = disclosing(  # each cell alone has one chance in two, but a toss decides about all of a row
    [
        *ANSWERS,
        ["toss", [], "1/2"],
        ["flags", [], "9/10", 4],
        ["flags", [], "1/10", 4],
        ["where", [2, 3, 4]],
        ["flags", [], "1/2", 4],
        ["where", [1, 5, 6]],
    ],
    7,
)


@pytest.mark.parametrize("asked", [BY_A_DRAW, BY_A_TOSS])
def test_a_draw_that_decides_about_the_rest_is_not_taken_for_the_answer(asked: Asked) -> None:
    """The rule once gave both a bound of 2."""
    assert asked.opens is not None
    loss = exact_open(asked.program, *asked.opens, asked.sensitive)
    assert loss is not None and loss > 4
    is_proved(asked)
