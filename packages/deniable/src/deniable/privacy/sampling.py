"""The rule of sampling: one of several different codes of an answer, drawn without a look at it, goes on into the report.

Of a vector of w numbers, all different, a uniform draw that is used for nothing else takes one. Let Q(y | k) be the
probability of a view where k is taken: P(y | c) is the mean of Q(y | k) over the w numbers of the answer. So it lies between
the mean of the w smallest and that of the w largest Q(y | k) of all k. For rows of cells, of which k names one, two answers
compete for the same cells.
"""

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest, nsmallest

from deniable.privacy.bounds import LIMITS, Bound, Effort
from deniable.privacy.problem import Builder, Problem, Stand
from deniable.privacy.rows import are_drawn_one_by_one, one_cell, same_law
from deniable.privacy.shift import terms_of
from deniable.privacy.worlds import cost, law

MOST_NUMBERS = 1 << 17  # that are listed

Term = tuple[tuple[int, ...] | None, int, int]  # a part of a chance, for one value of what else is secret, or for all
Corrections = dict[tuple[int, ...], dict[int, list[Term]]]  # by view and number


@dataclass(frozen=True)
class Sampled:
    """A problem in which the number that is taken is a code, and how many an answer has."""

    problem: Problem
    taken: int
    width: int

    @property
    def size(self) -> int:
        """How many numbers there are to take from."""
        return self.problem.types[self.taken].size

    @property
    def others(self) -> list[int]:
        """All secret codes but the number."""
        return [code for code in self.problem.secrets(self.problem.view) if code != self.taken]


def sampling(problem: Problem, effort: Effort) -> Bound | None:
    """One of different codes, taken by a draw. It is followed further than others at first: a waist would say less."""
    effort = effort.within(max(effort.limit, LIMITS[1]))
    for draw, node in enumerate(problem.nodes):
        if node.op == "below" and draw not in problem.view:
            sampled = _sampled(problem, draw)
            if sampled is not None and not sampled.problem.knowns(sampled.problem.view):
                rows = [problem.types[seen].row for seen in problem.view]
                found = _of_rows(sampled, effort) if all(rows) else None if any(rows) else _of_numbers(sampled, effort)
                if found is not None:
                    return found
    return None


def _sampled(problem: Problem, draw: int) -> Sampled | None:
    """The problem with codes in place of what this draw takes from vectors, if it does nothing else."""
    users = [place for place, node in enumerate(problem.nodes) if draw in node.args]
    width, distinct = problem.types[draw].size, list[int]()
    for place in users:
        vector, *index = problem.nodes[place].args
        alone = problem.nodes[vector].op == "code" and vector not in problem.known and problem.is_used_once(vector)
        if problem.nodes[place].op != "at" or index != [draw] or not alone or problem.types[vector].width != width:
            return None
        if problem.types[vector].distinct:
            distinct.append(place)
    if len(distinct) != 1:
        return None
    kind, stands = problem.types[distinct[0]], dict[int, Stand]()
    if kind.size > MOST_NUMBERS:
        return None
    for place in users:
        tosses = [each for each, node in enumerate(problem.nodes) if node.op == "toss_each" and node.args == (place,)]
        if place == distinct[0]:
            stands[place] = Stand(values=tuple(range(kind.low, kind.high + 1)))
        else:  # the chance of one toss and nothing else: what comes up is all that counts
            stands[tosses[0] if tosses and problem.is_used_once(place) else place] = Stand()
    build, at = Builder(), dict[int, int]()
    build.copy(problem, problem.view, at, stands)
    if distinct[0] not in at:
        return None
    return Sampled(build.problem([at[node] for node in problem.view]), at[distinct[0]], width)


# Numbers


def _of_numbers(sampled: Sampled, effort: Effort) -> Bound | None:
    problem, base = sampled.problem, dict[tuple[int, ...], Fraction]()
    moved = _moved_evenly(problem)
    if cost(problem, problem.view) <= effort.limit:
        parts = [(Fraction(1), problem, problem.view, sampled.taken)]
    elif moved is None:
        return None
    else:
        node, noise = moved
        p, size = problem.nodes[noise].params[0], problem.types[noise].size
        stays = {noise: Stand(constant=0)}
        none = {place: Stand(constant=0) for place in _zero_tests(problem, noise)}
        even, view, _ = _rebuilt(sampled, none, node)
        if even.secrets(view) or cost(even, view) > effort.limit:
            return None
        # Moved on evenly is the same as moved anywhere, less the share that stays.
        for key, chance in zip(*law(even, view, []), strict=True):
            base[key] = (1 - p) * size / (size - 1) * chance
        parts = [(p, *_rebuilt(sampled, stays)), (-(1 - p) / (size - 1), *_rebuilt(sampled, {**stays, **none}))]
        if any(cost(part, view) > effort.limit for _, part, view, _ in parts):
            return None
    every = [sampled.problem.values_of(code) for code in sampled.others]
    if any(values is None for values in every):
        return None
    ways = list(itertools.product(*(values or () for values in every)))
    found, terms = Corrections(), dict[Term, Fraction]()
    for number, (weight, part, view, taken) in enumerate(parts):
        others = [code for code in part.secrets(view) if code != taken]
        if len(others) not in (0, len(every)):
            return None
        for key, chance in zip(*law(part, view, [taken, *others]), strict=True):
            way = key[1 : 1 + len(others)] if others else None
            term = (way, number, id(chance))  # chances are few, and the same ones again
            if term not in terms:
                terms[term] = weight * chance
            found.setdefault(key[1 + len(others) :], {}).setdefault(key[0], []).append(term)
    return Bound(_worst_mean(found, base, terms, ways, sampled), ("sampling",))


def _worst_mean(
    found: Corrections,
    base: Mapping[tuple[int, ...], Fraction],
    terms: Mapping[Term, Fraction],
    ways: Sequence[tuple[int, ...]],
    sampled: Sampled,
) -> Fraction | None:
    """The largest over the smallest sum of the chances of a view, over all sets of different numbers."""
    odds, width, seen = Fraction(1), sampled.width, set[Hashable]()
    for view in {*found, *base}:
        corrections, common = Counter(map(tuple, found.get(view, {}).values())), base.get(view, Fraction(0))
        alike = (common, frozenset(corrections.items()))
        if alike in seen:  # views that differ in nothing but their names
            continue
        seen.add(alike)
        highs, lows = ([Fraction(0)] * min(width, sampled.size - corrections.total()) for _ in range(2))
        for own, often in corrections.items():
            sums = [sum((terms[term] for term in own if term[0] in (None, way)), Fraction(0)) for way in ways]
            highs += [max(sums)] * min(often, width)
            lows += [min(sums)] * min(often, width)
        bottom = width * common + sum(nsmallest(width, lows))
        if bottom <= 0:
            return None
        odds = max(odds, (width * common + sum(nlargest(width, highs))) / bottom)
    return odds


def _moved_evenly(problem: Problem) -> tuple[int, int] | None:
    """A sum modulo n, and the noise in it, which stays at 0 or moves on evenly; else it is only asked whether it is 0."""
    for place, node in enumerate(problem.nodes):
        if node.op == "mod":
            parts = terms_of(problem, node.args[0], node.params[0])
            noise = [term for term in parts if problem.private[term]]
            if len(noise) == 1 and problem.nodes[noise[0]].op == "split":
                (split,) = noise
                even = problem.nodes[split].params[1:] == (1, node.params[0] - 1) and node.params[0] > 2
                elsewhere = problem.upstream(problem.view, until=[place, *_zero_tests(problem, split)])
                if even and split not in elsewhere and parts.count(split) == 1:
                    return place, split
    return None


def _zero_tests(problem: Problem, noise: int) -> list[int]:
    """The nodes that ask whether this noise is 0."""
    zeros = [place for place, kind in enumerate(problem.types) if kind.low == kind.high == 0 and kind.width is None]
    return [place for place, n in enumerate(problem.nodes) if n.op == "eq" and n.args[0] == noise and n.args[1] in zeros]


def _rebuilt(
    sampled: Sampled, stands: Mapping[int, Stand], uniform: int | None = None
) -> tuple[Problem, tuple[int, ...], int]:
    """The problem with numbers in place of some nodes, and a uniform draw in place of one; its view, and what is taken."""
    build, at = Builder(), dict[int, int]()
    if uniform is not None:
        at[uniform] = build.add("below", [], (sampled.problem.nodes[uniform].params[0],))
    build.copy(sampled.problem, [*sampled.problem.view, sampled.taken], at, stands)
    view = [at[node] for node in sampled.problem.view]
    return build.problem(view), tuple(view), at[sampled.taken]


# Rows


def _of_rows(sampled: Sampled, effort: Effort) -> Bound | None:
    """Rows of independent cells, of which the one that the number names is drawn differently."""
    problem = sampled.problem
    rows = list(problem.view)
    marks = {problem.nodes[n].args[1] for n in problem.upstream(rows) if problem.nodes[n].op in ("put", "get")}
    widths = {problem.types[row].width for row in rows}
    if len(widths) != 1 or len(marks) != 1 or problem.secrets([*marks]) != [sampled.taken]:
        return None
    other, here = one_cell(problem, rows, [], marked=False), one_cell(problem, rows, [sampled.taken], marked=True)
    if other is None or here is None or not are_drawn_one_by_one(problem, rows) or any(problem.private[m] for m in marks):
        return None
    if max(cost(each, each.view) for each in (other, here)) > effort.limit:
        return None
    elsewhere = same_law(other, other.secrets(other.view))
    if elsewhere is None:
        return None
    gains: dict[int, dict[tuple[int, ...], list[Fraction]]] = {}
    *cells, taken = here.view
    others = [code for code in here.secrets(here.view) if code != taken]
    keys, chances = law(here, cells, [taken, *others])
    for key, chance in zip(keys, chances, strict=True):
        cell = key[1 + len(others) :]
        if cell not in elsewhere:
            return Bound(None, ("sampling",))
        gains.setdefault(key[0], {}).setdefault(cell, []).append(chance / elsewhere[cell])
    ways = 1
    for code in others:
        ways *= here.range_of(code)
    if any(len(table) != len(elsewhere) or any(len(g) != ways for g in table.values()) for table in gains.values()):
        return None
    places = {key[0]: key[1] for key in law(problem, list(marks), [sampled.taken])[0]}
    plain = {number for number, table in gains.items() if all(g == 1 for each in table.values() for g in each)}
    marked = [number for number in gains if number not in plain]
    tables = {tuple(sorted((cell, max(g), min(g)) for cell, g in gains[number].items())) for number in marked}
    if len(tables) != 1 or len({places[number] for number in marked}) != len(marked) or len(plain) < sampled.width:
        return None
    ((*table,),) = tables
    return Bound(_worst_sets([(high, low) for _, high, low in table], len(marked), sampled.width), ("sampling",))


def _worst_sets(gains: Sequence[tuple[Fraction, Fraction]], marked: int, width: int) -> Fraction | None:
    """The largest ratio of the sums of gains of two sets of different numbers, for the worst row.

    Of x numbers in the first set only the largest gain counts, of z in the second only the smallest, and w are in both, with
    one cell. All others have gain 1. The ratio of two linear functions is largest at a corner of x + w <= width,
    z + w <= width, x + z + w <= marked.
    """
    most, least = max(high for high, _ in gains), min(low for _, low in gains)
    if least <= 0:
        return None
    odds = Fraction(1)
    for both in _between({0, width, marked, 2 * width - marked}, min(width, marked)):
        room, free = width - both, marked - both
        for first in _between({0, room, free, free - room}, min(room, free)):
            for second in _between({0, room, free - first}, min(room, free - first)):
                for high, low in gains:
                    top = both * high + first * most + room - first
                    odds = max(odds, top / (both * low + second * least + room - second))
    return odds


def _between(numbers: Iterable[int], most: int) -> list[int]:
    return [number for number in numbers if 0 <= number <= most]
