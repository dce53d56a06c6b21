"""The rule of cases on random laws of questions with non-sensitive answers: no bound is below the exact loss."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from deniable.core import Program
from deniable.privacy import cases
from tests.law_fuzz import accepted
from tests.privacy import open_laws

Made = Callable[[random.Random], tuple[dict[str, Any], frozenset[int]]]


def program(law: dict[str, Any]) -> Program:
    return Program.from_json(json.dumps(law))


@pytest.mark.parametrize("made", [open_laws.number_law, open_laws.row_law])
@pytest.mark.parametrize("most", [4, 16, 1 << 21])
def test_no_bound_is_below_the_exact_loss(made: Made, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few worlds may be followed at first, so that the other ways of the rule come before enumeration."""
    monkeypatch.setattr(cases, "LIMITS", (0, most))
    rng, proved = random.Random(most), 0
    for _ in range(150):
        law, sensitive = made(rng)
        if accepted(law) is None:
            continue
        found = cases.open_bound(program(law), "disclosed", 1, sensitive)
        if found is not None and found.odds is not None:
            loss = open_laws.exact(law, sensitive)
            assert loss is not None and loss <= found.odds, json.dumps(law)
            proved += 1
    assert proved > 10


def disclosing(nodes: list[list[Any]], seen: int) -> dict[str, Any]:
    """A law that reports this node of those given, and, of every second answer from 3 on, the answer."""
    at = len(nodes)
    more: list[list[Any]] = [["toss", [], "1/2"], ["and", [1, at]], ["const", [], 1], ["add", [0, at + 2]], ["const", [], 0]]
    nodes = [*nodes, *more, ["where", [at + 1, at + 3, at + 4]]]
    return {"nodes": nodes, "report": [["disclosed", at + 5], ["seen", seen]]}


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


@pytest.mark.parametrize("law", [BY_A_DRAW, BY_A_TOSS])
def test_a_draw_that_decides_about_the_rest_is_not_taken_for_the_answer(law: dict[str, Any]) -> None:
    sensitive = frozenset(range(3))
    found, loss = cases.open_bound(program(law), "disclosed", 1, sensitive), open_laws.exact(law, sensitive)
    assert loss is not None and loss > 4
    assert found is None or (found.odds is not None and found.odds >= loss)
