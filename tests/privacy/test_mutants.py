"""Every operation of every law is changed once in each of several ways: a mutant has the same law, or the proof sees it.

A mutant is seen if it is refused, if no rule reaches it, or if it gets a larger loss than the honest law. Where it is proved
to lose no more, that must be true: it is checked by following every outcome, where there are few enough. Such a mutant has a
larger error, perhaps, but no leak.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import deniable as dn
from deniable.core.operations import DRAWS, Node
from deniable.core.program import Program
from deniable.privacy.bounds import Bound
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from deniable.privacy.worlds import cost, extreme
from tests.families import INSTANCES

FEW = 1 << 12  # outcomes that are all followed


def laws() -> dict[str, Program]:
    """One small law of each family, by its wire name: the shortest, for families differ in their operations."""
    found: dict[str, Program] = {}
    for mechanism in INSTANCES.values():
        if mechanism.traced and mechanism.protected is None:
            known = found.get(mechanism.wire)
            if known is None or len(mechanism.law.nodes) < len(known.nodes):
                found[mechanism.wire] = mechanism.law
    return found


def mutants(program: Program) -> Iterator[tuple[str, Program]]:
    """The program with one change: a constant, two operands exchanged, a draw used again, a draw made public."""
    draws = [place for place, node in enumerate(program.nodes) if node.op in DRAWS]
    for place, node in enumerate(program.nodes):
        changes: list[tuple[str, Node]] = []
        if node.params and node.op != "code":
            changes += [("constant", replace(node, params=(_other(node.params[0]), *node.params[1:])))]
        if len(node.args) > 1:
            changes.append(("operands", replace(node, args=(*node.args[1:], node.args[0]))))
        if node.op in DRAWS:
            changes += [("draw again", Node("add", (draw, place - 1))) for draw in draws if draw < place][:1]
            if node.op == "below":
                changes.append(("public", replace(node, op="public")))
        for what, changed in changes:
            nodes = (*program.nodes[:place], changed, *program.nodes[place + 1 :])
            try:
                yield what, Program(nodes, program.report)
            except dn.InvalidLaw:
                yield "refused", program


def _other(value: Any) -> Any:
    if isinstance(value, Fraction):
        return (value + 1) / 3
    if isinstance(value, tuple):
        return (value[-1], *value[1:-1], value[0])
    return value + 1


def exact(program: Program) -> Bound | None:
    """The loss by following every outcome, if there are few."""
    problem = Problem.of(program)
    if cost(problem, problem.view) > FEW:
        return None
    return Bound(extreme(problem, problem.view, problem.secrets(problem.view), problem.knowns(problem.view)).odds, ())


def test_every_mutant_is_seen_or_harmless() -> None:
    counts: Counter[str] = Counter()
    for name, law in laws().items():
        honest = proved(Problem.of(law))
        assert honest is not None, name
        for what, mutant in mutants(law):
            if what == "refused":
                counts["refused"] += 1
                continue
            found = proved(Problem.of(mutant))
            if found is None or found.odds is None or found.odds > (honest.odds or 0):
                counts["larger loss or not proved"] += 1
                continue
            true = exact(mutant)
            if true is not None:  # never is a mutant proved to lose less than it does
                assert true.odds is not None and true.odds <= found.odds, (name, what, mutant)
            counts["proved, and checked" if true is not None else "proved"] += 1
    assert sum(counts.values()) > 300 and counts["refused"] and counts["larger loss or not proved"]
    print(dict(counts))
