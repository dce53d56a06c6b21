"""Proofs of questions with non-sensitive answers, and of laws with a little changed, against their exact loss."""

import json
import math
import random
from typing import Any

import numpy as np
import pytest

from deniable.core.operations import DRAWS
from deniable.core.program import Program
from deniable.errors import InvalidLaw
from deniable.privacy import cases, rules
from deniable.privacy.bounds import Effort
from deniable.privacy.cases import open_bound
from deniable.privacy.problem import Problem
from deniable.privacy.rules import bound, proved
from tests.families import INSTANCES
from tests.law_reference import TooMany
from tests.privacy.changed_laws import Asked, changed, exact_open, opened
from tests.privacy.test_random_laws import exact

FEW = 1 << 12  # worlds of a law that is compared
HALVES: list[Any] = ["table", [0], [0] * 5 + [1] * 5]  # the first five answers are sensitive
TEN: list[Any] = ["code", [], "x", 0, 9]
LEAKS: dict[str, tuple[list[list[Any]], tuple[int, ...], int]] = {
    "cells that are turned over together, in place of ones that are drawn one by one": (
        [
            *(TEN, HALVES, ["flags", [], "1/2", 30], ["flags", [], "9/10", 30], ["toss", [], "1/2"], ["turn", [3, 4]]),
            *(["where", [1, 5, 2]], ["toss", [], "1/2"], ["and", [1, 7]], ["const", [], 10], ["add", [0, 9]]),
            *(["const", [], 0], ["where", [8, 10, 11]]),
        ],
        (12, 6),
        10,
    ),
    "an answer is disclosed where a bit of the row that is shown is set": (
        [
            *(TEN, HALVES, ["flags", [], "1/2", 10], ["toss", [], "1/2"], ["below", [], 10], ["put", [2, 4, 3]]),
            *(["ones", [5]], ["const", [], 0], ["eq", [6, 7]], ["toss", [], "1/2"], ["and", [8, 9]], ["or", [10, 3]]),
            *(["and", [11, 1]], ["const", [], 10], ["add", [0, 13]], ["where", [12, 14, 7]], ["flags", [], "1/2", 10]),
            ["where", [1, 5, 16]],
        ],
        (15, 17),
        10,
    ),
    "a table with a third kind of answers": (
        [
            *(["code", [], "x", 0, 2], ["table", [0], [-1, 0, 1]], ["toss", [], "1/2"], ["const", [], 0], ["max", [1, 3]]),
            *(["and", [4, 2]], ["const", [], 10], ["add", [0, 6]], ["where", [5, 7, 3]], ["min", [1, 3]], ["abs", [9]]),
        ],
        (8, 10),
        10,
    ),
    "a field below 0": (
        [
            *(["code", [], "x", 0, 2], ["table", [0], [0, 0, 1]], ["toss", [], "1/2"], ["and", [1, 2]], ["const", [], 1]),
            *(["table", [0], [-2, -1, 0]], ["add", [0, 4]], ["where", [3, 6, 5]], ["toss", [], "1/2"]),
        ],
        (7, 8),
        1,
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_beside_open_answers_is_not_bounded(name: str) -> None:
    """Of two answers that are not disclosed, one has reports that the other never has, or that are far less likely."""
    nodes, (shown, other), start = LEAKS[name]
    program = Program.from_json(json.dumps({"nodes": nodes, "report": [["open", shown], ["y", other]]}))
    assert open_bound(program, "open", start, frozenset(range(nodes[0][4] // 2 + 1))) is None


def test_a_number_of_a_table_is_not_the_number_that_is_taken() -> None:
    """A code for all entries of a table may have the same values as a sample, and yet it is not drawn."""
    table = [number % 4 for number in range(5000)]
    nodes = [
        *(
            ["code", [], "z", 0, 4999],
            ["table", [0], table],
            ["code", [], "x", 0, 3, 2, 1],
            ["below", [], 2],
            ["at", [2, 3]],
        ),
        *(["const", [], 3], ["add", [1, 5]], ["div", [6], 4], ["toss", [], "9/10"], ["toss", [], "1/2"]),
        *(["where", [7, 9, 8]], ["flags", [], "1/2", 24], ["put", [11, 4, 10]]),
    ]
    found = proved(Problem.of(Program.from_json(json.dumps({"nodes": nodes, "report": [["y", 12]]}))))
    assert found is not None and found.odds == 9


def is_small(program: Program) -> bool:
    """Whether all codes and all outcomes can be followed one by one."""
    kinds = [(node.op, kind) for node, kind in zip(program.nodes, program.types, strict=True)]
    answers = math.prod(kind.size ** (kind.width or 1) for op, kind in kinds if op == "code")
    draws = math.prod(kind.size ** (kind.width or 1) for op, kind in kinds if op in DRAWS)
    return answers * draws <= FEW


def compared(asked: Asked) -> bool:
    """Whether a law is bounded; and then its exact loss is no larger."""
    program = asked.program
    try:
        if not is_small(program):
            return False
        if asked.opens is not None:
            found = open_bound(program, *asked.opens, asked.sensitive)
        else:
            found = bound(Problem.of(program), Effort(1 << 12))
        if found is None or found.odds is None:
            return False
        loss = exact(program) if asked.opens is None else exact_open(program, *asked.opens, asked.sensitive)
    except (InvalidLaw, TooMany):
        return False
    assert loss is not None and loss <= found.odds, (found, json.dumps(asked.law), asked.opens, asked.sensitive)
    return True


@pytest.mark.parametrize("limits", [(8, 16), (1 << 12, 1 << 12)])
def test_no_bound_of_open_answers_is_below_the_exact_loss(limits: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are changed; with few worlds that may be followed, and with more."""
    monkeypatch.setattr(cases, "LIMITS", limits)
    rng = random.Random(1)
    assert sum(compared(changed(rng, opened(rng), rng.choice([0, 0, 1, 1, 2]))) for _ in range(100)) > 20


def families(is_open: bool) -> list[Asked]:
    """The small laws of all families."""
    found = []
    for mechanism in INSTANCES.values():
        asked = mechanism.traced and (mechanism.protected is not None) == is_open
        if asked and len(mechanism.law.nodes) <= 45 and is_small(mechanism.law):
            secret = np.flatnonzero(mechanism.secret).tolist() if is_open else []  # type: ignore[attr-defined]
            found.append(Asked(json.loads(mechanism.law.to_json()), mechanism.layout.opens, frozenset(secret)))
    return found


@pytest.mark.parametrize("is_open", [True, False])
def test_no_bound_of_a_changed_law_is_below_the_exact_loss(is_open: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is enumerated before the rules are tried."""
    monkeypatch.setattr(rules, "LIMITS", (0, 1 << 12))
    monkeypatch.setattr(cases, "LIMITS", (64, 64))
    rng, laws = random.Random(2), families(is_open)
    assert sum(compared(changed(rng, rng.choice(laws), rng.choice([1, 1, 2, 3]))) for _ in range(100)) > 10
