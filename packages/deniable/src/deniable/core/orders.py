"""Codes that are vectors, not all written down: arrangements that answers share, lists that are filled up, grids.

Encoders make them, and may be any code. So these classes have slots: an object with an attribute in place of a method, which
would run instead of the law, cannot be made.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from deniable import kernels
from deniable.arrays import Bools, Floats, Ints, Words
from deniable.core.operations import Type
from deniable.errors import OutsideDomain
from deniable.kernels.plain import NONE
from deniable.kernels.steps import WHOLE
from deniable.kernels.tables import take_cells

NO_CODE = "An encoder returned a code outside the bounds of the law. Nothing was reported."
FEW = 64  # numbers of a vector that are often in order
MOST_FOUND = 1 << 24  # numbers of arrangements that are found at once
MANY = 1 << 12  # numbers that are looked at in a compiled loop
MOST_MARKS = 1 << 18  # numbers that are marked at once, to see whether they differ


def differ(code: Ints, low: int, size: int) -> bool:
    """Whether the numbers of every row, of which there are `size` from `low` on, differ from each other."""
    if code.shape[1] < FEW and (code[:, 1:] > code[:, :-1]).all():
        return True
    if size > MOST_MARKS:
        ordered = np.sort(code, axis=1)
        return not (ordered[:, 1:] == ordered[:, :-1]).any()
    step = max(1, MOST_MARKS // size)
    for start in range(0, len(code), step):
        part = code[start : start + step]
        marks = np.zeros(len(part) * size, np.bool_)
        marks[part + (np.arange(len(part)) * size - low)[:, None]] = True
        if np.count_nonzero(marks) != part.size:
            return False
    return True


def inside(code: Ints, low: int, high: int) -> bool:
    """Whether all numbers are from `low` to `high`; from 0 on in one pass: those below are large without a sign."""
    if code.size == 1:
        return low <= code.item() <= high
    if code.dtype == np.int64 and code.ndim == 1 and code.size >= MANY and code.flags.carray:
        return kernels.all_within(code, low, high)
    if low == 0 and code.dtype == np.int64 and code.flags.c_contiguous:
        return bool(code.view(np.uint64).max() <= high)
    if low == 0 and code.dtype.kind == "u":
        return bool(code.max() <= high)
    return bool(low <= code.min() and code.max() <= high)


class Orders:
    """One arrangement of 0..size - 1 for each of as many answers, found when it is first needed, checked and kept."""

    __slots__ = ("_found", "_known", "_rows", "size")

    def __init__(self, size: int, found: Callable[[Ints], Ints]) -> None:
        self.size, self._found = size, found
        self._rows = np.empty((size, size), np.min_scalar_type(size - 1))
        self._known: Bools = np.zeros(size, np.bool_)

    def of(self, answers: Ints) -> "Taken":
        """Those of these answers."""
        missing = NONE if self._known.all() else np.unique(answers[~self._known[answers]])
        step = max(1, MOST_FOUND // self.size)
        for start in range(0, len(missing), step):
            self._find(missing[start : start + step])
        return Taken(self, answers)

    def _find(self, missing: Ints) -> None:
        rows = np.asarray(self._found(missing))
        if rows.shape != (len(missing), self.size) or rows.min() < 0 or rows.max() >= self.size:
            raise OutsideDomain(NO_CODE)
        if not differ(rows, 0, self.size):
            raise OutsideDomain(NO_CODE)
        self._rows[missing] = rows
        self._known[missing] = True

    def knows(self, answers: Ints) -> bool:
        """Whether the arrangements of all these answers were found."""
        whole = type(answers) is np.ndarray and answers.dtype.kind in "iu" and answers.ndim == 1
        if not whole or not answers.size:
            return whole
        return inside(answers, 0, self.size - 1) and bool(self._known.all() or self._known[answers].all())

    def at(self, answers: Ints, place: Ints | int) -> Ints:
        """The number at a place of each answer's arrangement."""
        return take_cells(self._rows, answers, np.broadcast_to(place, answers.shape))

    def taken(self, answers: Ints) -> Ints:
        """The arrangement of each answer."""
        return np.asarray(self._rows[answers])


class Taken:
    """The arrangements of a batch of answers."""

    __slots__ = ("_answers", "_orders")

    def __init__(self, orders: Orders, answers: Ints) -> None:
        self._orders, self._answers = orders, answers

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def size(self) -> int:
        """How many numbers each has."""
        return self._orders.size

    def is_plain(self) -> bool:
        """Whether its orders are ones that were found and checked, of answers in a plain array."""
        return type(self._orders) is Orders and self._orders.knows(self._answers)

    def copy(self) -> "Taken":
        """The same, with an array of its own."""
        return Taken(self._orders, self._answers.copy())

    def at(self, place: Ints | int) -> Ints:
        """The number at a place of each."""
        return self._orders.at(self._answers, place)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._orders.taken(self._answers)


class Ranked:
    """Arrangements of 0..2 k - 1 by the absolute values of k numbers for each answer, of which only what is asked is found.

    First come the numbers' signs in order of their size, 2 i for the i-th number or 2 i + 1 where it is negative; then the
    opposite ones, back to front. So each of 0..2 k - 1 has one place, whatever the numbers are: nothing is left to check.
    With `words`, the numbers are those that `rotated` would make of the rows given; they are never all written down.
    """

    __slots__ = ("_numbers", "_words")

    def __init__(self, numbers: NDArray[np.floating], words: Words | None = None) -> None:
        self._numbers = np.array(numbers, np.float32, order="C")  # a plain copy of its own
        self._words = None if words is None else np.array(words, np.uint64)

    def is_plain(self) -> bool:
        """Whether the numbers are in a plain array, and the words in one that belongs to it."""
        numbers, words = self._numbers, self._words
        if type(numbers) is not np.ndarray or numbers.dtype != np.float32 or numbers.ndim != 2:
            return False
        if words is None:
            return True
        if type(words) is not np.ndarray or words.dtype != np.uint64 or words.ndim != 2 or len(words) != len(numbers):
            return False
        half = self.size // 2
        return half >= max(64, numbers.shape[1]) and half.bit_count() == 1 and 3 * half == 64 * words.shape[1]

    def copy(self) -> "Ranked":
        """The same, with arrays of its own."""
        return Ranked(self._numbers, self._words)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def size(self) -> int:
        """How many numbers each arrangement has. Words hold three bits for each column, one a turn."""
        return 2 * (self._numbers.shape[1] if self._words is None else self._words.shape[1] * 64 // 3)

    def at(self, place: Ints | int) -> Ints:
        """The number at a place of each."""
        from deniable.kernels.rotations import largest_at, turned_at  # which few questions need

        size, place = self.size, np.broadcast_to(place, len(self)) if np.ndim(place) == 0 else np.asarray(place)
        place = place.astype(np.int64, copy=False)
        opposite = 2 * place >= size
        place = np.minimum(place, size - 1 - place)
        if self._words is not None:
            return turned_at(self._numbers, self._words, size // 2, place) ^ opposite
        column = largest_at(self._numbers, place)
        negative = np.signbit(self._numbers.reshape(-1)[np.arange(len(self)) * self._numbers.shape[1] + column])
        return 2 * column + (negative ^ opposite)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.stack([self.at(place) for place in range(self.size)], axis=1)


class Gridded:
    """One of the two codes of vectors of numbers: the points of a grid below them, or how far above these they are.

    `codes` makes both as arrays, and refuses numbers outside the grid. What `round_into` makes instead is within the bounds
    of the grid whatever the numbers are.
    """

    __slots__ = ("_codes", "_grid", "_place", "numbers")

    def __init__(
        self, numbers: Floats, grid: tuple[float, float, int], place: int, codes: Callable[[], Sequence[Ints]]
    ) -> None:
        self.numbers, self._grid, self._place, self._codes = numbers, grid, place, codes

    def fits(self, kind: Type, size: int) -> bool:
        """Whether the numbers are a plain array, so many rows, and the codes are of this type whatever they are."""
        numbers, grid = self.numbers, self._grid
        if type(numbers) is not np.ndarray or numbers.dtype != np.float64 or numbers.shape != (size, kind.width):
            return False
        if not (numbers.flags.c_contiguous and numbers.flags.aligned) or [*map(type, grid)] != [float, float, int]:
            return False
        low, top, steps = grid
        is_even = -math.inf < low < top < math.inf and 0 < 1 / (top - low) < math.inf
        return is_even and (kind.low, kind.high) == (0, WHOLE if self._place else steps - 1)

    def goes_with(self, other: object) -> bool:
        """Whether these are the points, and the other one how far above them the same numbers are."""
        if type(other) is not Gridded or (self._place, other._place) != (0, 1):
            return False
        return self.numbers is other.numbers and self._grid == other._grid

    def round_into(self, points: NDArray[np.integer], words: Words, start: int) -> None:
        """Write some numbers from `start` on, rounded to the point below or above by a word each."""
        from deniable.kernels.vectors import rounded_numbers  # which few questions need

        if not rounded_numbers(self.numbers.reshape(-1)[start : start + len(words)], self._grid, words, points):
            self._refuse()

    def copy(self) -> Ints:
        """The codes as an array, of those that fit: by the same rounding, and no code of an encoder."""
        low, high, steps = self._grid
        found = kernels.grid_codes(self.numbers.reshape(-1), np.linspace(low, high, steps + 1))
        return self._refuse() if found is None else found[self._place].reshape(self.numbers.shape)

    def _refuse(self) -> NoReturn:
        self._codes()  # says why
        raise OutsideDomain(NO_CODE)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._codes()[self._place]


def unmade(values: Sequence[object], coins: object, size: int) -> object:
    """In place of what computes a code: nothing, and numbers on a grid need not be an array of codes there."""
    raise AssertionError


def padded(starts: Ints, numbers: Ints, padding: Ints) -> "Padded | Ints":
    """Vectors filled up with `padding`; one alone is written down, since it takes less time to look at as an array."""
    if len(starts) == 2:
        return np.concatenate([numbers, padding[len(numbers) :]])[None]
    return Padded(starts, numbers, padding)


class Padded:
    """Vectors of one width: the `numbers` of each row, from its start to the next, then `padding` at the places left.

    Encoders make it; `fits` and `rises` look at everything in it, so that it is as good as the array that it stands for.
    """

    __slots__ = ("_numbers", "_padding", "_starts")

    def __init__(self, starts: Ints, numbers: Ints, padding: Ints) -> None:
        self._starts, self._numbers, self._padding = starts, numbers, padding

    def is_plain(self) -> bool:
        """Whether everything is in plain arrays."""
        return all(type(each) is np.ndarray for each in (self._starts, self._numbers, self._padding))

    def copy(self) -> "Padded":
        """The same, with arrays of its own."""
        return Padded(self._starts.copy(), self._numbers.copy(), self._padding.copy())

    def __len__(self) -> int:
        return len(self._starts) - 1

    def fits(self, low: int, high: int, width: int) -> bool:
        """Whether all vectors have this width and these bounds."""
        starts, numbers, padding = self._starts, self._numbers, self._padding
        if {each.dtype.kind for each in (starts, numbers, padding)} - {"i", "u"} or padding.shape != (width,):
            return False
        if starts.ndim != 1 or numbers.ndim != 1 or not len(starts) or starts[0] != 0 or starts[-1] != len(numbers):
            return False
        sizes = np.diff(starts.astype(np.int64, copy=False))
        if len(sizes) and not 0 <= sizes.min() <= sizes.max() <= width:
            return False
        return all(inside(each, low, high) for each in (numbers, padding) if len(each))

    def rises(self) -> bool:
        """Whether each vector is in order without a number twice; it may be without if it is not."""
        from deniable.kernels.pairs import rise  # which few questions need

        if len(self._padding) > 1 and not (self._padding[1:] > self._padding[:-1]).all():
            return False
        if len(self._numbers) and self._numbers.max() >= self._padding[0]:
            return False
        return rise(*(np.ascontiguousarray(each, np.int64) for each in (self._starts, self._numbers)))  # see `fits`

    def at(self, place: Ints | int) -> Ints:
        """The number at a place of each."""
        from deniable.kernels.pairs import numbers_at

        starts, numbers, padding = (
            np.ascontiguousarray(each, np.int64) for each in (self._starts, self._numbers, self._padding)
        )
        return numbers_at(starts, numbers, padding, np.ascontiguousarray(np.broadcast_to(place, len(self)), np.int64))

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.stack([self.at(place) for place in range(len(self._padding))], axis=1)
