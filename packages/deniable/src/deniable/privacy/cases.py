"""The proof of a question with non-sensitive answers: reports that disclose none are compared, case by case.

Whether an answer is sensitive decides which of two laws a report comes from: that of the base mechanism, or that of reports
to hide behind. So each case is looked at on its own, and what a report's probability can be in each is compared: report by
report where there are few; for noise that is moved one to one, over all of it at once; for rows of bits by how many are set,
or relative to a row of independent cells, with the empty row apart.

That a report which discloses an answer comes from no other answer is proved first, from the node that discloses it.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from deniable.core import Node, Program, Type
from deniable.errors import InvalidLaw
from deniable.privacy.bounds import LIMITS, Bound
from deniable.privacy.problem import Builder, Problem, Stand
from deniable.privacy.rows import are_drawn_one_by_one, exchanged, one_cell
from deniable.privacy.shift import Noise, added, is_alone, moved, terms_of
from deniable.privacy.steps import GivenUp, counted
from deniable.privacy.worlds import cost, law

Profile = Mapping[Any, tuple[Fraction, Fraction]]  # for each class of reports the largest and the smallest probability


def open_bound(program: Program, disclosed: str, from_value: int, sensitive: Collection[int]) -> Bound | None:
    """The loss of reports that disclose no answer: those whose field `disclosed` is below `from_value`.

    None if no rule reaches it, or if a report that discloses an answer may come from two, or from a sensitive one. An
    encoder that is given draws may make any code of a sensitive answer, so its codes do not say which are sensitive.
    """
    if any(node.args for _, node in program.codes):
        return None
    whole = Problem.of(program)
    try:
        with counted():
            return _open_bound(whole, [name for name, _ in program.report], disclosed, from_value, sensitive)
    except (GivenUp, InvalidLaw, RecursionError):  # as in rules.py
        return None


def _open_bound(
    whole: Problem, names: Sequence[str], disclosed: str, from_value: int, sensitive: Collection[int]
) -> Bound | None:
    if len(whole.view) != len(names):
        return None
    build, at = Builder(), dict[int, int]()
    build.copy(whole, whole.view, at, {})
    shown = at[whole.view[names.index(disclosed)]]
    hidden = build.add("lt", [shown, build.constant(from_value)])  # whether no answer is disclosed
    problem = build.problem([at[node] for node in whole.view])
    secret = _selector(problem, hidden)
    if secret is None or not _discloses_only_itself(problem, shown, from_value, sensitive):
        return None
    assumed = {hidden: Stand(constant=1), **_complements(problem, hidden)}
    silent = from_value == 1 and problem.types[shown].low == 0  # a field that is 0 says nothing
    view = [node for node in problem.view if node != shown or not silent]
    profiles = []
    for value in (0, 1):
        case, now = Builder(), dict[int, int]()
        case.copy(problem, view, now, {**assumed, secret: Stand(constant=value)})
        before = {node: place for node, place in now.items() if node not in assumed}
        case.copy(problem, [hidden], before, {secret: Stand(constant=value)})
        seen = [now[node] for node in view]
        profiles.append(_profile(*_conditioned(case.problem([*seen, before[hidden]]), seen, before[hidden])))
    return _compared(profiles)


def _complements(problem: Problem, node: int) -> dict[int, Stand]:
    """The nodes that are 0 where this one is 1."""
    own = problem.nodes[node]
    others = [place for place, each in enumerate(problem.nodes) if each.op == "not" and each.args == (node,)]
    return {place: Stand(constant=0) for place in [*others, *(own.args if own.op == "not" else ())]}


def _discloses_only_itself(problem: Problem, shown: int, from_value: int, sensitive: Collection[int]) -> bool:
    """Whether every number that discloses an answer comes from one answer only, which is not sensitive.

    What is drawn is replaced by anything that it might be.
    """
    each, condition = problem.nodes[shown], None
    if each.op == "where" and problem.types[each.args[2]].high < from_value:
        condition, shown = each.args[0], each.args[1]
    targets = [shown] if condition is None else [shown, condition]
    drawn, todo = set[int](), list(targets)
    while todo:
        node = todo.pop()
        if problem.is_draw(node) and problem.tainted[node]:
            return False
        if problem.private[node] and not problem.tainted[node]:
            drawn.add(node)
        else:
            todo.extend(problem.nodes[node].args)
    made = {node for node in drawn if (set(problem.upstream([node])) - {node}) & drawn}  # of others among them
    stands = {node: Stand(known=True) for node in drawn - made}
    build, at = Builder(), dict[int, int]()
    build.copy(problem, targets, at, stands)
    small = build.problem([at[node] for node in targets])
    secrets, knowns = small.secrets(small.view), small.knowns(small.view)
    if len(secrets) != 1 or cost(small, [*secrets, *small.view]) > LIMITS[-1]:
        return False
    owners: dict[int, int] = {}
    wanted = [at[node] for node in targets]
    keys, _ = law(small, wanted, [*secrets, *knowns])
    for key in keys:
        value, happens = key[1 + len(knowns)], condition is None or key[-1]
        if happens and value >= from_value and (owners.setdefault(value, key[0]) != key[0] or key[0] in sensitive):
            return False
    return True


def _selector(problem: Problem, hidden: int) -> int | None:
    """The node that says whether an answer is sensitive: a table of 0 and 1, which decides what is sent.

    It depends on no draw: of a draw that the rest depends on too, a number in its place would say nothing.
    """

    def is_either(node: int) -> bool:
        return problem.nodes[node].op == "table" and problem.types[node] == Type(0, 1) and not problem.private[node]

    for node in problem.upstream([*problem.view, hidden]):
        each = problem.nodes[node]
        if each.op == "where" and is_either(each.args[0]):
            return each.args[0]
    tables = [node for node in problem.upstream([hidden]) if is_either(node)]
    return tables[0] if len(tables) == 1 else None  # where nothing but the disclosure depends on it


def _compared(profiles: Sequence[Profile | None]) -> Bound | None:
    if any(profile is None for profile in profiles):
        return None
    found = [profile for profile in profiles if profile is not None]
    keys = {key for profile in found for key in profile}
    if any(set(profile) != keys for profile in found):
        numbers = all(key == "any" or isinstance(key, int) for _, key in keys)
        if not numbers or len({shape for shape, _ in keys}) > 1:
            return None
        found = [_widest(profile) for profile in found]  # reports one by one, and all at once
        keys = set(found[0])
    odds = Fraction(1)
    for key in keys:
        low = min(profile[key][1] for profile in found)
        if not low:
            return None
        odds = max(odds, max(profile[key][0] for profile in found) / low)
    return Bound(odds, ("cases",))


def _widest(profile: Profile) -> Profile:
    """One class for all reports."""
    shape = next(iter(profile))[0]
    return {(shape, "any"): (max(high for high, _ in profile.values()), min(low for _, low in profile.values()))}


def _conditioned(problem: Problem, view: Sequence[int], event: int) -> tuple[Problem, list[int], int, Fraction]:
    """The problem given the only outcome of some tosses with which the event happens, if there is one, and its chance."""
    tosses = [place for place in problem.upstream([event]) if problem.nodes[place].op == "toss"]
    shown = any(problem.private[node] & problem.private[event] for node in view)
    few = problem.private[event] <= set(tosses) and cost(problem, [*tosses, event]) <= LIMITS[0]
    if not shown or problem.tainted[event] or not few:
        return problem, list(view), event, Fraction(1)
    keys, chances = law(problem, [*tosses, event], problem.knowns([event]))
    happens = [(key[-1 - len(tosses) : -1], chance) for key, chance in zip(keys, chances, strict=True) if key[-1]]
    if len(happens) != 1:
        return problem, list(view), event, Fraction(1)
    ((outcome, share),) = happens
    build, at = Builder(), dict[int, int]()
    stands = {toss: Stand(constant=value) for toss, value in zip(tosses, outcome, strict=True)}
    build.copy(problem, [*view, event], at, stands)
    return build.problem([at[node] for node in [*view, event]]), [at[node] for node in view], at[event], share


def _profile(problem: Problem, view: Sequence[int], event: int, weight: Fraction) -> Profile | None:
    """What the probability of a report of each class can be, where the event happens, times a weight.

    Public draws that are shown as they are, and numbers that are always the same, must be so in every case: they are part of
    the class.
    """
    public = [node for node in view if node in problem.known]
    nodes = [node for node in view if problem.tainted[node] or problem.private[node]]
    if len(set(public)) != len(public) or len(nodes) > 1:
        return None
    shape: list[object] = []
    for node in view:
        if node in public:
            shape.append(("public", problem.types[node]))
        elif node in nodes:
            shape.append(("seen", problem.types[node]))  # of which every value has a class
        elif problem.types[node].low == problem.types[node].high and problem.types[node].width is None:
            shape.append(problem.types[node].low)
        else:
            return None
    if not nodes:
        share = _share(problem, event, {})
        found: Profile | None = None if share is None else {"any": (share, share)}
    elif problem.types[nodes[0]].row:
        found = _row_profile(problem, nodes[0], event)
    else:
        found = _number_profile(problem, nodes[0], event)
    return (
        None if found is None else {(tuple(shape), key): (high * weight, low * weight) for key, (high, low) in found.items()}
    )


def _number_profile(problem: Problem, node: int, event: int) -> Profile | None:
    secrets, knowns = problem.secrets([node, event]), problem.knowns([node, event])
    if not knowns and cost(problem, [node, event]) <= LIMITS[-1]:
        keys, chances = law(problem, [node, event], secrets)
        often, different = Counter[int](), dict[int, dict[int, Fraction]]()
        for key, chance in zip(keys, chances, strict=True):
            if key[-1]:
                often[key[-2]] += 1
                different.setdefault(key[-2], {})[id(chance)] = chance  # few, and the same ones again
        codes = math.prod(problem.range_of(code) for code in secrets)
        zero = [Fraction(0)]
        every = {y: (max(c.values()), min(c.values() if often[y] == codes else zero)) for y, c in different.items()}
        return every if len(every) == problem.types[node].size else None
    noise = moved(problem, node) or _mixed(problem, node)
    if noise is None or problem.types[event].low != 1:
        return None
    build, at = Builder(), dict[int, int]()
    build.copy(problem, noise.terms, at, {})
    total = added(problem, noise, build, at)
    if noise.modulus is not None:
        total = build.add("mod", [total], (noise.modulus,))
    small = build.problem([total])
    if small.knowns([total]) or cost(small, [total]) > LIMITS[-1]:
        return None
    keys, chances = law(small, [total], [])
    if len(keys) != noise.size:
        return None
    share = Fraction(noise.size, problem.types[node].size)  # where noise is coarser than the report, as parities are
    return {"any": (max(chances) * share, min(chances) * share)}


def _mixed(problem: Problem, node: int) -> Noise | None:
    """Noise that is added to something drawn apart from it: a mixture stays within the bounds of what is mixed."""
    each = problem.nodes[node]
    single = each.op == "mod" and problem.types[node].width is None
    parts = terms_of(problem, each.args[0], each.params[0]) if single else []
    draws = [part for part in parts if problem.is_draw(part) and not problem.nodes[part].args]
    own = [draw for draw in draws if is_alone(problem, draw, parts)]
    return Noise(tuple(own), each.params[0], each.params[0]) if own else None


def _is_even(problem: Problem, node: int, width: int) -> bool:
    """Whether a node is a uniform draw of a cell, and nothing else is."""
    users = [each for each in problem.nodes if node in each.args]
    return problem.nodes[node] == Node("below", (), (width,)) and node not in problem.view and len(users) == 1


def _row_profile(problem: Problem, node: int, event: int) -> Profile | None:
    width = problem.types[node].width or 0
    if problem.types[event].low == 1:
        rows = exchanged(problem, node, LIMITS[-1])
        if rows is not None:
            return {("ones", total): (max(each), min(each)) for total, each in _by_total(rows, width).items()}
        rows = exchanged(problem, node, LIMITS[-1], drawn=True)
        if rows is not None and _is_even(problem, problem.nodes[node].args[1], width):
            return {("ones", total): (chance, chance) for total, chance in _on_average(rows, width).items()}
    each = problem.nodes[node]
    if each.op == "subset" and node not in problem.private[event]:
        less = problem.types[each.args[0]]
        share = _share(problem, event, {})
        if less.low != less.high or share is None:
            return None
        ones = each.params[1] - less.low
        return {("ones", ones): (share / math.comb(width, ones),) * 2}
    return _cell_profile(problem, node, event)


def _by_total(rows: Mapping[tuple[int, int], Fraction], width: int) -> dict[int, list[Fraction]]:
    """The probabilities of rows with so many bits set, seen from a marked cell that has one of them or not."""
    found: dict[int, list[Fraction]] = {}
    for total in {marked + ones for marked, ones in rows}:
        for marked in (0, 1):
            if 0 <= total - marked <= width - 1:
                found.setdefault(total, []).append(rows.get((marked, total - marked), Fraction(0)))
    return found


def _on_average(rows: Mapping[tuple[int, int], Fraction], width: int) -> dict[int, Fraction]:
    """The probability of a row with so many bits set, where the marked cell is any with the same chance."""
    found = {}
    for total in {marked + ones for marked, ones in rows}:
        inside, outside = (rows.get((marked, total - marked), Fraction(0)) for marked in (1, 0))
        found[total] = (total * inside + (width - total) * outside) / width
    return found


def _cell_profile(problem: Problem, node: int, event: int) -> Profile | None:
    """A row of independent cells, of which one may be marked: its probability over that of a row with none marked."""
    for place in problem.upstream([event]):
        each = problem.nodes[place]
        zero = each.op == "eq" and any(problem.types[arg].low == problem.types[arg].high == 0 for arg in each.args)
        if not zero and any(problem.nodes[arg].op == "ones" for arg in each.args):
            return None  # the event may ask whether the row is empty, and nothing else of it
    empties = [place for place in problem.upstream([event]) if problem.nodes[place].op == "ones"]
    marks = {problem.nodes[n].args[1] for n in problem.upstream([node]) if problem.nodes[n].op in ("put", "get")}
    other = one_cell(problem, [node], [], marked=False)
    if other is None or other.secrets(other.view) or other.knowns(other.view) or len(marks) > 1:
        return None
    beside = set(problem.upstream([event], until=empties))  # what the event depends on otherwise than by the whole row
    if not are_drawn_one_by_one(problem, [node]) or beside & problem.private[node]:
        return None
    if cost(other, other.view) > LIMITS[-1]:
        return None
    keys, chances = law(other, other.view, [])
    elsewhere = {key[0]: chance for key, chance in zip(keys, chances, strict=True)}
    found: dict[object, tuple[Fraction, Fraction]] = {}
    for kind in ("empty", "other"):
        stands = {}
        for place in empties:
            if problem.nodes[place].args != (node,):
                return None
            stands[place] = Stand(constant=0) if kind == "empty" else Stand(known=True, values=(1,))
        share = _share(problem, event, stands)
        if share is None:
            return None
        cells = _gains(problem, node, marks, elsewhere, kind == "empty") if marks else [Fraction(1)]
        if cells is None:
            return None
        found[kind, tuple(sorted(elsewhere.items()))] = max(cells) * share, min(cells) * share
    return found


def _gains(
    problem: Problem, node: int, marks: Collection[int], elsewhere: Mapping[int, Fraction], empty: bool
) -> list[Fraction] | None:
    """How much more likely a row may be than one with no marked cell: if it is empty, or else at its ends."""
    here, (mark,), width = one_cell(problem, [node], [], marked=True), marks, problem.types[node].width or 1
    even = _is_even(problem, mark, width)
    if here is None or here.knowns(here.view) or (problem.private[mark] and not even):
        return None
    if cost(here, here.view) > LIMITS[-1]:
        return None
    codes = here.secrets(here.view)
    gains: dict[int, list[Fraction]] = {}
    for key, chance in zip(*law(here, here.view, codes), strict=True):
        if key[-1] not in elsewhere:
            return None
        gains.setdefault(key[-1], []).append(chance / elsewhere[key[-1]])
    ways = math.prod(here.range_of(code) for code in codes)
    if set(gains) != set(elsewhere) or any(len(each) != ways for each in gains.values()):
        return None
    if even:
        if codes or set(gains) != {0, 1}:
            return None
        # Any cell is marked with the same chance: what counts is how many bits are set, from one to all.
        one, none = gains[1][0], gains[0][0]
        return [none] if empty else [one, (one + (width - 1) * none) / width]
    return gains.get(0) if empty else [gain for each in gains.values() for gain in each]


def _share(problem: Problem, event: int, stands: Mapping[int, Stand]) -> Fraction | None:
    """How likely the event is, if it depends on no answer, on no row, and on nothing that is known."""
    build, at = Builder(), dict[int, int]()
    build.copy(problem, [event], at, stands)
    happens = build.problem([at[event]])
    needed, knowns = happens.upstream([at[event]]), happens.knowns([at[event]])
    if happens.secrets([at[event]]) or any(happens.types[node].row for node in needed):
        return None
    if any(happens.range_of(node) > 1 for node in knowns) or cost(happens, [at[event]]) > LIMITS[-1]:
        return None
    keys, chances = law(happens, [at[event]], knowns)
    return sum((chance for key, chance in zip(keys, chances, strict=True) if key[-1]), Fraction(0))
