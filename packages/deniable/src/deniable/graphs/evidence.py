"""What the reports themselves say about the error of a count, where noisy numbers of neighbours say too little.

The numbers of neighbours foresee both parts of the variance, and reports correct them. How far the counts of single people
are from each other shows how much noise they have: more than that cannot be, and where no triangles are found it is that.
And the answers about the first people add up to their degrees, and have an unbiased estimate of how many others are joined
to two of them, whatever the graph is.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from deniable.arrays import Bools, Floats
from deniable.graphs.honest import HonestCount
from deniable.graphs.outlook import Counting, Outlook
from deniable.graphs.plan import Plan, Tier

FIRST, ANSWERS = 128, 1 << 21  # people whose answers are looked at, and no more than so many answers
PRECISE = 2.0  # times as far off as noisy numbers of neighbours: sums of answers that still say something
NEAR = 40  # people next to each other in the order who find about as many triangles
FORESEEN = 0.25  # relative doubt of a foreseen variance of noise
STRUCTURE = 0.5  # relative doubt of foreseen shared pairs, in graphs with other structure than their degrees have
ALARM = 2.0  # standard errors
TOGETHER = 1.5  # pairs of one person vary together


def looked_at(people: int) -> int:
    """How many of the first people's answers are looked at."""
    return min(FIRST, people, ANSWERS // max(people, 1))


@dataclass(frozen=True, eq=False)
class Evidence:
    """All counts in the order of the people, none where somebody is missing; rows of answers of the first people."""

    counts: Floats
    answers: Bools

    @property
    def raw(self) -> float:
        """The sum of all counts."""
        return float(np.nansum(self.counts))

    def triangles(self, plan: Plan, outlook: Outlook) -> HonestCount:
        """The number of triangles, with a standard error from public numbers only."""
        outlook = self.seen_again(plan, outlook)
        surely = max(self.raw - math.sqrt(plan.variance(outlook)), 0.0)  # triangles that are not just noise
        squares, closed, total = self.squares(plan, outlook.shared_given(surely)), outlook.closed(surely), 0.0
        for tier, answer, start, stop in plan.parts(outlook.people):
            counting = outlook.counting(answer, start, stop, closed)
            found = noise_found(self.counts[start:stop], tier, counting)
            scale = found if found < 1 or not surely else 1.0
            total += answer.noise * float(squares[start:stop].sum()) + scale * counting.variance(tier.noise)
        return HonestCount(self.raw, math.sqrt(total), math.comb(outlook.people, 3), "triangles")

    def seen_again(self, plan: Plan, outlook: Outlook) -> Outlook:
        """The outlook with the degrees that the answers of the first people add up to, where these are precise enough."""
        hubs = min(plan.hubs, outlook.people)
        variance = hubs * plan.plain.noise + (outlook.people - hubs) * plan.lists.coordinate.noise
        if not len(self.answers) or math.sqrt(variance) > PRECISE * 2 * outlook.noisy_count.deviation:
            return outlook
        return replace(outlook, sums=self.unbiased(plan).sum(axis=1), deviation=math.sqrt(variance))

    def squares(self, plan: Plan, foreseen: Floats) -> Floats:
        """The foreseen shared pairs of each person, raised where the answers show clearly more of them.

        Foreseen ones count as known to within `STRUCTURE`; of what is found beyond, a part is believed, by its precision.
        """
        first = len(self.answers)
        expected, found, variance = foreseen[1:first], *shared_seen(self.unbiased(plan), foreseen)
        known = variance > 0
        precision = float((expected[known] ** 2 / variance[known]).sum())
        if precision <= 0:
            return foreseen
        beyond = float((expected[known] / variance[known]) @ (found - expected)[known]) / precision
        if beyond * math.sqrt(precision) <= ALARM:
            return foreseen
        raised = foreseen.copy()
        raised[:first] *= 1 + beyond * STRUCTURE**2 / (STRUCTURE**2 + 1 / precision)
        return raised

    def unbiased(self, plan: Plan) -> Floats:
        """The unbiased answers of the first people about everybody; nobody is joined to themselves."""
        first, people = self.answers.shape
        inside = (np.arange(first) < plan.hubs)[:, None] & (np.arange(people) < plan.hubs)
        q = np.where(inside, float(plan.plain.q), float(plan.lists.coordinate.q))
        out = (self.answers - q) / (1 - 2 * q)
        out[np.arange(first), np.arange(first)] = 0.0
        return np.asarray(out)


def shared_seen(y: Floats, foreseen: Floats) -> tuple[Floats, Floats]:
    """For each of the first people but one: an unbiased estimate of the sum of c^2 with those above, and its variance.

    c is the sum of z = a b over the people below, a and b being whether they are joined to the two. With unbiased answers in
    place of a and b, the sum of z has mean c, and the sum of z^2 - z has the variance of that as its mean.
    """
    found, variance = np.zeros(max(len(y) - 1, 0)), np.zeros(max(len(y) - 1, 0))
    products, squares = _over_people_below(y), _over_people_below(y**2)
    for lower in range(1, min(len(y), y.shape[1] - 1)):  # nobody is below the last one
        shared = products[lower, :lower]
        doubt = squares[lower, :lower] - shared
        found[lower - 1] = float((shared**2 - doubt).sum())
        variance[lower - 1] = TOGETHER * float(2 * (doubt**2).sum() + 4 * np.abs(doubt).mean() * foreseen[lower])
    return found, variance


def _over_people_below(y: Floats) -> Floats:
    """For each two of the first people the sum of the products of their numbers, over everybody below the one of the row."""
    first = y[:, : len(y)]
    return np.asarray(y @ y.T - np.tril(first) @ first.T)


def noise_found(counts: Floats, tier: Tier, counting: Counting) -> float:
    """The variance of the noise in these counts over what was foreseen, each believed by its precision.

    Sizes of departures from people nearby are added up, not squares, of which a few large ones would be most.
    """
    present = counts[~np.isnan(counts)]
    (wide, square), law = counting.sums(tier.noise), tier.noise
    if len(present) < NEAR or wide <= 0:
        return 1.0
    near = np.array_split(present, len(present) // NEAR)
    departure = sum(float(np.abs(part - np.median(part)).sum()) for part in near) * len(counts) / len(present)
    ratio = (departure / (law.size * wide)) ** 2
    doubt = 4 * square / wide**2 * ((law.deviation / law.size) ** 2 - 1)  # relative variance of the square of a sum
    return float(max(ratio, 1e-9) ** (FORESEEN**2 / (FORESEEN**2 + doubt)))
