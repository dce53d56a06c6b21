"""What a sparse vector costs in bits by other means: the figures to compare with."""

import math
from dataclasses import dataclass

from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse


@dataclass(frozen=True)
class Costs:
    """Bits for one vector of `size` coordinates of which `differing` differ."""

    coordinate: CoordinateResponse
    size: int
    differing: int

    @property
    def plain_response(self) -> float:
        """A response of every coordinate, at its entropy."""
        return self.size * self.coordinate.entropy()

    @property
    def subset(self) -> float:
        """log2 of the number of subsets: the coordinates that differ themselves, not private."""
        n, d = self.size, self.differing
        return (math.lgamma(n + 1) - math.lgamma(d + 1) - math.lgamma(n - d + 1)) / math.log(2)

    @property
    def listed(self) -> float:
        """d log2 n: the same as a list of numbers."""
        return self.differing * math.log2(self.size)

    @property
    def divergence(self) -> float:
        """What no private code can go below on average."""
        return self.differing * self.coordinate.divergence()
