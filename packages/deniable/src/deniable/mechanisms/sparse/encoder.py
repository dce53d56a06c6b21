"""From sparse vectors to labels: which shared draw of each chunk to send."""

import math
from functools import lru_cache

import numpy as np

from deniable.arrays import Floats, Ints, Words
from deniable.core import Coins, StreamCoins
from deniable.errors import NotCertifiable
from deniable.kernels import encoder
from deniable.kernels.sorting import sorted_by_chunk
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
    each = np.broadcast_to(np.asarray(sizes, np.int64), chunks.shape)
    edges, sorted_places, sorted_values = sorted_by_chunk(places, values, offsets, each, chunks)
    inside = np.arange(edges.size - 1) - np.repeat(np.cumsum(chunks) - chunks, chunks)
    labels = encoder.encode(
        lambda count: stream(coins).draw(8 * count).view("<u8"),
        edges,
        sorted_places,
        sorted_values,
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
def series_of(alpha: float) -> Floats:
    """The coefficients of p(x), highest first; see kernels/encoder_plain.py."""
    a = 1 - 1 / alpha
    terms = [(-1) ** n * (1 - a) / (math.factorial(n) * (n + 1) * (a + n)) for n in range(TERMS)]
    return np.array(terms[::-1])
