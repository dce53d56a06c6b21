"""Records: a group of answers, drawn in public, is reported as one compound answer with the whole budget."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Domain, PureProtocol, lookup
from deniable.domains.vectors import Vectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.group_design import whole_weights
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.shares.direct_response import DirectResponse
from deniable.wrappers.attributes import Maker
from deniable.wrappers.one_drawn import OneDrawn, Part, drawn_error, margin_of
from deniable.wrappers.whole_record import WholeRecord

MOST_LISTED = 8  # groups that are named in words
MOST_SLOTS = 1 << 8  # of which a public draw takes one: a proof goes through all of them


@dataclass(frozen=True)
class OneGroup(OneDrawn):
    """A group of answers, drawn at random and in public, is reported with the whole budget.

    Several answers are reported together (`WholeRecord`), a single one by a mechanism for shares. Every attribute is in one
    group or in several, and group g is drawn with probability weights[g] over the sum of all weights. With a group for each
    attribute and equal weights that is `OneAttribute`. The larger the budget is, the larger are the best groups; and
    attributes with many values need more reports. `plan` finds good groups and weights.

    >>> from deniable.domains import Categories
    >>> record = Vectors([Categories(["yes", "no"]), Categories(range(20)), Categories(range(3))])
    >>> made = OneGroup.of(record, 2.0, [[0, 2], [1]])
    >>> made.groups, made.weights
    (((0, 2), (1,)), (1, 2))
    """

    domain: Vectors
    epsilon: float
    parts: Sequence[Part]
    groups: Sequence[Sequence[int]]
    weights: Sequence[int]
    wire = "one-group-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._fix(parts=tuple(self.parts), groups=tuple(map(tuple, self.groups)), weights=tuple(self.weights))
        checked_groups(self.domain, self.groups)
        wanted = [grouped(self.domain, group) for group in self.groups]
        kinds = [WholeRecord if len(group) > 1 else PureProtocol for group in self.groups]
        fits = len(self.parts) == len(kinds) and all(map(isinstance, self.parts, kinds))
        if not fits or [part.domain for part in self.parts] != wanted:
            raise InvalidParameter(
                "Each group needs a mechanism for its attributes: WholeRecord for several, one for shares otherwise. Take "
                "OneGroup.of to make them."
            )
        whole = len(self.weights) == len(self.groups) and all(is_whole(each) and each > 0 for each in self.weights)
        if not whole or sum(self.weights) > MOST_SLOTS:
            raise InvalidParameter(f"Each group needs a weight, a whole number from 1; together at most {MOST_SLOTS}.")
        groups = tuple(tuple(map(int, group)) for group in self.groups)
        self._fix(groups=groups, weights=tuple(map(int, self.weights)))

    @classmethod
    def of(
        cls,
        domain: Vectors,
        epsilon: float,
        groups: Sequence[Sequence[int]],
        make: Maker = DirectResponse,
        weights: Sequence[int] | None = None,
    ) -> "OneGroup":
        """These groups, with the same kind of mechanism for each single attribute; with the best weights unless given."""
        checked_groups(domain, groups)
        owns = [grouped(domain, group) for group in groups]
        parts = [WholeRecord(own, epsilon) if isinstance(own, Vectors) else make(own, epsilon) for own in owns]
        chosen = whole_weights(known_by(domain, groups, parts), MOST_SLOTS) if weights is None else weights
        return cls(domain, epsilon, parts, groups, chosen)

    @property
    def in_words(self) -> str:
        if len(self.groups) > MOST_LISTED:
            lengths = sorted(len(group) for group in self.groups)
            return f"There are {len(lengths)} groups, of {lengths[0]} to {lengths[-1]} answers."
        each = zip(self.groups, self.weights, self.parts, strict=True)
        listed = (f"{numbered(g)} from {w / sum(self.weights):.0%} of the people by {part.wire}" for g, w, part in each)
        return f"The groups are {'; '.join(listed)}."

    @property
    def members(self) -> Sequence[Sequence[int]]:
        return self.groups

    @property
    def drawing(self) -> tuple[str, Sequence[int]]:
        return "slot", np.repeat(np.arange(len(self.weights)), self.weights).tolist()

    def which(self, drawn: Ints) -> Ints:
        return lookup(np.array(self.drawing[1]), drawn)


def checked_groups(domain: Vectors, groups: Sequence[Sequence[int]]) -> None:
    """Refuse groups that do not cover all attributes, a group that names one twice, and a single group."""
    places = {place for group in groups for place in group}
    whole = all(is_whole(place) for place in places) and places == set(range(len(domain.parts)))
    if not whole or len(groups) < 2 or not all(0 < len(set(group)) == len(group) for group in groups):
        raise InvalidParameter(
            f"There must be two or more groups of attributes, by their places from 0 to {len(domain.parts) - 1}, and every "
            "attribute must be in one of them. For a single group, take WholeRecord."
        )


def grouped(domain: Vectors, group: Sequence[int]) -> Domain:
    """What people answer in a group: a record of these attributes, or the answer of a single one."""
    parts = [domain.parts[place] for place in group]
    return parts[0] if len(parts) == 1 else Vectors(parts)


def known_by(domain: Vectors, groups: Sequence[Sequence[int]], parts: Sequence[Part]) -> Floats:
    """What one report of each group says about each attribute: 1 over the sum of the variances of its shares."""
    known = np.zeros((len(groups), len(domain.parts)))
    for row, group, part in zip(known, groups, parts, strict=True):
        for own, place in enumerate(group):
            row[place] = 1 / drawn_error(margin_of(part, own), domain.parts[place].size)
    return known


def numbered(places: Sequence[int]) -> str:
    """Answers by their numbers.

    >>> numbered([0]), numbered([0, 2, 3])
    ('answer 1', 'answers 1, 3 and 4')
    """
    *first, last = [str(place + 1) for place in places]
    return f"answers {', '.join(first)} and {last}" if first else f"answer {last}"
