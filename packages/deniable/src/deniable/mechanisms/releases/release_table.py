"""Releases from explicit tables of whole weights, whose columns are the answers."""

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats
from deniable.domains.metric import metric_of
from deniable.errors import InvalidParameter
from deniable.mechanisms.releases.release import Release
from deniable.mechanisms.shares.finite_channel import FiniteChannel


@dataclass(frozen=True)
class ReleaseTable(FiniteChannel, Release):
    """A finite channel whose reports are the answers themselves, so that each is a release."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cells != metric_of(self.domain).size:
            raise InvalidParameter("A release has one column of weights for each answer.")

    def row_losses(self) -> Floats:
        out = np.empty(self.domain.size)
        for rows, losses in self.metric.blocks():
            out[rows] = (losses * self.matrix[rows]).sum(axis=1)
        return out
