"""What reports disclose of the answers behind them: how likely each is under every answer, and what it adds to an estimate.

A decoder is made from a mechanism by `decoder`, which other families can register with; any other mechanism with finitely
many reports is decoded by its exact law. An open question, whose answers are not randomized, has a decoder too.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Mechanism, PureProtocol, Reports, distinct_rows
from deniable.errors import EmptyBatch, InvalidParameter, InvalidReport, NotCertifiable
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.shares.channel import RANK, Channel
from deniable.privacy.law import LIMIT, law

MOST_ANSWERS = 4096  # of a question that is decoded


class Decoder(ABC):
    """What a report says of each answer of one question, with the law of it."""

    labels: Sequence[Any]
    fingerprint: str

    @property
    def size(self) -> int:
        """How many answers there are."""
        return len(self.labels)

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many cells a report votes for or not."""

    @abstractmethod
    def votes(self, reports: Any) -> Floats:
        """Which cells each report votes for, as zeros and ones of shape (reports, cells)."""

    @property
    @abstractmethod
    def debias(self) -> Floats:
        """What turns votes, with a one for the report itself after them, into the unbiased indicators of the answers.

        They sum to one, as the true indicators do: what a family's own estimate leaves open there is only noise.
        """

    @abstractmethod
    def likelihood(self, reports: Any) -> tuple[Ints, Floats]:
        """For each report a number, and for each number the likelihood of the answers up to a constant factor."""

    @property
    @abstractmethod
    def squares(self) -> Floats:
        """The mean of a a' for the unbiased indicators a of a report, under each answer: of shape (size, size, size)."""

    def mean_square(self, shares: Floats) -> Floats:
        """The same, averaged over people with these shares of answers; it needs less memory."""
        return np.asarray(np.tensordot(shares, self.squares, 1), np.float64)

    @property
    @abstractmethod
    def channel(self) -> Floats:
        """The probability of every different report, a row for each answer; refused if they are too many."""

    def indicators(self, reports: Any) -> tuple[Ints, Floats]:
        """For each report a number, and for each number its unbiased indicators of the answers."""
        which, rows = distinct(self.votes(reports))
        return which, np.hstack([rows, np.ones((len(rows), 1))]) @ self.debias.T

    @property
    def numbers(self) -> Floats:
        """The answers as numbers; refused where they are words."""
        if not all(isinstance(label, int | float) and not isinstance(label, bool) for label in self.labels):
            raise InvalidParameter("The answers to this question are not numbers. Ask for numbers with Ordered or Interval.")
        return np.array(self.labels, np.float64)

    def decoded(self, reports: Any, power: int = 1) -> Floats:
        """The number behind each report, or a power of it, right on average."""
        which, rows = self.indicators(reports)
        return (rows @ self.numbers**power)[which]

    def length(self, reports: Any) -> int:
        """How many people reported."""
        return len(reports)


class SupportDecoder(Decoder):
    """Reports support answers: the true one with probability p, others with q."""

    def __init__(self, mechanism: PureProtocol) -> None:
        self.mechanism, self.labels, self.fingerprint = mechanism, mechanism.domain.labels, mechanism.fingerprint
        odds = mechanism.loss().odds
        if odds is None:
            raise InvalidParameter("This mechanism has an unbounded privacy loss, so its likelihood is not known.")
        self._odds = float(odds)

    @property
    def cells(self) -> int:
        return self.size

    def votes(self, reports: Reports) -> Floats:
        own = self.mechanism.checked_reports(reports)
        return self.mechanism.supports(own.columns, np.arange(self.size)).astype(np.float64)

    @cached_property
    def debias(self) -> Floats:
        p, q = float(self.mechanism.p), float(self.mechanism.q)
        return np.hstack([centring(self.size) / (p - q), np.full((self.size, 1), 1 / self.size)])

    def likelihood(self, reports: Reports) -> tuple[Ints, Floats]:
        which, rows = distinct(self.votes(reports))
        return which, (1 + (self._odds - 1) * rows) / max(self._odds, 1.0)

    @cached_property
    def _every(self) -> tuple[Floats, Floats]:
        """What every report supports, and its probability under an answer that it does not support."""
        try:
            found = law(self.mechanism, 0)
        except NotCertifiable as why:
            raise InvalidParameter(
                f"The covariance of these reports is not known for {self.size} answers: {why} Use SubsetSelection, Unary or "
                "DirectResponse, or fewer answers."
            ) from None
        supports = self.mechanism.supports(self.mechanism.layout.columns(found.reports), np.arange(self.size))
        chance = np.array([float(each) for each in found.chances])[found.chance]
        return supports.astype(np.float64), chance / (1 + (self._odds - 1) * supports[:, 0])

    @property
    def channel(self) -> Floats:
        supports, chance = self._every
        which, rows = distinct(supports)
        weight = np.bincount(which, chance)
        return (1 + (self._odds - 1) * rows.T) * weight

    @cached_property
    def squares(self) -> Floats:
        return np.stack([self.mean_square(point) for point in np.eye(self.size)])

    def mean_square(self, shares: Floats) -> Floats:
        if self.mechanism.joint:
            centre = centring(self.size)
            return np.asarray(centre @ self.mechanism.joint_noise(shares) @ centre + np.diag(shares))
        supports, chance = self._every
        made = np.hstack([supports, np.ones((len(supports), 1))]) @ self.debias.T
        return np.asarray((made.T * (chance * (1 + (self._odds - 1) * (supports @ shares)))) @ made)


class MatrixDecoder(Decoder):
    """Reports are the columns of a matrix of probabilities, a row for each answer."""

    def __init__(self, labels: Sequence[Any], matrix: Floats, fingerprint: str) -> None:
        self.labels, self.matrix, self.fingerprint = labels, matrix, fingerprint

    def codes(self, reports: Any) -> Ints:
        """The column of each report."""
        return np.asarray(reports, np.int64)

    @property
    def channel(self) -> Floats:
        return self.matrix

    @property
    def cells(self) -> int:
        return self.matrix.shape[1]

    def votes(self, reports: Any) -> Floats:
        return np.eye(self.cells)[self.codes(reports)]

    @cached_property
    def inverse(self) -> Floats:
        """What turns shares of reports into shares of answers without bias."""
        rank = int(np.linalg.matrix_rank(self.matrix, rtol=RANK))
        if rank < self.size:
            raise InvalidParameter(
                f"These reports cannot distinguish the {self.size} answers (rank {rank}): different shares give the same "
                "reports. Use a mechanism for shares, such as plan(domain, epsilon)."
            )
        found = np.linalg.pinv(self.matrix.T).astype(np.float64)
        return found - found.mean(axis=0) + 1 / self.size

    @cached_property
    def debias(self) -> Floats:
        return np.hstack([self.inverse, np.zeros((self.size, 1))])

    def indicators(self, reports: Any) -> tuple[Ints, Floats]:
        return self.codes(reports), self.inverse.T

    def likelihood(self, reports: Any) -> tuple[Ints, Floats]:
        return self.codes(reports), np.ascontiguousarray(self.matrix.T)

    @cached_property
    def squares(self) -> Floats:
        return np.stack([self.mean_square(point) for point in np.eye(self.size)])

    def mean_square(self, shares: Floats) -> Floats:
        return np.asarray((self.inverse * (shares @ self.matrix)) @ self.inverse.T)

    def decoded(self, reports: Any, power: int = 1) -> Floats:
        return self.unbiased(self.numbers**power)[self.codes(reports)]

    def unbiased(self, wanted: Floats) -> Floats:
        """A number for each report whose mean under answer x is wanted[x]; refused where there is none."""
        found = np.linalg.lstsq(self.matrix, wanted, rcond=1e-12)[0]
        if np.abs(self.matrix @ found - wanted).max() > 1e-7 * max(1.0, float(np.abs(wanted).max())):
            raise InvalidParameter(
                "The reports of this mechanism determine the mean but not the spread of the answers. Use Piecewise, or "
                "Ordered answers with a mechanism for shares."
            )
        return np.asarray(found, np.float64)


class ReportDecoder(MatrixDecoder):
    """The reports of a mechanism that is a channel: each is one number."""

    def __init__(self, mechanism: Mechanism, matrix: Floats) -> None:
        super().__init__(mechanism.domain.labels, matrix, mechanism.fingerprint)
        self.mechanism = mechanism

    def codes(self, reports: Reports) -> Ints:
        own = self.mechanism.checked_reports(reports)
        own.layout.check(own.columns)
        codes = own.columns[own.layout.fields[0].name].astype(np.int64)
        if len(codes) and codes.max() >= self.cells:
            raise InvalidReport("A report is not one that this mechanism can send.")
        return codes


class LawDecoder(MatrixDecoder):
    """Any mechanism with finitely many reports, by its exact law."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, domain = mechanism, mechanism.domain
        if domain.size > MOST_ANSWERS or len(domain.labels) != domain.size:
            raise InvalidParameter(
                f"Tables and models take questions with a list of at most {MOST_ANSWERS:,} answers. Ask for bands of "
                "numbers with Ordered, or for each item by itself."
            )
        try:
            laws = [law(mechanism, index, LIMIT // domain.size) for index in range(domain.size)]
        except NotCertifiable as why:
            raise InvalidParameter(
                f"The law of these reports cannot be listed: {why} Use a mechanism with fewer reports, such as "
                "DirectResponse; for sensitive answers, UtilityOptimized(DirectResponse, ...)."
            ) from None
        rows = np.concatenate([each.reports for each in laws])
        example, which = distinct_rows(rows)
        self._known = {row.tobytes(): place for place, row in enumerate(rows[example])}
        matrix, ends = np.zeros((domain.size, len(example))), np.cumsum([len(each) for each in laws])
        for index, (each, places) in enumerate(zip(laws, np.split(which, ends[:-1]), strict=True)):
            matrix[index, places] = np.array([float(chance) for chance in each.chances])[each.chance]
        super().__init__(domain.labels, matrix, mechanism.fingerprint)

    def codes(self, reports: Reports) -> Ints:
        own = self.mechanism.checked_reports(reports)
        rows = own.layout.rows(own.columns)
        example, which = distinct_rows(rows)
        places = [self._known.get(row.tobytes(), -1) for row in rows[example]]
        if -1 in places:
            raise InvalidReport("A report is not one that this mechanism can send.")
        return np.array(places, np.int64)[which]


class OpenDecoder(MatrixDecoder):
    """An open question: its answers are not randomized."""

    def __init__(self, labels: Sequence[Any]) -> None:
        listed = json.dumps([str(label) for label in labels]).encode()
        super().__init__(labels, np.eye(len(labels)), "open " + hashlib.sha256(listed).hexdigest()[:27])
        self._places = {label: place for place, label in enumerate(labels)}

    @classmethod
    def of(cls, values: Sequence[Any]) -> "OpenDecoder":
        """The decoder of the answers that occur, in order."""
        found = {value.item() if isinstance(value, np.generic) else value for value in values}
        try:
            return cls(sorted(found))
        except TypeError:  # words and numbers
            return cls(sorted(found, key=str))

    def codes(self, reports: Any) -> Ints:
        try:
            values = reports.tolist() if isinstance(reports, np.ndarray) else reports
            return np.array([self._places[value] for value in values], np.int64)
        except (KeyError, TypeError):
            raise InvalidParameter("A value of an open column is not one of its answers.") from None


@singledispatch
def decoder(mechanism: Any) -> Decoder:
    """What the reports of this mechanism say of answers; register a function for a family with a better way."""
    raise InvalidParameter("Randomized answers need the mechanism that made them, such as the one that plan returned.")


@decoder.register
def _(mechanism: Mechanism) -> Decoder:
    return LawDecoder(mechanism)


@decoder.register
def _(mechanism: PureProtocol) -> Decoder:
    return SupportDecoder(mechanism)


@decoder.register
def _(mechanism: Channel) -> Decoder:
    return ReportDecoder(mechanism, mechanism.matrix)


class MeanDecoder(ReportDecoder):
    """The reports of a mechanism for means: numbers that are right on average."""

    mechanism: MeanMechanism

    def decoded(self, reports: Reports, power: int = 1) -> Floats:
        return self.mechanism.numbers[self.codes(reports)] if power == 1 else super().decoded(reports, power)


@decoder.register
def _(mechanism: MeanMechanism) -> Decoder:
    if mechanism.domain.size > MOST_ANSWERS:
        raise InvalidParameter(f"An interval in tables and models has at most {MOST_ANSWERS - 1:,} steps. Use fewer.")
    return MeanDecoder(mechanism, np.stack([mechanism.chances(index) for index in range(mechanism.domain.size)]))


def centring(size: int) -> Floats:
    """What takes off the mean of so many numbers."""
    return np.eye(size) - 1 / size


def distinct(votes: Floats) -> tuple[Ints, Floats]:
    """For each row of zeros and ones its number among the different ones, and these."""
    example, which = distinct_rows(np.packbits(votes.astype(np.bool_), axis=1))
    return which, votes[example]


def same_people(columns: Sequence[tuple[str, int]]) -> int:
    """How many people there are, if all of these columns have a row for each."""
    lengths = {length for _, length in columns}
    if len(lengths) != 1:
        listed = ", ".join(f"{name!r} has {length:,}" for name, length in columns)
        raise InvalidParameter(
            f"The questions were not answered by the same people: {listed} reports. Give the reports of the people who "
            "answered all of them, in the same order; reports of different people say nothing about how answers are related."
        )
    if lengths == {0}:
        raise EmptyBatch("There are no reports to relate.")
    return lengths.pop()
