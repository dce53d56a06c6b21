"""What a kind of question is made of, and what several kinds have in common."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.domain import Answers, Domain
from deniable.core.estimate import Estimate
from deniable.core.mechanism import Mechanism
from deniable.domains import Interval
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.planning import plan

Details = Mapping[str, Any]
NO_ANSWER = "(no answer)"


class WrongDetail(InvalidParameter):
    """A line of a question that says something impossible; `key` names the line."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def error_of_shares(mechanism: Mechanism, people: int) -> float:
    """The error to expect of a share, root mean square, if all answers are equally common."""
    size = mechanism.domain.size
    return float(np.sqrt(np.mean(mechanism.predict(np.full(size, 1 / size), people).standard_error ** 2)))


@dataclass(frozen=True)
class Kind:
    """How questions of one kind are made, asked, simulated and summarized."""

    details: frozenset[str]
    domain: Callable[[Details], Domain]
    mechanism: Callable[[Domain, Details, float, int], Mechanism]
    hint: Callable[[Domain], str]
    read: Callable[[Domain, str], object]
    pretend: Callable[[Domain, np.random.Generator, int], Answers]
    more: Callable[[Domain, Estimate], Mapping[str, tuple[float, float]]] = lambda domain, estimate: {}
    error: Callable[[Mechanism, int], float] = error_of_shares
    parts: Callable[[Any], Sequence[Estimate]] = lambda estimate: [estimate]
    given: Callable[[object], object] | None = None  # what a person's answer is for the mechanism, if not itself
    unit: str = ""  # what the budget of such a question is for, if not for the whole answer


def choice_hint(domain: Domain) -> str:
    """The choices, one after the other."""
    return ", ".join(str(label) for label in domain.labels)


def read_choice(domain: Domain, text: str) -> object:
    """The choice that was typed."""
    if not text and NO_ANSWER in domain.labels:
        return None
    found = [label for label in domain.labels if str(label) == text]
    if not found:
        raise OutsideDomain("That is not one of the choices. Type one of them as it is written.")
    return found[0]


def pretend_choice(domain: Domain, random: np.random.Generator, people: int) -> Answers:
    """Some answers are common and some rare, in a shuffled order: shares fall off like 1 / rank."""
    weights = 1.0 / np.arange(1, domain.size + 1)
    random.shuffle(weights)
    drawn = random.choice(domain.size, people, p=weights / weights.sum())
    if isinstance(domain.labels, range):
        return drawn
    return [domain.labels[place] for place in drawn.tolist()]


def planned(domain: Domain, details: Details, epsilon: float, people: int) -> Mechanism:
    """The best mechanism for shares."""
    return plan(domain, epsilon, people)


def mean_of(points: NDArray[np.float64], estimate: Estimate) -> Mapping[str, tuple[float, float]]:
    """The mean and its standard error, from the shares of these points; at most that, where covariances are not known."""
    if estimate.covary is not None:
        error = math.sqrt(max(float(points @ estimate.covariance() @ points), 0.0))
    else:
        error = float(np.abs(points) @ estimate.standard_error)
    return {"mean": (float(points @ estimate.values), error)}


def for_mean(domain: Domain, details: Details, epsilon: float, people: int) -> Mechanism:
    """The best mechanism for a mean."""
    return plan(domain, epsilon, people, target="mean")


def error_of_means(mechanism: Mechanism, people: int) -> float:
    """The error to expect of a mean, root mean square, if everybody's answer is the middle; in units of the range."""
    domain: Any = mechanism.domain
    if isinstance(domain, Interval):
        truth = np.zeros(domain.size)
        truth[domain.size // 2] = 1.0
    else:
        truth = np.full((1, domain.dimensions), (domain.low + domain.high) / 2)
    return float(np.sqrt(np.mean(mechanism.predict(truth, people).standard_error ** 2))) / (domain.high - domain.low)
