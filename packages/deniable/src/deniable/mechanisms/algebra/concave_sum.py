"""The largest value of a sum of concave quadratics, each counted more where it is above 0: exact, in whole numbers."""

import math
from collections.abc import Sequence

PRECISION = 64  # binary digits after the point, of the places between which the sum is one quadratic

Quadratic = tuple[int, int, int]  # a, b and m of a + b y - m y^2


def largest_sum(quadratics: Sequence[Quadratic], once: int, more: int) -> int | None:
    """An upper bound of once sum g(y) + more sum max(g(y), 0) over all y, at least 0; None if there is none.

    Where a quadratic is above 0, its ends are rounded outwards to multiples of 2^-PRECISION, and it is raised by just so
    much that it is at least 0 there. Then the sum is one concave quadratic between any two neighbouring ends.

    >>> largest_sum([(4, 0, 1), (-8, 4, 1)], 1, 9)  # 40 - 10 y^2 - 8 + 4 y - y^2, at y = 2 / 11
    33
    """
    changes = list[tuple[int, Quadratic]]()
    total = tuple(once * sum(part) << shift for part, shift in zip(zip(*quadratics, strict=True), SHIFTS, strict=True))
    for quadratic in quadratics:
        if quadratic[2] < 0:
            return None
        total = _add_changes(quadratic, more, total, changes)
    changes.sort()
    best, place = 0, None
    for change, part in [*changes, (None, (0, 0, 0))]:
        top = _top(total, place, change)
        if top is None:
            return None
        best, place = max(best, top), change
        total = _sum(total, part)
    return -(-best >> 2 * PRECISION)


SHIFTS = (2 * PRECISION, PRECISION, 0)  # that make a, b and m those of a quadratic in y 2^PRECISION


def _sum(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(first, second, strict=True))


def _add_changes(
    quadratic: Quadratic, more: int, total: tuple[int, ...], changes: list[tuple[int, Quadratic]]
) -> tuple[int, ...]:
    """Note where a quadratic begins to count more, and where it ceases to; what counts from the beginning is added."""
    low, high, positive = _support(quadratic)
    if not positive:
        return total
    a, b, m = (part << shift for part, shift in zip(quadratic, SHIFTS, strict=True))
    raised = max([0, *(m * end * end - b * end - a for end in (low, high) if end is not None)])
    part = more * (a + raised), more * b, more * m
    if high is not None:
        changes.append((high, (-part[0], -part[1], -part[2])))
    if low is None:
        return _sum(total, part)
    changes.append((low, part))
    return total


def _support(quadratic: Quadratic) -> tuple[int | None, int | None, bool]:
    """From where to where a quadratic is above 0, in multiples of 2^-PRECISION rounded outwards; and whether it is."""
    a, b, m = quadratic
    if m == 0:
        if b == 0:
            return None, None, a > 0
        end = -a << PRECISION
        return (end // b, None, True) if b > 0 else (None, -(-end // b), True)
    square = b * b + 4 * a * m
    if square <= 0:
        return None, None, False
    middle, root = b << PRECISION, math.isqrt(square << 2 * PRECISION) + 1
    return (middle - root) // (2 * m), -(-(middle + root) // (2 * m)), True


def _top(quadratic: tuple[int, ...], low: int | None, high: int | None) -> int | None:
    """The largest value between two places, rounded up; None where it has no limit."""
    a, b, m = quadratic
    if m > 0 and (low is None or 2 * m * low < b) and (high is None or b < 2 * m * high):
        return a - (-b * b // (4 * m))
    if m == 0 and ((low is None and b < 0) or (high is None and b > 0)):
        return None
    ends = [a + b * end - m * end * end for end in (low, high) if end is not None]
    return max(ends) if ends else a
