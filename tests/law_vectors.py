"""What an interpreter of laws must do, in any language: five files of vectors.

vectors/laws.json: programs with seeded runs, one answer each. vectors/law_chances.json: their exact laws, the probability of
every report. vectors/law_fuzz.json: texts that may be laws, whether they are, and seeded runs of those that are.
vectors/question_laws.json: the laws of the mechanisms in good.json and of the questions in surveys.json, as devices get
them.
vectors/memory.json: permanent answers, and the reports that a device makes from them over several days.

python -m tests.law_vectors
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.bits import PackedBits
from deniable.core.operations import Type
from deniable.core.program import Program
from deniable.core.running import run
from tests import ROOT
from tests.families import INSTANCES
from tests.law_fuzz import cases as fuzzed
from tests.law_reference import chances
from tests.streams import CountingCoins

FOLDER = ROOT / "vectors"
LONGEST = 40_000  # letters of a program
SHOWN = 10  # reports of a law that is written out; of others the file has a hash


def cases(mechanism: dn.Mechanism) -> list[dict[str, Any]]:
    """A few answers, each with the codes that the program is given and the fields that come out."""
    found = []
    for seed in range(4):
        domain, law = mechanism.domain, mechanism._law
        answers = [domain.answer(int(dn.SeededCoins(b"answer %d" % seed).below(min(domain.size, 1 << 40), 1)[0]))]
        used: list[Any] = []
        if not mechanism.encodes:
            codes: list[Any] = list(domain.encode(answers))
            used = [code[0].tolist() for code in codes]
        else:
            codes = [partial(_noted, used, partial(encode, domain.index(answers))) for encode in law.encoders if encode]
        fields = run(law.program, codes, dn.SeededCoins(seed), 1)
        found.append({"seed": seed, "codes": used, "report": {name: plain(value) for name, value in fields.items()}})
    return found


def _noted(used: list[Any], encode: Any, *draws: Any) -> Any:
    code = encode(*draws)
    used.append(np.asarray(code)[0].tolist())
    return code


def plain(value: Any) -> Any:
    if isinstance(value, PackedBits):
        value = value.bytes
    value = np.asarray(value)
    return value.tobytes().hex() if value.ndim == 2 else int(value.ravel()[0])


def vectors() -> list[dict[str, Any]]:
    """All instances whose laws are programs of moderate length, each program once."""
    found, seen = [], set()
    for name, mechanism in INSTANCES.items():
        if mechanism.traced and mechanism.law.fingerprint not in seen and len(mechanism.law.to_json()) <= LONGEST:
            seen.add(mechanism.law.fingerprint)
            found.append({"name": name, "law": json.loads(mechanism.law.to_json()), "cases": cases(mechanism)})
    return found


def exact(vector: Mapping[str, Any]) -> dict[str, Any]:
    """The laws of two answers: one of the seeded runs, and one with every code in the middle of its bounds.

    None where a draw has too many outcomes to list.
    """
    program = Program.from_json(json.dumps(vector["law"]))
    middle = [_middle(program.types[place]) for place, _ in program.codes]
    few = all(node.op != "public" or node.params[0] <= LONGEST for node in program.nodes)
    given = [codes for codes in (vector["cases"][0]["codes"], middle) if codes and few]
    return {"name": vector["name"], "cases": [exact_case(program, codes) for codes in given]}


def _middle(kind: Type) -> int | list[int]:
    code = kind.low + kind.size // 2
    if kind.width is None:
        return code
    return [kind.high - place for place in range(kind.width)] if kind.distinct else [code] * kind.width


def exact_case(program: Program, codes: list[Any]) -> dict[str, Any]:
    law = {report: _text(chance) for report, chance in sorted(chances(program, codes).items())}
    text = "\n".join(f"{report} {chance}" for report, chance in law.items())
    shown = {"law": law} if len(law) <= SHOWN else {"sha256": hashlib.sha256(text.encode()).hexdigest()}
    return {"codes": codes, "reports": len(law), **shown}


def _text(chance: Fraction) -> str:
    return f"{chance.numerator}/{chance.denominator}"


def of_questions() -> Iterator[dict[str, Any]]:
    """The laws of the other vectors: of mechanisms by name, of surveys by name and question."""
    for vector in json.loads((FOLDER / "good.json").read_text()):
        mechanism = dn.mechanism_from_json(json.dumps(vector["spec"]))
        if mechanism.traced:
            yield {"name": vector["name"], **mechanism.device_law()}
    for vector in json.loads((FOLDER / "surveys.json").read_text()):
        for question in dn.Survey.from_json(vector["survey"]).questions:
            if question.mechanism.traced:
                yield {"survey": vector["name"], "question": question.id, **question.mechanism.device_law()}


WELL = dn.Categories(["well", "ill", "in hospital", "away", "unknown"])
MEMOIZED = {
    "direct": dn.Memoized.direct(WELL, 2.0, 1.0),
    "optimized": dn.Memoized.optimized(WELL, 2.0, 1.0),
    "hashing": dn.Memoized.hashing(WELL, 2.0, 1.0, 3),
    "binary-hashing": dn.Memoized.binary_hashing(dn.Categories(range(20)), 2.0, 1.0),
    "subset": dn.Memoized(dn.SubsetSelection(WELL, 1.0)),
    "interval": dn.Memoized.direct(dn.Interval(0, 10, steps=5), 2.0, 1.0),
    "mean": dn.PermanentMean.twice_randomized(dn.Interval(0, 10, steps=5), 2.0, 1.0),
    "set": dn.PermanentSet.twice_randomized(dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2), 2.0, 1.0),
}
DAYS = (1, 1, 0, 1, 3, 0, 2, 1)  # the answers of a person, by their place in the domain


def memories() -> Iterator[dict[str, Any]]:
    """What a device reports over several days, from the answers that it keeps."""
    for name, mechanism in MEMOIZED.items():
        memory, coins = dn.Memory(mechanism), CountingCoins(name.encode())
        answers = [mechanism.domain.answer(place) for place in DAYS]
        reports, drawn = [], []
        for answer in answers:
            before = coins.drawn
            reports.append(memory.report(answer, coins).pack().hex())
            drawn.append(coins.drawn - before)
        about = {"name": name, "spec": mechanism.spec(), **mechanism.device_law(), "seed": name, "answers": answers}
        odds = {"odds": str(mechanism.loss().odds), "ever": str(mechanism.lifetime_loss().odds)}
        yield {**about, **odds, "distinct": memory.distinct, "random_bytes": drawn, "reports": reports}


def short(found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The programs that mutants are made of."""
    return [each["law"] for each in found if len(json.dumps(each["law"])) < 500]


def _write(name: str, entries: Iterable[Any]) -> None:
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in entries)
    (FOLDER / name).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    laws = vectors()
    _write("laws.json", laws)
    _write("law_chances.json", map(exact, laws))
    _write("law_fuzz.json", fuzzed(short(laws)))
    _write("question_laws.json", of_questions())
    _write("memory.json", memories())
