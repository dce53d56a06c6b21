"""The paper on three-element randomized response: its errata, its numbers, and what is better here."""

from fractions import Fraction

from research.papers.errata import Erratum, Paper, Stated
from research.papers.rr3.formulas import best_fake, dagger, eq41, lost

ERRATA = (
    Erratum(
        "RR3 R1",
        "Eq. 27: the variance of EWRR_n.",
        "Wrong for n other than 2, where it can be negative; it is [1-p+(np-1)pi][n-2+p-(np-1)pi] / ((np-1)^2 N).",
        """
>>> from fractions import Fraction
>>> n, p, pi = 3, Fraction(9, 10), 1
>>> printed = (1 - p + (n * p - 1) * pi) * (p - (n * p - 1) * pi) / (n * p - 1) ** 2           # Eq. 27 with N = 1
>>> exact = dn.EqualWeight(dn.Categories(range(n)), p).predict([1, 0, 0], 1).for_population()
>>> round(float(printed), 4), round(float(exact.standard_error[0] ** 2), 4)
(-0.4983, 0.1246)
""",
    ),
    Erratum(
        "RR3 R2",
        "Eqs. 28 and 30: unbiased estimators of pi_1.",
        "Both are biased: on the counts that are expected where all have a high weight they give 0.412 and 2.161, not 1. In "
        "Eq. 28, p1 - 1 must read p1; Eq. 30 mistakes 2 p1 p2 - 1 for 2 p1 (2 p2 - 1) and lacks factors of 1/2.",
        """
>>> import numpy as np
>>> p1 = p2 = Fraction(9, 10)
>>> def expected(three, printed):                            # what is expected where all have a high weight, as estimated
...     shares = three.channel[1]
...     tally = dn.Tally(three.fingerprint, 1000, np.array([int(1000 * share) for share in shares]))
...     return round(float(three.estimate(tally).values[1]), 9), round(float(printed(*shares[:2])), 3)
>>> def eq28(n0, n1):
...     slope = p2 + 2 * p1 - 1
...     return (p1 - 1) / slope - 1 / (3 * p2 - 1) - n0 / slope + (2 * n1 + n0) / (3 * p2 - 1)
>>> def eq30(n0, n1):
...     return p1 / (2 * p1 - 1) - 1 / (2 * p1 * p2 - 1) - n0 / (2 * p1 - 1) + (2 * n1 + n0) / (2 * p1 * p2 - 1)
>>> expected(dn.ThreeState.dagger(p1, p2), eq28), expected(dn.ThreeState.ddagger(p1, p2), eq30)
((1.0, 0.412), (1.0, 2.161))
""",
    ),
    Erratum(
        "RR3 R3",
        "Corollary 4: RR3-ddagger can be inverted where p1 and p1 p2 are not 1/2.",
        "That admits a channel without an inverse, p1 = 0.9, p2 = 1/2, and excludes one that has it, p1 = 5/8, p2 = 4/5. "
        "The condition is that neither p1 nor p2 is 1/2.",
        """
>>> def admitted(p1, p2):
...     return p1 != Fraction(1, 2) and p1 * p2 != Fraction(1, 2)
>>> admitted(Fraction(5, 8), Fraction(4, 5)), dn.ThreeState.ddagger(Fraction(5, 8), Fraction(4, 5)).estimates_weight
(False, True)
>>> admitted(Fraction(9, 10), Fraction(1, 2))
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
        "Section 3.2: the variance of an estimator is found by replacing each count N_i by Var(N_i), its factor squared.",
        "Counts vary together, since they sum to N; leaving that out is wrong wherever two counts are used, as for pi_1.",
        """
>>> p1, p2 = Fraction(4, 5), Fraction(3, 4)
>>> three = dn.ThreeState.ddagger(p1, p2)
>>> q0, q1, _ = (sum(share * row[y] for share, row in zip((0.5, 0.3, 0.2), three.channel)) for y in range(3))
>>> turn = 2 * p1 * (2 * p2 - 1)                             # pi_1 = ... + (1/turn - 1/(2 (2 p1 - 1))) N_0 + 2/turn N_1
>>> first, second = float(1 / turn - 1 / (2 * (2 * p1 - 1))), float(2 / turn)
>>> recipe = first**2 * q0 * (1 - q0) + second**2 * q1 * (1 - q1)
>>> exact = three.predict([0.5, 0.3, 0.2], 1).for_population().standard_error[1] ** 2
>>> both = recipe - 2 * first * second * q0 * q1             # with the covariance of the counts, -q0 q1
>>> round(recipe, 4), round(float(exact), 4), round(both, 4)
(1.2753, 0.994, 0.994)
""",
    ),
    Erratum(
        "RR3 R5",
        "Omega_3-dagger(1): RR3-dagger keeps epsilon where 1/3 < p1 < p2 and 2 p1 <= e^epsilon (1 - p2).",
        "The bound 2 p2 <= e^epsilon (1 - p2) binds there and was dropped.",
        """
>>> import math
>>> p1, p2 = Fraction(2, 5), Fraction(7, 10)
>>> Fraction(1, 3) < p1 < p2 and 2 * p1 <= math.e * (1 - p2)
True
>>> print(round(dn.ThreeState.dagger_as_published(p1, p2, 1.0).loss().epsilon(), 3))
1.54
""",
    ),
    Erratum(
        "RR3 R6",
        "Theorem 4: the variance comes near its least value towards p1 = e^epsilon / 3, p2 = 1/3.",
        "That point is not private, and from epsilon = ln 3 on it is not even a probability; the largest p1 there is "
        "1 - 2 / (3 e^epsilon). "
        "The arg min is empty only because p2 = 1/3 and p1 = p2 were left out.",
        """
>>> third = Fraction(1, 3)
>>> for p1 in (Fraction(math.e / 3).limit_denominator(10**6) - Fraction(1, 10**6), 1 - 2 / (3 * Fraction(math.e))):
...     print(round(float(p1), 3), round(dn.ThreeState.dagger_as_published(p1, third, 1.0).loss().epsilon(), 3))
0.906 1.96
0.755 1.0
""",
    ),
    Erratum(
        "RR3 R7",
        "Eqs. 40b and 42: derivatives of the variance of RR3-dagger.",
        "In Eq. 40b, 1 - 4 p1 must read 2 - 4 p1; in Eq. 42 the factor p1 of its first term is superfluous. "
        "Both stay below 0.",
        """
>>> from research.papers.rr3.formulas import eq40, eq42, exact_slopes
>>> [round(each, 3) for each in (*eq40(0.7, 0.5, 0.4), *exact_slopes(0.7, 0.5, 0.4))]      # 40a is right
[-5.103, -2.403, -5.103, -2.897]
>>> round(eq42(0.7, 0.4), 3), round(exact_slopes(0.7, 1 / 3, 0.4)[0], 3)
(-10.305, -10.008)
""",
    ),
    Erratum(
        "RR3 R8",
        "Lemma 1: LPP costs exactly epsilon1 + epsilon2.",
        "Only an upper bound: the fake weight is fresh, so it is max{epsilon2, epsilon1 + ln(2 / (1 + e^-epsilon2))}.",
        """
>>> key = dn.KeyValue(["key"], -1, 1, 1)
>>> print(round(dn.KeySampling.privkv(key, 1.0, 1.0).loss().epsilon(), 4))                # Lemma 1: 2
1.3799
""",
    ),
    Erratum(
        "RR3 R9",
        "Lemma 2: LPP-ddagger costs epsilon1 + ln(2 / (1 + e^-epsilon2)).",
        "It ignores that two weights of an existing key can be distinguished with the whole of epsilon2.",
        """
>>> printed = 0.1 + math.log(2 / (1 + math.exp(-2.0)))
>>> round(printed, 3), round(dn.KeySampling.privkv(key, 0.1, 2.0).loss().epsilon(), 3)
(0.666, 2.0)
""",
    ),
    Erratum(
        "RR3 R10",
        "Eq. 6: the mean degree divides by all pairs of vertices, (n + m)(n + m - 1) / 2.",
        "In a bipartite graph most pairs are impossible; the mean "
        "degree of the items is the number of links over that of items.",
        """
>>> films, people = dn.KeyValue(["Alien", "Brazil"], 0, 5, 2), [{"Alien": 5, "Brazil": 3}] * 30_000
>>> links, n, m = sum(map(len, people)), len(people), 2
>>> round(links / ((n + m) * (n + m - 1) / 2), 6), links / m                              # Eq. 6; the mean degree
(0.000133, 30000.0)
>>> graph = dn.BipartiteGraph.collect(films, people, 6.0, coins=dn.SeededCoins(1))
>>> round(graph.item_degree.value, -3)
30000.0
""",
    ),
    Erratum(
        "RR3 R11",
        "Theorem 1: the maximum likelihood estimator is unbiased.",
        "The root of the derivatives is unbiased, but it can lie outside the possible shares. The likelihood is then "
        "largest at their boundary, and that estimator is biased: with one person of state 0 it is 1 or 0, and p on "
        "average.",
        """
>>> three = dn.ThreeState.ewrr(1.0)
>>> channel = np.array(three.channel, float)
>>> shares = [np.array([a, b, 20 - a - b]) / 20 for a in range(21) for b in range(21 - a)]
>>> likely = [max(shares, key=lambda pi: float(pi @ channel[:, report])) for report in range(3)]
>>> roots = np.linalg.inv(channel)                           # the row of each report
>>> [round(float(channel[0] @ [each[0] for each in tried]), 3) for tried in (likely, roots)]
[0.576, 1.0]
""",
    ),
    Erratum(
        "RR3 R12",
        "Eq. 14: both lines are zero at the true shares.",
        "Neither is: the middle terms need the other sign, and the first term of the second line E[N_0], not E[N_1].",
        """
>>> P, pi = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]), np.array([0.5, 0.3, 0.2])
>>> seen = pi @ P                                            # E[N_j] / N
>>> def line(by, first, sign):                               # the derivative by pi_0 or pi_1
...     slopes = P[by] - P[2]
...     return abs(round(float(first * slopes[0] / seen[0] + sign * slopes[2] + slopes[1]), 9))
>>> (line(0, seen[0], -1), line(1, seen[1], -1)), (line(0, seen[0], 1), line(1, seen[0], 1))       # printed, mended
((1.2, 0.789473684), (0.0, 0.0))
""",
    ),
    Erratum(
        "RR3 R13",
        "Section 4.2.3: a missing link remains with probability b, and is set to either sign with b/2 each.",
        "These sum to 2 b; in the matrix below they are b and (1 - b)/2.",
        """
>>> b = Fraction(3, 5)
>>> print(b + b / 2 + b / 2, b + (1 - b) / 2 + (1 - b) / 2)
6/5 1
""",
    ),
    Erratum(
        "RR3 R14",
        "Eq. 57: PCKV-UE costs max{ln(a p / ((1 - b)/2) a / (1 - b)), a p / (a (1 - p))}.",
        "For a / (1 - b) read b / (1 - a), and the second is its logarithm; then it is Eq. 56, which is right.",
        """
>>> a, b, p = Fraction(1, 2), Fraction(3, 5), Fraction(7, 10)           # b: a missing link remains so
>>> first = a * p / ((1 - b) / 2)
>>> printed = max(math.log(first * a / (1 - b)), a * p / (a * (1 - p)))
>>> mended = max(math.log(first * b / (1 - a)), math.log(p / (1 - p)))
>>> exact = dn.PCKVUnary.of(dn.KeyValue(["one", "other"], -1, 1, 1), a, 1 - b, p).loss().epsilon()
>>> round(float(printed), 4), round(mended, 4), round(exact, 4)
(2.3333, 0.8473, 0.8473)
""",
    ),
)

NINE = Fraction(9, 10)


STATED = (
    Stated(
        "Corollary 1", "p at which EWRR3 loses the degree", "1/3", lambda: lost(lambda p: dagger(p, p), "degree", 0.1, 0.9)
    ),
    Stated(
        "Corollary 3",
        "p2 at which RR3-dagger loses the weight",
        "1/3",
        lambda: lost(lambda p: dagger(NINE, p), "weight", 0.1, 0.9),
    ),
    Stated(
        "Corollary 4",
        "p1 at which RR3-ddagger loses the degree",
        "1/2",
        lambda: lost(lambda p: (p, p, NINE), "degree", 0.1, 0.9),
    ),
    Stated(
        "Corollary 4",
        "p1 p2 at which it loses the weight, where p1 = 0.9",
        "1/2",
        lambda: 0.9 * lost(lambda p: (NINE, NINE, p), "weight", 0.1, 0.9),
        "RR3 R3",
    ),
    Stated(
        "Corollary 5",
        "q at which RR3-club loses the weight",
        "1/2",
        lambda: lost(lambda q: (NINE, NINE, q), "weight", 0.1, 0.9),
    ),
    Stated("Eq. 41", "constant of the variance at p2 = 1/3", "8/9", lambda: eq41(0)),
    Stated("Eq. 41", "factor of (2 p1 - 2/3) pi_0", "2/3", lambda: eq41(1)),
    Stated("Eq. 54", "mean of the fake weights for which LPP costs least", "0", best_fake),
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
        "`BipartiteGraph.collect` protects all links of a person at once. On graphs with many links per person, "
        "asking about one item (KVUE) has 5 to 14 times less error than PCKV-UE with padding, and the planner "
        "chooses the better of the two.",
    ),
)
