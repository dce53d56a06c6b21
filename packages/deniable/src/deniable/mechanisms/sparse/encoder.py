"""From sparse vectors to labels: which shared draw of each chunk to send."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints, Words
from deniable.core import Coins, StreamCoins
from deniable.errors import NotCertifiable
from deniable.kernels import encoder
from deniable.mechanisms.sparse.chunks import chunk_of
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse

TERMS = 20  # of the series in x <= 1, the last of them below 1e-19


def labels_for(
    coordinate: CoordinateResponse,
    alpha: float,
    places: Ints,
    values: Ints,
    offsets: Ints,
    sizes: Ints | int,
    chunks: Ints,
    keys: Words,
    coins: Coins,
) -> Ints:
    """The labels of all chunks of all vectors, one after the other.

    Vector i has values[offsets[i]:offsets[i + 1]] at the permuted places[offsets[i]:offsets[i + 1]] of its `sizes`, and is
    encoded in chunks[i] labels. Private randomness comes from the coins alone, never from the public keys.
    """
    owner = np.repeat(np.arange(len(chunks)), np.diff(offsets))
    base = np.concatenate([[0], np.cumsum(chunks)])
    own_size = sizes[owner] if isinstance(sizes, np.ndarray) else sizes
    chunk = base[owner] + chunk_of(places, own_size, chunks[owner])
    # in two bytes by a radix sort, which takes a tenth of the time
    short = chunk.astype(np.uint16) if base[-1] <= 1 << 16 else chunk
    order = np.argsort(short, kind="stable")
    edges = np.concatenate([[0], np.cumsum(np.bincount(chunk, minlength=base[-1]))]).astype(np.int64)
    inside = np.arange(base[-1]) - np.repeat(base[:-1], chunks)
    labels = encoder.encode(
        lambda count: stream(coins).draw(8 * count).view("<u8"),
        edges,
        places[order].astype(np.uint64),
        values[order].astype(np.uint64),
        inside.astype(np.uint64),
        np.repeat(keys, chunks),
        coordinate.threshold,
        coordinate.values,
        math.log(coordinate.odds),
        alpha,
        series_of(alpha),
    )
    return labels.astype(np.int64)


def stream(coins: Coins) -> StreamCoins:
    """Coins that give bytes: the encoder's time depends on what comes up, so that its outcomes cannot be listed."""
    if not isinstance(coins, StreamCoins):
        raise NotCertifiable(
            "Poisson private representation rests on a theorem: it tosses an unlimited number of coins, so its outcomes "
            "cannot be enumerated."
        )
    return coins


@lru_cache(maxsize=16)
def series_of(alpha: float) -> NDArray[np.float64]:
    """The coefficients of p(x), highest first; see kernels/encoder_plain.py."""
    a = 1 - 1 / alpha
    terms = [(-1) ** n * (1 - a) / (math.factorial(n) * (n + 1) * (a + n)) for n in range(TERMS)]
    return np.array(terms[::-1])
