"""What the utility-optimized figures compare: the six published mechanisms, and ours with the same promise."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import PureProtocol
from deniable.core.odds import odds_below
from deniable.domains import Categories
from deniable.mechanisms import BlockDesign, DirectResponse, HadamardResponse, LocalHashing, SubsetSelection, Unary
from deniable.mechanisms.subset import chance
from deniable.papers.figure import coins_for
from deniable.papers.histograms import Histogram
from deniable.wrappers.published import (
    PublishedUtility,
    disguise,
    published_error,
    published_optimum,
    told_beside,
    true_odds,
)
from deniable.wrappers.utility import OpenAnswers, UtilityOptimized

Floats = NDArray[np.float64]

PUBLISHED = ("uRR", "uRAP", "uHR", "uSS", "uUE", "uLH")
OURS = ("uSS lean", "block design")
FAMILIES: dict[str, type[PureProtocol]] = {"uSS": SubsetSelection, "uUE": Unary, "uLH": LocalHashing}
EPSILONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
FEW = (0.5, 1.0, 2.0, 3.5, 5.0)
LEAN = (
    "uRAP and uHR are run with an estimator that is better than theirs, and uLH with a family of functions that we can name"
)


def mechanism(name: str, domain: Categories, secret: Sequence[int], epsilon: float, share: float) -> OpenAnswers:
    """A mechanism for these sensitive answers; the published ones with the parameter that the paper recommends."""
    own = Categories(range(len(secret)))
    match name:
        case "uRR":
            return UtilityOptimized(DirectResponse(own, epsilon), domain, secret, epsilon, share, flat=True)
        case "uRAP":
            return UtilityOptimized(Unary.symmetric(own, epsilon), domain, secret, epsilon, share, flat=True)
        case "uHR":
            return UtilityOptimized(HadamardResponse(own, epsilon), domain, secret, epsilon, share, flat=True)
        case "uSS lean":
            return UtilityOptimized(SubsetSelection, domain, secret, epsilon, share)
        case "block design":
            return UtilityOptimized(BlockDesign, domain, secret, epsilon, share)
    return PublishedUtility.recommended(FAMILIES[name], domain, secret, epsilon, share)


def total(made: OpenAnswers, share: float) -> float:
    """n times the sum of all variances, exactly; of the shares only that of open answers matters."""
    secret = made.secret
    shares = np.where(secret, (1 - share) / secret.sum(), share / max(1, (~secret).sum()))
    return float((made.predict(shares, 1).standard_error ** 2).sum())


def sized(name: str, size: int, epsilon: float, share: float, opens: int = 5) -> OpenAnswers:
    """The mechanism for so many sensitive answers; how many open ones there are hardly matters."""
    return mechanism(name, Categories(range(size + opens)), range(size), epsilon, share)


def stated_error(name: str, size: int, epsilon: float, share: float) -> float:
    """n times the total error by the paper's own formula, Eq. 28, and at its own parameters.

    uHR has none in the paper; the exact one is taken. uLH is with the z that the paper claims to be private.
    """
    odds, theta = odds_below(epsilon), Fraction(share)
    if name in ("uRAP", "uRR"):
        base = (
            Unary.symmetric(Categories(range(size)), epsilon)
            if name == "uRAP"
            else DirectResponse(Categories(range(size)), epsilon)
        )
        told = 1 - (1 - base.p + base.p / odds) if name == "uRAP" else (odds - 1) * base.q
        return float(published_error(size, base.p, base.q, told, theta))
    if name == "uSS":
        k = best_subset(size, epsilon, share)
        p, q = chance(size, k, odds)
        f, z = disguise(size, p, q), told_beside("uSS", size, Fraction(k), odds)
        return float(published_error(size, p, q, 1 - f * (1 - z), theta))
    if name == "uLH":
        return min(hashed(size, epsilon, share, g) for g in _rounded(published_optimum(size, float(odds), share)["g"]))
    return total(sized(name, size, epsilon, share), share)


def hashed(size: int, epsilon: float, share: float, buckets: int) -> float:
    """Eq. 47: uLH with hash functions that are perfectly random, as the paper counts."""
    odds = odds_below(epsilon)
    p, q = odds / (odds + buckets - 1), Fraction(1, buckets)
    f, z = disguise(size, p, q), told_beside("uLH", size, Fraction(buckets), odds)
    return float(published_error(size, p, q, 1 - f * (1 - z), Fraction(share)))


def hashed_epsilon(size: int, epsilon: float, share: float) -> float:
    """What uLH as published truly costs with perfectly random hash functions, the worst of which load a bucket once."""
    odds = odds_below(epsilon)
    buckets = min(_rounded(published_optimum(size, float(odds), share)["g"]), key=lambda g: hashed(size, epsilon, share, g))
    p, q = odds / (odds + buckets - 1), Fraction(1, buckets)
    f, z = disguise(size, p, q), told_beside("uLH", size, Fraction(buckets), odds)
    return PrivacyLoss(max(odds, true_odds(size, odds, f * (1 - z), 1)), "theorem").epsilon()


def _rounded(number: float) -> tuple[int, int]:
    return max(2, int(number)), max(2, int(number) + 1)


def best_subset(size: int, epsilon: float, share: float) -> int:
    """Eq. 37: of the two whole numbers beside it the better one."""
    odds = odds_below(epsilon)
    first = int(published_optimum(size, float(odds), share)["k"])

    def error(k: int) -> Fraction:
        p, q = chance(size, k, odds)
        f, z = disguise(size, p, q), told_beside("uSS", size, Fraction(k), odds)
        return published_error(size, p, q, 1 - f * (1 - z), Fraction(share))

    return min({min(max(k, 1), size - 1) for k in (first, first + 1)}, key=error)


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
    answers, truth = np.repeat(np.arange(len(counts)), counts), counts / counts.sum()
    share = 1 - float(truth[list(marks)].sum())
    made = mechanism(name, Categories(range(len(counts))), marks, epsilon, share)
    coins = coins_for(seed, held.name, name, epsilon, len(marks))
    estimates = [made.estimate(made.tally(made.perturb(answers, coins))).values for _ in range(repeats)]
    return Measured(truth, estimates, len(answers), float((made.predict(truth, 1).standard_error ** 2).sum()))


def as_expected(measured: Sequence[Measured]) -> bool:
    """Whether all measurements together are what the exact variances say, within five standard errors of their mean."""
    ratios = np.concatenate([each.errors / each.exact for each in measured])
    return bool(abs(ratios.mean() - 1) < 5 * ratios.std() / np.sqrt(len(ratios)) + 0.02)
