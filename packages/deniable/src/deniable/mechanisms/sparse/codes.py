"""Weights for the arithmetic code of labels: the exact law, or Zipf's."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.kernels.coder import SYMBOLS, TOTAL
from deniable.kernels.coder_plain import LARGEST, SINGLE
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.index_law import IndexLaw


def model_weights(law: IndexLaw) -> tuple[int, ...]:
    """Whole weights with sum 2^16 that follow the exact law."""
    return _rounded(_chances(law.tail))


def zipf_weights(mean_log: float) -> tuple[int, ...]:
    """Weights after Zipf's law with exponent 1 + 1 / E[log2 K]: within 1.3 % of the entropy, from one number."""
    exponent = 1 + 1 / mean_log
    whole = _zeta(exponent, np.array(1.0))
    return _rounded(_chances(lambda x: _zeta(exponent, x + 1) / whole))


def _zeta(exponent: float, first: Floats) -> Floats:
    """The sum of k^-exponent from `first` on: sixteen terms, then Euler and Maclaurin's formula."""
    total = np.zeros_like(first)
    for step in range(16):
        total += (first + step) ** -exponent
    x = first + 16
    return total + x ** (1 - exponent) / (exponent - 1) + x**-exponent / 2 + exponent * x ** (-exponent - 1) / 12


def _chances(tail: Callable[[Floats], Floats]) -> Floats:
    """The probability of every symbol: labels below 16, then the highest bit of ranks, then all that is past them."""
    edges = np.array([*range(SINGLE), *(2.0**e - 1 for e in range(5, LARGEST + 1))], np.float64)
    beyond = np.asarray(tail(edges))
    return np.append(beyond[:-1] - beyond[1:], beyond[-1])


def _rounded(chances: Floats) -> tuple[int, ...]:
    """Whole weights of at least one with sum 2^16; the largest takes what is left."""
    weights = np.maximum(1, np.rint(chances * (1 << TOTAL))).astype(np.int64)
    weights[weights.argmax()] += (1 << TOTAL) - weights.sum()
    return tuple(weights.tolist())


def value_weights(coordinate: CoordinateResponse) -> tuple[int, ...]:
    """Weights for whole vectors of responses, most of which are the reference."""
    other = max(1, round(coordinate.q * (1 << TOTAL)))
    return ((1 << TOTAL) - (coordinate.values - 1) * other, *[other] * (coordinate.values - 1))


def sums(weights: Sequence[int]) -> Ints:
    """The sum of the weights before each symbol, and of all; empty without weights."""
    return np.concatenate([[0], np.cumsum(weights)]).astype(np.int64) if len(weights) else np.empty(0, np.int64)


def mean_bits(weights: Sequence[int]) -> float:
    """The mean bits of a label whose law is that of the weights; of the gamma code there is no such law, so as if 4."""
    if not weights:
        return 4.0
    raw = np.array([0] * (SINGLE - 1) + list(range(4, LARGEST)) + [42.0])
    share = np.array(weights) / (1 << TOTAL)
    return float(share @ (raw - np.log2(share)))


def least_bits(weights: Sequence[int]) -> float:
    """The bits of the cheapest symbol: what a message must have for each that it claims."""
    return 1.0 if not weights else TOTAL - math.log2(max(weights))


def are_weights(weights: Sequence[int], symbols: int = SYMBOLS) -> bool:
    """Whether these can be weights of the code."""
    return len(weights) == symbols and min(weights) > 0 and sum(weights) == 1 << TOTAL
