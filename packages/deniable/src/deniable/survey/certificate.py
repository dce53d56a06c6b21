"""The certificate of a survey: the exact loss of every question, and of a person who answers it."""

from dataclasses import dataclass

from deniable.core import PrivacyLoss
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import certify
from deniable.survey import budget
from deniable.survey.statement import statement
from deniable.survey.survey import Survey


@dataclass(frozen=True)
class SurveyCertificate:
    """The certificates of the questions, and the loss of one person over the whole survey."""

    survey: Survey
    questions: tuple[Certificate, ...]

    @property
    def loss(self) -> PrivacyLoss:
        """The exact loss of one person: that of all answers together, or of the worst sample of questions."""
        return budget.person([each.loss for each in self.questions], self.survey.budget, self.survey.sample)

    @property
    def holds(self) -> bool:
        """Whether every question keeps its promise and nobody spends more than the survey's budget."""
        return all(each.holds for each in self.questions) and self.loss.epsilon() <= self.survey.epsilon

    def statement(self) -> str:
        """The result in words, for the person who answers and for a regulator."""
        return statement(self.survey, self.questions)

    def __str__(self) -> str:
        lines = [f"survey        {self.survey.id} {self.survey.fingerprint}"]
        for question, each in zip(self.survey.questions, self.questions, strict=True):
            verdict = "holds" if each.holds else "DOES NOT HOLD"
            unit = f", for {question.how.unit}" if question.how.unit else ""
            lines.append(f"{question.id:<13} epsilon {each.loss.epsilon():.12g} ({each.loss.proof}), {verdict}{unit}")
        spent, unit = f"{self.loss.epsilon():.12g} of {self.survey.epsilon:.12g}", self.survey.unit
        lines.append(f"one person    epsilon {spent}, {unit.removeprefix('one person ')}")
        lines.append(f"certificate   {'holds' if self.holds else 'DOES NOT HOLD'}")
        return "\n".join(lines)


def certify_survey(survey: Survey) -> SurveyCertificate:
    """The exact loss of every question's code, and of a person over the survey."""
    return SurveyCertificate(survey, tuple(certify(question.mechanism) for question in survey.questions))
