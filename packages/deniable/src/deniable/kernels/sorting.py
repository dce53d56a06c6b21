"""Coordinates of sparse vectors, sorted by the chunks that they fall into."""

import numpy as np

from deniable.arrays import Ints, Words
from deniable.kernels.plain import compiled_in


@compiled_in("sorting_compiled", lambda places, *_: places.size * 4)
def sorted_by_chunk(places: Ints, values: Ints, offsets: Ints, sizes: Ints, chunks: Ints) -> tuple[Ints, Words, Words]:
    """Where each chunk of all vectors begins, then their places and values in the order of chunks.

    Vector i has the places from offsets[i] to offsets[i + 1], of `sizes[i]`, in chunks[i] chunks: place y in floor(y m / n).
    Those in one chunk keep their order.
    """
    owner = np.repeat(np.arange(len(chunks)), np.diff(offsets))
    base = np.concatenate([[0], np.cumsum(chunks)])
    chunk = base[owner] + places * chunks[owner] // sizes[owner]
    order = np.argsort(chunk, kind="stable")
    edges = np.concatenate([[0], np.cumsum(np.bincount(chunk, minlength=base[-1]))]).astype(np.int64)
    return edges, places[order].astype(np.uint64), values[order].astype(np.uint64)
