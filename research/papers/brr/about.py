"""The paper on bipartite randomized response: its errata, its numbers, and what is better here."""

from collections.abc import Callable

from research.papers.brr.theorems import FIGURE3, crossing, sorted_losses
from research.papers.errata import Erratum, Paper, Stated

ERRATA = (
    Erratum(
        "BRR A1",
        "Algorithm 3, line 4: for an even i the middle row has m2 = i + 1.",
        "It is i - 1, the largest odd number that is not above the root. With i + 1 the middle row never decides.",
        """
>>> line = dn.Ordered(range(1, 9))                           # 8 points
>>> dn.Bipartite.as_published(line, 0.5).near, dn.Bipartite(line, 0.5).near
(4, 3)
""",
    ),
    Erratum(
        "BRR A2",
        "Theorem 1 (2): for epsilon >= 1 the end row alone decides.",
        "The middle row's odd number can be smaller at any epsilon.",
        """
>>> line = dn.Ordered(range(1, 5))
>>> dn.Bipartite.as_published(line, 1.0).near, dn.Bipartite(line, 1.0).near
(2, 1)
""",
    ),
    Erratum(
        "BRR A3",
        "Eq. (15): the root of the end row is below N (x - 1) / (E - 1), x = e^(epsilon/2), E = x^2.",
        "A square root of a sum of squares exceeds its first term; the root lies above.",
        """
>>> import math
>>> N, E = 10, math.e
>>> root = (math.sqrt(N**2 * E + (1 - E) ** 2 / 4) - (N - E / 2 + 1 / 2)) / (E - 1)
>>> round(root, 3), round(N * (math.sqrt(E) - 1) / (E - 1), 3)
(4.288, 3.775)
""",
    ),
    Erratum(
        "BRR A4",
        "The number of near answers of the end row is the root rounded down.",
        "If the root is whole, Algorithm 1, which asks for a strict improvement, stops one earlier; the loss is the same.",
        """
>>> from fractions import Fraction
>>> from deniable.mechanisms.algebra.split import row_split
>>> root = (math.sqrt(4**2 * 3 + (1 - 3) ** 2 / 4) - (4 - 3 / 2 + 1 / 2)) / (3 - 1)
>>> root, row_split([0, 1, 2, 3], Fraction(3))               # 4 points, odds 3
(2.0, 1)
""",
    ),
    Erratum(
        "BRR A5",
        "Theorems 2 and 4: bipartite response never loses more than direct response.",
        "True with the m of Algorithm 2, false with that of Algorithm 3.",
        """
>>> line = dn.Ordered(range(1, 76))
>>> printed, direct = dn.Bipartite.as_published(line, 7.9), dn.Bipartite(line, 7.9, near=1)
>>> round(printed.expected_loss() / direct.expected_loss(), 3)
1.236
""",
    ),
    Erratum(
        "BRR A6",
        '"No better mechanism exists: BRR is optimal in a reasonable global sense."',
        "The best m loses less, and a coarsened direct response less again: it is the optimum on a line.",
        """
>>> line = dn.Ordered(range(1, 6))
>>> for mechanism in (dn.Bipartite(line, 1.0), dn.Bipartite(line, 1.0, "mean"), dn.Coarsened(line, 1.0)):
...     print(round(mechanism.expected_loss(), 4))
1.1908
1.1519
0.9934
""",
    ),
    Erratum(
        "BRR A7",
        "Bipartite response is useful at high privacy.",
        "For many points and epsilon below 0.928 it loses more than always answering the middle, which needs no report.",
        """
>>> line = dn.Ordered(range(1, 51))
>>> constant = dn.compare_releases(line, 0.5)["constant answer"].expected
>>> round(dn.Bipartite(line, 0.5).expected_loss(), 2), round(constant, 2)
(14.37, 12.5)
""",
    ),
    Erratum(
        "BRR A8",
        "Eq. (20): both lines are the sum of the losses of all true answers.",
        "The second line is, for odd N and m; the first, whose factor of N^2 contains -3 e^epsilon, is not even positive.",
        """
>>> N, m, E = 9, 3, math.e
>>> c = m / N
>>> cubes, below = (E - 1) * c**3 + 3 * (E - 1) * c**2, 12 * ((E - 1) * c + 1)
>>> first = (cubes - 3 * E + 4) / below * N**2 - 1 / 12
>>> second = (cubes * N**2 - (E - 1) * c - 3 * E - 1 + 4 * N**2) / below
>>> exact = float(dn.Bipartite(dn.Ordered(range(1, N + 1)), 1.0, near=m).row_losses().sum())
>>> round(first, 3), round(second, 3), round(exact, 3)
(-15.184, 19.383, 19.383)
""",
    ),
    Erratum(
        "BRR A9",
        "Theorem 2 holds for any fixed prior point k.",
        "Its numbers are the largest and smallest over points k(N) = d N; for a fixed point the limit is 2 / (x + 1).",
        """
>>> line = dn.Ordered(range(1, 20_002))
>>> bipartite, direct = (m.row_losses()[0] for m in (dn.Bipartite(line, 1.0), dn.Bipartite(line, 1.0, near=1)))
>>> round(float(bipartite / direct), 3), round(2 / (math.exp(0.5) + 1), 3)
(0.755, 0.755)
""",
    ),
    Erratum(
        "BRR A10",
        "Fig. 3: the smallest loss of the true answers 2 to 7 is 1.",
        "It is 0, that of the truth itself, as the text below the figure says; all other entries are right.",
        """
>>> import numpy as np
>>> np.sort(dn.Ordered(range(1, 21)).losses(np.array([1]))[0])[:5].astype(int).tolist()    # Fig. 3: 1 1 1 2 3
[0, 1, 1, 2, 3]
""",
    ),
    Erratum(
        "BRR A11",
        "Section 5.3: releases stay within the region of the true place.",
        "Then a release rules out every place of the other regions: epsilon is unbounded over the whole map.",
        """
>>> rows = [[3, 1, 0, 0], [1, 3, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]]     # two regions of two places
>>> print(dn.FiniteChannel(dn.Ordered(range(4)), 1.2, rows).loss().epsilon())
inf
""",
    ),
    Erratum(
        "BRR A12",
        "Appendix B.2: a gradient is perturbed within [-C, 0] or [0, C], by its sign.",
        "The sign is disclosed, so that epsilon is unbounded; the interval must be [-C, C] whatever the gradient.",
        """
>>> rows = [[2, 1, 0], [0, 1, 2]]                            # a gradient of -C and one of C, released as -C, 0 or C
>>> print(dn.FiniteChannel(dn.Ordered([-1, 1]), 1.0, rows).loss().epsilon())
inf
""",
    ),
    Erratum(
        "BRR A13",
        "Appendix B.2: Abadi et al. add Laplace noise; a bound C on the Euclidean norm bounds what it must hide.",
        "They add Gaussian noise. Laplace noise needs a bound on the sum of the absolute values, up to the root of d "
        "larger: with d = 4 numbers, noise for epsilon 1 by the Euclidean distance costs 2.",
        """
>>> from deniable_learn.noise import geometric_law, step_odds
>>> one, other = (1, 1, 1, 1), (-1, -1, -1, -1)              # gradients in halves of C: both have the norm C
>>> apart = round(math.dist(one, other))                     # by the Euclidean norm: 4 halves
>>> step = step_odds(1.0, apart)                             # noise for epsilon 1 and that distance
>>> worst = math.prod(geometric_law(step, 0) / geometric_law(step, a - b) for a, b in zip(one, other))
>>> apart, round(math.log(worst), 6)
(4, 2.0)
""",
    ),
    Erratum(
        "BRR A14",
        "Appendix A.1: the smallest ratio contains the root of e^epsilon + 2 e^epsilon + 2.",
        "It is the root of e^epsilon + 2 e^(epsilon/2) + 2, as Theorem 2 has it.",
        """
>>> x, E = math.exp(0.5), math.e
>>> appendix, theorem = (x - (x - 1) / (x + 1) * (math.sqrt(E + 2 * each + 2) + 1) for each in (E, x))
>>> line = dn.Ordered(range(1, 20_002))
>>> exact = dn.Bipartite(line, 1.0).row_losses() / dn.Bipartite(line, 1.0, near=1).row_losses()
>>> round(appendix, 3), round(theorem, 3), round(float(exact.min()), 3)
(0.623, 0.71, 0.71)
""",
    ),
    Erratum(
        "BRR A15",
        "Fig. 11: networks learn better from vectors released by bipartite response than from those with Laplace noise.",
        "In the authors' program that noise is drawn evenly from 41 numbers within a tenth of the range, whatever epsilon "
        "is, so that values further apart are distinguished with certainty; and the budgets of its Laplace noise do not "
        "sum to epsilon.",
        """
>>> from research.papers.brr.published_vectors import grid_loss
>>> print(grid_loss())                                       # two values at the ends of the range
inf
""",
    ),
    Erratum(
        "BRR A16",
        "Fig. 9: leaves perturbed by bipartite response have a third to a half less error than those with Laplace noise.",
        "In the authors' program one Laplace draw is added to all people of a leaf, so that it does not average out, while "
        "bipartite response is drawn for each person. With a draw for each person the order is reversed or tied.",
        """
>>> import numpy as np
>>> from research.papers.brr.authors_trees import Program
>>> def spread(way, people=1000):                            # of a leaf whose people all have residual 0, at epsilon 1
...     return np.std([Program(way, 1.0, 0.1, seed).leaf(np.zeros(people), 1.0) for seed in range(200)])
>>> bool(spread("one draw") > 20 * spread("draw each"))
True
""",
    ),
    Erratum(
        "BRR A17",
        "Section B.1: bias has 4,177 rows and 8 features, abalone 7,588 and 23.",
        "The other way round. `deniable reproduce brr/fig9 --data DIR` counts both files.",
        """
>>> from research.papers.brr.fig9 import SIZES               # as stated; abalone is known to have 4,177 rows and 8 features
>>> SIZES["bias"], SIZES["abalone"]
(('4177', '8'), ('7588', '23'))
""",
    ),
)


def _loss(truth: int, column: int) -> Callable[[], float]:
    return lambda: float(sorted_losses(20, truth)[column - 1])


STATED = (
    Stated("Theorem 1", "epsilon at which the two bounds of its proof meet", "0.9624", crossing),
    *(
        Stated("Fig. 3", f"loss 12 of the true answer {truth}", str(row[11]), _loss(truth, 12))
        for truth, row in enumerate(FIGURE3, 1)
    ),
    Stated("Fig. 3", "loss 1 of the true answer 1", "0", _loss(1, 1)),
    *(Stated("Fig. 3", f"loss 1 of the true answer {truth}", "1", _loss(truth, 1), "BRR A10") for truth in (2, 7)),
)

PAPER = Paper(
    "brr",
    "BRR",
    "Zhang, Zhu, Chen, Hu: Bipartite randomized response mechanism for local differential privacy, 2025",
    ERRATA,
    STATED,
    (
        "`Coarsened` is the exact optimum on a line, by dynamic programming; bipartite response loses 3 to 30 % more.",
        '`Bipartite(..., "mean")` takes the m that is best on average, in one pass over the averaged row.',
        "m on a line is found from two whole-number tests, which are right in all 63,840 cases; the printed "
        "Algorithm 3 is wrong in a quarter of them.",
        "`Staircase` is L-SRR with rings of equal sizes: it keeps its promise, and is often better than bipartite response.",
        "Every release is certified over the whole list of answers, never within regions.",
    ),
)
