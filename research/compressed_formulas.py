"""Compressed response as published: its chunks, its bound, and the mean bits of Elias's codes of the index."""

import math

import numpy as np

from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.index_law import IndexLaw


def published_chunks(size: int, chunks: int) -> tuple[int, int]:
    """The published rule: chunks of ceil(n / m) places, which leaves some of the m without any. (places, chunks in use).

    >>> published_chunks(10, 7)
    (2, 5)
    """
    places = -(-size // chunks)
    return places, -(-size // places)


def published_bound(coordinate: CoordinateResponse, alpha: float, differing: int) -> float:
    """The bound of E[log2 K] by Liu, Chen, Ozgur, Li (2024): divergence + log2(3.56) / min((alpha - 1) / 2, 1)."""
    return differing * coordinate.divergence() + math.log2(3.56) / min((alpha - 1) / 2, 1)


def elias_gamma(law: IndexLaw) -> float:
    """The mean bits of Elias's gamma code, 2 floor(log2 K) + 1."""
    return float((2 * np.arange(len(law.buckets)) + 1) @ law.buckets)


def elias_delta(law: IndexLaw) -> float:
    """The mean bits of Elias's delta code."""
    e = np.arange(len(law.buckets))
    return float((e + 2 * np.floor(np.log2(e + 1)) + 1) @ law.buckets)
