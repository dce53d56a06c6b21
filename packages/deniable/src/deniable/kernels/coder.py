"""Labels to bits and back: in Python at first, compiled once it pays. See coder_plain.py."""

from functools import partial

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.kernels.coder_plain import SYMBOLS, TOTAL
from deniable.kernels.plain import twin

__all__ = ["SYMBOLS", "TOTAL", "code_labels", "code_symbols", "read_headers", "read_labels", "read_symbols"]


_twin = partial(twin, "coder_plain", "coder_compiled")


def code_labels(labels: Ints, offsets: Ints, header: bool, sums: Ints) -> tuple[Bytes, Ints, Ints]:
    """The messages of labels[offsets[i]:offsets[i + 1]]: (bytes, where each begins, how many bits it has)."""
    widest = 64 if len(sums) else 128  # bits of one label at most: of the escape, or in gamma code
    begins = (np.diff(offsets) * widest + 128) // 8
    begins = np.concatenate([[0], np.cumsum(begins)])
    out, sizes = np.zeros(begins[-1], np.uint8), np.zeros(len(begins) - 1, np.int64)
    _twin(len(labels) * 64).code_labels(labels, offsets, header, sums, out, begins[:-1], sizes)
    return out, begins[:-1], sizes


def code_symbols(symbols: Ints, header: bool, sums: Ints) -> tuple[Bytes, int]:
    """The message of a whole vector of values and its number of bits."""
    out = np.zeros(16 + 2 * len(symbols), np.uint8)
    return out, int(_twin(len(symbols) * 64).code_symbols(symbols, header, sums, out))


def read_headers(data: Bytes, begins: Ints, ends: Ints) -> Ints:
    """The number of labels of each message, and -1 where there is none."""
    counts = np.zeros(len(begins), np.int64)
    _twin(len(begins) * 64).read_headers(data, begins, ends, counts)
    return counts


def read_labels(data: Bytes, begins: Ints, ends: Ints, offsets: Ints, header: bool, sums: Ints) -> Ints:
    """The labels of each message, offsets[i + 1] - offsets[i] of them; 0 for one that is not in the code."""
    labels = np.zeros(offsets[-1], np.int64)
    _twin(len(labels) * 64).read_labels(data, begins, ends, offsets, header, sums, labels)
    return labels


def read_symbols(data: Bytes, size: int, header: bool, sums: Ints) -> Ints:
    """The values of a whole vector of this size."""
    symbols = np.zeros(size, np.int64)
    _twin(size * 64).read_symbols(data, header, sums, symbols)
    return symbols
