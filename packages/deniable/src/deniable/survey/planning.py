"""The plan of a whole survey: which mechanism for every question, what error to expect, what it costs, and for whom."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.core import NEWEST_EDITION, Additive
from deniable.errors import InvalidParameter
from deniable.planning import Cost, measured_cost
from deniable.planning.ranking import aligned, counted, percent
from deniable.planning.windows import WindowPlan
from deniable.survey import budget
from deniable.survey.budget import Advice
from deniable.survey.plan_bounds import above_best
from deniable.survey.question import Question
from deniable.survey.repeating import WINDOWS, asked_again
from deniable.survey.statement import suspicions
from deniable.survey.survey import Survey

if TYPE_CHECKING:
    from deniable.survey.effects import Effect

FINE = 0.01  # one percentage point: the error for which the plan says how many people it takes


@dataclass(frozen=True)
class QuestionPlan:
    """One question of a plan. `error` is of a share, or of a mean in units of the range, root mean square."""

    id: str
    wire: str
    epsilon: float
    reports: int
    error: float
    needed: int
    bits: int
    guess: float | None
    cost: Cost | None
    above: float | str = ""  # how far the squared error is above the best possible, at most, or why that is unknown


@dataclass(frozen=True)
class SurveyPlan:
    """What a survey costs and how accurate it is for a number of people."""

    survey: Survey
    people: int
    questions: tuple[QuestionPlan, ...]
    advice: Advice
    effects: tuple["Effect", ...] = ()
    ways: tuple[str, ...] = ()  # how the questions of tables can be reported, and which way was chosen

    @property
    def bits(self) -> int:
        """The most bits of reports that one person sends."""
        sizes = sorted((question.bits for question in self.questions), reverse=True)
        return sum(sizes[: self.survey.sample] if self.survey.budget == "sampled" else sizes)

    def explain(self) -> str:
        """The plan in a table and in words, for whoever runs the survey and for a person who answers."""
        from deniable.survey.effects import shown

        survey = self.survey
        timed = all(question.cost is not None for question in self.questions)
        heading = ["", "question", "mechanism", "epsilon", "reports", "error", "above", "for 1 point", "bits", "guess"]
        table = [heading + (["device", "server"] if timed else [])]
        for each in self.questions:
            guess = "" if each.guess is None else f"{100 * each.guess:.3g}%"
            cells = ["", each.id, each.wire, f"{each.epsilon:.4g}", f"{each.reports:,}", f"{100 * each.error:.3g}"]
            above = "" if isinstance(each.above, str) else percent(each.above)
            cells += [above, f"{each.needed:,}", f"{each.bits:,}", guess]
            if timed and each.cost is not None:
                cells += [f"{each.cost.device:.3g}us", f"{each.cost.server:.3g}us"]
            table.append(cells)
        lines = [
            f"{survey.id}: epsilon {survey.epsilon:g} for {survey.unit}, {counted(self.people, 'person', 'people')}, "
            f'budget "{survey.budget}"',
            aligned(table, left=3),
        ]
        lines += [
            "error: of a share in percentage points, or of a mean in % of its range; for 1 point: people needed for an "
            "error of 1; guess: how often somebody who knows nothing else guesses the answer correctly from the report",
            "above: squared error, at most this far above the best that any mechanism with this epsilon and an unbiased "
            "estimate can have, if all answers are equally common; for a mean, with the worst answers; 0 % cannot be beaten",
            *(f"above, not shown for {each.id}: {each.above}" for each in self.questions if isinstance(each.above, str)),
            *(["together: the error is that of a cell of the tables"] if self._grouped else []),
            *self.ways,
            *(shown(self.effects) if self.effects else []),
            *self._edition,
            *self._words(),
        ]
        return "\n".join(lines)

    @property
    def _grouped(self) -> bool:
        return len(self.survey.asked) > len(self.survey.questions)

    @property
    def _edition(self) -> list[str]:
        """What an earlier edition of the planner means for whoever wrote the file."""
        if self.survey.planner == NEWEST_EDITION:
            return []
        return [
            f"Edition {self.survey.planner} of the planner chose these mechanisms. A new survey should have planner = "
            f"{NEWEST_EDITION} under [survey], which knows better ones; in this one, it would change the fingerprint."
        ]

    def _words(self) -> list[str]:
        survey, better = self.survey, self.advice.better
        worst = max(self.questions, key=lambda question: question.error)
        lines = [
            f"In words: each person sends at most {self.bits:,} bits. The least precise question is {worst.id!r}, with an "
            f"error of {100 * worst.error:.3g}. Four times as many people, or about twice the epsilon, would halve it."
        ]
        if len(self.questions) > 1 and not survey.tables:
            used = "sampled" if survey.budget == "sampled" else "equal"
            shared, sampled = (
                ", ".join(f"{name} {100 * error:.3g}" for name, error in zip(self.advice.questions, errors, strict=True))
                for errors in (self.advice.shared, self.advice.sampled)
            )
            lines.append(f"Errors if all questions share the budget: {shared}; if each person answers a sample: {sampled}.")
            set_to = "as set" if better == used else f'it is set to "{survey.budget}"'
            lines.append(f'The better choice here is budget = "{better}" ({set_to}).')
        odds = survey.loss().odds
        if odds is not None:
            raised = "; ".join(suspicions(odds))
            lines.append(f"For a person: their report can raise anyone's suspicion about their answers {raised}.")
            items = ", ".join(question.id for question in survey.questions if question.how.unit)
            lines += [f"In {items}, this holds for each item on its own, not for the whole answer."] if items else []
        return lines


def plan_survey(survey: Survey, people: int | None = None, timed: bool = False) -> SurveyPlan:
    """The plan of a survey for this many people, who all answer; for those it was written for unless given."""
    if not isinstance(survey, Survey):
        raise InvalidParameter('A plan of a survey needs the survey itself: Survey.load("survey.toml").')
    people = survey.people if people is None else people
    if people < 1:
        raise InvalidParameter("A plan needs the number of people who will answer, at least 1.")
    sampled = survey.budget == "sampled"
    reports = max(1, people * survey.sample // len(survey.questions)) if sampled else people
    if survey.repeats is not None:
        reports = max(1, reports // survey.repeats.span)  # in one period
    found = []
    for question in survey.questions:
        mechanism = question.mechanism
        error = question.how.error(mechanism.domain, mechanism, reports)
        needed = math.ceil(people * (error / FINE) ** 2)
        guess = mechanism.guess() if isinstance(mechanism, Additive) else None
        cost = measured_cost(mechanism, 512) if timed else None
        found.append(
            QuestionPlan(
                question.id,
                mechanism.wire,
                mechanism.epsilon,
                reports,
                error,
                needed,
                mechanism.layout.bits,
                guess,
                cost,
                above_best(question, reports),
            )
        )
    from deniable.survey.effects import smallest_effects  # loads what plans relations

    effects, ways = smallest_effects(survey, reports), list[str]()
    if survey.tables:
        from deniable.survey.table_plans import explained_ways

        ways = explained_ways(survey, people)
    for question in survey.questions:
        ways += [f"{question.id}: {line}" for line in question.how.explained(question.mechanism, question.details, reports)]
    ways += windows_explained(survey, people)
    return SurveyPlan(survey, people, tuple(found), advice_for(survey, people), tuple(effects), tuple(ways))


def advice_for(survey: Survey, people: int) -> Advice:
    """The advice for another number of people."""
    count, part = len(survey.questions), survey.sample if survey.budget == "sampled" else 1
    whole = [1.0] * count
    errors: list[list[float]] = []
    for way, reports in (("equal", people), ("sampled", max(1, people * part // count))):
        epsilons = budget.shares(survey.epsilon, "equal" if way == "equal" else "sampled", part, whole)
        errors.append([_error(q, epsilon, reports) for q, epsilon in zip(survey.questions, epsilons, strict=True)])
    return Advice(tuple(question.id for question in survey.questions), tuple(errors[0]), tuple(errors[1]))


def _error(question: Question, epsilon: float, people: int) -> float:
    domain = question.mechanism.domain
    return question.how.error(domain, question.how.mechanism(domain, question.details, epsilon, people), people)


def windows_explained(survey: Survey, people: int) -> list[str]:
    """Of a survey with windows, what a report in every period with a part of the budget would give instead."""
    if survey.repeats is None or survey.repeats.way != WINDOWS:
        return []
    span, lines = survey.repeats.span, list[str]()
    for question in survey.questions:
        if asked_again(question):
            mechanism = question.mechanism
            own = question.how.error(mechanism.domain, mechanism, max(1, people // span))
            divided = _error(question, mechanism.epsilon / span, people)
            lines.append(f"{question.id}: {WindowPlan(mechanism, span, own, divided).explain()}")
    return lines
