"""Programs made at random and from broken ones, seeded: what is a law, and what its seeded runs give."""

import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.operations import OPERATIONS, Type
from deniable.core.program import Program
from deniable.core.running import run
from deniable.errors import InvalidLaw
from tests.law_reference import key

ODD: list[Any] = [
    *(0, 1, 2, 3, 62, 63, -1, 2**31, 2**53 - 1, 2**53, -(2**53), 2**62, 2**63, 2**64, 10**400, 1.5, 3.0, -0.0, 1e300),
    *("0", "-0", "007", "1/2", "2/1", "0/1", "1/0", "-1/2", "1/2/3", "1.5", "", "/", "x", "٣", " 1", "1/ 2", "1e3", "+1"),
    *(str(2**62), str(-(2**62)), str(2**62 + 1), str(2**63), "9" * 4300 + "/" + "9" * 4300, "1/" + "9" * 4301, "9" * 5000),
    *(None, True, False, {}, {"a": 1}, [], [1], [[1]], [[1, 2], [3]], [[1, 2], [2, 1]], [[[1]]], [0, 0], [1, -1], ["1", 2]),
    *([True], [None], [1.5], ["1/2"], [2**62, 2**62], [str(2**62)] * 2, [str(2**62), str(2**62 - 1)]),
]
TEXTS = [
    *("", "null", "[]", "{}", "3", '"law"', '{"nodes":[],"report":[]}', '{"nodes":[["const",[],1]],"report":[]}'),
    *('{"nodes":[["const",[],NaN]],"report":[["a",0]]}', '{"nodes":[["const",[],1]],"report":[["a",0]]'),
    *('{"nodes":{"const":1},"report":[["a",0]]}', '{"nodes":["const"],"report":[["a",0]]}', "[" * 5_000 + "]" * 5_000),
    '{"nodes":[{"toss":0,"":0,"1/2":0}],"report":[["a",0]]}',
    '{"nodes":[["toss","","1/2"]],"report":[["a",0]]}',
    '{"nodes":[["toss",[],"1/2"]],"report":["a0"]}',
    '{"nodes":[["toss",[],"1/2"]],"report":[["a","0"]]}',
    '{"nodes":[["toss",[],"1/2"]],"report":[["a",0.0]]}',
    '{"nodes":[["toss",[],"1/2"]],"report":[["a",0,0]]}',
    '{"nodes":[["toss",[],"1/2"]],"report":[["a",0],["a",0]]}',
    '{"nodes":[["toss",[],"1/2"]],"report":[["__proto__",0],["constructor",0]]}',
    '{"nodes":[["constructor",[]]],"report":[["a",0]]}',
    '{"nodes":[["const",[],1e2],["const",[],12.0]],"report":[["a",0],["b",1]]}',
    '{"nodes":[["const",[],9007199254740991],["const",[],9007199254740992]],"report":[["a",0]]}',
    '{"nodes":[["const",[],9007199254740991]],"report":[["a",0]]}',
    '{"nodes":[["const",[],[' + "[" * 900 + "]" * 900 + ']]],"report":[["a",0]]}',
    '{"nodes":[["const",[],0],["not",[0]],["toss",[],"1/2"],["where",[1,2,0]]],"report":[["a",3],["b",1]]}',
]


def mutated(law: dict[str, Any], rng: random.Random) -> Any:
    """The same law with one thing changed."""
    law = json.loads(json.dumps(law))
    nodes, report = law["nodes"], law["report"]
    place = rng.randrange(len(nodes))
    node = nodes[place]
    match rng.randrange(11):
        case 0:
            del nodes[place]
        case 1 if node[1]:
            node[1][rng.randrange(len(node[1]))] = rng.choice([*range(-1, len(nodes) + 1), *ODD])
        case 2 if len(node) > 2:
            node[rng.randrange(2, len(node))] = rng.choice(ODD)
        case 3:
            node[0] = rng.choice([*OPERATIONS, "", "x", None, 1, "__proto__", "toString"])
        case 4:
            node.append(rng.choice(ODD))
        case 5 if len(node) > 2:
            node.pop()
        case 6:
            node[1] = rng.choice([None, "", {}, [0], [place], [*node[1], 0], node[1][:-1], node[1][::-1]])
        case 7:
            report[rng.randrange(len(report))] = rng.choice(
                [["x", place], ["", 0], ["x", len(nodes)], ["x", -1], ["x"], "x0", [1, 0], [None, 0], ["x", True], {"x": 0}]
            )
        case 8:
            nodes[place] = rng.choice(ODD)
        case 9:
            law[rng.choice(["nodes", "report"])] = rng.choice(ODD)
        case _:
            nodes[place], nodes[-1] = nodes[-1], nodes[place]
    return law


def grown(rng: random.Random) -> dict[str, Any]:
    """A law of random operations: most that do not fit are left out again, so that most such laws are accepted."""
    nodes: list[list[Any]] = []
    for _ in range(rng.randrange(4, 24)):
        for _ in range(60):
            tried = [*nodes, _random_node(rng, len(nodes))]
            if rng.random() < 0.003 or accepted({"nodes": tried, "report": [["x", len(nodes)]]}) is not None:
                nodes = tried
                break
    last = len(nodes)
    return {"nodes": nodes, "report": [[f"f{i}", rng.randrange(last)] for i in range(2)] + [["last", last - 1]]}


def _random_node(rng: random.Random, place: int) -> list[Any]:
    op = rng.choice(list(OPERATIONS))
    arity = OPERATIONS[op][0]
    args = [rng.randrange(place) for _ in range(rng.randrange(1, 4) if arity is None else arity)] if place else []
    small = [0, 1, 2, 3, 5, 8]
    large = [2**24, 2**24 + 1, 2**53 - 1, str(2**53), str(2**53 + 1), str(2**62 - 1), str(2**62)]
    number, odds = rng.choice([*small * 3, *large]), rng.choice(["0/1", "1/1", "1/2", "1/3", "255/256", "3/7", "2/8"])
    match op:
        case "code":
            low = rng.choice([-3, 0, 0, 0])
            bounds: list[Any] = [low, rng.choice([0, 1, 1, 4, 9, str(2**53)])]
            return [
                op,
                args if place and rng.random() < 0.3 else [],
                "x",
                *bounds,
                *rng.choice([[], [], [1], [3], [3, 1], [3, 0]]),
            ]
        case "const":
            return [op, [], rng.choice([number, -1, -7])]
        case "table":
            return [op, args, [rng.choice([*small, -4, str(2**60)]) for _ in range(rng.randrange(1, 12))]]
        case "toss":
            return [op, [], odds]
        case "split":
            return [op, [], odds, rng.choice([1, 2, 3, number]), rng.choice([0, 1, 2, 7, number])]
        case "pick":
            return [op, [], [number for _ in range(rng.randrange(1, 3))]]
        case "pick_each":
            row = [rng.choice(small) for _ in range(3)]
            return [op, args, [row, row[::-1], row[1:] + row[:1]][: rng.randrange(1, 4)]]
        case "flags":
            return [op, [], odds, rng.choice([1, 2, 3, 8, 9, 65])]
        case "subset":
            return [op, args, rng.choice([1, 2, 3, 9]), rng.choice([1, 2, 3])]
        case "below" | "public":
            return [op, [], number]
        case "majority":
            return [op, [], rng.choice([1, 2, 3, 9])]
        case "toss_each":
            return [op, args, rng.choice([1, 2, 8, number, str(2**53)])]
        case "around":
            return [op, args, rng.choice([1, 2, 3]), rng.choice([3, 4, 5, 9, number])]
        case "div" | "mod" | "widen" | "pack" | "cells":
            return [op, args, rng.choice([1, 2, 3, 8, 65, number])]
    return [op, args]


def accepted(law: Any) -> Program | None:
    """The program, if it is one."""
    try:
        return Program.from_json(law if isinstance(law, str) else json.dumps(law))
    except InvalidLaw:
        return None


def seeded_run(program: Program, seed: int) -> dict[str, Any]:
    """Codes at random, and the report that comes out: for one answer, and the same as first of a batch where possible."""
    rng = random.Random(seed)
    codes: list[Any] = []
    for place, node in enumerate(program.nodes):
        if node.op == "code":
            kind = program.types[place]
            drawn = [rng.randint(kind.low, kind.high) for _ in range(kind.width or 1)]
            if kind.distinct:
                drawn = [kind.low + (drawn[0] - kind.low + each) % kind.size for each in range(len(drawn))]
            codes.append(drawn if kind.width else drawn[0])
    for size in (3, 1):
        fields = run(program, [np.array([code] * size, np.int64) for code in codes], dn.SeededCoins(seed), size)
        for name, at in program.report:
            kind, values = program.types[at], np.asarray(fields[name])
            assert kind.row or (kind.low <= int(values.min()) and int(values.max()) <= kind.high)
            width = kind.width or 1
            assert values.ndim < 2 or values.shape == (size, (width + 7) // 8 if kind.row else width)
    report = key([_value(fields[name], program.types[at]) for name, at in program.report])
    written = [[str(each) for each in code] if isinstance(code, list) else str(code) for code in codes]
    return {"seed": seed, "codes": written, "report": report}


def _value(field: Any, kind: Type) -> Any:
    if kind.row:
        bits = np.unpackbits(np.asarray(field, np.uint8).reshape(-1), bitorder="little")[: kind.width]
        return tuple(bool(bit) for bit in bits)
    numbers = np.asarray(field).reshape(-1).tolist()
    return [int(each) for each in numbers] if kind.width else int(numbers[0])


def cases(laws: list[dict[str, Any]], seed: int = 0, size: int = 400) -> Iterator[dict[str, Any]]:
    """Texts, each with whether it is a law and, if so, two runs."""
    rng = random.Random(seed)
    texts = list(TEXTS)
    texts += [json.dumps(mutated(rng.choice(laws), rng), separators=(",", ":")) for _ in range(size)]
    texts += [json.dumps(grown(rng), separators=(",", ":")) for _ in range(size // 2)]
    for text in dict.fromkeys(texts):
        program = accepted(text)
        yield {"law": text, "runs": None if program is None else [seeded_run(program, each) for each in range(2)]}
