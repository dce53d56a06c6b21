"""Every outcome of a problem with its exact probability: what all rules of proof come down to in the end.

A world is one value of every code and one outcome of every draw. Values are columns of arrays, so that millions of worlds
are followed at once; probabilities are fractions, of which few are different, so each world has the number of its own.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.arrays import Ints
from deniable.core import Node, PackedBits, Type
from deniable.core.running import operation
from deniable.privacy.problem import Problem
from deniable.privacy.steps import WORLDS, spend

TOO_MANY = 1 << 200
MOST_BITS = 1 << 27  # of all rows of one node together, which are unpacked where they are compared
WORD = 62  # bits of a row that are one number


def outcome_count(node: Node, kind: Type) -> int:
    """How many outcomes a draw has."""
    if node.op == "subset":
        n, k = node.params
        return math.comb(n, k) + math.comb(n, k - 1) if n <= 64 else TOO_MANY
    if kind.row:
        return 1 << kind.width if (kind.width or 0) <= 64 else TOO_MANY  # type: ignore[operator]
    if node.op == "counts":
        return len(node.params[0])
    return kind.size if kind.width is None else TOO_MANY


def cost(problem: Problem, targets: Sequence[int]) -> int:
    """How many worlds there are for these nodes; too many where their rows would take too much memory."""
    total, widest = 1, 1
    for node in problem.upstream(targets):
        widest = max(widest, problem.types[node].width or 1)
        if problem.nodes[node].op == "code":
            values = problem.values_of(node)
            total *= TOO_MANY if values is None else len(values)
        elif problem.is_draw(node):
            total *= outcome_count(problem.nodes[node], problem.types[node])
        if total > TOO_MANY:
            return TOO_MANY
    return total if total * widest <= MOST_BITS else TOO_MANY


class Worlds:
    """The worlds of some nodes: a column of values for each, and the number of each world's probability."""

    def __init__(self) -> None:
        self.size, self.values = 1, dict[int, Any]()
        self.chance: Ints = np.zeros(1, np.int64)
        self.chances: list[Fraction] = [Fraction(1)]

    def expand(self, node: int, values: Any) -> None:
        """Every world once for each of these values of a node, without a change of probability."""
        times = len(values)
        for each, column in self.values.items():
            self.values[each] = _repeated(column, times)
        self.chance = np.repeat(self.chance, times)
        self.values[node] = tiled(values, self.size)
        self.size *= times

    def weigh(self, factor: Ints, factors: list[Fraction]) -> None:
        """Multiply the probability of each world by the factor with this number; worlds that are impossible go."""
        pairs, self.chance, _ = numbered(self.chance * len(factors) + factor, len(self.chances) * len(factors))
        spend(len(pairs))
        known: dict[Fraction, int] = {}
        products = [self.chances[pair // len(factors)] * factors[pair % len(factors)] for pair in pairs.tolist()]
        places = np.array([known.setdefault(product, len(known)) for product in products])
        self.chances, self.chance = list(known), places[self.chance]
        if Fraction(0) in known:
            possible = np.flatnonzero(self.chance != known[Fraction(0)])
            self.values = {node: _chosen(column, possible) for node, column in self.values.items()}
            self.chance, self.size = self.chance[possible], len(possible)

    def columns(self, node: int) -> list[Ints]:
        """The values of a node as numbers: one column, or for a row of bits one for every 62 of them."""
        value = self.values[node]
        if isinstance(value, PackedBits):
            bits, places = value.unpack(), np.arange(WORD, dtype=np.int64)
            words = (bits[:, start : start + WORD] for start in range(0, value.width, WORD))
            return [word.astype(np.int64) @ (1 << places[: word.shape[1]]) for word in words]
        return [np.broadcast_to(np.asarray(value), self.size).astype(np.int64)]


def tiled(values: Any, times: int) -> Any:
    """All these values, so many times over."""
    if isinstance(values, PackedBits):
        return PackedBits(np.tile(values.bytes, (times, 1)), values.width)
    return np.tile(values, (times, *[1] * (values.ndim - 1)))


def _repeated(column: Any, times: int) -> Any:
    if isinstance(column, list):  # arguments of a step that waits for the next one
        return [_repeated(each, times) for each in column]
    if isinstance(column, PackedBits):
        return PackedBits(np.repeat(column.bytes, times, axis=0), column.width)
    return np.repeat(column, times, axis=0) if isinstance(column, np.ndarray) else column


def _chosen(column: Any, rows: Ints) -> Any:
    if isinstance(column, list):
        return [_chosen(each, rows) for each in column]
    if isinstance(column, PackedBits):
        return PackedBits(column.bytes[rows], column.width)
    return column[rows] if isinstance(column, np.ndarray) else column


def worlds(problem: Problem, targets: Sequence[int]) -> Worlds:
    """All worlds of these nodes."""
    found = Worlds()
    for node in problem.upstream(targets):
        spend(found.size // WORLDS)
        each, kind = problem.nodes[node], problem.types[node]
        if each.op == "code":
            values = problem.values_of(node)
            assert values is not None
            found.expand(node, np.array(values, np.int64))
        elif problem.is_draw(node):
            draw(found, node, each, kind)
        else:
            run = operation(each, [problem.types[arg] for arg in each.args], False)
            found.values[node] = run([found.values[arg] for arg in each.args], None, found.size)  # type: ignore[arg-type]
    return found


def draw(found: Worlds, node: int, each: Node, kind: Type) -> None:
    """Follow every outcome of a draw."""
    if each.op == "toss_each":
        _toss_each(found, node, each.args[0], each.params[0])
    elif each.op == "pick_each":
        table = np.array(each.params[0], np.int64)
        row = np.broadcast_to(np.asarray(found.values[each.args[0]], np.int64), found.size)
        found.expand(node, np.arange(table.shape[1]))
        weight = table[np.repeat(row, table.shape[1]), found.values[node]]
        different, which = np.unique(weight, return_inverse=True)
        total = sum(each.params[0][0])
        found.weigh(which, [Fraction(w, total) for w in different.tolist()])
    elif each.op == "subset":
        n, k = each.params
        less = np.broadcast_to(np.asarray(found.values[each.args[0]]), found.size).astype(np.bool_)
        rows = [set(some) for size in (k, k - 1) for some in itertools.combinations(range(n), size)]
        bits = np.array([[place in row for place in range(n)] for row in rows], np.bool_).reshape(-1, n)
        found.expand(node, PackedBits.pack(bits))
        small = np.tile(bits.sum(axis=1) == k - 1, len(less))
        fits = small == np.repeat(less, len(rows))
        found.weigh(
            np.where(fits, small + 1, 0), [Fraction(0), Fraction(1, math.comb(n, k)), Fraction(1, math.comb(n, k - 1))]
        )
    else:
        values, factor, factors = _outcomes(each, kind)
        times = found.size
        found.expand(node, values)
        found.weigh(np.tile(factor, times), factors)


def _toss_each(found: Worlds, node: int, heads: int, whole: int) -> None:
    """A toss for each number of a vector, or for a single one; those that are certain are not followed."""
    chances = np.asarray(found.values[heads])
    width = chances.shape[1] if chances.ndim == 2 else None
    for place in range(width or 1):
        chances = np.asarray(found.values[heads])
        own = np.broadcast_to(chances if width is None else chances[:, place], found.size)
        key = node if width is None else -1 - place
        if ((own == 0) | (own == whole)).all():
            found.values[key] = (own > 0).astype(np.int64)
            continue
        different, which = np.unique(own, return_inverse=True)
        found.expand(key, np.array([0, 1]))
        factors = [Fraction(int(h), whole) for h in different.tolist()]
        which = np.repeat(which, 2)
        up = found.values[key] == 1
        found.weigh(np.where(up, which, which + len(factors)), factors + [1 - factor for factor in factors])
    if width is not None:
        found.values[node] = np.stack([found.values.pop(-1 - place) for place in range(width)], axis=1)


def _outcomes(each: Node, kind: Type) -> tuple[Any, Ints, list[Fraction]]:
    """The outcomes of a draw that depends on nothing, the number of the probability of each, and these probabilities."""
    if each.op == "toss":
        p = each.params[0]
        return np.array([0, 1]), np.array([0, 1]), [1 - p, p]
    if each.op in ("below", "public"):
        n = each.params[0]
        return np.arange(n), np.zeros(n, np.int64), [Fraction(1, n)]
    if each.op == "split":
        p, first, second = each.params
        numbers = np.arange(first + second)
        return numbers, (numbers >= first).astype(np.int64), [p / first, (1 - p) / second if second else Fraction(0)]
    if each.op == "pick":
        weights = each.params[0]
        different, which = np.unique(np.array(weights), return_inverse=True)
        return np.arange(len(weights)), which, [Fraction(int(w), sum(weights)) for w in different]
    if each.op == "counts":
        return np.array([v for v, _ in each.params[0]]), np.arange(len(each.params[0])), [p for _, p in each.params[0]]
    width = kind.width or 0
    bits = (np.arange(1 << width)[:, None] >> np.arange(width) & 1).astype(np.bool_)
    ones = bits.sum(axis=1)
    if each.op == "flags":
        p = each.params[0]
        return PackedBits.pack(bits), ones, [p**m * (1 - p) ** (width - m) for m in range(width + 1)]
    ahead = 2 * ones > width  # majority
    return PackedBits.pack(bits), ahead.astype(np.int64), [Fraction(0), Fraction(1, int(ahead.sum()))]


def numbered(keys: Ints, below: int) -> tuple[Ints, Ints, Ints]:
    """The different keys, which are below this number, in order; which of them each key is; and how often each occurs.

    Where not many more are possible than there are, they are counted: sorting takes several times as long.
    """
    if below > 2 * len(keys) + 1024:
        return np.unique(keys, return_inverse=True, return_counts=True)
    often = np.bincount(keys, minlength=below)
    different = np.flatnonzero(often)
    place = np.empty(below, np.int64)
    place[different] = np.arange(len(different))
    return different, place[keys], often[different]


@dataclass(frozen=True)
class Extreme:
    """The largest ratio of two probabilities of one report, None if one of them is 0, and where it is reached."""

    odds: Fraction | None
    high: dict[int, int]
    low: dict[int, int]
    report: dict[int, int]


def sums(groups: Ints, chance: Ints, chances: list[Fraction]) -> tuple[Ints, list[Fraction]]:
    """The sum of the probabilities of each group 0, 1, ...: the number of each sum, and the different sums."""
    count = int(groups.max()) + 1
    pairs, _, often = numbered(groups * len(chances) + chance, count * len(chances))
    owner, kind = np.divmod(pairs, len(chances))
    most = int(often.max()) + 1
    terms, term, _ = numbered(kind * most + often, len(chances) * most)
    values = [chances[t // most] * (t % most) for t in terms.tolist()]
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)  # the first, second, ... term of its group
    totals, which = [Fraction(0)], np.zeros(count, np.int64)
    for turn in range(int(place.max()) + 1):
        spend(1 + len(place) // WORLDS)
        mine = place == turn  # only the groups that have so many terms
        used, new, _ = numbered(which[owner[mine]] * len(values) + term[mine], len(totals) * len(values))
        olds, news = np.divmod(used, len(values))
        which[owner[mine]] = len(totals) + new
        totals += [totals[o] + values[t] for o, t in zip(olds.tolist(), news.tolist(), strict=True)]
    final, which, _ = numbered(which, len(totals))
    known: dict[Fraction, int] = {}
    places = np.array([known.setdefault(totals[total], len(known)) for total in final.tolist()])
    return places[which], list(known)


def law(problem: Problem, targets: Sequence[int], by: Sequence[int]) -> tuple[list[tuple[int, ...]], list[Fraction]]:
    """The values of `by` and `targets` that occur together, and the probability of these targets given those values."""
    found = worlds(problem, [*by, *targets])
    rows, group = _grouped(found, [*by, *targets])
    which, totals = sums(group, found.chance, found.chances)
    return rows.every(), [totals[place] for place in which.tolist()]


def extreme(problem: Problem, view: Sequence[int], compared: Sequence[int], known: Sequence[int]) -> Extreme:
    """The largest ratio of the probability of a view under two values of `compared`, with the same values of `known`.

    Of `compared`, codes are conditions, and draws or what is made of them are part of the event.
    """
    found = worlds(problem, [*view, *compared, *known])
    outer, group = _grouped(found, [*known, *view])
    inner, cell = _grouped(found, compared)
    keys, which, _ = numbered(group * len(inner) + cell, len(outer) * len(inner))
    chance, totals = sums(which, found.chance, found.chances)
    order = sorted(range(len(totals)), key=totals.__getitem__)
    rank = np.empty(len(totals), np.int64)
    rank[order] = np.arange(len(order))
    ranks, owner = rank[chance], keys // len(inner)
    possible = math.prod(problem.range_of(node) for node in compared)
    starts = np.searchsorted(owner, np.arange(len(outer)))
    top, bottom = np.maximum.reduceat(ranks, starts), np.minimum.reduceat(ranks, starts)
    missing = np.diff([*starts.tolist(), len(owner)]) < possible
    if missing.any():
        at = int(np.flatnonzero(missing)[0])
        first = int(starts[at])
        return Extreme(None, inner.named(int(keys[first]) % len(inner)), {}, outer.named(at))
    pairs, kind, _ = numbered(top * len(totals) + bottom, len(totals) ** 2)
    ratios = [totals[order[pair // len(totals)]] / totals[order[pair % len(totals)]] for pair in pairs.tolist()]
    best = max(range(len(ratios)), key=ratios.__getitem__)
    at = int(np.flatnonzero(kind == best)[0])
    mine = slice(int(starts[at]), int(starts[at + 1]) if at + 1 < len(starts) else len(owner))
    cells = keys[mine] % len(inner)
    high, low = (inner.named(int(cells[int(pick(ranks[mine]))])) for pick in (np.argmax, np.argmin))
    return Extreme(ratios[best], high, low, outer.named(at))


@dataclass(frozen=True)
class _Rows:
    """The different values that some nodes have together, a row each; of a long row of bits there are several columns."""

    nodes: tuple[int, ...]
    words: tuple[int, ...]  # columns of each node
    table: Ints

    def __len__(self) -> int:
        return len(self.table)

    def every(self) -> list[tuple[int, ...]]:
        """All rows, with one number for each node."""
        return [self._joined(row) for row in self.table.tolist()]

    def named(self, place: int) -> dict[int, int]:
        """One row, by node."""
        return dict(zip(self.nodes, self._joined(self.table[place].tolist()), strict=True))

    def _joined(self, row: list[int]) -> tuple[int, ...]:
        if len(row) == len(self.nodes):
            return tuple(row)
        ends = list(itertools.accumulate(self.words))
        parts = (row[end - many : end] for many, end in zip(self.words, ends, strict=True))
        return tuple(sum(word << WORD * place for place, word in enumerate(part)) for part in parts)


def _grouped(found: Worlds, nodes: Sequence[int]) -> tuple[_Rows, Ints]:
    """The different values of these nodes, and which of them each world has."""
    each = [found.columns(node) for node in nodes]
    columns, words = [column for own in each for column in own], tuple(map(len, each))
    if not columns:
        return _Rows((), (), np.zeros((1, 0), np.int64)), np.zeros(found.size, np.int64)
    table = np.stack(columns, axis=1)
    low = table.min(axis=0)
    ranges = [high - least + 1 for high, least in zip(table.max(axis=0).tolist(), low.tolist(), strict=True)]
    if math.prod(ranges) >= 1 << 62:
        rows, group = np.unique(table, axis=0, return_inverse=True)
        return _Rows(tuple(nodes), words, rows), group.ravel().astype(np.int64)
    key = np.zeros(found.size, np.int64)
    for place, size in enumerate(ranges):  # one number for each row sorts many times faster than rows do
        key = key * size + (table[:, place] - low[place])
    different, group, _ = numbered(key, math.prod(ranges))
    example = np.empty(len(different), np.int64)
    example[group] = np.arange(found.size)  # any world with this key has these values
    return _Rows(tuple(nodes), words, table[example]), group
