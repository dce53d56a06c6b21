"""The client in C: its size, the reports and messages of all vectors, every operation and draw, memory and errors."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.layout import Number
from deniable.core.operations import OPERATIONS as KNOWN
from deniable.core.operations import Type
from deniable.core.program import Program
from deniable.core.running import run
from deniable.survey import Question
from tests import ROOT
from tests.clients import c_library
from tests.clients.c_laws import VECTORS, batch, flat, law_of, listed, output, some_codes, text_of
from tests.clients.c_library import Library, Refused
from tests.families import INSTANCES

pytestmark = pytest.mark.needs("cc")

LARGEST = 60_000  # bytes of the stripped library


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
            assert replace(kind, distinct=False) == Type(node.low, node.high, node.width or None, bool(node.row))


# Operations that no family uses, or not in every form


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
        ["code", [], "a", 0, str(1 << 53)],
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


def test_whether_a_report_fits_does_not_depend_on_the_answer(library: Library) -> None:
    law = library.load(json.dumps({"nodes": [["code", [], "x", 0, 7]], "report": [["x", 0]]}))
    for answer in (0, 1, 7):
        law.run(library.seeded(0), [answer])
        with pytest.raises(Refused) as refused:
            law.pack([2])
        assert refused.value.code == c_library.LAYOUT


def test_a_forgotten_key_gives_nothing(library: Library) -> None:
    law, coins = library.load(law_of(["below", [], 1 << 20])), library.secure()
    law.run(coins, [])
    library.c.deniable_forget(coins.stream)
    assert not any(coins.stream.raw[16:])  # but for its function, which only says that it failed
    with pytest.raises(Refused) as refused:
        law.run(coins, [])
    assert refused.value.code == c_library.COINS


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
            return np.asarray(encoder(truth, *(np.array([draw]) for draw in draws))).ravel().tolist()

        law.run_encoded(coins, encode)
    return law.pack([field.bits for field in mechanism.layout.fields])


GOOD = json.loads((ROOT / "vectors" / "good.json").read_text())


@pytest.mark.parametrize("vector", GOOD, ids=[vector["name"] for vector in GOOD])
def test_reports_are_those_of_the_vectors_of_mechanisms(library: Library, vector: dict[str, Any]) -> None:
    mechanism = dn.mechanism_from_json(json.dumps(vector["spec"]))
    coins = library.seeded(vector["seed"].encode())
    for answer, report in zip(vector["answers"], vector["reports"], strict=True):
        assert payload_of(library, mechanism, [answer], coins).hex() == report


def gathered(question: Question, answers: dict[str, Any]) -> Any:
    """A person's answer to a question; where several are reported together, to all of them."""
    return question.gathered([member.answers([answers.get(member.id)]) for member in question.members])


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
            payload_of(library, question.mechanism, gathered(question, case["answers"]), coins)
            for question in survey.part(part)
        )
        ids = bytes.fromhex(case["fingerprint"]), bytes.fromhex(case["id"])
        message = library.message(*ids, part, survey.period(case["now"]), payload, room=4096)
        assert message.hex() == case["message"], case["name"]
        done.append(case["name"])
    assert len(done) > 25 and {"sampled", "table-compound", "table-pairs", "table-split"} <= set(done)
    for questions, sample in ((0, 0), (65, 1), (3, 4)):
        with pytest.raises(Refused):
            library.part(library.seeded(1), questions, sample)


def test_a_token_is_put_where_python_puts_it(library: Library) -> None:
    from deniable.survey.message import MOST_TOKEN, with_token

    message = library.message(b"f" * 16, b"i" * 16, 1, 0, b"payload")
    for length in (1, 289, MOST_TOKEN):
        token = bytes(range(256))[: length % 256] + b"t" * (length - length % 256)
        assert library.with_token(message, token) == with_token(message, token)
    for token, room in ((b"", 4096), (b"t" * (MOST_TOKEN + 1), 4096), (b"t", len(message))):
        with pytest.raises(Refused):
            library.with_token(message, token, room)
    with pytest.raises(Refused):
        library.with_token(with_token(message, b"t"), b"t")
