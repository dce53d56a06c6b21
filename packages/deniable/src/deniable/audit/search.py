"""The search for the event that distinguishes two values best. It may overfit: other trials judge what it finds."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.audit.events import Event, Literal, Readings, Rule, Score
from deniable.audit.feature import MOST_LEVELS, Feature

FEW_VALUES = 8  # values of which all pairs are looked at
MOST_PAIRS = 40
MOST_LITERALS = 96
SHORTLIST = 240
LONGEST_RULE = 4
SMALL = 8  # levels of a feature that are looked at together with others
LEAST_SEEN = 5
LUCK = 3.0  # deviations by which the best of many events may have been lucky
LESS_LUCK = 1.0  # the same for rare events, which would never be tried otherwise, and for those that were chosen before
RARE = 0.25  # epsilon that a rare event must promise beyond the best of the others, which it must also promise to double
PLAIN = 0.02  # epsilon that is given up for an event that is shorter to say


@dataclass(frozen=True)
class Found:
    """An event, and the pair of values that it distinguishes: the places of the likelier and of the other."""

    event: Event
    pair: tuple[int, int]
    score: float


@dataclass(frozen=True)
class Judge:
    """Scores counts by the epsilon that they let expect from `trials` further trials with limits `z` deviations wide."""

    trials: int
    z: float
    luck: float = LUCK

    @property
    def bold(self) -> "Judge":
        """One that expects less luck: rare events that only one value has get their chance."""
        return replace(self, luck=LESS_LUCK)

    def score(self, first: Ints, of_first: int, second: Ints, of_second: int) -> Floats:
        """Larger is better; counts are taken some deviations worse than they are, since the best of many were lucky."""
        p, q = _low(first, self.luck) / of_first, _high(second, self.luck) / of_second
        later, other = p * (self.trials / 2) + 1e-9, q * (self.trials / 2)
        width = np.hypot(np.log(later / _low(later, self.z)), np.log(_high(other, self.z) / other))
        return np.asarray(np.log(np.maximum(p, 1e-12) / q) - width)


def _low(count: Floats | Ints, z: float) -> Floats:
    """About the least mean that gives such a count, z deviations away; never below 0."""
    return np.asarray(np.maximum(count + z * z / 2 - z * np.sqrt(count + z * z / 4), 1e-12))


def _high(count: Floats | Ints, z: float) -> Floats:
    return np.asarray(count + z * z / 2 + z * np.sqrt(count + z * z / 4))


def best(
    features: Sequence[Feature], fit: Readings, values: Ints, select: Readings, select_values: Ints, judge: Judge
) -> Found | None:
    """The event found on the first part that is best on the second."""
    people = np.bincount(values)
    tables = [table for feature in features if (table := _Table.of(feature, fit(feature), values, len(people))) is not None]
    pairs = _pairs(tables, people, judge)
    found, rare = list[Found](), list[Found]()
    for pair in pairs:
        runs = [run for table in tables for run in _runs(table, pair)]
        found += _level_sets(runs, pair, people, judge)
        rare += _level_sets(runs, pair, people, judge.bold)
    literals = _literals(tables, people)
    bits = (
        np.column_stack([literal.holds(fit) for literal in literals]) if literals else np.zeros((len(values), 0), np.bool_)
    )
    found += _rules(literals, bits, values, pairs, people, judge)
    for pair in pairs:
        found += _scores(literals, bits, tables, fit, values, pair, judge)
    found.sort(key=lambda each: -each.score)
    rare.sort(key=lambda each: -each.score)
    selected = np.bincount(select_values, minlength=len(people))
    usual = _best_of(found[:SHORTLIST], select, select_values, selected, judge)
    other = _best_of(rare[: SHORTLIST // 2], select, select_values, selected, judge.bold)
    if usual is None or other is None:
        return usual or other
    bold = _judged(usual, select, select_values, selected, judge.bold)
    return other if other.score > max(bold.score + RARE, 2 * bold.score) else usual


def _best_of(found: Sequence[Found], read: Readings, values: Ints, people: Ints, judge: Judge) -> Found | None:
    again = [_judged(each, read, values, people, judge) for each in found]
    return max(again, key=lambda each: each.score - PLAIN * _length(each.event), default=None)


def _length(event: Event) -> float:
    """How long it takes to say: of events that are about as good, the plainest is taken."""
    if isinstance(event, Score):
        return LONGEST_RULE + 1
    if not event.alone:  # it takes two reports for a trial
        return LONGEST_RULE + 2
    return sum(1 + (len(literal.levels) > 1) for literal in event.literals)


def _judged(found: Found, read: Readings, values: Ints, people: Ints, judge: Judge) -> Found:
    first, second = found.pair
    hits = np.bincount(values[found.event.holds(read)], minlength=len(people))
    score = judge.score(hits[first], int(people[first]), hits[second], int(people[second]))
    return replace(found, score=float(score))


@dataclass(frozen=True, eq=False)
class _Table:
    """How often each level of a feature occurred under each value."""

    feature: Feature
    levels: Ints
    counts: Ints  # of shape (values, levels)

    @classmethod
    def of(cls, feature: Feature, read: Ints, values: Ints, size: int) -> "_Table | None":
        levels, which = np.unique(read, return_inverse=True)
        if len(levels) < 2 or len(levels) > MOST_LEVELS or len(levels) > len(read) // 2:
            return None
        counts = np.bincount(values * len(levels) + which, minlength=size * len(levels)).reshape(size, -1)
        return cls(feature, levels, counts)


def _pairs(tables: Sequence[_Table], people: Ints, judge: Judge) -> list[tuple[int, int]]:
    """The ordered pairs of values to look at: all, or those that single levels distinguish best."""
    present = np.flatnonzero(people)
    if len(present) <= FEW_VALUES:
        return list(itertools.permutations(present.tolist(), 2))
    scores: dict[tuple[int, int], float] = {}
    for table in tables:
        rates = (table.counts[present] + 0.5) / (people[present, None] + 1)
        first, second = present[rates.argmax(axis=0)], present[rates.argmin(axis=0)]
        place = np.arange(len(table.levels))
        score = judge.score(
            table.counts[first, place], int(people[present].min()), table.counts[second, place], int(people[present].min())
        )
        for one, other, value in zip(first.tolist(), second.tolist(), score.tolist(), strict=True):
            scores[one, other] = max(value, scores.get((one, other), -np.inf))
    return sorted(scores, key=lambda pair: -scores[pair])[:MOST_PAIRS]


@dataclass(frozen=True, eq=False)
class _Run:
    """Counts under two values, one after the other: of single levels of a feature, or of the first so many in an order."""

    table: _Table
    order: Ints | None
    first: Ints
    second: Ints

    def levels(self, place: int) -> Ints | None:
        """The levels that are counted at this place; none where that is all of them, or a single one again."""
        if self.order is None:
            return self.table.levels[place : place + 1]
        return np.sort(self.table.levels[self.order[: place + 1]]) if 0 < place < len(self.table.levels) - 1 else None


def _runs(table: _Table, pair: tuple[int, int]) -> Iterator[_Run]:
    """Every level, and sets of those that lean to the first value."""
    first, second = table.counts[pair[0]], table.counts[pair[1]]
    yield _Run(table, None, first, second)
    if len(table.levels) > 2:
        order, seen = np.argsort(-(first + 0.5) / (second + 0.5), kind="stable"), first + second
        order = order[seen[order] >= min(LEAST_SEEN, int(seen.max()))]
        yield _Run(table, order, np.cumsum(first[order]), np.cumsum(second[order]))


def _level_sets(runs: Sequence[_Run], pair: tuple[int, int], people: Ints, judge: Judge) -> Iterator[Found]:
    """The best level or set of levels of each run. All are scored at once: most features have two levels only."""
    if not runs:
        return
    first, second = np.concatenate([run.first for run in runs]), np.concatenate([run.second for run in runs])
    scores = judge.score(first, int(people[pair[0]]), second, int(people[pair[1]]))
    end = 0
    for run in runs:
        start, end = end, end + len(run.first)
        at = int(scores[start:end].argmax())
        levels = run.levels(at)
        if levels is not None:
            yield Found(Rule((Literal(run.table.feature, levels),)), pair, float(scores[start + at]))


def _literals(tables: Sequence[_Table], people: Ints) -> list[Literal]:
    """The levels of features with few of them, those first whose frequency differs most between values."""
    found: list[tuple[float, Literal]] = []
    present = np.flatnonzero(people)
    for table in tables:
        plain = table.feature.alone and (table.feature.binary or not table.feature.ordered)
        if len(table.levels) > SMALL or not plain:
            continue
        rates = table.counts[present] / people[present, None]
        spread = (rates.max(axis=0) - rates.min(axis=0)) / np.sqrt(rates.mean(axis=0) * (1 - rates.mean(axis=0)) + 1e-12)
        for place in (1,) if len(table.levels) == 2 else range(len(table.levels)):
            found.append((float(spread[place]), Literal(table.feature, table.levels[place : place + 1])))
    found.sort(key=lambda each: -each[0])
    return [literal for _, literal in found[:MOST_LITERALS]]


def _rules(
    literals: Sequence[Literal],
    bits: Bools,
    values: Ints,
    pairs: Sequence[tuple[int, int]],
    people: Ints,
    judge: Judge,
) -> list[Found]:
    """Two literals or their contraries at once, the best of each pair of values grown while that helps."""
    if len(literals) < 2:
        return []
    opposites = [_opposite(literal, bits[:, place]) for place, literal in enumerate(literals)]
    both = np.concatenate([bits, ~bits], axis=1)
    size, together = len(literals), {}
    for value in {value for pair in pairs for value in pair}:
        block = both[values == value].astype(np.float32)
        together[value] = np.rint(block.T @ block).astype(np.int64)
    found, signed = [], [*literals, *opposites]
    row, column = np.triu_indices(2 * size, 1)
    for pair in pairs:
        first, second = (together[value][row, column] for value in pair)
        scores = judge.score(first, int(people[pair[0]]), second, int(people[pair[1]]))
        for place in np.argsort(scores)[::-1][:3].tolist():
            chosen, score = [int(row[place]), int(column[place])], float(scores[place])
            if not np.isfinite(score):
                continue
            found.append(Found(Rule(tuple(signed[place] for place in chosen)), pair, score))
            found += _grown(chosen, score, signed, both, values, pair, people, judge)
    return found


def _opposite(literal: Literal, holds: Bools) -> Literal:
    """That a feature does not have this level: for a binary one, that it has the other."""
    feature, level = literal.feature, int(literal.levels[0])
    if feature.binary:
        return Literal(feature, np.array([1 - level]))
    contrary = Feature(
        f"not: {literal.words}",
        lambda batch: (feature.read(batch) != level).astype(np.int64),
        f"not: {literal.words}",
        literal.words,
    )
    return Literal(contrary, np.array([1]))


def _grown(
    chosen: list[int],
    score: float,
    signed: Sequence[Literal],
    both: Bools,
    values: Ints,
    pair: tuple[int, int],
    people: Ints,
    judge: Judge,
) -> Iterator[Found]:
    inside = both[:, chosen].all(axis=1)
    while len(chosen) < LONGEST_RULE:
        hits = [both[inside & (values == value)].sum(axis=0) for value in pair]
        scores = judge.score(hits[0], int(people[pair[0]]), hits[1], int(people[pair[1]]))
        scores[chosen] = -np.inf
        place = int(scores.argmax())
        if scores[place] <= score + 2 * PLAIN:
            return
        chosen, score = [*chosen, place], float(scores[place])
        inside &= both[:, place]
        yield Found(Rule(tuple(signed[each] for each in chosen)), pair, score)


def _scores(
    literals: Sequence[Literal],
    bits: Bools,
    tables: Sequence[_Table],
    fit: Readings,
    values: Ints,
    pair: tuple[int, int],
    judge: Judge,
) -> Iterator[Found]:
    """A sum of log-odds over all literals, as if they were independent, and over ordered features as if they were normal."""
    one, other = values == pair[0], values == pair[1]
    counts = [table.feature for table in tables if table.feature.ordered and not table.feature.binary]
    if len(literals) + len(counts) < 2:
        return
    p, q = ((bits[rows].sum(axis=0) + 0.5) / (rows.sum() + 1) for rows in (one, other))
    weights = np.log(p / q) - np.log((1 - p) / (1 - q))
    slopes = []
    for feature in counts:
        first, second = fit(feature)[one], fit(feature)[other]
        slopes.append((first.mean() - second.mean()) / (0.5 * (first.var() + second.var()) + 1e-9))
    learned = Score(literals, weights, counts, np.array(slopes))
    sums = bits @ weights + sum(slope * fit(feature) for feature, slope in zip(counts, slopes, strict=True))
    edges = np.unique(np.quantile(sums, np.linspace(0.002, 0.998, 250)))
    above = [np.searchsorted(np.sort(sums[rows]), edges) for rows in (one, other)]
    size = int(one.sum()), int(other.sum())
    scores = judge.score(size[0] - above[0], size[0], size[1] - above[1], size[1])
    at = int(scores.argmax())
    yield Found(replace(learned, threshold=float(edges[at]) - 1e-9), pair, float(scores[at]))
