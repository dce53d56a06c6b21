"""Records that agree in some of their answers: how many there are, and what a similar one says about each answer."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np

from deniable.arrays import Ints
from deniable.mechanisms.algebra.tuning import total_error

Real = TypeVar("Real", Fraction, float)


def agreements(sizes: Sequence[int]) -> list[int]:
    """How many records agree with a given one in exactly 0, 1, 2, ... answers: coefficients of the product of (d_i - 1 + z).

    >>> agreements([2, 3])
    [2, 3, 1]
    """
    found = [1]
    for size in sizes:
        found = [(size - 1) * apart + same for apart, same in zip([*found, 0], [0, *found], strict=True)]
    return found


def similar(sizes: Sequence[int], agreeing: int) -> int:
    """How many records agree with a given one in at least so many answers.

    >>> similar([2, 2, 2], 2), similar([5, 5], 2)
    (4, 1)
    """
    return sum(agreements(sizes)[max(agreeing, 0) :])


def supports(sizes: Sequence[int], agreeing: int, odds: Real) -> list[tuple[Real, Real]]:
    """The probabilities that a report has the true answer of each attribute, and a given other one.

    The report is a record; each of those that agree with the truth in at least `agreeing` answers is `odds` times as likely
    as each of the others.

    >>> supports([2, 2], 2, Fraction(5))  # direct response on four records: 5/8 and three times 1/8
    [(Fraction(3, 4), Fraction(1, 4)), (Fraction(3, 4), Fraction(1, 4))]
    """
    return [_support(sizes, place, agreeing, odds) for place in range(len(sizes))]


def _support(sizes: Sequence[int], place: int, agreeing: int, odds: Real) -> tuple[Real, Real]:
    size, whole = sizes[place], math.prod(sizes)
    near = similar([*sizes[:place], *sizes[place + 1 :]], agreeing - 1)  # records with the true answer here
    p = (whole // size + (odds - 1) * near) / (whole + (odds - 1) * similar(sizes, agreeing))
    return p, (1 - p) / (size - 1)


def record_errors(sizes: Sequence[int], agreeing: int, odds: float) -> list[float]:
    """For each attribute, n times the sum of the variances of its shares, and of who was drawn if people are.

    >>> record_errors([2, 2], 2, 5.0)
    [2.0, 2.0]
    """
    known = zip(sizes, supports(sizes, agreeing, odds), strict=True)
    return [float(total_error(size, np.array(p), np.array(q))) + 1 - 1 / size for size, (p, q) in known]


@lru_cache(maxsize=4096)
def best_agreeing(sizes: tuple[int, ...], odds: float, most: int) -> int:
    """In how many answers a similar record agrees for the smallest sum of variances: in all, with more than `most` records.

    >>> best_agreeing((2,) * 8, 400.0, 1024), best_agreeing((2,) * 8, 400.0, 100)
    (7, 8)
    """
    least = 1 if math.prod(sizes) <= most else len(sizes)
    return min(range(len(sizes), least - 1, -1), key=lambda agreeing: sum(record_errors(sizes, agreeing, odds)))


def similar_first(sizes: Sequence[int], agreeing: int) -> Ints:
    """All records by number, the last answer fastest: first those that have at least so many zeros, then all others.

    >>> similar_first([2, 2], 1).tolist()
    [0, 1, 2, 3]
    """
    answers = np.stack(np.unravel_index(np.arange(math.prod(sizes)), tuple(sizes)))
    zeros = (answers == 0).sum(axis=0)
    return np.argsort(zeros < agreeing, kind="stable").astype(np.int64)
