"""Surveys that ask again and again: which questions, how a person's reports repeat, and what they disclose over time.

A question repeats in one of two ways. `permanent`: the device keeps a noisy answer for ever and randomizes it once more in
each period, so that all reports ever on one value cost no more than the kept answer. `windows`: a person reports in one of
`span` periods, drawn once, so that any `span` consecutive periods cost one report. A question without either is asked once.
"""

from datetime import UTC, datetime
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Literal, NamedTuple

from deniable.core import Permanent, PrivacyLoss

if TYPE_CHECKING:
    from deniable.survey.question import Question
    from deniable.survey.survey import Survey

PERMANENT, WINDOWS, ONCE = WAYS = ("permanent", "windows", "once")
MONDAY = 345_600  # 5 January 1970, 00:00 UTC: where periods begin unless the survey says when it opens
DAY = 86_400
LEAST_SPAN, MOST_SPAN = 2, 1000


class Repeats(NamedTuple):
    """How the questions of a survey repeat that are asked more than once."""

    way: Literal["permanent", "windows"]
    span: int  # of any so many periods in a row, a person reports in one; 1 if in each

    @property
    def unit(self) -> str:
        """What epsilon is for."""
        return "one person in one period" if self.way == PERMANENT else f"one person in any {self.span} periods in a row"


def repeats_of(questions: "tuple[Question, ...]") -> Repeats | None:
    """How these questions repeat; None if all are asked once."""
    for question in questions:
        way = question.details.get("repeat", ONCE)
        if way != ONCE:
            return Repeats(way, int(question.details.get("span", 1)))
    return None


def asked_again(question: "Question") -> bool:
    """Whether a person is asked this question in more than one period."""
    return bool(question.details.get("repeat", ONCE) != ONCE)


def own_reports(survey: "Survey") -> int | None:
    """In how many periods a person reports at most before the survey closes; None if it stays open."""
    if survey.repeats is None:
        return 1
    if survey.closes is None or survey.window is None or survey.opens is None:
        return None
    periods = -(-(survey.closes - survey.opens) // survey.window)
    return -(-periods // survey.repeats.span)


def lifetime_losses(survey: "Survey") -> dict[str, PrivacyLoss | None]:
    """What all reports ever on one value give away, question by question; None where that grows with time."""
    found: dict[str, PrivacyLoss | None] = {}
    reports = own_reports(survey)
    for question in survey.questions:
        mechanism = question.mechanism
        if not asked_again(question):
            found[question.id] = mechanism.loss()
        elif isinstance(mechanism, Permanent):
            found[question.id] = mechanism.lifetime_loss()
        else:
            found[question.id] = None if reports is None else reduce(add, [mechanism.loss()] * reports)
    return found


def lifetime_loss(survey: "Survey") -> PrivacyLoss | None:
    """What a person gives away over the life of the survey, if no value changes; None if it grows with time."""
    from deniable.survey import budget

    losses = [loss for loss in lifetime_losses(survey).values() if loss is not None]
    if len(losses) < len(survey.questions):
        return None
    return budget.person(losses, survey.budget, survey.sample)


def spoken(survey: "Survey") -> list[str]:
    """What a person should know about being asked again, in sentences."""
    repeats = survey.repeats
    if repeats is None:
        return []
    ever = lifetime_loss(survey)
    if repeats.way == WINDOWS:
        lines = [
            f"You are asked in one of {repeats.span} periods, which your device drew once. Any {repeats.span} periods in a "
            f"row cost you epsilon {survey.epsilon:g}."
        ]
        reports = own_reports(survey)
        if ever is None:
            lines.append("There is no limit for all time: each further report costs as much again.")
        else:
            lines.append(f"Until the survey closes you report at most {reports} times: epsilon {ever.epsilon():.4g} in all.")
        return lines
    assert ever is not None
    lines = [
        "You are asked again in every period. Your device randomizes an answer once, keeps the result, and bases all later "
        "reports on it.",
        f"One report costs you epsilon {survey.loss().epsilon():.4g}. All reports ever on the same answers cost epsilon "
        f"{ever.epsilon():.4g}, however many there are.",
        "Each new answer is kept anew and costs as much again. That an answer changed, and when, is not hidden: every "
        "further report shows the change more clearly. If the change itself is secret, do not answer again.",
    ]
    pairs = [q.id for q in survey.questions if asked_again(q) and getattr(q.mechanism, "most_kept", None) == 2]
    if pairs:
        lines.append(f"In {', '.join(pairs)}, two kept bits stand for all answers, so you never pay more than twice.")
    return lines


def begins(survey: "Survey", period: int) -> int | None:
    """When a period begins, in seconds since 1970."""
    return None if survey.opens is None or survey.window is None else survey.opens + period * survey.window


def name_of_period(survey: "Survey", period: int) -> str:
    """The day on which a period begins, with the time unless all begin at midnight; its number if nobody knows when."""
    start = begins(survey, period)
    if start is None or survey.window is None or survey.opens is None:
        return f"period {period}"
    moment = datetime.fromtimestamp(start, UTC)
    return moment.strftime("%Y-%m-%d" if survey.window % DAY == survey.opens % DAY == 0 else "%Y-%m-%d %H:%M")
