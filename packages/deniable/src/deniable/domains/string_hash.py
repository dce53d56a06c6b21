"""A hash of rows of 32-bit words, MurmurHash3 (Appleby 2011), the same in every client: it spreads, and hides nothing."""

import numpy as np

from deniable.arrays import Ints, Words32


def _rotated(words: Words32, by: int) -> Words32:
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))


def begun(words: Words32, seed: int, used: int) -> Words32:
    """The state after the first `used` words of each row."""
    state = np.full(len(words), seed, np.uint32)
    for place in range(used):
        state = mixed(state, words[:, place])
    return state


def mixed(state: Words32, words: Words32) -> Words32:
    """The state after one more word."""
    own = _rotated(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    return _rotated(state ^ own, 13) * np.uint32(5) + np.uint32(0xE6546B64)


def finished(state: Words32, cells: int) -> Ints:
    """The cell of each state, one of so many."""
    state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    state ^= state >> np.uint32(16)
    return ((state.astype(np.uint64) * np.uint64(cells)) >> np.uint64(32)).astype(np.int64)


def hashed(words: Words32, seed: int, cells: int) -> Ints:
    """The cell of each row of words."""
    return finished(begun(words, seed, words.shape[1]), cells)
