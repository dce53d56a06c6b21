"""A keyed public permutation of the coordinates, without a table: it spreads what differs evenly over the chunks."""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Ints, Words
from deniable.errors import InvalidParameter
from deniable.kernels import draws

ROUNDS = 6
LARGEST_TABLE = 1 << 26  # coordinates for which the whole permutation is kept as a table


@dataclass(frozen=True)
class Permutation:
    """A Feistel network of six rounds on ceil(sqrt n) x ceil(n / ceil(sqrt n)) cells, walked until it falls inside.

    Privacy does not rest on it, nor does the law of a report: it need neither be secret nor random. What rests on it is that
    neighbouring coordinates do not crowd into one chunk, which would take the encoder long.
    """

    size: int
    name: str

    @cached_property
    def round_keys(self) -> Words:
        """What each round of the network is keyed with."""
        digest = b"".join(hashlib.sha256(f"deniable permutation {part} {self.name}".encode()).digest() for part in range(2))
        return np.frombuffer(digest[: 8 * ROUNDS], "<u8").astype(np.uint64)

    @property
    def cells(self) -> tuple[int, int]:
        """How many rows and columns the network has."""
        left = math.isqrt(self.size - 1) + 1
        return left, -(-self.size // left)

    def forward(self, coordinates: Ints) -> Ints:
        """Where each coordinate goes."""
        return draws.permute(coordinates, self.round_keys, *self.cells, self.size, inverse=False)

    def backward(self, places: Ints) -> Ints:
        """Which coordinate is at each place."""
        return draws.permute(places, self.round_keys, *self.cells, self.size, inverse=True)

    @cached_property
    def table(self) -> Ints:
        """The coordinate at every place."""
        if self.size > LARGEST_TABLE:
            raise InvalidParameter(
                f"Vectors of more than {LARGEST_TABLE:,} coordinates are not decoded whole. Ask for some of them: "
                "mechanism.value(reports, coordinates), mechanism.estimate_at(reports, coordinates)."
            )
        return draws.permute(np.arange(self.size), self.round_keys, *self.cells, self.size, inverse=True)
