"""A label and a vector told together: the mean vector of every class from one report of each person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.core.domain import Answers, Domain
from deniable.core.estimate import Estimate
from deniable.core.layout import Columns
from deniable.domains.features import UnitVectors, checked_rows, rows_at_once
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.mechanisms.unit_codes import UNIT, UnitCodes, _mixed, directions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CLASSES = 64


@dataclass(frozen=True)
class LabelledVectors(UnitVectors):
    """Rows of a class, by its number, and the coordinates of a vector of length one.

    >>> LabelledVectors(2, classes=3).index([[2, 0.6, 0.8]])
    array([[2. , 0.6, 0.8]])
    """

    classes: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.classes, bool) or not isinstance(self.classes, int) or not 1 <= self.classes <= MOST_CLASSES:
            raise InvalidParameter(f"Labelled vectors have 1 to {MOST_CLASSES} classes.")

    @property
    def labels(self) -> Sequence[Any]:  # type: ignore[override]
        return [(kind, place) for kind in range(self.classes) for place in range(self.dimensions)]

    @property
    def size(self) -> int:
        return self.classes * super().size

    def answer(self, index: int) -> tuple[float, ...]:
        """One of the 2 d vectors on an axis, with one of the classes."""
        rest, kind = divmod(index, self.classes)
        return (float(kind), *super().answer(rest))

    def index(self, values: Answers) -> Floats:
        rows = checked_rows(values, self.dimensions + 1).astype(np.float64)
        if not np.isin(rows[:, 0], np.arange(self.classes)).all():
            raise OutsideDomain(f"A class is not one of the numbers from 0 to {self.classes - 1}.")
        return np.concatenate([rows[:, :1], super().index(rows[:, 1:])], axis=1)

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> "LabelledVectors":
        return cls(spec["dimensions"], spec["classes"])

    def spec(self) -> Mapping[str, object]:
        return {"kind": "labelled-vectors", "dimensions": self.dimensions, "classes": self.classes}


@dataclass(frozen=True)
class LabelledCodes(UnitCodes):
    """As `UnitCodes`, for a vector x with a class y: each of the public directions u has a public sign s(k) for every class.

    Near are the directions where s(y) u x is largest. Signs are independent of each other and of the directions, so that
    the mean of s(k) u is c x for the person's own class and 0 for all others: divided by c it is unbiased for 1[y = k] x,
    with the variance 1 / (d c^2) of each of its numbers, however many the classes are. That the class and the vector are
    told together costs nothing: the whole budget is for both.
    """

    domain: LabelledVectors
    wire = "labelled-codes-1"

    def __post_init__(self) -> None:
        if not isinstance(self.domain, LabelledVectors):
            raise InvalidParameter("This mechanism is for vectors with a class: LabelledVectors(dimensions, classes).")
        super().__post_init__()

    def _error(self, rounds: int, near: int) -> float:
        return (self.domain.classes * self._length(rounds, near) ** -2 - 1) / rounds

    @cached_property
    def part(self) -> "LabelledCodes":
        return self if self.rounds == 1 else LabelledCodes(self.domain, self._share, 1, self.near, self.codes)

    @property
    def cells(self) -> int:
        return self.domain.classes * self.domain.dimensions

    def _signs(self, seed: Ints, code: Ints) -> Floats:
        """The signs of all classes, in a last axis of their own."""
        word = _mixed(
            _mixed((seed.astype(np.uint64) << np.uint64(16)) + code.astype(np.uint64)) + np.uint64(0x5851F42D4C957F2D)
        )
        bits = word[..., None] >> np.arange(self.domain.classes, dtype=np.uint64) & np.uint64(1)
        return 1.0 - 2.0 * bits.astype(np.float64)

    def _scores(self, truth: Floats, seed: Ints) -> Floats:
        codes = np.arange(self.codes)[None, :]
        signs = self._signs(seed[:, None], codes)
        own = np.take_along_axis(signs, truth[:, 0].astype(np.int64)[:, None, None], axis=2)[:, :, 0]
        every = directions(seed[:, None], codes, self.domain.dimensions)
        return np.asarray(own * np.einsum("ncd,nd->nc", every, truth[:, 1:]))

    def votes(self, columns: Columns) -> Ints:
        """For every class, the sums of the named directions with their signs, counted from -1 on in parts of 2^-24."""
        self.layout.check(columns)
        sums = np.zeros((self.domain.classes, self.domain.dimensions), np.int64)
        step = rows_at_once(self.cells)
        for k in range(self.rounds):
            seed, code = (columns[f"{name}{k}"].astype(np.int64) for name in ("seed", "code"))
            for start in range(0, len(seed), step):
                own = seed[start : start + step], code[start : start + step]
                part, signs = directions(*own, self.domain.dimensions), self._signs(*own)
                for kind in range(self.domain.classes):
                    sums[kind] += np.rint((signs[:, kind, None] * part + 1) * UNIT).astype(np.int64).sum(axis=0)
        return sums.ravel()

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """What to expect from n people with these classes and vectors."""
        if n < 1:
            raise InvalidParameter("A prediction needs at least one person.")
        rows = self.domain.index(np.atleast_2d(np.asarray(truth, np.float64)))
        kinds = rows[:, 0].astype(np.int64)
        means = [rows[kinds == kind, 1:].sum(axis=0) / len(rows) for kind in range(self.domain.classes)]
        return self._with_error(np.concatenate(means), n)

    def _with_error(self, mean: Floats, n: int) -> Estimate:
        variance = np.full(self.cells, self.error / self.cells / n)
        return Estimate(self.domain.labels, mean, variance, n, measure="mean")

    @classmethod
    def from_parameters(cls, domain: Domain, epsilon: float, parameters: Mapping[str, Any]) -> "LabelledCodes":
        return cls(domain, epsilon, parameters["rounds"], parameters["near"], parameters["codes"])  # type: ignore[arg-type]
