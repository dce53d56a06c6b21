"""Any losses between answers, as a matrix: row x holds what each answer costs when x is true."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.domains.metric import Metric, checked_labels
from deniable.errors import InvalidParameter


@dataclass(frozen=True, eq=False)
class LossMatrix(Metric):
    """Losses from a square matrix, symmetric or not. The truth must be a best answer in its row.

    >>> LossMatrix([[0, 2], [5, 0]], labels=["stay", "go"]).losses(np.array([1]))
    array([[5., 0.]])
    """

    matrix: Any
    labels: Sequence[Any] = ()

    def __init__(self, matrix: ArrayLike, labels: Sequence[Any] | None = None) -> None:
        try:
            losses = np.array(matrix, np.float64)
        except (TypeError, ValueError):
            losses = np.empty(0)
        if losses.ndim != 2 or losses.shape[0] != losses.shape[1] or not losses.size:
            raise InvalidParameter("Losses must be a square matrix of numbers, with a row and a column for each answer.")
        if not np.isfinite(losses).all():
            raise InvalidParameter("A loss is not finite. Leave out answers that may never be released.")
        diagonal = np.diag(losses)
        if (diagonal < 0).any():
            raise InvalidParameter("The loss of the truth is negative. Add a constant to its row: it changes nothing else.")
        if (losses.min(axis=1) < diagonal).any():
            raise InvalidParameter(
                "In some row another answer costs less than the truth. The diagonal must be the smallest of each row; "
                "check that rows stand for true answers and columns for released ones."
            )
        losses.flags.writeable = False
        self._fix(matrix=losses, labels=checked_labels(labels, len(losses)))

    @property
    def diagonal(self) -> str:
        """What the truth costs: "zero" in every row, or only "minimal" in its row."""
        return "zero" if not np.diag(self.matrix).any() else "minimal"

    def losses(self, truth: Ints) -> Floats:
        rows: Floats = self.matrix[truth]
        return rows

    def losses_of(self, released: Ints) -> Floats:
        columns: Floats = self.matrix.T[released]
        return columns

    def spec(self) -> Mapping[str, object]:
        named = {} if isinstance(self.labels, range) else {"labels": list(self.labels)}
        return {"kind": "losses", "matrix": self.matrix.tolist(), **named}
