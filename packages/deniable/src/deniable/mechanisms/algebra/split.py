"""How many answers count as near: the split of bipartite randomized response.

With the losses of a row sorted, l_1 <= ... <= l_N, the i-th answer is taken into the near part if that lowers the expected
loss of the row. Multiplied out this is A_i < B_i / odds with

    A_i = (i - 1) l_i - (l_1 + ... + l_(i-1))        B_i = (l_(i+1) + ... + l_N) - (N - i) l_i

A never falls and B never rises, so the answers taken are the first m of the row, and "at least m" is one test, at i = m.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Bools, Floats
from deniable.core import checked_epsilon
from deniable.domains.line import Line
from deniable.domains.metric import Metric, checked_prior

CLOSE = 1e-9  # sides of the test that differ by a smaller share are compared again, in exact fractions


def row_split(losses: ArrayLike, odds: Fraction) -> int:
    """The best number of near answers for one row of losses, in any order (Algorithm 1): the smallest, if several are best.

    >>> row_split([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], Fraction(2718, 1000))
    4
    """
    row = np.sort(np.asarray(losses, np.float64))
    size, place = len(row), np.arange(1, len(row) + 1)
    before = np.cumsum(row) - row
    gain = (row[::-1].cumsum()[::-1] - row) - (size - place) * row
    taken = ((place - 1) * row - before) * float(odds) < gain
    count = int(np.argmin(taken[1:])) + 1 if not taken[1:].all() else size
    # Rounding can only matter where the two sides are close: there the fractions decide.
    while count < size and _taken_exactly(row, count + 1, odds):
        count += 1
    while count > 1 and not _taken_exactly(row, count, odds):
        count -= 1
    return count


def smallest_splits(metric: Metric, all_odds: Sequence[Fraction]) -> list[int]:
    """The smallest of the rows' best numbers, for several odds in one pass (Algorithm 2): then no row is worse off than
    under direct response.

    One test for each row; only rows that fail it are looked at again. On a line, bisection over the number.
    """
    line = metric.line
    if line is not None and line.plain:
        return [line_split(line.size, odds) for odds in all_odds]
    if line is not None and (line.even or line.power == 1):
        return [_bisected(line, odds) for odds in all_odds]
    (first,) = metric.losses(np.zeros(1, np.int64))
    found = [row_split(first, odds) for odds in all_odds]
    for _, rows in metric.blocks():
        ordered = np.partition(rows, sorted({count - 1 for count in found}), axis=1)
        for place, odds in enumerate(all_odds):
            failing = np.flatnonzero(~_row_tests(ordered, found[place], odds))
            while failing.size:  # each round lowers the number, and few rounds do
                found[place] = row_split(rows[failing[0]], odds)
                again = np.partition(rows[failing], found[place] - 1, axis=1)
                failing = failing[~_row_tests(again, found[place], odds)]
    return found


def _row_tests(rows: Floats, count: int, odds: Fraction) -> Bools:
    """For each row, whether its best number of near answers is at least `count`; its `count` smallest losses come first."""
    size, last = rows.shape[1], rows[:, count - 1]
    near, far = rows[:, :count].sum(axis=1), rows[:, count:].sum(axis=1)
    left, right = count * last - near, far - (size - count) * last
    passed: Bools = left * float(odds) < right
    # Both sides are differences of sums, whose rounding may mislead where they are close.
    for row in np.flatnonzero(np.abs(left * float(odds) - right) <= CLOSE * (near + far + size * last)):
        passed[row] = _taken_exactly(np.sort(rows[row]), count, odds)
    return passed | (count == 1)


def mean_split(metric: Metric, odds: Fraction, prior: ArrayLike | None = None) -> int:
    """The number of near answers with the smallest expected loss under the prior: Algorithm 1 on the averaged sorted row."""
    shares, line = checked_prior(prior, metric.size), metric.line
    if line is not None and (line.even or line.power == 1):
        total = float(shares @ line.totals)

        def enough(count: int) -> bool:
            furthest, near = (float(shares @ part) for part in line.nearest(count))
            left, right = count * furthest - near, (total - near) - (line.size - count) * furthest
            return left * odds < right

        return _last_true(line.size - 1, enough)
    mean = np.zeros(metric.size)
    for rows, losses in metric.blocks():
        mean += shares[rows] @ np.sort(losses, axis=1)
    return row_split(mean, odds)


def line_split(size: int, odds: Fraction) -> int:
    """The smallest of the rows' best numbers on `size` equidistant points, from two whole-number tests.

    The first row and the middle row decide: i (i - 1) odds < (N - i) (N - i + 1), and for an odd number 2 t + 1 of near
    points 4 t^2 odds < (N - 2 t)^2 - [N is odd].

    >>> [line_split(size, Fraction(2718, 1000)) for size in (4, 5, 10, 1000)]
    [1, 1, 3, 377]
    """
    ratio = 1 / math.sqrt(odds)
    p, q = odds.numerator, odds.denominator

    def at_the_end(i: int) -> bool:
        return i <= 1 or i * (i - 1) * p < (size - i) * (size - i + 1) * q

    def in_the_middle(t: int) -> bool:
        return t <= 0 or (2 * t < size and 4 * t * t * p < ((size - 2 * t) ** 2 - size % 2) * q)

    end = _stepped(math.floor(size * ratio / (1 + ratio) + 0.5), at_the_end)
    middle = _stepped(math.floor(size * ratio / (1 + ratio) / 2), in_the_middle)
    return min(max(end, 1), 2 * max(middle, 0) + 1)


def published_split(size: int, epsilon: float) -> int:
    """The number of near points on an equidistant line as Algorithm 3 is printed: in a quarter of all cases one too many.

    With one too many, some rows are worse off than under direct response. The promise of privacy does not depend on it.
    """
    x = math.exp(checked_epsilon(epsilon) / 2)
    odds = x * x
    first = math.floor(((odds - 1) / 2 - size + math.sqrt(size**2 * odds + (1 - odds) ** 2 / 4)) / (odds - 1))
    middle = math.floor(size / (x + 1) + 1)
    middle += middle % 2 == 0
    return max(1, first if epsilon >= 1 else min(first, middle))


def _stepped(start: int, passes: Callable[[int], bool]) -> int:
    """The largest number that passes, from a start that is at most a few steps away."""
    while not passes(start):
        start -= 1
    while passes(start + 1):
        start += 1
    return start


def _bisected(line: Line, odds: Fraction) -> int:
    """The largest number that every point of a line takes."""
    own = np.arange(line.size)

    def enough(count: int) -> bool:
        if count == 1:
            return True
        furthest, near = line.nearest(count)
        left, right = count * furthest - near, (line.totals - near) - (line.size - count) * furthest
        close = np.abs(left * float(odds) - right) <= CLOSE * (line.totals + line.size * furthest)
        if not (left * float(odds) < right)[~close].all():
            return False
        rows = (line.loss(np.full(line.size, point), own) for point in np.flatnonzero(close))
        return all(_taken_exactly(np.sort(row), count, odds) for row in rows)

    return _last_true(line.size - 1, enough)


def _last_true(last: int, enough: Callable[[int], bool]) -> int:
    """The largest number up to `last` that is enough, where 1 is and it never becomes true again."""
    low, high = 1, last
    while low < high:
        middle = (low + high + 1) // 2
        if enough(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _taken_exactly(row: Floats, count: int, odds: Fraction) -> bool:
    """Whether the answer at place `count` of a sorted row is taken, in exact fractions; in floats where that is clear."""
    if count == 1:
        return True
    size, last = len(row), float(row[count - 1])
    near, far = math.fsum(row[: count - 1].tolist()), math.fsum(row[count:].tolist())
    left, right = (count - 1) * last - near, far - (size - count) * last
    scale = size * abs(last) + abs(near) + abs(far)
    if abs(left * float(odds) - right) > 1e-12 * float(odds) * scale:
        return left * float(odds) < right
    exact = Fraction(last)
    below = (count - 1) * exact - sum(map(Fraction, row[: count - 1].tolist()))
    return below * odds < sum(map(Fraction, row[count:].tolist())) - (size - count) * exact
