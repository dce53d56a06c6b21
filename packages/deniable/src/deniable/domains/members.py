"""Lists of friends: which members of a known list a person knows, and which member that person is."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Ints
from deniable.core import Answers, Domain
from deniable.errors import InvalidParameter, OutsideDomain

MOST_MEMBERS = 1 << 20
HASH = 16  # hexadecimal digits of a hashed name


@dataclass(frozen=True, eq=False)
class Friendships:
    """A batch of lists: person i is the member me[i], and knows others[offsets[i]:offsets[i + 1]], in order."""

    me: Ints
    offsets: Ints
    others: Ints

    def __len__(self) -> int:
        return len(self.me)


@dataclass(frozen=True)
class Members(Domain[Mapping[str, object], Friendships]):
    """Members 0 to `size` - 1 of a list that everybody knows; with `names`, each has one, or the hash of one.

    An answer says who answers and whom they know: {"me": 3, "knows": [14, 15]}. With names, these may be used instead of
    numbers. A list of hashed names (`Members.hashed`) does not disclose who is on it to those who do not know the names.

    >>> Members(100).index([{"me": 3, "knows": [15, 14]}, {"me": 4, "knows": []}]).others
    array([14, 15])
    >>> Members(3, ("ann", "bob", "eve")).index([{"me": "bob", "knows": ["eve"]}]).others
    array([2])
    """

    members: int
    names: tuple[str, ...]
    kind = "members"

    def __init__(self, size: int, names: Sequence[str] = ()) -> None:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 2 <= size <= MOST_MEMBERS:
            raise InvalidParameter(f"The number of members must be a whole number from 2 to {MOST_MEMBERS:,}.")
        if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
            raise InvalidParameter("The names of members must be a list of texts, none of them empty.")
        if names and (len(names) != size or len(set(names)) != size):
            raise InvalidParameter("Every member needs a name of their own: as many different names as members.")
        self._fix(members=int(size), names=tuple(names))

    @classmethod
    def hashed(cls, names: Sequence[str]) -> "Members":
        """The list with hashes in place of names, sorted, so that neither a name nor the order of the names is in it."""
        return cls(len(names), tuple(sorted(hashed_name(name) for name in names)))

    @property
    def size(self) -> int:
        """How many members there are; lists of them are far too many to be numbered."""
        return self.members

    @property
    def labels(self) -> Sequence[Mapping[str, object]]:  # type: ignore[override]
        """Nothing is estimated for a single member; a person who knows nobody stands for each."""
        return [{"me": number, "knows": []} for number in range(self.size)]

    def answer(self, index: int) -> Mapping[str, object]:
        """The first member without friends, then with one: answers that differ in one or two friendships."""
        return {"me": 0, "knows": [index] if index else []}

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def number(self, member: object) -> int:
        """The number of a member, given by number or by name."""
        if isinstance(member, str) and self.names:
            found = self._numbers.get(member, self._numbers.get(hashed_name(member)))
            if found is not None:
                return found
        elif isinstance(member, int | np.integer) and not isinstance(member, bool) and 0 <= member < self.size:
            return int(member)
        named = "a name of the list" if self.names else f"a number from 0 to {self.size - 1}"
        raise OutsideDomain(f"Somebody is not a member of the list. Give {named}.")

    def index(self, values: Answers) -> Friendships:
        """The batch as flat arrays; refuses who is not on the list. Somebody who is named twice counts once."""
        me, lists = np.empty(len(values), np.int64), list[Ints]()
        for place, value in enumerate(values):
            knows = value.get("knows") if isinstance(value, Mapping) else None
            if (
                not isinstance(value, Mapping)
                or "me" not in value
                or not isinstance(knows, Iterable)
                or isinstance(knows, str)
            ):
                raise OutsideDomain('An answer says who answers and whom they know: {"me": 3, "knows": [14, 15]}.')
            me[place] = self.number(value["me"])
            mine = np.unique(np.array([self.number(each) for each in knows], np.int64))
            if (mine == me[place]).any():
                raise OutsideDomain("Nobody is their own friend. Leave yourself out of the list.")
            lists.append(mine)
        offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
        return Friendships(me, offsets, np.concatenate(lists) if lists else np.empty(0, np.int64))

    def encode(self, values: Answers) -> Sequence[Ints]:
        """As three arrays: who answers, where each list begins and ends, and the lists."""
        found = self.index(values)
        return found.me, found.offsets, found.others

    def place(self, values: Answers, coins: object) -> Friendships:
        return self.index(values)

    def spec(self) -> Mapping[str, object]:
        return {"kind": self.kind, "size": self.size, **({"names": list(self.names)} if self.names else {})}


def hashed_name(name: str) -> str:
    """What stands for a name: letters of either case are the same, and so are spaces around it.

    >>> hashed_name(" Ann@example.org") == hashed_name("ann@example.org")
    True
    """
    return hashlib.sha256(f"deniable member {name.strip().casefold()}".encode()).hexdigest()[:HASH]
