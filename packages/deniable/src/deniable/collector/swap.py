"""Counting in one round trip: what a collector expects to find in the store, and what it then puts there."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from deniable.arrays import Ints

MOST_ROWS = 256  # tallies that a collector remembers
Key = tuple[int, str]  # a period and a question


class Kept(NamedTuple):
    """The row of a tally, as this collector has left it."""

    n: int
    counts: bytes

    def plus(self, n: int, counts: Ints) -> "Kept":
        """The row with more reports in it."""
        return Kept(self.n + n, (np.frombuffer(self.counts, "<i8") + counts).astype("<i8").tobytes())


class Swap(NamedTuple):
    """New reports of one period. They are counted if the survey is as expected, every tally is as it was left, and no id
    was counted before; otherwise nothing happens.
    """

    number: int
    fingerprint: str
    oldest: int  # the first period that must still be accepted; those before it may be
    period: int
    ids: list[bytes]
    reports: int
    tallies: dict[str, tuple[Kept, Kept]]  # by question, before and after


class Rows:
    """The tallies that a collector has written last."""

    def __init__(self) -> None:
        self._rows: dict[Key, Kept] = {}

    def remember(self, rows: Mapping[Key, Kept]) -> None:
        """These are in the store now."""
        if len(self._rows) + len(rows) > MOST_ROWS:
            self._rows.clear()
        self._rows.update(rows)

    def forget(self) -> None:
        """Nobody knows what is in the store."""
        self._rows.clear()

    def after(self, tallies: Mapping[Key, tuple[int, Ints]]) -> dict[str, tuple[Kept, Kept]] | None:
        """The rows before and after these are added; None if one is not known."""
        rows = {key: self._rows.get(key) for key in tallies}
        if None in rows.values():
            return None
        return {key[1]: (row, row.plus(*tallies[key])) for key, row in rows.items() if row is not None}


def expected(
    number: int, fingerprint: str, oldest: int, firsts: Iterable[tuple[int, bytes]], people: Mapping[int, int],
    tallies: dict[str, tuple[Kept, Kept]],
) -> Swap:  # fmt: skip
    """The swap for messages of one period, in an order in which two collectors never wait for each other in a circle."""
    ((period, reports),) = people.items()
    ids: Sequence[bytes] = sorted(identity for _, identity in firsts)
    return Swap(number, fingerprint, oldest, period, list(ids), reports, dict(sorted(tallies.items())))
