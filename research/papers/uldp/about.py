"""The paper on utility-optimized response: its errata, its numbers, and what is better here."""

import math
from fractions import Fraction

from deniable import Unary
from deniable.core.odds import odds_below
from deniable.domains import Categories
from deniable.mechanisms.algebra.utility_formulas import disclosed_beside, published_optimum
from research.data.histograms import STATED as STATED_SETS
from research.papers.errata import Erratum, Paper, Stated
from research.papers.uldp.collect import disclosed_at
from research.papers.uldp.mechanisms import best_subset, hashed_epsilon

ERRATA = (
    Erratum(
        "ULDP E1",
        "Eqs. 45 and 59: the largest z of uLH and uWheel that keeps epsilon.",
        "It is worked out for the average over all hash functions, but a report names its function.",
        """
>>> import math
>>> from research.papers.uldp.mechanisms import random_hashing, worst_report
>>> laws = random_hashing(2, math.log(3), 2)                 # two sensitive answers, two buckets, all four functions
>>> odds, report, answers = worst_report(laws)
>>> round(math.log(3), 3), round(math.log(odds), 4)          # claimed, and true
(1.099, 1.3218)
""",
    ),
    Erratum(
        "ULDP E3",
        "uUE has the largest z.",
        "Right and private, but far from the largest that any mechanism with its sensitive channel allows.",
        """
>>> from research.papers.uldp.mechanisms import sized
>>> best = dn.UtilityOptimized(dn.Unary, dn.Categories(range(235)), range(230), 0.5, 0.77)
>>> round(sized("uUE", 230, 0.5, 0.77).disclosed_share, 4), round(best.disclosed_share, 2)
(0.0028, 0.21)
""",
    ),
    Erratum(
        "ULDP E4",
        '"uHR cannot obtain an accurate theoretical MSE."',
        "It has one in closed form, with the plateau that the paper calls surprising: (1 - open share) (s - 1).",
        """
>>> hadamard = sized("uHR", 424, 12.0, 0.56)
>>> shares = [0.44 / 424] * 424 + [0.56 / 5] * 5
>>> error = float((hadamard.predict(shares, 1).standard_error ** 2).sum())
>>> round(error / (0.44 * 423), 2)
1.0
""",
    ),
    Erratum(
        "ULDP E5",
        "Eq. 31: the variance for mechanisms that are not pure.",
        "It leaves out the covariance 2 theta (f (1 - z) / s)^2 / n, which is known exactly.",
        """
>>> from fractions import Fraction
>>> from itertools import product
>>> f, s, n, theta = Fraction(1, 2), 2, 2, Fraction(1, 2)      # e^epsilon = 3, Eq. 10, z = 0; one has a, one an open answer
>>> held = {"a": Fraction(3, 4), "b": Fraction(1, 4)}
>>> opened = {"open": 1 - f, "a": f / s, "b": f / s}           # Eq. 8
>>> agg = {"a": Fraction(3, 2), "b": Fraction(-1, 2), "open": 0}    # ([y = a] - 1/4) / (3/4 - 1/4), of reports in Y'
>>> all_reports = [(held[x] * opened[y], (agg[x] + agg[y]) / n, (y == "open") / (n * (1 - f))) for x in held for y in opened]
>>> def variance(values):
...     mean = sum(chance * value for chance, value in values)
...     return sum(chance * (value - mean) ** 2 for chance, value in values)
>>> sum(chance * (own - f / s * shown) for chance, own, shown in all_reports)        # Eq. 30 is right on average: a has 1/2
Fraction(1, 2)
>>> exact = variance([(chance, own - f / s * shown) for chance, own, shown in all_reports])
>>> stated = variance([(chance, own) for chance, own, _ in all_reports]) + f**3 * theta / (n * s**2 * (1 - f))   # Eq. 31
>>> exact, stated, exact - stated == 2 * theta * (f / s) ** 2 / n
(Fraction(3, 8), Fraction(11, 32), True)
""",
    ),
    Erratum(
        "ULDP E6",
        '"uUE consistently outperforms uRAP across all settings."',
        "By the paper's own Eq. 28 it is worse for small epsilon and many open answers.",
        """
>>> from research.papers.uldp.mechanisms import stated_error
>>> round(stated_error("uUE", 25, 0.5, 0.95), 1), round(stated_error("uRAP", 25, 0.5, 0.95), 1)
(428.4, 401.3)
""",
    ),
    Erratum(
        "ULDP E7",
        "Table 1: a report of uLH takes log2(e^epsilon + d - s) bits.",
        "It must also name its hash function, by Definition 5; the paper has 100,000 of them, 17 bits.",
        """
>>> functions, buckets, opened = 100_000, round(math.exp(3) + 1), 600
>>> round(math.log2(math.exp(3) + opened), 1), round(math.log2(functions * buckets + opened), 1)    # claimed, Definition 5
(9.3, 21.0)
>>> sized("uLH", 400, 3.0, 0.5, opened).layout.bits            # with functions that can be named
34
""",
    ),
    Erratum(
        "ULDP E8",
        "Eq. 49: the best number of buckets.",
        "A stationary point for s far above g; for few sensitive answers and large epsilon it loses up to 249 %.",
        """
>>> from research.papers.uldp.mechanisms import hashed
>>> from deniable.mechanisms.algebra.utility_formulas import published_optimum
>>> g = round(published_optimum(2, math.exp(6.0), 1.0)["g"])
>>> best = min(hashed(2, 6.0, 1.0, each) for each in range(2, 500))
>>> round(hashed(2, 6.0, 1.0, g) / best, 2)
3.49
""",
    ),
    Erratum(
        "ULDP E9",
        "The formulas of uSS hold for one sensitive answer.",
        "They divide 0 by 0 there.",
        """
>>> k, s, odds = 1, 1, 3
>>> k * (k * odds + s - k - odds), (k * odds + s - k) * (s - 1)        # above and below the line of q* in Section 5.1
(0, 0)
>>> single = dn.UtilityOptimized(dn.SubsetSelection, dn.Categories(range(3)), [0], math.log(odds))
>>> dn.certify(single).holds, round(1 - single.disclosed_share, 3)    # an open answer is hidden once in e^epsilon times
(True, 0.333)
""",
    ),
    Erratum(
        "ULDP E10",
        "Collaborative sampling discards the answers of the pilot, a twentieth of all.",
        "That costs 5 %; merged with the others they cost less, although they were asked with parameters for another share.",
        """
>>> numbers = dn.Categories(range(235))
>>> first, rest = (dn.UtilityOptimized(dn.SubsetSelection, numbers, range(230), 1.0, share) for share in (0.0, 0.77))
>>> known = rest.total_noise(0.77)                             # n times the error if all are asked knowing the share, 0.77
>>> discarded, merged = known / 0.95, 0.05 * first.total_noise(0.77) + 0.95 * known
>>> round(discarded / known, 4), round(merged / known, 4)
(1.0526, 1.0014)
""",
    ),
    Erratum(
        "ULDP E11",
        "Section 6.2: p of uUE for Census at epsilon 5 is 0.517.",
        "Eq. 43 gives 0.5179: the number is cut off, not rounded.",
        """
>>> round(published_optimum(424, math.exp(5.0), 0.56)["p"], 4)
0.5179
""",
    ),
    Erratum(
        "ULDP E12",
        '"uSS consistently achieves the lowest MSE."',
        "uHR has less for small epsilon and many open answers, by the exact variances of both; no other estimator "
        "that is linear in the two counts of uHR is unbiased.",
        """
>>> from research.papers.uldp.mechanisms import total
>>> [round(total(sized(name, 25, 1.0, 0.95), 0.95), 1) for name in ("uSS", "uHR")]
[85.1, 66.7]
""",
    ),
)


def _largest(size: int, epsilon: float, share: float) -> float:
    """z of uSS at the best k."""
    return float(disclosed_beside("uSS", size, Fraction(best_subset(size, epsilon, share)), odds_below(epsilon)))


def _sensitive_share() -> float:
    """The mean share of sensitive answers of the three real data sets, in percent."""
    shares = [sensitive / answers for name, (answers, sensitive, _, _) in STATED_SETS.items() if name != "Normal"]
    return 100 * sum(shares) / len(shares)


STATED = (
    Stated("Section 6.1", "mean share of sensitive answers in the three real data sets, %", "23", _sensitive_share),
    Stated(
        "Section 6.3",
        "expected open share of Normal, whose sensitive answers are drawn at random",
        "0.77",
        lambda: 1 - STATED_SETS["Normal"][1] / STATED_SETS["Normal"][0],
    ),
    Stated("Section 6.2", "p of uRAP at epsilon 0.5", "0.562", lambda: float(Unary.symmetric(Categories(range(2)), 0.5).p)),
    Stated("Section 6.2", "p of uRAP at epsilon 5", "0.924", lambda: float(Unary.symmetric(Categories(range(2)), 5.0).p)),
    Stated(
        "Section 6.2", "p of uUE for Census at epsilon 0.5", "0.5", lambda: published_optimum(424, math.exp(0.5), 0.56)["p"]
    ),
    Stated(
        "Section 6.2",
        "p of uUE for Census at epsilon 5",
        "0.517",
        lambda: published_optimum(424, math.exp(5.0), 0.56)["p"],
        "ULDP E11",
    ),
    Stated(
        "Section 6.2",
        "epsilon of uLH in Fig. 5, with the 230 sensitive answers of Normal",
        "2",
        lambda: hashed_epsilon(230, 2.0, 0.77),
        "ULDP E1",
    ),
    Stated("Section 6.3", "z* of uSS for Normal at epsilon 0.5", "0.20", lambda: disclosed_at("uSS", 230, 0.5, 0.77)),
    Stated("Section 6.3", "z* of uUE for Normal at epsilon 0.5", "0.0028", lambda: disclosed_at("uUE", 230, 0.5, 0.77)),
    Stated("Section 6.3", "z* of uLH for Normal at epsilon 0.5", "0.18", lambda: disclosed_at("uLH", 230, 0.5, 0.77)),
    Stated("Section 6.4", "best k of uSS for Foursquare above epsilon 3.5", "1", lambda: best_subset(25, 3.51, 0.95)),
    Stated("Section 6.4", "largest z of uSS for Foursquare there", "0", lambda: _largest(25, 3.51, 0.95)),
    Stated("Section 6.4", "best k of uSS for Drug above epsilon 0", "1", lambda: best_subset(3, 0.01, 0.78)),
    Stated("Section 6.4", "largest z of uSS for Drug there", "0", lambda: _largest(3, 0.01, 0.78)),
)

PAPER = Paper(
    "uldp",
    "ULDP",
    "He et al.: Addressing sensitivity distinction in local "
    "differential privacy: a general utility-optimized framework, 2025",
    ERRATA,
    STATED,
    (
        "Non-sensitive answers are masked as little as any mechanism allows, whatever the channel of the sensitive "
        "ones (`UtilityOptimized`).",
        "Reports are estimated without their noisy part: the same uSS has 19 to 44 % less error for many sensitive answers.",
        "A block design needs no hash function: short reports, fast to count, and nearly the error of uSS.",
        "A pilot starts at an open share of 0.75 and its answers count (`Pilot`).",
    ),
)
