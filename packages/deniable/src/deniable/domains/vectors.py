"""Vectors: several answers together, one from each of several domains."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from deniable.arrays import Ints
from deniable.core import Answers, Coins, Domain, Input, Spec
from deniable.core.spec import parts
from deniable.errors import InvalidParameter, OutsideDomain


class Coordinates:
    """Several numbers for each answer: [:, k] are those of coordinate k."""

    def __init__(self, columns: Sequence[Any]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, key: tuple[slice, int]) -> Any:
        return self._columns[key[1]]


@dataclass(frozen=True)
class Vectors(Domain[Sequence[object], Ints]):
    """Rows with one answer from each of these domains, such as an age and a place. Numbers go to the nearest point.

    >>> from deniable.domains import Interval, Ordered
    >>> Vectors([Interval(0, 1, steps=4), Ordered(["low", "high"])]).index([(0.3, "high"), (1, "low")])
    array([[1, 1],
           [4, 0]])
    """

    parts: Sequence[Domain]

    def __init__(self, parts: Iterable[Domain]) -> None:
        kept = tuple(parts)
        if len(kept) < 1 or not all(isinstance(part, Domain) for part in kept):
            raise InvalidParameter("A vector needs a list of domains, one for each of its coordinates.")
        self._fix(parts=kept)

    @property
    def size(self) -> int:
        return math.prod(part.size for part in self.parts)

    @cached_property
    def labels(self) -> Sequence[tuple[int, Any]]:  # type: ignore[override]
        """Every answer of every coordinate, with the number of the coordinate: what is counted."""
        return [(place, label) for place, part in enumerate(self.parts) for label in part.labels]

    def answer(self, index: int) -> tuple[object, ...]:
        out = []
        for part in reversed(self.parts):
            index, own = divmod(index, part.size)
            out.append(part.answer(own))
        return tuple(reversed(out))

    @property
    def inputs(self) -> Sequence[Input]:
        return [Input(f"answer{place}", 0, part.size - 1) for place, part in enumerate(self.parts)]

    def encode(self, values: Answers) -> Sequence[Ints]:
        return list(self.index(values).T)

    def placed(self, codes: Sequence[Ints], coins: Coins) -> Any:  # coordinates of symbols, or of arrays
        return Coordinates(codes)

    def index(self, values: Answers) -> Ints:
        rows = list(values) if not isinstance(values, np.ndarray) else values
        width = len(self.parts)
        if any(not hasattr(row, "__len__") or isinstance(row, str | bytes) or len(row) != width for row in rows):
            raise OutsideDomain(f"An answer must be a row of {width} values, one for each coordinate.")
        columns = rows.T if isinstance(rows, np.ndarray) else [list(column) for column in zip(*rows, strict=True)]
        placed = []
        for part, column in zip(self.parts, columns, strict=True):
            placed.append(part.index(part.snapped(column)))
        return np.stack(placed, axis=1)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """The vectors that `spec` described."""
        from deniable.domains import domain_from_spec

        return super().from_spec({**spec, "parts": [domain_from_spec(each) for each in parts(spec, "parts")]})

    def spec(self) -> Mapping[str, object]:
        return {"kind": "vectors", "parts": [dict(part.spec()) for part in self.parts]}
