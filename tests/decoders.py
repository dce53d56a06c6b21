"""Everything that reads what others wrote, for fuzz.py: a decoder refuses with an error of the library and nothing else.

What it accepts must survive a round trip.
"""

import json
from collections.abc import Callable

import numpy as np

import deniable as dn
from deniable.arrays import Ints
from deniable.collector.json_reports import read_json
from deniable.core.operations import Type
from deniable.core.program import Program
from deniable.core.running import run
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from deniable.survey import Message
from deniable.survey.message import encode
from tests import ROOT
from tests.collector.json_writer import write_json
from tests.surveys import SPARSE, several, survey

ASKED = survey(SPARSE)
FILMS = ASKED.questions[0].mechanism
FEW = dn.Compressed(dn.SparseVector(24), epsilon=2.0, alpha=1.5)  # as FILMS, and counted in less time
SHORT = 300  # characters of laws that proofs begin with
DIRECT = dn.DirectResponse(dn.Categories(range(9)), epsilon=1.0)


def message(data: bytes) -> None:
    """A body of a survey's messages."""
    found = ASKED.read(data)
    assert b"".join(encode(ASKED.fingerprint_bytes, one) for one in found) == data
    for one in found:
        ASKED.unpack(one)


def payload(data: bytes) -> None:
    """The reports in a message whose checksum is right: unpacked one by one and together, and counted."""
    (one,) = ASKED.read(encode(ASKED.fingerprint_bytes, Message(bytes(16), ASKED.whole, 0, 1, data)))
    apart, together = ASKED.unpack(one), ASKED.unpack_singles(one.part, [data, data])
    for question, single, both in zip(ASKED.questions, apart, together, strict=True):
        assert np.array_equal(2 * question.mechanism.votes(single.columns), question.mechanism.votes(both.columns))


def json_report(data: bytes) -> None:
    """A report in JSON."""
    for one in read_json(ASKED, data):
        ASKED.unpack(one)
        assert read_json(ASKED, json.dumps(write_json(ASKED, one)).encode()) == [one]


def reports(data: bytes) -> None:
    """A file of packed reports."""
    assert DIRECT.pack(DIRECT.unpack(data)) == data


def sparse_reports(data: bytes) -> None:
    """A file of packed reports of variable length."""
    assert FILMS.pack(FILMS.unpack(data)) == data


def labels(data: bytes) -> None:
    """The message of a compressed vector, which is read and counted."""
    FEW.votes({"key": np.array([7], np.uint64), "message": np.array([data, None], object)[:1]})


def specification(data: bytes) -> None:
    """A survey in JSON."""
    found = dn.Survey.from_json(data.decode("utf-8", "replace"))
    assert dn.Survey.from_json(found.to_json()).fingerprint == found.fingerprint


def law(data: bytes) -> None:
    """The program of a law, which runs too if it has no long rows."""
    program = Program.from_json(data.decode("utf-8", "replace"))
    assert Program.from_json(program.to_json()) == program
    if sum(kind.width or 1 for kind in program.types) < 10_000:
        kinds = [program.types[place] for place, _ in program.codes]
        run(program, [_code(kind) for kind in kinds], dn.SeededCoins(1), 1)


def proof(data: bytes) -> None:
    """The program of a law, which is proved; whatever is found of it, the proof comes to an end."""
    found = proved(Problem.of(Program.from_json(data.decode("utf-8", "replace"))))
    assert found is None or found.odds is None or found.odds >= 1


def _code(kind: Type) -> Ints:
    """The highest code of this type; of different numbers the highest ones."""
    if kind.width is None:
        return np.array([kind.high], np.int64)
    return kind.high - np.arange(kind.width, dtype=np.int64)[None] * kind.distinct


DECODERS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each
    for each in (message, payload, json_report, reports, sparse_reports, labels, specification, law, proof)
}


def _laws() -> list[str]:
    return [json.dumps(each["law"]) for each in json.loads((ROOT / "vectors" / "laws.json").read_text())]


def examples(name: str) -> list[bytes]:
    """Good inputs to begin with."""
    good = ASKED.randomize({"films": [3, 14], "genes": [1], "sex": "f"}, dn.SeededCoins(1), now=0)
    (one,) = ASKED.read(good)
    sets = FILMS.perturb([[1, 2, 3], []], dn.SeededCoins(3))
    return {
        "message": [good, good + good],
        "payload": [one.payload],
        "json_report": [json.dumps(write_json(ASKED, one)).encode()],
        "reports": [DIRECT.pack(DIRECT.perturb([1, 2], dn.SeededCoins(2)))],
        "sparse_reports": [FILMS.pack(sets)],
        "labels": [*FEW.perturb([[1, 2, 3], [], range(24)], dn.SeededCoins(3)).columns["message"]],
        "law": [each.encode() for each in _laws()],
        "proof": [each.encode() for each in _laws() if len(each) < SHORT],
        "specification": [survey(several(2, 3)).to_json().encode()],
    }[name]
