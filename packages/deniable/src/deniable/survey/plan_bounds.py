"""How far the questions of a survey are from the best possible, at most: the column `above` of its plan."""

from fractions import Fraction
from typing import Protocol, cast, runtime_checkable

from deniable.core import Domain, Mechanism
from deniable.domains import Features, Interval, KeyValue, Product, Vectors
from deniable.errors import InvalidParameter, MissingExtra
from deniable.planning.bounds import mean_bound, share_bound
from deniable.planning.key_value_bound import key_value_bound
from deniable.planning.marginal_bound import marginal_bound
from deniable.planning.sensitive_bound import sensitive_share_bound
from deniable.survey.group import Group
from deniable.survey.kinds.choice import Choice
from deniable.survey.kinds.map_summary import is_map
from deniable.survey.kinds.number import Numbers
from deniable.survey.question import Question
from deniable.wrappers.open_answers import OpenAnswers

NONE = {
    "text": "no bound on the search for unknown strings is known",
    "friends": "no bound on counts of a graph is known",
    "sparse-set": "no bound on promises for each item is known",
}
LARGE = "the bound is not computed for so many answers, or no bound above 0 is proved at this epsilon"


@runtime_checkable
class KnownAtWorst(Protocol):
    """A mechanism for means that states how far one report may be off."""

    def worst_variance(self) -> float:
        """The largest variance of one number in one report, in the units of the question."""


def above_best(question: Question, people: int) -> float | str:
    """How far the squared error is above the smallest that any mechanism with this epsilon can have, or why it is unknown.

    Of a mean, both are for the worst answers.
    """
    if question.kind in NONE:
        return NONE[question.kind]
    try:
        own, best = own_and_smallest(question, people)
    except MissingExtra:
        return "the bound of a mean needs SciPy: pip install 'deniable[stats]'"
    except InvalidParameter as refusal:
        return str(refusal)
    return LARGE if best is None else max(0.0, (own / best) ** 2 - 1)


def own_and_smallest(question: Question, people: int) -> tuple[float, float | None]:
    """The error of a question, and the smallest that any mechanism can have; None where none is proved."""
    mechanism = question.mechanism
    if mechanism.question in ("means", "vectors"):
        return _of_mean(mechanism, people)
    return question.how.error(mechanism.domain, mechanism, people), _smallest(question, mechanism, people)


def _of_mean(mechanism: Mechanism, people: int) -> tuple[float, float | None]:
    """The standard error at worst, and the smallest that any mechanism can have."""
    from deniable.planning.vector_bounds import box_bound  # which few surveys need

    if not isinstance(mechanism, KnownAtWorst):
        raise InvalidParameter("nothing is proved about this mechanism")
    own = (mechanism.worst_variance() / people) ** 0.5
    if mechanism.question == "vectors":
        return own, box_bound(cast(Features, mechanism.domain), mechanism.epsilon, people)
    return own, mean_bound(cast(Interval, mechanism.domain), mechanism.loss().epsilon(), people)


def _smallest(question: Question, mechanism: Mechanism, people: int) -> float | None:
    """The smallest error, of what the plan of a survey states for this question; None where none is proved."""
    domain, epsilon = mechanism.domain, mechanism.loss().epsilon()
    if isinstance(question, Group):
        parts = cast(Product | Vectors, domain).parts
        return marginal_bound([part.size for part in parts], question.tables, epsilon, people)
    if isinstance(domain, KeyValue):
        keys = len(domain.labels)
        return key_value_bound(keys, domain.at_most, Fraction(1, keys), epsilon, people, values=False)
    if isinstance(mechanism, OpenAnswers):
        secret = int(mechanism.secret.sum())
        others = domain.size - secret
        return sensitive_share_bound(secret, others, epsilon, people, others / domain.size)
    if mechanism.question == "distributions" or is_map(mechanism):
        return _of_distribution(mechanism, people)
    if isinstance(question.how, Choice | Numbers):
        return share_bound(domain.size, epsilon, people)
    raise InvalidParameter("nothing is proved about questions of this kind")


def _of_distribution(mechanism: Mechanism, people: int) -> float | None:
    from deniable.mechanisms.distributions.plane import plane_of  # which few surveys need
    from deniable.mechanisms.distributions.workload import Workload
    from deniable.planning.distribution_bounds import question_bound

    domain = cast(Domain, mechanism.domain)
    asked = plane_of(domain).rectangles if is_map(mechanism) else Workload.prefixes(domain.size)
    return question_bound(asked, mechanism.loss().epsilon(), people)
