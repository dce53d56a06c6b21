"""What a kind of question is: how it is written in a survey file, randomized, asked, simulated and summarized."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Answers, AnyDomain, Columns, Estimate, Label, Mechanism, Permanent, Tally
from deniable.errors import InvalidParameter
from deniable.planning.planner import plan
from deniable.planning.ranking import planned
from deniable.planning.repeated import UNLINKABLE, repeated_options
from deniable.postprocess import norm_sub

Details = Mapping[str, Any]
Figures = Mapping[str, tuple[float, float]]  # name -> value and standard error
D = TypeVar("D", bound=AnyDomain)


class WrongDetail(InvalidParameter):
    """A line of a question that cannot be used; `key` names the line."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class Published(ABC):
    """An estimate that says itself what is published of it."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[Estimate]:
        """The estimates that are published."""

    @abstractmethod
    def sentences(self, confidence: float) -> Sequence[str]:
        """What stands out, in sentences."""


class Kind(ABC, Generic[D]):
    """One kind of question. `D` is the domain of its answers.

    `keys` are the lines that such a question has in a survey file besides those that every question has; `flags` are those
    of them that are true or false.
    """

    keys: frozenset[str]
    flags: frozenset[str] = frozenset()
    unit: str = ""  # what the budget of such a question protects, if not the whole answer
    fixed_rounds: int = 1  # in how many rounds such a question is asked, if that is always the same
    edition: int = 1  # of the planner that chooses mechanisms; `kind_named` sets it to that of the survey

    # In a survey file

    @abstractmethod
    def domain(self, details: Details) -> D:
        """The possible answers of a question with these lines; raises `WrongDetail` for a line that cannot be used."""

    def mechanism(self, domain: D, details: Details, epsilon: float, people: int) -> Mechanism:
        """The best mechanism for this many people; for shares unless a kind says otherwise."""
        return plan(domain, epsilon, people, edition=self.edition)

    def first_round(self, domain: D, details: Details, epsilon: float, people: int) -> Mechanism:
        """The mechanism of the first of several rounds, for this many people in it."""
        return self.mechanism(domain, details, epsilon, people)

    def repeated(self, domain: D, details: Details, lifetime: float, once: float, people: int) -> Permanent:
        """The best mechanism that keeps a permanent answer: `lifetime` for all reports ever, `once` for each alone."""
        raise WrongDetail(
            "repeat",
            'Permanent answers are for questions of kind category, ordered, number and set. Use repeat = "windows".',
        )

    def accepts(self, domain: D, details: Details, found: AnyDomain) -> bool:
        """Whether the domain of a mechanism that a file names fits the question: it is the same."""
        return found == domain

    def rounds(self, details: Details) -> int:
        """In how many rounds the question is to be asked, if its lines say so."""
        return 1

    def moves(self, details: Details) -> bool:
        """Whether the mechanism of a later round follows from the results of earlier ones."""
        return False

    def next_round(
        self, details: Details, epsilon: float, people: int, earlier: Sequence[tuple[Mechanism, Tally]]
    ) -> Mechanism:
        """The mechanism of the next round, for so many people, from those of earlier ones and their tallies."""
        return earlier[-1][0]

    def same_people(self, details: Details) -> bool:
        """Whether the same people answer every round; otherwise each person answers one."""
        return False

    def round_of(self, mechanism: Mechanism) -> int | None:
        """The round that a mechanism is for, where the same people answer all rounds; None if it may be any."""
        return None

    def binding(self, mechanism: Mechanism) -> str:
        """What is the same in this round and in those after it, where the same people answer: a device insists on it."""
        return ""

    def has_secrets(self, details: Details) -> bool:
        """Whether reports name somebody, and are counted only from whoever holds that person's secret."""
        return False

    def senders(self, columns: Columns) -> Ints:
        """Whom reports name, where they do."""
        raise InvalidParameter("Reports on this question name nobody.")

    def theorem(self, mechanism: Mechanism) -> Mapping[str, object] | None:
        """What a browser needs of a mechanism that rests on a theorem besides its description; None if it cannot answer."""
        return None

    def promised(self, mechanism: Mechanism, details: Details) -> Sequence[str]:
        """What the statement says about such a question besides, in sentences."""
        return ()

    def sensitive(self, details: Details) -> Sequence[Label]:
        """The sensitive answers, if only some are; the others may then be disclosed."""
        return ()

    # In a terminal and in simulations

    @abstractmethod
    def hint(self, domain: D) -> str:
        """What a person may type."""

    @abstractmethod
    def read(self, domain: D, text: str) -> object:
        """The answer that was typed; raises `OutsideDomain`, never repeating the text."""

    @abstractmethod
    def pretend(self, domain: D, random: np.random.Generator, people: int) -> Answers:
        """Made-up answers of this many people."""

    def describe(self, answer: object) -> str:
        """An answer that the mechanism takes, in words."""
        return repr(answer)

    def encode(self, answers: Answers) -> Answers:
        """The answers as the mechanism takes them, if that is not how people give them."""
        return answers

    # In plans and results

    def error(self, domain: D, mechanism: Mechanism, people: int) -> float:
        """The predicted error, root mean square: of a share, if all answers are equally common."""
        return rms(mechanism.predict(np.full(domain.size, 1 / domain.size), people))

    def explained(self, mechanism: Mechanism, details: Details, people: int) -> Sequence[str]:
        """What a plan says besides, in sentences."""
        return ()

    def estimate(self, mechanism: Mechanism, tally: Tally) -> Any:
        """What is estimated from a tally; `parts` and `more` say what of it is published."""
        return mechanism.estimate(tally)

    def combined(self, rounds: Sequence[tuple[Mechanism, Tally]]) -> Any:
        """The same from the tallies of several rounds, each with its mechanism."""
        return self.estimate(rounds[0][0], sum(tally for _, tally in rounds))  # type: ignore[arg-type]

    def results(self, details: Details, rounds: Sequence[tuple[Mechanism, Tally]]) -> Any:
        """What is published of the tallies of a question with these lines: of one, or of several rounds."""
        return self.estimate(*rounds[0]) if len(rounds) == 1 else self.combined(rounds)

    def parts(self, estimate: Any) -> Sequence[Estimate]:
        """The estimates that are published."""
        return estimate.parts if isinstance(estimate, Published) else [estimate]

    def words(self, estimate: Any, confidence: float) -> Sequence[str]:
        """What stands out, in sentences."""
        return estimate.sentences(confidence) if isinstance(estimate, Published) else ()

    def more(self, domain: D, estimate: Any) -> Figures:
        """Further figures that follow from the estimate, each with its standard error."""
        return {}

    def cleaned(self, domain: D, part: Estimate) -> Floats:
        """The nearest possible values. They have no standard error, and are biased.

        Shares become non-negative and sum to one, since each person gives one answer.
        """
        return norm_sub(part).values if part.measure == "share" else self.within(domain, part.values)

    def within(self, domain: D, means: Floats) -> Floats:
        """Means clipped to the range of the answers."""
        low, high = self.range(domain)
        return np.clip(means, low, high)

    def range(self, domain: D) -> tuple[float, float]:
        """The smallest and the largest answer, where answers are numbers."""
        low, high = domain.labels[0], domain.labels[-1]
        assert isinstance(low, int | float) and isinstance(high, int | float)
        return low, high


def permanent(
    domain: Any, details: Details, lifetime: float, once: float, people: int, edition: int | None = None
) -> Permanent:
    """The best permanent answer to a question with a list of answers, among those whose reports do not name the person."""
    for key in ("sensitive", "target"):
        if details.get(key) not in (None, "mean"):
            raise WrongDetail(key, f'A permanent answer cannot have {key}. Leave it out, or use repeat = "windows".')
    return planned(repeated_options(domain, lifetime, once, people, candidates=UNLINKABLE, edition=edition))


def rms(estimate: Estimate) -> float:
    """The root mean square of the standard errors."""
    return float(np.sqrt(np.mean(estimate.standard_error**2)))


def mean_of(points: Floats, estimate: Estimate) -> Figures:
    """The mean and its standard error from the shares of these points; an upper bound if covariances are unknown."""
    if estimate.covary is not None:
        error = math.sqrt(max(float(points @ estimate.covariance() @ points), 0.0))
    else:
        error = float(np.abs(points) @ estimate.standard_error)
    return {"mean": (float(points @ estimate.values), error)}


def need_numbers(details: Details, kind: str, *keys: str) -> None:
    """Refuse a question that lacks one of these numbers."""
    for key in keys:
        if isinstance(details.get(key), bool) or not isinstance(details.get(key), int | float):
            raise WrongDetail(key, f'A question of kind "{kind}" needs {key}, a number, such as {key} = {_EXAMPLES[key]}.')


_EXAMPLES = {"low": 0, "high": 10, "dimensions": 8}
