"""Records: one answer, drawn in public, is randomized with the whole budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Coins, Columns, Drawn, Estimate, Flags, Layout, Number, PrivacyLoss, PureProtocol, Tally, one_row
from deniable.domains.vectors import Vectors
from deniable.errors import EmptyBatch, InvalidReport
from deniable.mechanisms.shares.direct_response import DirectResponse
from deniable.wrappers.attributes import RECORDS, Attributes, Maker


@dataclass(frozen=True)
class OneAttribute(Attributes):
    """One answer, drawn at random and in public, is reported with the whole budget: sampling (SMP).

    The odds of a record are those of one answer. Hiding the other answers does not improve the worst case: the drawn answer
    may be the one that differs.
    """

    domain: Vectors
    epsilon: float
    parts: Sequence[PureProtocol]
    wire = "one-attribute-1"

    @classmethod
    def of(cls, domain: Vectors, epsilon: float, make: Maker = DirectResponse) -> "OneAttribute":
        """The same kind of mechanism for every attribute, each with the whole budget."""
        return cls(domain, epsilon, [make(part, epsilon) for part in domain.parts])

    @property
    def width(self) -> int:
        """The bits of the longest report of an attribute."""
        return max(part.layout.bits for part in self.parts)

    @property
    def cells(self) -> int:
        return self.edges[-1] + len(self.parts)  # and how many reports each attribute has

    @property
    def layout(self) -> Layout:
        return Layout((Number("which", max(len(self.parts), 2)), Flags("report", self.width)))

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        which = coins.public(len(self.parts), len(truth))
        rows: list[Any] = [  # of bits, among which np.where chooses in a law
            one_row(part.layout, part.randomize(truth[:, place], coins)).widened(self.width)
            for place, part in enumerate(self.parts)
        ]
        report = rows[0]
        for place, row in enumerate(rows[1:], 1):
            report = np.where(which == place, row, report)
        return {"which": which, "report": report}

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        which, report, counts, reports = columns["which"], columns["report"], [], []
        if len(which) and int(which.max()) >= len(self.parts):
            raise InvalidReport("A report names an attribute that is not in the domain. It is refused.")
        for place, part in enumerate(self.parts):
            rows, bits = np.ascontiguousarray(report[which == place]), part.layout.bits
            used = (bits + 7) // 8
            if rows[:, used:].any() or (bits % 8 and (rows[:, used - 1] >> bits % 8).any()):
                raise InvalidReport("A report has a bit set beyond its end. It is refused.")
            own = part.layout.columns(np.ascontiguousarray(rows[:, :used]))
            part.layout.check(own)
            counts.append(part.votes(own) if len(rows) else np.zeros(part.cells, np.int64))
            reports.append(len(rows))
        return np.concatenate([*counts, np.array(reports, np.int64)])

    def loss(self) -> PrivacyLoss:
        odds = [part.loss().odds for part in self.parts]
        worst = None if None in odds else max(each for each in odds if each is not None)
        return PrivacyLoss(worst, "proved", RECORDS)

    def estimate(self, tally: Tally) -> Estimate:
        """The variance is for these numbers of reports on each attribute, and includes who was drawn."""
        self.check_tally(tally)
        reports, values, noise = tally.counts[self.edges[-1] :], [], []
        if reports.min() == 0:
            raise EmptyBatch("Some attribute has no reports. Collect more reports.")
        for place, own in enumerate(self.split(tally.counts[: self.edges[-1]])):
            shares = self.parts[place].debias(cast(Any, own), int(reports[place])) / reports[place]
            values.append(shares)
            noise.append(self.noise(place, shares, tally.n, int(reports[place])))
        return Estimate(self.domain.labels, np.concatenate(values), np.concatenate(noise), tally.n)

    def noise(self, place: int, shares: Floats, n: int, reports: float | None = None) -> Floats:
        many = n / len(self.parts) if reports is None else reports
        drawn = shares * (1 - shares) * (n - many) / max(n - 1, 1)  # who was drawn, without replacement
        return (self.parts[place].noise(shares) + drawn) / many
