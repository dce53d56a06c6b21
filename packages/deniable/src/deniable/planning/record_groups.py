"""Which answers of a record to report together: the groups with the smallest error of the shares of all attributes."""

import math
from collections.abc import Sequence

import numpy as np

from deniable.arrays import Floats
from deniable.core import LARGEST_DOMAIN, PureProtocol
from deniable.domains import Vectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.agreement import best_agreeing, record_errors
from deniable.mechanisms.algebra.group_design import best_shares, error, whole_weights
from deniable.wrappers.one_drawn import Part, drawn_error
from deniable.wrappers.one_group import MOST_SLOTS, OneGroup, grouped, known_by
from deniable.wrappers.record_mechanism import RecordMechanism
from deniable.wrappers.whole_record import WholeRecord, most_similar

LONGEST = 16  # attributes of a group
MOST_OVERLAPPING = 24  # attributes, of which groups with attributes in common are tried
WORTH = 0.995  # how much smaller their error must be, since reports take more bits and proofs more steps
RARE = 0.02  # of the largest share: groups that are drawn less often are left out

Groups = list[tuple[int, ...]]


def grouped_record(domain: Vectors, epsilon: float, singles: Sequence[PureProtocol]) -> RecordMechanism:
    """The best way to report groups of attributes; `singles` are the mechanisms of attributes that are reported alone.

    Refused where nothing is gained: with a group for each attribute, all drawn equally often.
    """
    errors = _Errors(domain, singles)
    groups = errors.apart()
    if len(singles) <= MOST_OVERLAPPING:
        overlapping = errors.overlapping()
        groups = overlapping if errors.of(overlapping) < WORTH * errors.of(groups) else groups
    if len(groups) == 1 < len(singles):
        return WholeRecord(domain, epsilon)

    def part(group: tuple[int, ...]) -> Part:
        own = grouped(domain, group)
        return WholeRecord(own, epsilon) if isinstance(own, Vectors) else singles[group[0]]

    parts = [part(group) for group in groups]
    weights = whole_weights(known_by(domain, groups, parts), MOST_SLOTS)
    if len(set(weights)) == 1 and all(len(group) == 1 for group in groups):
        raise InvalidParameter(
            "With this budget, groups of one answer are best, drawn equally often, which is 'one answer, whole budget'."
        )
    return OneGroup(domain, epsilon, parts, groups, weights)


class _Errors:
    """The errors of groups of attributes, whose places are in the order of their sizes."""

    def __init__(self, domain: Vectors, singles: Sequence[PureProtocol]) -> None:
        self.sizes = [part.size for part in domain.parts]
        self.alone = [drawn_error(single, size) for single, size in zip(singles, self.sizes, strict=True)]
        self.odds = float(singles[0].odds)
        self.order = sorted(range(len(self.sizes)), key=lambda place: self.sizes[place])

    def is_possible(self, group: Sequence[int]) -> bool:
        """Whether these attributes can be reported together."""
        return len(group) == 1 or math.prod(self.sizes[place] for place in group) <= LARGEST_DOMAIN

    def together(self, group: Sequence[int]) -> list[float]:
        """The sum of the variances of each attribute from one report on all of them, and who was drawn."""
        if len(group) == 1:
            return [self.alone[group[0]]]
        sizes = tuple(self.sizes[place] for place in group)
        return record_errors(sizes, best_agreeing(sizes, self.odds, most_similar(sizes)), self.odds)

    def known(self, groups: Sequence[Sequence[int]]) -> Floats:
        """What one report of each group says about each attribute."""
        known = np.zeros((len(groups), len(self.sizes)))
        for row, group in zip(known, groups, strict=True):
            row[list(group)] = 1 / np.array(self.together(group))
        return known

    def of(self, groups: Groups) -> float:
        """The error of all attributes, if groups are drawn as often as is best; infinite if one is in none of them."""
        known = self.known(groups)
        return error(known, best_shares(known)) if known.sum(axis=0).all() else math.inf

    def apart(self) -> Groups:
        """The best groups without a common attribute, of all that put attributes together in the order of their sizes.

        If groups with the errors v of one report are drawn as often as is best, all errors together are (sum of the roots of
        v)^2. So the sum of the roots is to be small, and the best groups of the first attributes are the best ones of fewer
        attributes, and one more.
        """
        best: list[tuple[float, Groups]] = [(0.0, [])]
        for end in range(1, len(self.order) + 1):
            found = []
            for start in range(max(0, end - LONGEST), end):
                group = tuple(sorted(self.order[start:end]))
                if self.is_possible(group):
                    before, groups = best[start]
                    found.append((before + math.sqrt(sum(self.together(group))), [*groups, group]))
            best.append(min(found, key=lambda each: each[0]))
        return best[-1][1]

    def overlapping(self) -> Groups:
        """The best groups of attributes that follow each other in the order of their sizes, the first after the last."""
        count = len(self.order)
        wrapped = [*self.order, *self.order]
        runs = (
            tuple(sorted(wrapped[start : start + k])) for k in range(1, min(count, LONGEST) + 1) for start in range(count)
        )
        groups = [group for group in dict.fromkeys(runs) if self.is_possible(group)]
        shares = best_shares(self.known(groups))
        return [group for group, share in zip(groups, shares, strict=True) if share > RARE * shares.max()]
