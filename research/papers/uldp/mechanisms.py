"""What the utility-optimized figures compare: the six published mechanisms, and ours with the same promise."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from deniable import BlockDesign, DirectResponse, HadamardResponse, LocalHashing, SubsetSelection, Unary
from deniable.core.loss import PrivacyLoss
from deniable.core.odds import odds_below
from deniable.domains import Categories
from deniable.mechanisms.algebra.utility_formulas import (
    disclosed_beside,
    disguise,
    published_error,
    published_optimum,
    true_odds,
)
from deniable.mechanisms.shares.subset_selection import chance
from deniable.mechanisms.shares.utility_base import UtilityBase
from deniable.wrappers.open_answers import OpenAnswers
from deniable.wrappers.published_utility import PublishedUtility
from deniable.wrappers.utility_optimized import UtilityOptimized

PUBLISHED = ("uRR", "uRAP", "uHR", "uSS", "uUE", "uLH")
OURS = ("uSS lean", "block design")
FAMILIES: dict[str, type[UtilityBase]] = {"uSS": SubsetSelection, "uUE": Unary, "uLH": LocalHashing}
EPSILONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
FEW = (0.5, 1.0, 2.0, 3.5, 5.0)
PEOPLE = 20_000  # of a collection whose error is multiplied by n, or only compared with others
FEWER = f"{PEOPLE:,} people at most, where the sets have up to 2,458,285: n times the error does not depend on n"
MANY = 200_000  # of one whose score depends on n
FEWER_MANY = f"{MANY:,} people at most, where Census has 2,458,285 and Foursquare 419,959"
LEAN = (
    "all six as published: uRAP's reports have a noisy part beside an open answer (uRAP lean is ours, without it), uLH has "
    "random functions, and uHR the only unbiased estimator that is linear in its counts"
)


def mechanism(name: str, domain: Categories, secret: Sequence[int], epsilon: float, share: float) -> OpenAnswers:
    """A mechanism for these sensitive answers; the published ones with the parameter that the paper recommends.

    uRAP has the reports of our uRAP lean here, and uLH functions that can be named: see collect.py for those of the paper.
    """
    own = Categories(range(len(secret)))
    match name:
        case "uRR":
            return UtilityOptimized(DirectResponse(own, epsilon), domain, secret, epsilon, share, flat=True)
        case "uRAP" | "uRAP lean":
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
    if name == "uRAP":
        p = Unary.symmetric(Categories(range(2)), epsilon).p
        return float(published_error(size, p, 1 - p, p * (1 - 1 / odds), theta))
    if name == "uRR":
        q = 1 / (odds + size - 1)
        return float(published_error(size, odds * q, q, (odds - 1) * q, theta))
    if name == "uUE":
        p = Fraction(published_optimum(size, float(odds), share)["p"]).limit_denominator(1 << 20)
        q = p / (odds * (1 - p) + p)
        f, z = disguise(size, p, q), disclosed_beside("uUE", size, p, odds)
        return float(published_error(size, p, q, 1 - f * (1 - z), theta))
    if name == "uSS":
        k = best_subset(size, epsilon, share)
        p, q = chance(size, k, odds)
        f, z = disguise(size, p, q), disclosed_beside("uSS", size, Fraction(k), odds)
        return float(published_error(size, p, q, 1 - f * (1 - z), theta))
    if name == "uLH":
        return hashed(size, epsilon, share, best_buckets(size, epsilon, share))
    return total(sized(name, size, epsilon, share), share)


def hashed(size: int, epsilon: float, share: float, buckets: int) -> float:
    """Eq. 47: uLH with hash functions that are perfectly random, as the paper counts."""
    odds = odds_below(epsilon)
    p, q = odds / (odds + buckets - 1), Fraction(1, buckets)
    f, z = disguise(size, p, q), disclosed_beside("uLH", size, Fraction(buckets), odds)
    return float(published_error(size, p, q, 1 - f * (1 - z), Fraction(share)))


def hashed_epsilon(size: int, epsilon: float, share: float) -> float:
    """What uLH as published truly costs with perfectly random hash functions, the worst of which load a bucket once."""
    odds, buckets = odds_below(epsilon), best_buckets(size, epsilon, share)
    p, q = odds / (odds + buckets - 1), Fraction(1, buckets)
    f, z = disguise(size, p, q), disclosed_beside("uLH", size, Fraction(buckets), odds)
    return PrivacyLoss(max(odds, true_odds(size, odds, f * (1 - z), 1)), "theorem").epsilon()


def random_hashing(size: int, epsilon: float, buckets: int) -> dict[str, dict[str, Fraction]]:
    """The law of uLH as published with every hash function, by answer and report; the paper's own f, z and functions."""
    odds = odds_below(epsilon)
    p, q = odds / (odds + buckets - 1), Fraction(1, buckets)
    hidden = disguise(size, p, q) * (1 - disclosed_beside("uLH", size, Fraction(buckets), odds))
    other, functions = (1 - p) / (buckets - 1), list(product(range(buckets), repeat=size))
    laws: dict[str, dict[str, Fraction]] = {str(answer): {} for answer in range(size)} | {"open": {"open": 1 - hidden}}
    for function in functions:
        for bucket in range(buckets):
            report = f"function {''.join(map(str, function))}, bucket {bucket}"
            own = [(p if function[answer] == bucket else other) / len(functions) for answer in range(size)]
            for answer, chance_of in enumerate(own):
                laws[str(answer)][report] = chance_of
            laws["open"][report] = hidden * sum(own) / size
    return laws


def worst_report(laws: dict[str, dict[str, Fraction]]) -> tuple[Fraction, str, tuple[str, str]]:
    """The largest odds between two answers over the reports that every answer may have, and where: the promise of uLDP."""
    found = [
        (law[report] / other[report], report, (answer, instead))
        for answer, law in laws.items()
        for instead, other in laws.items()
        for report in law.keys() & other.keys()
    ]
    return max(found)


def best_buckets(size: int, epsilon: float, share: float) -> int:
    """Eq. 49: of the two whole numbers beside it the better one."""
    first = int(published_optimum(size, float(odds_below(epsilon)), share)["g"])
    return min((max(2, first), max(2, first + 1)), key=lambda buckets: hashed(size, epsilon, share, buckets))


def best_subset(size: int, epsilon: float, share: float) -> int:
    """Eq. 37: of the two whole numbers beside it the better one."""
    odds = odds_below(epsilon)
    first = int(published_optimum(size, float(odds), share)["k"])

    def error(k: int) -> Fraction:
        p, q = chance(size, k, odds)
        f, z = disguise(size, p, q), disclosed_beside("uSS", size, Fraction(k), odds)
        return published_error(size, p, q, 1 - f * (1 - z), Fraction(share))

    return min({min(max(k, 1), size - 1) for k in (first, first + 1)}, key=error)
