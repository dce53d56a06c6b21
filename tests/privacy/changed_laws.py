"""Laws with a little changed: an argument, a constant, an operation, a field, or an operation put in between.

They begin with laws of families, or with small random laws of questions of which some answers are not sensitive.
"""

import itertools
import json
import random
from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from deniable.core.operations import OPERATIONS
from deniable.core.program import Program
from tests.law_fuzz import accepted
from tests.law_reference import chances
from tests.privacy.shaped_laws import ODDS, Nodes, operation
from tests.privacy.test_random_laws import MOST, values_of

OPS = [op for op in OPERATIONS if op not in ("code", "pick", "pick_each", "pack")]


@dataclass(frozen=True)
class Asked:
    """A law; where some answers may be disclosed, by which field, from which value on, and the places of the others."""

    law: dict[str, Any]
    opens: tuple[str, int] | None = None
    sensitive: frozenset[int] = frozenset()

    @property
    def program(self) -> Program:
        """The law as a program."""
        return Program.from_json(json.dumps(self.law))


def exact_open(program: Program, field: str, start: int, sensitive: Collection[int]) -> Fraction | None:
    """The largest ratio of reports that disclose nothing; None: unbounded, or one that discloses has another source."""
    answers = list(itertools.product(*(values_of(program.types[place]) for place, _ in program.codes)))
    laws, worst = [chances(program, codes, MOST) for codes in answers], Fraction(1)
    place = [name for name, _ in program.report].index(field)
    for report in {each for law in laws for each in law}:
        found = [law.get(report, Fraction(0)) for law in laws]
        if int(report.split(" ")[place]) >= start:
            (first, *_), *others = (codes for codes, chance in zip(answers, found, strict=True) if chance)
            if others or first in sensitive:
                return None
        elif not min(found):
            return None
        else:
            worst = max(worst, max(found) / min(found))
    return worst


def changed(rng: random.Random, asked: Asked, times: int) -> Asked:
    """The same with so many changes."""
    for _ in range(times):
        tries = (_change(rng, json.loads(json.dumps(asked.law))) for _ in range(40))
        asked = replace(asked, law=next((law for law in tries if accepted(law) is not None), asked.law))
    return asked


def _change(rng: random.Random, law: dict[str, Any]) -> dict[str, Any]:
    nodes = law["nodes"]
    place = rng.randrange(1, len(nodes))
    node, kind = nodes[place], rng.randrange(6)
    if kind == 0 and node[1]:
        node[1][rng.randrange(len(node[1]))] = rng.randrange(place)
    elif kind == 1 and len(node) > 2 and node[0] != "code":
        node[-1] = _other(rng, node[-1])
    elif kind == 2:
        node[0] = rng.choice(OPS)
    elif kind == 3:
        rng.choice(law["report"])[1] = rng.randrange(len(nodes))
    else:
        between(rng, law, place)
    return law


def _other(rng: random.Random, value: Any) -> Any:
    """Another parameter of the same kind."""
    if isinstance(value, list):
        return [rng.choice([*value, 0, 1]) if rng.random() < 0.3 else each for each in value]
    return value + rng.choice([-1, 1]) if isinstance(value, int) else rng.choice(ODDS)


def between(rng: random.Random, law: dict[str, Any], place: int) -> None:
    """Put an operation before a place, and use it in one of the later ones."""
    nodes, size = law["nodes"], rng.choice([2, 3, 4])

    def moved(node: int) -> int:
        return node + (node >= place)

    for node in nodes[place:]:
        node[1] = [moved(arg) for arg in node[1]]
    law["report"] = [[name, moved(node)] for name, node in law["report"]]
    nodes.insert(place, operation(rng, place, rng.choice(OPS), size))
    users = [node for node in nodes[place + 1 :] if node[1]]
    if users:
        args = rng.choice(users)[1]
        args[rng.randrange(len(args))] = place


def opened(rng: random.Random) -> Asked:
    """Sensitive answers are randomized; of others the report is one to hide behind, or discloses them."""
    size, width, odds = rng.choice([3, 4]), rng.choice([2, 3]), rng.choice(ODDS)
    some, is_row = rng.randrange(1, size), rng.random() < 0.7
    nodes: Nodes = [["code", [], "x", 0, size - 1], ["table", [0], [0] * some + [1] * (size - some)], ["const", [], 0]]
    nodes += [["toss", [], rng.choice(ODDS)], ["toss", [], rng.choice(ODDS)], ["mod", [0], width], ["below", [], width]]
    told = either = rng.choice([3, 4])
    if is_row:
        hides = [["put", [8, 6, either]], ["turn", [8, either]], ["and", [8, 3]], ["not", [8]]]
        rare = [["subset", [2], width, 1], ["majority", [], width], ["flags", [], rng.choice(ODDS), width]]
        nodes += [["flags", [], odds, width], ["flags", [], odds, width]]
        nodes += [["put", [7, 5, rng.choice([3, 4])]], rng.choice([*hides, *rare])]
    else:
        nodes += [["split", [], odds, 1, width - 1], ["add", [5, 7]], ["mod", [8], width]]
    hidden = rng.choice([10, 8]) if is_row else 6
    if is_row and rng.random() < 0.7:  # whether an answer is disclosed depends on whether the row is empty
        told = 14
        nodes += [["ones", [hidden]], ["eq", [11, 2]], ["and", [12, 4]], ["or", [13, rng.choice([3, 4])]]]
    end = len(nodes)
    nodes += [["and", [1, told]], ["const", [], 2], ["add", [0, end + 1]], ["where", [end, end + 2, 2]]]
    nodes.append(["where", [1, hidden, 9]])
    law = {"nodes": nodes, "report": [["open", end + 3], ["y", end + 4]]}
    return Asked(law, ("open", rng.choice([1, 2])), frozenset(range(some)))
