"""Python, JavaScript and C on random programs: which are laws, what they report, and how much they are proved to lose.

A third of the programs are laws of the vectors with one thing changed, most of which are no laws any more; a third are made
of random operations of any size; and a third are small, so that their exact loss is known. All implementations must accept
the same programs and make the same reports. Bounds may differ, but none may be below the exact loss, and what one calls
unbounded no other may bound.

python -m tests.random_laws            # 12,000 programs: several minutes
python -m tests.random_laws 1500 7     # so many, from another seed
python -m tests.random_laws 1500 7 js  # only what JavaScript does not prove, and Python does: a minute
"""

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.core.program import Program
from deniable.errors import InvalidLaw
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from tests import ROOT
from tests.clients import c_library
from tests.clients.c_laws import VECTORS, flat
from tests.clients.c_library import Library, Refused
from tests.law_fuzz import accepted, grown, mutated, seeded_run
from tests.law_reference import key
from tests.privacy import test_random_laws as small

RUNS = 2
C_LIMITS = {c_library.LONG_FRACTION, c_library.MEMORY, c_library.COINS}  # of memory and of long numbers
JS_ENTRIES = 1 << 16  # of all tables together; Python and C allow 2^22


def programs(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """The kind of each program, and its text."""
    rng, laws = random.Random(seed), [each["law"] for each in VECTORS]
    for number in range(count):
        kind = ("changed", "random", "small")[number % 3]
        made: dict[str, Callable[[], object]] = {
            "changed": lambda: mutated(rng.choice(laws), rng),
            "random": lambda: grown(rng),
            "small": lambda: small.grown(rng),
        }
        yield kind, json.dumps(made[kind](), separators=(",", ":"))


def verdict(program: Program) -> str:
    """The odds that Python proves, as text."""
    try:
        bound = proved(Problem.of(program))
    except InvalidLaw:  # an encoder is given what depends on the answer
        return "not proved"
    return "not proved" if bound is None else "unbounded" if bound.odds is None else str(bound.odds)


def in_javascript(cases: list[dict[str, Any]]) -> list[Any]:
    """What node js/verdicts.mjs says of each."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cases, file)
        file.flush()
        command = ["node", "--max-old-space-size=2000", "verdicts.mjs", file.name]
        done = subprocess.run(command, cwd=ROOT / "js", capture_output=True, text=True, check=True, timeout=300)
    return [json.loads(line) for line in done.stdout.splitlines()]


def in_c(library: Library, program: Program, runs: list[dict[str, Any]]) -> str | None:
    """What differs in C; None if nothing does, and "beyond its limits" where it has a limit of its own."""
    try:
        law = library.load(program.to_json(), 1 << 24)
    except Refused as refused:
        return "beyond its limits" if refused.code in C_LIMITS else "refused"
    kinds = [(name, program.types[at]) for name, at in program.report]
    if any(kind.width and not kind.row for _, kind in kinds):
        return None  # a vector is in no report of a mechanism, and the library has no way to read one
    for each in runs:
        law.run(library.seeded(each["seed"]), [int(code) for code in flat(each["codes"])])
        found = law.report
        values = [_bits(found[name], kind.width) if kind.row else found[name] for name, kind in kinds]
        if key(values) != each["report"]:
            return "another report"
    return None


def _bits(row: Any, width: int | None) -> tuple[bool, ...]:
    return tuple(bool(row[place // 8] >> place % 8 & 1) for place in range(width or 0))


def compared(count: int, seed: int) -> Counter[str]:
    """How often each verdict came, and what must never come, under a name that begins with WRONG."""
    found, cases = Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        library = Library(c_library.compiled(Path(folder) / "client.so", "-O2", "-fPIC", "-shared"))
        for kind, text in programs(count, seed):
            program = accepted(text)
            runs = [] if program is None else [seeded_run(program, each) for each in range(RUNS)]
            cases.append({"law": text, "runs": runs, "kind": kind})
            if program is None:
                found["refused"] += 1
                try:
                    library.load(text, 1 << 24)
                    found["WRONG: accepted in C"] += 1
                    print("accepted in C:", text[:2000])
                except Refused:
                    pass
            else:
                found["laws"] += 1
                differs = in_c(library, program, runs)
                if differs:
                    found[f"in C: {differs}" if differs == "beyond its limits" else f"WRONG in C: {differs}"] += 1
    for case, other in zip(cases, in_javascript(cases), strict=True):
        for what in judged(case, other):
            found[what] += 1
            if what.startswith("WRONG") or "bounded in" in what or "larger" in what:
                print(what, case["law"][:2000])
    return found


def bounded_elsewhere(count: int, seed: int) -> Counter[str]:
    """How many laws JavaScript does not prove, and how many of these Python bounds, which are printed."""
    laws = [text for _, text in programs(count, seed) if accepted(text) is not None]
    found = Counter({"laws": len(laws)})
    for text, other in zip(laws, in_javascript([{"law": text, "runs": []} for text in laws]), strict=True):
        program = accepted(text)
        if program is not None and other is not None and other["odds"] == "not proved":
            found["not proved in JavaScript"] += 1
            mine = verdict(program)
            if mine not in ("not proved", "unbounded"):
                found["of these bounded in Python"] += 1
                print(mine, text)
    return found


def judged(case: dict[str, Any], other: dict[str, Any] | None) -> Iterator[str]:
    """What Python and JavaScript say of one program."""
    program = accepted(case["law"])
    if program is None or other is None:
        large = program is not None and sum(_entries(node.params) for node in program.nodes) > JS_ENTRIES
        if (program is None) != (other is None):
            yield "beyond the limits of JavaScript" if large else "WRONG: a law in one language only"
        return
    if other["reports"] != [each["report"] for each in case["runs"]]:
        yield "WRONG: another report in JavaScript"
    mine, theirs = verdict(program), other["odds"]
    exact = _exact(program) if case["kind"] == "small" and {mine, theirs} != {"not proved"} else ""
    yield _agreement(mine, theirs)
    for who, what in (("Python", mine), ("JavaScript", theirs)):
        if what not in ("not proved", "unbounded") and exact and (exact == "unbounded" or Fraction(what) < Fraction(exact)):
            yield f"WRONG: {who} proves less than is lost"
        if what == "unbounded" and exact not in ("", "unbounded") and not _has_known(program):
            yield f"WRONG: {who} calls a bounded loss unbounded"


def _agreement(mine: str, theirs: str) -> str:
    if mine == theirs:
        return f"both: {mine if mine in ('not proved', 'unbounded') else 'the same odds'}"
    words = [each if each in ("not proved", "unbounded") else "bounded" for each in (mine, theirs)]
    if "unbounded" in words and "bounded" in words:
        return f"WRONG: {words[0]} in Python, {words[1]} in JavaScript"
    if words == ["bounded", "bounded"]:
        return "larger odds in " + ("Python" if Fraction(mine) > Fraction(theirs) else "JavaScript")
    return f"{words[0]} in Python, {words[1]} in JavaScript"


def _exact(program: Program) -> str:
    try:
        loss = small.exact(program)
    except (AssertionError, InvalidLaw):
        return ""
    return "unbounded" if loss is None else str(loss)


def _has_known(program: Program) -> bool:
    """Whether there are draws that everybody knows: proofs count reports where they are known, and `exact` their mean."""
    return any(node.op == "public" or (node.op == "code" and node.args) for node in program.nodes)


def _entries(params: Any) -> int:
    return sum(len(each) + _entries(each) for each in params if isinstance(each, tuple))


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:3]]
    count, seed = (*given, *(12_000, 1)[len(given) :])
    verdicts = bounded_elsewhere(count, seed) if sys.argv[3:] == ["js"] else compared(count, seed)
    for name, often in sorted(verdicts.items(), key=lambda pair: -pair[1]):
        print(f"{often:>6,}  {name}")
    sys.exit(any(name.startswith("WRONG") for name in verdicts))
