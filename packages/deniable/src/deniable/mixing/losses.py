"""The two losses of a survey that is mixed: against the collector, and against relay and collector together."""

from dataclasses import dataclass

from deniable.core import PrivacyLoss, PureProtocol
from deniable.errors import InvalidParameter
from deniable.mixing.sealing import check_mixable
from deniable.privacy.hiding import listed_channel
from deniable.privacy.shuffle import ShuffledLoss, shuffled, shuffled_odds
from deniable.survey import Survey
from deniable.survey.budget import person

CONDITIONS = (
    "the relay does not tell the collector, or anybody else who sees the collector's reports, who sent which message, when, "
    "or in which order; it passes messages on only {people:,} or more at a time, each once; and at least {people:,} of "
    "them, the person's own included, come from different people who answer honestly and tell nobody their reports"
)


@dataclass(frozen=True)
class BothLosses:
    """What a person loses to the collector if the relay keeps to its part, and to both together if it does not."""

    mixed: ShuffledLoss
    together: PrivacyLoss

    def __str__(self) -> str:
        people, conditions = self.mixed.n, CONDITIONS.format(people=self.mixed.n)
        return (
            f"Against the collector: epsilon {self.mixed.epsilon:.4g} except with probability {self.mixed.delta:.3g}, "
            f"among {people:,} mixed messages (from the {self.mixed.proof}). This holds only if {conditions}.\n"
            f"Against relay and collector together: epsilon {self.together.epsilon():.12g}, whatever they do. The relay "
            "alone sees who takes part and when, and cannot read the reports."
        )


def mixed_losses(survey: Survey, people: int, delta: float) -> BothLosses:
    """Both losses if so many messages are mixed. One question is bounded by its exact law, several by their odds alone."""
    check_mixable(survey)
    loss = person([question.mechanism.loss() for question in survey.questions], survey.budget, survey.sample)
    mechanism = survey.questions[0].mechanism
    alone = len(survey.questions) == 1 and mechanism.protected is None
    if loss.odds is None:
        raise InvalidParameter("Some answers to this survey are disclosed, so mixing gives no guarantee.")
    if alone and (isinstance(mechanism, PureProtocol) or listed_channel(mechanism)):
        return BothLosses(shuffled(mechanism, people, delta), loss)
    return BothLosses(shuffled_odds(loss.odds, people, delta), loss)
