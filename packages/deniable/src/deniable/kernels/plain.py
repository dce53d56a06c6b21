"""The inner loops in NumPy, and when their compiled twins take over: once a process has done enough work to load numba.

Loading numba takes about a second, so a device that randomizes one answer never waits for it. The loops here are the
reference in tests, and what runs where numba is absent.
"""

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache, wraps
from types import ModuleType
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bools, Bytes, Ints, Words

AnyWords = NDArray[np.unsignedinteger]
Loop = TypeVar("Loop", bound=Callable[..., object])

COMPILE_AFTER = 1 << 18  # elements of work after which loading numba starts to pay

_done = 0
_available = importlib.util.find_spec("numba") is not None


def pays(work: int) -> bool:
    """Whether, with this much more work, the process has done enough for compiled loops to pay."""
    global _done
    _done += work
    return _available and _done >= COMPILE_AFTER


def twin(plain_name: str, compiled_name: str, work: int) -> ModuleType:
    """The module of plain loops, or the compiled one once that pays."""
    return _loaded(compiled_name if pays(work) else plain_name)


@cache
def _loaded(name: str) -> ModuleType:
    return importlib.import_module(f"deniable.kernels.{name}")


def compiled_in(module: str, work: Callable[..., int]) -> Callable[[Loop], Loop]:
    """A plain loop that gives way to its namesake in a compiled module once that pays; `work` counts its elements."""

    def with_twin(plain: Loop) -> Loop:
        found: Callable[..., object] | None = None

        @wraps(plain)
        def run(*given: object, **named: object) -> object:
            nonlocal found
            if not (_available and (_done >= COMPILE_AFTER or pays(work(*given)))):
                return plain(*given, **named)
            if found is None:
                found = getattr(_loaded(module), plain.__name__)
            return found(*given, **named)

        return cast("Loop", run)

    return with_twin


def expect_work() -> None:
    """Load the compiled loops at the next call: for a process that is going to work for long."""
    global _done
    _done = max(_done, COMPILE_AFTER)


@compiled_in("compiled", lambda planes, *_: planes.size * 8)
def toss_lanes(planes: Words, digit: int, used: int) -> tuple[Words, Ints]:
    """Compare 64 random bytes per word with `digit`, bit plane by bit plane from the top: smaller lanes, positions of equal.

    Lane 0 is the lowest bit of word 0; lanes from `used` on are not looked for. A plane is one long number: for one answer
    that takes a fifth of the time of arrays, and no longer for many.
    """
    size = planes.shape[1] * 8
    smaller, equal = 0, (1 << size * 8) - 1
    for level, plane in enumerate(planes):
        ones = equal & int.from_bytes(plane.tobytes(), "little")
        if digit >> (7 - level) & 1:
            smaller, equal = smaller | equal ^ ones, ones
        else:
            equal ^= ones
    equal &= (1 << used) - 1
    return _lanes(smaller, size), _set_positions(_lanes(equal, size))


def _lanes(bits: int, size: int) -> Words:
    return np.frombuffer(bytearray(bits.to_bytes(size, "little")), np.uint64)


def _set_positions(lanes: Words) -> Ints:
    words = lanes.nonzero()[0]
    if not words.size:
        return words
    bits = np.unpackbits(lanes[words].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    row, lane = np.nonzero(bits)
    return (words[row] * 64 + lane).astype(np.int64)


@compiled_in("compiled", lambda bits, tied, *_: tied.size)
def settle(bits: Bytes, tied: Ints, more: Bytes, digit: int) -> Ints:
    """Set the tied bits whose further byte is smaller than `digit`; the positions of those still equal."""
    won = tied[more < digit]
    np.bitwise_or.at(bits, won >> 3, np.uint8(1) << (won & 7).astype(np.uint8))
    return tied[more == digit]


@compiled_in("compiled", lambda words, *_: words.size)
def scale(words: AnyWords, bound: int, word_bits: int) -> tuple[Ints, Ints]:
    """Map uniform words to integers below `bound`: (values, positions of words that are refused and drawn again).

    value = floor(word * bound / 2^word_bits), refused when the low part is under 2^word_bits mod bound: every value then
    has the same number of words (Lemire 2019).
    """
    if len(words) == 1:
        value, refused_word = scaled_word(words, bound, word_bits)
        return np.array([value]), FIRST if refused_word else NONE
    values, refused = scaled(words, np.array([bound], np.uint64), word_bits)
    return values, np.flatnonzero(refused)


NONE, FIRST = np.empty(0, np.int64), np.zeros(1, np.int64)  # positions in a batch of one
NONE.flags.writeable = FIRST.flags.writeable = False


def scaled_word(words: AnyWords, bound: int, word_bits: int) -> tuple[int, bool]:
    """What `scaled` makes of one word, as devices draw them, and whether it is refused: arrays take ten times as long."""
    value, low = divmod(int(words[0]) * bound, 1 << word_bits)
    return value, low < (1 << word_bits) % bound


@compiled_in("compiled", lambda words, *_: words.size)
def subsets(words: AnyWords, size: int, one_less: Bools, word_bits: int) -> tuple[Bytes, Ints]:
    """Map rows of k uniform words to k-subsets of range(size): (packed bits, rows that are refused and drawn again).

    Floyd's algorithm: step i scales its word to below size - k + i + 1 and takes that element, or element size - k + i if
    it has been taken. Without its first step it gives subsets of k - 1, in the rows where `one_less`. A row is refused when
    any of its words is.
    """
    rows, chosen = words.shape
    draws, refused = scaled(words, np.arange(size - chosen + 1, size + 1, dtype=np.uint64), word_bits)
    member = np.zeros((rows, (size + 7) // 8 * 8), np.bool_)
    row = np.arange(rows)
    for step in range(chosen):
        taken = member[row, draws[:, step]]
        member[row, np.where(taken, size - chosen + step, draws[:, step])] = ~one_less if step == 0 else True
    return np.packbits(member, axis=1, bitorder="little"), np.flatnonzero(refused.any(axis=1))


def scaled(words: AnyWords, bound: Words, word_bits: int) -> tuple[Ints, Bools]:
    """Words mapped to integers below their bounds, and which of them are refused."""
    if word_bits == 64:
        half, low_half = np.uint64(32), np.uint64(0xFFFFFFFF)
        w1, w0, b1, b0 = words >> half, words & low_half, bound >> half, bound & low_half
        middle = w1 * b0 + (w0 * b0 >> half)
        other = w0 * b1 + (middle & low_half)
        value = w1 * b1 + (middle >> half) + (other >> half)
        return value.astype(np.int64), words * bound < (np.uint64(0) - bound) % bound  # both modulo 2^64
    product = words * bound
    low = product & np.uint64((1 << word_bits) - 1)
    return (product >> np.uint64(word_bits)).astype(np.int64), low < np.uint64(1 << word_bits) % bound


@compiled_in("compiled", lambda words: words.size * 8)
def column_sums(words: Words) -> Ints:
    """How many rows have each bit set; column 0 is the lowest bit of word 0."""
    sums = np.zeros(words.shape[1] * 64, np.int64)
    for start in range(0, len(words), 4096):  # unpacked bits of a few rows at a time: memory stays small
        part = np.ascontiguousarray(words[start : start + 4096]).view(np.uint8)
        sums += np.unpackbits(part, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return sums


@compiled_in(
    "compiled", lambda values, size: values.size >> 10
)  # NumPy counts 300 million in the time that numba needs to load
def histogram(values: AnyWords, size: int) -> Ints:
    """How often each integer below `size` occurs."""
    counts = np.zeros(size, np.int64)
    for start in range(0, len(values), 1 << 16):  # bincount widens to 64 bits: only a part at a time
        counts += np.bincount(values[start : start + (1 << 16)], minlength=size)
    return counts


@compiled_in("compiled", lambda step, start, width, modulus, size: step.size * size)
def interval_counts(step: AnyWords, start: AnyWords, width: AnyWords, modulus: int, size: int) -> Ints:
    """How many rows have (start + step x) mod modulus < width, for each x below `size`.

    All three columns are of one type, in which two numbers below the modulus can be added.
    """
    counts, prime = np.zeros(size, np.int64), step.dtype.type(modulus)
    for first in range(0, len(step), 1 << 15):  # a part at a time stays in the processor's cache
        part = slice(first, first + (1 << 15))
        place, by, below = start[part].copy(), step[part], width[part]
        for x in range(size):
            counts[x] += np.count_nonzero(place < below)
            place += by
            np.minimum(place, place - prime, out=place)  # what is below the modulus wraps around, to more
    return counts
