"""The rules for rows of bits: what one cell says, or how many are set, stands for all arrangements of a row."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from deniable.core import Type
from deniable.privacy.bounds import LIMITS, Bound, Effort
from deniable.privacy.problem import Builder, Problem
from deniable.privacy.steps import spend, spend_on_power
from deniable.privacy.worlds import cost, extreme, law


def marked_cell(problem: Problem, effort: Effort) -> Bound | None:
    """Rows of independent cells, of which the one that the answer names is drawn differently."""
    rows = [node for node in problem.view if problem.types[node].row]
    rest = [node for node in problem.view if not problem.types[node].row]
    widths = {problem.types[node].width for node in rows}
    if len(widths) != 1:
        return None
    marks = {problem.nodes[n].args[1] for n in problem.upstream(problem.view) if problem.nodes[n].op in ("put", "get")}
    if len(marks) > 1 or any(problem.private[mark] for mark in marks):
        return None
    if not are_drawn_one_by_one(problem, rows) or (not marks and rest):
        return None
    if not marks:
        return _cells(problem, rows, effort)
    other = one_cell(problem, rows, [], marked=False)
    if other is None or other.knowns(other.view) or cost(other, other.view) > effort.limit:
        return None
    secrets = other.secrets(other.view)
    elsewhere = same_law(other, secrets)
    here = one_cell(problem, rows, rest, marked=True)
    if elsewhere is None or here is None or cost(here, here.view) > effort.limit:
        return None
    return _against(here, len(rows), elsewhere)


def _cells(problem: Problem, rows: Sequence[int], effort: Effort) -> Bound | None:
    """Rows of cells that are drawn one by one, alike or by turns: by which bits that are certain they have."""
    bits = {node: known for node in problem.upstream(rows) if (known := certain_bits(problem, node)) is not None}
    joined = [node for node in bits if problem.types[node].width == problem.types[rows[0]].width]
    kinds = (
        Counter(zip(*(bits[node] for node in joined), strict=True)) if joined else {(): problem.types[rows[0]].width or 1}
    )
    odds = Fraction(1)
    for kind, often in kinds.items() if joined else [((), problem.types[rows[0]].width or 1)]:
        other = one_cell(problem, rows, [], marked=False, fixed=dict(zip(joined, kind, strict=True)))
        if other is None or other.knowns(other.view) or cost(other, other.view) > effort.limit:
            return None
        worst = extreme(other, other.view, other.secrets(other.view), [])
        if worst.odds is None:
            return Bound(None, ("cells",))
        spend_on_power(worst.odds.numerator.bit_length(), often)
        odds *= worst.odds**often
    return Bound(odds, ("cells",))


def certain_bits(problem: Problem, node: int) -> tuple[int, ...] | None:
    """The bits of a row that is the same whatever is drawn, made of rows of zeros and of ones."""
    each = problem.nodes[node]
    if each.op in ("flags", "join"):
        spend(1 + (problem.types[node].width or 0) // 64)  # joined rows may be very many, and very wide
    if each.op == "flags" and each.params[0] in (0, 1):
        return (int(each.params[0]),) * each.params[1]
    parts = [certain_bits(problem, arg) for arg in each.args] if each.op == "join" else [None]
    return None if None in parts else tuple(bit for part in parts for bit in part or ())


def are_drawn_one_by_one(problem: Problem, rows: Sequence[int]) -> bool:
    """Whether the cells of these rows share no draw: no number that decides about all of them depends on one of its own."""
    own = {draw for node in rows for draw in problem.private[node] if problem.types[draw].row}
    return not any(problem.private[node] - own for node in _scalars(problem, rows))


def _scalars(problem: Problem, rows: Sequence[int]) -> list[int]:
    """Numbers that decide about all cells of a row at once."""
    found = []
    for node in problem.upstream(rows):
        each = problem.nodes[node]
        if problem.types[node].row and each.op in ("where", "turn", "and"):
            found += [arg for arg in each.args if not problem.types[arg].row]
    return found


def same_law(other: Problem, secrets: Sequence[int]) -> dict[tuple[int, ...], Fraction] | None:
    """The law of a cell that is not marked, if it is the same for all codes."""
    keys, chances = law(other, other.view, secrets)
    laws: dict[tuple[int, ...], dict[tuple[int, ...], Fraction]] = {}
    for key, chance in zip(keys, chances, strict=True):
        laws.setdefault(key[: len(secrets)], {})[key[len(secrets) :]] = chance
    first, *others = laws.values()
    return first if all(each == first for each in others) else None


def _against(here: Problem, bits: int, elsewhere: dict[tuple[int, ...], Fraction]) -> Bound:
    """The largest ratio of (marked cell over any other cell) for two values of codes and cell."""
    secrets, knowns = here.secrets(here.view), here.knowns(here.view)
    keys, chances = law(here, here.view, [*knowns, *secrets])
    start = len(knowns) + len(secrets)
    tables: dict[tuple[int, ...], dict[tuple[int, ...], Fraction]] = {}
    for key, chance in zip(keys, chances, strict=True):
        seen = key[: len(knowns)] + key[start + bits :]
        cell = key[start : start + bits]
        if cell not in elsewhere:
            return Bound(None, ("marked cell",))
        tables.setdefault(seen, {})[key[len(knowns) : start] + cell] = chance / elsewhere[cell]
    possible = math.prod(here.range_of(node) for node in secrets) * len(elsewhere)
    odds, words = Fraction(1), ""
    for table in tables.values():
        if len(table) < possible:
            return Bound(None, ("marked cell",))
        ratio = max(table.values()) / min(table.values())
        if ratio > odds:
            odds = ratio
            high, low = (pick(table, key=table.__getitem__)[len(secrets) :] for pick in (max, min))
            words = f"it has {_bits(high)} at the cell of the first answer and {_bits(low)} at that of the second"
    alone = not knowns and not secrets and len(here.view) == bits
    return Bound(odds, ("marked cell",), words if alone else "")


def _bits(cell: Sequence[int]) -> str:
    return " and ".join(map(str, cell))


def one_cell(
    problem: Problem, rows: Sequence[int], rest: Sequence[int], marked: bool, fixed: Mapping[int, int] | None = None
) -> Problem | None:
    """The problem of one cell of each row: the marked one, together with `rest`, or any other; some have a `fixed` bit.

    A bit of a vector is replaced by any bit, so nothing else may depend on a draw that the vector is made of.
    """
    build, at = Builder(), dict[int, int]()
    vectors = [node for node in problem.upstream([*rows, *rest]) if problem.nodes[node].op == "cells"]
    drawn = {draw for node in vectors for draw in problem.private[node]}
    if drawn & set(problem.upstream([*rows, *rest], until=vectors)):
        return None
    for node in problem.upstream([*rows, *rest]):
        each = problem.nodes[node]
        args = each.args
        if fixed and node in fixed:
            at[node] = build.constant(fixed[node])
        elif each.op == "flags":
            at[node] = build.add("toss", [], (each.params[0],))
        elif each.op == "put":
            at[node] = at[args[2]] if marked else at[args[0]]
        elif each.op == "get":
            if not marked:
                at[node] = build.code(problem.types[node], known=False)  # must not matter: see below
            else:
                at[node] = at[args[0]]
        elif each.op == "cells":
            at[node] = build.code(Type(), known=False)  # any bit of the answer
        elif problem.types[node].row and each.op == "turn":
            at[node] = build.add("xor", [at[arg] for arg in args])
        elif problem.types[node].row and each.op not in ("and", "or", "xor", "not", "where"):
            return None
        elif each.op == "code":
            at[node] = build.code(problem.types[node], node in problem.known, problem.values.get(node))
        elif problem.types[node].width is not None and not problem.types[node].row:
            at[node] = build.code(problem.types[node], known=False)  # a vector, of which only `cells` are used
        elif each.op == "counts" or any(problem.types[arg].row for arg in args if not problem.types[node].row):
            return None  # a number that depends on several cells
        else:
            at[node] = build.add(each.op, [at[arg] for arg in args], each.params)
    view = tuple(at[node] for node in [*rows, *rest])
    return replace(build.problem(view), view=view)  # one cell may be two of them


def exchange(problem: Problem, effort: Effort) -> Bound | None:
    """A row of which one cell stands apart, exchanged with the cell that the answer names."""
    if len(problem.view) != 1:
        return None
    (node,) = problem.view
    rows = exchanged(problem, node, effort.limit)
    if rows is None:
        return None
    others, odds, words = (problem.types[node].width or 0) - 1, Fraction(1), ""
    for marked, ones in rows:
        turned = (1 - marked, ones + 2 * marked - 1)  # the same row, seen from a cell with the other bit
        if 0 <= turned[1] <= others:
            if turned not in rows:
                return Bound(None, ("exchange",))
            if rows[marked, ones] > odds * rows[turned]:
                odds = rows[marked, ones] / rows[turned]
                words = f"it has {marked} at the cell of the first answer and {1 - marked} at that of the second"
    return Bound(odds, ("exchange",), words if problem.nodes[problem.nodes[node].args[1]].op == "code" else "")


def exchanged(problem: Problem, node: int, limit: int, drawn: bool = False) -> dict[tuple[int, int], Fraction] | None:
    """The probability of one row, by the bit of the cell that stands apart and how many others are set.

    The cell it is exchanged with is named by the answer, or `drawn`.
    """
    each = problem.nodes[node]
    if each.op != "swap" or problem.tainted[each.args[0]] or (problem.private[each.args[1]] and not drawn):
        return None
    row, _, fixed = each.args
    place = problem.types[fixed]
    put = problem.nodes[row]
    if put.op != "put" or place.low != place.high or problem.types[put.args[1]] != place:
        return None
    widened = problem.nodes[put.args[0]]
    if widened.op != "widen" or problem.nodes[widened.args[0]].op != "subset":
        return None
    subset, width = problem.nodes[widened.args[0]], problem.types[row].width or 0
    others, most = subset.params
    if others != width - 1 or place.low != others or width < 2 or widened.args[0] in problem.private[put.args[2]]:
        return None
    build, at = Builder(), dict[int, int]()
    build.copy(problem, [put.args[2], subset.args[0]], at, {})
    size = build.add("sub", [build.constant(most), at[subset.args[0]]])
    small = build.problem([at[put.args[2]], size])
    if small.knowns(small.view) or cost(small, small.view) > limit:
        return None
    keys, chances = law(small, [at[put.args[2]], size], [])
    return {(key[0], key[1]): chance / math.comb(others, key[1]) for key, chance in zip(keys, chances, strict=True)}


def mask(problem: Problem, effort: Effort) -> Bound | None:
    """A row of bits xor a row whose probability depends on how many of its bits are set."""
    if len(problem.view) != 1:
        return None
    (node,) = problem.view
    each = problem.nodes[node]
    if each.op != "xor" or not problem.types[node].row:
        return None
    for other, noise in (each.args, each.args[::-1]):
        if problem.tainted[noise] or problem.private[other] & problem.private[noise]:
            continue
        build, width = Builder(), problem.types[noise].width or 0
        count = count_of(problem, noise, build, {})
        if count is None:
            continue
        small = build.problem([count])
        if small.knowns([count]) or cost(small, [count]) > effort.limit:
            continue
        keys, chances = law(small, [count], [])
        each_row = {key[0]: chance / math.comb(width, key[0]) for key, chance in zip(keys, chances, strict=True)}
        complete = len(each_row) == width + 1
        return Bound(max(each_row.values()) / min(each_row.values()) if complete else None, ("mask",))
    return None


def permutation(problem: Problem, effort: Effort) -> Bound | None:
    """A row of two parts, drawn without a look at the answer, whose cells are then exchanged as the answer says.

    Exchanges of cells are a permutation of the row, whatever they are, and keep the number of bits that are set. So P(y | c)
    is the probability of some arrangement of the bits of y, and these are known by how many bits are set in either part.
    """
    if len(problem.view) != 1:
        return None
    (node,), places = problem.view, list[int]()
    while problem.nodes[node].op == "swap":
        node, *two = problem.nodes[node].args
        places += two
    if any(problem.private[place] & problem.private[node] for place in places):
        return None
    width, first = problem.types[node].width or 0, first_part(problem, node)
    if first is None or problem.tainted[node]:
        return None
    build = Builder()
    counts = counts_of(problem, node, first, build, {})
    if counts is None:
        return None
    small = build.problem(counts)
    if small.knowns(counts) or cost(small, counts) > LIMITS[-1]:  # with few, a rule that finds more would come first
        return None
    rows: dict[
        int, dict[int, Fraction]
    ] = {}  # the probability of one row, by all bits that are set and those of the first part
    keys, chances = law(small, counts, [])
    for (one, other), chance in zip(keys, chances, strict=True):
        spend_on_combinations(width, one + other)
        each = math.comb(first, one) * math.comb(width - first, other)
        rows.setdefault(one + other, {})[one] = chance / each
    odds = Fraction(1)
    for total, found in rows.items():
        possible = min(first, total) - max(0, total - width + first) + 1
        if len(found) < possible:
            return None  # one that never occurs: the exchanges may lead there or not
        odds = max(odds, max(found.values()) / min(found.values()))
    return Bound(odds, ("permutation",))


def first_part(problem: Problem, node: int) -> int | None:
    """How many cells the first of the two rows has that a row is joined of, in all cases where it is."""
    found, todo = set[int](), [node]
    while todo:
        spend(1)
        each = problem.nodes[todo.pop()]
        if each.op == "where":
            todo += [arg for arg in each.args if problem.types[arg].row]
        elif each.op == "join":
            found.add((problem.types[each.args[0]].width or 0) if len(each.args) == 2 else 0)
    return found.pop() if len(found) == 1 and found != {0} else None


def counts_of(problem: Problem, node: int, first: int, build: Builder, at: dict[int, int]) -> list[int] | None:
    """Nodes with the number of bits that are set in either part, if all arrangements within a part are equally likely."""
    each, width = problem.nodes[node], problem.types[node].width or 0
    spend(1)
    if each.op == "join":
        rows = [{draw for draw in problem.private[arg] if problem.types[draw].row} for arg in each.args]
        counts = [count_of(problem, arg, build, at) for arg in each.args]
        return None if rows[0] & rows[1] or None in counts else [count for count in counts if count is not None]
    if each.op == "where":
        scalar, *parts = each.args
        both = [counts_of(problem, row, first, build, at) for row in parts]
        if both[0] is None or both[1] is None or not _is_apart(problem, scalar):
            return None
        build.copy(problem, [scalar], at, {})
        return [build.add("where", [at[scalar], one, other]) for one, other in zip(*both, strict=True)]
    if each.op == "subset" and problem.is_used_once(node):
        less = problem.types[each.args[0]]
        size = each.params[1] - less.low
        if less.low != less.high:
            return None
        spend_on_combinations(width, size)
        every, ways = math.comb(width, size), range(max(0, size - width + first), min(size, first) + 1)
        spend(len(ways) * (1 + (every.bit_length() >> 6)))
        chances = ((m, Fraction(math.comb(first, m) * math.comb(width - first, size - m), every)) for m in ways)
        one = build.draw_counts(tuple(chances))
        return [one, build.add("sub", [build.constant(size), one])]
    return None


def spend_on_combinations(width: int, some: int) -> None:
    """So many of so many cells: numbers that may be long."""
    words = min(some, width - some) * width.bit_length() >> 6
    spend(1 + (words**2 >> 6))


def _is_apart(problem: Problem, scalar: int) -> bool:
    """Whether a number depends on no row: which arrangement it is must not decide."""
    return not any(problem.types[draw].row for draw in problem.private[scalar])


def count_of(problem: Problem, node: int, build: Builder, at: dict[int, int]) -> int | None:
    """A node with the number of bits that are set, for a row all of whose arrangements are equally likely."""
    each, width = problem.nodes[node], problem.types[node].width or 0
    spend(1)
    if each.op == "flags" and problem.is_used_once(node):
        p = each.params[0]
        spend(width * (1 + width // 64) + width * (width * p.denominator.bit_length() // 64))
        chances = ((m, math.comb(width, m) * p**m * (1 - p) ** (width - m)) for m in range(width + 1))
        return build.draw_counts(tuple(chances))
    if each.op == "majority" and problem.is_used_once(node):
        spend(width * (1 + width // 64))
        ways = {m: math.comb(width, m) for m in range(width // 2 + 1, width + 1)}
        return build.draw_counts(tuple((m, Fraction(way, sum(ways.values()))) for m, way in ways.items()))
    if each.op == "subset" and problem.is_used_once(node):
        if not _is_apart(problem, each.args[0]):
            return None
        build.copy(problem, [each.args[0]], at, {})
        return build.add("sub", [build.constant(each.params[1]), at[each.args[0]]])
    if each.op in ("turn", "where"):
        rows = [arg for arg in each.args if problem.types[arg].row]
        (scalar,) = (arg for arg in each.args if not problem.types[arg].row)
        if not _is_apart(problem, scalar):
            return None
        counts = [count_of(problem, row, build, at) for row in rows]
        if any(count is None for count in counts):
            return None
        build.copy(problem, [scalar], at, {})
        numbers = [count for count in counts if count is not None]
        if each.op == "turn":
            numbers = [build.add("sub", [build.constant(width), numbers[0]]), numbers[0]]
        return build.add("where", [at[scalar], *numbers])
    return None
