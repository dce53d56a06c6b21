"""Sorting by chunks, compiled by numba: it gives exactly what its twin in sorting.py gives."""

import numpy as np
from numba import njit

from deniable.arrays import Ints, Words


def sorted_by_chunk(places: Ints, values: Ints, offsets: Ints, sizes: Ints, chunks: Ints) -> tuple[Ints, Words, Words]:
    edges, chunk = np.zeros(int(chunks.sum()) + 1, np.int64), np.empty(len(places), np.int64)
    found, given = np.empty((2, len(places)), np.uint64)
    _chunk_numbers(places, offsets, sizes, chunks, chunk)
    _sort(places, values, chunk, edges, found, given)
    return edges, found, given


@njit(cache=True, nogil=True, error_model="numpy")
def _chunk_numbers(places, offsets, sizes, chunks, chunk):  # type: ignore[no-untyped-def]
    base = np.int64(0)
    for vector in range(chunks.shape[0]):
        size, many = sizes[vector], chunks[vector]
        inverse = 1.0 / np.float64(size)
        for i in range(offsets[vector], offsets[vector + 1]):
            product = places[i] * many
            part = np.int64(np.float64(product) * inverse)  # as floats round, one too many or too few
            rest = product - part * size
            chunk[i] = base + part + np.int64(rest >= size) - np.int64(rest < 0)
        base += many


@njit(cache=True, nogil=True)
def _sort(places, values, chunk, edges, found, given):  # type: ignore[no-untyped-def]
    for i in range(chunk.shape[0]):
        edges[chunk[i] + 1] += 1
    for c in range(1, edges.shape[0]):
        edges[c] += edges[c - 1]
    for i in range(chunk.shape[0]):
        at = edges[chunk[i]]
        found[at], given[at] = np.uint64(places[i]), np.uint64(values[i])
        edges[chunk[i]] = at + 1
    for c in range(edges.shape[0] - 1, 0, -1):
        edges[c] = edges[c - 1]
    edges[0] = 0
