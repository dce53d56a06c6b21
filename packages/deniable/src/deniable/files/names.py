"""Names as numbers, so that a long column of a file takes eight bytes a row and not a text."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count

import numpy as np

from deniable.arrays import Ints


class Names:
    """A column of names, read some at a time: each name has the next number when it comes up first.

    >>> names = Names()
    >>> names.add(["bob", "ann"])
    >>> names.add(["bob"])
    >>> names.in_order()
    (['ann', 'bob'], array([1, 0, 1]))
    """

    def __init__(self) -> None:
        self._numbers = array("q")
        self._number: defaultdict[str, int] = defaultdict(count().__next__)

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, names: Iterable[str]) -> None:
        """More rows of the column."""
        self._numbers.extend(map(self._number.__getitem__, names))

    def in_order(self) -> tuple[list[str], Ints]:
        """All names, sorted, and for each row the place of its name among them."""
        return in_order(list(self._number), np.frombuffer(self._numbers, np.int64))


def in_order(names: Sequence[str], numbers: Ints) -> tuple[list[str], Ints]:
    """These names, sorted, and the numbers that stand for them, changed accordingly."""
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return [names[number] for number in order], place[numbers]
