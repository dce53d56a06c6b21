"""The inner loops on arrays: NumPy at first, compiled by numba once a process has done enough work to pay for loading it.

Loading numba takes about a second, so a device that randomizes one answer never waits for it.
"""

import importlib
import importlib.util
from functools import cache, partial
from types import ModuleType

from deniable.arrays import Bools, Bytes, Ints, Words
from deniable.kernels.plain import AnyWords

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


_twin = partial(twin, "plain", "compiled")


def expect_work() -> None:
    """Load the compiled loops at the next call: for a process that is going to work for long."""
    global _done
    _done = max(_done, COMPILE_AFTER)


def compare_planes(planes: Words, digit: int) -> tuple[Words, Words]:
    """Compare 64 random bytes per word with `digit`, bit plane by bit plane from the top: (smaller, equal) lanes."""
    result: tuple[Words, Words] = _twin(planes.size * 8).compare_planes(planes, digit)
    return result


def set_positions(lanes: Words) -> Ints:
    """The positions of the bits that are one, in order."""
    result: Ints = _twin(lanes.size).set_positions(lanes)
    return result


def settle(bits: Bytes, tied: Ints, more: Bytes, digit: int) -> Ints:
    """Set the tied bits whose further byte is smaller than `digit`; the positions of those still equal."""
    result: Ints = _twin(tied.size).settle(bits, tied, more, digit)
    return result


def scale(words: AnyWords, bound: int, word_bits: int) -> tuple[Ints, Ints]:
    """Map uniform words to integers below `bound`: (values, positions of words that are refused and drawn again)."""
    result: tuple[Ints, Ints] = _twin(words.size).scale(words, bound, word_bits)
    return result


def subsets(words: AnyWords, size: int, one_less: Bools, word_bits: int) -> tuple[Bytes, Ints]:
    """Map rows of k uniform words to k-subsets of range(size): (packed bits, rows that are refused and drawn again)."""
    result: tuple[Bytes, Ints] = _twin(words.size).subsets(words, size, one_less, word_bits)
    return result


def column_sums(words: Words) -> Ints:
    """How many rows have each bit set."""
    result: Ints = _twin(words.size * 8).column_sums(words)
    return result


def histogram(values: AnyWords, size: int) -> Ints:
    """How often each integer below `size` occurs."""
    result: Ints = _twin(values.size).histogram(values, size)
    return result


def interval_counts(step: AnyWords, start: AnyWords, width: AnyWords, modulus: int, size: int) -> Ints:
    """How many rows have (start + step x) mod modulus < width, for each x below `size`."""
    result: Ints = _twin(step.size * size).interval_counts(step, start, width, modulus, size)
    return result
