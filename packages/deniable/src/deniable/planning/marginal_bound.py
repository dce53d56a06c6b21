"""The error of tables of several answers of each person that no mechanism with an unbiased estimate can beat.

A person has an answer to each of several questions, and all combinations are equally common. A table has a cell for each
combination of the answers to some of them: a table of one question holds the shares of its answers.

Proof. All cells together are linear questions about the shares of the N combinations. The products of their columns are the
same for all pairs of combinations that agree in the same questions. So their eigenvectors are the effects of a set S of
questions: products of one vector that sums to 0 for each question in S, (d_i - 1) of them each. A table t has the eigenvalue
N / (product of its d_i) for every S within t, and 0 otherwise; those of several tables add up. With s the roots of all
eigenvalues, the variances of all cells sum to at least (sum of s)^2 over N h, where h bounds what one report says about the
effects (McKenna, Maity, Mazumdar, Miklau 2020, whose h is about everything).

What is h? Let r be the probability of a report under each combination over its mean, and u an effect with the mean 0 and
the mean square 1. Then h is the largest E[r u]^2, and as for vectors (`vector_bounds`), E[r u] is at most g if (odds - 1)
E(u - g)^+ <= g. With D effects in all, u is at most M = sqrt(D), because the squares of all effects sum to D at every
combination. If D <= odds, (u - g)^+ <= (M - g) (u + 1/M)^2 / (M + 1/M)^2, so that g = (odds - 1) M / (odds + D) will do;
else (u - g)^+ <= (u - g + sqrt(1 + g^2))^2 / (4 sqrt(1 + g^2)), and g = (odds - 1) / (2 sqrt(odds)) will. If each
table has one question, of two answers, every effect is a sign, and u is a sum of signs with weights whose squares sum to 1:
these are the corners of a box, with the g of `corner_gain`.

Of the variances, f (1 - f) in a cell with the share f is the drawing of people, which is no error of a report. And each
table is a single question for itself, so that the sum of the bounds of all (`share_bound`) is another bound, the larger one
where the budget is large.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain, combinations

from deniable.core import checked_epsilon
from deniable.mechanisms.algebra.information import most_information
from deniable.planning.bounds import share_bound
from deniable.planning.vector_bounds import corner_gain

ROUNDING = 1e-9  # relatively: many times what floats can be off


def marginal_bound(sizes: Sequence[int], tables: Iterable[Sequence[int]], epsilon: float, n: int) -> float:
    """The standard error, root mean square over the cells of all tables, that no mechanism with this epsilon can beat.

    `sizes` are the numbers of answers, and a table names the places of its questions.

    >>> round(marginal_bound([2, 2], [(0,), (1,)], 1.0, 100), 4)  # two questions with yes and no
    0.1446
    >>> round(marginal_bound([4], [(0,)], 1.0, 100), 4)  # one question: as for shares
    0.1374
    """
    wanted = [tuple(sorted(table)) for table in tables]
    cells = [math.prod(sizes[place] for place in table) for table in wanted]
    effects = set(chain.from_iterable(combinations(table, count) for table in wanted for count in range(1, len(table) + 1)))
    sums, total = 0.0, 0
    for effect in effects:
        value = sum(1 / size for table, size in zip(wanted, cells, strict=True) if set(effect) <= set(table))
        alike = math.prod(sizes[place] - 1 for place in effect)
        sums, total = sums + alike * math.sqrt(value), total + alike
    drawn = sum(1 - 1 / size for size in cells)
    odds = Fraction(math.nextafter(math.exp(checked_epsilon(epsilon)), math.inf))
    most = _most(math.prod(sizes), total, odds)
    if total == len(effects) == len(set(wanted)) and set(map(len, wanted)) == {1}:  # signs
        most = min(most, corner_gain(total, checked_epsilon(epsilon)) ** 2)
    joint = sums**2 / float(most) * (1 - ROUNDING) - drawn * (1 + ROUNDING)
    alone = sum(share_bound(size, epsilon, 1) ** 2 * size for size in cells) * (1 - ROUNDING)
    return math.sqrt(max(joint, alone) / (n * sum(cells)))


def _most(combined: int, effects: int, odds: Fraction) -> Fraction:
    """The most that one report says about so many effects on so many combinations."""
    few = effects * ((odds - 1) / (odds + effects)) ** 2
    return min(most_information(combined, odds) / combined, few if effects <= odds else (odds - 1) ** 2 / (4 * odds))
