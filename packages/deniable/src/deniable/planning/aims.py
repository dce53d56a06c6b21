"""What a comparison of mechanisms measures, by target: simulated people with known answers, and the error of an estimate."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Answers, Coins, Domain, Mechanism, Tally
from deniable.domains import KeyValue, Vectors
from deniable.domains.interval import Interval
from deniable.domains.key_value import Pairs
from deniable.errors import InvalidParameter
from deniable.metrics import mse
from deniable.planning.key_value import key_value_options
from deniable.planning.means import bounded, mean_options
from deniable.planning.ranking import ERROR, Column, Ranking, Row
from deniable.planning.records import record_options

if TYPE_CHECKING:
    from deniable.mechanisms.distributions.workload import Workload

Truth = Literal["zipf", "uniform"]


def scaled(weights: Any, people: int) -> Ints:
    """So many people, in proportion to these weights."""
    edges = np.cumsum(np.asarray(weights, np.float64))
    if not edges[-1] > 0:
        raise InvalidParameter("This histogram counts nobody.")
    return np.diff(np.rint(edges / edges[-1] * people).astype(np.int64), prepend=0)


def people_by_answer(domain: Domain, people: int, truth: Truth) -> Ints:
    """How many people hold each value: as close to the wanted shares as whole people allow."""
    return scaled(_weights(domain.size, truth), people)


def _weights(size: int, truth: Truth) -> Floats:
    return 1 / np.arange(1, size + 1) if truth == "zipf" else np.ones(size)


class Aim(ABC):
    """People with known answers, the mechanisms to compare on them, and the error of each."""

    ranking: Ranking[Any]
    people: int

    @property
    def error(self) -> Column:
        """What the errors are, and how they are shown."""
        return ERROR

    @abstractmethod
    def answers(self, part: slice) -> Answers:
        """The answers of these people."""

    @abstractmethod
    def predicted(self, row: Row[Any]) -> float:
        """The error to expect, root mean square."""

    @abstractmethod
    def square(self, mechanism: Mechanism, tally: Tally) -> float:
        """The squared error of what one collection gave."""


@dataclass(frozen=True, eq=False)
class Single(Aim):
    """One answer each, of which `held` says how many people gave it: what shares, means and distributions start from."""

    domain: Domain
    held: Ints
    ranking: Ranking[Any]

    @property
    def people(self) -> int:  # type: ignore[override]
        """How many answered."""
        return int(self.held.sum())

    @property
    def truth(self) -> Floats:
        """The true shares."""
        return self.held / self.held.sum()

    @cached_property
    def _indices(self) -> Ints:
        return np.repeat(np.arange(len(self.held)), self.held)

    def answers(self, part: slice) -> Answers:
        labels, indices = self.domain.labels, self._indices[part]
        return indices if isinstance(labels, range) else [labels[index] for index in indices.tolist()]

    def predicted(self, row: Row[Any]) -> float:
        return row.error

    def square(self, mechanism: Mechanism, tally: Tally) -> float:
        return mse(self.truth, mechanism.estimate(tally).values)


class Mean(Single):
    """The mean of a number."""

    domain: Interval

    @property
    def error(self) -> Column:
        return Column("error", "standard error of the mean, for the numbers of these people", ".4g")

    def predicted(self, row: Row[Any]) -> float:
        return float(row.mechanism.predict(self.truth, self.people).standard_error[0])

    def square(self, mechanism: Mechanism, tally: Tally) -> float:
        return float((mechanism.estimate(tally).values[0] - self.truth @ self.domain.points) ** 2)


@dataclass(frozen=True, eq=False)
class Linear(Single):
    """Linear questions about a distribution, such as its ranges, by the unbiased estimate."""

    workload: "Workload"

    @property
    def error(self) -> Column:
        what = f"standard error of {self.workload.name} in percentage points, root mean square, for these people"
        return Column("error", what, ".3g", 100)

    def predicted(self, row: Row[Any]) -> float:
        return math.sqrt(self.workload.mean_square(row.mechanism.joint_noise(self.truth)) / self.people)

    def square(self, mechanism: Mechanism, tally: Tally) -> float:
        off = mechanism.estimate(tally).values - self.truth
        return self.workload.mean_square(np.outer(off, off))


class Fitted(Single):
    """A distribution, by the shares that fit the reports best; the prediction is for typical numbers, not for these."""

    @property
    def error(self) -> Column:
        what = "mean error of the fitted distribution function in percentage points; predicted for typical numbers, "
        return Column("error", f"{what}measured for these people", ".3g", 100)

    def square(self, mechanism: Any, tally: Tally) -> float:
        return float(np.abs(np.cumsum(mechanism.distribution(tally).values - self.truth)).mean() ** 2)


@dataclass(frozen=True, eq=False)
class Sets(Aim):
    """Sets of keys with values: how many people have each key, and its weight."""

    ranking: Ranking[Any]
    table: Pairs
    domain: KeyValue
    scored: bool

    @classmethod
    def of(cls, domain: KeyValue, epsilon: float, people: int, truth: Truth, coins: Coins, scored: bool) -> "Sets":
        """People with as many draws of keys as are allowed, of which equal ones count once; everybody gives the middle."""
        keys = len(domain.labels)
        weights = (np.rint(_weights(keys, truth) * 2**20).astype(np.int64) + 1).tolist()
        drawn = np.sort(coins.pick(weights, people * domain.at_most).reshape(people, -1), axis=1)
        once = np.ones(drawn.shape, bool)
        once[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
        starts = np.concatenate([[0], np.cumsum(once.sum(axis=1))])
        table = Pairs(starts, drawn[once], np.full(starts[-1], (domain.low + domain.high) / 2))
        return cls(key_value_options(domain, epsilon, people, scored), table, domain, scored)

    @property
    def people(self) -> int:  # type: ignore[override]
        """How many sets there are."""
        return len(self.table)

    @property
    def error(self) -> Column:
        which = "frequency and weight, values from -1 to 1" if self.scored else "the frequency"
        return Column("error", f"error of {which}, root mean square over all keys, for these people", ".3g")

    def answers(self, part: slice) -> Answers:
        found: Answers = self.table[part]
        return found

    @cached_property
    def _truth(self) -> tuple[Floats, Floats]:
        """The frequency of each key, and its weight for values from -1 to 1, which is 0 where all give the middle."""
        shares = np.bincount(self.table.keys, minlength=len(self.domain.labels)) / self.people
        return shares, np.zeros_like(shares)

    def predicted(self, row: Row[Any]) -> float:
        middle = np.full(len(self.domain.labels), (self.domain.low + self.domain.high) / 2)
        spread = row.mechanism.predict(np.column_stack([self._truth[0], middle]), self.people).spread
        return math.sqrt(float(np.mean([spread.frequency, spread.signed] if self.scored else spread.frequency)))

    def square(self, mechanism: Any, tally: Tally) -> float:
        found = mechanism.estimate(tally)
        if not self.scored:
            return mse(self._truth[0], found.shares)
        return mse(np.concatenate(self._truth), np.concatenate([found.shares, found.signed]))


@dataclass(frozen=True, eq=False)
class Records(Aim):
    """Several answers of each person: the shares of all of them."""

    ranking: Ranking[Any]
    columns: tuple[Ints, ...]
    domain: Vectors

    @classmethod
    def of(cls, domain: Vectors, epsilon: float, people: int, truth: Truth) -> "Records":
        """People whose answers to each question follow the same rule."""
        held = [people_by_answer(part, people, truth) for part in domain.parts]
        columns = tuple(np.repeat(np.arange(len(each)), each) for each in held)
        return cls(record_options(domain, epsilon, people), columns, domain)

    @property
    def people(self) -> int:  # type: ignore[override]
        """How many records there are."""
        return len(self.columns[0])

    def answers(self, part: slice) -> Answers:
        chosen = zip(self.domain.parts, self.columns, strict=True)
        labels = [[each.labels[index] for index in column[part].tolist()] for each, column in chosen]
        return [*zip(*labels, strict=True)]

    @cached_property
    def _truth(self) -> Floats:
        counts = zip(self.columns, self.domain.parts, strict=True)
        return np.concatenate([np.bincount(column, minlength=part.size) for column, part in counts]) / self.people

    def predicted(self, row: Row[Any]) -> float:
        return float(np.sqrt(np.mean(row.mechanism.predict(self._truth, self.people).standard_error ** 2)))

    def square(self, mechanism: Mechanism, tally: Tally) -> float:
        return mse(self._truth, mechanism.estimate(tally).values)


def aim_of(domain: Any, epsilon: float, n: Any, target: "str | Workload", truth: Truth, coins: Coins) -> Aim:
    """What to measure for a target other than the shares of single answers."""
    if isinstance(domain, KeyValue | Vectors):
        targets = ("shares", "frequencies") if isinstance(domain, KeyValue) else ("shares",)
        if target not in targets or not isinstance(n, int):
            raise InvalidParameter(
                "Sets and records are compared for a number of people, such as n=10_000, by their shares; sets also by "
                'their frequencies alone: target="frequencies".'
            )
        if isinstance(domain, KeyValue):
            return Sets.of(domain, epsilon, n, truth, coins, target == "shares")
        return Records.of(domain, epsilon, n, truth)
    held = held_by(domain, n, truth)
    people = int(held.sum())
    if target == "mean":
        if not isinstance(domain, Interval):
            raise InvalidParameter("A mean is compared for numbers: give an Interval, such as Interval(0, 100).")
        return Mean(domain, held, bounded(mean_options(domain, epsilon, people), domain, epsilon, people))

    from deniable.planning.distributions import distribution_options, workload_of  # which few comparisons need

    ranking = distribution_options(domain, epsilon, people, target)
    if target == "distribution":
        return Fitted(domain, held, ranking)
    return Linear(domain, held, ranking, workload_of(target, domain.size))


def held_by(domain: Domain, n: Any, truth: Truth) -> Ints:
    """How many people gave each answer: as `n` says, or of n people in all as `truth` says."""
    held = people_by_answer(domain, n, truth) if isinstance(n, int) else np.asarray(n, np.int64)
    if held.shape != (domain.size,) or held.min() < 0 or not held.any():
        raise InvalidParameter(f"Say how many people answer, or how many gave each of the {domain.size:,} answers.")
    return held
