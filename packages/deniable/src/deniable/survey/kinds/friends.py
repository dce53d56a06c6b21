"""Whom people know among the members of a list: how many friendships and triangles there are, in three rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Answers, Columns, Estimate, Mechanism, Tally
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.planning.ranking import counted
from deniable.survey.kinds.kind import Details, Kind, Published, WrongDetail

if TYPE_CHECKING:
    from deniable.domains.members import Members
    from deniable.graphs.friends import Friends as FriendsRound
    from deniable.graphs.honest import HonestCount

TYPICAL = 12  # friends of a made-up person
COUNT = "count"  # the measure of what is counted
SECRET, OPEN = "secret", "open"  # who may report for a member
CHECKED = "Reports in your name are counted only from whoever has your link. Keep it to yourself."
UNCHECKED = (
    "Nobody checks who sends a report: somebody else could report in your name. What is sent twice in it is not counted."
)


class Friends(Kind["Members"]):
    """Who I am and whom I know, as numbers of members, or as their names.

    `members` is how many there are, or the list of their names, or of hashes of names (`Members.hashed`). With `reporters`
    "secret", a report is counted only from the member that it names.
    """

    keys = frozenset({"members", "alpha", "protects", "reporters"})
    unit = "whether you know any one person"
    fixed_rounds = 3

    def domain(self, details: Details) -> "Members":
        from deniable.domains.members import Members  # which few surveys need

        if details.get("protects") != "friendship":
            raise WrongDetail(
                "protects",
                'A question of kind "friends" protects each friendship, not whether somebody has many. To confirm this, add '
                'protects = "friendship".',
            )
        if details.get("reporters", OPEN) not in (SECRET, OPEN):
            raise WrongDetail(
                "reporters",
                f'reporters must be "{SECRET}", so that each member has a link of their own (deniable invite members), or '
                f'"{OPEN}", the default: then anybody can report in the name of any member.',
            )
        members = details.get("members")
        try:
            return Members(len(members), members) if isinstance(members, list) else Members(members)  # type: ignore[arg-type]
        except (InvalidParameter, TypeError) as error:
            raise WrongDetail("members", f"members must be their number, or a list of names. {error}") from None

    def mechanism(self, domain: "Members", details: Details, epsilon: float, people: int) -> Mechanism:
        from deniable.graphs.friends import Friends as FriendsRound

        try:
            return FriendsRound(domain, epsilon, details.get("alpha", 1.5))
        except (InvalidParameter, TypeError) as error:
            raise WrongDetail("alpha" if "alpha" in details else "kind", str(error)) from None

    def moves(self, details: Details) -> bool:
        return True

    def same_people(self, details: Details) -> bool:
        return True

    def next_round(
        self, details: Details, epsilon: float, people: int, earlier: Sequence[tuple[Mechanism, Tally]]
    ) -> Mechanism:
        last, tally = earlier[-1]
        return _round(last).next(tally)

    def round_of(self, mechanism: Mechanism) -> int:
        return _round(mechanism).round

    def binding(self, mechanism: Mechanism) -> str:
        """The order of the members and the division of the budget are the same in rounds 2 and 3."""
        return _round(mechanism).rounds_fingerprint if _round(mechanism).round > 1 else ""

    def theorem(self, mechanism: Mechanism) -> Mapping[str, object]:
        """How lists are coded: only numbers on which no privacy rests, since browsers work out all others themselves."""
        return _round(mechanism).code_terms()

    def has_secrets(self, details: Details) -> bool:
        return details.get("reporters") == SECRET

    def senders(self, columns: Columns) -> Ints:
        return np.asarray(columns["key" if "key" in columns else "member"], np.int64)

    def promised(self, mechanism: Mechanism, details: Details) -> Sequence[str]:
        from deniable.graphs.plan import promise

        named = "Your reports say which member of the list you are; that is not hidden."
        return [promise(mechanism.epsilon), named, CHECKED if self.has_secrets(details) else UNCHECKED]

    def hint(self, domain: "Members") -> str:
        named = "your name" if domain.names else "your number"
        return f"{named}, a colon, and those of the people you know, separated by commas; you are asked again in each round"

    def read(self, domain: "Members", text: str) -> object:
        me, colon, others = text.partition(":")
        if not colon:
            raise OutsideDomain("Type who you are, a colon, and whom you know, such as 3: 14, 15")
        parts = [part.strip() for part in others.split(",") if part.strip()]
        try:
            given = [me.strip(), *parts] if domain.names else [int(part) for part in (me, *parts)]
        except ValueError:
            raise OutsideDomain("Type the numbers of members, such as 3: 14, 15") from None
        return {"me": given[0], "knows": given[1:]}

    def pretend(self, domain: "Members", random: np.random.Generator, people: int) -> Answers:
        """The first members, in groups in which many know each other."""
        size = min(people, domain.size)
        pairs, group = set[tuple[int, int]](), 2 * TYPICAL
        for start in range(0, size, group):
            inside = np.arange(start, min(start + group, size))
            first, second = np.nonzero(np.triu(random.random((len(inside), len(inside))) < TYPICAL / group, 1))
            pairs |= set(zip(inside[first].tolist(), inside[second].tolist(), strict=True))
        return friendships(pairs, size)

    def describe(self, answer: object) -> str:
        knows = answer.get("knows") if isinstance(answer, Mapping) else None
        return "a list of friends" if not isinstance(knows, list) else f"knowing {counted(len(knows), 'person', 'people')}"

    def error(self, domain: "Members", mechanism: Mechanism, people: int) -> float:
        """Of the number of friendships: that of triangles depends on how many there are."""
        people = min(people, domain.size)
        return float(mechanism.predict(np.zeros(1), people).standard_error[0])

    def estimate(self, mechanism: Mechanism, tally: Tally) -> "FriendsFound":
        return self.combined([(mechanism, tally)])

    def combined(self, rounds: Sequence[tuple[Mechanism, Tally]]) -> "FriendsFound":
        found = {_round(mechanism).round: (_round(mechanism), tally) for mechanism, tally in rounds}
        counts = [found[1][0].edges(found[1][1])] if 1 in found else []
        counts += [found[3][0].triangles(found[3][1])] if 3 in found else []
        return FriendsFound(tuple(counts), tuple(tally.n for _, tally in found.values()))

    def cleaned(self, domain: Any, part: Estimate) -> Floats:
        """They are possible already."""
        return part.values


def friendships(pairs: Any, size: int) -> Answers:
    """The answer of each of the first members, given all pairs of those who know each other."""
    lists: list[list[int]] = [[] for _ in range(size)]
    for first, second in pairs:
        lists[first].append(second)
        lists[second].append(first)
    return [{"me": number, "knows": knows} for number, knows in enumerate(lists)]


def _round(mechanism: Mechanism) -> "FriendsRound":
    from deniable.graphs.friends import Friends as FriendsRound

    if not isinstance(mechanism, FriendsRound):
        raise InvalidParameter("A question about friends has a mechanism of its own: friends-1.")
    return mechanism


@dataclass(frozen=True, eq=False)
class FriendsFound(Published):
    """What was counted so far, and how many people answered each round."""

    counts: tuple["HonestCount", ...]
    people: tuple[int, ...]

    @property
    def parts(self) -> Sequence[Estimate]:
        """The counts that are clear; of the others only a sentence is published."""
        return [_Count.of(each, self.people[0]) for each in self.counts if each.clear]

    def sentences(self, confidence: float) -> list[str]:
        """Each count in words, and who answered."""
        said = [each.sentence(confidence) for each in self.counts]
        rounds = ", ".join(f"{people:,} in round {number}" for number, people in enumerate(self.people, 1))
        missing = "" if len(self.people) == Friends.fixed_rounds else " Triangles are counted in round 3."
        return [*(f"{each[0].upper()}{each[1:]}." for each in said), f"Reports: {rounds}.{missing}"]


@dataclass(frozen=True, eq=False)
class _Count(Estimate):
    """A count whose interval holds nothing impossible."""

    counted: "HonestCount | None" = field(default=None, repr=False)

    @classmethod
    def of(cls, counted: "HonestCount", people: int) -> "_Count":
        values, variance = np.array([counted.value]), np.array([counted.standard_error**2])
        return cls([counted.what], values, variance, people, measure=COUNT, counted=counted)

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        """The ends of the interval."""
        assert self.counted is not None
        low, high = self.counted.interval(confidence)
        return np.array([low]), np.array([high])
