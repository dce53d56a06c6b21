"""What a person has spent, in a file: the report of every survey answered, so that none is ever randomized twice.

It also holds the lifetime limit, and which questions a device drew before it was answered. The file is part of the
promise. Whoever deletes it may answer again, with fresh randomness, and pays again.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from deniable.core import PrivacyLoss, odds_below, written_odds
from deniable.device.kept import KeptFile
from deniable.errors import BudgetSpent, InvalidParameter

_FORMAT = "deniable ledger 1"


@dataclass(frozen=True)
class Entry:
    """One survey that was answered: its fingerprint, what it cost, and the report, as it was and will be sent.

    `odds` is the exact loss of the answers that were given, as a fraction in text, and `questions` that of each of them;
    they are missing in files of earlier releases, where the budget stands in for them.
    """

    fingerprint: str
    epsilon: float
    message: str
    state: str = "kept"  # then "sent" or "refused"
    odds: str | None = None
    unit: str = "one person over the whole survey"
    questions: Mapping[str, str] = field(default_factory=dict)

    def loss(self) -> PrivacyLoss:
        """What the answers gave away, in the worst case."""
        odds = odds_below(self.epsilon) if self.odds is None else Fraction(self.odds)
        return PrivacyLoss(odds, "proved", answers=max(1, len(self.questions)), over=self.unit)


class Ledger:
    """All surveys that one person answered, by their ids. Without a path it lasts as long as the program.

    `lifetime` limits the sum of all budgets. It is stored in the file, so that it holds whoever opens the file later; a
    smaller limit replaces it, a larger one is refused.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, lifetime: float | None = None) -> None:
        self._file = KeptFile(path, _FORMAT, "ledger")
        if lifetime is not None:
            self._limit(checked_lifetime(lifetime))

    @property
    def lifetime(self) -> float | None:
        """The most that all surveys together may cost, if there is a limit."""
        return self._lifetime(self._file.read())

    def _lifetime(self, data: Mapping[str, object]) -> float | None:
        limit = data.get("lifetime")
        if limit is None:
            return None
        try:
            return checked_lifetime(limit)
        except InvalidParameter:
            self._file.refuse()

    def _limit(self, lifetime: float) -> None:
        kept = self.lifetime
        if kept == lifetime:
            return
        with self._file.changing() as data:
            kept = self._lifetime(data)
            if kept is not None and lifetime > kept:
                raise InvalidParameter(
                    f"This ledger has a lifetime limit of {kept:g}, which cannot be raised to {lifetime:g}. Open it with "
                    "the same limit, a smaller one, or none."
                )
            data["lifetime"] = lifetime

    def part(self, survey: str, fresh: int) -> int:
        """Which questions of a survey this person is asked: what was drawn first, however often a device draws anew."""
        known = self._part(self._file.read(), survey)
        if known is not None:
            return known
        with self._file.changing() as data:
            parts = data.setdefault("parts", {})
            known = self._part(data, survey)
            if known is None:
                parts[survey] = str(fresh)  # as text: it may have more bits than a number in JavaScript
                return fresh
        return known

    def _part(self, data: Mapping[str, object], survey: str) -> int | None:
        try:
            part = data.get("parts", {}).get(survey)  # type: ignore[attr-defined]
            return None if part is None else int(part)
        except (TypeError, ValueError, AttributeError):
            self._file.refuse()

    def exchange(self, survey: str) -> Mapping[str, str] | None:
        """How far the exchange of an invitation has come: what repeats it, then the token."""
        try:
            found: Mapping[str, str] | None = self._file.read().get("exchanges", {}).get(survey)
            return found
        except AttributeError:
            self._file.refuse()

    def put_exchange(self, survey: str, state: Mapping[str, str]) -> Mapping[str, str]:
        """Remember that, and what is remembered: of two that begin only the first counts, and a token stays for ever."""
        with self._file.changing() as data:
            exchanges = data.setdefault("exchanges", {})
            known: Mapping[str, str] = exchanges.setdefault(survey, dict(state))
            if "token" in state and "token" not in known:
                exchanges[survey] = known = dict(state)
        return known

    def drop_exchange(self, survey: str) -> None:
        """Forget an exchange that the issuer has not begun."""
        with self._file.changing() as data:
            if "token" not in data.get("exchanges", {}).get(survey, {}):
                data.get("exchanges", {}).pop(survey, None)

    def entry(self, survey: str) -> Entry | None:
        """What was sent, or is to be sent, for this survey."""
        return self.entries().get(survey)

    def entries(self) -> dict[str, Entry]:
        """All surveys that were answered, in the order of answering."""
        return self._of(self._file.read())

    def spent(self) -> float:
        """The sum of the budgets of all surveys that were answered."""
        return sum(entry.epsilon for entry in self.entries().values())

    def loss(self) -> PrivacyLoss | None:
        """The exact loss of everything that was answered, if all reports fall into the same hands: odds multiply."""
        losses = [entry.loss() for entry in self.entries().values()]
        if not losses:
            return None
        return replace(
            reduce(add, losses), over=f"one person over {len(losses)} {'survey' if len(losses) == 1 else 'surveys'}"
        )

    def statement(self) -> str:
        """What was spent, in words and exact odds, one line for each survey."""
        lines = []
        for name, entry in self.entries().items():
            own = entry.loss()
            lines.append(f"{name} ({entry.state}): epsilon {own.epsilon():.6g} of {entry.epsilon:g}, {entry.unit}")
            for question, odds in entry.questions.items():
                lines.append(f"  {question}: odds at most {odds}")
        total = self.loss()
        if total is None:
            return "No survey has been answered, so the privacy loss is 0."
        limit = self.lifetime
        most = "" if limit is None else f" of at most {limit:g} in a lifetime"
        return "\n".join([*lines, f"total: epsilon {total.epsilon():.6g}{most}, if one party holds all reports"])

    def add(self, survey: str, entry: Entry) -> None:
        """Remember a report before it is sent; refuses a survey that was answered, and what exceeds the lifetime limit."""
        with self._changing() as (data, entries):
            if survey in entries:
                raise BudgetSpent(
                    "This survey has already been answered. The same report can be sent again, but not a new one."
                )
            total, limit = entry.epsilon + sum(each.epsilon for each in entries.values()), self._lifetime(data)
            if limit is not None and total > limit:
                raise BudgetSpent(
                    f"This survey costs epsilon {entry.epsilon:g}. With the surveys answered before, that exceeds the "
                    f"lifetime limit of {limit:g}, so it was not answered."
                )
            entries[survey] = entry

    def repeat(self, survey: str, make: Callable[[Entry | None, dict[str, Any], dict[str, Any]], Entry]) -> Entry:
        """Replace the entry of a survey that is asked again, in one write with all that its next report was made from.

        `make` is given the entry so far, what is remembered of the survey's periods, and the kept answers to all questions;
        it changes the latter two. Refused where what is new exceeds the lifetime limit.
        """
        with self._changing() as (data, entries):
            before = entries.get(survey)
            states, memories = (data.setdefault(name, {}) for name in ("repeated", "memories"))  # type: ignore[attr-defined]
            entry = make(before, states.setdefault(survey, {}), memories)
            limit, more = self._lifetime(data), entry.epsilon - (0.0 if before is None else before.epsilon)
            if limit is not None and more > 0 and more + sum(each.epsilon for each in entries.values()) > limit:
                raise BudgetSpent(
                    f"This answer costs epsilon {more:.4g}. With what was answered before, that exceeds the lifetime limit "
                    f"of {limit:g}, so it was not reported."
                )
            entries[survey] = entry
        return entry

    def repeated(self, survey: str) -> Mapping[str, Any]:
        """What is remembered of the periods of a survey that is asked again."""
        found: Mapping[str, Any] = self._file.read().get("repeated", {}).get(survey, {})
        return found

    def mark_waiting(self, survey: str, message: str) -> None:
        """A report of an earlier period has been dealt with."""
        with self._file.changing() as data:
            waiting = data.get("repeated", {}).get(survey, {}).get("waiting", [])
            if message in waiting:
                waiting.remove(message)

    def mark(self, survey: str, state: str) -> None:
        """Remember what became of a report."""
        with self._changing() as (_, entries):
            entries[survey] = replace(entries[survey], state=state)

    def _of(self, data: Mapping[str, object]) -> dict[str, Entry]:
        try:
            surveys = data.get("surveys", {})
            return {survey: Entry(**entry) for survey, entry in surveys.items()}  # type: ignore[attr-defined]
        except (TypeError, AttributeError):
            self._file.refuse()

    @contextmanager
    def _changing(self) -> Iterator[tuple[Mapping[str, object], dict[str, Entry]]]:
        with self._file.changing() as data:
            entries = self._of(data)
            yield data, entries
            data["surveys"] = {survey: asdict(entry) for survey, entry in entries.items()}


def checked_lifetime(lifetime: object) -> float:
    """A limit of the sum of all budgets."""
    real = isinstance(lifetime, int | float) and not isinstance(lifetime, bool)
    if not real or not 0 <= lifetime < math.inf:  # type: ignore[operator]
        raise InvalidParameter("A lifetime limit must be a number, 0 or more: the largest epsilon of all surveys together.")
    return float(lifetime)  # type: ignore[arg-type]


def checked_entry(odds: Fraction | None) -> str:
    """Odds as they stand in a ledger; a mechanism that promises nothing is not answered."""
    if odds is None:
        raise InvalidParameter("A question of this survey has no privacy guarantee, so the survey was not answered.")
    # More digits than anybody reads are cut off, upwards.
    return written_odds(odds) or str(Fraction(-(-odds * 10**12 // 1), 10**12))
