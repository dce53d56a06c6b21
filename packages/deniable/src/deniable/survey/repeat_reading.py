"""From the lines of a survey file to questions that are asked again: budgets of one report and of all reports ever."""

import math
from collections.abc import Sequence

from deniable.core import Permanent
from deniable.survey import budget
from deniable.survey.budget import Spending
from deniable.survey.question import Question
from deniable.survey.reading import Draft, Section, check_ids, explained, read_draft, read_lifetime, read_weight
from deniable.survey.repeating import LEAST_SPAN, MOST_SPAN, ONCE, PERMANENT, WAYS, WINDOWS, lifetime_loss
from deniable.survey.survey import Survey

NEED_LIFETIME = (
    'repeat = "permanent" needs lifetime_epsilon under [survey]: what all reports of a person together may cost, however '
    "many there are."
)


def read_repeated(about: Section, tables: Sequence[Section], spending: Spending) -> tuple[Question, ...]:
    """The questions, those that are asked again with mechanisms that stay within both budgets."""
    ways = [_way(table) for table in tables]
    again = {way for way in ways if way != ONCE}
    lifetime = read_lifetime(about)
    if not again:
        about.refuse("lifetime_epsilon", 'lifetime_epsilon is for questions with repeat = "permanent".')
    if len(again) > 1:
        _at(tables, ways, WINDOWS).refuse("repeat", "All questions of a survey that repeat do so in the same way.")
    if spending.budget == "sampled" and ONCE in ways:
        about.refuse("budget", 'With budget = "sampled" all questions repeat, or none. Use budget = "equal".')
    if "window" not in about.data:
        about.refuse("window", 'Questions that repeat need a window, such as window = "day".')
    (way,) = again
    spans = {_span(table) for table, own in zip(tables, ways, strict=True) if own == WINDOWS}
    if len(spans) > 1:
        _at(tables, ways, WINDOWS).refuse("span", "All questions have the same span.")
    weights = [read_weight(table, spending.budget) for table in tables]
    once = budget.shares(spending.epsilon, spending.budget, spending.sample, weights)
    drafts = [read_draft(table, weight, spending.edition) for table, weight in zip(tables, weights, strict=True)]
    check_ids(tables, [draft.id for draft in drafts])
    if way == WINDOWS:
        people = -(-spending.people // spans.pop())
        return tuple(draft.question(draft.mechanism(e, people)) for draft, e in zip(drafts, once, strict=True))
    if lifetime is None:
        _at(tables, ways, PERMANENT).refuse("repeat", NEED_LIFETIME)
    if lifetime <= spending.epsilon:
        about.refuse(
            "epsilon", f"epsilon is the budget of one report and must be below lifetime_epsilon, {lifetime:g}. If you "
            "leave it out, half of that is used."
        )  # fmt: skip
    ever = _lasting(lifetime, spending, once, weights, ways)
    return tuple(
        draft.question(draft.mechanism(e, spending.people) if own == ONCE else _permanent(draft, whole, e, spending.people))
        for draft, own, e, whole in zip(drafts, ways, once, ever, strict=True)
    )


def check_lifetime(about: Section, survey: Survey) -> None:
    """Refuse a survey whose reports cost more over time than it says."""
    if survey.lifetime_epsilon is None:
        return
    ever = lifetime_loss(survey)
    if ever is None:
        about.refuse(
            "lifetime_epsilon", 'With repeat = "windows" the loss grows with time. Add closes, when the survey ends.'
        )
    if ever.epsilon() > survey.lifetime_epsilon:
        about.refuse(
            "lifetime_epsilon", f"All reports of a person together may cost epsilon {ever.epsilon():.4g}, which is more "
            "than lifetime_epsilon. Lower epsilon, or close the survey earlier."
        )  # fmt: skip


def _lasting(
    lifetime: float, spending: Spending, once: Sequence[float], weights: Sequence[float], ways: Sequence[str]
) -> list[float]:
    """The epsilon of all reports ever on each question: what those that are asked once leave, by weight."""
    left = lifetime - sum(e for e, way in zip(once, ways, strict=True) if way == ONCE)
    kept = [weight for weight, way in zip(weights, ways, strict=True) if way != ONCE]
    shares = iter(budget.shares(math.nextafter(left, 0.0), spending.budget, spending.sample, kept))
    return [e if way == ONCE else next(shares) for e, way in zip(once, ways, strict=True)]


def _permanent(draft: Draft, lifetime: float, once: float, people: int) -> Permanent:
    with explained(draft.table):
        if "mechanism" in draft.table.data:
            found = draft.mechanism(lifetime, people)
            if not isinstance(found, Permanent):
                draft.table.refuse("mechanism", "A permanent answer needs a mechanism that keeps it, such as memoized-1.")
            return found
        made: Permanent = draft.how.repeated(draft.domain, draft.details, lifetime, once, people)
        return made


def _way(table: Section) -> str:
    way = table.data.get("repeat", ONCE)
    if way not in WAYS:
        table.refuse(
            "repeat", 'repeat must be "permanent" (an answer kept for ever, randomized again in each period), "windows" (a '
            'report in one of span periods) or "once".'
        )  # fmt: skip
    if "span" in table.data and way != WINDOWS:
        table.refuse("span", 'span, the periods in a row that epsilon covers, requires repeat = "windows".')
    return str(way)


def _span(table: Section) -> int:
    if "span" not in table.data:
        table.refuse("repeat", 'repeat = "windows" needs a span: a person reports in one of any span periods in a row.')
    return table.whole("span", LEAST_SPAN, LEAST_SPAN, MOST_SPAN)


def _at(tables: Sequence[Section], ways: Sequence[str], way: str) -> Section:
    return next(table for table, own in zip(tables, ways, strict=True) if own == way)
