"""Records: one of several reports, drawn in public, is sent."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Coins, Columns, Drawn, Estimate, Flags, Layout, Number, PrivacyLoss, PureProtocol, Tally, one_row
from deniable.domains.vectors import Coordinates
from deniable.errors import EmptyBatch, InvalidReport
from deniable.wrappers.record_mechanism import RECORDS, Margin, RecordMechanism
from deniable.wrappers.whole_record import WholeRecord

Part = PureProtocol | WholeRecord


def margin_of(part: Part, place: int) -> Margin:
    """What a report of a part says about one of its attributes: of a single one, it is a mechanism for shares itself."""
    return part.margin(place) if isinstance(part, RecordMechanism) else part


class OneDrawn(RecordMechanism):
    """A group of attributes is drawn at random and in public, and reported with the whole budget.

    The odds of a record are those of the worst group. Hiding the other answers does not improve them: what was drawn may be
    what differs. An attribute may be in several groups; the estimates of all are then averaged, in proportion to how much
    the reports of each say about it.
    """

    parts: Sequence[Part]

    @property
    @abstractmethod
    def members(self) -> Sequence[Sequence[int]]:
        """The attributes that each part reports."""

    @property
    @abstractmethod
    def drawing(self) -> tuple[str, Sequence[int]]:
        """The field that says what was drawn, and the part that each of its numbers stands for."""

    def which(self, drawn: Ints) -> Ints:
        """The part that was drawn."""
        return drawn

    @property
    def width(self) -> int:
        """The bits of the longest report of a part."""
        return max(part.layout.bits for part in self.parts)

    @cached_property
    def starts(self) -> list[int]:
        """Where the counts of each part begin, and where those of the last end."""
        sizes = (sum(self.domain.parts[place].size for place in group) for group in self.members)
        return np.cumsum([0, *sizes]).tolist()

    @property
    def cells(self) -> int:
        return self.starts[-1] + len(self.parts)  # and how many reports each part has

    @property
    def layout(self) -> Layout:
        field, slots = self.drawing
        return Layout((Number(field, max(len(slots), 2)), Flags("report", self.width)))

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        field, slots = self.drawing
        drawn = coins.public(len(slots), len(truth))
        which = self.which(drawn)
        rows: list[Any] = [  # of bits, among which np.where chooses in a law
            one_row(part.layout, part.randomize(_answers(truth, group), coins)).widened(self.width)
            for part, group in zip(self.parts, self.members, strict=True)
        ]
        report = rows[0]
        for place, row in enumerate(rows[1:], 1):
            report = np.where(which == place, row, report)
        return {field: drawn, "report": report}

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        field, slots = self.drawing
        drawn, report = columns[field], columns["report"]
        if len(drawn) and int(drawn.max()) >= len(slots):
            raise InvalidReport("A report names an attribute that is not in the domain. It is refused.")
        which, counts, reports = np.asarray(slots)[drawn], [], []
        for number, part in enumerate(self.parts):
            rows = np.ascontiguousarray(report[which == number])
            counts.append(part.votes(_columns(part, rows)) if len(rows) else np.zeros(part.cells, np.int64))
            reports.append(len(rows))
        return np.concatenate([*counts, np.array(reports, np.int64)])

    def loss(self) -> PrivacyLoss:
        odds = [part.loss().odds for part in self.parts]
        worst = None if None in odds else max(each for each in odds if each is not None)
        return PrivacyLoss(worst, "proved", RECORDS)

    def reporting(self, place: int) -> Iterator[tuple[int, int, Margin]]:
        """The parts that report an attribute, where its counts begin in all of them, and what a report says about it."""
        for number, (part, group) in enumerate(zip(self.parts, self.members, strict=True)):
            if place in group:
                own = group.index(place)
                before = sum(self.domain.parts[other].size for other in group[:own])
                yield number, self.starts[number] + before, margin_of(part, own)

    def margin(self, place: int) -> Margin:
        return next(self.reporting(place))[2]

    def estimate(self, tally: Tally) -> Estimate:
        """The variance is for these numbers of reports on each attribute, and includes who was drawn."""
        self.check_tally(tally)
        reports, values, noise = tally.counts[self.starts[-1] :].tolist(), [], []
        for place, domain in enumerate(self.domain.parts):
            shares, weights = np.zeros(domain.size), self._weights(place, reports)
            for number, start, margin in self.reporting(place):
                if reports[number]:
                    counts = cast(Any, tally.counts[start : start + domain.size].astype(np.float64))
                    shares += weights[number] * margin.debias(counts, reports[number]) / reports[number]
            values.append(shares)
            noise.append(self.noise(place, shares, tally.n, reports))
        return Estimate(self.domain.labels, np.concatenate(values), np.concatenate(noise), tally.n)

    def _weights(self, place: int, reports: Sequence[float]) -> dict[int, float]:
        """How much the estimate of each part counts for an attribute: its reports over the variance of one of them."""
        size = self.domain.parts[place].size
        known = {number: reports[number] / drawn_error(margin, size) for number, _, margin in self.reporting(place)}
        if not sum(known.values()):
            raise EmptyBatch("Some attribute has no reports. Collect more reports.")
        return {number: each / sum(known.values()) for number, each in known.items()}

    def noise(self, place: int, shares: Floats, n: int, reports: Sequence[float] | None = None) -> Floats:
        """The variance of these shares of one attribute, from n people, of whom so many reported with each part."""
        slots = list(self.drawing[1])
        many = [n * slots.count(number) / len(slots) for number in range(len(self.parts))] if reports is None else reports
        weights, found, apart = self._weights(place, many), np.zeros_like(shares), -1 / n
        for number, _, margin in self.reporting(place):
            if many[number]:
                found += weights[number] ** 2 * margin.noise(shares) / many[number]
                apart += weights[number] ** 2 / many[number]
        return found + apart * shares * (1 - shares) * n / max(n - 1, 1)  # parts have their people without replacement


def drawn_error(margin: Margin, size: int) -> float:
    """The sum of the variances of so many equally common answers from one report: its noise, and who was drawn."""
    return size * float(margin.noise(np.array([1 / size]))[0]) + 1 - 1 / size


def _answers(truth: Any, group: Sequence[int]) -> Any:
    """What the mechanism of a group starts from."""
    columns = [truth[:, place] for place in group]
    return columns[0] if len(columns) == 1 else Coordinates(columns)


def _columns(part: Part, rows: Any) -> Columns:
    """The columns of a part's reports; refused where a bit is set beyond their end."""
    bits = part.layout.bits
    used = (bits + 7) // 8
    if rows[:, used:].any() or (bits % 8 and (rows[:, used - 1] >> bits % 8).any()):
        raise InvalidReport("A report has a bit set beyond its end. It is refused.")
    own = part.layout.columns(np.ascontiguousarray(rows[:, :used]))
    part.layout.check(own)
    return own
