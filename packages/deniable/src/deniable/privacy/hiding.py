"""How a report is hidden among others with which it is shuffled: what all laws of a mechanism have in common.

Take two values x and x' of one person. Suppose that every law R(z) has b in it: b(y) <= R(y | z) for all reports y and
values z. Let it be known which of the n reports are not drawn from b, and what they are. Then (Balle, Bell, Gascon, Nissim
2019)

    delta = E [ max(0, L_1 + ... + L_n) ] / n,     L = (R(y | x) - e^epsilon R(y | x')) / b(y) with probability b(y), else 0

holds for n shuffled reports, whatever the values of the others. Three such b are tried, and the best is taken.

The **blanket**, the largest: b(y) = min R(y | z) over all values z. In a pure protocol L has four values only: for reports
that support x alone, x' alone, both, or neither.

**Clones** (Feldman, McMillan, Talwar 2021), which need to know less of the channel. With p the largest ratio between R(x)
and R(x'), and beta half the sum of |R(x) - R(x')|, let A and B be the positive and the negative part of R(x) - R(x'), each
divided by beta, and alpha = beta / (p - 1). Then, for some further law C and c = 1 - (p + 1) alpha,

    R(x) = p alpha A + alpha B + c C        R(x') = alpha A + p alpha B + c C

since R(x) <= p R(x') and R(x') <= p R(x) (the parameters of Wang et al. 2024). If every law has at least r (A + B) in it,
b = r (A + B) will do; that the person's own report came from C must be known here. Hiding it gives a smaller number that is
not always an upper bound (two people, three values, direct response with epsilon 1, at epsilon 0.8: 0.027 for a true 0.060).

**Merged clones**, for any channel with these odds: all of C goes into A and B, and alpha = r = 1 / (p + 1).

From below: if all others have the value z, b = R(z) may be taken, and the same formula is then no bound but the truth.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.core import Mechanism, PureProtocol
from deniable.errors import InvalidParameter, NotCertifiable
from deniable.privacy.law import law
from deniable.privacy.positive_part import Atom

LAW_LIMIT = 1 << 16
MOST_COMPARED = 1 << 21  # values times values times reports, where the whole channel is listed
MOST_PAIRS = 16  # of values, for which the loss is also bounded from below
Table = Sequence[Sequence[Fraction]]  # a row for each value, a column for each report


@dataclass(frozen=True)
class Clones:
    """How a channel hides a person among others: odds p, and the probabilities alpha and r of the module's text."""

    odds: Fraction
    alpha: Fraction
    r: Fraction

    def __post_init__(self) -> None:
        if not (self.odds > 1 and self.alpha > 0 and (self.odds + 1) * self.alpha <= 1 and 0 < 2 * self.r <= 1):
            raise InvalidParameter("Clones need odds above 1, alpha from 0 to 1 / (odds + 1) and r from 0 to 1/2.")

    @property
    def merged(self) -> "Clones":
        """What holds for any channel with these odds: each law is at least (R(x) + R(x')) / (odds + 1)."""
        return Clones(self.odds, 1 / (self.odds + 1), 1 / (self.odds + 1))

    @property
    def atoms(self) -> list[Atom]:
        """Reports from A, and from B: their probability, and how often they are that under x and x'."""
        less = self.alpha / self.r
        return [(self.r, self.odds * less, less), (self.r, less, self.odds * less)]


@dataclass(frozen=True)
class Blanket:
    """What all reports of a pure protocol have in common: how much of it supports x alone, both x and x', or neither."""

    odds: Fraction
    alone: Fraction  # and as much supports x' alone
    both: Fraction
    neither: Fraction

    @classmethod
    def of(cls, mechanism: PureProtocol, odds: Fraction) -> "Blanket":
        """From p and q: a report that supports x and not x' has probability (p - q) odds / (odds - 1) under x."""
        alone = (mechanism.p - mechanism.q) / (odds - 1)
        return cls(odds, alone, (mechanism.p - alone * odds) / odds, 1 - mechanism.p - alone)

    @property
    def atoms(self) -> list[Atom]:
        one, odds = Fraction(1), self.odds
        return [(self.alone, odds, one), (self.alone, one, odds), (self.both, odds, odds), (self.neither, one, one)]

    def attained(self, values: int) -> list[list[Atom]]:
        """Where all others have the value x, and where all have a third one, if reports support one value at most."""
        one, odds = Fraction(1), self.odds
        rest = self.both * odds + self.neither
        found = [[(self.alone * odds, one, 1 / odds), (self.alone, one, odds), (rest, one, one)]]
        if not self.both and values > 2:
            third = self.alone * odds
            rest = 1 - 2 * self.alone - third
            found.append([(self.alone, odds, one), (self.alone, one, odds), (third, 1 / odds, 1 / odds), (rest, one, one)])
        return found


@dataclass(frozen=True)
class Common:
    """What all laws of a channel that can be listed have in common, or the law of one value that all others have."""

    atoms: tuple[Atom, ...]

    @classmethod
    def of(cls, table: Table, first: int, second: int, common: Iterable[Fraction]) -> "Common":
        """Of two rows, with `common` in all rows."""
        columns = zip(table[first], table[second], common, strict=True)
        return cls.together(((a / share, b / share), share) for a, b, share in columns if share)

    @classmethod
    def together(cls, shares: Iterable[tuple[tuple[Fraction, Fraction], Fraction]]) -> "Common":
        """With one atom for all that have the same u and v."""
        found: dict[tuple[Fraction, Fraction], Fraction] = defaultdict(Fraction)
        for ends, share in shares:
            found[ends] += share
        return cls(tuple(sorted((share, *ends) for ends, share in found.items() if share)))


Hidden = Clones | Blanket | Common


def bounds(mechanism: Mechanism) -> tuple[list[list[Hidden]], str]:
    """The ways in which each pair of values is hidden, and whether they come from the exact channel or from its odds."""
    odds = mechanism.loss().odds
    if odds is None or mechanism.protected is not None:
        raise InvalidParameter(
            "Shuffling hides a report among others that could have been the same. This mechanism "
            "discloses some answers, so shuffling gives no guarantee for it."
        )
    if odds == 1:
        raise InvalidParameter("Reports of this mechanism do not depend on the answer, so there is nothing to amplify.")
    if isinstance(mechanism, PureProtocol):
        # Reports that support x and not x' are `odds` times as likely under x, all others equally likely. So
        # p - q = beta, and no value makes any of them less likely than x' does.
        alpha = (mechanism.p - mechanism.q) / (odds - 1)
        hidden = Clones(odds, alpha, alpha)
        return [[Blanket.of(mechanism, odds), hidden.merged, hidden]], "exact channel"
    table = listed_channel(mechanism)
    if table:
        return [[common, clones.merged, clones] for clones, common, _ in ways(table)], "exact channel"
    return [[Clones(odds, 1 / (odds + 1), 1 / (odds + 1))]], "odds alone"


def attained(mechanism: Mechanism) -> list[Sequence[Atom]]:
    """Values of one person and of all others for which delta can be worked out exactly; none if the law is too large."""
    odds = mechanism.loss().odds
    if odds is not None and isinstance(mechanism, PureProtocol):
        blanket = Blanket.of(mechanism, odds)
        third = listed_channel(mechanism) if blanket.both and 2 < mechanism.domain.size <= MOST_PAIRS else []
        others = [Common.of(third, 0, 1, third[2]).atoms] if third else []  # all pairs and third values are alike
        return [*blanket.attained(mechanism.domain.size), *others]
    table = listed_channel(mechanism)
    pairs = [pair for *_, pair in ways(table)][:MOST_PAIRS]
    found = {Common.of(table, *pair, others) for pair in pairs for others in table[:MOST_PAIRS]}
    return [each.atoms for each in sorted(found, key=lambda each: each.atoms)]


def listed_channel(mechanism: Mechanism) -> Table:
    """The whole channel, if it is small; otherwise nothing."""
    size = mechanism.domain.size
    if size * size > LAW_LIMIT:
        return []
    try:
        laws = [dict(law(mechanism, index, LAW_LIMIT // size).items()) for index in range(size)]
    except NotCertifiable:
        return []
    reports = sorted(set().union(*laws))
    if size * size * len(reports) > MOST_COMPARED:
        return []
    return [[each.get(report, Fraction(0)) for report in reports] for each in laws]


def ways(table: Table) -> list[tuple[Clones, Common, tuple[int, int]]]:
    """All different ways in which two values are hidden: by clones, by the blanket; and two such values."""
    least = [min(column) for column in zip(*table, strict=True)]
    found: dict[tuple[Clones, Common], tuple[int, int]] = {}
    for first in range(len(table)):
        for second in range(len(table)):
            pairs = [(a, b) for a, b in zip(table[first], table[second], strict=True) if a or b]
            odds = max(max(a / b, b / a) for a, b in pairs)
            if odds == 1:
                continue
            beta = sum((max(a - b, Fraction(0)) for a, b in pairs), Fraction(0))
            share = min(
                low * beta / abs(a - b) for a, b, low in zip(table[first], table[second], least, strict=True) if a != b
            )
            clones = Clones(odds, beta / (odds - 1), min(share, Fraction(1, 2)))
            found.setdefault((clones, Common.of(table, first, second, least)), (first, second))
    return [(clones, common, pair) for (clones, common), pair in sorted(found.items(), key=lambda each: each[1])]
