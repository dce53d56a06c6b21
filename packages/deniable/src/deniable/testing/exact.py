"""The exact law of a mechanism's code, and what follows from it."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Answers, Columns, Mechanism, Reports, SeededCoins, Tally
from deniable.errors import EmptyBatch, InvalidParameter, NotCertifiable
from deniable.privacy.law import Law, law, outcomes
from deniable.testing.failures import CheckFailed, NotApplicable
from deniable.testing.population import Published, population, published, truth

LIMIT = 1 << 21  # combinations of coins and answers that are enumerated at most
REPORTS = 1 << 13  # distinct reports that are estimated one by one at most


@dataclass(frozen=True, eq=False)
class Exact:
    """The exact law of a mechanism's code, and what follows from it; worked out when it is first needed."""

    mechanism: Mechanism
    limit: int = LIMIT

    @cached_property
    def outcomes(self) -> int:
        """How many combinations of coins and answers there are, where all can be enumerated."""
        try:
            self.mechanism.layout.rows(self.sample(1).columns)
            total = outcomes(self.mechanism, 0) * self.mechanism.domain.size
        except NotCertifiable as why:
            raise NotApplicable(f"The law cannot be enumerated: {why}") from None
        if total > self.limit:
            raise NotApplicable(f"The law has {total:.3g} combinations of coins and answers; the limit is {self.limit:,}.")
        return total

    @cached_property
    def laws(self) -> list[Law]:
        """The law of the reports on each answer."""
        assert self.outcomes
        try:
            return [law(self.mechanism, index, self.limit) for index in range(self.mechanism.domain.size)]
        except NotCertifiable as why:
            raise CheckFailed(f"The code cannot be enumerated for every answer. Look at `randomize`: {why}") from why

    @cached_property
    def chances(self) -> list[dict[bytes, Fraction]]:
        """The same as a mapping from reports to probabilities."""
        return [dict(own.items()) for own in self.laws]

    @cached_property
    def reports(self) -> list[bytes]:
        """All reports that can occur."""
        return sorted(set().union(*self.chances))

    @cached_property
    def columns(self) -> Columns:
        """All reports that can occur, in that order."""
        return self.mechanism.layout.columns(np.frombuffer(b"".join(self.reports), np.uint8).reshape(len(self.reports), -1))

    @cached_property
    def matrix(self) -> Floats:
        """The probability of each report (column) under each answer (row), rounded."""
        return np.array([[float(own.get(report, 0)) for report in self.reports] for own in self.chances])

    def sample(self, people: int, seed: int = 1) -> Reports:
        """Reports of many people with all kinds of answers, from a fixed seed."""
        return self.mechanism.perturb(self.answers(people), SeededCoins(seed))

    def answers(self, people: int) -> Answers:
        """Answers of many people, spread over the domain or its beginning."""
        domain = self.mechanism.domain
        return [domain.answer(person * person % min(domain.size, 1000)) for person in range(people)]

    def votes(self, index: int) -> list[Fraction]:
        """The expected votes of one report on this answer, exactly."""
        own, total = self.laws[index], [Fraction(0)] * self.mechanism.cells
        columns = self.mechanism.layout.columns(own.reports)
        for code, chance in enumerate(own.chances):
            chosen = own.chance == code
            if chosen.any():
                counts = self.mechanism.votes({name: column[chosen] for name, column in columns.items()})
                total = [sum_ + chance * int(count) for sum_, count in zip(total, counts, strict=True)]
        return total

    @cached_property
    def people(self) -> Ints:
        """The answers of the people whose tally is expected."""
        assert self.outcomes
        return population(self.mechanism.domain)

    @cached_property
    def tally(self) -> Tally:
        """The expected tally of these people, each of whom reports 2520 times, so that halves to tenths come out whole."""
        times, cells = 2520, [Fraction(0)] * self.mechanism.cells
        for index, often in enumerate(np.bincount(self.people).tolist()):
            if often:
                cells = [cell + times * often * votes for cell, votes in zip(cells, self.votes(index), strict=True)]
        counts = np.array([float(cell) for cell in cells])
        return Tally(self.mechanism.fingerprint, times * len(self.people), cast(Ints, counts))

    @cached_property
    def predicted(self) -> Published:
        """The truth about these people, with the variance that the mechanism predicts for one report of each of n = 1."""
        try:
            return published(self.mechanism.predict(truth(self.mechanism.domain, self.people), 1))
        except InvalidParameter as why:
            raise NotApplicable(f"The mechanism has no unbiased estimate: {why}") from None

    @cached_property
    def singles(self) -> Floats:
        """What the estimate makes of each report on its own, a row each; only if the estimate is linear in the counts."""
        assert len(self.predicted.values)
        if len(self.reports) > REPORTS:
            raise NotApplicable(
                f"There are {len(self.reports):,} different reports; at most {REPORTS:,} are estimated singly."
            )
        found: dict[bytes, Floats] = {}
        values = np.stack([self._single(self.columns, place, found) for place in range(len(self.reports))])
        batch = self.sample(40)
        mean = np.mean([self._single(batch.columns, place, found) for place in range(len(batch))], axis=0)
        whole = published(self.mechanism.estimate(self.mechanism.tally(batch))).values
        if not np.allclose(mean, whole, rtol=1e-9, atol=1e-9 * float(np.abs(values).max())):
            raise NotApplicable("The estimate is not linear in the counts, so its variance does not follow from the law.")
        return values

    def _single(self, columns: Columns, place: int, found: dict[bytes, Floats]) -> Floats:
        """The estimate from one of these reports; those with equal votes are estimated once."""
        counts = self.mechanism.votes({name: column[place : place + 1] for name, column in columns.items()})
        if counts.tobytes() not in found:
            try:
                estimate = self.mechanism.estimate(Tally(self.mechanism.fingerprint, 1, counts))
            except EmptyBatch as why:
                raise NotApplicable(f"The estimate is not linear in the counts: {why}") from None
            found[counts.tobytes()] = published(estimate).values
            if not np.isfinite(found[counts.tobytes()]).all():
                raise NotApplicable("The estimate is not linear in the counts: one report says nothing about some answers.")
        return found[counts.tobytes()]

    @cached_property
    def shares(self) -> Floats:
        """The shares of these people who have each answer."""
        return np.bincount(self.people, minlength=self.mechanism.domain.size) / len(self.people)

    def index(self, answer: object) -> int:
        """The number of an answer."""
        return next(index for index in range(self.mechanism.domain.size) if self.mechanism.domain.answer(index) == answer)
