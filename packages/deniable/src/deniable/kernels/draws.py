"""Shared draws: Philox4x32-10, coordinates of quantised response, a keyed permutation.

A draw is a whole vector of responses to "every coordinate has its reference value"; k = 1, 2, ... numbers the draws of a
chunk. Coordinate y of draw k of chunk j under a 64-bit key is a function of (key, j, k, y) alone:

- two values: bit y % 32 of the words of Philox((8 (y // 32) + g, j, k mod 2^32, k // 2^32)), g = 0, 1, ..., 7, read as the
  binary
  digits of a number U, most significant first; the coordinate is 1 if U < threshold.
- more values: U is word y % 4 of Philox((y // 4, j, k mod 2^32, k // 2^32)); value 1 + U // threshold if that is a value,
  else 0.
"""

import numpy as np

from deniable.arrays import Bytes, Ints, Ints32, Words, Words32
from deniable.kernels.plain import compiled_in

MASK, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
MULTIPLY_0, MULTIPLY_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL_0, WEYL_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
GROUPS = 8  # of four binary digits: 32 digits in all
AT_ONCE = 1 << 14


def philox(c0: Words, c1: Words, c2: Words, c3: Words, key: Words) -> tuple[Words, Words, Words, Words]:
    """Four random words for each counter of four words, all below 2^32 (Salmon, Moraes, Dror, Shaw 2011)."""
    k0, k1 = key & MASK, key >> HALF
    for _ in range(10):
        first, second = MULTIPLY_0 * c0, MULTIPLY_1 * c2
        c0, c1, c2, c3 = (second >> HALF) ^ c1 ^ k0, second & MASK, (first >> HALF) ^ c3 ^ k1, first & MASK
        k0, k1 = (k0 + WEYL_0) & MASK, (k1 + WEYL_1) & MASK
    return c0, c1, c2, c3


def less_words(block: Words, chunk: Words, label: Words, key: Words, threshold: int) -> Words32:
    """For each block of 32 coordinates the bits of those whose number is below the threshold."""
    low, high = label & MASK, label >> HALF
    less, equal = np.zeros(len(block), np.uint64), np.full(len(block), MASK)
    left = np.arange(len(block))
    for group in range(GROUPS):
        counter = (block[left] << np.uint64(3)) + np.uint64(group)
        for digit, word in enumerate(philox(counter, chunk[left], low[left], high[left], key[left])):
            if threshold >> (31 - 4 * group - digit) & 1:
                less[left] |= equal[left] & ~word
                equal[left] &= word
            else:
                equal[left] &= ~word
        left = left[equal[left] != 0]
        if not left.size:
            break
    return less.astype(np.uint32)


@compiled_in("draws_compiled", lambda place, *_: place.size * 8)
def draw_bits(place: Words, chunk: Words, label: Words, key: Words, threshold: int) -> Bytes:
    """One coordinate of a draw of two values for each row."""
    out = np.empty(len(place), np.uint8)
    for start in range(0, len(place), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        words = less_words(place[part] >> np.uint64(5), chunk[part], label[part], key[part], threshold)
        out[part] = words >> (place[part] & np.uint64(31)).astype(np.uint32) & 1
    return out


@compiled_in("draws_compiled", lambda place, *_: place.size * 8)
def draw_values(place: Words, chunk: Words, label: Words, key: Words, threshold: int, values: int) -> Bytes:
    """One coordinate of a draw of more than two values for each row."""
    out = np.empty(len(place), np.uint8)
    for start in range(0, len(place), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        at = place[part]
        words = np.stack(philox(at >> np.uint64(2), chunk[part], label[part] & MASK, label[part] >> HALF, key[part]))
        value = words[(at & np.uint64(3)).astype(np.int64), np.arange(len(at))] // np.uint64(threshold) + np.uint64(1)
        out[part] = np.where(value < values, value, 0)
    return out


@compiled_in("draws_compiled", lambda rows, row, first, last, *_: int((last - first).sum()) // 4)
def draw_rows(
    rows: Words32, row: Ints, first: Ints, last: Ints, chunk: Words, label: Words, key: Words, threshold: int
) -> None:
    """Write coordinates first..last - 1 of a draw into a row of packed bits, for each chunk; rows begin as zeros."""
    begin, blocks = first >> 5, np.where(first < last, (last - 1 >> 5) - (first >> 5) + 1, 0)
    edges = np.cumsum(blocks)
    for start in range(0, int(edges[-1]) if len(edges) else 0, AT_ONCE):
        flat = np.arange(start, min(start + AT_ONCE, edges[-1]))
        own = np.searchsorted(edges, flat, side="right")
        block = begin[own] + flat - (edges[own] - blocks[own])
        words = less_words(block.astype(np.uint64), chunk[own], label[own], key[own], threshold)
        skipped = np.clip(first[own] - 32 * block, 0, 31).astype(np.uint32)
        beyond = np.clip(32 * (block + 1) - last[own], 0, 31).astype(np.uint32)
        full = np.uint32(0xFFFFFFFF)
        np.bitwise_or.at(rows, (row[own], block), words & full << skipped & full >> beyond)


@compiled_in("draws_compiled", lambda words, table: words.size * 4)
def take_ones(words: Words32, table: Ints32) -> Ints32:
    """The entries of the table, which has 32 for each word, whose bits are one."""
    return table[np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))]


@compiled_in("draws_compiled", lambda values, *_: values.size * 4)
def permute(values: Ints, round_keys: Words, left: int, right: int, size: int, inverse: bool) -> Ints:
    """A keyed permutation of range(size): a Feistel network on left x right cells, walked until it falls inside."""
    out = values.copy()
    walking = np.arange(len(values))
    while walking.size:
        x = out[walking].astype(np.uint64)
        high, low = x // np.uint64(right), x % np.uint64(right)
        for turn in range(len(round_keys))[:: -1 if inverse else 1]:
            if turn % 2 == 0:
                move = scrambled(low ^ round_keys[turn], left)
                high = (high + (np.uint64(left) - move if inverse else move)) % np.uint64(left)
            else:
                move = scrambled(high ^ round_keys[turn], right)
                low = (low + (np.uint64(right) - move if inverse else move)) % np.uint64(right)
        out[walking] = (high * np.uint64(right) + low).astype(np.int64)
        walking = walking[out[walking] >= size]
    return out


def scrambled(x: Words, below: int) -> Words:
    """A pseudo-random number below `below` < 2^32 from 64 bits (the finalizer of SplitMix64)."""
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return ((x ^ x >> np.uint64(31)) >> HALF) * np.uint64(below) >> HALF
