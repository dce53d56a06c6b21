"""Small random laws of questions with non-sensitive answers: two laws between which the answer decides, and a disclosure.

They begin with what the rule of cases looks for, and go on with what could spoil it: tables of draws that decide instead of
the answer, tosses that whole rows share, draws that are used by the disclosure and by the rest of the report.
"""

import random
from typing import Any

from tests.law_fuzz import accepted
from tests.privacy.changed_laws import Asked
from tests.privacy.shaped_laws import ODDS, Nodes, go_on, law_of


def number_law(rng: random.Random) -> Asked:
    """A number from one of two laws, and the sensitive answers."""
    size = rng.choice([2, 3, 3])
    nodes, sensitive = _begun(rng, size)
    for _ in range(rng.choice([1, 2])):
        split = ["split", [], rng.choice(ODDS), 1, size - 1]
        nodes.append(rng.choice([split, ["below", [], size], ["toss", [], rng.choice(ODDS)]]))
    if rng.random() < 0.4:  # a table that decides, and not by the answer alone
        nodes += [["add", [0, 2]], ["mod", [3], size]] if rng.random() < 0.5 and len(nodes) == 3 else []
        nodes.append(["table", [rng.randrange(2, len(nodes))], [rng.randrange(2) for _ in range(size)]])
        nodes.append(["where", [len(nodes) - 1, rng.randrange(len(nodes) - 1), rng.randrange(2, len(nodes) - 1)]])
    often = ["add", "mod", "where"] * 3
    go_on(rng, nodes, (1, 6), [*often, "eq", "and", "not", "toss", "split", "xor", "below"], size)
    return Asked(_disclosed(rng, nodes), ("disclosed", 1), sensitive)


def row_law(rng: random.Random) -> Asked:
    """A row of bits from one of two laws, and the sensitive answers."""
    size = rng.choice([2, 3])
    nodes, sensitive = _begun(rng, size)
    nodes += [["flags", [], rng.choice(ODDS), size], ["toss", [], rng.choice(ODDS)]]
    some: Nodes = [["put", [2, 0, 3]], ["flags", [], rng.choice(ODDS), size], ["subset", [3], size, 1], ["below", [], size]]
    nodes += rng.sample(some, rng.randrange(3))
    if rng.random() < 0.3:  # a toss that decides about a whole row, each of whose cells is drawn as in another
        at = len(nodes)
        nodes += [["toss", [], "1/2"], ["flags", [], "1/3", size], ["flags", [], "2/3", size], ["flags", [], "1/2", size]]
        nodes += [["where", [at, at + 1, at + 2]], ["where", [1, at + 3, at + 4]]]
    often = ["where"] * 4 + ["put", "flags", "toss"] * 2
    go_on(rng, nodes, (1, 6), [*often, "ones", "eq", "get", "and", "xor", "turn", "not", "const", "below"], size)
    return Asked(_disclosed(rng, nodes), ("disclosed", 1), sensitive)


def _begun(rng: random.Random, size: int) -> tuple[Nodes, frozenset[int]]:
    """The answer, and the table of the answers that are not sensitive."""
    sensitive = frozenset(rng.sample(range(size), rng.randrange(1, size)))
    table = [int(answer not in sensitive) for answer in range(size)]
    return [["code", [], "x", 0, size - 1], ["table", [0], table]], sensitive


def _disclosed(rng: random.Random, nodes: Nodes) -> dict[str, Any]:
    """Two results between which the answer decides, most often, and a disclosure of answers that are not sensitive."""
    last = len(nodes) - 1
    tries = [["where", [1, *rng.sample(range(2, last + 1), 2)]] for _ in range(6)] if last > 2 else []
    nodes += [each for each in tries if accepted(law_of([*nodes, each])) is not None][:1]
    seen = len(nodes) - 1
    nodes.append(["toss", [], rng.choice(ODDS)])
    own = [place for place in range(2, seen) if accepted(law_of([*nodes, ["and", [1, place]]])) is not None]
    nodes.append(["and", [1, rng.choice([*own, *[seen + 1] * 4])]])
    nodes += [["const", [], 1], ["add", [0, seen + 3]], ["const", [], 0], ["where", [seen + 2, seen + 4, seen + 5]]]
    return {"nodes": nodes, "report": [["disclosed", seen + 6], ["seen", seen]]}
