"""From a channel in floats to whole weights that keep the promise exactly."""

from fractions import Fraction

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter

TOTAL = 1 << 50  # the sum of each row: floats hold every share of it exactly enough


def repaired(channel: Floats, odds: Fraction) -> list[list[int]]:
    """Whole weights, with the sum 2^50 in each row, near the channel and with no ratio in a column above the odds.

    The least weight of a column, rounded down, is its floor and odds times that its ceiling. Every weight is rounded and
    kept between them, and what a row then lacks or has too much is shared out among its weights that have room.
    """
    low = np.floor(channel.min(axis=0) * TOTAL * (1 - 1e-12)).astype(np.int64)
    ceiling = [int(floor) * odds.numerator // odds.denominator for floor in low]
    high = np.array([min(top, TOTAL) for top in ceiling], np.int64)
    if int(low.sum()) > TOTAL or sum(ceiling) < TOTAL:
        raise InvalidParameter("This channel is too far from its odds to be repaired: its rows would not sum to one.")
    # Rounding is safe whichever way it goes: every weight ends between the whole numbers low and odds * low of its column,
    # and what is certified is these weights, not the channel that they come from.
    weights = np.clip(np.rint(channel * TOTAL).astype(np.int64), low, high)
    for row in weights:
        missing = TOTAL - int(row.sum())
        room = high - row if missing > 0 else row - low
        # The largest rooms first: each gives what it can, and nearly always one is enough.
        for column in np.argsort(-room, kind="stable"):
            if not missing:
                break
            change = min(int(room[column]), abs(missing))
            row[column] += change if missing > 0 else -change
            missing += -change if missing > 0 else change
    rows: list[list[int]] = weights.tolist()
    return rows
