"""The client in C: the reports of all vectors, the exact law that Python enumerates, and no program that is not a law."""

import hashlib
import itertools
import json
import math
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Bools, Ints
from deniable.core.coins import WHOLE
from deniable.core.every import LARGEST_COIN, EveryCoin
from deniable.core.layout import Number
from deniable.core.program import OPERATIONS as KNOWN
from deniable.core.program import Program, Type
from deniable.core.running import run
from deniable.errors import InvalidLaw, NotCertifiable
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from tests import ROOT
from tests.clients import c_library
from tests.clients.c_library import Library, Refused, Report
from tests.families import INSTANCES

pytestmark = pytest.mark.needs("cc")

VECTORS = json.loads((ROOT / "vectors" / "laws.json").read_text())
MOST_OUTCOMES = 100_000  # combinations of draws that are gone through for an answer
ENOUGH = 10_000  # after so many, two answers suffice
LARGEST = 60_000  # bytes of the stripped library


def text_of(case: dict[str, Any]) -> str:
    return json.dumps(case["law"], separators=(",", ":"))


def flat(codes: Sequence[Any]) -> list[int]:
    return [number for code in codes for number in (code if isinstance(code, list) else [code])]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(c_library.compiled(tmp_path_factory.mktemp("c") / "libdeniable.so", "-Os", "-fPIC", "-shared", "-s"))


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("c") / "test"
    return c_library.compiled(out, *c_library.SANITIZED, sources=["test.c", *c_library.SOURCES])


def output(*command: object, data: bytes = b"") -> str:
    done = subprocess.run([str(word) for word in command], input=data, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stdout.decode()[-2000:] + done.stderr.decode()[-4000:]
    return done.stdout.decode()


def test_it_is_small(library: Library, tmp_path: Path) -> None:
    path = c_library.compiled(tmp_path / "small.so", "-Os", "-fPIC", "-shared", "-s")
    assert path.stat().st_size < LARGEST


@pytest.mark.needs("make")
def test_its_makefile_builds_and_tests(tmp_path: Path) -> None:
    printed = output("make", "-s", "-C", c_library.FOLDER, f"BUILD={tmp_path}", "TIMES=2000", "all", "test")
    assert "code and data" in printed and "all as expected" in printed


def test_the_documented_code_compiles(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "law.md").read_text()
    (block,) = re.findall(r"^```c\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "page.c").write_text(block)
    c_library.compiled(tmp_path / "page.o", "-c", f"-I{c_library.FOLDER}", sources=[str(tmp_path / "page.c")])


def test_it_has_the_operations_of_python() -> None:
    """In any order, with as many arguments and parameters."""
    lines = re.findall(r"X\((\w+), (-?\d), (\d), \w+\)", (c_library.FOLDER / "operations.h").read_text())
    here = {name: (None if arity == "-1" else int(arity), int(most)) for name, arity, most in lines}
    assert here == {name: (arity, most) for name, (arity, most, _) in KNOWN.items()}


@pytest.mark.parametrize("case", VECTORS, ids=[case["name"] for case in VECTORS])
def test_all_vectors_come_out(library: Library, case: dict[str, Any]) -> None:
    law = library.load(text_of(case))
    layout = INSTANCES[case["name"]].layout
    for each in case["cases"]:
        law.run(library.seeded(each["seed"]), flat(each["codes"]))
        expected = {name: bytes.fromhex(v) if isinstance(v, str) else v for name, v in each["report"].items()}
        assert law.report == expected
        columns = {
            field.name: np.array([expected[field.name]], field.dtype)
            if isinstance(field, Number)
            else np.frombuffer(expected[field.name], np.uint8)[None]
            for field in layout.fields
        }
        assert law.pack([field.bits for field in layout.fields]) == layout.pack(columns)


def test_types_are_those_of_python(library: Library) -> None:
    for case in VECTORS:
        law = library.load(text_of(case))
        for place, kind in enumerate(Program.from_json(text_of(case)).types):
            node = law.view.nodes[place]
            assert kind == Type(node.low, node.high, node.width or None, bool(node.row))


# The exact law


class EveryToss(EveryCoin):
    """Also for vectors of numbers that are tossed each."""

    def toss_each(self, heads: Ints, whole: int = WHOLE) -> Bools:
        toss, rows = super().toss_each, 1 if self._rows is None else len(self._rows)
        return np.stack([toss(column, whole) for column in heads.reshape(rows, -1).T], axis=1).ravel()


def batch(program: Program, codes: Sequence[int], size: int) -> list[Ints]:
    left, found = iter(codes), []
    for place, _ in program.codes:
        width = program.types[place].width
        values = np.array(list(itertools.islice(left, width or 1)), np.int64)
        found.append(np.repeat(values[None], size, axis=0) if width else np.repeat(values, size))
    return found


def outcomes(program: Program, codes: Sequence[int]) -> tuple[EveryToss, int] | None:
    """Coins that know how many combinations there are; nothing if they are too many."""
    coins = EveryToss()
    try:
        run(program, batch(program, codes, 1), coins, 1)
    except NotCertifiable:
        return None
    return coins, coins.combinations


def listed(column: Any, size: int) -> list[int | bytes]:
    """A field of the reports: rows as bytes, numbers as numbers."""
    if np.ndim(column) == 2:
        return [bytes(row) for row in column]
    return [int(number) for number in np.broadcast_to(column, size)]


def enumerated(program: Program, codes: Sequence[int], coins: EveryToss) -> dict[Report, Fraction]:
    """The exact law of the program in Python."""
    size = coins.combinations
    coins.follow(np.arange(size))
    fields = run(program, batch(program, codes, size), coins, size)
    which, chances = coins.chances()
    columns = [
        [bytes(row) for row in each] if np.ndim(each) == 2 else np.broadcast_to(each, size).tolist()
        for each in fields.values()
    ]
    times: dict[tuple[Report, int], int] = {}
    for key in zip(zip(*columns, strict=True), which.tolist(), strict=True):
        times[key] = times.get(key, 0) + 1
    found: dict[Report, Fraction] = {}
    for (report, chance), count in times.items():
        found[report] = found.get(report, Fraction(0)) + chances[chance] * count
    return {report: chance for report, chance in found.items() if chance}


def some_codes(program: Program, most: int) -> list[list[int]]:
    """All codes where they are few; else the lowest, the highest and some between."""
    kinds = [program.types[place] for place, _ in program.codes]
    ranges = [range(kind.low, kind.high + 1) for kind in kinds for _ in range(kind.width or 1)]
    if math.prod(len(each) for each in ranges) <= most:
        return [list(each) for each in itertools.product(*ranges)]
    draw = random.Random(len(ranges))
    between = [[draw.choice(each) for each in ranges] for _ in range(most - 2)]
    return [[each[0] for each in ranges], [each[-1] for each in ranges], *between]


def enumerable() -> Iterator[Any]:
    for case in VECTORS:
        program = Program.from_json(text_of(case))
        counted = outcomes(program, flat(case["cases"][0]["codes"]))
        if counted is not None and counted[1] <= MOST_OUTCOMES:
            yield pytest.param(case, id=case["name"])


ENUMERABLE = list(enumerable())


@pytest.mark.parametrize("case", ENUMERABLE)
def test_its_exact_law_is_that_of_python(library: Library, case: dict[str, Any]) -> None:
    """Every combination of draws is gone through in C, Python giving the coins."""
    program, law = Program.from_json(text_of(case)), library.load(text_of(case))
    done = 0
    for place, codes in enumerate(some_codes(program, 12)):
        if place > 1 and done > ENOUGH:
            break
        counted = outcomes(program, codes)
        assert counted is not None
        found = c_library.enumerated(law, codes)
        assert sum(found.values()) == 1
        assert found == enumerated(program, codes, counted[0])
        done += counted[1]


def all_codes(program: Program) -> int:
    return math.prod(kind.size ** (kind.width or 1) for kind in (program.types[place] for place, _ in program.codes))


def worst_ratio(laws: Sequence[dict[Report, Fraction]]) -> Fraction | None:
    """The largest ratio of the probabilities of one report under two codes; None if one of them is 0."""
    found = Fraction(1)
    for report in set[Report]().union(*laws):
        chances = [law.get(report, Fraction(0)) for law in laws]
        if not min(chances):
            return None
        found = max(found, max(chances) / min(chances))
    return found


def test_what_is_proved_is_the_loss_of_the_client_in_c(library: Library) -> None:
    """For every law that is small enough to follow all codes and draws, the bound of the proof is the exact loss of C."""
    certified = 0
    for case in (each.values[0] for each in ENUMERABLE):
        program = Program.from_json(text_of(case))
        counted = outcomes(program, flat(case["cases"][0]["codes"]))
        assert counted is not None
        if all_codes(program) * counted[1] <= ENOUGH // 2:
            law, bound = library.load(text_of(case)), proved(Problem.of(program))
            found = worst_ratio([c_library.enumerated(law, codes) for codes in some_codes(program, all_codes(program))])
            assert bound is not None and bound.odds == found, case["name"]
            certified += 1
    assert certified > 80


def test_nearly_all_vectors_are_enumerated() -> None:
    """And every operation that a law may use stands in one of them."""
    assert len(ENUMERABLE) >= len(VECTORS) - 8 and MOST_OUTCOMES < LARGEST_COIN


# Operations that no family uses, or not in every form


def law_of(*nodes: list[Any]) -> str:
    """A law that reports every node but the codes."""
    report = [[f"f{place}", place] for place, node in enumerate(nodes) if node[0] != "code"]
    return json.dumps({"nodes": nodes, "report": report})


SMALL = {
    "arithmetic": law_of(
        ["code", [], "a", -7, 9],
        ["below", [], 5],
        ["const", [], 3],
        *([op, [0, 1]] for op in ("add", "sub", "mul", "min", "max", "lt", "eq")),
        ["abs", [0]],
        ["div", [0], 4],
        ["mod", [0], 4],
        ["where", [8, 0, 2]],
        ["shr", [1, 2]],
        *([op, [1, 2]] for op in ("and", "or", "xor")),
        ["not", [8]],
        ["ones", [17]],
    ),
    "rows": law_of(
        ["code", [], "a", 0, 10],
        ["flags", [], "1/3", 11],
        ["toss", [], "2/7"],
        ["put", [1, 0, 2]],
        ["get", [1, 0]],
        ["const", [], 9],
        ["swap", [3, 0, 5]],
        ["turn", [6, 2]],
        ["not", [7]],
        *([op, [6, 8]] for op in ("and", "or", "xor")),
        ["and", [6, 2]],
        ["where", [2, 7, 8]],
        ["widen", [6], 17],
        ["join", [14, 1, 6]],
        ["ones", [15]],
        ["pack", [0, 2, 5], 4],
    ),
    "wholes": law_of(
        ["code", [], "a", 0, 1 << 53],
        ["toss_each", [0], str(1 << 53)],
        ["code", [], "b", 0, 3],
        ["toss_each", [2], 3],
        ["split", [], "1/1", 3, 0],
        ["split", [], "0/5", 2, 2],
        ["pick", [], [0, 3, 0, str(1 << 60)]],
        ["toss", [], "1/2"],
        ["not", [7]],
        ["public", [], 16],
        ["const", [], 15],
        ["and", [9, 10]],
        ["const", [], 1],
        ["aim", [11, 12, 8]],
        ["around", [2, 9], 7, 10],
        ["around", [7, 8], 2, 3],
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_every_operation_does_what_python_does(library: Library, name: str) -> None:
    program, law = Program.from_json(SMALL[name]), library.load(SMALL[name])
    for seed, codes in enumerate(some_codes(program, 30) * 4):
        law.run(library.seeded(seed), codes)
        fields = run(program, batch(program, codes, 1), dn.SeededCoins(seed), 1)
        assert law.report == {name: listed(value, 1)[0] for name, value in fields.items()}


DRAWS: dict[str, list[Any]] = {
    "below": ["below", [], 3_000_000_000],
    "below-widest": ["below", [], str((1 << 61) + (1 << 60) + 1)],
    "toss-long": ["toss", [], f"{3**1200}/{2**1000 * 3**1200 + 3**1201}"],
    "flags": ["flags", [], "85/256", 1000],
    "flags-tied": ["flags", [], f"{(1 << 200) // 3}/{1 << 200}", 1001],
    "split": ["split", [], "1/3", 16_777_216, 16_777_217],
    "subset": ["subset", [0], 999, 500],
    "subset-often-refused": ["subset", [0], 30_000, 30_000],
    "majority": ["majority", [], 2],
    "majority-wide": ["majority", [], 130],
    "pick": ["pick", [], [1, 0, 5, (1 << 50) + 7]],
    "vector": ["toss_each", [1], str((1 << 62) - (1 << 60) + 1)],
    "vector-units": ["toss_each", [1], str(1 << 53)],
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_take_the_same_bytes(library: Library, name: str) -> None:
    """Also where words are refused, digits tie, and a draw follows the one that is looked at."""
    vector = DRAWS[name][1] == [1]
    nodes = [
        ["code", [], "less", 0, 1],
        ["code", [], "heads", 0, str(1 << 53), 70],
        DRAWS[name],
        ["below", [], str(1 << 62)],
    ]
    last = [["const", [], 41], ["at", [2, 4]], ["const", [], 69], ["at", [2, 6]]] if vector else []
    report = [["bound", 3], *([["x", 5], ["y", 7]] if vector else [["drawn", 2]])]
    text = json.dumps({"nodes": [*nodes, *last], "report": report})
    program, law = Program.from_json(text), library.load(text)
    for seed in range(25):
        codes = [seed % 2, *((place << 53) // 69 for place in range(70))]
        law.run(library.seeded(seed), codes)
        fields = run(program, batch(program, codes, 1), dn.SeededCoins(seed), 1)
        assert law.report == {name: listed(value, 1)[0] for name, value in fields.items()}


# Memory, bytes and messages


def test_it_says_what_is_wrong(library: Library) -> None:
    law = library.load(text_of(VECTORS[1]))
    for codes in ([5], [-1], [], [1, 1]):
        with pytest.raises(Refused, match="Nothing was reported") as refused:
            law.run(library.seeded(1), codes)
        assert refused.value.code == c_library.CODE
    for code in range(1, 23):
        assert library.c.deniable_sentence(code).decode().endswith(".")
    assert library.c.deniable_sentence(99) == b"Unknown error."


def test_memory_that_is_too_small_is_refused_and_more_is_never_written(library: Library) -> None:
    for case in VECTORS[::10]:
        needed = library.load(text_of(case)).view.used
        for memory in (*range(0, needed, max(1, needed // 20)), needed - 1):
            with pytest.raises(Refused) as refused:
                library.load(text_of(case), memory)
            assert refused.value.code == c_library.MEMORY


def test_wiping_leaves_no_answer(library: Library) -> None:
    text = law_of(
        ["code", [], "a", 0, 1 << 40], ["code", [], "b", 0, 1 << 40, 5], ["flags", [], "1/2", 100], ["add", [0, 1]]
    )
    law, secret = library.load(text), 0x1234567890
    law.run(library.seeded(1), [secret] * 6)
    assert secret.to_bytes(8, "little") not in law.wipe()
    assert law.report["f2"] == bytes(13)


def test_a_wrong_draw_is_not_trusted(library: Library) -> None:
    class Wrong(c_library.EveryOutcome):
        def below(self, n: int, value: int) -> None:
            super().below(1 << 40, value)

        def _choose(self, outcomes: int) -> int:
            return outcomes - 1

    law = library.load(law_of(["below", [], 4], ["table", [0], [1, 2, 3, 4]]))
    with pytest.raises(Refused) as refused:
        law.run(Wrong().view, [])
    assert refused.value.code == c_library.COINS


def test_secure_coins_differ_from_each_other(library: Library) -> None:
    law, seen = library.load(law_of(["flags", [], "1/2", 128])), set()
    for _ in range(20):
        law.run(library.secure(), [])
        seen.add(law.report["f0"])
    assert len(seen) == 20


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 1000])
def test_its_hash_is_sha256(library: Library, size: int) -> None:
    data = bytes(i % 251 for i in range(size))
    assert library.sha256(data) == hashlib.sha256(data).digest()


def test_reports_fit_their_layout_or_are_refused(library: Library) -> None:
    law = library.load(law_of(["const", [], 5], ["flags", [], "1/1", 3]))
    law.run(library.seeded(0), [])
    assert law.pack(None) == law.pack([3, 3]) == bytes([0b111101])
    assert law.pack([8, 3]) == bytes([5, 7])
    for widths, code in (([2, 3], c_library.LAYOUT), ([3, 4], c_library.LAYOUT), ([65, 3], c_library.LAYOUT)):
        with pytest.raises(Refused) as refused:
            law.pack(widths)
        assert refused.value.code == code
    with pytest.raises(Refused) as refused:
        law.pack([8, 3], room=1)
    assert refused.value.code == c_library.ROOM


def test_messages_are_those_of_the_vectors(library: Library) -> None:
    surveys = json.loads((ROOT / "vectors" / "surveys.json").read_text())
    for case in surveys:
        message = bytes.fromhex(case["message"])
        payload, period = message[56:-4], int.from_bytes(message[48:52], "little")
        parts = (bytes.fromhex(case["fingerprint"]), bytes.fromhex(case["id"]), int(case["part"]), period, payload)
        assert library.message(*parts, room=len(message)) == message
        with pytest.raises(Refused):
            library.message(*parts, room=len(message) - 1)
    assert len(surveys) > 5


def payload_of(library: Library, mechanism: dn.Mechanism, answers: Any, coins: c_library.CoinsView) -> bytes:
    """The report on an answer: Python encodes it, and C does everything else."""
    domain, encoders = mechanism.domain, mechanism._law.encoders
    law = library.load(mechanism.law.to_json())
    if domain.inputs is not None:
        given = [np.ravel(each).tolist() for each in domain.encode(answers)]
        law.run_encoded(coins, lambda code, draws: given[code])
    else:
        truth = domain.index(answers)

        def encode(code: int, draws: list[int]) -> list[int]:
            encoder = encoders[code]
            assert encoder is not None
            return np.ravel(encoder(truth, *(np.array([draw]) for draw in draws))).tolist()

        law.run_encoded(coins, encode)
    return law.pack([field.bits for field in mechanism.layout.fields])


def test_whole_surveys_are_answered_as_python_does(library: Library) -> None:
    """From the same bytes the same message: which questions, all their reports, one stream."""
    done = []
    for case in json.loads((ROOT / "vectors" / "surveys.json").read_text()):
        survey = dn.Survey.from_json(case["survey"])
        if not all(question.mechanism.traced for question in survey.questions):
            continue
        coins = library.seeded(case["seed"].encode())
        part = library.part(coins, len(survey.questions), survey.sample if survey.budget == "sampled" else 0)
        assert part == int(case["part"])
        payload = b"".join(
            payload_of(library, question.mechanism, question.answers([case["answers"].get(question.id)]), coins)
            for question in survey.part(part)
        )
        ids = bytes.fromhex(case["fingerprint"]), bytes.fromhex(case["id"])
        message = library.message(*ids, part, survey.period(case["now"]), payload, room=4096)
        assert message.hex() == case["message"], case["name"]
        done.append(case["name"])
    assert len(done) > 25 and "sampled" in done
    for questions, sample in ((0, 0), (65, 1), (3, 4)):
        with pytest.raises(Refused):
            library.part(library.seeded(1), questions, sample)


# Hostile programs


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
    "key": '{"nodes":[["const",[],1]],"report":[["a",0]],"more":1}',
}
OURS = {c_library.LONG_FRACTION, c_library.MEMORY, c_library.COINS}  # limits that only C has


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
    found = dict(zip(HOSTILE, verdicts(sanitized, list(HOSTILE.values())), strict=True))
    wrong = {name: code for name, code in found.items() if (code != c_library.OK) != python_refuses(HOSTILE[name])}
    assert wrong == {}


def test_damaged_programs_are_refused_as_python_refuses_them(sanitized: Path) -> None:
    draw = random.Random(21)
    texts = [damaged(draw) for _ in range(6_000)]
    codes = verdicts(sanitized, texts)
    wrong = [
        (code, text[:600])
        for code, text in zip(codes, texts, strict=True)
        if code not in OURS and (code != c_library.OK) != python_refuses(text)
    ]
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
        law = library.load(text, 1 << 24)
        for seed, codes in enumerate(some_codes(program, 3)):
            law.run(library.seeded(seed), codes)
            fields = run(program, batch(program, codes, 1), dn.SeededCoins(seed), 1)
            assert law.report == {name: listed(value, 1)[0] for name, value in fields.items()}
            compared += 1
    assert compared > 500


def test_vectors_come_out_under_the_sanitizers(sanitized: Path) -> None:
    assert f"{len(VECTORS)} laws" in output(sanitized, "vectors", ROOT / "vectors" / "laws.json")
    assert "still laws" in output(sanitized, "fuzz", ROOT / "vectors" / "laws.json", 10_000)
