"""Small random laws of the shapes that rules of proof look for: sums, rows, exchanged cells, samples, parities, orders.

Programs of any operations rarely have one. These begin with one, and go on with what could spoil it: draws that are used
again, by way of nodes that others use too; numbers that are reported beside it; noise that is taken away.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

from deniable.core.operations import OPERATIONS
from tests.law_fuzz import accepted

ODDS = ["3/4", "1/2", "2/3", "1/3"]
Nodes = list[list[Any]]


def sums(rng: random.Random) -> dict[str, Any]:
    """Noise that is added to an answer, modulo a number, and more that is made of it."""
    size = rng.choice([2, 3, 4])
    nodes: Nodes = [["code", [], "x", 0, size - 1]]
    if rng.random() < 0.2:
        nodes.append(["code", [], "y", 0, 1])
    if rng.random() < 0.2:
        nodes.append(["public", [], size])
    for _ in range(rng.choice([1, 1, 2])):
        weights = [rng.choice([1, 2, 3]) for _ in range(size)]
        split = ["split", [], rng.choice(ODDS), 1, size - 1]
        nodes.append(rng.choice([split, split, ["below", [], size], ["pick", [], weights], ["toss", [], rng.choice(ODDS)]]))
    nodes.append(["const", [], rng.choice([1, size - 1, size, 2])])
    often = ["add"] * 6 + ["mul"] * 3 + ["mod"] * 4 + ["where", "around"] * 2
    go_on(rng, nodes, (2, 7), [*often, "sub", "xor", "eq", "lt", "table", "split", "below", "min", "not", "const"], size)
    last: list[Any] = ["mod", [len(nodes) - 1], size]
    return reported(rng, [*nodes, last] if accepted(law_of([*nodes, last])) else nodes)


def rows(rng: random.Random) -> dict[str, Any]:
    """Rows of bits that are drawn, masked, turned over, and of which the answer names a cell."""
    width = rng.choice([2, 3])
    nodes: Nodes = [["code", [], "x", 0, width - 1], ["toss", [], rng.choice(ODDS)]]
    nodes.append(rng.choice([["flags", [], rng.choice(ODDS), width], ["majority", [], width]]))
    if rng.random() < 0.5:
        nodes += [["turn", [2, 1]], ["code", [], "b", 0, 1, width], ["cells", [4], 0], ["xor", [3, 5]]]
    elif rng.random() < 0.7:
        nodes += [["toss", [], rng.choice(ODDS)], ["put", [2, 0, 1]]]
    often = ["turn", "xor", "put"] * 4 + ["where", "get"] * 3 + ["swap", "toss"] * 2
    rare = ["and", "or", "not", "ones", "flags", "majority", "subset", "widen", "const", "eq", "toss_each", "join"]
    go_on(rng, nodes, (0, 6), often + rare, width)
    return reported(rng, nodes)


def exchanges(rng: random.Random) -> dict[str, Any]:
    """A subset with a cell beside it, which is exchanged with the cell that the answer names."""
    width = rng.choice([2, 3])
    nodes: Nodes = [["code", [], "x", 0, width - 1], ["toss", [], rng.choice(ODDS)], ["toss", [], "1/3"]]
    less, bit = rng.choice([1, 2]), rng.choice([1, 2])
    nodes += [["subset", [less], width - 1, 1], ["widen", [3], width], ["const", [], width - 1]]
    nodes += [["put", [4, 5, bit]], ["swap", [6, 0, 5]]]
    go_on(rng, nodes, (0, 4), ["turn", "xor", "where", "get", "put", "not", "ones", "eq", "swap", "toss", "and"], width)
    return reported(rng, nodes)


def permutations(rng: random.Random) -> dict[str, Any]:
    """A row of two parts, or with some probability another one, whose cells are exchanged as the answer says."""
    first, second = rng.choice([1, 2]), rng.choice([1, 2])
    width = first + second
    nodes: Nodes = [["code", [], "x", 0, width - 1], ["code", [], "y", 0, width - 1]]
    nodes += [["toss", [], rng.choice(ODDS)], ["toss", [], "1/3"], ["const", [], rng.choice([0, 1])]]
    nodes += [["subset", [rng.choice([2, 3, 4])], part, rng.randint(1, part)] for part in (first, second)]
    nodes += [["join", [5, 6]], ["subset", [4], width, rng.randint(1, width - 1)]]
    nodes += [["where", [rng.choice([2, 3]), *rng.sample([7, 8], 2)]], ["const", [], rng.randrange(width)]]
    nodes += [["swap", [rng.choice([7, 9, 9]), 0, 10]], ["const", [], rng.randrange(width)], ["swap", [11, 1, 12]]]
    more = ["swap"] * 4 + ["where", "toss", "turn", "get", "put", "not", "ones", "eq", "join", "subset"]
    go_on(rng, nodes, (0, 3), more, width)
    return reported(rng, nodes)


def samples(rng: random.Random) -> dict[str, Any]:
    """One number of a vector, taken by a draw, to which noise is added or which names a cell."""
    size, width = rng.choice([3, 4]), rng.choice([1, 2, 2])
    distinct = [1] if rng.random() < 0.8 else []
    nodes: Nodes = [["code", [], "x", 0, size - 1, width, *distinct]]
    if rng.random() < 0.3:
        nodes.append(["code", [], "y", 0, 1, width])
    at = len(nodes) + 1
    nodes += [["below", [], width], ["at", [0, at - 1]]]
    if rng.random() < 0.6:
        nodes += [["split", [], rng.choice(ODDS), 1, size - 1], ["add", [at, at + 1]], ["mod", [at + 2], size]]
        more = ["add", "mod", "eq", "where", "mul", "const", "toss", "at", "toss_each", "xor", "table"]
    else:
        nodes += [["flags", [], rng.choice(ODDS), size], ["toss", [], rng.choice(ODDS)], ["put", [at + 1, at, at + 2]]]
        more = ["put", "get", "turn", "where", "xor", "at", "toss", "eq", "not", "toss_each", "and", "flags"]
    go_on(rng, nodes, (0, 4), more, size)
    return reported(rng, nodes)


def parities(rng: random.Random) -> dict[str, Any]:
    """A column, and a noisy bit of whether it agrees with the row that the answer names."""
    nodes: Nodes = [["code", [], "x", 0, 2], ["const", [], 1], ["add", [0, 1]], ["below", [], 4]]
    nodes += [["toss", [], rng.choice(ODDS)], ["aim", [3, 2, 4]]]
    more = ["aim", "xor", "add", "mod", "eq", "where", "not", "and", "toss", "below", "mul"]
    go_on(rng, nodes, (0, 5), more, 4)
    return reported(rng, nodes)


def orders(rng: random.Random) -> dict[str, Any]:
    """The place of an order that the answer chooses, or the column of a row of a table, that a draw takes."""
    size = rng.choice([3, 4])
    nodes: Nodes = [["code", [], "x", 0, size - 2]]
    if rng.random() < 0.3:
        nodes.append(["public", [], 2])
    nodes.append(rng.choice([["split", [], rng.choice(ODDS), 1, size - 1], ["below", [], size], ["below", [], 2]]))
    drawn = len(nodes) - 1
    if rng.random() < 0.5:
        nodes.append(["around", [0, drawn], rng.choice([1, 2]), size])
    else:
        rows = [number for _ in range(size - 1) for number in rng.sample(range(size), size)]
        nodes += [["const", [], size], ["mul", [0, drawn + 1]], ["add", [drawn + 2, drawn]], ["table", [drawn + 3], rows]]
    more = ["around"] * 3 + ["add", "mod", "where", "table", "xor", "eq", "toss", "public", "const"]
    go_on(rng, nodes, (0, 4), more, rng.choice([size, size + 1]))
    return reported(rng, nodes)


def exclusive(rng: random.Random) -> dict[str, Any]:
    """Bits of a number, turned over by those of noise that may follow a public draw."""
    size = rng.choice([2, 4])
    nodes: Nodes = [["code", [], "x", 0, size - 1], ["public", [], rng.choice([2, size])]]
    nodes.append(rng.choice([["split", [], rng.choice(ODDS), 1, size - 1], ["below", [], size], ["toss", [], "1/3"]]))
    nodes.append(["const", [], rng.choice([0, 1, 2])])
    more = ["xor"] * 5 + ["eq", "add"] * 3 + ["not", "and", "where", "mod", "public", "toss", "sub", "lt", "min", "max"]
    go_on(rng, nodes, (2, 7), [*more, "abs", "div", "shr"], size)
    return reported(rng, nodes)


def known_rows(rng: random.Random) -> dict[str, Any]:
    """Rows that a toss turns over, marks or sets apart which follows a public draw."""
    width = rng.choice([2, 3])
    nodes: Nodes = [["code", [], "x", 0, width - 1], ["public", [], 2], ["toss", [], rng.choice(ODDS)], ["xor", [1, 2]]]
    bit = rng.choice([2, 3])
    kind = rng.randrange(3)
    if kind == 0:
        nodes += [["majority", [], width], ["turn", [4, bit]], ["code", [], "b", 0, 1, width], ["cells", [6], 0]]
        nodes.append(["xor", [5, 7]])
    elif kind == 1:
        nodes += [["flags", [], rng.choice(ODDS), width], ["put", [4, 0, bit]]]
    else:
        nodes += [["subset", [bit], width - 1, 1], ["widen", [4], width], ["const", [], width - 1]]
        nodes += [["put", [5, 6, rng.choice([2, 3])]], ["swap", [7, 0, 6]]]
    go_on(rng, nodes, (0, 4), ["turn", "xor", "put"] * 3 + ["where", "get", "not", "and", "toss", "ones", "swap"], width)
    return reported(rng, nodes)


def sampled_cells(rng: random.Random) -> dict[str, Any]:
    """Numbers that are taken by a draw, some of which change the cell that they name, or that another code names."""
    p, width, most = rng.choice(["1/2", "1/3"]), rng.choice([1, 2, 2]), rng.choice([1, 2])
    nodes: Nodes = [["code", [], "x", 0, 2, width, 1], ["code", [], "z", 0, most]]
    nodes += [["table", [1], rng.sample(range(3), most + 1)], ["below", [], width], ["at", [0, 3]]]
    nodes += [["table", [4], [rng.choice([0, 1]) for _ in range(3)]], ["flags", [], p, 3], ["const", [], 1]]
    mark, asked = rng.choice([4, 4, 4, 2]), rng.choice([5, 5, 2])
    nodes += [["min", [asked, 7]], ["toss", [], rng.choice(ODDS)], rng.choice([["get", [6, mark]], ["toss", [], p]])]
    nodes += [["where", [8, *rng.sample([9, 10], 2)]], ["put", [6, mark, 11]]]
    go_on(rng, nodes, (0, 2), ["put", "get", "turn", "where", "xor", "not"], 3)
    return law_of(nodes)


SHAPES: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    each.__name__: each
    for each in (sums, rows, exchanges, permutations, samples, sampled_cells, parities, orders, exclusive, known_rows)
}


def go_on(rng: random.Random, nodes: Nodes, many: tuple[int, int], ops: Sequence[str], size: int) -> None:
    """Add so many operations that fit, most of them to what was made last."""
    for _ in range(rng.randrange(*many)):
        for _ in range(40):
            tried = operation(rng, len(nodes), rng.choice(ops), size)
            if accepted(law_of([*nodes, tried])) is not None:
                nodes.append(tried)
                break


def operation(rng: random.Random, place: int, op: str, size: int) -> list[Any]:
    """An operation on earlier nodes, for numbers below `size` and rows as wide."""
    arity = OPERATIONS[op][0]
    recent = range(max(0, place - 5), place)
    count = rng.randrange(1, 3) if arity is None else arity
    args = [rng.choice(recent) if rng.random() < 0.6 else rng.randrange(place) for _ in range(count)]
    orders = [number for _ in range(size) for number in rng.sample(range(size), size)]
    params: dict[str, list[Any]] = {
        "const": [rng.choice([0, 1, 2, size - 1, size])],
        "table": [rng.choice([orders, [rng.randrange(size) for _ in range(size)]])],
        "toss": [rng.choice(ODDS)],
        "split": [rng.choice(ODDS), 1, size - 1],
        "mod": [rng.choice([size, size, 2 * size, 2])],
        "flags": [rng.choice([*ODDS, "0/1", "1/1"]), size],
        "subset": [rng.choice([size, size, max(1, size - 1)]), 1],
        "around": [1, size],
        "toss_each": [rng.choice([1, size - 1, size])],
        **{each: [size] for each in ("below", "majority", "widen")},
    }
    return [op, args, *params.get(op, [])]


def law_of(nodes: Nodes) -> dict[str, Any]:
    """A law that reports its last node."""
    return {"nodes": nodes, "report": [["last", len(nodes) - 1]]}


def reported(rng: random.Random, nodes: Nodes) -> dict[str, Any]:
    """A law that reports its last node, and sometimes another one."""
    law = law_of(nodes)
    return {**law, "report": law["report"] + ([["other", rng.randrange(1, len(nodes))]] if rng.random() < 0.3 else [])}
