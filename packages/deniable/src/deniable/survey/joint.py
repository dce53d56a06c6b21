"""Tables of questions that are reported by themselves: what is counted for them, and the table that the counts give."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from deniable.analysis.crosstab import of_mechanism, table_of_tally
from deniable.analysis.decoder import Decoder, decoder
from deniable.analysis.joint_tally import JointTally
from deniable.analysis.table import Table
from deniable.arrays import Ints
from deniable.core import Reports, Tally
from deniable.errors import InvalidParameter, InvalidReport, SurveyMismatch
from deniable.survey.question import Question
from deniable.survey.relation import Relation
from deniable.survey.survey import Survey


@dataclass(frozen=True, eq=False)
class Joint:
    """A table whose counts are kept beside those of its questions: whole numbers that add, for the same people."""

    relation: Relation
    questions: tuple[Question, ...]

    @property
    def id(self) -> str:
        """What its tally is kept under."""
        return self.relation.id

    @cached_property
    def decoders(self) -> list[Decoder]:
        """What the reports on each question say."""
        return [decoder(question.mechanism) for question in self.questions]

    @cached_property
    def fingerprint(self) -> str:
        """128 bits that name the questions and their laws."""
        names = ["joint", self.id, *(each.mechanism.fingerprint for each in self.questions)]
        return hashlib.sha256(json.dumps(names).encode()).hexdigest()[:32]

    @property
    def shape(self) -> tuple[int, ...]:
        """The counts of each question, and one more for all reports."""
        return tuple(each.cells + 1 for each in self.decoders)

    @property
    def cells(self) -> int:
        """How many counts there are."""
        return int(np.prod(self.shape))

    def votes(self, reports: Sequence[Reports]) -> Ints:
        """The counts of these people's reports on each question, in one row."""
        return JointTally.of(self.decoders, reports, self.relation.questions).counts.ravel()

    def check_tally(self, tally: Tally) -> None:
        """Refuse a tally of something else."""
        if tally.fingerprint != self.fingerprint:
            raise SurveyMismatch("This tally belongs to other questions or mechanisms. Tabulate it with those that made it.")
        if tally.counts.shape != (self.cells,):
            raise InvalidReport("A tally of these questions has another shape. Export it again.")

    def joint_tally(self, tally: Tally) -> JointTally:
        """The counts as a table of them."""
        self.check_tally(tally)
        prints = tuple(each.fingerprint for each in self.decoders)
        return JointTally(prints, tally.n, tally.counts.astype(np.int64).reshape(self.shape))

    def table(self, tally: Tally) -> Table:
        """The table of the people who were counted."""
        return table_of_tally(self.joint_tally(tally), self.decoders, self.relation.questions)


def source_of(survey: Survey, questions: Sequence[str]) -> str:
    """The tally that a table of these questions comes from; refused where the survey does not ask for it."""
    known = [member.id for question in survey.questions for member in question.members]
    for name in questions:
        if name not in known:
            raise InvalidParameter(f"The survey has no question {name!r}. It has {', '.join(map(repr, known))}.")
    if not 2 <= len(set(questions)) == len(questions) <= 3:
        raise InvalidParameter("A table has two or three different questions. Name them: crosstab(survey, 'smokes', 'age').")
    for question in survey.questions:
        if set(questions) <= {member.id for member in question.members}:
            return question.id
    for joint in survey.joints:
        if set(questions) <= set(joint.relation.questions):
            return joint.id
    listed = ", ".join(f'"{name}"' for name in questions)
    how = "answered by different people" if survey.budget == "sampled" else "counted separately"
    raise InvalidParameter(
        f"These questions are {how}, so nothing is known about how their answers are related. Ask for the table in the "
        f"survey file before people answer: [[table]] questions = [{listed}]."
    )


def table_from(survey: Survey, questions: Sequence[str], tally: Tally) -> Table:
    """The table of these questions, from the tally that `source_of` names."""
    source = source_of(survey, questions)
    for joint in survey.joints:
        if joint.id == source:
            whole = joint.table(tally)
            return whole if tuple(questions) == whole.questions else whole.pair(*questions)
    group = next(question for question in survey.questions if question.id == source)
    return of_mechanism(group.mechanism, tally, cast(Sequence[str | int], questions), [each.id for each in group.members])
