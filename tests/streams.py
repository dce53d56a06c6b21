"""Coins for tests of the coins: a given stream of bytes, and a stream that counts what is drawn."""

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bytes
from deniable.core.coins import SeededCoins, StreamCoins


class GivenCoins(StreamCoins):
    """Draws exactly these bytes, in order; fails if they run out."""

    def __init__(self, *parts: bytes | Bytes) -> None:
        self.left = np.concatenate([np.frombuffer(bytes(part), np.uint8) for part in parts])

    def draw(self, size: int) -> Bytes:
        assert size <= len(self.left), "the stream ran out"
        taken, self.left = self.left[:size].copy(), self.left[size:]
        return taken


class CountingCoins(SeededCoins):
    """Seeded coins that remember how many bytes were drawn."""

    drawn = 0

    def draw(self, size: int) -> Bytes:
        self.drawn += size
        return super().draw(size)


def planes(lanes: NDArray[np.int64]) -> Bytes:
    """The stream whose first eight binary digits of lane i are the byte lanes[i]; a whole number of words of lanes."""
    assert len(lanes) % 64 == 0
    bits = (lanes[None, :] >> np.arange(7, -1, -1)[:, None] & 1).astype(np.uint8)
    return np.packbits(bits, axis=1, bitorder="little").ravel()
