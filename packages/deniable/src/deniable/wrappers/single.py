"""A domain of one answer."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Ints
from deniable.core import Answers, Domain


@dataclass(frozen=True)
class Single(Domain[int, Ints]):
    """A domain of one answer: nothing is left to report."""

    labels = (0,)

    def index(self, values: Answers) -> Ints:
        return np.zeros(len(values), np.int64)

    def spec(self) -> Mapping[str, object]:
        return {"kind": "single"}
