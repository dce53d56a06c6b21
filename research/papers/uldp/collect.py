"""Collections from people by the mechanisms of the paper, with the estimators that were published, and by ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from deniable import Unary
from deniable.arrays import Bools, Floats, Ints
from deniable.core import PureProtocol, Tally
from deniable.core.odds import odds_below
from deniable.domains import Categories
from deniable.mechanisms.algebra.utility_formulas import disclosed_beside, disguise
from deniable.wrappers.open_answers import OpenAnswers
from deniable.wrappers.published_utility import PublishedUtility
from deniable.wrappers.utility_optimized import UtilityOptimized
from research.data.folder import random_for
from research.data.histograms import Histogram
from research.papers.figure import coins_for
from research.papers.uldp.mechanisms import best_buckets, mechanism


@dataclass(frozen=True, eq=False)
class Found:
    """The estimated shares, and how many reports disclose an open answer."""

    shares: Floats
    disclosing: int


class Collector(Protocol):
    """One mechanism for one question."""

    @property
    def disclosed_share(self) -> float:
        """The probability that an open answer is disclosed."""

    def collect(self, people: Ints, seed: int, *what: object) -> Found:
        """Ask so many people of each answer."""

    def noise(self, truth: Floats) -> Floats:
        """n times the variance of each estimated share."""


@dataclass(frozen=True, eq=False)
class Reported:
    """A mechanism of the library: reports are made, counted and estimated."""

    made: OpenAnswers

    @property
    def disclosed_share(self) -> float:
        return self.made.disclosed_share

    def collect(self, people: Ints, seed: int, *what: object) -> Found:
        tally = asked(self.made, people, seed, *what)
        return Found(self.made.estimate(tally).values, int(tally.counts[self.made.base.cells :].sum()))

    def noise(self, truth: Floats) -> Floats:
        return np.asarray(self.made.predict(truth, 1).standard_error ** 2)


def asked(made: OpenAnswers, people: Ints, seed: int, *what: object) -> Tally:
    """The counts of all people's reports; those that disclose an open answer, which need no mechanism, are only counted."""
    base, coins, random = made.base, coins_for(seed, *what), random_for(seed, *what)
    own, others, blank = people[made.secret], people[~made.secret], 0
    if isinstance(made, PublishedUtility):
        hidden = random.binomial(others, float(made.f))
        disclosing = others - hidden + random.binomial(hidden, float(made.z))
        own = own + random.multinomial(int(hidden.sum()), np.full(len(own), 1 / len(own)))
    elif isinstance(made, UtilityOptimized) and isinstance(base, PureProtocol) and (made.flat or not base.idle):
        hidden = random.binomial(others, 1 - made.disclosed_share)
        disclosing, blank = others - hidden, int(hidden.sum())
    else:
        return made.tally(made.perturb(np.repeat(np.arange(len(people)), people), coins))
    votes = np.zeros(base.cells, np.int64)
    if own.sum():
        votes += base.tally(base.perturb(np.repeat(np.arange(len(own)), own), coins)).counts
    if blank and isinstance(base, PureProtocol):
        drawn = base.blank(blank, coins)
        votes += base.votes({field.name: drawn[field.name].astype(field.empty(0).dtype) for field in base.layout.fields})
    return Tally(made.fingerprint, int(people.sum()), np.concatenate([votes, disclosing]))


@dataclass(frozen=True, eq=False)
class Independent:
    """A published mechanism whose reports support each sensitive answer independently: only counts are drawn, exactly.

    uRAP (Murakami, Kawamoto 2019): everybody sends the bits of the sensitive answers, those with an open one bits of q, and
    beside them send their answer with probability `disclosed`. uLH with random functions, as in the paper: the disguised
    take a sensitive answer at random; another one is hashed to the same bucket with probability q = 1 / g. uUE: likewise,
    with bits of p and q. All with Eq. 21.
    """

    secret: Bools
    p: Fraction
    q: Fraction
    f: Fraction  # the probability of a disguise; 0 where the bits of an open answer are nobody's
    z: Fraction  # the probability that the answer is sent beside it

    @classmethod
    def rappor(cls, secret: Bools, epsilon: float) -> "Independent":
        """uRAP: d_2 = (1 - p) + p / e^eps is the probability that an open answer is not disclosed."""
        base, odds = Unary.symmetric(Categories(range(int(secret.sum()))), epsilon), odds_below(epsilon)
        return cls(secret, base.p, base.q, Fraction(0), base.p * (1 - 1 / odds))

    @classmethod
    def hashing(cls, secret: Bools, epsilon: float, share: float) -> "Independent":
        """uLH with the best number of buckets, by Eq. 49, and the z of Eq. 45."""
        size, odds = int(secret.sum()), odds_below(epsilon)
        buckets = best_buckets(size, epsilon, share)
        p, q = odds / (odds + buckets - 1), Fraction(1, buckets)
        return cls(secret, p, q, disguise(size, p, q), disclosed_beside("uLH", size, Fraction(buckets), odds))

    @classmethod
    def unary(cls, made: PublishedUtility) -> "Independent":
        """uUE with the parameters of the library's, whose reports need not be made."""
        return cls(made.secret, made.base.p, made.base.q, made.f, made.z)

    @property
    def disclosed(self) -> Fraction:
        """z* of the paper."""
        return 1 - self.f * (1 - self.z) if self.f else self.z

    @property
    def disclosed_share(self) -> float:
        return float(self.disclosed)

    def collect(self, people: Ints, seed: int, *what: object) -> Found:
        random, p, q = random_for(seed, *what), float(self.p), float(self.q)
        own, others, n = people[self.secret], people[~self.secret], int(people.sum())
        if self.f:
            hidden = random.binomial(others, float(self.f))
            own = own + random.multinomial(int(hidden.sum()), np.full(len(own), 1 / len(own)))
            disclosing = others - hidden + random.binomial(hidden, float(self.z))
            reports = int(own.sum())
        else:
            disclosing, reports = random.binomial(others, float(self.z)), n
        supports = random.binomial(own, p) + random.binomial(reports - own, q)
        shares = np.empty(len(people))
        shares[self.secret] = (supports - n * q) / (n * (p - q))
        shares[~self.secret] = disclosing / (n * self.disclosed_share)
        return Found(shares, int(disclosing.sum()))

    def noise(self, truth: Floats) -> Floats:
        """Eq. 25."""
        p, q, shown = float(self.p), float(self.q), self.disclosed_share
        own = truth * (1 - p - q) / (p - q) + q * (1 - q) / (p - q) ** 2
        return np.where(self.secret, own, truth * (1 - shown) / shown)


def collector(name: str, size: int, secret: Sequence[int], epsilon: float, share: float) -> Collector:
    """A mechanism by its name in the paper, with the parameters that it recommends; or one of ours."""
    marks = np.zeros(size, np.bool_)
    marks[list(secret)] = True
    if name == "uRAP":
        return Independent.rappor(marks, epsilon)
    if name == "uLH":
        return Independent.hashing(marks, epsilon, share)
    made = mechanism(name, Categories(range(size)), secret, epsilon, share)
    return Independent.unary(made) if name == "uUE" and isinstance(made, PublishedUtility) else Reported(made)


def disclosed_at(name: str, size: int, epsilon: float, share: float) -> float:
    """z* of a published mechanism for so many sensitive answers: how often an open answer is disclosed."""
    return collector(name, size + 5, range(size), epsilon, share).disclosed_share


@dataclass(frozen=True, eq=False)
class Measured:
    """Repeated estimates of one histogram by one mechanism, and the truth."""

    truth: Floats
    estimates: list[Floats]
    people: int
    exact: float  # n times the total error to expect

    @property
    def errors(self) -> Floats:
        """n times the total squared error of each repetition."""
        return self.people * np.array([((values - self.truth) ** 2).sum() for values in self.estimates])

    @property
    def spread(self) -> float:
        """The standard error of their mean; not a number for a single one."""
        return float(self.errors.std(ddof=1) / np.sqrt(len(self.estimates))) if len(self.estimates) > 1 else float("nan")


def measure(
    held: Histogram, name: str, epsilon: float, people: int, repeats: int, seed: int, secret: Sequence[int] | None = None
) -> Measured:
    """Collect from the same people again and again."""
    counts, marks = held.scaled(people), held.sensitive if secret is None else secret
    truth = counts / counts.sum()
    share = 1 - float(truth[list(marks)].sum())
    made = collector(name, len(counts), marks, epsilon, share)
    what = (held.name, name, epsilon, len(marks))
    estimates = [made.collect(counts, seed, *what, number).shares for number in range(repeats)]
    return Measured(truth, estimates, int(counts.sum()), float(made.noise(truth).sum()))


def expected_mae(made: Collector, truth: Floats, people: int) -> float:
    """The mean absolute error to expect of estimates that are normal."""
    return float(np.sqrt(2 / np.pi * made.noise(truth) / people).mean())


def over_exact(measured: Sequence[Measured]) -> tuple[float, float]:
    """The mean of measured over exact errors, and its standard error."""
    ratios = np.concatenate([each.errors / each.exact for each in measured])
    return float(ratios.mean()), float(ratios.std() / np.sqrt(len(ratios)))
