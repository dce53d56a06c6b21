"""The questions of a survey over time, as they are published: a line with a band per answer, and what changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.analysis.changes import FALSE_ALARMS
from deniable.analysis.trend import Trend, trend_of
from deniable.arrays import Floats
from deniable.core import Estimate
from deniable.survey import Question, Survey
from deniable.survey.repeating import DAY, PERMANENT, asked_again, begins, lifetime_loss, own_reports

if TYPE_CHECKING:
    from deniable.collector.publish import Answered

LEAST = 2  # periods
MOST = 12  # answers with a line
MONDAY = 4  # the first Monday of 1970, in days


@dataclass(frozen=True, eq=False)
class QuestionTrend:
    """One question over time."""

    survey: Survey
    question: Question
    trend: Trend

    @property
    def daily(self) -> bool:
        """Whether a period is a day, so that weekdays can be compared."""
        return self.survey.window == DAY

    def weekdays(self) -> Estimate | None:
        """The weekdays, if there are enough days."""
        if not self.daily or not self.trend.has_weekdays or self.survey.opens is None:
            return None
        return self.trend.weekdays((self.survey.opens // DAY - MONDAY) % 7)

    def data(self, confidence: float) -> dict[str, object]:
        """The trend as plain data: arrays over periods for each answer."""
        trend = self.trend
        low, high = trend.interval(confidence)
        shown = sorted(np.argsort(-trend.values.mean(axis=0), kind="stable")[:MOST].tolist())
        lines = [
            {
                "answer": str(trend.labels[k]), "raw": _rounded(trend.values[:, k]),
                "value": _rounded(trend.level.values[:, k]), "low": _rounded(low[:, k]), "high": _rounded(high[:, k]),
            }
            for k in shown
        ]  # fmt: skip
        about: dict[str, object] = {
            "question": self.question.id,
            "ask": self.question.ask,
            "measure": trend.measure,
            "periods": trend.periods.tolist(),
            "begins": [begins(self.survey, int(period)) for period in trend.periods],
            "reports": trend.reports.tolist(),
            "lines": lines,
            "false_alarms": FALSE_ALARMS,
            "changes": [
                {
                    "answer": str(each.answer), "since": each.since, "begins": begins(self.survey, each.since),
                    "named": each.named, "difference": each.difference, "low": each.low, "high": each.high,
                }
                for each in trend.changes(confidence=confidence)
            ],
        }  # fmt: skip
        days = self.weekdays()
        if days is not None:
            ends = days.interval(confidence)
            rows = zip(days.labels, days.values, *ends, strict=True)
            about["weekdays"] = [
                {"day": str(day), "value": float(value), "low": float(bottom), "high": float(top)}
                for day, value, bottom, top in rows
            ]
            about["weekdays_of"] = days.measure.removesuffix(" by weekday") if trend.measure == "share" else trend.measure
        return about


def _rounded(column: Floats) -> list[float]:
    return [float(f"{value:.6g}") for value in column]


def trends(survey: Survey, history: "Sequence[Answered]") -> list[QuestionTrend]:
    """The trend of each question that has results in at least two periods; not of what only newcomers are asked."""
    found = []
    for question in survey.questions:
        if survey.repeats is not None and not asked_again(question):
            continue
        own = [
            each for each in history if each.question is question and each.estimate is not None and each.period is not None
        ]
        parts = [followed(question, each.estimate) for each in own]
        known = [(each.period, part) for each, part in zip(own, parts, strict=True) if part is not None]
        if len(known) >= LEAST:
            periods = [period for period, _ in known if period is not None]
            found.append(QuestionTrend(survey, question, trend_of(question.mechanism, periods, [part for _, part in known])))
    return found


def followed(question: Question, estimate: object) -> Estimate | None:
    """What is followed of a question: its shares, or its mean; nothing of a distribution."""
    if not isinstance(estimate, Estimate):
        parts = question.how.parts(estimate) if hasattr(estimate, "frequency") else ()
        estimate = next(iter(parts), None)
    usable = isinstance(estimate, Estimate) and estimate.variance is not None and bool(np.isfinite(estimate.variance).all())
    return estimate if usable else None


def spending(survey: Survey) -> Mapping[str, object]:
    """What a person has spent on a survey that asks again, and will ever spend, in figures and in a sentence."""
    assert survey.repeats is not None
    once, ever, reports = survey.loss().epsilon(), lifetime_loss(survey), own_reports(survey)
    if survey.repeats.way == PERMANENT:
        assert ever is not None
        words = (
            f"A person spends epsilon {ever.epsilon():.4g} with the first report, and no more as long as no answer changes, "
            f"however many reports follow. One report alone discloses epsilon {once:.4g}. Each changed answer costs its "
            "part of that again."
        )
    else:
        total = "the sum over all periods has no limit"
        if ever is not None:
            total = f"at most {ever.epsilon():.4g} in all until the survey closes"
        words = f"A person spends epsilon {once:.4g} in any {survey.repeats.span} periods in a row, and {total}."
    figures = {"one_report": once, "ever": None if ever is None else ever.epsilon(), "reports": reports}
    return figures | {"way": survey.repeats.way, "span": survey.repeats.span, "words": words}
