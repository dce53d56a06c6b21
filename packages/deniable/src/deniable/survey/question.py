"""One question of a survey, with the mechanism that randomizes its answers; and questions that are reported together."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core import Answers, AnyDomain, Domain, Label, Layout, Mechanism, Rows
from deniable.core.frames import answers as frame_answers
from deniable.errors import OutsideDomain
from deniable.survey.kinds.choice import NO_ANSWER
from deniable.survey.kinds.kind import Kind
from deniable.survey.kinds.registry import kind_named


@dataclass(frozen=True, eq=False)
class Asked(ABC):
    """What a person is asked: the words, the kind of answer that it takes, and its weight in the budget."""

    id: str
    ask: str
    kind: str
    details: Mapping[str, Any]
    weight: float
    edition: int = field(default=1, kw_only=True)  # of the planner that chose its mechanism

    @property
    @abstractmethod
    def domain(self) -> AnyDomain:
        """The possible answers."""

    @property
    def how(self) -> Kind[Any]:
        """How questions of this kind are made and asked."""
        return kind_named(self.kind, self.edition)

    @property
    def sensitive(self) -> Sequence[Label]:
        """The sensitive answers, if only some are; the others may be disclosed."""
        return self.how.sensitive(self.details)

    @property
    def optional(self) -> bool:
        """Whether a person may skip it; skipping is then one of the answers and is randomized like them."""
        return bool(self.details.get("optional", False))

    def answers(self, values: Answers) -> Answers:
        """The answers as the mechanism takes them: skipping becomes an answer, where it is allowed."""
        if any(value is None for value in values):
            if not self.optional:
                raise OutsideDomain(
                    f"Question {self.id!r} was not answered. Answer it, or let people skip it: optional = true."
                )
            return [NO_ANSWER if value is None else value for value in values]
        return self.how.encode(values)

    def chosen(self, given: Answers | None, places: Sequence[int]) -> Answers:
        """What the people at these places answered, as the mechanism takes it."""
        if given is None:
            return self.answers([None] * len(places))
        if not isinstance(given, list | tuple | np.ndarray | Rows):  # a column of a data frame
            given = frame_answers(given, silence=NO_ANSWER if self.optional else None)
        return self.answers(given if len(places) == len(given) else [given[place] for place in places])

    def contract(self) -> dict[str, object]:
        """What a person is asked, as plain data."""
        return {"id": self.id, "ask": self.ask, "kind": self.kind, "weight": self.weight, **self.details}


@dataclass(frozen=True, eq=False)
class Member(Asked):
    """A question whose answer is reported together with those to others."""

    answers_from: Domain

    @property
    def domain(self) -> Domain:
        return self.answers_from


@dataclass(frozen=True, eq=False)
class Question(Asked):
    """What is asked, what kind of answer it takes, its weight in the budget, and how answers are randomized."""

    mechanism: Mechanism

    @property
    def domain(self) -> AnyDomain:
        return self.mechanism.domain

    @property
    def members(self) -> Sequence[Asked]:
        """The questions that people see: this one, unless several are reported together."""
        return (self,)

    @property
    def bits(self) -> int:
        """The size of one report; of one of variable length, the most."""
        return self.mechanism.layout.bits

    @cached_property
    def _layout(self) -> Layout:
        return self.mechanism.layout

    def section(self, reports: int, body: bytes, start: int) -> int:
        """How many bytes this many reports take that begin there; more than there are, where they are cut off."""
        return self._layout.length(reports, body[start : start + self._layout.prefix])

    def gathered(self, columns: Sequence[Answers]) -> Answers:
        """The answers that the mechanism takes, from those to each of the members."""
        return columns[0]

    def spec(self) -> dict[str, object]:
        """What a person is asked, with the law of the reports."""
        return {**self.contract(), "mechanism": self.mechanism.spec()}
