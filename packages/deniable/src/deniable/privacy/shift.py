"""The rule of shifts: noise that is moved one to one, whatever the answer is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.core import Node
from deniable.privacy.bounds import LIMITS, Bound, Effort
from deniable.privacy.problem import Builder, Problem
from deniable.privacy.steps import spend
from deniable.privacy.worlds import cost, extreme

MOST_TERMS = 1 << 10  # of a sum: a number that is added to itself again and again has many


def shift(problem: Problem, effort: Effort) -> Bound | None:
    """A node of the view that maps a draw one to one, whatever the answer is."""
    for node in problem.view:
        rest = [other for other in problem.view if other != node]
        noise = moved(problem, node, rest)
        if noise is None:
            continue
        build, at = Builder(), dict[int, int]()
        build.copy(problem, [*rest, *noise.terms], at, {})
        total = added(problem, noise, build, at, rest)
        if noise.modulus is not None:
            total = build.add("mod", [total], (noise.modulus,))
        new = build.problem([at[other] for other in rest] + [total])
        rest = [at[other] for other in rest]
        if new.types[total].size != noise.size:
            continue
        odds = odds_of_two(new, total) if not rest and effort.limit >= LIMITS[-1] else None
        if odds is not None:
            return Bound(odds, ("shift",))
        if cost(new, new.view) > effort.limit:
            continue
        compared = [*new.secrets(rest), total]
        worst = extreme(new, rest, compared, new.knowns([*rest, total]))
        return Bound(worst.odds, ("shift",))
    return None


def odds_of_two(problem: Problem, draw: int) -> Fraction | None:
    """The odds of a draw whose numbers, however many there are, have one probability or one of two; else nothing."""
    each = problem.nodes[draw]
    if each.op != "split" or not 0 < each.params[0] < 1:
        return Fraction(1) if each.op == "below" else None
    p, first, second = each.params
    odds: Fraction = p * second / ((1 - p) * first)
    return max(odds, 1 / odds)


def added(problem: Problem, noise: "Noise", build: Builder, at: Mapping[int, int], seen: Sequence[int] = ()) -> int:
    """The sum of the draws; those that keep a number or move it on evenly are added up before they are followed.

    A draw is added up like this only if it is added once, and neither another term nor what is seen beside the sum depends
    on it, not even by way of a node that they share.
    """
    own = [term for term in noise.terms if is_alone(problem, term, [*noise.terms, *seen])]
    for term in own:
        if problem.nodes[term] == Node("below", (), (noise.modulus,)):
            return at[term]  # with anything added it is still uniform
    stay, rest = Fraction(1), []
    for term in noise.terms:
        each = problem.nodes[term]
        if term in own and each.op == "split" and each.params[1:] == (1, noise.modulus and noise.modulus - 1):
            moved = (1 - stay) * (1 - each.params[0]) / each.params[2]
            stay = stay * each.params[0] + moved  # both stay, or the second moves back what the first moved
            spend((stay.denominator.bit_length() >> 6) ** 2 >> 6)  # a long fraction is reduced
        else:
            rest.append(at[term])
    if noise.modulus is not None and len(rest) < len(noise.terms):
        rest.append(build.add("split", [], (stay, 1, noise.modulus - 1)))
    total = rest[0]
    for term in rest[1:]:
        total = build.add("add", [total, term])
    return total


def is_alone(problem: Problem, draw: int, among: Sequence[int]) -> bool:
    """Whether a draw is one of these nodes, once, and none of the others depends on it."""
    spend(1 + len(among) // 8)
    return sum(draw in problem.private[node] for node in among) == 1


@dataclass(frozen=True)
class Noise:
    """Draws that are added to something, modulo `modulus` if there is one; together they have `size` values."""

    terms: tuple[int, ...]
    modulus: int | None
    size: int


def moved(problem: Problem, node: int, seen: Sequence[int] = ()) -> Noise | None:
    """The noise that a node moves one to one, whatever else it is made of; `seen` is the rest of the view.

    It is a single number: of a vector that one draw moves, the differences stay what they are.
    """
    each, kind = problem.nodes[node], problem.types[node]
    if kind.width is not None:
        return None
    if each.op == "mod":
        terms = terms_of(problem, each.args[0], each.params[0])
        noise = [term for term in terms if problem.private[term] and not problem.tainted[term]]
        rest = [term for term in terms if term not in noise]
        if noise and rest and not any(problem.private[term] for term in rest):
            return Noise(tuple(noise), each.params[0], each.params[0])
    if each.op in ("eq", "xor"):
        first, second = (problem.types[arg] for arg in each.args)
        whole = (each.op == "eq" and max(first.high, second.high) <= 1) or (each.op == "xor")
        for rest_node, noise_node in (each.args, each.args[::-1]):
            other = problem.types[rest_node]
            size, low = problem.types[noise_node].size, problem.types[noise_node].low
            alone = problem.private[noise_node] and not problem.tainted[noise_node] and not problem.private[rest_node]
            if whole and alone and low == 0 and size & (size - 1) == 0 and 0 <= other.low <= other.high < size:
                return Noise((noise_node,), None, size)
    if each.op == "table" and kind.low == 0:
        return _permuted(problem, node)
    if each.op == "around" and not problem.private[each.args[0]]:
        place = each.args[1]
        if problem.private[place] and not problem.tainted[place]:
            return Noise((place,), None, kind.size)
        inner = moved(problem, place, seen) if problem.nodes[place].op == "around" else None
        return inner if inner is not None and inner.size == kind.size else None  # else not all numbers are reached
    if each.op == "at" and problem.types[each.args[0]].distinct and not problem.private[each.args[0]]:
        place, width = each.args[1], problem.types[each.args[0]].width
        if problem.private[place] and not problem.tainted[place] and width == kind.size == problem.types[place].size:
            return Noise((place,), None, kind.size)  # the numbers of such a vector are all that there are, each once
    if each.op == "aim":
        column, row, odd = each.args
        uniform = problem.nodes[column].op == "below" and problem.nodes[column].params[0] == kind.size
        alone = problem.private[odd] and not problem.tainted[odd] and column not in problem.private[odd]
        apart = problem.is_used_once(column) and not any(column in problem.private[other] for other in seen)
        if uniform and alone and not problem.private[row] and apart:
            return Noise((odd,), None, 2)  # half of all columns have either parity, and they are equally likely
    return None


def terms_of(problem: Problem, node: int, modulus: int | None) -> list[int]:
    """The numbers whose sum this is, modulo `modulus` if there is one, each as often as it is added.

    Where they are too many, the sum itself.
    """
    found, todo = list[int](), [node]
    while todo:
        term = todo.pop()
        each = problem.nodes[term]
        if each.op == "add" or (modulus is not None and each.op == "mod" and each.params[0] % modulus == 0):
            todo.extend(reversed(each.args))
        else:
            found.append(term)
        if len(found) + len(todo) > MOST_TERMS:
            return [node]
    return found


def _permuted(problem: Problem, node: int) -> Noise | None:
    """A table of which the answer chooses a row and a draw the column, if every row has every number once."""
    values = problem.nodes[node].params[0]
    terms = terms_of(problem, problem.nodes[node].args[0], None)
    noise = [term for term in terms if problem.private[term] and not problem.tainted[term]]
    rest = [term for term in terms if term not in noise]
    if len(noise) != 1 or len(rest) != 1 or problem.private[rest[0]]:
        return None
    size = problem.types[noise[0]].size
    each = problem.nodes[rest[0]]
    steps = [problem.types[arg] for arg in each.args if problem.types[arg].low == problem.types[arg].high == size]
    if each.op != "mul" or len(steps) != 1 or len(values) % size or problem.types[noise[0]].low:
        return None
    rows = (values[start : start + size] for start in range(0, len(values), size))
    return Noise((noise[0],), None, size) if all(set(row) == set(range(size)) for row in rows) else None
