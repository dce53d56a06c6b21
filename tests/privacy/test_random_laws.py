"""Proofs of laws that nobody thought of: no bound is below the exact loss of a random program, every draw enumerated."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

import deniable as dn
from deniable.core.operations import DRAWS, OPERATIONS, Type
from deniable.core.program import Program
from deniable.errors import InvalidLaw
from deniable.privacy import rules, worlds
from deniable.privacy.bounds import Bound, Effort
from deniable.privacy.cases import open_bound
from deniable.privacy.problem import Problem
from deniable.privacy.rules import bound, proved
from tests.families import INSTANCES
from tests.law_fuzz import accepted
from tests.law_reference import TooMany, chances
from tests.privacy import shaped_laws

MOST = 1 << 13  # combinations of values that are followed at once
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
    return with_more(rng, nodes, rng.randrange(2, 9))


def grown_of_vectors(rng: random.Random) -> dict[str, Any]:
    """A law of a vector, of which a draw takes a number, or which noise is added to, and then whatever fits."""
    size, width = rng.choice([2, 2, 3]), rng.choice([1, 2, 2, 3])
    distinct = [1] if width <= size and rng.random() < 0.4 else []
    nodes: list[list[Any]] = [["code", [], "x", 0, size - 1, width, *distinct]]
    if rng.random() < 0.3:
        nodes.append(["code", [], "y", 0, rng.choice([1, 2]), width])
    if rng.random() < 0.6:
        nodes += [["below", [], width], ["at", [0, len(nodes)]]]
    if rng.random() < 0.6:
        modulus, noisy = rng.choice([size, size + 1]), rng.choice([0, len(nodes) - 1])
        noise = ["split", [], rng.choice(["3/4", "1/2", "2/3"]), 1, modulus - 1]
        nodes += [noise, ["add", [noisy, len(nodes)]], ["mod", [len(nodes) + 1], modulus]]
    return with_more(rng, nodes, rng.randrange(1, 7))


def with_more(rng: random.Random, nodes: list[list[Any]], many: int) -> dict[str, Any]:
    """The law with so many operations more, all of which fit, and a report of one or two of them."""
    for _ in range(many):
        tries = (node(rng, len(nodes)) for _ in range(40))
        fits = (each for each in tries if accepted({"nodes": [*nodes, each], "report": [["x", len(nodes)]]}))
        nodes += itertools.islice(fits, 1)
    report = [["last", len(nodes) - 1]] + ([["other", rng.randrange(1, len(nodes))]] if rng.random() < 0.4 else [])
    return {"nodes": nodes, "report": report}


def values_of(kind: Type) -> Sequence[Any]:
    """All that a code may be."""
    numbers = range(kind.low, kind.high + 1)
    if kind.width is None:
        return numbers
    return list(
        itertools.permutations(numbers, kind.width) if kind.distinct else itertools.product(numbers, repeat=kind.width)
    )


def with_known(program: Program) -> Program:
    """The same law with what everybody knows in its report: public draws, and those that an encoder is given."""
    given = program.upstream([arg for _, node in program.codes for arg in node.args])
    known = [
        place for place, node in enumerate(program.nodes) if node.op == "public" or (node.op in DRAWS and place in given)
    ]
    return Program(program.nodes, (*program.report, *((f"known {place}", place) for place in known)))


def exact(program: Program) -> Fraction | None:
    """The largest ratio over all codes, with what is known in the report; None if it is unbounded."""
    program = with_known(program)
    every = [values_of(program.types[place]) for place, _ in program.codes]
    laws = [chances(program, codes, MOST) for codes in itertools.product(*every)]
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
            found = proved(Problem.of(program))
        except InvalidLaw:  # an encoder is given what depends on the answer
            continue
        if found is None or found.odds is None:
            continue
        loss = exact(program)
        assert loss is not None and loss <= found.odds, json.dumps(law)
        finite += 1
    assert finite > 10


LEAST: dict[
    Callable[[random.Random], dict[str, Any]], dict[str, int]
] = {  # how often the rules that a kind of law is for must have found a bound
    grown: {"shift": 3, "waist": 9, "unfolding": 3},
    grown_of_vectors: {"shift": 3, "waist": 9, "unfolding": 3, "sampling": 6},
    shaped_laws.sums: {"shift": 8, "waist": 8},
    shaped_laws.rows: {"mask": 10, "cells": 2, "marked cell": 8},
    shaped_laws.exchanges: {"exchange": 30},
    shaped_laws.permutations: {"permutation": 30},
    shaped_laws.samples: {"sampling": 20, "marked cell": 20, "shift": 10},
    shaped_laws.sampled_cells: {"sampling": 15, "marked cell": 15},
    shaped_laws.parities: {"shift": 30, "waist": 20},
    shaped_laws.orders: {"shift": 20},
    shaped_laws.exclusive: {"shift": 5, "waist": 5},
    shaped_laws.known_rows: {"mask": 1, "marked cell": 1, "exchange": 1},
}


@pytest.mark.parametrize("made", LEAST)
def test_no_rule_is_below_the_exact_loss_where_nothing_is_enumerated_first(
    made: Callable[[random.Random], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small laws are enumerated before any other rule is tried. Here the rules come first, so that small laws test them."""
    monkeypatch.setattr(rules, "LIMITS", (0, 1 << 12))
    rng, used = random.Random(1), Counter[str]()
    for _ in range(500 if made in (grown, grown_of_vectors) else 120 if made is shaped_laws.sampled_cells else 250):
        law = made(rng)
        program = Program.from_json(json.dumps(law))
        try:
            found = bound(Problem.of(program), Effort(1 << 12))
            loss = exact(program) if found is not None and found.odds is not None else None
        except (InvalidLaw, TooMany):
            continue
        if found is not None and found.odds is not None:
            assert loss is not None and loss <= found.odds, json.dumps(law)
            used.update(found.rules)
    assert all(used[rule] >= often for rule, often in LEAST[made].items()), used


ANSWER: list[Any] = ["code", [], "x", 0, 99]
HUNDRED = list(range(100))
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
    "one draw moves all numbers of a vector, whose differences are reported": [
        *(["code", [], "x", 0, 3, 62], ["split", [], "1/2", 1, 3], ["add", [0, 1]], ["mod", [2], 4], ["cells", [3], 0]),
    ],
    "one uniform draw moves all numbers of a vector": [
        *(["code", [], "x", 0, 3, 2], ["below", [], 4], ["add", [0, 1]], ["mod", [2], 4], ["cells", [3], 1]),
    ],
    "a uniform draw is added once and 99 times more": [
        *(ANSWER, ["below", [], 100], ["const", [], 1], ["add", [1, 2]], ["const", [], 99], ["mul", [3, 4]]),
        *(["add", [3, 5]], ["add", [6, 0]], ["mod", [7], 100]),
    ],
    "a uniform draw is added twice, by way of one sum": [
        *(
            ANSWER,
            ["below", [], 100],
            ["const", [], 1],
            ["add", [1, 2]],
            ["add", [3, 3]],
            ["add", [4, 0]],
            ["mod", [5], 100],
        ),
    ],
    "noise is added, and taken away together with the answer": [
        *(ANSWER, ["split", [], "1/2", 1, 99], ["const", [], 1], ["add", [1, 2]], ["const", [], 99], ["add", [3, 0]]),
        *(["mul", [5, 4]], ["add", [3, 6]], ["mod", [7], 100]),
    ],
    "a row and the bit that was put into it": [
        *(["code", [], "x", 0, 19], ["flags", [], "2/3", 20], ["toss", [], "1/2"], ["put", [1, 0, 2]], ["join", [3]]),
        *(["pack", [2], 1], ["join", [4, 5]]),
    ],
    "a bit beyond the 64th of a row": [
        *(["code", [], "x", 0, 1], ["flags", [], "1/2", 1], ["widen", [1], 128], ["const", [], 64], ["add", [0, 3]]),
        *(["const", [], 1], ["put", [2, 4, 5]]),
    ],
    "noise from 1 to 4, combined with numbers from 0 to 3": [
        *(["code", [], "x", 0, 9999], ["mod", [0], 4], ["below", [], 4], ["const", [], 1], ["add", [2, 3]], ["xor", [1, 4]]),
    ],
    "an order of eight of which four are reached": [
        *(["code", [], "y", 0, 2], ["below", [], 4], ["around", [0, 1], 2, 4], ["code", [], "x", 0, 9999], ["mod", [3], 7]),
        ["around", [4, 2], 2, 8],
    ],
    "a mask is turned over until its first bit is 0": [
        *(["code", [], "x", 0, 1, 6], ["cells", [0], 0], ["flags", [], "1/3", 6], ["toss", [], "1/3"], ["turn", [2, 3]]),
        *(["const", [], 0], ["get", [4, 5]], ["turn", [4, 6]], ["xor", [1, 7]]),
    ],
}


@pytest.mark.parametrize("name", LARGE)
def test_a_leak_too_large_to_be_enumerated_is_not_bounded(name: str) -> None:
    """Each has a report that one answer never gives: its probability is 0 there, and not in the case of another answer."""
    nodes = LARGE[name]
    found = proved(Problem.of(Program.from_json(json.dumps({"nodes": nodes, "report": [["y", len(nodes) - 1]]}))))
    assert found is None or found.odds is None


def test_noise_that_follows_a_public_draw_is_looked_at_draw_by_draw() -> None:
    """Over all public draws it is uniform, and everybody knows which one it was."""
    nodes = [
        *(["code", [], "x", 0, 9999], ["public", [], 2], ["toss", [], "3/4"], ["xor", [1, 2]], ["add", [0, 3]]),
        ["mod", [4], 2],
    ]
    found = proved(Problem.of(Program.from_json(json.dumps({"nodes": nodes, "report": [["known", 1], ["y", 5]]}))))
    assert found is not None and found.odds == 3


def test_rows_of_many_bits_are_told_apart_by_all_of_them() -> None:
    """They are compared 62 bits at a time, and written down as one number again."""
    nodes = [
        *(["code", [], "x", 0, 1], ["toss", [], "1/3"], ["xor", [0, 1]], ["const", [], 130], ["mul", [2, 3]]),
        *(["flags", [], "0/1", 1], ["widen", [5], 140], ["const", [], 1], ["put", [6, 4, 7]]),
    ]
    problem = Problem.of(Program.from_json(json.dumps({"nodes": nodes, "report": [["y", 8]]})))
    keys, found = worlds.law(problem, problem.view, problem.secrets(problem.view))
    thirds = [Fraction(2, 3), Fraction(1, 3)]
    assert dict(zip(keys, found, strict=True)) == {
        (answer, 1 << 130 * bit): thirds[answer ^ bit] for answer in (0, 1) for bit in (0, 1)
    }
    assert proved(problem) == Bound(Fraction(2), ("enumeration",))


def test_a_column_that_decides_is_no_fault() -> None:
    """`aim` is defined for all columns, and not for one alone: such a case is left to other rules."""
    nodes = [
        *(["code", [], "x", 0, 9999], ["const", [], 1], ["mod", [0], 3], ["add", [2, 1]], ["below", [], 4]),
        *(["toss", [], "1/3"], ["aim", [4, 3, 5]], ["const", [], 2], ["lt", [4, 7]], ["toss", [], "1/4"]),
        ["where", [8, 6, 9]],
    ]
    program = Program.from_json(json.dumps({"nodes": nodes, "report": [["y", 10]]}))
    found = proved(Problem.of(program))
    small = Program.from_json(json.dumps({"nodes": [["code", [], "x", 0, 2], *nodes[1:]], "report": [["y", 10]]}))
    loss = exact(small)
    assert found is None or found.odds is None or (loss is not None and found.odds >= loss)


def test_numbers_at_both_ends_are_told_apart() -> None:
    """Their difference is more than 64 bits hold with a sign."""
    largest = 1 << 62
    nodes = [
        *(["code", [], "x", 0, 1], ["toss", [], "1/2"], ["not", [1]], ["and", [0, 2]], ["const", [], str(largest)]),
        *(["const", [], str(largest - 1)], ["const", [], str(-largest)], ["where", [0, 5, 6]], ["where", [1, 4, 7]]),
    ]
    found = proved(Problem.of(Program.from_json(json.dumps({"nodes": nodes, "report": [["a", 3], ["b", 8]]}))))
    assert found is not None and found.odds is None


def deep(first: list[list[Any]], *more: Any, times: int = 3000) -> str:
    """A law that goes on with an operation on what is there, again and again; "last" stands for the node before."""
    nodes = list(first)
    for _ in range(times):
        nodes += [[op, [len(nodes) - 1 if arg == "last" else arg for arg in args], *params] for op, args, *params in more]
    return json.dumps({"nodes": nodes, "report": [["y", len(nodes) - 1]]})


MASKED: list[list[Any]] = [
    ["code", [], "x", 0, 1, 20],
    ["cells", [0], 0],
    ["flags", [], "1/3", 20],
    ["toss", [], "1/3"],
    ["xor", [1, 2]],
]
DEEP = {
    "a sum of sums": deep([ANSWER, ["split", [], "1/2", 1, 99], ["add", [0, 1]], ["const", [], 1]], ["add", ["last", 3]]),
    "a sum that doubles": deep([ANSWER, ["below", [], 2], ["add", [0, 1]]], ["add", ["last", "last"]], times=50),
    "a row that is turned over and over": deep(MASKED, ["turn", ["last", 3]], times=1200),
    "a row in a row in a row": deep(MASKED, ["join", ["last"]]),
    "a square of squares": deep(
        [["code", [], "x", 0, 1], ["const", [], 0], ["mul", [0, 0]]], ["mul", ["last", "last"]], ["eq", ["last", 1]]
    ),
    "the smallest of many sums": deep([["toss", [], "1/2"], ["toss", [], "1/3"]], ["toss", [], "1/3"], ["add", ["last", 0]]),
    "a sum of all draws so far": json.dumps(
        {
            "nodes": [ANSWER, *[["toss", [], "1/3"]] * 9_000, *[["add", [8_999 + n, n]] for n in range(1, 9_000)]],
            "report": [["y", 17_999]],
        }
    ),
    "long rows of few worlds": deep(
        [["code", [], "x", 0, 1], ["flags", [], "1/3", 10], ["widen", [1], 1 << 20], ["put", [2, 0, 0]]],
        ["not", ["last"]],
        times=20,
    ),
    "rows of many cells with long odds": deep(
        [["code", [], "x", 0, 1], ["flags", [], f"1/{10**1200}", 1 << 20], ["turn", [1, 0]]], ["not", ["last"]], times=3
    ),
    "a mask of many cells": deep(
        [["code", [], "x", 0, 1, 1 << 20], ["cells", [0], 0], ["flags", [], "1/3", 1 << 20], ["xor", [1, 2]]],
        ["turn", ["last", 3]],
        times=0,
    ),
    "a bit that is made of a draw with very many values": deep(
        [
            *(["code", [], "x", 0, 29], ["below", [], 1 << 40], ["div", [1], 1 << 39], ["const", [], 0]),
            *(["subset", [3], 29, 3], ["widen", [4], 30], ["const", [], 29], ["put", [5, 6, 2]], ["swap", [7, 0, 6]]),
        ],
        times=0,
    ),
    "a sum of draws with long odds": json.dumps(
        {
            "nodes": [
                ["code", [], "x", 0, 2],
                *[["split", [], f"{10**1200 + 2 * n}/{10**1200 * 2 + 3 * n + 1}", 1, 2] for n in range(300)],
                *[["add", [301 + n - 1 if n else 0, n + 1]] for n in range(300)],
                ["mod", [600], 3],
            ],
            "report": [["y", 601]],
        }
    ),
    "a product of products": deep([["code", [], "x", 0, 1], ["const", [], 0]], ["mul", ["last", 0]], ["eq", ["last", 1]]),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_laws_end(name: str) -> None:
    """They are proved, or not; the stack does not overflow, and what doubles at each step is not written out."""
    try:
        found = proved(Problem.of(Program.from_json(DEEP[name])))
    except InvalidLaw:
        return
    assert found is None or found.odds is None or found.odds >= 1


def test_a_bit_of_a_vector_is_any_bit_only_if_nothing_else_knows_its_draws() -> None:
    """The toss that turns the bits round is undone: the report has a true bit, though each of its cells looks uniform."""
    nodes = [
        *(["code", [], "bits", 0, 1, 20], ["code", [], "x", 0, 19], ["toss", [], "1/2"], ["add", [0, 2]]),
        *(["cells", [3], 0], ["get", [4, 1]], ["xor", [5, 2]], ["flags", [], "1/2", 20], ["put", [7, 1, 6]]),
    ]
    found = proved(Problem.of(Program.from_json(json.dumps({"nodes": nodes, "report": [["y", 8]]}))))
    assert found is None or found.odds is None


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
    found = proved(Problem.of(mechanism.law))
    assert found is not None and found.odds == mechanism.loss().odds
