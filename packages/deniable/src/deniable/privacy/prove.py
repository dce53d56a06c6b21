"""The proof of a mechanism's law: a bound by the rules, for every answer and every draw, and a case that reaches it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core import Domain, Flags, Mechanism, PackedBits, Program
from deniable.core.law import Law
from deniable.errors import InvalidLaw, NotCertifiable
from deniable.privacy.bounds import Bound
from deniable.privacy.problem import Builder, Problem, Stand
from deniable.privacy.proofs import is_ours
from deniable.privacy.ratio import Worst
from deniable.privacy.rules import proved
from deniable.privacy.worlds import cost, law

WORLDS = 1 << 15  # of one answer, where a case is looked for that reaches the bound
ANSWERS = 32  # that are all compared; of more answers a few are
KNOWN = 256  # choices of public draws that are all compared; of more choices a few are
FEW = 8
RUN_THE_LAW = (  # what takes an answer to a report and to its bytes, beside the law itself
    *("perturb", "_drawn", "prepared", "encoded", "encodes", "traced", "law", "_law"),
    *("report_layout", "fingerprint", "pack", "checked_reports", "__getattribute__", "__copy__", "__getstate__"),
)
_MRO: Any = type.__dict__["__mro__"]  # the one that Python follows, whatever a metaclass says
KEPT_WITH_IT = ("_law", "fingerprint", "secret", "disclosed_share")  # worked out once, and then a part of the object


@dataclass(frozen=True)
class Proof:
    """What the rules found, and a case that reaches the bound if one was found."""

    bound: Bound
    case: Worst | None


def prove(mechanism: Mechanism) -> Proof:
    """The best bound for the law that runs; refuses a mechanism that does not run its law, or that no rule reaches."""
    found = proved(Problem.of(law_that_runs(mechanism)))
    if found is not None:
        return Proof(found, reached(mechanism, found))
    unbounded = Bound(None, ("counterexample",))
    case = reached(mechanism, unbounded)
    if case is None:
        raise NotCertifiable(
            "Not proved at this size: no rule of proof covers this law. Use a smaller question or another mechanism."
        )
    return Proof(unbounded, case)


def law_that_runs(mechanism: Mechanism) -> Program:
    """The law as a program; refuses a mechanism that does not run its law, or whose law is no program."""
    check_own_code(mechanism, RUN_THE_LAW)
    try:
        law = mechanism._law
    except InvalidLaw as why:
        raise NotCertifiable(f"The law cannot be recorded as a program: {why}") from why
    if type(law) is not Law or type(law.program) is not Program or not is_ours(type(law.layout)):
        raise NotCertifiable(
            "The law or the layout of this mechanism is an instance of a custom class. Use those of deniable."
        )
    return law.program


def check_own_code(mechanism: Mechanism, names: Sequence[str]) -> None:
    """Refuse a mechanism that has one of these from elsewhere, in its class or in the object itself."""
    own: dict[str, object] = object.__getattribute__(mechanism, "__dict__")
    for name in names:
        owner = next((cls for cls in _MRO.__get__(type(mechanism)) if name in cls.__dict__), object)
        if (owner is not object and not is_ours(owner)) or (name in own and name not in KEPT_WITH_IT):
            raise NotCertifiable(
                f"This mechanism has a `{name}` of its own, so its reports may not come from its law. Leave "
                f"`{name}` as it is and write the law in `randomize`."
            )


def check_own_answers(mechanism: Mechanism) -> None:
    """Refuse answers that become codes by code from elsewhere, for a proof that follows what this code does now."""
    if not has_own_answers(mechanism):
        raise NotCertifiable(
            "A custom class encodes the answers, and may encode them differently later. This proof needs a domain class of "
            "deniable; certify(mechanism) without `proof` covers every code, where all answers "
            "are protected alike."
        )


def has_own_answers(mechanism: Mechanism) -> bool:
    """Whether answers become codes by code of this package alone, which does the same each time."""
    return _is_own(mechanism.domain) and (not mechanism.encodes or is_ours(type(mechanism)))


def _is_own(domain: object) -> bool:
    """Whether a domain is of a class of this package, and so are those that it is made of."""
    values = [value for own in vars(domain).values() for value in (own if isinstance(own, tuple | list) else (own,))]
    inner = [value for value in values if isinstance(value, Domain)]
    return is_ours(type(domain)) and not any(map(callable, values)) and all(map(_is_own, inner))


def reached(mechanism: Mechanism, found: Bound) -> Worst | None:
    """Two answers and a report between whose probabilities lies exactly the bound, looked for among a few answers."""
    domain, inputs = mechanism.domain, mechanism.domain.inputs
    if mechanism.encodes or inputs is None or any(each.width is not None for each in inputs):
        return None
    if found.marked and len(inputs) == 1 and domain.size > 1:
        return Worst(found.odds, (0, 1), found.marked)
    size = domain.size
    chosen = list(range(size)) if size <= ANSWERS else sorted({0, 1, 2, size // 2, size - 1})
    for laws in laws_of(mechanism, chosen, WORLDS):
        worst = _largest(laws)
        if worst is not None and worst[0] == found.odds:
            _, first, second, report = worst
            return Worst(found.odds, (chosen[first], chosen[second]), _written(mechanism, report))
    return None


def laws_of(mechanism: Mechanism, chosen: Sequence[int], most: int) -> Iterator[list[dict[tuple[int, ...], Fraction]]]:
    """The exact laws of these answers, for a few choices of all public draws; none if one has more worlds than `most`.

    What an answer does not need is not followed: the program is simplified for each of them.
    """
    problem, domain = Problem.of(law_that_runs(mechanism)), mechanism.domain
    nodes = [place for place, node in enumerate(problem.nodes) if node.op == "code" and place not in problem.known]
    inputs = None if mechanism.encodes else domain.inputs
    if inputs is None or len(nodes) != len(inputs) or len(problem.view) != len(mechanism.layout.fields):
        return
    codes = domain.encode([domain.answer(index) for index in chosen])
    for known in _settings(problem):
        laws = []
        for row in range(len(chosen)):
            stands = {node: Stand(constant=int(code[row])) for node, code in zip(nodes, codes, strict=True)}
            build, at = Builder(), dict[int, int]()
            build.copy(problem, problem.view, at, {**stands, **known})
            view = [at[node] for node in problem.view]
            fixed = build.problem(view)
            if cost(fixed, view) > most:
                return
            laws.append(dict(zip(*law(fixed, view, []), strict=True)))
        yield laws


def _settings(problem: Problem) -> Iterator[Mapping[int, Stand]]:
    """A few choices of all known codes."""
    knowns = problem.knowns(problem.view)
    ranges = [range(problem.types[node].low, problem.types[node].high + 1) for node in knowns]
    total = math.prod(map(len, ranges))
    for turn in range(total) if total <= KNOWN else range(0, total, total // FEW):
        rest, chosen = turn, {}
        for node, each in zip(knowns, ranges, strict=True):
            rest, own = divmod(rest, len(each))
            chosen[node] = Stand(constant=each[own])
        yield chosen


def _largest(laws: Sequence[Mapping[tuple[int, ...], Any]]) -> tuple[Any, int, int, tuple[int, ...]] | None:
    """The largest ratio of two laws, None as the ratio where one is 0, with whose laws they are and the report."""
    best: tuple[Any, int, int, tuple[int, ...]] | None = None
    for report in {key for each in laws for key in each}:
        chances = [each.get(report, 0) for each in laws]
        first, second = (chances.index(pick(chances)) for pick in (max, min))
        if not chances[second]:
            return None, first, second, report
        ratio = chances[first] / chances[second]
        if best is None or ratio > best[0]:
            best = ratio, first, second, report
    return best


def _written(mechanism: Mechanism, values: Sequence[int]) -> str:
    """The report with these values of its fields, as bytes in hexadecimal."""
    columns = {}
    for field, value in zip(mechanism.layout.fields, values, strict=True):
        if isinstance(field, Flags):
            bits = np.array([[value >> place & 1 for place in range(field.bits)]], np.bool_)
            columns[field.name] = PackedBits.pack(bits).bytes
        else:
            columns[field.name] = np.array([value], field.dtype)
    return mechanism.layout.rows(columns)[0].tobytes().hex()
