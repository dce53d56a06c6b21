"""One of several choices: the share of each."""

from collections.abc import Sequence

from deniable.core import Label, Mechanism
from deniable.domains import Categories
from deniable.errors import InvalidParameter
from deniable.planning.shares import plan_shares
from deniable.survey.kinds.choice import NO_ANSWER, Choice
from deniable.survey.kinds.kind import Details, WrongDetail


class Category(Choice[Categories]):
    """Choices without an order. Some may be sensitive; an optional question has silence as one more choice."""

    keys = frozenset({"choices", "sensitive", "other", "optional"})
    flags = frozenset({"optional"})

    def domain(self, details: Details) -> Categories:
        choices = details.get("choices")
        if not isinstance(choices, Sequence) or isinstance(choices, str):
            raise WrongDetail("choices", 'A question of kind "category" needs choices, such as choices = ["yes", "no"].')
        labels: list[Label] = list(choices)
        if details.get("optional"):
            if NO_ANSWER in labels:
                raise WrongDetail("choices", f"{NO_ANSWER!r} is reserved for people who skip the question. Remove it.")
            labels.append(NO_ANSWER)
        try:
            return Categories(labels, details.get("other"))
        except (InvalidParameter, TypeError) as error:
            raise WrongDetail("choices", str(error)) from None

    def mechanism(self, domain: Categories, details: Details, epsilon: float, people: int) -> Mechanism:
        given = details.get("sensitive")
        if given is None:
            return super().mechanism(domain, details, epsilon, people)
        if not isinstance(given, list) or not given or any(label not in domain.labels for label in given):
            raise WrongDetail("sensitive", "sensitive must be a list of some of the choices.")
        try:
            return plan_shares(domain, epsilon, people, sensitive=self.sensitive(details), edition=self.edition)
        except InvalidParameter as error:
            raise WrongDetail("sensitive", str(error)) from None

    def sensitive(self, details: Details) -> list[Label]:
        """Silence is sensitive too: people who skip the question have a reason."""
        given = list(details.get("sensitive") or ())
        return [*given, NO_ANSWER] if given and details.get("optional") else given
