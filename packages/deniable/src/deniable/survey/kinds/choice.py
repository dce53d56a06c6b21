"""What kinds of questions have in common where a person chooses one of several answers."""

import numpy as np

from deniable.core import Answers, Permanent
from deniable.domains.categories import NO_ANSWER
from deniable.errors import OutsideDomain
from deniable.survey.kinds.kind import D, Details, Kind, permanent

__all__ = ["NO_ANSWER", "Choice"]


class Choice(Kind[D]):
    """One of the labels of a domain."""

    def repeated(self, domain: D, details: Details, lifetime: float, once: float, people: int) -> Permanent:
        return permanent(domain, details, lifetime, once, people, self.edition)

    def hint(self, domain: D) -> str:
        return ", ".join(str(label) for label in domain.labels)

    def read(self, domain: D, text: str) -> object:
        if not text and NO_ANSWER in domain.labels:
            return None
        found = [label for label in domain.labels if str(label) == text]
        if not found:
            raise OutsideDomain("That is not one of the choices. Type one of them exactly as shown.")
        return found[0]

    def pretend(self, domain: D, random: np.random.Generator, people: int) -> Answers:
        """Some answers are common and some rare, in a shuffled order: shares fall off like 1 / rank."""
        weights = 1.0 / np.arange(1, domain.size + 1)
        random.shuffle(weights)
        drawn = random.choice(domain.size, people, p=weights / weights.sum())
        if isinstance(domain.labels, range):
            return drawn * domain.labels.step + domain.labels.start
        return [domain.labels[place] for place in drawn.tolist()]
