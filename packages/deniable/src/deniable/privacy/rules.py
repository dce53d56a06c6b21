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
- *marked cell*: a row of independent cells of which one, named by the answer, is drawn differently: the others cancel.
- *exchange*: a row whose cells are alike but for one, which is exchanged with the cell that the answer names.
- *mask*: a row of bits xor a row whose probability depends only on how many bits are set.
- *unfolding*: what a part of the view is made of is shown in its place.
- *cells*: a row whose cells are drawn one by one, each from bits of the answer of its own: bounds multiply.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from deniable.core import Type
from deniable.privacy.problem import Builder, Problem, Stand
from deniable.privacy.worlds import cost, extreme, law

LIMITS = (1 << 12, 1 << 16, 1 << 21)  # worlds that are followed at most: few first, more where no rule reaches with few
DEEPEST = 6


@dataclass(frozen=True)
class Bound:
    """The loss is at most these odds (None: unbounded), by these rules."""

    odds: Fraction | None
    rules: tuple[str, ...]
    marked: str = ""  # a report that reaches the bound, for answers that name cells 0 and 1, in words

    @property
    def loose(self) -> bool:
        """Whether more was shown than the report says, so that another rule may find less."""
        return self.odds is None or "unfolding" in self.rules

    def __lt__(self, other: "Bound") -> bool:
        return self.odds is not None and (other.odds is None or self.odds < other.odds)


@dataclass(frozen=True)
class Effort:
    """How many worlds may be followed at once, how many rules were applied one inside the other, and what was found."""

    limit: int
    depth: int = 0
    found: dict[tuple[Hashable, ...], "Bound | None"] = field(default_factory=dict)

    def deeper(self, steps: int = 1) -> "Effort":
        return replace(self, depth=self.depth + steps)


Rule = Callable[[Problem, Effort], Bound | None]


def proved(problem: Problem) -> Bound | None:
    """The best bound that the rules find, with as little effort as it takes; None if they do not reach this problem."""
    return bound(problem, Effort(LIMITS[-1]))


def bound(problem: Problem, effort: Effort) -> Bound | None:
    """The best bound that the rules find with this effort, part by part, with less effort first."""
    problem = _cleaned(problem)
    if not problem.view:
        return Bound(Fraction(1), ())
    parts = _parts(problem)
    if len(parts) > 1:
        return _product([bound(problem.rebuilt(part), effort) for part in parts])
    found: Bound | None = None
    for limit in LIMITS:
        if limit <= effort.limit and (found is None or found.loose):
            key = (problem.key, limit, effort.depth)
            if key not in effort.found:
                effort.found[key] = _attempt(problem, replace(effort, limit=limit))
            found = _better(found, effort.found[key])
    return found


def _better(first: Bound | None, second: Bound | None) -> Bound | None:
    if first is None or second is None:
        return first or second
    return min(first, second)


def _attempt(problem: Problem, effort: Effort) -> Bound | None:
    worlds = cost(problem, problem.view)
    if worlds <= LIMITS[0]:
        return enumeration(problem)
    best: Bound | None = None
    for rule in RULES if effort.depth < DEEPEST else ():
        found = rule(problem, effort)
        if found is not None and not found.loose:
            return found
        best = _better(best, found)
    return _better(best, enumeration(problem)) if worlds <= effort.limit else best


def enumeration(problem: Problem) -> Bound:
    """All codes and all outcomes of all draws."""
    worst = extreme(problem, problem.view, problem.secrets(problem.view), problem.knowns(problem.view))
    return Bound(worst.odds, ("enumeration",))


def _product(parts: Sequence[Bound | None]) -> Bound | None:
    if any(part is None for part in parts):
        return None
    found = [part for part in parts if part is not None]
    odds = math.prod((part.odds for part in found if part.odds is not None), start=Fraction(1))
    rules = tuple(dict.fromkeys(rule for part in found for rule in part.rules))
    return Bound(None if any(part.odds is None for part in found) else odds, ("independence", *rules))


def _worst(parts: Sequence[Bound | None], *rules: str) -> Bound | None:
    if not parts or any(part is None for part in parts):
        return None
    found = [part for part in parts if part is not None]
    unbounded = any(part.odds is None for part in found)
    odds = None if unbounded else max(part.odds for part in found if part.odds is not None)
    return Bound(odds, (*rules, *dict.fromkeys(rule for part in found for rule in part.rules if rule not in rules)))


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
    groups: list[tuple[set[int], list[int]]] = []
    for node in problem.view:
        draws, nodes = set(problem.private[node]), [node]
        apart = []
        for other in groups:
            if other[0] & draws:
                draws |= other[0]
                nodes = other[1] + nodes
            else:
                apart.append(other)
        groups = [*apart, (draws, nodes)]
    return [nodes for _, nodes in groups]


# Rules


def selection(problem: Problem, effort: Effort) -> Bound | None:
    """Make a draw, or take a known code, that decides what is sent; go through its values."""
    size = len(problem.nodes)
    for node in _deciders(problem):
        values = problem.values_of(node)
        if values is None or len(values) > 256:
            continue
        cases = [problem.rebuilt(problem.view, {node: Stand(constant=value)}) for value in values]
        if all(len(case.nodes) < size - 1 for case in cases):
            found = _worst([bound(case, effort.deeper()) for case in cases], "selection")
            if found is not None and found.odds is not None:
                return found
    return None


def _deciders(problem: Problem) -> Iterator[int]:
    """Known codes and draws that conditions are made of, where no answer is."""
    seen = set[int]()
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
        if size > effort.limit or (best is not None and size > LIMITS[0]):
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
    front = [n for n in used if problem.tainted[n] or (problem.knowns([n]) and not problem.private[n])]
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


def shift(problem: Problem, effort: Effort) -> Bound | None:
    """A node of the view that maps a draw one to one, whatever the answer is."""
    for node in problem.view:
        noise = _moved(problem, node)
        if noise is None:
            continue
        build, at = Builder(), dict[int, int]()
        rest = [other for other in problem.view if other != node]
        build.copy(problem, [*rest, *noise.terms], at, {})
        total = _added(problem, noise, build, at)
        if noise.modulus is not None:
            total = build.add("mod", [total], (noise.modulus,))
        new = build.problem([at[other] for other in rest] + [total])
        rest = [at[other] for other in rest]
        if cost(new, new.view) > effort.limit or new.types[total].size != noise.size:
            continue
        compared = [*new.secrets(rest), total]
        worst = extreme(new, rest, compared, new.knowns(rest))
        return Bound(worst.odds, ("shift",))
    return None


def _added(problem: Problem, noise: "Noise", build: Builder, at: Mapping[int, int]) -> int:
    """The sum of the draws; those that keep a number or move it on evenly are added up before they are followed."""
    stay, rest = Fraction(1), []
    for term in noise.terms:
        each = problem.nodes[term]
        if each.op == "split" and each.params[1:] == (1, noise.modulus and noise.modulus - 1) and _used_once(problem, term):
            moved = (1 - stay) * (1 - each.params[0]) / each.params[2]
            stay = stay * each.params[0] + moved  # both stay, or the second moves back what the first moved
        else:
            rest.append(at[term])
    if noise.modulus is not None and len(rest) < len(noise.terms):
        rest.append(build.add("split", [], (stay, 1, noise.modulus - 1)))
    total = rest[0]
    for term in rest[1:]:
        total = build.add("add", [total, term])
    return total


@dataclass(frozen=True)
class Noise:
    """Draws that are added to something, modulo `modulus` if there is one; together they have `size` values."""

    terms: tuple[int, ...]
    modulus: int | None
    size: int


def _moved(problem: Problem, node: int) -> Noise | None:
    each, kind = problem.nodes[node], problem.types[node]
    if each.op == "mod":
        terms = _terms(problem, each.args[0], each.params[0])
        noise = [term for term in terms if problem.private[term] and not problem.tainted[term]]
        rest = [term for term in terms if term not in noise]
        if noise and rest and not any(problem.private[term] for term in rest):
            return Noise(tuple(noise), each.params[0], each.params[0])
    if each.op in ("eq", "xor") and not kind.row:
        first, second = (problem.types[arg] for arg in each.args)
        whole = (each.op == "eq" and max(first.high, second.high) <= 1) or (each.op == "xor")
        for rest_node, noise_node in (each.args, each.args[::-1]):
            size, low = problem.types[noise_node].size, min(first.low, second.low)
            alone = problem.private[noise_node] and not problem.tainted[noise_node] and not problem.private[rest_node]
            if whole and alone and low == 0 and size & (size - 1) == 0 and problem.types[rest_node].high < size:
                return Noise((noise_node,), None, size)
    if each.op == "table" and kind.low == 0:
        return _permuted(problem, node)
    if each.op == "around" and not problem.private[each.args[0]]:
        place = each.args[1]
        if problem.private[place] and not problem.tainted[place]:
            return Noise((place,), None, kind.size)
        return _moved(problem, place) if problem.nodes[place].op == "around" else None
    if each.op == "aim":
        column, row, odd = each.args
        uniform = problem.nodes[column].op == "below" and problem.nodes[column].params[0] == kind.size
        alone = problem.private[odd] and not problem.tainted[odd] and column not in problem.private[odd]
        if uniform and alone and not problem.private[row] and _used_once(problem, column):
            return Noise((odd,), None, 2)  # half of all columns have either parity, and they are equally likely
    return None


def _used_once(problem: Problem, node: int) -> bool:
    return sum(each.args.count(node) for each in problem.nodes) == 1 and node not in problem.view


def _terms(problem: Problem, node: int, modulus: int) -> list[int]:
    """The numbers whose sum this is, modulo `modulus`."""
    each = problem.nodes[node]
    if each.op == "add" or (each.op == "mod" and each.params[0] % modulus == 0):
        return [term for arg in each.args for term in _terms(problem, arg, modulus)]
    return [node]


def _permuted(problem: Problem, node: int) -> Noise | None:
    """A table of which the answer chooses a row and a draw the column, if every row has every number once."""
    values = problem.nodes[node].params[0]
    terms = _terms(problem, problem.nodes[node].args[0], 1)
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
    other = _one_cell(problem, rows, [], marked=False)
    if other is None or other.knowns(other.view):
        return None
    shares_draws = any(problem.private[node] - _row_draws(problem, rows) for node in _scalars(problem, rows))
    if shares_draws or cost(other, other.view) > effort.limit:
        return None
    if not marks:
        if rest:
            return None
        worst = extreme(other, other.view, other.secrets(other.view), [])
        (width,) = widths
        return Bound(None if worst.odds is None else worst.odds ** (width or 1), ("cells",))
    secrets = other.secrets(other.view)
    elsewhere = _same_law(other, secrets)
    here = _one_cell(problem, rows, rest, marked=True)
    if elsewhere is None or here is None or cost(here, here.view) > effort.limit:
        return None
    return _against(here, len(rows), elsewhere)


def _row_draws(problem: Problem, rows: Sequence[int]) -> set[int]:
    return {draw for node in rows for draw in problem.private[node] if problem.types[draw].row}


def _scalars(problem: Problem, rows: Sequence[int]) -> list[int]:
    """Numbers that decide about all cells of a row at once."""
    found = []
    for node in problem.upstream(rows):
        each = problem.nodes[node]
        if problem.types[node].row and each.op in ("where", "turn", "and"):
            found += [arg for arg in each.args if not problem.types[arg].row]
    return found


def _same_law(other: Problem, secrets: Sequence[int]) -> dict[tuple[int, ...], Fraction] | None:
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


def _one_cell(problem: Problem, rows: Sequence[int], rest: Sequence[int], marked: bool) -> Problem | None:
    """The problem of one cell of each row: the marked one, together with `rest`, or any other."""
    build, at = Builder(), dict[int, int]()
    for node in problem.upstream([*rows, *rest]):
        each = problem.nodes[node]
        args = each.args
        if each.op == "flags":
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
    return build.problem([at[node] for node in [*rows, *rest]])


def exchange(problem: Problem, effort: Effort) -> Bound | None:
    """A row of which one cell stands apart, exchanged with the cell that the answer names."""
    if len(problem.view) != 1:
        return None
    (node,) = problem.view
    each = problem.nodes[node]
    if each.op != "swap" or problem.tainted[each.args[0]] or problem.private[each.args[1]]:
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
    keys, chances = law(small, [at[put.args[2]], size], [])
    each_row = {key: chance / math.comb(others, key[1]) for key, chance in zip(keys, chances, strict=True)}
    odds, words = Fraction(1), ""
    for marked, ones in each_row:
        turned = (1 - marked, ones + 2 * marked - 1)  # the same row, seen from a cell with the other bit
        if 0 <= turned[1] <= others:
            if turned not in each_row:
                return Bound(None, ("exchange",))
            if each_row[marked, ones] > odds * each_row[turned]:
                odds = each_row[marked, ones] / each_row[turned]
                words = f"it has {marked} at the cell of the first answer and {1 - marked} at that of the second"
    return Bound(odds, ("exchange",), words if problem.nodes[each.args[1]].op == "code" else "")


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
        count = _count(problem, noise, build, {})
        if count is None:
            continue
        small = build.problem([count])
        if cost(small, small.view) > effort.limit:
            continue
        keys, chances = law(small, [count], [])
        each_row = {key[0]: chance / math.comb(width, key[0]) for key, chance in zip(keys, chances, strict=True)}
        complete = len(each_row) == width + 1
        return Bound(max(each_row.values()) / min(each_row.values()) if complete else None, ("mask",))
    return None


def _count(problem: Problem, node: int, build: Builder, at: dict[int, int]) -> int | None:
    """A node with the number of bits that are set, for a row all of whose arrangements are equally likely."""
    each, width = problem.nodes[node], problem.types[node].width or 0
    if each.op == "flags" and _used_once(problem, node):
        p = each.params[0]
        chances = ((m, math.comb(width, m) * p**m * (1 - p) ** (width - m)) for m in range(width + 1))
        return build.draw_counts(tuple(chances))
    if each.op == "majority" and _used_once(problem, node):
        ways = {m: math.comb(width, m) for m in range(width // 2 + 1, width + 1)}
        return build.draw_counts(tuple((m, Fraction(way, sum(ways.values()))) for m, way in ways.items()))
    if each.op == "subset" and _used_once(problem, node):
        less = problem.types[each.args[0]]
        return build.constant(each.params[1] - less.low) if less.low == less.high else None
    if each.op in ("turn", "where"):
        rows = [arg for arg in each.args if problem.types[arg].row]
        (scalar,) = (arg for arg in each.args if not problem.types[arg].row)
        counts = [_count(problem, row, build, at) for row in rows]
        if any(count is None for count in counts):
            return None
        build.copy(problem, [scalar], at, {})
        numbers = [count for count in counts if count is not None]
        if each.op == "turn":
            numbers = [build.add("sub", [build.constant(width), numbers[0]]), numbers[0]]
        return build.add("where", [at[scalar], *numbers])
    return None


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


RULES: Sequence[Rule] = (shift, exchange, marked_cell, mask, selection, waist, unfolding)
