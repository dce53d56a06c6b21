"""Questions that are reported together: people answer them one by one, and a device reports the combination."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from deniable.analysis.plan import rms, table_errors
from deniable.core import Answers, Domain, Mechanism
from deniable.domains import Product, Vectors
from deniable.errors import InvalidParameter
from deniable.planning.shares import plan_shares
from deniable.survey.kinds.kind import Details, Kind
from deniable.survey.question import Asked, Question
from deniable.wrappers.one_pair import OnePair

KIND = "together"


class Together(Kind[Domain]):
    """How combinations are planned and described; people never give one, so there is nothing to ask or to type."""

    keys = frozenset()

    def __init__(self, tables: Sequence[Sequence[int]], edition: int) -> None:
        self._tables, self.edition = tables, edition

    def domain(self, details: Details) -> Domain:
        raise _alone()

    def hint(self, domain: Domain) -> str:
        raise _alone()

    def read(self, domain: Domain, text: str) -> object:
        raise _alone()

    def pretend(self, domain: Domain, random: np.random.Generator, people: int) -> Answers:
        raise _alone()

    def mechanism(self, domain: Domain, details: Details, epsilon: float, people: int) -> Mechanism:
        if isinstance(domain, Product):
            return compound(domain, epsilon, people, self.edition)
        return OnePair(cast(Vectors, domain), epsilon)

    def describe(self, answer: object) -> str:
        return ", ".join(map(repr, cast(Sequence[object], answer)))

    def error(self, domain: Domain, mechanism: Mechanism, people: int) -> float:
        """The error of a cell of the tables that are wanted, root mean square."""
        return rms(table_errors(mechanism, self._tables, people))


def _alone() -> InvalidParameter:
    return InvalidParameter("Questions that are reported together are answered one by one. Use the members of the group.")


def compound(domain: Product, epsilon: float, people: int, edition: int) -> Mechanism:
    """The best mechanism for the shares of all combinations."""
    return plan_shares(domain, epsilon, people, edition=edition)


@dataclass(frozen=True, eq=False)
class Group(Question):
    """Several questions with one mechanism, over the combinations of their answers or over pairs of them.

    `tables` are those that it is for, as places of its members.
    """

    together: tuple[Asked, ...]
    tables: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, members: Sequence[Asked], mechanism: Mechanism, tables: Sequence[tuple[int, ...]]) -> "Group":
        """The group of these questions."""
        ask = " ".join(each.ask for each in members)
        weight = sum(each.weight for each in members)
        name, edition = name_of([each.id for each in members]), members[0].edition
        return cls(name, ask, KIND, {}, weight, mechanism, tuple(members), tuple(tables), edition=edition)

    @property
    def how(self) -> Kind[Any]:
        return Together(self.tables, self.edition)

    @property
    def members(self) -> Sequence[Asked]:
        return self.together

    def gathered(self, columns: Sequence[Answers]) -> Answers:
        return list(zip(*columns, strict=True))

    def spec(self) -> dict[str, object]:
        members = [each.contract() for each in self.together]
        return {"id": self.id, "kind": KIND, "questions": members, "mechanism": self.mechanism.spec()}


def name_of(ids: Sequence[str]) -> str:
    """The id of questions that are reported together. No question can have it: a plus is not allowed there.

    >>> name_of(["smokes", "age"]), name_of(["a", "b", "c", "d", "e"])
    ('smokes+age', 'a+4')
    """
    return "+".join(ids) if len(ids) <= 3 else f"{ids[0]}+{len(ids) - 1}"
