"""The definition of utility-optimized privacy, for a channel that is written out."""

from collections.abc import Sequence
from fractions import Fraction


def channel_odds(channel: Sequence[Sequence[Fraction]], sensitive: int, tells: Sequence[bool]) -> Fraction | None:
    """The worst odds of a channel whose first rows are the sensitive values; `tells` marks reports that tell an open one.

    None where a report rules a value out: one that is not marked, or one that is marked and comes from a sensitive value
    or from several.

    >>> half, third = Fraction(1, 2), Fraction(1, 3)
    >>> channel_odds([[third, 2 * third, 0], [2 * third, third, 0], [third, third, third]], 2, [False, False, True])
    Fraction(2, 1)
    """
    worst = Fraction(1)
    for column, telling in zip(zip(*channel, strict=True), tells, strict=True):
        possible = [row for row, chance in enumerate(column) if chance > 0]
        if not possible or (telling and len(possible) == 1 and possible[0] >= sensitive):
            continue
        if min(column) == 0:
            return None
        worst = max(worst, max(column) / min(column))
    return worst
