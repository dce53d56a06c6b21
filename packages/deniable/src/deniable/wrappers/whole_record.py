"""Records: all answers are reported together, as one compound answer with the whole budget."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Ints
from deniable.core import LARGEST_DOMAIN, Coins, Columns, Drawn, Layout, Number, PrivacyLoss, Reports, lookup
from deniable.domains.product import Product
from deniable.domains.vectors import Vectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.agreement import best_agreeing, similar, similar_first, supports
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.shares.direct_response import DirectResponse, moved
from deniable.wrappers.record_mechanism import RECORDS, Margin, RecordMechanism, Supported

MOST_SIMILAR = 1 << 12  # records of which a similar one may differ from the truth: a proof follows them all


@dataclass(frozen=True)
class WholeRecord(RecordMechanism):
    """A report is a record. Each one that agrees with the truth in enough answers is `odds` times as likely as any other.

    With `agreeing` as many as there are attributes, that is direct response on all combinations of answers. With fewer, a
    similar record is as likely as the true one: better for many attributes, and possible for those with 2, 4, 8, ...
    values. Without it, the best number is taken for the sum of the variances of all shares. One report is about all
    attributes, so that they need not share the budget; but the more combinations there are, the less it says about each
    (see `OneGroup`).

    The votes for the answers of each attribute are counted, so tallies say nothing about how answers are related. Reports
    do: where all answers must agree, they are those of a compound question (`compound`), which `crosstab` tabulates.

    >>> from deniable.domains import Categories
    >>> yes_no = Categories(["yes", "no"])
    >>> two = WholeRecord(Vectors([yes_no, yes_no]), 3.0)
    >>> two.agreeing, two.layout.bits, two.total_error(10_000) < 0.006
    (2, 2, True)
    """

    domain: Vectors
    epsilon: float
    agreeing: int = 0
    wire = "whole-record-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.sizes) < 2 or min(self.sizes) < 2 or self.domain.size > LARGEST_DOMAIN:
            raise InvalidParameter(
                f"A whole record has at least two attributes, with two values or more each, and at most {LARGEST_DOMAIN:,} "
                "combinations. Report one attribute by a mechanism for shares, and many in groups: OneGroup.of."
            )
        if not self.agreeing and is_whole(self.agreeing):
            self._fix(agreeing=best_agreeing(self.sizes, float(self.odds), most_similar(self.sizes)))
        if not is_whole(self.agreeing) or not 1 <= self.agreeing <= len(self.sizes):
            raise InvalidParameter(f"`agreeing` must be from 1 to {len(self.sizes)} answers. Leave it out to get the best.")
        self._fix(agreeing=int(self.agreeing))
        if self.agreeing < len(self.sizes) and self.domain.size > most_similar(self.sizes):
            raise InvalidParameter(
                "A similar record may differ in some answers only if each attribute has 2, 4, 8, ... values, with at most "
                f"{MOST_SIMILAR:,} combinations in all. Leave `agreeing` out to get the best, or use OneGroup.of."
            )

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(part.size for part in self.domain.parts)

    @cached_property
    def steps(self) -> list[int]:
        """How far apart the numbers of two records are that differ by one place in an attribute; the last varies fastest."""
        return [math.prod(self.sizes[place + 1 :]) for place in range(len(self.sizes))]

    @cached_property
    def chances(self) -> list[tuple[Fraction, Fraction]]:
        """For each attribute, the probabilities that a report has its true value, and a given other one."""
        return supports(self.sizes, self.agreeing, self.odds)

    def margin(self, place: int) -> Margin:
        return Supported(*self.chances[place])

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.domain.size),))

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        near, records = similar(self.sizes, self.agreeing), self.domain.size
        honest = self.odds * near / (self.odds * near + records - near)
        answers = [truth[:, place] for place in range(len(self.sizes))]
        if near == 1:
            return {"value": moved(self._numbered(answers), honest, records, coins)}
        turned = lookup(similar_first(self.sizes, self.agreeing), coins.split(honest, near, records - near, len(truth)))
        return {"value": self._numbered(answers) ^ turned}  # an answer is a few bits, and stays where none of them is turned

    def _numbered(self, columns: Sequence[Ints]) -> Ints:
        """The numbers of records."""
        number = columns[-1]
        for column, step in zip(columns[-2::-1], self.steps[-2::-1], strict=True):
            number = column * step + number
        return number

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        value = columns["value"].astype(np.int64)
        each = zip(self.sizes, self.steps, strict=True)
        return np.concatenate([np.bincount(value // step % size, minlength=size) for size, step in each])

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds, "proved", RECORDS)

    def compound(self, reports: Reports) -> tuple[DirectResponse, Reports]:
        """The same reports as those of a compound question, with its mechanism: for tables of several attributes."""
        if self.agreeing < len(self.sizes):
            raise InvalidParameter(
                "These reports favour records that differ from the truth in a few answers, unlike those of a compound "
                "question. For tables, use plan_tables(domains, epsilon, n)."
            )
        question = DirectResponse(Product(self.domain.parts), self.epsilon)
        return question, Reports(question.fingerprint, question.layout, self.checked_reports(reports).columns)


def most_similar(sizes: Sequence[int]) -> int:
    """The most combinations of which a similar record may differ from the truth: none unless the sizes are powers of two."""
    return MOST_SIMILAR if all(size & (size - 1) == 0 for size in sizes) else 0
