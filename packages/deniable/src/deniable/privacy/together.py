"""The loss of several reports of one person that one program makes: which of them share a draw or an answer, and which not.

Reports that share neither are independent, whatever the answers are: the probability of them all is the product of their
own, and so are the odds. This is read off the graph. Reports that do share something are proved together, as one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deniable.core import DRAWS, Program
from deniable.errors import NotCertifiable
from deniable.privacy.bounds import Bound
from deniable.privacy.problem import Problem, linked
from deniable.privacy.rules import proved


@dataclass(frozen=True)
class Group:
    """Reports that are independent of all others, by name, and the part of the program that makes them."""

    names: tuple[str, ...]
    program: Program

    def bound(self) -> Bound:
        """Their loss by the rules; refused where no rule reaches them."""
        found = proved(Problem.of(self.program))
        if found is None:
            raise NotCertifiable(f"Not proved at this size: no rule of proof covers the law of {', '.join(self.names)}.")
        return found


def independent(program: Program, reports: Mapping[str, Sequence[str]]) -> list[Group]:
    """The reports, each with the names of its fields, in groups that share no draw and no code."""
    named = [field for fields in reports.values() for field in fields]
    if sorted(named) != sorted(name for name, _ in program.report):
        raise NotCertifiable("The program reports fields that differ from those of its questions.")
    at = dict(program.report)
    sources = {*DRAWS, "code"}
    made_of = {
        name: [place for place in program.upstream([at[field] for field in fields]) if program.nodes[place].op in sources]
        for name, fields in reports.items()
    }
    groups = linked(made_of.items())
    return [Group(tuple(names), program.part([f for name in names for f in reports[name]])) for names in groups]
