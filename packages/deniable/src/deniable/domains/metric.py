"""Answers with a loss: what it costs to release one answer when another is true."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import Answer, Answers, Domain, Label
from deniable.domains.categories import Categories
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.domains.line import Line


BLOCK = 1 << 19  # losses worked out at a time, so that they stay near the processor; never all of them


class Metric(Domain[Answer, Ints]):
    """A domain whose answers have losses between them. Rows of losses are worked out when needed and never all kept."""

    @abstractmethod
    def losses(self, truth: Ints) -> Floats:
        """The loss of every answer that may be released, a row for each of these true answers."""

    def losses_of(self, released: Ints) -> Floats:
        """The loss of releasing each of these, a row with every true answer. The same as `losses` where it is symmetric."""
        return self.losses(released)

    @property
    def line(self) -> "Line | None":
        """The answers as points on a line, if they are some."""
        return None

    @property
    def unit(self) -> str:
        """What losses are counted in, such as km; empty where nothing is known of it."""
        return ""

    def blocks(self, released: bool = False) -> Iterator[tuple[Ints, Floats]]:
        """All rows of losses, some at a time: for each true answer, or for each that may be released."""
        step = max(1, BLOCK // self.size)
        for start in range(0, self.size, step):
            rows = np.arange(start, min(start + step, self.size))
            yield rows, self.losses_of(rows) if released else self.losses(rows)

    def paid(self, truth: Ints, released: Ints) -> Floats:
        """The loss of each released answer, beside its true one."""
        rows, which = np.unique(truth, return_inverse=True)
        order, step = np.argsort(which, kind="stable"), max(1, BLOCK // self.size)
        out, edges = np.empty(len(truth)), np.searchsorted(which[order], np.arange(len(rows) + 1))
        for start in range(0, len(rows), step):
            stop = min(start + step, len(rows))
            mine = order[edges[start] : edges[stop]]
            out[mine] = self.losses(rows[start:stop])[which[mine] - start, released[mine]]
        return out

    @cached_property
    def _names(self) -> Categories:
        return Categories(cast(Sequence[Label], self.labels))

    def index(self, values: Answers) -> Ints:
        return self._names.index(values)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Metric) and self.spec() == other.spec()

    def __hash__(self) -> int:
        return hash((type(self), self.size))


def checked_labels(labels: Sequence[Any] | None, size: int) -> Sequence[Any]:
    """One name for each answer: those given, or numbers from 0."""
    if size < 2:
        raise InvalidParameter(f"A question needs at least two possible answers; this one has {size}.")
    names = Categories(range(size) if labels is None else labels).labels
    if len(names) != size:
        raise InvalidParameter(f"There are {size} answers and {len(names)} labels. Give each answer one label.")
    return names


def metric_of(domain: Domain) -> Metric:
    """The losses between the answers of a domain: its own, or the distances of the points of an interval."""
    if isinstance(domain, Metric):
        return domain
    if isinstance(domain, Interval):
        from deniable.domains.ordered import Ordered

        return Ordered(domain.points)
    raise InvalidParameter(
        "These answers have no distances, so none is nearer to the truth than another. "
        "Use Ordered, Interval, Points or LossMatrix, or DirectResponse for answers that are all alike."
    )


def checked_prior(prior: ArrayLike | None, size: int) -> Floats:
    """How common each answer is: equal shares unless some are given."""
    if prior is None:
        return np.full(size, 1 / size)
    try:
        shares = np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if shares.shape != (size,) or not (shares >= 0).all() or not abs(shares.sum() - 1) <= 1e-9:
        raise InvalidParameter(
            f"A prior must be {size} non-negative numbers that sum to 1, one for each answer. Divide them by their sum."
        )
    return shares
