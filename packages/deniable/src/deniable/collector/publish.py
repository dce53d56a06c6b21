"""What is published: estimates with intervals, for the survey and each period; hidden while they are of too few."""

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from statistics import NormalDist
from typing import cast

import numpy as np

from deniable.collector.glance import charted, planned, sentence
from deniable.collector.relations import Related, margins, related
from deniable.collector.rounds import counted, opened
from deniable.collector.store import Store
from deniable.collector.trends import QuestionTrend, spending, trends
from deniable.core import Estimate, Tally, confidence_each
from deniable.errors import InvalidParameter
from deniable.files.arrow import pyarrow_package
from deniable.survey import Question, Survey
from deniable.survey.question import Asked
from deniable.survey.repeating import asked_again
from deniable.survey.rounds import Counted

MOST_CONFIDENT = 0.999999999  # above it, floating-point numbers have no tail left
COLUMNS = ("question", "period", "measure", "answer", "value", "standard_error", "low", "high", "reports", "cleaned")
Record = tuple[str, int | None, str, str, float, float, float, float, int, float]


@dataclass(frozen=True, eq=False)
class Answered:
    """The tally of a question, over the whole survey (period None) or in one period; the estimate is None if hidden."""

    question: Asked
    period: int | None
    reports: int
    tally: Tally | None
    estimate: Estimate | None

    def records(self, confidence: float) -> list[Record]:
        """A line for each published number."""
        if self.estimate is None:
            return []
        key, lines = (self.question.id, self.period), list[Record]()
        how, domain = self.question.how, self.question.domain
        for part in how.parts(self.estimate):
            columns = (part.values, part.standard_error, *part.interval(confidence), how.cleaned(domain, part))
            for label, *row in zip(part.labels, *columns, strict=True):
                value, error, low, high, clean = map(float, row)
                lines.append((*key, part.measure, str(label), value, error, low, high, self.reports, clean))
        reach = NormalDist().inv_cdf((1 + confidence) / 2)
        for name, (value, error) in how.more(domain, self.estimate).items():
            low, high, clean = value - reach * error, value + reach * error, float(how.within(domain, np.array(value)))
            lines.append((*key, name, "", value, error, low, high, self.reports, clean))
        return lines


@dataclass(frozen=True, eq=False)
class Results:
    """All that a survey has come to so far."""

    survey: Survey
    people: int
    confidence: float
    answered: tuple[Answered, ...]
    history: tuple[Answered, ...]
    title: str = ""  # if it was corrected
    tables: tuple[Related, ...] = ()
    tallies: tuple[tuple[str, int | None, Tally], ...] = ()  # what may be published of each question, table and period

    def records(self) -> list[Record]:
        """Every published number, first those of the whole survey, then period by period."""
        lines = [line for each in (*self.answered, *self.history) for line in each.records(self.confidence)]
        return lines + [line for each in self.tables for line in _cells(each, self.confidence)]

    def data(self, history: bool = True) -> dict[str, object]:
        """The results as plain data, with or without the estimates of each period; one of too few reports has none."""
        return {
            "survey": self.survey.id,
            "title": self.title or self.survey.title,
            "fingerprint": self.survey.fingerprint,
            "epsilon": self.survey.epsilon,
            "unit": self.survey.unit,
            "people": self.people,
            "minimum_reports": self.survey.minimum_reports,
            "confidence": self.confidence,
            "questions": [self._data(each) for each in self.answered],
            **({"history": [self._data(each) for each in self.history]} if history else {}),
            **({"tables": [each.data(self.confidence) for each in self.tables]} if self.tables else {}),
            **({"trends": [each.data(self.confidence) for each in self.trends]} if self.survey.window is not None else {}),
            **({"spending": spending(self.survey)} if self.survey.repeats is not None else {}),
        }

    @cached_property
    def trends(self) -> list[QuestionTrend]:
        """The questions over time, of a survey with windows."""
        return trends(self.survey, self.history)

    def _data(self, each: Answered) -> dict[str, object]:
        about: dict[str, object] = {"question": each.question.id, "ask": each.question.ask}
        about |= {"reports": each.reports, "hidden": each.estimate is None}
        if each.period is not None:
            about["period"] = each.period
            if self.survey.opens is not None and self.survey.window is not None:
                about["begins"] = self.survey.opens + each.period * self.survey.window
        words = each.question.how.words(each.estimate, self.confidence) if each.estimate is not None else ()
        about |= {"words": list(words)} if words else {}
        if each.estimate is not None and each.period is None:
            about |= self._glance(each, bool(words))
        return about | {"estimates": [_row(line) for line in each.records(self.confidence)]}

    def _glance(self, each: Answered, distributed: bool) -> dict[str, object]:
        """What readers see first; a distribution has its own words and its own chart."""
        if distributed or each.estimate is None:
            return {}
        how, domain = each.question.how, each.question.domain
        first = next(iter(how.parts(each.estimate)), None) or _figure(*next(iter(how.more(domain, each.estimate).items())))
        about = planned(self.survey, each.question, first)
        if words := sentence(first, self.confidence):
            about["glance"] = words
        about["ordered"] = first.in_order
        if first.measure == "share":
            about["chart"] = charted(first, how.cleaned(domain, first), self.confidence)
        return about

    def json(self) -> str:
        """The results as JSON text."""
        return json.dumps(self.data())

    def csv(self) -> str:
        """The published numbers as a CSV table."""
        out = io.StringIO(newline="")
        table = csv.writer(out)
        table.writerow(COLUMNS)
        table.writerows(["" if cell is None else cell for cell in line] for line in self.records())
        return out.getvalue()

    def parquet(self) -> bytes:
        """The published numbers as a Parquet file."""
        pa = pyarrow_package()
        text, real, whole = pa.string(), pa.float64(), pa.int64()
        kinds = (text, whole, text, text, real, real, real, real, whole, real)
        columns = list(zip(*self.records(), strict=True)) or [()] * len(COLUMNS)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        out = io.BytesIO()
        pa.parquet.write_table(pa.Table.from_arrays(arrays, names=list(COLUMNS)), out)
        return out.getvalue()


def _figure(name: str, found: tuple[float, float]) -> Estimate:
    """A single figure with its standard error, as an estimate."""
    value, error = found
    return Estimate([""], np.array([value]), np.array([error**2]), 0, measure=name)


def _row(line: Record) -> dict[str, object]:
    """One published number; what is not known is null, since JSON has no infinity."""
    row = dict(zip(COLUMNS, line, strict=True))
    for name in ("question", "period", "reports"):
        del row[name]
    return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()}


def _cells(each: Related, confidence: float) -> list[Record]:
    """A line for each cell of a table."""
    lines = list[Record]()
    for row in each.records(confidence):
        numbers = [float(str(row[name])) for name in ("value", "standard_error", "low", "high", "cleaned")]
        answers = cast(list[str], row["answers"])
        value, error, low, high, clean = numbers
        lines.append(
            (each.relation.id, None, "joint share", ", ".join(answers), value, error, low, high, each.reports, clean)
        )
    return lines


def results(survey: Survey, number: int, store: Store, confidence: float = 0.95, title: str | None = None) -> Results:
    """The results of a survey, from one consistent look at its store."""
    confidence_each(confidence, 1)  # refuses what is no confidence
    if confidence > MOST_CONFIDENT:
        raise InvalidParameter(f"The confidence level of published intervals must be at most {MOST_CONFIDENT}.")
    with store.view() as view:
        people, rounds = view.people(number), opened(view, number, survey)
        known = counted(view, number, rounds) if len(rounds) > 1 else []
        tallies = view.tallies(number, survey) if not known else {}
    periods = sorted(people)
    answered, history, whole = list[Answered](), list[Answered](), dict[str, Tally | None]()
    published = list[tuple[str, int | None, Tally]]()
    if known:
        answered = [_combined(survey, place, known) for place in range(len(survey.questions))]
        alike = tuple((each.question.id, None, each.tally) for each in answered if each.tally is not None)
        many = max(people.values()) if survey.same_people else sum(people.values())
        return Results(survey, many, confidence, tuple(answered), (), title or "", (), alike)
    repeated = {question.id for question in survey.questions if asked_again(question)}
    for key in survey.counted:
        found = {period: tallies[(period, key)] for period in periods if (period, key) in tallies}
        if key in repeated:  # the same people report again, so that a sum would count them several times
            whole[key], every = _latest(survey, found), list[tuple[str, int | None, Tally | None]]()
        else:
            whole[key] = reduce(add, found.values()) if found else None
            every = [(key, None, whole[key])]
        every += [(key, when, own) for when, own in found.items() if survey.window is not None]
        published += [(name, when, own) for name, when, own in every if own and own.n >= survey.minimum_reports]
    for question in survey.questions:
        answered += _answered(survey, question, None, whole[question.id])
        if survey.window is not None:
            for period in periods:
                if (period, question.id) in tallies:
                    history += _answered(survey, question, period, tallies[(period, question.id)])
    tables = tuple(related(survey, whole)) if survey.tables else ()
    people_ = sum(people.values()) if not repeated else max(people.values(), default=0)
    return Results(survey, people_, confidence, tuple(answered), tuple(history), title or "", tables, tuple(published))


def _latest(survey: Survey, found: Mapping[int, Tally]) -> Tally | None:
    """The last period with enough reports; if there is none, the last one."""
    enough = [period for period, tally in found.items() if tally.n >= survey.minimum_reports]
    return found[max(enough or found)] if found else None


def _answered(survey: Survey, question: Question, period: int | None, tally: Tally | None) -> list[Answered]:
    """What is known of a question, or of each of those that are reported together."""
    reports = 0 if tally is None else tally.n
    if tally is None or reports < survey.minimum_reports:
        return [Answered(member, period, reports, None, None) for member in question.members]
    if len(question.members) > 1:
        return [
            Answered(member, period, reports, None, margins(survey, question, tally)[member.id])
            for member in question.members
        ]
    return [
        Answered(question, period, reports, tally, question.how.results(question.details, [(question.mechanism, tally)]))
    ]


def _combined(survey: Survey, place: int, known: Sequence[Counted]) -> Answered:
    """A question over all rounds; it has one tally only if all rounds have the same law."""
    question = survey.questions[place]
    rounds = [(each.questions[place].mechanism, tallies[question.id]) for each, tallies in known if question.id in tallies]
    reports = [tally.n for _, tally in rounds]
    total = max(reports) if survey.same_people else sum(reports)
    if total < max(survey.minimum_reports, 1):
        return Answered(question, None, total, None, None)
    alike = len({mechanism.fingerprint for mechanism, _ in rounds}) == 1
    tally = reduce(add, [tally for _, tally in rounds]) if alike else None
    return Answered(question, None, total, tally, question.how.results(question.details, rounds))
