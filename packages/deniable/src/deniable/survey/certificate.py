"""The certificate of a survey: the exact loss of every question, and of the whole message of a person who answers it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from deniable.arrays import Progress
from deniable.core import Permanent, PrivacyLoss, Program
from deniable.errors import InvalidLaw, NotCertifiable
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import certify
from deniable.privacy.memoized import certify_ever
from deniable.privacy.together import independent
from deniable.survey import budget
from deniable.survey.law import MessageLaw, Piece
from deniable.survey.repeating import asked_again, lifetime_losses
from deniable.survey.statement import statement
from deniable.survey.survey import Survey


@dataclass(frozen=True)
class SurveyCertificate:
    """The certificates of the questions, and the loss of one person over the whole survey."""

    survey: Survey
    questions: tuple[Certificate, ...]
    kept: Mapping[str, Certificate] = field(default_factory=dict)  # of all reports ever, where answers are permanent

    @property
    def law(self) -> MessageLaw:
        """The law of the reports on all questions; a person who is asked some of them runs the programs of those."""
        return self.survey.law()

    @property
    def loss(self) -> PrivacyLoss:
        """The exact loss of one person: that of all answers together, or of the worst sample of questions.

        Questions share no draw and no answer, so odds multiply, and the worst sample has the questions with the largest.
        """
        return budget.person([each.loss for each in self.questions], self.survey.budget, self.survey.sample)

    @property
    def holds(self) -> bool:
        """Whether every question keeps its promise and nobody spends more than the survey's budget."""
        alone = all(each.holds for each in self.questions) and self.loss.epsilon() <= self.survey.epsilon
        if self.survey.lifetime_epsilon is None:
            return alone
        ever = self.ever
        kept = all(each.holds for each in self.kept.values())
        return alone and kept and ever is not None and ever.epsilon() <= self.survey.lifetime_epsilon

    @property
    def ever(self) -> PrivacyLoss | None:
        """The exact loss of all reports ever of a person whose values do not change; None if it grows with time."""
        losses = {**lifetime_losses(self.survey), **{name: each.loss for name, each in self.kept.items()}}
        known = [loss for loss in losses.values() if loss is not None]
        if len(known) < len(losses):
            return None
        return budget.person(known, self.survey.budget, self.survey.sample)

    def statement(self) -> str:
        """The result in words, for the person who answers and for a regulator."""
        return statement(self.survey, self.questions)

    def __str__(self) -> str:
        lines = [f"survey        {self.survey.id} {self.survey.fingerprint}"]
        for question, each in zip(self.survey.questions, self.questions, strict=True):
            verdict = "holds" if each.holds else "DOES NOT HOLD"
            unit = f", for {question.how.unit}" if question.how.unit else ""
            lines.append(f"{question.id:<13} epsilon {each.loss.epsilon():.12g} ({each.loss.proof}), {verdict}{unit}")
        lines.append(f"message       {self._message()}")
        spent, unit = f"{self.loss.epsilon():.12g} of {self.survey.epsilon:.12g}", self.survey.unit
        lines.append(f"one person    epsilon {spent}, {unit.removeprefix('one person ')}")
        lines += self._over_time()
        if self.survey.rounds is not None and self.survey.same_people:
            lines.append(f"all rounds    together: each person answers all {self.survey.rounds}, and this is what they cost")
        elif self.survey.rounds is not None:
            lines.append(f"all rounds    the same: each person answers one of {self.survey.rounds}; later ones open only")
            lines.append("              after a proof of their own that they cost no more")
        lines.append(f"certificate   {'holds' if self.holds else 'DOES NOT HOLD'}")
        return "\n".join(lines)

    def _over_time(self) -> list[str]:
        """What is disclosed by answering again, in lines."""
        if self.survey.repeats is None:
            return []
        ever, most = self.ever, self.survey.lifetime_epsilon
        if ever is None:
            lines = ["all time      no bound: every further report costs as much again"]
        else:
            budget_ = "" if most is None else f" of {most:.12g}"
            lines = [f"all reports   epsilon {ever.epsilon():.12g}{budget_}, all reports ever on one value of each question"]
        if self.kept:
            lines.append("a change      each new value costs its question's epsilon again; that a value changed, and when,")
            lines.append("              is not hidden: every further report shows the change more clearly")
        return lines

    def _message(self) -> str:
        programs = self.law.programs
        count = sum(len(piece.program.nodes) for piece in programs if piece.program is not None)
        what = "one program" if len(programs) == 1 else f"{len(programs)} programs"
        theorems = len(self.law.pieces) - len(programs)
        more = f", and code for {theorems} {'question' if theorems == 1 else 'questions'}" if theorems else ""
        made = f"{what}, {count} operations" if programs else "no program"
        return f"{made}{more}; law {self.law.fingerprint}"


def certify_survey(survey: Survey, progress: Progress | None = None) -> SurveyCertificate:
    """The exact loss of the whole message of a person: proved on the program that makes it.

    That questions share no draw and no answer is read off the program, and what makes the report on a question must be the
    law of its mechanism; then the odds of the questions multiply. Of a sampled survey the worst part is that of the
    questions with the largest odds, so no part needs to be tried. Ids and parts are drawn where no answer is known.
    `progress` is called with the share of the questions that are done.
    """
    if not isinstance(survey, Survey):
        raise NotCertifiable('Only a survey can be certified here, such as Survey.load("survey.toml").')
    if type(survey) is not Survey or any(callable(value) for value in vars(survey).values()):
        raise NotCertifiable(
            "This survey runs custom code, so its messages may contain more than the reports. Only a "
            "plain Survey can be certified; write what is different in the `randomize` of a mechanism."
        )
    try:
        for piece in survey.law().programs:
            check_piece(piece, piece.program)
    except InvalidLaw as why:
        raise NotCertifiable(f"The law cannot be recorded as a program: {why}") from why
    found = list[Certificate]()
    for question in survey.questions:
        found.append(certify(question.mechanism))
        if progress is not None:
            progress(len(found) / len(survey.questions))
    kept = {}
    for question in survey.questions:
        if isinstance(question.mechanism, Permanent) and asked_again(question):
            kept[question.id] = certify_ever(question.mechanism)
    return SurveyCertificate(survey, tuple(found), kept)


def check_piece(piece: Piece, program: Program | None) -> None:
    """Refuse a program that is not, question by question, the laws of these questions, sharing nothing."""
    assert program is not None
    laws = {question.id: question.mechanism.law for question in piece.questions}
    for group in independent(program, piece.fields):
        if len(group.names) > 1:
            raise NotCertifiable(f"The reports on {' and '.join(group.names)} share a draw or an answer.")
        (name,) = group.names
        if group.program != Program.joined([(name, laws[name])]).part(piece.fields[name]):
            raise NotCertifiable(f"The report on {name!r} does not come from the law of its mechanism.")
