"""The paper on three-element randomized response: its errata, its numbers, and what is better here."""

import math
from fractions import Fraction

from deniable.domains import KeyValue
from deniable.mechanisms import KeySampling, ThreeState
from deniable.papers.errata import Erratum, Paper, Stated

ERRATA = (
    Erratum(
        "RR3 R1",
        "Eq. 27: the variance of EWRR_n.",
        "Wrong for n other than 2, where it can be negative; it is [1-p+(np-1)pi][n-2+p-(np-1)pi] / ((np-1)^2 N).",
        """
>>> from fractions import Fraction
>>> exact = dn.EqualWeight(dn.Categories(range(3)), Fraction(9, 10)).predict([1, 0, 0], 1).for_population()
>>> round(float(exact.standard_error[0] ** 2), 4)            # Eq. 27 prints -0.498
0.1246
""",
    ),
    Erratum(
        "RR3 R2",
        "Eqs. 28 and 30: estimators of pi_1.",
        "Biased: p1 - 1 must read p1. Where all have a high weight "
        "and all tell the truth, Eq. 28 gives 1/2 and Eq. 30 gives 2.",
        """
>>> import numpy as np
>>> dagger = dn.ThreeState.dagger(Fraction(9, 10), Fraction(9, 10))
>>> tally = dn.Tally(dagger.fingerprint, 100, np.array([5, 90, 5]))    # as expected where all have a high weight
>>> round(float(dagger.estimate(tally).values[1]), 9)
1.0
>>> p1, p2 = 0.9, 0.9
>>> slope = 2 * p1 + p2 - 1
>>> round((p1 - 1) / slope - 1 / (3 * p2 - 1) - 0.05 / slope + (2 * 0.9 + 0.05) / (3 * p2 - 1), 3)     # Eq. 28
0.412
""",
    ),
    Erratum(
        "RR3 R3",
        "Corollary 4: conditions under which RR3-ddagger can be inverted.",
        "They admit a singular channel, p1 = 0.9, p2 = 1/2, and exclude one that is not, p1 = 5/8, p2 = 4/5.",
        """
>>> dn.ThreeState.ddagger(Fraction(5, 8), Fraction(4, 5)).tells_weight
True
>>> try:
...     dn.ThreeState.ddagger(Fraction(9, 10), Fraction(1, 2))
... except dn.InvalidParameter as error:
...     print(str(error)[:32])
These parameters lose the weight
""",
    ),
    Erratum(
        "RR3 R4",
        "Section 3.2: the variance of an estimator is found by replacing each count by its variance.",
        "Counts vary together, since they sum to N; leaving that out is wrong wherever two counts are used.",
        """
>>> three = dn.ThreeState.ewrr(1.0)
>>> covariance = three.predict([0.5, 0.3, 0.2], 1).covariance()
>>> bool(covariance[0, 1] < 0)
True
""",
    ),
    Erratum(
        "RR3 R5",
        "Omega_3-dagger(1): RR3-dagger keeps epsilon where 2 p1 <= e^epsilon (1 - p2).",
        "The bound 2 p2 <= e^epsilon (1 - p2) binds there and was dropped.",
        """
>>> print(round(dn.ThreeState.dagger_as_published(Fraction(2, 5), Fraction(7, 10), 1.0).loss().epsilon(), 3))
1.54
""",
    ),
    Erratum(
        "RR3 R6",
        "Theorem 4: no feasible point has the least variance, the infimum being at p1 = e^epsilon / 3.",
        "With the missing bound the region is closed and has a best point; p1 = e^epsilon / 3 is not in it for epsilon 1.",
        """
>>> import math
>>> fake = (1 - math.e / 3) / 2                              # a missing link that becomes a high one, at p2 = 1/3
>>> round(math.log((1 / 3) / fake), 3)                       # against a high link that stays one
1.96
""",
    ),
    Erratum(
        "RR3 R8",
        "Lemma 1: LPP costs exactly epsilon1 + epsilon2.",
        "Only an upper bound: the fake weight is fresh, so it is max{epsilon2, epsilon1 + ln(2 / (1 + e^-epsilon2))}.",
        """
>>> key = dn.KeyValue(["key"], -1, 1, 1)
>>> print(round(dn.KeySampling.privkv(key, 1.0, 1.0).loss().epsilon(), 4))
1.3799
""",
    ),
    Erratum(
        "RR3 R9",
        "Lemma 2: what LPP-ddagger costs.",
        "It leaves out that two weights of a key that is there can be told apart with all of epsilon2.",
        """
>>> published = dn.KeySampling.as_published(key, 0.1, 2.0)
>>> round(published.epsilon, 3), round(published.loss().epsilon(), 3)
(0.666, 2.0)
""",
    ),
    Erratum(
        "RR3 R10",
        "Eq. 6: the mean degree divides by all pairs of vertices, (n + m)(n + m - 1) / 2.",
        "In a bipartite graph most pairs are impossible; the mean "
        "degree of the items is the number of links over that of items.",
        """
>>> films = dn.KeyValue(["Alien", "Brazil"], 0, 5, 2)
>>> graph = dn.BipartiteGraph.collect(films, [{"Alien": 5, "Brazil": 3}] * 30_000, 6.0, coins=dn.SeededCoins(1))
>>> round(graph.item_degree.value, -3)
30000.0
""",
    ),
)

STATED = (
    Stated("Theorem 2", "best p of EWRR3 at epsilon 1, e / (e + 2)", "0.576", lambda: float(ThreeState.ewrr(1.0).p1)),
    Stated("Theorem 3", "best p below 1/3 at epsilon 1, 1 / (2 e + 1)", "0.155", lambda: 1 / (2 * math.e + 1)),
    Stated("Eq. 38a", "best p of EWRR_n for n = 5 at epsilon 1, e / (e + n - 1)", "0.405", lambda: math.e / (math.e + 4)),
    Stated(
        "Section 4.1",
        "epsilon of (0.4, 0.7) in Omega_3-dagger(1) at epsilon 1",
        "1",
        lambda: ThreeState.dagger_as_published(Fraction(2, 5), Fraction(7, 10), 1.0).loss().epsilon(),
        "RR3 R5",
    ),
    Stated("Theorem 4", "largest p1 at p2 = 1/3 and epsilon 1, e / 3", "0.906", lambda: 1 - 2 / (3 * math.e), "RR3 R6"),
    Stated(
        "Lemma 1",
        "epsilon of LPP with 1 and 1",
        "2",
        lambda: KeySampling.privkv(KeyValue(["key"], -1, 1, 1), 1.0, 1.0).loss().epsilon(),
        "RR3 R8",
    ),
    Stated(
        "Lemma 2",
        "epsilon of LPP-ddagger with 0.1 and 2",
        "0.666",
        lambda: KeySampling.as_published(KeyValue(["key"], -1, 1, 1), 0.1, 2.0).loss().epsilon(),
        "RR3 R9",
    ),
)

PAPER = Paper(
    "rr3",
    "RR3",
    "Ma, Wang: Randomized response mechanisms for differential privacy data analysis: bounds and applications, 2021",
    ERRATA,
    STATED,
    (
        "One class, `ThreeState`, holds all four families; `ThreeState.design` "
        "finds the best channel for degrees, weights or both.",
        "Estimates and their exact covariance come from the inverse "
        "of the channel, for a fixed population and for a drawn one.",
        "`BipartiteGraph.collect` protects all links of a person at once; "
        "PCKV-UE with padding has a fraction of the error of one asked item.",
    ),
)
