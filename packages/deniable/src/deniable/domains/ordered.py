"""Ordered answers: ages, prices, grades; the loss grows with the distance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Answers, Spec
from deniable.core.orders import inside
from deniable.domains.interval import finite_numbers
from deniable.domains.line import Line
from deniable.domains.metric import Metric, checked_labels
from deniable.errors import InvalidParameter, OutsideDomain


@dataclass(frozen=True, eq=False)
class Ordered(Metric):
    """Numbers in increasing order, or words from the lowest to the highest, such as grades.

    Releasing y when x is true costs |x - y|^power; words are one apart from their neighbours. With `by_rank` it costs
    by_rank[k] for answers k places apart, any losses that begin with 0 and never fall. With `snap` a number between two
    answers becomes the nearer one (the lower, if both are equally near) instead of being refused.

    >>> Ordered(range(18, 100)).index([18, 99])
    array([ 0, 81])
    >>> Ordered(["low", "middle", "high"]).losses(np.array([0]))
    array([[0., 1., 2.]])
    """

    ordered = True

    labels: Sequence[Any]
    power: float = 1.0
    by_rank: Sequence[float] | None = None
    snap: bool = False

    def __init__(
        self,
        labels: Iterable[Any],
        power: float = 1.0,
        by_rank: Sequence[float] | None = None,
        snap: bool = False,
    ) -> None:
        kept, numbers = _in_order(labels)
        if isinstance(power, bool) or not isinstance(power, int | float) or not 0 < power <= 16:
            raise InvalidParameter(
                "The power of the distance must be above 0 and at most 16: 1 for distances, 2 for squares."
            )
        table = None
        if by_rank is not None:
            table = np.asarray(by_rank, np.float64)
            good = table.shape == (len(kept),) and np.isfinite(table).all()
            if not good or table[0] != 0 or (np.diff(table) < 0).any() or power != 1:
                raise InvalidParameter(
                    f"Losses by rank are {len(kept)} finite numbers, for answers 0, 1, 2, ... places apart; they begin "
                    "with 0 and never decrease, and the power is 1."
                )
        if snap and numbers is None:
            raise InvalidParameter("Only numbers can be moved to the nearest answer; strings cannot.")
        ranks = None if table is None else tuple(table.tolist())
        self._fix(labels=kept, power=float(power), by_rank=ranks, snap=bool(snap), _numbers=numbers)

    @classmethod
    def grid(cls, low: float, high: float, count: int) -> "Ordered":
        """`count` equally spaced numbers from `low` to `high`, both included; what lies between becomes the nearest."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 2 or not -np.inf < low < high < np.inf:
            raise InvalidParameter("A grid needs two finite ends, the lower one first, and at least two points.")
        return cls(np.linspace(low, high, count), snap=True)

    @cached_property
    def line(self) -> Line:
        numbers: Floats | None = self._numbers  # type: ignore[attr-defined]
        if self.by_rank is not None:
            return Line(np.arange(self.size, dtype=np.float64), table=np.array(self.by_rank))
        return Line(np.arange(self.size, dtype=np.float64) if numbers is None else numbers, self.power)

    def losses(self, truth: Ints) -> Floats:
        return self.line.loss(truth[:, None], np.arange(self.size)[None, :])

    def index(self, values: Answers) -> Ints:
        points: Floats | None = self._numbers  # type: ignore[attr-defined]
        if points is None:
            return super().index(values)
        numbers = finite_numbers(values)
        if isinstance(self.labels, range) and numbers.dtype.kind == "i":  # the same as below, without a search
            given = numbers.astype(np.int64, copy=False)
            if (self.labels.start, self.labels.step) == (0, 1) and len(given) and inside(given, 0, self.size - 1):
                return given
            found, between = np.divmod(given - self.labels.start, self.labels.step)
            if ((found >= 0) & (found < self.size) & (between == 0)).all():
                return found
        above = np.minimum(np.searchsorted(points, numbers), self.size - 1)
        found = above.astype(np.int64)
        if self.snap:
            below = np.maximum(above - 1, 0)
            found = np.where(numbers - points[below] <= points[above] - numbers, below, above)
            outside = (numbers < points[0]) | (numbers > points[-1])
        else:
            outside = points[above] != numbers
        if outside.any():
            raise OutsideDomain(
                f"An answer is not one of the {self.size} numbers from {points[0]:g} to {points[-1]:g}. Add it to them"
                + (", or move it to the nearer end first." if self.snap else ", or pass snap=True to use the nearest one.")
            )
        return found

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """The answers that `spec` described."""
        if not isinstance(ends := spec.get("range"), list):
            return super().from_spec(spec)
        return super().from_spec({**spec, "labels": range(*ends)})

    def spec(self) -> Mapping[str, object]:
        kept: dict[str, object] = {"kind": "ordered"}
        if isinstance(self.labels, range):
            kept["range"] = [self.labels.start, self.labels.stop, self.labels.step]
        else:
            kept["labels"] = list(self.labels)
        if self.power != 1:
            kept["power"] = self.power
        if self.by_rank is not None:
            kept["by_rank"] = list(self.by_rank)
        return kept | ({"snap": True} if self.snap else {})


def _in_order(labels: Iterable[Any]) -> tuple[Sequence[Any], Floats | None]:
    """The answers, and their numbers if they are numbers."""
    if isinstance(labels, str | bytes):
        raise InvalidParameter('Ordered answers must be a list, for example Ordered(["low", "middle", "high"]).')
    given = [label.item() if isinstance(label, np.generic) else label for label in labels]
    kept: Sequence[Any] = labels if isinstance(labels, range) else given
    if len(kept) and all(isinstance(label, str) for label in kept):
        return checked_labels(kept, len(kept)), None
    if any(isinstance(label, bool) or not isinstance(label, int | float) for label in kept):
        raise InvalidParameter("Ordered answers must be all numbers or all strings.")
    if len(kept) < 2:
        raise InvalidParameter(f"A question needs at least two possible answers; this one has {len(kept)}.")
    numbers = np.array(kept, np.float64)
    if not np.isfinite(numbers).all() or not (np.diff(numbers) > 0).all():
        raise InvalidParameter("Numbers must be finite and in increasing order, each once. Sort them and drop repeats.")
    if any(isinstance(label, float) for label in kept):
        return tuple(numbers.tolist()), numbers
    return kept if isinstance(kept, range) else tuple(kept), numbers
