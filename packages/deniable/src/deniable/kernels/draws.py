"""Shared draws: NumPy at first, compiled once it pays. What they are is written in draws_plain.py."""

from functools import partial

from deniable import kernels
from deniable.arrays import Ints, Words
from deniable.kernels.draws_plain import Names, Small, Values

_twin = partial(kernels.twin, "draws_plain", "draws_compiled")


def draw_bits(place: Words, chunk: Words, label: Words, key: Words, threshold: int) -> Values:
    """One coordinate of a draw of two values for each row."""
    result: Values = _twin(place.size * 8).draw_bits(place, chunk, label, key, threshold)
    return result


def draw_values(place: Words, chunk: Words, label: Words, key: Words, threshold: int, values: int) -> Values:
    """One coordinate of a draw of more than two values for each row."""
    result: Values = _twin(place.size * 8).draw_values(place, chunk, label, key, threshold, values)
    return result


def draw_rows(
    rows: Small, row: Ints, first: Ints, last: Ints, chunk: Words, label: Words, key: Words, threshold: int
) -> None:
    """Write coordinates first..last - 1 of a draw into a row of packed bits, for each chunk; rows begin as zeros."""
    _twin(int((last - first).sum()) // 4).draw_rows(rows, row, first, last, chunk, label, key, threshold)


def take_ones(words: Small, table: Names) -> Names:
    """The entries of the table, which has 32 for each word, whose bits are one."""
    result: Names = _twin(words.size * 4).take_ones(words, table)
    return result


def permute(values: Ints, round_keys: Words, left: int, right: int, size: int, inverse: bool) -> Ints:
    """A keyed permutation of range(size): a Feistel network on left x right cells, walked until it falls inside."""
    result: Ints = _twin(values.size * 4).permute(values, round_keys, left, right, size, inverse)
    return result
