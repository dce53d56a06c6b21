"""The rule of replacement: something made of the answer, or with some probability a draw that has nothing to do with it."""

from fractions import Fraction

from deniable.privacy.bounds import Bound, Effort
from deniable.privacy.problem import Problem
from deniable.privacy.worlds import cost, law


def replacement(problem: Problem, effort: Effort) -> Bound | None:
    """One number: where(d, a, w) or where(d, w, a), in which d and w are drawn apart and without a look at the answer.

    With p = P(a is shown), P(y | c) is (1 - p) P(w = y), plus p where a is y. So the loss is at most
    1 + p / ((1 - p) P(w = y)) for the y that is the least likely of all that a may be.
    """
    if len(problem.view) != 1 or problem.nodes[problem.view[0]].op != "where" or problem.types[problem.view[0]].width:
        return None
    shown, *either = problem.nodes[problem.view[0]].args
    for own, drawn, heads in ((*either, 1), (*either[::-1], 0)):
        apart = not problem.private[own] and not problem.private[shown] & problem.private[drawn]
        if problem.tainted[shown] or problem.tainted[drawn] or problem.knowns([shown, drawn]) or not apart:
            continue
        chance, least = _chance(problem, shown, heads, effort), _least(problem, own, drawn, effort)
        if chance is not None and chance < 1 and least:
            return Bound(1 + chance / ((1 - chance) * least), ("replacement",))
    return None


def _chance(problem: Problem, node: int, value: int, effort: Effort) -> Fraction | None:
    """The probability of this value of a node that depends on draws only."""
    if cost(problem, [node]) > effort.limit:
        return None
    return sum((chance for row, chance in zip(*law(problem, [node], []), strict=True) if row == (value,)), Fraction(0))


def _least(problem: Problem, own: int, drawn: int, effort: Effort) -> Fraction | None:
    """The smallest probability with which the draw is one of the numbers that `own` may be."""
    kind, each = problem.types[own], problem.nodes[drawn]
    if each.op == "below":
        return Fraction(1, each.params[0]) if kind.low >= 0 and kind.high < each.params[0] else None
    values = problem.values_of(own)
    if values is None or cost(problem, [drawn]) > effort.limit:
        return None
    chances = dict(zip(*law(problem, [drawn], []), strict=True))
    return min(chances.get((value,), Fraction(0)) for value in values)
