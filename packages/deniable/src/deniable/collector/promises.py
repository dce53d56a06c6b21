"""What people are promised, as plain data for the pages: the loss by the formulas, and the certificate once it is there."""

from fractions import Fraction
from threading import Lock

from deniable.core import PrivacyLoss, formatted_odds, written_odds
from deniable.errors import DeniableError
from deniable.privacy.certificate import Certificate, shown_answer
from deniable.survey import Survey, SurveyCertificate, certify_survey
from deniable.survey.repeating import lifetime_loss, spoken

Data = dict[str, object]


class Promises:
    """The promise of one survey. Its certificate takes seconds, so it is made once, aside, and is missing until then."""

    def __init__(self, survey: Survey) -> None:
        self._survey, self._lock = survey, Lock()
        self._found: SurveyCertificate | None = None
        self._impossible = ""

    @property
    def settled(self) -> bool:
        """Whether it is known if there is a certificate."""
        return self._found is not None or bool(self._impossible)

    def settle(self) -> None:
        """Certify the survey, unless that was done."""
        with self._lock:
            if not self.settled:
                try:
                    self._found = certify_survey(self._survey)
                except DeniableError as error:
                    self._impossible = str(error)

    def data(self) -> Data:
        """The promise to one person and that of each question."""
        survey, found = self._survey, self._found
        loss = survey.loss() if found is None else found.loss
        about: Data = {
            "survey": survey.id,
            "fingerprint": survey.fingerprint,
            "unit": survey.unit.split("; ")[0],
            "budget": survey.epsilon,
            "loss": loss_data(loss),
            "certified": None if found is None else found.holds,
            "trouble": self._impossible,
        }
        rows = []
        for place, question in enumerate(survey.questions):
            certificate = None if found is None else found.questions[place]
            row: Data = {
                "question": question.id,
                "mechanism": question.mechanism.wire,
                "bits": question.mechanism.layout.bits,
            }
            row["loss"] = loss_data(question.mechanism.loss() if certificate is None else certificate.loss)
            row["certificate"] = None if certificate is None else certificate_data(certificate)
            rows.append(row)
        if survey.repeats is not None:
            ever = lifetime_loss(survey) if found is None else found.ever
            about["lifetime"] = {"loss": None if ever is None else loss_data(ever), "budget": survey.lifetime_epsilon}
            about["repeats"] = {"way": survey.repeats.way, "span": survey.repeats.span, "words": spoken(survey)}
        return about | {"questions": rows}


def loss_data(loss: PrivacyLoss) -> Data:
    """A loss for people to read: odds, what even odds become, the unit, and how it is proved."""
    data: Data = {"protects": loss.protects, "unit": loss.unit, "proof": loss.proof}
    if loss.odds is None:
        return data | {"odds": None, "exact": None, "epsilon": None, "even": 1.0}
    sure = float(loss.odds / (1 + loss.odds)) if loss.odds < Fraction(10) ** 15 else 1.0
    size = {"odds": formatted_odds(loss.odds, 6), "exact": written_odds(loss.odds, 100), "epsilon": loss.epsilon()}
    return data | size | {"even": sure}


def certificate_data(certificate: Certificate) -> Data:
    """What a certificate says, as plain data and as text."""
    return {
        "holds": certificate.holds,
        "slack": certificate.slack,
        "worst_pair": None if certificate.worst_pair is None else [shown_answer(each) for each in certificate.worst_pair],
        "worst_report": certificate.short_report,
        "proved": certificate.proved(),
        "open_told": certificate.disclosed,
        "text": str(certificate),
    }
