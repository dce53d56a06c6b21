"""False reports in the results: patterns that honest people do not produce, and what a share of false reports could change.

The tests need no report to be kept: the tallies tell how many supporters and votes there are, and the profiles of reports,
whose law is the same whatever people answer, are counted in memory since this process began.
"""

from dataclasses import dataclass

import numpy as np

from deniable.collector.profiles import Profiles
from deniable.collector.publish import Answered, Results
from deniable.core import Estimate, Mechanism, PureProtocol
from deniable.errors import InvalidParameter
from deniable.postprocess import recover
from deniable.privacy.liars import Suspicion, interval_with_liars, suspicions_of_tally
from deniable.survey import Question
from deniable.survey.kinds.text import Discovered

ERROR = 1e-6  # the probability of a false alarm, for each question and window
MOST_FAKES = 0.5


@dataclass(frozen=True)
class Alarm:
    """A pattern that was found in the reports on a question in one window (None: the survey has no windows)."""

    question: str
    period: int | None
    found: Suspicion

    def __str__(self) -> str:
        return f"{self.question}{'' if self.period is None else f', period {self.period}'}: {self.found}"

    def data(self) -> dict[str, object]:
        """The alarm as plain data."""
        place: dict[str, object] = {"question": self.question} | ({} if self.period is None else {"period": self.period})
        found = {"what": self.found.what, "seen": self.found.seen, "allowed": self.found.allowed}
        return place | found | {"false_alarm_probability": self.found.error}


def alarms(found: Results, profiles: Profiles | None = None) -> list[Alarm]:
    """The patterns in every window that may be published."""
    windows = found.history if found.survey.window is not None else found.answered
    return [Alarm(each.question.id, each.period, one) for each in windows for one in _suspicions(each, profiles)]


def _suspicions(each: Answered, profiles: Profiles | None) -> list[Suspicion]:
    if each.tally is None or not isinstance(each.question, Question):  # hidden, or reported together with others
        return []
    mechanism = each.question.mechanism
    if not isinstance(mechanism, PureProtocol):
        return []
    seen = None if profiles is None else profiles.of(each.period or 0, each.question.id)
    return suspicions_of_tally(mechanism, each.tally, seen, ERROR)


def with_fakes(
    found: Results, fakes: float | None, profiles: Profiles | None = None, history: bool = True
) -> dict[str, object]:
    """The results as plain data, with alarms, and with what may be true if a share of the reports is false."""
    data = found.data(history) | {"suspicions": [alarm.data() for alarm in alarms(found, profiles)]}
    if fakes is not None:
        rows = [row for each in found.answered for row in _bounded(each, fakes, found.confidence)]
        data["false_reports"] = {"share": fakes, "estimates": rows, "recovered_if": RECOVERED_IF}
    return data


RECOVERED_IF = "False reports are spread evenly over the answers whose estimates are positive."


def _bounded(each: Answered, fakes: float, confidence: float) -> list[dict[str, object]]:
    """An interval for each answer that holds whatever the false reports contain, and the recovered share beside it."""
    if each.estimate is None or not isinstance(each.question, Question):  # hidden, or reported together with others
        return []
    mechanism: Mechanism = each.question.mechanism
    if isinstance(each.estimate, Discovered):
        rows = each.estimate.bounded(fakes, confidence)
        return [{"question": each.question.id, "answer": name, "low": low, "high": high} for name, low, high in rows]
    if not isinstance(each.estimate, Estimate):  # a distribution
        return []
    if each.tally is None:  # rounds of different laws
        return []
    try:
        low, high = interval_with_liars(mechanism, each.tally, int(fakes * each.tally.n), confidence)
    except InvalidParameter:  # not shares of people, or reports too long to try them one by one
        return []
    recovered = recover(mechanism, each.tally, fakes).values if isinstance(mechanism, PureProtocol) else None
    return [
        {"question": each.question.id, "answer": str(label), "low": float(low[place]), "high": float(high[place])}
        | ({} if recovered is None else {"recovered": float(recovered[place])})
        for place, label in enumerate(each.estimate.labels)
    ]


def checked_fakes(text: str | None) -> float | None:
    """The share of false reports that somebody asked about; None if nobody did."""
    if text is None:
        return None
    try:
        share = float(text)
    except ValueError:
        share = float(np.nan)
    if not 0 <= share < MOST_FAKES:
        raise InvalidParameter("fakes must be a number of at least 0 and below 0.5, such as 0.05.")
    return share
