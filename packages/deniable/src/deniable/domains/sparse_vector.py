"""Sparse vectors: very many coordinates, of which few differ from their public reference."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import error as StructError
from struct import pack
from typing import Any, overload

import numpy as np

from deniable.arrays import Ints
from deniable.core import LARGEST_DOMAIN, Answers, Domain
from deniable.errors import InvalidParameter, OutsideDomain

MOST_VALUES = 256


@dataclass(frozen=True, eq=False)
class Sparse:
    """A batch of sparse vectors: vector i has values[offsets[i]:offsets[i + 1]] at places[offsets[i]:offsets[i + 1]]."""

    offsets: Ints
    places: Ints
    values: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> Ints:
        """How many coordinates of each vector differ from the reference."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class SparseVector(Domain[Collection[int], Sparse]):
    """Vectors of `size` coordinates with `values` values each, 0 being the public reference, such as "not rated".

    An answer lists what differs: {coordinate: value}, or for two values simply the coordinates that are one. `most` is a
    bound on how many differ that everybody knows, such as the number of variants in a genome; a longer list is refused.

    >>> SparseVector(1000).index([[3, 14], []]).places
    array([ 3, 14])
    >>> SparseVector(1000, values=11).index([{17: 8, 402: 3}]).values
    array([8, 3])
    """

    coordinates: int
    values: int = 2
    most: int | None = None

    def __init__(self, size: int, values: int = 2, most: int | None = None) -> None:
        for number, low, high, what in (
            (size, 1, LARGEST_DOMAIN, "The size of a sparse vector"),
            (values, 2, MOST_VALUES, "The number of values of a coordinate, its reference included,"),
            (1 if most is None else most, 1, LARGEST_DOMAIN, "The public bound on the coordinates that differ"),
        ):
            if isinstance(number, bool) or not isinstance(number, int | np.integer) or not low <= number <= high:
                raise InvalidParameter(f"{what} must be a whole number from {low} to {high:,}.")
        if most is not None and most > size:
            raise InvalidParameter("The public bound cannot exceed the number of coordinates. Leave it out.")
        self._fix(coordinates=int(size), values=int(values), most=None if most is None else int(most))

    @property
    def size(self) -> int:
        """How many coordinates there are; the answers themselves are far too many to be numbered."""
        return self.coordinates

    @property
    def labels(self) -> Sequence[str | int]:  # type: ignore[override]
        """What is estimated: the coordinates, or for more values than two "coordinate = value" of each."""
        return range(self.size) if self.values == 2 else _Cells(self.size, self.values)

    def answer(self, index: int) -> Collection[int]:
        """The reference itself, then the vectors that differ from it in one coordinate."""
        return {index - 1: 1} if index else {}

    def index(self, values: Answers) -> Sparse:
        """The batch as flat arrays; refuses coordinates and values outside, and coordinates that come twice."""
        if isinstance(values, np.ndarray) and values.dtype != object:
            values = list(values)
        pairs = [self._pair(answer) for answer in values]
        counts = np.array([len(places) for places, _ in pairs], np.int64)
        places = np.concatenate([places for places, _ in pairs]) if pairs else np.empty(0, np.int64)
        if _is_outside(places, self.size):
            raise OutsideDomain(f"A coordinate is not one of 0 to {self.size - 1}. Number the items from 0.")
        if all(given is None for _, given in pairs):
            given = np.ones(len(places), np.int64)
        else:
            given = _given([given for _, given in pairs], counts)
            if _is_outside(given, self.values):
                raise OutsideDomain(f"A value is not one of 0 to {self.values - 1}. Map it to one of them, or leave it out.")
            if (given == 0).any():  # the reference, said aloud
                counts -= np.bincount(np.repeat(np.arange(len(counts)), counts)[given == 0], minlength=len(counts))
                places, given = places[given != 0], given[given != 0]
        if self.most is not None and len(counts) and counts.max() > self.most:
            raise OutsideDomain(
                f"A vector differs from the reference in more than {self.most} coordinates, the bound that this question "
                "makes public. Raise the bound for everybody, or leave it out."
            )
        found = Sparse(np.concatenate([[0], np.cumsum(counts)]), places, given)
        if _has_twice(found):
            raise OutsideDomain("A coordinate occurs twice in one vector. Give each coordinate at most once.")
        return found

    def _pair(self, answer: object) -> tuple[Ints, Ints | None]:
        """The coordinates and their values in one answer; None where all are one."""
        try:
            if isinstance(answer, Mapping):
                return _whole(answer.keys()), _whole(answer.values())
            elif self.values == 2 and isinstance(answer, Iterable) and not isinstance(answer, str | bytes):
                return _whole(answer), None
            raise TypeError
        except (TypeError, ValueError, OverflowError):
            shape = "a list of coordinates or " if self.values == 2 else ""
            raise OutsideDomain(
                f"An answer must be {shape}a mapping of coordinates to values, all whole numbers: perturb([{{17: 1}}])."
            ) from None

    def spec(self) -> Mapping[str, object]:
        shape = {"kind": "sparse-vector", "size": self.size, "values": self.values}
        return shape | ({} if self.most is None else {"most": self.most})


def _is_outside(numbers: Ints, size: int) -> bool:
    """Whether a number is not one of 0 to size - 1: as numbers without a sign, those below 0 are the largest."""
    return bool(len(numbers)) and int(numbers.view(np.uint64).max()) >= size


def _given(values: list[Ints | None], counts: Ints) -> Ints:
    """The values of all answers, one after the other."""
    parts = zip(values, counts.tolist(), strict=True)
    return np.concatenate([np.ones(many, np.int64) if each is None else each for each, many in parts])


def _has_twice(batch: Sparse) -> bool:
    """Whether a vector names a coordinate twice; those in order, as most are, need not be sorted."""
    rises = np.ones(max(1, len(batch.places)), np.bool_)
    np.greater(batch.places[1:], batch.places[:-1], out=rises[:-1])
    rises[batch.offsets[1:] - 1] = True
    if rises.all():
        return False
    owner = np.repeat(np.arange(len(batch)), batch.counts)
    same = np.diff(owner) == 0
    order = np.lexsort((batch.places, owner))
    return bool(((np.diff(batch.places[order]) == 0) & same).any())


def _whole(numbers: Iterable[Any]) -> Ints:
    """Whole numbers as an array; anything else is an error."""
    if type(numbers) is list and numbers and type(numbers[0]) is not bool and (quick := _packed(numbers)) is not None:
        return quick
    found = numbers if isinstance(numbers, np.ndarray) else np.array(list(numbers))
    if found.size == 0:
        return np.empty(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu" or (found.dtype == np.uint64 and found.max() >= 1 << 63):
        raise TypeError
    return found.astype(np.int64)


def _packed(numbers: list[Any]) -> Ints | None:
    """Whole numbers as an array in a fifth of the time that `np.array` takes; None where that is to be asked."""
    try:
        return np.frombuffer(pack(f"{len(numbers)}q", *numbers), np.int64)
    except StructError:  # something else than whole numbers
        return None


class _Cells(Sequence[str]):
    """The names of all pairs of a coordinate and a value other than the reference, made as they are asked for."""

    def __init__(self, size: int, values: int) -> None:
        self._size, self._others = size, values - 1

    def __len__(self) -> int:
        return self._size * self._others

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        coordinate, value = divmod(place % len(self), self._others)
        return f"{coordinate} = {value + 1}"
