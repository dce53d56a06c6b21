"""The encoder of Poisson private representation: in Python at first, compiled once it pays. See encoder_plain.py."""

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from deniable.arrays import Floats, Ints, Words
from deniable.kernels.plain import twin

MORE = 1 << 14  # words drawn when a step lacks some


_twin = partial(twin, "encoder_plain", "encoder_compiled")


def encode(
    draw: Callable[[int], Words],
    offsets: Ints,
    place: Words,
    value: Words,
    chunk: Words,
    key: Words,
    threshold: int,
    values: int,
    epsilon: float,
    alpha: float,
    series: Floats,
) -> Words:
    """The label of each chunk, with private random words from `draw`; what is left of them is thrown away."""
    chunks = len(offsets) - 1
    factors = factors_for(epsilon, int(np.diff(offsets).max(initial=0)))
    labels, state = np.zeros(chunks, np.uint64), np.array([0, 0, 0, 0, np.inf, 0, np.inf])
    words = draw(64 + 8 * chunks)
    loops = _twin(chunks * 512 + 1024 * len(place))
    while True:
        done, used = loops.encode(
            *(words, loops.exponentials(words), offsets, place, value, chunk, key),
            *(threshold, values, factors, alpha, series, state, labels),
        )
        if done == chunks:
            return labels
        words = np.concatenate([words[used:], draw(MORE)])


@lru_cache(maxsize=16)
def factors_for(epsilon: float, longest: int) -> Floats:
    """exp(-epsilon n) for every net number n of coordinates that a chunk of at most `longest` can have."""
    return np.array([math.exp(-epsilon * net) for net in range(-longest, longest + 1)])
