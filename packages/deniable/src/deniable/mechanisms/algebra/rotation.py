"""A public linear map of vectors before they are randomized, and the way back for their mean."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.core import Coins, Estimate, SeededCoins
from deniable.domains.features import check_dimensions, checked_rows
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Rotation:
    """A random rotation of vectors, the same for everybody and known to all; with `keep`, only so many of its coordinates.

    It costs no privacy: it happens before anything is randomized, and does not depend on anybody's vector. Rotated, vectors
    with a few large coordinates become even, so that a narrow public range holds nearly all numbers; fewer coordinates
    mean less noise, and an error for what is dropped.

    >>> turn = Rotation(4, keep=2, seed=1)
    >>> turn.apply([[1.0, 0.0, 0.0, 0.0]]).shape
    (1, 2)
    """

    dimensions: int
    keep: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        check_dimensions(self.dimensions)
        if not 0 <= self.keep <= self.dimensions:
            raise InvalidParameter(f"A rotation keeps 1 to {self.dimensions} coordinates; 0 means all.")
        object.__setattr__(self, "keep", self.keep or self.dimensions)

    @cached_property
    def matrix(self) -> Floats:
        """Orthonormal rows, one for each coordinate that is kept: Gaussian ones, made orthogonal, uniform over all."""
        normal = normals(SeededCoins(self.seed), self.dimensions * self.keep).reshape(self.dimensions, self.keep)
        q, r = np.linalg.qr(normal)
        return (q * np.sign(np.diag(r))).T.astype(np.float64, copy=False)

    def apply(self, values: ArrayLike) -> Floats:
        """The vectors in the new coordinates."""
        rows = checked_rows(np.asarray(values), self.dimensions).astype(np.float64)
        return np.asarray(rows @ self.matrix.T)

    def undo(self, estimate: Estimate) -> Estimate:
        """The mean in the old coordinates; what was dropped counts as zero.

        The variance takes the errors of the new coordinates as uncorrelated, which they nearly are.
        """
        if len(estimate.values) != self.keep:
            raise InvalidParameter(f"This rotation has {self.keep} coordinates; the estimate has {len(estimate.values)}.")
        variance = None if estimate.variance is None else estimate.variance @ self.matrix**2
        return replace(estimate, labels=range(self.dimensions), values=estimate.values @ self.matrix, variance=variance)


def normals(coins: Coins, size: int) -> Floats:
    """Normal numbers from pairs of uniform ones of 53 bits (Box and Muller 1958)."""
    half = (size + 1) // 2
    radius, angle = ((coins.below(1 << 53, half) + 0.5) / (1 << 53) for _ in range(2))
    distance = np.sqrt(-2 * np.log(radius))
    both = np.concatenate([distance * np.cos(2 * np.pi * angle), distance * np.sin(2 * np.pi * angle)])
    return both[:size]
