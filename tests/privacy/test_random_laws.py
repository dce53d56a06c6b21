"""Proofs of laws that nobody thought of: no bound is below the exact loss of a random program, every draw enumerated."""

import itertools
import json
import random
from fractions import Fraction
from typing import Any

import pytest

import deniable as dn
from deniable.core.operations import OPERATIONS
from deniable.core.program import Program
from deniable.errors import InvalidLaw
from deniable.privacy.cases import open_bound
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from tests.families import INSTANCES
from tests.law_fuzz import accepted
from tests.law_reference import chances

ODDS = ["1/2", "1/3", "3/4", "2/5", "1/1", "0/1"]


def node(rng: random.Random, place: int) -> list[Any]:
    """An operation on earlier nodes, with few outcomes if it is a draw."""
    if rng.random() < 0.02:
        return ["code", [rng.randrange(place)], "z", 0, 1]
    op = rng.choice([each for each in OPERATIONS if each != "code"])
    arity = OPERATIONS[op][0]
    args = [rng.randrange(place) for _ in range(rng.randrange(1, 4) if arity is None else arity)]
    small, row = rng.choice([1, 2, 3, 4]), [rng.choice([1, 2, 3]) for _ in range(2)]
    params: dict[str, list[Any]] = {
        "const": [rng.choice([0, 1, 2, 3, -1])],
        "table": [[rng.randrange(4) for _ in range(rng.randrange(2, 6))]],
        "toss": [rng.choice(ODDS)],
        "split": [rng.choice(ODDS), rng.choice([1, 1, 2]), rng.choice([1, 2, 3])],
        "pick": [[rng.choice([1, 2, 3]) for _ in range(rng.randrange(1, 4))]],
        "pick_each": [[row, row[::-1], row, row[::-1]][: rng.randrange(1, 5)]],
        "flags": [rng.choice(ODDS), rng.choice([1, 2, 3])],
        "subset": [rng.choice([2, 3]), rng.choice([1, 2])],
        "around": [rng.choice([1, 2]), rng.choice([2, 3, 4])],
        "widen": [rng.choice([2, 3, 4])],
        "pack": [rng.choice([1, 2])],
        "cells": [0],
        **{each: [small] for each in ("below", "public", "majority", "toss_each", "div", "mod")},
    }
    return [op, args, *params.get(op, [])]


def grown(rng: random.Random) -> dict[str, Any]:
    """A law of one or two codes, in half of the cases randomized first, and then whatever fits."""
    size = rng.choice([2, 2, 3, 4])
    nodes: list[list[Any]] = [["code", [], "x", 0, size - 1]]
    if rng.random() < 0.5:
        nodes += [["split", [], rng.choice(["3/4", "1/2", "2/3"]), 1, size - 1], ["add", [0, 1]], ["mod", [2], size]]
    for _ in range(rng.randrange(2, 9)):
        tries = (node(rng, len(nodes)) for _ in range(40))
        fits = (each for each in tries if accepted({"nodes": [*nodes, each], "report": [["x", len(nodes)]]}))
        nodes += itertools.islice(fits, 1)
    report = [["last", len(nodes) - 1]] + ([["other", rng.randrange(1, len(nodes))]] if rng.random() < 0.4 else [])
    return {"nodes": nodes, "report": report}


def exact(program: Program) -> Fraction | None:
    """The largest ratio over all codes, each the same whatever is drawn; None if it is unbounded."""
    ranges = [range(program.types[place].low, program.types[place].high + 1) for place, _ in program.codes]
    laws = [chances(program, codes) for codes in itertools.product(*ranges)]
    worst = Fraction(1)
    for report in {each for law in laws for each in law}:
        found = [law.get(report, Fraction(0)) for law in laws]
        if not min(found):
            return None
        worst = max(worst, max(found) / min(found))
    return worst


@pytest.mark.parametrize("seed", range(4))
def test_no_bound_is_below_the_exact_loss(seed: int) -> None:
    rng, finite = random.Random(seed), 0
    for _ in range(60):
        law = grown(rng)
        program = Program.from_json(json.dumps(law))
        try:
            bound = proved(Problem.of(program))
        except InvalidLaw:  # an encoder is given what depends on the answer
            continue
        if bound is None or bound.odds is None:
            continue
        loss = exact(program)
        assert loss is not None and loss <= bound.odds, json.dumps(law)
        finite += 1
    assert finite > 10


ANSWER, HUNDRED = ["code", [], "x", 0, 99], list(range(100))
LARGE: dict[str, list[list[Any]]] = {
    "whether the report is true is reported too": [
        *(ANSWER, ["split", [], "1/2", 1, 99], ["add", [0, 1]], ["mod", [2], 100], ["eq", [0, 3]]),
        *(["const", [], 100], ["mul", [4, 5]], ["add", [6, 3]]),
    ],
    "a table whose rows are left in between": [
        *(ANSWER, ["const", [], 100], ["mul", [0, 1]], ["below", [], 100], ["add", [2, 3]], ["mod", [4], 150]),
        ["table", [5], HUNDRED + HUNDRED[1:] + [0]],
    ],
    "a parity that is reported twice": [
        *(ANSWER, ["const", [], 1], ["add", [0, 1]], ["below", [], 128], ["toss", [], "1/3"], ["aim", [3, 2, 4]]),
        *(["eq", [0, 5]], ["const", [], 128], ["mul", [6, 7]], ["add", [8, 5]]),
    ],
}


@pytest.mark.parametrize("name", LARGE)
def test_a_leak_too_large_to_be_enumerated_is_not_bounded(name: str) -> None:
    """Each has a report that one answer never gives: its probability is 0 there, and not in the case of another answer."""
    nodes = LARGE[name]
    bound = proved(Problem.of(Program.from_json(json.dumps({"nodes": nodes, "report": [["y", len(nodes) - 1]]}))))
    assert bound is None or bound.odds is None


def test_a_bit_of_a_vector_is_any_bit_only_if_nothing_else_knows_its_draws() -> None:
    """The toss that turns the bits round is undone: the report has a true bit, though each of its cells looks uniform."""
    nodes = [
        *(["code", [], "bits", 0, 1, 20], ["code", [], "x", 0, 19], ["toss", [], "1/2"], ["add", [0, 2]]),
        *(["cells", [3], 0], ["get", [4, 1]], ["xor", [5, 2]], ["flags", [], "1/2", 20], ["put", [7, 1, 6]]),
    ]
    bound = proved(Problem.of(Program.from_json(json.dumps({"nodes": nodes, "report": [["y", 8]]}))))
    assert bound is None or bound.odds is None


def test_codes_of_an_encoder_that_is_given_draws_are_no_open_answers() -> None:
    """It may give any code for a sensitive answer, so nothing is known of reports that disclose one."""
    mechanism = dn.UtilityOptimized(dn.DirectResponse, dn.Categories(range(3000)), list(range(5)), 1.0)
    law, sensitive = json.loads(mechanism.law.to_json()), frozenset(range(5))
    assert open_bound(mechanism.law, *mechanism.layout.opens, sensitive) is not None
    later = [[op, [0] if op == "code" else [arg + 1 for arg in args], *params] for op, args, *params in law["nodes"]]
    report = [[name, place + 1] for name, place in law["report"]]
    given = Program.from_json(json.dumps({"nodes": [["below", [], 2], *later], "report": report}))
    assert open_bound(given, *mechanism.layout.opens, sensitive) is None


def test_one_of_many_pairs_is_followed_before_a_waist_says_more_than_it_loses() -> None:
    mechanism = dn.PCKVUnary(dn.KeyValue(range(40), -1, 1, 30), chances=INSTANCES["keys-unary-both"].chances)  # type: ignore[attr-defined]
    bound = proved(Problem.of(mechanism.law))
    assert bound is not None and bound.odds == mechanism.loss().odds
