"""Many people at once who are asked again and again, for simulations: what each of their devices would keep and send.

Their reports come from the same laws as those of a `Device`; only the ledgers are arrays.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from deniable.arrays import Bools, Bytes, Ints
from deniable.core import Answers, Coins, Permanent, Reports, checked_coins
from deniable.device.memory import KeptDraws
from deniable.errors import InvalidParameter
from deniable.survey.question import Question
from deniable.survey.repeating import asked_again
from deniable.survey.survey import Survey


class Kept:
    """The permanent answers of many people to one question: a row of bytes for each, by what it is kept for."""

    def __init__(self, mechanism: Permanent, people: int, coins: Coins) -> None:
        self._mechanism, self._base, self._people = mechanism, mechanism.base, people
        nodes = self._base.law.nodes if self._base.keeps_public else ()
        self._public = [coins.public(node.params[0], people) for node in nodes if node.op == "public"]
        self._rows: dict[int, tuple[Bools, Bytes]] = {}  # who has one, and the answers

    def reports(self, values: Answers, places: Ints, coins: Coins) -> Reports:
        """One report for each of these people, whose values these are; what they have not kept yet is drawn first."""
        base = self._base
        public = [draws[places] for draws in self._public]
        names = base.kept_for(values, public)
        width = -(-base.layout.bits // 8)
        out = np.zeros((len(places), width), np.uint8)
        for name in np.unique(names).tolist():
            who = names == name
            own = places[who]
            has, rows = self._rows.setdefault(
                name, (np.zeros(self._people, bool), np.zeros((self._people, width), np.uint8))
            )
            new = ~has[own]
            if new.any():
                at = np.flatnonzero(who)[new]
                some = values[at] if isinstance(values, np.ndarray) else [values[place] for place in at.tolist()]
                drawn = base.perturb(some, KeptDraws(coins, [draws[at] for draws in public]))
                rows[own[new]], has[own[new]] = base.layout.rows(drawn.columns), True
            out[who] = rows[own]
        return self._mechanism.report(Reports(base.fingerprint, base.layout, base.layout.columns(out)), coins)


class Panel:
    """So many people with a survey that asks again; `batch` is what all of them send in one period."""

    def __init__(self, survey: Survey, people: int, coins: Coins | None = None) -> None:
        if survey.repeats is None:
            raise InvalidParameter('A panel needs a survey with questions that repeat: repeat = "permanent" or "windows".')
        self.survey, self.people, self._coins = survey, people, checked_coins(coins)
        self._kept = {
            q.id: Kept(q.mechanism, people, self._coins)
            for q in survey.questions
            if isinstance(q.mechanism, Permanent) and asked_again(q)
        }
        self._turns = self._coins.below(survey.repeats.span, people)
        self._before = np.zeros(people, bool)  # who has reported before
        self._parts = np.array(survey.draw_parts(people, self._coins), object)

    def batch(self, answers: Mapping[str, Answers], now: float, present: Bools | None = None) -> bytes:
        """The reports of all who are `present` and whose turn it is, under one id for each part of the survey."""
        return b"".join(self.survey.message_of(reports, part, now) for part, reports in self._drawn(answers, now, present))

    def messages(self, answers: Mapping[str, Answers], now: float, present: Bools | None = None) -> Iterator[bytes]:
        """The same as one message for each person."""
        for part, reports in self._drawn(answers, now, present):
            for row in range(len(reports[0])):
                yield self.survey.message_of([each[row : row + 1] for each in reports], part, now)

    def _drawn(
        self, answers: Mapping[str, Answers], now: float, present: Bools | None
    ) -> Iterator[tuple[int, list[Reports]]]:
        survey = self.survey
        assert survey.repeats is not None
        due = self._turns == survey.period(now) % survey.repeats.span
        due = due if present is None else due & present
        parts = self._parts if survey.budget == "sampled" else np.where(self._before, survey.later, survey.whole)
        for part in sorted(set(parts[due].tolist())):
            places = np.flatnonzero(due & (parts == part))
            yield part, [self._reports(question, answers, places) for question in survey.part(part)]
        self._before |= due

    def _reports(self, question: Question, answers: Mapping[str, Answers], places: Ints) -> Reports:
        values: Any = self.survey.chosen(question, answers, places.tolist())
        if question.id in self._kept:
            return self._kept[question.id].reports(values, places, self._coins)
        return question.mechanism.perturb(values, self._coins)
