"""Labels as bits: how many there are, then the labels, or a whole vector of responses where that is shorter."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.errors import InvalidReport
from deniable.kernels import coder
from deniable.mechanisms.sparse.codes import least_bits, sums


@dataclass(frozen=True)
class LabelCode:
    """How labels become bits. `chunks` is their number where that is public; then it is not written.

    A string of no labels holds a whole vector of `size` values instead; so do all whose number of chunks would be
    `plain_from` or more, which would be longer.
    """

    size: int
    weights: tuple[int, ...]
    value_weights: tuple[int, ...]
    plain_from: int
    chunks: int | None = None

    @property
    def always_plain(self) -> bool:
        """Whether every string holds a whole vector, as everybody knows beforehand."""
        return self.chunks is not None and self.chunks >= self.plain_from

    def write(self, labels: Ints, counts: Ints) -> list[bytes]:
        """A string for each vector's labels, counts[i] of them."""
        offsets = np.concatenate([[0], np.cumsum(counts)])
        out, begins, bits = coder.code_labels(labels, offsets, self.chunks is None, sums(self.weights))
        return [_trimmed(out[b : b + (s + 7) // 8]) for b, s in zip(begins.tolist(), bits.tolist(), strict=True)]

    def write_vector(self, values: Ints) -> bytes:
        """The string of a whole vector."""
        out, bits = coder.code_symbols(values, self.chunks is None, sums(self.value_weights))
        return _trimmed(out[: (bits + 7) // 8])

    def read(self, strings: Sequence[bytes]) -> tuple[Ints, Ints]:
        """The number of labels of each string, zero for a whole vector, and all labels.

        A string that no device writes is refused: one that claims more labels than its bits can hold, before any is
        read, and one that would be written differently.
        """
        data, begins, ends = _joined(strings)
        if self.chunks is None:
            counts = coder.read_headers(data, begins, ends)
        else:
            counts = np.full(len(strings), 0 if self.always_plain else self.chunks)
        room = (8 * (ends - begins) + 64) / least_bits(self.weights)
        if (counts < 0).any() or (counts >= self.plain_from).any() or (counts > np.minimum(room, self.size)).any():
            raise _damaged()
        room = (8 * (ends - begins) + 64) / least_bits(self.value_weights)
        if ((counts == 0) & (self.size > room)).any():
            raise _damaged()
        labels = np.empty(0, np.int64)
        some = np.flatnonzero(counts)
        if some.size:
            offsets = np.concatenate([[0], np.cumsum(counts[some])])
            labels = coder.read_labels(data, begins[some], ends[some], offsets, self.chunks is None, sums(self.weights))
            if labels.min() < 1 or self.write(labels, counts[some]) != [strings[place] for place in some.tolist()]:
                raise _damaged()
        return counts, labels

    def read_vector(self, string: bytes) -> Ints:
        """The values in the string of a whole vector."""
        data = np.frombuffer(string, np.uint8)
        values = coder.read_symbols(data, self.size, self.chunks is None, sums(self.value_weights))
        if self.write_vector(values) != string:
            raise _damaged()
        return values

    @property
    def most_bytes(self) -> int:
        """No string is longer: labels take at most 8 bytes each, values 2, and the rest the header."""
        return 32 + max(16 * min(self.size, self.plain_from), 2 * self.size)


def _trimmed(string: Bytes) -> bytes:
    return string.tobytes().rstrip(b"\0")


def _joined(strings: Sequence[bytes]) -> tuple[Bytes, Ints, Ints]:
    ends = np.cumsum([len(each) for each in strings], dtype=np.int64)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    return np.frombuffer(b"".join(strings), np.uint8), begins, ends


def _damaged() -> InvalidReport:
    return InvalidReport("A report is refused: no device of this mechanism sends it, so it is damaged or made up.")
