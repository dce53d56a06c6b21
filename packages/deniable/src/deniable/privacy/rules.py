"""Rules of proof: each bounds the loss of a problem, exactly, by a look at its graph and never at the name of a family.

P(y | c) is the probability of a view y where the secret codes are c; the loss is the largest P(y | c) / P(y | c') with the
same known codes. In every rule the new bound is at least the old loss:

- *enumeration*: all codes and all outcomes of all draws are followed.
- *independence*: parts of the view that share no draw have a product of probabilities, so their bounds multiply.
- *selection*: a draw that decides which of several things is sent is made known, and the worst of its values counts.
- *waist*: nodes through which all influence of the answer passes are replaced by codes that may be anything. P(y | c) is a
  mixture of the probabilities given these codes, and a mixture is within the bounds of what is mixed.
- *shift*: y = (u + w) mod v, or another operation that maps w one to one for every u, with w drawn without a look at the
  answer. Then P(y | c) is P(w = a) for some a, and the loss is at most the largest over the smallest of these.
- *replacement*: something made of the answer, or with some probability a draw w made without a look at it. Then P(y | c) is
  at least what w alone gives, and at most that plus the rest of the probability.
- *marked cell*: a row of independent cells of which one, named by the answer, is drawn differently: the others cancel.
- *exchange*: a row whose cells are alike but for one, which is exchanged with the cell that the answer names.
- *permutation*: a row of two parts, drawn without a look at the answer, whose cells are exchanged as the answer says.
- *mask*: a row of bits xor a row whose probability depends only on how many bits are set.
- *sampling*: one of several different codes of the answer is drawn: P(y | c) is the mean of so many different P(y | code).
- *unfolding*: what a part of the view is made of is shown in its place.
- *cells*: a row whose cells are drawn one by one, each from bits of the answer of its own: bounds multiply.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from deniable.errors import InvalidLaw
from deniable.privacy.bounds import LIMITS, Bound, Effort, Rule, better, product, worst
from deniable.privacy.problem import Problem, Stand, linked
from deniable.privacy.replacement import replacement
from deniable.privacy.rows import exchange, marked_cell, mask, permutation
from deniable.privacy.sampling import sampling
from deniable.privacy.shift import shift
from deniable.privacy.steps import LONGEST, GivenUp, counted, spend
from deniable.privacy.worlds import cost, extreme

DEEPEST = 6
NARROW = LIMITS[0]  # values of a waist: of those that have no more, all are tried


def proved(problem: Problem) -> Bound | None:
    """The best bound that the rules find, with as little effort as it takes; None if they do not reach this problem.

    They follow what is made of what, so they do not reach a law in which very many operations stand one inside the other;
    nor one whose proof takes more steps than they may (see steps.py), nor one with an operation that is not defined for a
    value that a rule puts in the place of a node.
    """
    long = any(_is_long(each) for node in problem.nodes for each in node.params)
    try:
        with counted():
            return None if long else bound(problem, Effort(LIMITS[-1]))
    except (GivenUp, InvalidLaw, RecursionError):
        return None


def _is_long(param: object) -> bool:
    return isinstance(param, Fraction) and param.denominator.bit_length() > LONGEST


def bound(problem: Problem, effort: Effort) -> Bound | None:
    """The best bound that the rules find with this effort, part by part, with less effort first."""
    problem = _cleaned(problem)
    if not problem.view:
        return Bound(Fraction(1), ())
    parts = _parts(problem)
    if len(parts) > 1:
        return product([bound(problem.rebuilt(part), effort) for part in parts])
    found: Bound | None = None
    for limit in LIMITS:
        if limit <= effort.limit and (found is None or found.loose):
            key = (problem.key, limit, effort.depth)
            if key not in effort.found:
                effort.found[key] = _attempt(problem, effort.within(limit))
            found = better(found, effort.found[key])
    return found


def _attempt(problem: Problem, effort: Effort) -> Bound | None:
    worlds = cost(problem, problem.view)
    if worlds <= LIMITS[0]:
        return enumeration(problem)
    best: Bound | None = None
    for rule in RULES if effort.depth < DEEPEST else ():
        found = rule(problem, effort)
        if found is not None and not found.loose:
            return found
        best = better(best, found)
    return better(best, enumeration(problem)) if worlds <= effort.limit else best


def enumeration(problem: Problem) -> Bound:
    """All codes and all outcomes of all draws."""
    worst = extreme(problem, problem.view, problem.secrets(problem.view), problem.knowns(problem.view))
    return Bound(worst.odds, ("enumeration",))


# Before anything else


def _cleaned(problem: Problem) -> Problem:
    """Show what one-to-one operations are made of in their place, and leave out what says nothing of the answer."""
    while True:
        view: list[int] = []
        for node in problem.view:
            view.extend(_shown(problem, node))
        linked = {draw for node in view if problem.tainted[node] for draw in problem.private[node]}
        while more := {d for node in view if problem.private[node] & linked for d in problem.private[node]} - linked:
            linked |= more  # what is seen of one draw may tell what another was
        kept = [node for node in dict.fromkeys(view) if problem.tainted[node] or problem.private[node] & linked]
        if tuple(kept) == problem.view:
            return problem
        problem = problem.rebuilt(kept)


def _shown(problem: Problem, node: int) -> list[int]:
    """What says the same as this node, or more: the arguments of an operation that loses nothing but order or size."""
    each = problem.nodes[node]
    if each.op in ("not", "widen", "pack", "join"):
        return [shown for arg in each.args for shown in _shown(problem, arg)]
    if each.op in ("add", "sub", "mul"):
        untainted = [arg for arg in each.args if not problem.tainted[arg] and not problem.private[arg]]
        if len(untainted) == 1 and (each.op != "mul" or problem.types[untainted[0]].low > 0):
            return [shown for arg in each.args if arg not in untainted for shown in _shown(problem, arg)]
        if each.op == "add" and _side_by_side(problem, each.args):
            return [shown for arg in each.args for shown in _shown(problem, arg)]
    return [node]


def _side_by_side(problem: Problem, args: Sequence[int]) -> bool:
    """Whether one of two numbers is a multiple of something larger than the other, so that their sum shows both."""
    for large, small in (args, args[::-1]):
        each, kind = problem.nodes[large], problem.types[small]
        if each.op == "mul" and kind.low >= 0:
            factors = [problem.types[arg] for arg in each.args]
            if any(factor.low == factor.high > kind.high for factor in factors):
                return True
    return False


def _parts(problem: Problem) -> list[list[int]]:
    """The nodes of the view in groups that share no draw."""
    return linked((node, problem.private[node]) for node in problem.view)


# Rules


def selection(problem: Problem, effort: Effort) -> Bound | None:
    """Make a draw, or take a known code, that decides what is sent; go through its values."""
    size = len(problem.upstream(problem.view))
    for node in _deciders(problem):
        values = problem.values_of(node)
        if values is None or len(values) > 256:
            continue
        try:
            cases = [problem.rebuilt(problem.view, {node: Stand(constant=value)}) for value in values]
        except InvalidLaw:  # an operation takes this node, and not every single value of it: `aim` takes all columns
            continue
        if all(len(case.upstream(case.view)) < size - 1 for case in cases):
            found = worst([bound(case, effort.deeper()) for case in cases], "selection")
            if found is not None and found.odds is not None:
                return found
    return None


def _deciders(problem: Problem) -> Iterator[int]:
    """Known codes and draws that conditions are made of, where no answer is."""
    seen = set[int]()
    spend(len(problem.nodes))
    for each in problem.nodes:
        if each.op == "where" and not problem.tainted[each.args[0]]:
            for node in problem.upstream([each.args[0]]):
                chosen = node in problem.known or (problem.is_draw(node) and not problem.nodes[node].args)
                if chosen and node not in seen and not problem.types[node].row:
                    seen.add(node)
                    yield node


def waist(problem: Problem, effort: Effort) -> Bound | None:
    """Replace the nodes that the rest of the program needs of the beginning, wherever the program is cut in two."""
    needed = problem.upstream(problem.view)
    fronts = set(_frontiers(problem, needed))
    best: Bound | None = None
    for size, front in sorted((math.prod(_size(problem, node) for node in front), front) for front in fronts):
        if size > effort.limit or (best is not None and size > NARROW):
            break  # of the narrow ones all are tried, since a waist further back may say more
        stands = {node: _stand(problem, node) for node in front}
        found = bound(problem.rebuilt(problem.view, stands), effort.deeper(3))
        if found is not None and found.odds is not None and (best is None or found < best):
            best = found
    return None if best is None else Bound(best.odds, tuple(dict.fromkeys(("waist", *best.rules))))


def _size(problem: Problem, node: int) -> int:
    values = _stand(problem, node).values
    if problem.types[node].width is not None:
        return 1  # a vector is not followed number by number
    return problem.types[node].size if values is None else len(values)


def _frontiers(problem: Problem, needed: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """What the later part of the program needs of the earlier one, wherever it is cut in two.

    Cut after every node, and also after all that can be made with the first draws alone, whatever their number.
    """
    draws: set[int] = set()
    for cut in needed[:-1]:
        earlier = [{node for node in needed if node <= cut}]
        spend(len(needed))
        if problem.is_draw(cut) or cut == needed[0]:
            draws |= {cut} if problem.is_draw(cut) else set()
            made = {node for node in needed if problem.private[node] <= draws} - set(problem.view)
            earlier.append(made)
        for early in earlier:
            front = _front(problem, needed, early)
            if front is not None:
                yield front


def _front(problem: Problem, needed: Sequence[int], early: set[int]) -> tuple[int, ...] | None:
    """The nodes of the early part that the rest needs; None if draws are needed on both sides, or nothing is gained."""
    used = {arg for node in needed if node not in early for arg in problem.nodes[node].args if arg in early}
    front = [n for n in used if problem.tainted[n] or (not problem.private[n] and problem.knowns([n]))]
    before = {draw for node in front for draw in problem.private[node]}
    after = {draw for node in used if node not in front for draw in problem.private[node]}
    rows = any(problem.types[node].row for node in front)
    codes = all(problem.nodes[node].op == "code" for node in front)
    if before & after or rows or codes or set(problem.view) & early:
        return None
    return tuple(sorted(front)) if any(problem.tainted[node] for node in front) else None


def _stand(problem: Problem, node: int) -> Stand:
    """A code in the place of a node: anything of its type, or of its table."""
    each = problem.nodes[node]
    values = problem.values.get(node)
    if each.op == "table":
        values = tuple(sorted(set(each.params[0])))
    return Stand(known=not problem.tainted[node], values=values)


def unfolding(problem: Problem, effort: Effort) -> Bound | None:
    """Show what an operation is made of in its place, which says at least as much."""
    for node in problem.view:
        args = problem.nodes[node].args
        if problem.tainted[node] and not problem.is_draw(node) and args and problem.nodes[node].op != "mod":
            view = [each for other in problem.view for each in (args if other == node else (other,))]
            found = bound(problem.rebuilt(view), effort.deeper())
            if found is not None and found.odds is not None:
                return Bound(found.odds, tuple(dict.fromkeys(("unfolding", *found.rules))))
    return None


RULES: Sequence[Rule] = (shift, replacement, exchange, permutation, marked_cell, mask, sampling, selection, waist, unfolding)
