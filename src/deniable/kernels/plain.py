"""NumPy twins of the compiled kernels: the reference in tests, and what runs where numba is absent or not worth loading."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


def compare_planes(planes: Words, digit: int) -> tuple[Words, Words]:
    """Compare 64 random bytes per word with `digit`, bit plane by bit plane from the top: (smaller, equal) lanes."""
    smaller = np.zeros(planes.shape[1], np.uint64)
    equal = ~smaller
    for level, plane in enumerate(planes):
        if digit >> (7 - level) & 1:
            smaller |= equal & ~plane
            equal &= plane
        else:
            equal &= ~plane
    return smaller, equal


def set_positions(lanes: Words) -> Ints:
    """The positions of the bits that are one, in order; lane 0 is the lowest bit of word 0."""
    words = np.flatnonzero(lanes)
    bits = np.unpackbits(lanes[words].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    row, lane = np.nonzero(bits)
    return (words[row] * 64 + lane).astype(np.int64)


def settle(bits: Bytes, tied: Ints, more: Bytes, digit: int) -> Ints:
    """Set the tied bits whose further byte is smaller than `digit`; the positions of those still equal."""
    won = tied[more < digit]
    np.bitwise_or.at(bits, won >> 3, np.uint8(1) << (won & 7).astype(np.uint8))
    return tied[more == digit]


def scale(words: Words, bound: Words, word_bits: int) -> tuple[Ints, Ints]:
    """Map uniform words (rows, columns) to integers below bound[column]: (values, flat positions to draw again).

    A single bound serves all columns. value = floor(word * bound / 2^word_bits), refused when the low part is under
    2^word_bits mod bound: every value then has the same number of words (Lemire 2019).
    """
    if word_bits == 64:
        half, low_half = np.uint64(32), np.uint64(0xFFFFFFFF)
        w1, w0, b1, b0 = words >> half, words & low_half, bound >> half, bound & low_half
        carry = w0 * b0 >> half
        middle = w1 * b0 + carry
        other = w0 * b1 + (middle & low_half)
        value = w1 * b1 + (middle >> half) + (other >> half)
        low = words * bound  # modulo 2^64
        threshold = (np.uint64(0) - bound) % bound
    else:
        product = words * bound
        value = product >> np.uint64(word_bits)
        low = product & np.uint64((1 << word_bits) - 1)
        threshold = np.uint64(1 << word_bits) % bound
    return value.astype(np.int64), np.flatnonzero(low < threshold).astype(np.int64)


def floyd(draws: Ints, size: int) -> Bytes:
    """Turn draws[row, i] below size-k+i+1 into k-subsets of range(size), as packed bits (Floyd's algorithm)."""
    rows, chosen = draws.shape
    member = np.zeros((rows, (size + 7) // 8 * 8), np.bool_)
    row = np.arange(rows)
    for step in range(chosen):
        draw = draws[:, step]
        taken = member[row, draw]
        member[row, np.where(taken, size - chosen + step, draw)] = True
    return np.packbits(member, axis=1, bitorder="little")


def column_sums(words: Words) -> Ints:
    """How many rows have each bit set; column 0 is the lowest bit of word 0."""
    sums = np.zeros(words.shape[1] * 64, np.int64)
    for start in range(0, len(words), 4096):  # unpacked bits of a few rows at a time: memory stays small
        part = np.ascontiguousarray(words[start : start + 4096]).view(np.uint8)
        sums += np.unpackbits(part, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return sums


def histogram(values: NDArray[np.unsignedinteger], size: int) -> Ints:
    """How often each integer below `size` occurs."""
    counts = np.zeros(size, np.int64)
    for start in range(0, len(values), 1 << 16):  # bincount widens to 64 bits: only a part at a time
        counts += np.bincount(values[start : start + (1 << 16)], minlength=size)
    return counts
