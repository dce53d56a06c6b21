"""One question of a survey, with the mechanism that randomizes its answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable.core import Answers, Label, Layout, Mechanism
from deniable.errors import OutsideDomain
from deniable.survey.kinds.choice import NO_ANSWER
from deniable.survey.kinds.kind import Kind
from deniable.survey.kinds.registry import kind_named


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked, what kind of answer it takes, its weight in the budget, and how answers are randomized."""

    id: str
    ask: str
    kind: str
    details: Mapping[str, Any]
    weight: float
    mechanism: Mechanism

    @property
    def how(self) -> Kind[Any]:
        """How questions of this kind are made and asked."""
        return kind_named(self.kind)

    @property
    def sensitive(self) -> Sequence[Label]:
        """The sensitive answers, if only some are; the others may be disclosed."""
        return self.how.sensitive(self.details)

    @property
    def optional(self) -> bool:
        """Whether a person may skip it; skipping is then one of the answers and is randomized like them."""
        return bool(self.details.get("optional", False))

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

    def answers(self, values: Answers) -> Answers:
        """The answers as the mechanism takes them: skipping becomes an answer, where it is allowed."""
        if any(value is None for value in values):
            if not self.optional:
                raise OutsideDomain(
                    f"Question {self.id!r} was not answered. Answer it, or let people skip it: optional = true."
                )
            return [NO_ANSWER if value is None else value for value in values]
        return self.how.encode(values)

    def contract(self) -> dict[str, object]:
        """What a person is asked, as plain data."""
        return {"id": self.id, "ask": self.ask, "kind": self.kind, "weight": self.weight, **self.details}

    def spec(self) -> dict[str, object]:
        """The same, with the law of its reports."""
        return {**self.contract(), "mechanism": self.mechanism.spec()}
