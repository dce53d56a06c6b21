"""A survey in several rounds: people answer one of them, or all, and what a later round asks follows from earlier ones.

A round is a survey of its own, with the id and the contract of the first and other laws. Nothing here is about numbers: the
kind of a question says which mechanism its next round has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from deniable.core import Tally
from deniable.errors import NotCertifiable
from deniable.survey.certificate import certify_survey
from deniable.survey.survey import Survey

Counted = tuple[Survey, Mapping[str, Tally]]  # a round, and the tally of each of its questions


def people_of(survey: Survey) -> int:
    """How many people answer before the next round begins."""
    if survey.same_people:
        return min(survey.people, *(question.domain.size for question in survey.questions))
    return -(-survey.people // (survey.rounds or 1))


def is_over(survey: Survey, number: int, people: int, now: float) -> bool:
    """Whether this round, counted from 1, has had its people or its time; not before somebody has answered."""
    late = survey.round_time is not None and survey.opens is not None and now >= survey.opens + number * survey.round_time
    return people >= (1 if late else people_of(survey))


def next_survey(earlier: Sequence[Counted]) -> Survey:
    """The round after these, proved: a round that discloses more than the survey says is never opened."""
    first, last = earlier[0][0], earlier[-1][0]
    questions = []
    for place, question in enumerate(first.questions):
        known = [
            (each.questions[place].mechanism, tallies[question.id]) for each, tallies in earlier if question.id in tallies
        ]
        mechanism = last.questions[place].mechanism
        if known:
            mechanism = question.how.next_round(question.details, question.mechanism.epsilon, people_of(first), known)
        questions.append(replace(question, mechanism=mechanism))
    made = replace(first, questions=tuple(questions), round=len(earlier) + 1)
    certificate = certify_survey(made)
    if not certificate.holds:
        raise NotCertifiable(f"Round {made.round} would disclose more than the survey says, so it is not opened.")
    return made
