"""Public random directions on the sphere, from a seed and a number, and how near they are to vectors."""

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.kernels.mixing import STEP, mixed
from deniable.kernels.plain import compiled_in

MOST = 1 << 18  # coordinates of directions that are worked out at once


def directions(seed: Ints, code: Ints, dimensions: int) -> Floats:
    """Directions on the sphere from a public seed and a number, in a last axis of their own.

    Normal numbers (Box and Muller 1958) from words mixed as in SplitMix64 (Steele, Lea, Flood 2014), scaled to length one.
    Nothing about privacy rests on them; that they look uniform is what the estimate rests on.
    """
    half = (dimensions + 1) // 2
    start = mixed((seed.astype(np.uint64) << np.uint64(16)) + code.astype(np.uint64) + np.uint64(1))
    words = mixed(start[..., None] + np.arange(2 * half, dtype=np.uint64) * STEP)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) / (1 << 53)
    radius, angle = np.sqrt(-2 * np.log(uniform[..., :half])), 2 * np.pi * uniform[..., half:]
    normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)[..., :dimensions]
    return np.asarray(normal / np.sqrt((normal**2).sum(axis=-1, keepdims=True)))


@compiled_in("directions_compiled", lambda rows, seed, codes: rows.size * codes)
def nearness(rows: Floats, seed: Ints, codes: int) -> Floats:
    """The product of each vector with each of the `codes` directions of its seed.

    The compiled loop rounds differently in the last digits, as other processors do; the order of the products is the same
    unless two of them agree to about 15 digits.
    """
    found = np.empty((len(rows), codes))
    step = max(1, MOST // (codes * rows.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        every = directions(seed[part, None], np.arange(codes)[None, :], rows.shape[1])
        found[part] = np.einsum("ncd,nd->nc", every, rows[part])
    return found
