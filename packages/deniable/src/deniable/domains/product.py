"""Products: the combinations of several answers, as the answers of one question."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Ints
from deniable.core import LARGEST_DOMAIN, Answers, Domain, Spec
from deniable.domains.vectors import Vectors
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Product(Domain[Sequence[object], Ints]):
    """Every combination of answers to several questions is one answer: what a compound question asks for.

    An answer is a row, as for `Vectors`, which keeps the answers apart. The last answer varies fastest.

    >>> from deniable.domains import Categories
    >>> both = Product([Categories(["yes", "no"]), Categories(["young", "old"])])
    >>> both.size, both.index([("yes", "old"), ("no", "young")])
    (4, array([1, 2]))
    """

    parts: Sequence[Domain]

    def __init__(self, parts: Iterable[Domain]) -> None:
        rows = Vectors(parts)
        if len(rows.parts) < 2:
            raise InvalidParameter("A compound question combines at least two questions. Ask a single one by itself.")
        if rows.size > LARGEST_DOMAIN:
            raise InvalidParameter(f"A question may have at most {LARGEST_DOMAIN:,} possible answers; combine fewer.")
        self._fix(parts=rows.parts)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many answers each question has."""
        return tuple(part.size for part in self.parts)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def labels(self) -> Sequence[tuple[object, ...]]:  # type: ignore[override]
        return [self.answer(index) for index in range(self.size)]

    def answer(self, index: int) -> tuple[object, ...]:
        return Vectors(self.parts).answer(index)

    def index(self, values: Answers) -> Ints:
        rows = Vectors(self.parts).index(values)
        return np.ravel_multi_index(tuple(rows.T), self.shape).astype(np.int64)

    @classmethod
    def from_spec(cls, spec: Spec) -> "Product":
        """The product that `spec` described."""
        return cls(Vectors.from_spec(spec).parts)

    def spec(self) -> Mapping[str, object]:
        return {"kind": "product", "parts": [dict(part.spec()) for part in self.parts]}
