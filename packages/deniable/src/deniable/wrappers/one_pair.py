"""Records: a pair of answers, drawn in public, is hashed and randomized with the whole budget: all tables of two answers."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import Coins, Columns, Drawn, Estimate, Layout, Mechanism, Number, PrivacyLoss, Tally, lookup
from deniable.domains.vectors import Vectors
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.mechanisms.algebra.pair_hash import PairHash, moments, orders
from deniable.wrappers.record_mechanism import RECORDS

MOST_ANSWERS, MOST_QUESTIONS, MOST_SLOTS = 20, 64, 4
LARGEST = 1 << 10  # number that is taken as a parameter
_STEP = 1 << 12  # reports counted at a time


class Group(NamedTuple):
    """The people who report on the same pair of questions; or on one, where `second` is None."""

    first: int
    second: int | None


@dataclass(frozen=True)
class OnePair(Mechanism[Sequence[object], Ints]):
    """Two answers, or one, drawn at random and in public, are hashed; their bucket is randomized by direct response.

    The hash functions hide what either answer is alone (see algebra/pair_hash.py), so that reports on a pair are spent on
    how its answers depend on each other; what single answers are is estimated once for all tables, from those who report
    one. A pair has `pair_slots` chances to be drawn and a question `single_slots`. The odds of a record are those of one
    report. All numbers of 0 ask for the best.

    The tables of all pairs are estimated together by least squares: interactions from the reports on the pair, margins
    from all reports that involve the question, so that tables with a question in common have the same margin.
    """

    domain: Vectors
    epsilon: float
    order: int = 0
    buckets: int = 0
    pair_slots: int = 0
    single_slots: int = 0
    wire = "one-pair-1"
    question = "records"
    derived = ("odds",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, Vectors) or not 2 <= len(self.domain.parts) <= MOST_QUESTIONS:
            raise InvalidParameter(f"Tables of pairs need Vectors of 2 to {MOST_QUESTIONS} questions.")
        if max(self.sizes) > MOST_ANSWERS:
            raise InvalidParameter(
                f"A question in tables of pairs has at most {MOST_ANSWERS} answers; one has {max(self.sizes)}. "
                "Combine rare answers, or ask for fewer bands."
            )
        numbers = (self.order, self.buckets, self.pair_slots, self.single_slots)
        if any(type(number) is not int or not 0 <= number <= LARGEST for number in numbers):
            raise InvalidParameter(
                f"The parameters of OnePair are whole numbers up to {LARGEST:,}. Leave them out to get the best."
            )
        if not self.pair_slots:
            best = _best(tuple(self.sizes), self.odds, self.order, self.buckets)
            self._fix(order=best[0], buckets=best[1], pair_slots=best[2], single_slots=best[3])
        if self.order not in orders(max(self.sizes), self.order) or not 2 <= self.buckets <= self.order:
            raise InvalidParameter(
                f"`order` must be at least {max(self.sizes)}, and a prime number or 4, 8, 9 or 16; `buckets` must be from 2 "
                "to `order`. Leave both out to get the best."
            )
        if not self.single_slots and min(self._margin_information) <= 0:
            raise InvalidParameter(
                "Without reports on single answers, these buckets say nothing about the margins. Add a slot."
            )

    @cached_property
    def sizes(self) -> list[int]:
        """How many answers each question has."""
        return [part.size for part in self.domain.parts]

    @cached_property
    def hashed(self) -> PairHash:
        """The hash functions."""
        return PairHash(self.order, self.buckets)

    @cached_property
    def groups(self) -> list[Group]:
        """All pairs of questions, then the questions alone if people report on those too."""
        count = len(self.sizes)
        alone = [Group(each, None) for each in range(count)] if self.single_slots else []
        return [*(Group(*pair) for pair in itertools.combinations(range(count), 2)), *alone]

    @cached_property
    def _slots(self) -> Ints:
        """The group that each slot belongs to."""
        return np.repeat(
            np.arange(len(self.groups)),
            [self.pair_slots if each.second is not None else self.single_slots for each in self.groups],
        )

    def group_of(self, slots: Ints) -> Ints:
        """The group that each report belongs to."""
        return self._slots[slots]

    def _shape(self, group: Group) -> tuple[int, int]:
        return self.sizes[group.first], 1 if group.second is None else self.sizes[group.second]

    @cached_property
    def edges(self) -> list[int]:
        """Where the cells of each group begin among all counts, and where the last end."""
        return np.cumsum([0, *(int(np.prod(self._shape(group))) for group in self.groups)]).tolist()

    @property
    def cells(self) -> int:
        return self.edges[-1] + len(self.groups)  # and how many reports each group has

    @property
    def layout(self) -> Layout:
        names = ("t", "s", "b")
        drawn = [Number(name, max(2, many)) for name, many in zip(names, self.hashed.draws, strict=False)]
        return Layout((Number("slot", max(2, len(self._slots))), *drawn, Number("bucket", self.buckets)))

    @property
    def p(self) -> Fraction:
        """The probability that a report supports the true pair."""
        return self.odds / (self.odds + self.buckets - 1)

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        people = len(truth)
        slot = coins.public(len(self._slots), people)
        draws = [coins.public(many, people) for many in self.hashed.draws]
        firsts = np.array([self.groups[group].first for group in self._slots])
        seconds = np.array([len(self.sizes) if each is None else each for _, each in (self.groups[g] for g in self._slots)])
        first, second = lookup(firsts, slot), lookup(seconds, slot)
        x, y = truth[:, 0], truth[:, 1] * (second == 1)
        for place in range(1, len(self.sizes)):
            x = np.where(first == place, truth[:, place], x)
        for place in range(2, len(self.sizes)):
            y = np.where(second == place, truth[:, place], y)
        moved = self.hashed.bucket(x, y, draws) + coins.split(self.p, 1, self.buckets - 1, people)  # 0 is the truth
        named = dict(zip(("t", "s", "b"), draws, strict=False))
        return {"slot": slot, **named, "bucket": moved % self.buckets}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds, "proved", RECORDS)

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        group = self.group_of(columns["slot"].astype(np.int64))
        counts, order = [], np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group, minlength=len(self.groups)))
        for place, rows in enumerate(np.split(order, ends[:-1])):
            shape, total = self._shape(self.groups[place]), np.zeros(int(np.prod(self._shape(self.groups[place]))), np.int64)
            for start in range(0, len(rows), _STEP):
                part = rows[start : start + _STEP]
                draws = [columns[name][part] for name in ("t", "s", "b")[: len(self.hashed.draws)]]
                total += self.hashed.supported(draws, columns["bucket"][part], *shape).reshape(len(part), -1).sum(axis=0)
            counts.append(total)
        return np.concatenate([*counts, np.diff(ends, prepend=0)])

    @property
    def pairs(self) -> list[Group]:
        """The pairs of questions, in the order of their tables."""
        return [group for group in self.groups if group.second is not None]

    @cached_property
    def labels(self) -> list[Any]:
        """Every cell of every table: ((question, answer), (question, answer))."""
        parts = self.domain.parts
        return [
            ((a, x), (b, y)) for a, b in self.pairs for x in parts[a].labels for y in parts[cast(int, b)].labels
        ]  # fmt: skip

    def estimate(self, tally: Tally) -> Estimate:
        """All tables of pairs. The variance is about these people, and includes who was drawn for what."""
        self.check_tally(tally)
        return self._published(self._solved(tally.counts, tally.n))

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """From the true shares of all tables of pairs, one after the other."""
        shares = np.asarray(truth, np.float64)
        edges = self.edges[: len(self.pairs) + 1]
        if n < 1 or shares.shape != (edges[-1],) or (shares < 0).any():
            raise InvalidParameter(f"A prediction needs at least one person, and {edges[-1]} shares: those of each table.")
        tables = [shares[start:end] for start, end in itertools.pairwise(edges)]
        if any(abs(own.sum() - 1) > 1e-9 for own in tables):
            raise InvalidParameter("The true shares of each table must sum to 1.")
        return self._published(Tables(self, tables, n * self.group_shares, n))

    @property
    def group_shares(self) -> Floats:
        """The share of people who report in each group."""
        return np.bincount(self._slots) / len(self._slots)

    def tables(self, tally: Tally) -> "Tables":
        """The tables with what is known of their errors, for cross-tabulation."""
        self.check_tally(tally)
        return self._solved(tally.counts, tally.n)

    def _published(self, found: "Tables") -> Estimate:
        values = np.concatenate(found.tables)
        noise = np.concatenate([np.diag(found.covariance(place)) for place in range(len(self.pairs))])
        return Estimate(self.labels, values, noise - values * (1 - values) / found.n, found.n)

    # Least squares

    def _informed(self, group: Group) -> tuple[float, float]:
        """What a report of this group says of the margins of its questions."""
        rows, columns = self._shape(group)
        _, along_rows, along_columns = self.hashed.information(rows, columns)
        return along_rows / columns, along_columns / rows

    @property
    def _margin_information(self) -> list[float]:
        return [sum(self._informed(group)[side] for group, side in self.involving(each)) for each in range(len(self.sizes))]

    def involving(self, question: int) -> Iterator[tuple[Group, int]]:
        """The groups that report on a question, and whether it is the first or the second there."""
        for group in self.groups:
            if question in group:
                yield group, group.index(question)

    def weights(self, question: int, reports: Ints | Floats) -> list[tuple[int, int, float]]:
        """The groups that a margin is estimated from, which of their questions it is, and how much each counts."""
        known = [(self.groups.index(group), side, self._informed(group)[side]) for group, side in self.involving(question)]
        known = [(place, side, own * float(reports[place])) for place, side, own in known if own > 1e-9]
        total = sum(own for _, _, own in known)
        if total <= 0:
            raise EmptyBatch("Some question has no reports. Collect more reports.")
        return [(place, side, own / total) for place, side, own in known]

    def interaction_of(self, group: Group) -> Floats:
        """What turns the share of reports that support each pair into the interaction of its answers."""
        one, both = map(float, self.hashed.collisions)
        scale = (1 - 2 * one + both) * self._signal
        return np.asarray(np.kron(*(np.eye(size) - 1 / size for size in self._shape(group))) / scale, np.float64)

    def margin_of(self, group: Group, side: int) -> Floats:
        """What turns the share of reports that support each pair into the centred shares of one of its questions."""
        shape = self._shape(group)
        own, other = shape[side], shape[1 - side]
        one, both = map(float, self.hashed.collisions)
        scale = (1 - one + (other - 1) * (one - both)) * self._signal
        centre = (np.eye(own) - 1 / own) / scale
        parts = (centre, np.ones((1, other)))
        return np.asarray(np.kron(*(parts if side == 0 else parts[::-1])), np.float64)

    @property
    def _signal(self) -> float:
        """How much likelier the bucket of the true pair is than any other."""
        return float((self.odds - 1) / (self.odds + self.buckets - 1))

    def _solved(self, counts: Ints, n: int) -> "Tables":
        reports = counts[self.edges[-1] :]
        if reports[: len(self.pairs)].min() == 0:
            raise EmptyBatch("Some pair of questions has no reports. Collect more reports.")
        seen = [
            counts[start:end] / max(int(own), 1)
            for (start, end), own in zip(itertools.pairwise(self.edges), reports, strict=True)
        ]
        margins = [
            sum(
                (w * (self.margin_of(self.groups[g], side) @ seen[g]) for g, side, w in self.weights(each, reports)),
                np.zeros(1),
            )
            + 1 / size
            for each, size in enumerate(self.sizes)
        ]
        tables = []
        for place, (a, b) in enumerate(self.pairs):
            first, second = margins[a], margins[cast(int, b)]
            even = first[:, None] / len(second) + second[None, :] / len(first) - 1 / (len(first) * len(second))
            tables.append(even.ravel() + self.interaction_of(self.groups[place]) @ seen[place])
        return Tables(self, tables, reports, n)

    def total_error(self, n: int) -> float:
        """The root of the mean squared error of a cell, over all tables, if all answers are equally common."""
        even = [np.full(int(np.prod(self._shape(pair))), 1 / np.prod(self._shape(pair))) for pair in self.pairs]
        return float(np.sqrt(np.mean(self.predict(np.concatenate(even), n).standard_error ** 2)))


@dataclass(frozen=True, eq=False)
class Tables:
    """All tables of pairs of a mechanism, with the number of reports of each group, and their covariances."""

    mechanism: OnePair
    tables: Sequence[Floats]
    reports: Ints | Floats
    n: int

    def _shares(self, group: int) -> Floats:
        """The shares of the cells of a group; of a single question, by the first table that has it."""
        if group < len(self.tables):
            return self.tables[group]
        question = self.mechanism.groups[group].first
        return self.margin(question)

    def margin(self, question: int) -> Floats:
        """The shares of one question, the same in all tables."""
        group, side = next(iter(self.mechanism.involving(question)))
        table = self.tables[self.mechanism.groups.index(group)].reshape(self.mechanism._shape(group))
        return table.sum(axis=1 - side)

    def covariance(self, table: int) -> Floats:
        """The covariance of the cells of a table, for the people that the reporters were drawn from."""
        made = self.mechanism
        group = made.groups[table]
        rows, columns = made._shape(group)
        onto: dict[int, Floats] = {table: made.interaction_of(group)}
        spread = np.kron(np.eye(rows), np.ones((columns, 1))) / columns, np.kron(np.ones((rows, 1)), np.eye(columns)) / rows
        for question, spread_out in zip((group.first, cast(int, group.second)), spread, strict=True):
            for place, side, weight in made.weights(question, self.reports):
                step = weight * spread_out @ made.margin_of(made.groups[place], side)
                onto[place] = onto[place] + step if place in onto else step
        total = np.zeros((rows * columns,) * 2)
        for place, step in onto.items():
            supports = made.hashed.every(*made._shape(made.groups[place]))
            mean, square = moments(supports, float(made.odds), made.buckets, self._shares(place), step)
            total += (square - np.outer(mean, mean)) / float(self.reports[place])
        return total


@lru_cache(maxsize=256)
def _best(sizes: tuple[int, ...], odds: Fraction, order: int, buckets: int) -> tuple[int, int, int, int]:
    """The field, the buckets and the slots with the smallest total error over all tables, for equally common answers."""
    largest, gain = max(sizes), float(odds)
    fields = [order] if order else [each for each in orders(largest, max(2 * largest, 16)) if each <= 61]
    found = []
    for field in fields:
        most = min(field, int(4 * (gain + 1)) + 1)
        for own in [buckets] if buckets else sorted({*range(2, most + 1), field}):
            for slots in itertools.product(range(1, MOST_SLOTS + 1), range(3 * MOST_SLOTS + 1)):
                if np.gcd(*slots) == 1:
                    found.append((_error(sizes, gain, PairHash(field, own), *slots), field, own, *slots))
    error, *best = min(found)
    if not np.isfinite(error):
        raise InvalidParameter("No hash function of these pairs can be decoded. Leave the parameters out to get the best.")
    return cast(tuple[int, int, int, int], tuple(best))


def _error(sizes: Sequence[int], odds: float, hashed: PairHash, pair_slots: int, single_slots: int) -> float:
    """n times the sum of the squared errors of all cells of all tables, for equally common answers, closely."""
    signal = ((odds - 1) * hashed.buckets / (odds + hashed.buckets - 1)) ** 2
    count = len(sizes)
    total = count * (count - 1) // 2 * pair_slots + count * single_slots
    counted = {size: sizes.count(size) for size in set(sizes)}
    error = 0.0
    for size, often in counted.items():
        known = hashed.information(size, 1)[1] * single_slots
        spread = 0.0
        for other, times in counted.items():
            others = times - (other == size)
            interaction, along, _ = hashed.information(size, other)
            known += others * along / other * pair_slots if along > 1e-9 else 0
            spread += others / other
            if interaction <= 0:
                return np.inf
            error += often * others / 2 * (size - 1) * (other - 1) / (interaction * pair_slots)
        if known <= 0:
            return np.inf
        error += often * (size - 1) * spread / known
    return float(error * total / signal)
