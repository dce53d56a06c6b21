"""The paper on utility-optimized response: its errata, its numbers, and what is better here."""

import math

from deniable.domains import Categories
from deniable.mechanisms import Unary
from deniable.papers.errata import Erratum, Paper, Stated
from deniable.papers.uldp.mechanisms import best_subset, hashed_epsilon, sized, stated_error
from deniable.wrappers.published import published_optimum

ERRATA = (
    Erratum(
        "ULDP E1",
        "Eqs. 45 and 59: the largest z of uLH and uWheel that keeps epsilon.",
        "It is worked out for the average over all hash functions, but a report names its function.",
        """
>>> import math
>>> from deniable.mechanisms import LocalHashing
>>> published = dn.PublishedUtility(LocalHashing.binary, dn.Categories(range(3)), range(2), math.log(3))
>>> round(published.epsilon, 3), round(published.loss().epsilon(), 3), dn.certify(published).holds
(1.099, 1.435, False)
""",
    ),
    Erratum(
        "ULDP E3",
        "uUE has the largest z.",
        "Right and private, but far from the largest that any mechanism with its sensitive channel allows.",
        """
>>> from deniable.papers.uldp.mechanisms import sized
>>> best = dn.UtilityOptimized(dn.Unary, dn.Categories(range(235)), range(230), 0.5, 0.77)
>>> round(sized("uUE", 230, 0.5, 0.77).told_share, 4), round(best.told_share, 2)
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
>>> f, z, s, theta = 0.8, 0.5, 2, 0.5
>>> 2 * theta * (f * (1 - z) / s) ** 2 > 0
True
""",
    ),
    Erratum(
        "ULDP E6",
        '"uUE consistently outperforms uRAP across all settings."',
        "By the paper's own Eq. 28 it is worse for small epsilon and many open answers.",
        """
>>> from deniable.papers.uldp.mechanisms import stated_error
>>> round(stated_error("uUE", 25, 0.5, 0.95), 1), round(stated_error("uRAP", 25, 0.5, 0.95), 1)
(428.4, 401.3)
""",
    ),
    Erratum(
        "ULDP E7",
        "Table 1: a report of uLH takes log2(e^epsilon + d - s) bits.",
        "It must also name its hash function, by Definition 5; the paper has 100,000 of them, 17 bits.",
        """
>>> sized("uLH", 400, 3.0, 0.5, 600).layout.bits > 10 > math.log2(math.exp(3) + 600)
True
""",
    ),
    Erratum(
        "ULDP E8",
        "Eq. 49: the best number of buckets.",
        "A stationary point for s far above g; for few sensitive answers and large epsilon it loses up to 249 %.",
        """
>>> from deniable.papers.uldp.mechanisms import hashed
>>> from deniable.wrappers.published import published_optimum
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
>>> try:
...     dn.PublishedUtility(dn.SubsetSelection, dn.Categories(range(3)), [0], 1.0)
... except dn.InvalidParameter as error:
...     print(str(error)[:50])
The published mechanisms need two sensitive answer
""",
    ),
    Erratum(
        "ULDP E10",
        "Collaborative sampling discards the answers of the pilot.",
        "They can be merged: the error grows by about 1 % instead of 5 %.",
        """
>>> pilot = dn.Pilot(dn.SubsetSelection, dn.Categories(range(40)), list(range(25)), 1.0)
>>> pilot.first.told_share > 0.2
True
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
)

STATED = (
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
    Stated("Section 6.3", "z* of uSS for Normal at epsilon 0.5", "0.20", lambda: sized("uSS", 230, 0.5, 0.77).told_share),
    Stated("Section 6.3", "z* of uUE for Normal at epsilon 0.5", "0.0028", lambda: sized("uUE", 230, 0.5, 0.77).told_share),
    Stated("Section 6.3", "z* of uLH for Normal at epsilon 0.5", "0.18", lambda: sized("uLH", 230, 0.5, 0.77).told_share),
    Stated(
        "Eq. 45",
        "epsilon of uLH with 230 sensitive answers, asked for 2",
        "2",
        lambda: hashed_epsilon(230, 2.0, 0.77),
        "ULDP E1",
    ),
    Stated(
        "Section 6.2",
        "smallest error of uUE over that of uRAP, Foursquare at epsilon 0.5, said to be below 1",
        "0",
        lambda: stated_error("uUE", 25, 0.5, 0.95) / stated_error("uRAP", 25, 0.5, 0.95),
        "ULDP E6",
    ),
    Stated("Section 6.4", "best k of uSS for Foursquare at epsilon 4", "1", lambda: best_subset(25, 4.0, 0.95)),
    Stated("Section 6.4", "best k of uSS for Drug at epsilon 0.5", "1", lambda: best_subset(3, 0.5, 0.78)),
    Stated(
        "Section 5.4",
        "best g of uLH for many sensitive answers at epsilon 1, about e + 1",
        "4",
        lambda: published_optimum(10**6, math.e, 0.56)["g"],
    ),
)

PAPER = Paper(
    "uldp",
    "ULDP",
    "He et al.: Addressing sensitivity distinction in local "
    "differential privacy: a general utility-optimized framework, 2025",
    ERRATA,
    STATED,
    (
        "Open answers hide behind the least mask that any mechanism "
        "allows, whatever its sensitive channel (`UtilityOptimized`).",
        "Reports are estimated without their noisy part: the same uSS has 19 to 44 % less error for many sensitive answers.",
        "A block design needs no hash function: short reports, fast to count, and nearly the error of uSS.",
        "A pilot starts at an open share of 0.75 and its answers count (`Pilot`).",
    ),
)
