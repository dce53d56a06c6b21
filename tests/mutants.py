"""Every operation of every law is changed, and each mutant is proved and then followed through every outcome.

A mutant changes a constant, exchanges operands, uses a draw again or makes one public. It is refused, is not proved, or has
a bound; and then no report of it may be more likely, under one answer against another, than that bound allows. This is
looked for by following every code and every outcome of every draw, apart from the rules of proof. Where the bound is that
of the law itself, the mutant has the same law, or the checks of `deniable.testing` see that estimates do not fit it, or the
vectors see it, which every client is compared with: from the same bytes come other reports, or these have other chances. If
none of this is so, it is named at the end, to be looked at.

python -m tests.mutants        # all of them: a quarter of an hour
python -m tests.mutants 10 3   # every tenth, from the third on: a slice
"""

import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.law import Law
from deniable.core.operations import DRAWS, Node, Type
from deniable.core.program import Program
from deniable.core.running import operation, run
from deniable.mechanisms.algebra import rings
from deniable.privacy.bounds import Bound
from deniable.privacy.cases import open_bound
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from deniable.privacy.worlds import TOO_MANY, Worlds, draw, outcome_count, sums
from deniable.testing import CheckFailed, checks
from tests.clients.c_laws import batch, flat
from tests.families import INSTANCES
from tests.law_vectors import FOLDER, exact_case, plain

LAWS, CHANCES = (json.loads((FOLDER / name).read_text()) for name in ("laws.json", "law_chances.json"))
VECTORS = {  # by the law: seeded runs, and the exact laws of two answers
    Program.from_json(json.dumps(each["law"])).fingerprint: {"runs": each["cases"], "laws": chances["cases"]}
    for each, chances in zip(LAWS, CHANCES, strict=True)
}
MOST = 1 << 20  # worlds that are followed
LIMIT = 1 << 16  # combinations of draws and answers that the checks of estimates follow
UNSEEN = "another law, as private"
MANY = 64  # numbers of a code that are all followed; of more the ends and the middle, since laws are linear between them


@dataclass(frozen=True)
class Case:
    """A law; where some answers are not sensitive, the field that discloses one, from which value on, and the others."""

    program: Program
    disclosing: tuple[str, int] | None = None
    sensitive: frozenset[int] = frozenset()
    mechanism: dn.Mechanism | None = field(default=None, compare=False)

    @cached_property
    def chances(self) -> "Chances":
        """The exact law: every code and every outcome of every draw, followed."""
        return followed(self)

    def bound(self) -> Bound | None:
        """What is proved."""
        if self.disclosing is None:
            return proved(Problem.of(self.program))
        return open_bound(self.program, *self.disclosing, self.sensitive)

    def seen(self, law: Program) -> set[str]:
        """The checks of `deniable.testing` that fail for the mechanism with this law in place of its own."""
        assert self.mechanism is not None
        mutant, failed = copy(self.mechanism), set[str]()
        mutant.__dict__["_law"] = Law(law, self.mechanism._law.encoders, self.mechanism.layout)
        for check in checks(mutant, LIMIT):
            try:
                check()
            except (CheckFailed, ArithmeticError, LookupError, ValueError):  # some stumble over reports that cannot be
                failed.add(check.name)
        return failed

    def differs(self, law: Program) -> bool:
        """Whether the vectors of the mechanism see this law in place of its own."""
        vector = VECTORS.get(self.program.fingerprint, {"runs": [], "laws": []})
        for case in vector["runs"]:
            fields = run(law, batch(law, flat(case["codes"]), 1), dn.SeededCoins(case["seed"]), 1)
            if {name: plain(value) for name, value in fields.items()} != case["report"]:
                return True
        return any(exact_case(law, each["codes"]) != each for each in vector["laws"])

    @cached_property
    def faults(self) -> set[str]:
        """Those that fail without a change: instances made for this file only say less of themselves."""
        return self.seen(self.program)


@dataclass(frozen=True)
class Chances:
    """What codes there are, how many combinations of secret ones, and the probability of each view under each of them."""

    codes: tuple[tuple[Type, bool], ...]
    secrets: int
    by_view: Mapping[tuple[int, ...], Mapping[tuple[int, ...], Fraction]]


def cases() -> dict[str, Case]:
    """The laws of all instances that can be followed, each once, and small ones of families that have none."""
    many, rings.LARGEST_LAW = rings.LARGEST_LAW, 0
    points = dn.Points(np.random.default_rng(3).random((4, 2)))
    small: dict[str, dn.Mechanism] = {
        **INSTANCES,
        "unit-codes-small": dn.UnitCodes(dn.UnitVectors(4), 2.0, 1, 1, 4),
        "unit-codes-rounds": dn.UnitCodes(dn.UnitVectors(4), 2.0, 2, 1, 3),
        "release-order": dn.Bipartite(points, 1.0, near=2),
        "release-order-rings": dn.Staircase(points, 1.0, (1, 1, 2)),
        "bits-by-turns": dn.BitRand.ome(2, 1, 1.0),
    }
    found: dict[str, Case] = {}
    for name, mechanism in small.items():
        if not mechanism.traced:
            continue
        program, open_answers = mechanism.law, mechanism.protected is not None
        if program in (case.program for case in found.values()):
            continue
        secret = np.flatnonzero(mechanism.secret).tolist() if open_answers else []  # type: ignore[attr-defined]
        case = Case(program, mechanism.layout.opens, frozenset(secret), mechanism)
        if worlds_of(Problem.of(program)) <= MOST // 16:
            found[name] = case
    rings.LARGEST_LAW = many
    return found


def mutants(program: Program) -> Iterator[tuple[str, Program | None]]:
    """What was changed, and the changed program if it is one."""
    for place, node in enumerate(program.nodes):
        for what, changed in changes(program, place, node):
            nodes = (*program.nodes[:place], changed, *program.nodes[place + 1 :])
            try:
                yield what, Program(nodes, program.report)
            except dn.InvalidLaw:
                yield what, None


def changes(program: Program, place: int, node: Node) -> Iterator[tuple[str, Node]]:
    """The changes of one operation."""
    if node.op != "code":
        for at, value in enumerate(node.params):
            for other in others(value):
                yield "constant", replace(node, params=(*node.params[:at], other, *node.params[at + 1 :]))
    for turn in range(1, len(node.args)):
        yield "operands", replace(node, args=(*node.args[turn:], *node.args[:turn]))
    draws = [each for each in range(place) if program.nodes[each].op in DRAWS]
    for at, arg in enumerate(node.args):
        for other in draws:
            if program.nodes[arg].op in DRAWS and other != arg and program.types[other].row == program.types[arg].row:
                yield "draw", replace(node, args=(*node.args[:at], other, *node.args[at + 1 :]))
    if node.op == "below":
        yield "public", replace(node, op="public")


def others(value: Any) -> list[Any]:
    """Other constants: one more, one less; another probability; a table with its ends exchanged, or one entry changed."""
    if isinstance(value, Fraction):
        return [(value + 1) / 3, 1 - value]
    if isinstance(value, tuple):
        return [(value[-1], *value[1:-1], value[0])] if len(value) > 1 else []
    return [value + 1, value - 1]


def values_of(kind: Type, known: bool) -> list[Any]:
    """Numbers, or tuples of numbers, that a code may be."""
    numbers = list(range(kind.low, kind.high + 1)) if kind.size <= MANY else []
    numbers = numbers or ([kind.low] if known else sorted({kind.low, (kind.low + kind.high) // 2, kind.high}))
    if kind.width is None:
        return numbers
    if kind.distinct:
        return list(itertools.permutations(numbers, kind.width)) if kind.width <= 5 else [None] * TOO_MANY.bit_length()
    count = len(numbers) ** kind.width
    return list(itertools.product(numbers, repeat=kind.width)) if count <= 1 << 12 else []


def worlds_of(problem: Problem) -> int:
    """How many worlds there are."""
    total = 1
    for node in problem.upstream(problem.view):
        if problem.nodes[node].op == "code":
            kind = problem.types[node]
            wide = kind.distinct and (kind.width or 1) > 5
            total *= TOO_MANY if wide else len(values_of(kind, node in problem.known)) or TOO_MANY
        elif problem.is_draw(node):
            kind, each = problem.types[node], problem.nodes[node]
            vector = each.op == "toss_each" and kind.width is not None
            total *= 1 << min(kind.width or 0, 99) if vector else outcome_count(each, kind)
        if total > TOO_MANY:
            return TOO_MANY
    return total


def followed(case: Case) -> Chances:
    """The exact law of a case: views are those of the known codes, unless some answers are open, and of the report."""
    problem = Problem.of(case.program)
    found, codes, knowns, kinds = Worlds(), list[int](), list[int](), list[tuple[Type, bool]]()
    for node in problem.upstream(problem.view):
        each, kind = problem.nodes[node], problem.types[node]
        if each.op == "code":
            choices = values_of(kind, node in problem.known)
            found.expand(-1000 - node, np.arange(len(choices)))
            found.values[node] = np.array(choices, np.int64)[found.values[-1000 - node]]
            (knowns if node in problem.known else codes).append(-1000 - node)
            kinds.append((kind, node in problem.known))
        elif problem.is_draw(node):
            draw(found, node, each, kind)
        else:
            compute = operation(each, [problem.types[arg] for arg in each.args], False)
            found.values[node] = compute([found.values[arg] for arg in each.args], None, found.size)  # type: ignore[arg-type]
    if case.disclosing is not None:
        knowns = []  # of two public draws a report may show one or the other: what it does not show, nobody knows
    outer, group = grouped(columns_of(found, [*knowns, *problem.view]), found.size)
    inner, cell = grouped(columns_of(found, codes), found.size)
    keys, which = np.unique(group * len(inner) + cell, return_inverse=True)
    chance, totals = sums(which, found.chance, found.chances)
    views, secrets = [tuple(row) for row in outer.tolist()], [tuple(row) for row in inner.tolist()]
    by_view: dict[tuple[int, ...], dict[tuple[int, ...], Fraction]] = {}
    for key, total in zip(keys.tolist(), chance.tolist(), strict=True):
        by_view.setdefault(views[key // len(inner)], {})[secrets[key % len(inner)]] = totals[total]
    return Chances(tuple(kinds), len(secrets), by_view)


def true_odds(case: Case) -> Fraction | None:
    """The loss by following every outcome; None: unbounded."""
    law, odds = case.chances, Fraction(1)
    for view, chances in law.by_view.items():
        if case.disclosing is not None:
            shown = [name for name, _ in case.program.report].index(case.disclosing[0])
            if view[shown] >= case.disclosing[1]:
                ((answer, *_), *others) = chances
                if others or answer in case.sensitive:
                    return None
                continue
        if len(chances) < law.secrets:
            return None
        odds = max(odds, max(chances.values()) / min(chances.values()))
    return odds


def columns_of(found: Worlds, nodes: Sequence[int]) -> list[Any]:
    """The columns of these nodes, one after the other."""
    return [column for node in nodes for column in found.columns(node)]


def grouped(columns: Sequence[Any], size: int) -> tuple[Any, Any]:
    """The different rows of these columns, and which one each is."""
    if not columns:
        return np.zeros((1, 0), np.int64), np.zeros(size, np.int64)
    rows, group = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return rows, group.ravel().astype(np.int64)


def verdict(case: Case, changed: Program | None, honest: Fraction) -> str:
    """What becomes of a mutant; raises if it loses more than is proved."""
    if changed is None:
        return "refused"
    mutant = replace(case, program=changed)
    try:
        found = mutant.bound()
    except dn.InvalidLaw:  # an encoder is given what depends on the answer
        return "refused"
    if found is None or found.odds is None:
        return "not proved"
    if worlds_of(Problem.of(changed)) > MOST:
        return "proved, too large to follow"
    true = true_odds(mutant)
    if true is None or true > found.odds:
        raise AssertionError(f"A mutant loses {true}, and {found.odds} is proved by {found.rules}:\n{changed}")
    if found.odds != honest:
        return "proved to lose more" if found.odds > honest else "proved to lose less"
    if mutant.chances == case.chances:
        return "the same law"
    if case.seen(changed) - case.faults:
        return "another law, seen by a check"
    return "another law, seen by the vectors" if case.differs(changed) else UNSEEN


def counted(step: int = 1, start: int = 0) -> tuple[Counter[str], Counter[str], int, list[str]]:
    """The verdicts of every `step`-th mutant of all laws, what was changed, how many laws there are, and who is unseen."""
    verdicts, kinds, laws, number, unseen = Counter[str](), Counter[str](), cases(), 0, list[str]()
    for name, case in laws.items():
        honest: Bound | None = None
        for what, changed in mutants(case.program):
            number += 1
            if (number - start) % step:
                continue
            honest = honest or case.bound()
            assert honest is not None, name
            try:
                found = verdict(case, changed, honest.odds or Fraction(10**9))
            except AssertionError as wrong:
                raise AssertionError(f"{name}, {what}: {wrong}") from wrong
            verdicts[found] += 1
            kinds[what] += 1
            if found == UNSEEN:
                unseen.append(f"{name}, {what}\n{changed}")
    return verdicts, kinds, len(laws), unseen


if __name__ == "__main__":
    verdicts, kinds, laws, unseen = counted(*map(int, sys.argv[1:3]))
    print(f"{laws} laws, {verdicts.total():,} mutants")
    for title, each in (("by change", kinds), ("by verdict", verdicts)):
        print(f"{title}: " + ", ".join(f"{name} {often:,}" for name, often in each.most_common()))
    print(*unseen, sep="\n\n")
