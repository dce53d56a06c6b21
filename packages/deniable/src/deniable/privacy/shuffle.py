"""The shuffle model: the privacy loss if a trusted party mixes n reports and drops who sent which.

Take two values x and x' of one person, and let w = R(x) - R(x') be the difference of their laws. With p the largest ratio
between the two and beta half the sum of |w|, let A and B be the positive and the negative part of w, each divided by beta,
and alpha = beta / (p - 1). Then, for some further law C and c = 1 - (p + 1) alpha,

    R(x) = p alpha A + alpha B + c C        R(x') = alpha A + p alpha B + c C

since R(x) <= p R(x') and R(x') <= p R(x) (the parameters of Wang et al. 2024). If every law R(y) has at least r (A + B) in
it, each of the n - 1 others sends a sample of A or one of B with probability r each, whatever their values: a clone
(Feldman, McMillan, Talwar 2021). Let all be known but which of the samples from A or B is whose: the reports that are no
clones, and, where it happens, that the person's own came from C. Then with probability (p + 1) alpha two counts are left,

    (a, b) + (1, 0) with probability p / (p + 1), (0, 1) with probability 1 / (p + 1),   under x
    (a, b) + (1, 0) with probability 1 / (p + 1), (0, 1) with probability p / (p + 1),   under x'

with a + b binomial of n - 1 and 2 r, and a binomial of a + b and 1/2; otherwise x and x' look the same. Merging all of C
into A and B gives alpha = r = 1 / (p + 1) for any channel with these odds.

That the person's report came from C must be known here. Hiding it among the counts gives a smaller number that is not always
an upper bound (two people, three values, direct response with epsilon 1, at epsilon 0.8: 0.027 for a true 0.060). It may be
hidden where all reports have something in common: the blanket b(y) = min R(y | z) over all values z (Balle, Bell, Gascon,
Nissim 2019). With M reports drawn from it, M binomial of n and the sum of b,

    delta = E [ max(0, L_1 + ... + L_M) ] / n,     L = (R(y | x) - e^epsilon R(y | x')) / b(y).

In a pure protocol L has four values only: for reports that support x alone, x' alone, both, or neither.

The best of these bounds is taken. All numbers come from the exact channel, and the sums of positive parts are taken in
floating point with every term rounded against us.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats
from deniable.core import Mechanism, PureProtocol, checked_epsilon
from deniable.errors import InvalidParameter, NotCertifiable
from deniable.privacy.law import law

ASSUMPTION = (
    "only if a trusted shuffler mixes the reports of all n people, drops who sent which and when, and nobody else sees "
    "them before; otherwise each report has the loss of its mechanism"
)
MOST = 4_000_000  # people: more are not counted, which errs on the safe side
ROUNDING = 1e-11  # of every term: more than all the roundings on its way
NEGLIGIBLE = 1e-40  # more than what lies outside the windows of the sums
LAW_LIMIT = 1 << 16


@dataclass(frozen=True)
class Clones:
    """How a channel hides a person among others: odds p, and the probabilities alpha and r of the module's text."""

    odds: Fraction
    alpha: Fraction
    r: Fraction

    def __post_init__(self) -> None:
        if not (self.odds > 1 and self.alpha > 0 and (self.odds + 1) * self.alpha <= 1 and 0 <= 2 * self.r <= 1):
            raise InvalidParameter("Clones need odds above 1, alpha from 0 to 1 / (odds + 1) and r from 0 to 1/2.")

    @property
    def merged(self) -> "Clones":
        """What holds for any channel with these odds: each law is at least (R(x) + R(x')) / (odds + 1)."""
        return Clones(self.odds, 1 / (self.odds + 1), 1 / (self.odds + 1))


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


@dataclass(frozen=True)
class ShuffledLoss:
    """A guarantee of its own, beside the one of every single report: it holds under its `assumption` only.

    For n shuffled reports of which one may be about x or about x', no event has a probability under x that is more than
    e^epsilon times the one under x', plus delta.
    """

    epsilon: float
    delta: float
    n: int
    local: float  # epsilon of one report without shuffling
    proof: str  # "exact channel" or "odds alone"
    assumption: str = ASSUMPTION

    def __str__(self) -> str:
        return (
            f"epsilon {self.epsilon:.4g} with delta {self.delta:.3g} among {self.n:,} shuffled reports (from the "
            f"{self.proof}; epsilon {self.local:.4g} for a single report): {self.assumption}"
        )


def shuffled(mechanism: Mechanism, n: int, delta: float) -> ShuffledLoss:
    """The epsilon that n shuffled reports of this mechanism lose at most, if delta is allowed.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.subset_selection import SubsetSelection
    >>> loss = shuffled(SubsetSelection(Categories(range(16)), 1.0), n=10_000, delta=1e-6)
    >>> round(loss.epsilon, 3), round(loss.local, 9)
    (0.033, 1.0)
    """
    if not 0 < delta < 1:
        raise InvalidParameter("Delta must be between 0 and 1, and should be far below 1 / n: for example 1e-9.")
    pairs, proof = bounds(mechanism)
    local = mechanism.loss().epsilon()
    worst = 0.0
    for pair in pairs:
        best = local
        for each in pair:
            if delta_of(each, n, best) <= delta:  # else it cannot do better
                best = min(best, _smallest(each, n, delta, local))
        worst = max(worst, best)
    return ShuffledLoss(worst, delta, n, local, proof)


def shuffled_delta(mechanism: Mechanism, n: int, epsilon: float) -> float:
    """The delta that goes with an epsilon after shuffling: an upper bound, rounded up."""
    pairs, _ = bounds(mechanism)
    checked_epsilon(epsilon)
    return max(min(delta_of(each, n, epsilon) for each in pair) for pair in pairs)


def bounds(mechanism: Mechanism) -> tuple[list[list[Clones | Blanket]], str]:
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
    found = _from_law(mechanism)
    if found:
        return [[each, each.merged] for each in found], "exact channel"
    return [[Clones(odds, 1 / (odds + 1), 1 / (odds + 1))]], "odds alone"


def _from_law(mechanism: Mechanism) -> list[Clones]:
    """All different ways in which two values of a small channel are hidden; none if it cannot be listed."""
    size = mechanism.domain.size
    if size > 64:
        return []
    try:
        laws = [dict(law(mechanism, index, LAW_LIMIT // size).items()) for index in range(size)]
    except NotCertifiable:
        return []
    reports = sorted(set().union(*laws))
    if len(reports) > 512:
        return []
    table = [[each.get(report, Fraction(0)) for report in reports] for each in laws]
    least = [min(column) for column in zip(*table, strict=True)]
    found = set()
    for first in range(size):
        for second in range(first):
            pairs = [(a, b) for a, b in zip(table[first], table[second], strict=True) if a or b]
            odds = max(max(a / b, b / a) for a, b in pairs)
            if odds == 1:
                continue
            beta = sum((max(a - b, Fraction(0)) for a, b in pairs), Fraction(0))
            share = min(
                low * beta / abs(a - b) for a, b, low in zip(table[first], table[second], least, strict=True) if a != b
            )
            found.add(Clones(odds, beta / (odds - 1), min(share, Fraction(1, 2))))
    return sorted(found, key=lambda each: (each.odds, each.alpha, each.r))


def delta_of(hidden: Clones | Blanket, n: int, epsilon: float) -> float:
    """An upper bound of delta for n people: the positive parts of P - e^epsilon Q, summed with outward rounding."""
    if n < 1:
        raise InvalidParameter("Shuffling needs the number of people, at least 1.")
    power, odds = math.exp(epsilon), float(hidden.odds)
    if odds <= power:
        return 0.0 if odds < power * (1 - 1e-12) else NEGLIGIBLE
    people = min(n, MOST)
    total = _clone_sum(hidden, people, power) if isinstance(hidden, Clones) else _blanket_sum(hidden, people, power)
    return min(1.0, total * (1 + ROUNDING) + NEGLIGIBLE)


def _clone_sum(hidden: Clones, people: int, power: float) -> float:
    first, counts = _binomial(people - 1, float(2 * hidden.r))
    odds, alpha = float(hidden.odds), float(hidden.alpha)
    more, less = alpha * (odds - power), alpha * (odds * power - 1)
    total, halves = 0.0, _Halves(first, first + len(counts))
    for chance in counts:
        positive = chance * more * np.concatenate([[0.0], halves.row[:-1]])  # the person's is one of the a from A
        negative = chance * less * halves.row
        total += _positive(positive, negative)
        halves.step()
    return total


def _blanket_sum(hidden: Blanket, people: int, power: float) -> float:
    """Reports for both or neither count against x with (e^epsilon - 1) (odds or 1): their sum is bounded from below.

    Of m numbers that are not negative, with mean u and mean square v, the sum is below m u - t with probability at most
    exp(-t^2 / (2 m v)) (Bernstein; Maurer 2003).
    """
    odds, tiny = float(hidden.odds), 1e-16
    rest = 1 - 2 * hidden.alone  # of one person: no report for x or x' alone
    mean, square = ((hidden.both * hidden.odds**k + hidden.neither) / rest for k in (1, 2))
    first, counts = _binomial(people, float(2 * hidden.alone))
    total, halves = tiny * odds, _Halves(first, first + len(counts))
    for k, chance in enumerate(counts, first):
        others = people - k
        least = max(0.0, others * float(mean) - math.sqrt(2 * others * float(square) * -math.log(tiny))) * (1 - ROUNDING)
        a = halves.low + np.arange(len(halves.row))
        positive = (odds - power) * a
        negative = (power * odds - 1) * np.maximum(k - a, 0) + (power - 1) * least
        total += _positive(chance / people * positive * halves.row, chance / people * negative * halves.row)
        halves.step()
    return total


def _positive(positive: Floats, negative: Floats) -> float:
    """The sum of the positive differences, with every term rounded up."""
    return float(np.maximum(positive * (1 + ROUNDING) - negative * (1 - ROUNDING), 0.0).sum())


def _binomial(n: int, p: float) -> tuple[int, Floats]:
    """The likely part of a binomial law: where it begins, and its probabilities, not below the true ones."""
    mode, spread = int((n + 1) * p), math.sqrt(max(1.0, n * p * (1 - p)))
    mode = min(mode, n)
    reach = int(14 * spread) + 60
    low, high = max(0, mode - reach), min(n, mode + reach)
    up = np.arange(mode, high, dtype=np.float64)
    down = np.arange(mode, low, -1, dtype=np.float64)
    rising = np.cumprod((n - up) / (up + 1) * (p / (1 - p))) if p < 1 else np.zeros(len(up))
    falling = np.cumprod(down / (n - down + 1) * ((1 - p) / p)) if p > 0 else np.zeros(len(down))
    terms = np.concatenate([falling[::-1], [1.0], rising])
    return low, terms / terms.sum()


class _Halves:
    """The laws of fair coins, k of them for one k after the other, in a window that all of them need."""

    def __init__(self, first: int, last: int) -> None:
        reach = int(7 * math.sqrt(last)) + 60  # 14 deviations
        low, high = max(0, first // 2 - reach), min(last + 1, last // 2 + reach)
        begin, law_ = _binomial(first, 0.5)
        self.low, self.row = low, np.zeros(high - low + 1)
        part = slice(max(low, begin), min(high, begin + len(law_) - 1) + 1)
        self.row[part.start - low : part.stop - low] = law_[part.start - begin : part.stop - begin]

    def step(self) -> None:
        """One coin more."""
        self.row = 0.5 * (self.row + np.concatenate([[0.0], self.row[:-1]]))


def _smallest(hidden: Clones | Blanket, n: int, delta: float, local: float) -> float:
    """The smallest epsilon whose delta is small enough, to about a part in 1,000, from above.

    The logarithm of delta falls smoothly, so that the line through both ends of a bracket finds it in a few steps; fewer
    people, who are counted quickly, show where to begin.
    """

    def excess(epsilon: float) -> float:
        return math.log(max(NEGLIGIBLE, delta_of(hidden, n, epsilon))) - math.log(delta)

    guess = _smallest(hidden, n // 16, delta, local) / 4 if n > 4_000 else local / 2
    low, high = guess / 1.1, min(local, guess * 1.1)
    above, below = excess(low), excess(high)
    while above <= 0 and low > 1e-9:
        low, high, below = low / 2, low, above
        above = excess(low)
    while below > 0:
        if high >= local:
            return local
        low, high, above = high, min(local, high * 1.5), below
        below = excess(high)
    while high - low > 1e-3 * high:
        # A little above where the line crosses zero: then it is mostly the upper end that moves.
        step = above / (above - below)
        middle = low + (high - low) * min(0.95, max(0.05, step + 0.02))
        found = excess(middle)
        low, high, above, below = (middle, high, found, below) if found > 0 else (low, middle, above, found)
    return min(local, high)
