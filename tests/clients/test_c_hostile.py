"""Programs that are no laws, and laws that nobody would write: the client in C refuses and runs what Python does."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.core.operations import OPERATIONS as KNOWN
from deniable.core.program import Program
from deniable.core.running import run
from deniable.errors import InvalidLaw
from tests import ROOT
from tests.clients import c_library
from tests.clients.c_laws import VECTORS, batch, law_of, listed, output, some_codes, text_of
from tests.clients.c_library import Library

pytestmark = pytest.mark.needs("cc")


def damaged(draw: random.Random) -> str:
    """A program of the vectors with something wrong, or only something else."""
    text = text_of(draw.choice(VECTORS))
    if draw.random() < 0.3:
        return damaged_text(draw, text)
    law = json.loads(text)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        damage_law(draw, law)
    return json.dumps(law)


NUMBERS = [-1, 0, 1, 2, 3, 7, 8, 61, 62, 63, 255, 1 << 20, (1 << 20) + 1, 1 << 53, 1 << 61, 1 << 62, (1 << 62) + 1, 1 << 63]
VALUES: list[Any] = [
    *NUMBERS,
    *(-number for number in NUMBERS),
    *(str(number) for number in NUMBERS),
    *("1/2", "0/1", "1/1", "2/1", "1/0", "-1/2", "1/2/3", "/", "1/", "1 /2", "3/4 ", "", "-", "--1", "a", "\u0663", "é/ü"),
    *(None, True, False, 0.5, 1e300, {}, {"a": 1}, [], [[]], [[], []], [1], [0], [1, 2], [[1, 2], [2, 1]], [[1], [1, 2]]),
    *([[1, 2], 3], [1, [2]], ["1", 2], [-1, 5], [1 << 62, 1 << 62], [(1 << 63) - 1], [1 << 63], ["1/2"], [[[1]]]),
    *("9" * 400 + "/1" + "0" * 400, "1/" + "7" * 1234, "1" * 4301, "x" * 4999, "x" * 5000, "0" * 4000 + "1"),
]
OPERATIONS = [*KNOWN, "nothing", ""]


def damage_law(draw: random.Random, law: dict[str, Any]) -> None:
    nodes, what = law["nodes"], draw.randrange(9)
    if not nodes:
        return
    node = draw.choice(nodes)
    if not isinstance(node, list) or len(node) < 2 or not isinstance(node[1], list):
        return
    if what == 0:
        node[0] = draw.choice(OPERATIONS)
    elif what == 1:
        node[1] = [draw.randrange(len(nodes)) for _ in range(draw.randrange(4))]
    elif what == 2 and len(node) > 2:
        node[draw.randrange(2, len(node))] = draw.choice(VALUES)
    elif what == 3:
        node.append(draw.choice(VALUES))
    elif what == 4:
        nodes.remove(node)
    elif what == 5:
        nodes.insert(draw.randrange(len(nodes) + 1), draw.choice(nodes))
    elif what == 6:
        node[draw.randrange(len(node))] = draw.choice(VALUES)
    elif what == 7:
        law["report"].append([draw.choice(["value", "z", "", "é", 5]), draw.choice([0, 1, -1, len(nodes), "0", 1.0, True])])
    else:
        law[draw.choice(["nodes", "report", "more"])] = draw.choice([*VALUES, nodes])
        law.setdefault("nodes", [])
        if not isinstance(law["nodes"], list) or not isinstance(law["report"], list):
            law["report"], law["nodes"] = [["a", 0]], law["nodes"] if isinstance(law["nodes"], list) else []


def damaged_text(draw: random.Random, text: str) -> str:
    at, to = sorted(draw.randrange(len(text) + 1) for _ in range(2))
    return draw.choice(
        [
            text[:at],
            text[:at] + text[to:],
            text[:at] + draw.choice('[]{},:"\\ \n0-9./e\x00\x1f') + text[at:],
            text[:at] + draw.choice("[{") * 5000 + text[at:],
            text.replace("[", "[ ").replace(",", "\t,\n").replace(":", " :\r"),
            text.replace("nodes", "\\u006eodes").replace("a", "\\u0061"),
            text.replace('"nodes":', '"nodes":[],"nodes":'),
            text + draw.choice([" ", "]", "0", "\n\n"]),
        ]
    )


def named(differ: int) -> str:
    """A report of 50,000 fields, with so many names."""
    return json.dumps({"nodes": [["const", [], 1]], "report": [[f"n{place % differ}", 0] for place in range(50_000)]})


HOSTILE = {
    "empty": "",
    "nothing": "null",
    "deep": '{"nodes":' + "[" * 1_000_000,
    "deep table": '{"nodes":[["const",[],' + "[" * 100_000 + "]" * 100_000 + ']],"report":[["a",0]]}',
    "many operations": law_of(*[["const", [], 1]] * 20_001),
    "all operations": law_of(*[["const", [], 1]] * 20_000),
    "a table too large": law_of(["below", [], 5], ["table", [0], [0] * ((1 << 20) + 1)]),
    "tables too large": law_of(["below", [], 5], *[["table", [0], [0] * (1 << 17)]] * 9),
    "tables": law_of(["below", [], 5], *[["table", [0], [0] * (1 << 17)]] * 8),
    "weights too many": law_of(["below", [], 1024], ["pick_each", [0], [[1] * 1025] * 1024]),
    "a cycle": law_of(["add", [1, 1]], ["add", [0, 0]]),
    "itself": law_of(["not", [0]]),
    "overflow": law_of(["const", [], str(1 << 61)], *[["mul", [place, place]] for place in range(60)]),
    "doubling": law_of(["below", [], 2], *[["add", [place, place]] for place in range(61)]),
    "doubling once more": law_of(["below", [], 2], *[["add", [place, place]] for place in range(63)]),
    "joining": law_of(["flags", [], "1/2", 1], *[["join", [place, place]] for place in range(20)]),
    "joining once more": law_of(["flags", [], "1/2", 1], *[["join", [place, place]] for place in range(21)]),
    "odds above one": law_of(["toss", [], "3/2"]),
    "odds of a float": law_of(["toss", [], 0.5]),
    "odds over zero": law_of(["toss", [], "0/0"]),
    "a subset that is never found": law_of(["const", [], 0], ["subset", [0], 1 << 20, 1 << 20]),
    "a draw that is not there": law_of(["split", [], "1/2", 1, 0]),
    "a constant denied": law_of(["const", [], 0], ["not", [0]], ["table", [1], [7]]),
    "many names": json.dumps({"nodes": [["const", [], 1]], "report": [[f"n{place}", 0] for place in range(50_000)]}),
    "a name twice": json.dumps(
        {"nodes": [["const", [], 1]], "report": [[f"n{place % 49_999}", 0] for place in range(50_000)]}
    ),
    "an escaped name twice": '{"nodes":[["const",[],1]],"report":[["a",0],["\\u0061",0]]}',
    "a long name": law_of(["code", [], "x" * 5000, 0, 1], ["const", [], 1]),
    "a number for a name": law_of(["code", [], 5, 0, 1], ["const", [], 1]),
    "a number as a name": law_of(["code", [], "5", 0, 1], ["const", [], 1]),
    "a number that JavaScript cannot read": law_of(["const", [], 1 << 53]),
    "the largest that it can": law_of(["const", [], (1 << 53) - 1]),
    "all draws for an encoder": law_of(["below", [], 2], ["code", [0] * 64, "x", 0, 1]),
    "too many draws for an encoder": law_of(["below", [], 2], ["code", [0] * 65, "x", 0, 1]),
    "bits beyond the largest": law_of(["below", [], str(1 << 62)], ["const", [], str(1 << 62)], ["or", [0, 1]]),
    "any two different numbers": law_of(
        ["code", [], "x", str(-(1 << 62)), str(1 << 62), 2, 1], ["const", [], 0], ["at", [0, 1]]
    ),
    "wrapped below zero": law_of(["code", [], "x", -5, -4], ["mod", [0], 3], ["table", [1], [0, 1, 2]], ["sub", [1, 0]]),
    "key": '{"nodes":[["const",[],1]],"report":[["a",0]],"more":1}',
}
OURS = {c_library.LONG_FRACTION, c_library.MEMORY, c_library.COINS}  # limits that only C has


def agree(code: int, text: str, again: int) -> bool:
    """Whether C and Python say the same.

    Python reads some JSON that C does not, such as 3.0 for 3, or a key twice; then C takes the text that Python writes.
    """
    if code in OURS:
        return True
    if python_refuses(text):
        return code != c_library.OK
    return code == c_library.OK or again == c_library.OK or again in OURS


def rewritten(texts: Sequence[str]) -> list[str]:
    """As Python writes those that are laws."""
    return [text if python_refuses(text) else Program.from_json(text).to_json() for text in texts]


def python_refuses(text: str) -> bool:
    try:
        Program.from_json(text)
    except InvalidLaw:
        return True
    return False


def verdicts(program: Path, texts: Sequence[str]) -> list[int]:
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    whole = b"".join(len(each).to_bytes(4, "little") + each for each in data)
    return [int(line) for line in output(program, "verdicts", data=whole).split()]


def test_hostile_programs_are_refused_as_python_refuses_them(sanitized: Path) -> None:
    texts = list(HOSTILE.values())
    codes, again = verdicts(sanitized, texts), verdicts(sanitized, rewritten(texts))
    found = zip(HOSTILE, codes, texts, again, strict=True)
    assert [name for name, code, text, other in found if not agree(code, text, other)] == []


def test_damaged_programs_are_refused_as_python_refuses_them(sanitized: Path) -> None:
    draw = random.Random(21)
    texts = [damaged(draw) for _ in range(6_000)]
    codes, again = verdicts(sanitized, texts), verdicts(sanitized, rewritten(texts))
    wrong = [found for found in zip(codes, texts, again, strict=True) if not agree(*found)]
    assert wrong[:3] == []
    assert codes.count(c_library.OK) > 500 and len(set(codes)) > 14


def test_damaged_programs_that_are_laws_run_as_in_python(library: Library) -> None:
    draw, compared = random.Random(7), 0
    for text in (damaged(draw) for _ in range(2_500)):
        if python_refuses(text):
            continue
        program = Program.from_json(text)
        if any(kind.width and (kind.width > 5_000 or not kind.row) for kind in program.types):
            continue  # large, or with a vector, which no report has
        law = library.load(program.to_json(), 1 << 24)
        for seed, codes in enumerate(some_codes(program, 3)):
            law.run(library.seeded(seed), codes)
            fields = run(program, batch(program, codes, 1), dn.SeededCoins(seed), 1)
            assert law.report == {name: listed(value, 1)[0] for name, value in fields.items()}
            compared += 1
    assert compared > 500


def test_vectors_come_out_under_the_sanitizers(sanitized: Path) -> None:
    assert f"{len(VECTORS)} laws" in output(sanitized, "vectors", ROOT / "vectors" / "laws.json")
    assert "still laws" in output(sanitized, "fuzz", ROOT / "vectors" / "laws.json", 10_000)
