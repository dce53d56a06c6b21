"""A device's part in a survey that is asked again and again: at most one report in a period, from answers that are kept.

What was kept and the report are written to the ledger together, before anything is sent. The clock decides the period; a
period that has had its report gets no other, whichever way the clock is set.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from deniable.core import Coins, Permanent, Reports, checked_coins
from deniable.device.ledger import Entry, Ledger, checked_entry
from deniable.device.memory import remembered
from deniable.device.sending import Reply
from deniable.errors import BudgetSpent
from deniable.survey.question import Question
from deniable.survey.repeating import WINDOWS, asked_again
from deniable.survey.survey import Survey

MOST_PERIODS = 1 << 12  # that are remembered; reports for earlier ones are not made any more


class Repeating:
    """What one person's device does in each period."""

    def __init__(self, survey: Survey, ledger: Ledger, coins: Coins | None, clock: Callable[[], float]) -> None:
        assert survey.repeats is not None
        self._survey, self._ledger, self._coins, self._clock = survey, ledger, coins, clock
        self._repeats = survey.repeats

    @property
    def period(self) -> int:
        """The period that it is now, by the device's clock."""
        return self._survey.period(self._clock())

    @property
    def turn(self) -> int:
        """With windows, in which of `span` periods this person reports: drawn once, and kept in the ledger."""
        if self._repeats.way != WINDOWS:
            return 0
        fresh = int(checked_coins(self._coins).below(self._repeats.span, 1)[0])
        return self._ledger.part(f"{self._survey.id} {self._survey.lasting} turn", fresh)

    def has_answered(self) -> bool:
        """Whether there is a report for this period."""
        return self.period in self._ledger.repeated(self._survey.id).get("periods", [])

    def due(self) -> bool:
        """Whether a report is wanted now: it is this person's turn, and there is none for this period."""
        period = self.period
        return (
            not self._is_over
            and period % self._repeats.span == self.turn
            and self._may(period, self._ledger.repeated(self._survey.id))
        )

    @property
    def _is_over(self) -> bool:
        """Whether the survey has closed: what all reports cost is counted up to then."""
        return self._survey.closes is not None and self._clock() >= self._survey.closes

    def next_due(self) -> int:
        """The next period in which this person is asked."""
        span, period = self._repeats.span, self.period
        own = period + (self.turn - period) % span
        return own if own > period or self.due() else own + span

    def _may(self, period: int, state: Mapping[str, Any]) -> bool:
        """Whether a report for this period keeps the promise, whatever the clock has done before."""
        periods = state.get("periods", [])
        if len(periods) >= MOST_PERIODS and period < min(periods):
            return False
        return all(abs(period - made) >= self._repeats.span for made in periods)

    def answer(self, answers: Mapping[str, object], part: int) -> bytes:
        """The report for this period, in the ledger before it is returned."""
        now = self._clock()
        if self._is_over:
            raise BudgetSpent("The survey is closed, so nothing more is reported.")
        if self._survey.period(now) % self._repeats.span != self.turn:
            raise BudgetSpent(
                f"This person reports in one of {self._repeats.span} periods, and this is not it. Ask again in period "
                f"{self.next_due()}."
            )
        entry = self._ledger.repeat(self._survey.id, lambda *held: self._made(answers, part, now, *held))
        return bytes.fromhex(entry.message)

    def _made(
        self,
        answers: Mapping[str, object],
        part: int,
        now: float,
        before: Entry | None,
        state: dict[str, Any],
        memories: dict[str, Any],
    ) -> Entry:
        survey, period = self._survey, self._survey.period(now)
        if not self._may(period, state):
            raise BudgetSpent(
                "There is already a report for this period. The same one can be sent again, but not a new one."
            )
        if before is not None and survey.budget != "sampled":
            part = survey.later
        coins, cost = checked_coins(self._coins), dict[str, Fraction]()
        reports, columns = list[Reports](), {name: [value] for name, value in answers.items()}
        for question in survey.part(part):
            made, paid = self._reported(question, survey.chosen(question, columns, [0]), memories, coins)
            reports.append(made)
            cost[question.id] = paid
        message = survey.message_of(reports, part, now).hex()
        if before is not None and before.state == "kept":
            still = survey.oldest_period(now)
            state["waiting"] = [*state.get("waiting", []), before.message]
            state["waiting"] = [each for each in state["waiting"] if _period(each) >= still]
        state["periods"] = sorted([*state.get("periods", []), period])[-MOST_PERIODS:]
        state["reports"] = state.get("reports", 0) + 1
        return self._entry(before, message, cost)

    def _reported(self, question: Question, values: Any, memories: dict[str, Any], coins: Coins) -> tuple[Reports, Fraction]:
        """The report on a question, and by which factor it adds to what this person has disclosed."""
        mechanism = question.mechanism
        if not isinstance(mechanism, Permanent) or not asked_again(question):
            return mechanism.perturb(values, coins), Fraction(checked_entry(mechanism.loss().odds))
        kept = memories.setdefault(memory_name(question), {})
        known = len(kept.get("answers", {}))
        made = remembered(mechanism, kept, values[0], coins)
        new = len(kept["answers"]) - known
        return made, Fraction(checked_entry(mechanism.lifetime_loss().odds)) ** new

    def _entry(self, before: Entry | None, message: str, cost: Mapping[str, Fraction]) -> Entry:
        """The entry with all that was spent so far: kept answers that were lost and drawn anew are paid again."""
        spent = {} if before is None else {name: Fraction(odds) for name, odds in before.questions.items()}
        for name, factor in cost.items():
            spent[name] = spent.get(name, Fraction(1)) * factor
        odds = math.prod(spent.values(), start=Fraction(1))
        own = {name: checked_entry(each) for name, each in spent.items()}
        epsilon = Entry("", 0.0, "", odds=str(odds)).loss().epsilon()
        unit = "one person over all periods so far"
        return Entry(self._survey.lasting, epsilon, message, odds=checked_entry(odds), unit=unit, questions=own)

    def send_waiting(self, send: Callable[[bytes], Reply]) -> None:
        """Send the reports of earlier periods that have not arrived, while they are still accepted."""
        for message in self._ledger.repeated(self._survey.id).get("waiting", []):
            if not send(bytes.fromhex(message)).again:
                self._ledger.mark_waiting(self._survey.id, message)


def memory_name(question: Question) -> str:
    """What the kept answers to a question are stored under: the same as long as nothing of the question changes."""
    return hashlib.sha256(json.dumps(question.spec(), sort_keys=True).encode()).hexdigest()[:32]


def _period(message: str) -> int:
    """The period that a message states."""
    return int.from_bytes(bytes.fromhex(message)[48:52], "little")
