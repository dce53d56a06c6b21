"""False reports: how far they can move an estimate, which patterns give them away, and which intervals still hold.

Whoever controls a device can send any report, and local privacy leaves the collector no way to ask back. What a single
report can do is limited by the estimate itself: in a pure protocol it moves the number of people behind a value by at most
(1 - q) / (p - q) if it supports the value, and by -q / (p - q) if it does not (maximal gain attack; Cao, Jia, Gong 2021).
"""

import math
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Columns, Mechanism, PureProtocol, Reports, Tally, distinct_rows
from deniable.errors import InvalidParameter, InvalidReport

LISTED_BITS = 12  # of reports that are tried one by one


@dataclass(frozen=True)
class WorstGain:
    """The most that m false reports among n honest ones can do to their target values; all shares are of those who report.

    `weight`: how many honest people with the value one false report counts as. `gain`: how much it raises the estimated
    shares of the targets together at most. `drop`: how much it lowers them at most. `exact`: whether such reports exist, or
    whether these are only upper bounds.
    """

    m: int
    n: int
    targets: int
    weight: float
    gain: float
    drop: float
    exact: bool

    def __str__(self) -> str:
        several = "a value" if self.targets == 1 else f"{self.targets} values together"
        return (
            f"{self.m:,} false reports among {self.n:,} honest ones raise the share of {several} by at most "
            f"{100 * self.gain:.3g} points and lower it by at most {100 * self.drop:.3g}; each counts as up "
            f"to {self.weight:.3g} honest people"
        )


def worst_gain(mechanism: Mechanism, m: int, n: int, targets: int = 1) -> WorstGain:
    """The most that m false reports can raise or lower the estimated share of `targets` values, among n honest ones.

    The gain is for targets that nobody holds, the drop for one that everybody holds: then they are largest.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> found = worst_gain(DirectResponse(Categories(range(16)), 1.0), m=100, n=10_000)
    >>> round(found.weight, 2), round(found.gain, 4), round(found.drop, 4)
    (9.73, 0.0963, 0.0157)
    """
    if m < 0 or n < 1 or not 1 <= targets <= len(mechanism.domain.labels):
        raise InvalidParameter(
            "Give m >= 0 false reports, n >= 1 honest people, and from one to all of the values as targets."
        )
    most, least, exact = extremes(mechanism, targets)
    share = m / (n + m)
    return WorstGain(m, n, targets, most, share * most, share * (1 - least), exact)


def extremes(mechanism: Mechanism, targets: int = 1) -> tuple[float, float, bool]:
    """The largest and the smallest that one report adds to the targets, in people, and whether a report attains them."""
    if isinstance(mechanism, PureProtocol):
        p, q = mechanism.p, mechanism.q
        most, fewest, exact = mechanism.supported(targets)
        return float((most - targets * q) / (p - q)), float((fewest - targets * q) / (p - q)), exact
    if mechanism.layout.bits > LISTED_BITS:
        raise InvalidParameter(
            f"The worst report can be computed for pure protocols, and otherwise for reports of at most {LISTED_BITS} bits."
        )
    said = every_report(mechanism)
    sums = said[:, :targets].sum(axis=1)
    return float(sums.max()), float(sums.min()), True


def every_report(mechanism: Mechanism) -> Floats:
    """What each possible report says by itself: the estimate of a tally that holds it alone."""
    bits = mechanism.layout.bits
    found = []
    for number in range(1 << bits):
        row = np.frombuffer(number.to_bytes((bits + 7) // 8, "little"), np.uint8)[None, :]
        try:
            reports = Reports(mechanism.fingerprint, mechanism.layout, mechanism.layout.columns(row))
            estimate = mechanism.estimate(mechanism.tally(reports))
        except InvalidReport:
            continue
        if getattr(estimate, "measure", "") != "share":
            raise InvalidParameter(
                "The effect of false reports can be computed only for mechanisms that estimate shares of people."
            )
        found.append(estimate.values)
    return np.array(found, np.float64)


@dataclass(frozen=True)
class Suspicion:
    """A pattern that honest people, whatever their answers, produce with at most the stated probability."""

    what: str
    seen: float
    allowed: float
    error: float

    def __str__(self) -> str:
        allowed = f"at most {self.allowed:,.6g} if all are honest (false alarm probability {self.error:.1g})"
        return f"{self.what}: {self.seen:,.6g}; {allowed}"


def suspicions(mechanism: PureProtocol, reports: Reports, error: float = 1e-6) -> list[Suspicion]:
    """Patterns in these reports that honest people do not produce; the probability of a false alarm is at most `error`.

    Four patterns are checked: values with too many or too few supporters for any population; reports that support too many
    or too few values on average; profiles that are too frequent or too rare, such as the number of ones or the bucket of a
    hash; the same report too often. Liars who randomize a false answer as honest people do cannot be found by any means,
    and none of this proves who lied.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.unary import Unary
    >>> unary = Unary(Categories(range(8)), 1.0)
    >>> suspicions(unary, unary.perturb([3] * 1000))
    []
    """
    seen = profile_counts(mechanism, reports.columns)
    found = suspicions_of_tally(mechanism, mechanism.tally(reports), seen, error * 3 / 4)
    return [*found, *_copies(mechanism, reports, error / 4)]


def suspicions_of_tally(
    mechanism: PureProtocol, tally: Tally, profiles: Ints | None = None, error: float = 1e-6
) -> list[Suspicion]:
    """The same from a tally alone, and from the counts of profiles if there are any.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.unary import Unary
    >>> unary = Unary(Categories(range(8)), 1.0)
    >>> only_one_bit = Tally(unary.fingerprint, 1000, np.eye(8, dtype=np.int64)[3] * 1000)
    >>> print(suspicions_of_tally(unary, only_one_bit)[0])
    most supporters of a value: 1,000; at most 594.039 if all are honest (false alarm probability 3e-07)
    """
    if not 0 < error < 1:
        raise InvalidParameter("The probability of a false alarm must be between 0 and 1, for example 1e-6.")
    each = error / 3
    found = [*_counts(mechanism, tally, each), *_sizes(mechanism, tally, each)]
    return found if profiles is None else [*found, *_profiles(mechanism.profile_law, profiles, each)]


def profile_counts(mechanism: PureProtocol, columns: Columns) -> Ints:
    """How often each profile occurs in these reports; empty where the mechanism has none."""
    law = mechanism.profile_law
    return np.bincount(mechanism.profiles(columns), minlength=len(law)) if len(law) else np.zeros(0, np.int64)


def _profiles(law: Floats, seen: Ints, error: float) -> list[Suspicion]:
    """The number of reports with a profile is binomial for every population (Chernoff's bound, for all at once)."""
    n = int(seen.sum())
    if not n or not len(law):
        return []
    allowed, shares = math.log(2 * len(law) / error), seen / n
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(seen > 0, shares * np.log(shares / law), 0.0)
        other = np.where(seen < n, (1 - shares) * np.log((1 - shares) / (1 - law)), 0.0)
    worst = float(n * (one + other).max())  # n times the divergence: P(at least so far away) <= exp(-that)
    return [Suspicion("deviation of report profiles from their law", worst, allowed, error)] if worst > allowed else []


def _counts(mechanism: PureProtocol, tally: Tally, error: float) -> list[Suspicion]:
    """A count is a sum of n tosses with chances p or q (Hoeffding's inequality, for all values at once)."""
    n, slack = tally.n, math.sqrt(tally.n * math.log(2 * len(tally.counts) / error) / 2)
    most, least = n * float(mechanism.p) + slack, n * float(mechanism.q) - slack
    found = []
    if tally.counts.max() > most:
        found.append(Suspicion("most supporters of a value", float(tally.counts.max()), most, error))
    if tally.counts.min() < least:
        found.append(Suspicion("reports that do not support a value", n - float(tally.counts.min()), n - least, error))
    return found


def _sizes(mechanism: PureProtocol, tally: Tally, error: float) -> list[Suspicion]:
    """How many values reports support on average is the same for every population: p + (d - 1) q."""
    n, size, log = tally.n, mechanism.domain.size, math.log(2 / error)
    mean = n * float(mechanism.p + (size - 1) * mechanism.q)
    if mechanism.support_variance is None:  # Hoeffding's inequality
        slack = size * math.sqrt(n * log / 2)
    else:  # Bernstein's inequality
        slack = log / 3 + math.sqrt(log * log / 9 + 2 * n * float(mechanism.support_variance) * log)
    away = abs(float(tally.counts.sum()) - mean)
    return [Suspicion("deviation of the number of votes from its mean", away, slack, error)] if away > slack else []


def _copies(mechanism: PureProtocol, reports: Reports, error: float) -> list[Suspicion]:
    """How often the same report came: binomial at most, with the chance of the likeliest report (Bernstein's inequality)."""
    chance = mechanism.likeliest
    if chance is None:
        return []
    rows = mechanism.layout.rows(reports.columns)
    _, which = distinct_rows(np.ascontiguousarray(rows))
    log = mechanism.layout.bits * math.log(2) + math.log(1 / error)  # any of all possible reports
    mean = len(reports) * float(chance)
    allowed = mean + log / 3 + math.sqrt(log * log / 9 + 2 * mean * log)
    # Of rare ones a few copies say enough: c of the same have a probability of at most (n over c) chance^(c - 1).
    for copies in range(2, max(2, min(len(reports), math.ceil(allowed))) + 1):
        if _log_choose(len(reports), copies) + (copies - 1) * math.log(float(chance)) <= math.log(error):
            allowed = min(allowed, copies - 1)
            break
    seen = float(np.bincount(which).max())
    return [Suspicion("copies of the same report", seen, allowed, error)] if seen > allowed else []


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def interval_with_liars(mechanism: Mechanism, tally: Tally, liars: int, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Intervals for the shares among honest people, if at most this many of the reports are false.

    The influence of every report on the estimate is bounded, so that of all lies is too: the usual interval is widened by
    exactly that much. Nothing narrower holds against every liar.
    """
    if not 0 <= liars < tally.n:
        raise InvalidParameter("The number of false reports must be at least 0 and below the number of reports.")
    low, high = mechanism.estimate(tally).interval(confidence)
    most, least, _ = extremes(mechanism)
    honest = tally.n - liars
    return (
        np.clip((tally.n * low - liars * most) / honest, 0.0, 1.0),
        np.clip((tally.n * high - liars * least) / honest, 0.0, 1.0),
    )
