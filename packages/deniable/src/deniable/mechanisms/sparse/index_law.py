"""The exact law of the index K that Poisson private representation sends.

Given the winner, its weight w is exponential and the other points before it are Poisson of mean w C, so that

    Pr[K = k] = E[ C^(k-1) / (1 + C)^k ],        Pr[K > x] = E[ (C / (1 + C))^x ],
    C = e^(eps N) / (G V^(1/alpha)) * sum over N' of Q(N') phi(e^(alpha eps (N' - N)) V),

V ~ Gamma(1 - 1/alpha), G = Gamma(1 - 1/alpha), N ~ P the number of coordinates of a response to the truth that have the true
value less those that have the reference, N' ~ Q the same for a response to the reference, and phi(x) = e^-x - x^(1/alpha)
Gamma(1 - 1/alpha, x), the upper incomplete gamma function.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.errors import InvalidParameter
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse

LOWEST_ALPHA, HIGHEST_ALPHA = 1.1, 64.0
STEP, COARSE = 0.1, 0.02  # of log V in the integral; of log C where laws are mixed
SERIES_UP_TO = 2.0
FAR = 64  # indices that a sum takes one by one


def checked_alpha(alpha: float) -> float:
    """The parameter of Poisson private representation, refused where it promises nothing or costs too much."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not LOWEST_ALPHA <= alpha <= HIGHEST_ALPHA:
        raise InvalidParameter(
            f"Alpha must be a number from {LOWEST_ALPHA} to {HIGHEST_ALPHA:g}; it must be above 1. Use 1.5 or 2. Larger "
            "values save bits and lose accuracy."
        )
    return float(alpha)


def phi(x: ArrayLike, alpha: float) -> Floats:
    """e^-x - x^(1/alpha) Gamma(1 - 1/alpha, x), by its series for small x and by a continued fraction for large.

    >>> bool(abs(phi(1.0, 2.0) - (math.exp(-1) - math.sqrt(math.pi) * math.erfc(1))) < 1e-15)
    True
    """
    x, a = np.asarray(x, np.float64), 1 - 1 / alpha
    small, large = np.minimum(x, SERIES_UP_TO), np.maximum(x, SERIES_UP_TO)
    total, term = np.zeros_like(x), np.ones_like(x)
    for n in range(40):
        total += term / (a + n)
        term = term * -small / (n + 1)
    near = np.exp(-small) - small ** (1 / alpha) * math.gamma(a) + small * total
    # Gamma(a, x) = e^-x x^a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)))
    rest = np.zeros_like(x)
    for n in range(120, 1, -1):
        rest = n * (n - a) / (large + 2 * n + 1 - a - rest)
    first = (1 - a) / (large + 3 - a - rest)
    far = np.exp(-large) * ((1 - a) - first) / (large + (1 - a) - first)
    return np.where(x <= SERIES_UP_TO, near, far)


@dataclass(frozen=True, eq=False)
class IndexLaw:
    """The law of K as a mixture of geometric laws: parameters C with their weights."""

    ratios: Floats
    weights: Floats

    def pmf(self, k: ArrayLike) -> Floats:
        """Pr[K = k]."""
        k = np.asarray(k, np.float64)
        return self._mean(lambda c: np.exp((k[..., None] - 1) * -np.log1p(1 / c) - np.log1p(c)))

    def tail(self, x: ArrayLike) -> Floats:
        """Pr[K > x]."""
        x = np.asarray(x, np.float64)
        return self._mean(lambda c: np.exp(x[..., None] * -np.log1p(1 / c)))

    def _mean(self, function: Callable[[Floats], Floats]) -> Floats:
        with np.errstate(under="ignore"):
            return np.asarray(sum(function(c) @ w for c, w in self._parts()))

    def _parts(self) -> Iterator[tuple[Floats, Floats]]:
        for start in range(0, len(self.ratios), 1 << 14):
            yield self.ratios[start : start + (1 << 14)], self.weights[start : start + (1 << 14)]

    @cached_property
    def buckets(self) -> Floats:
        """Pr[2^e <= K < 2^(e+1)] for e = 0, 1, ..."""
        tails = self.tail(2.0 ** np.arange(400) - 1)
        return tails[:-1] - tails[1:]

    def entropy(self) -> float:
        """The bits that K takes with the best code."""
        return self._sum(lambda k, p: -p * np.log2(p))

    def mean_log(self) -> float:
        """E[log2 K]."""
        return self._sum(lambda k, p: p * np.log2(k))

    def _sum(self, term: Callable[[Floats, Floats], Floats]) -> float:
        """The sum over all k: one by one at first, then the integral over log k, which the terms follow smoothly."""
        ones = np.arange(1.0, FAR + 1)
        grid = np.arange(math.log(FAR + 0.5), math.log(2.0) * 390, 0.05)
        k = np.exp(grid)
        p = np.maximum(self.pmf(k), 1e-300)
        values = term(k, p) * k
        # Simpson's rule would gain nothing on a grid as fine as this; the ends count half.
        integral = 0.05 * (values.sum() - 0.5 * (values[0] + values[-1]))
        return float(term(ones, self.pmf(ones)).sum() + integral)


def index_law(coordinate: CoordinateResponse, alpha: float, differing: int) -> IndexLaw:
    """The law for a chunk in which so many coordinates differ from the reference."""
    return IndexLaw(*_nodes(float(coordinate.p), float(coordinate.q), checked_alpha(alpha), differing, STEP, 0.0))


def mixed_index_law(coordinate: CoordinateResponse, alpha: float, load: float) -> IndexLaw:
    """The law for a chunk whose number of differing coordinates is Poisson of mean `load`, its C rounded to a fine grid."""
    if load == 0:
        return index_law(coordinate, alpha, 0)
    parts, chance, count = [], math.exp(-load), 0
    while count <= load or chance > 1e-9:
        if chance > 1e-9:
            nodes = _nodes(float(coordinate.p), float(coordinate.q), checked_alpha(alpha), count, 2 * STEP, 1e-9)
            parts.append((nodes[0], nodes[1] * chance))
        count += 1
        chance *= load / count
    log_c = np.log(np.concatenate([ratios for ratios, _ in parts]))
    weights = np.concatenate([weights for _, weights in parts])
    place = (log_c - log_c.min()) / COARSE
    low = place.astype(np.int64)
    share, size = place - low, int(low.max()) + 2
    binned = np.bincount(low, weights * (1 - share), size) + np.bincount(low + 1, weights * share, size)
    used = np.flatnonzero(binned)
    return IndexLaw(np.exp(log_c.min() + COARSE * used), binned[used] / binned.sum())


def _nodes(p: float, q: float, alpha: float, differing: int, step: float, prune: float) -> tuple[Floats, Floats]:
    """The values of C and their weights, by the trapezoidal rule over log V, which converges exponentially here."""
    a, d = 1 - 1 / alpha, differing
    epsilon = math.log(p / q)
    per_unit = max(1, math.ceil(alpha * epsilon / step)) if d else 1  # so that shifting N moves along the grid
    h = alpha * epsilon / per_unit if d else step
    below, above = math.ceil(45 / a / h), math.ceil(4.5 / h)
    truth, reference = _net_law(p, q, d), _net_law(q, p, d)
    reach = d * per_unit
    grid = h * np.arange(-below - 2 * reach, above + 2 * reach + 1)
    curve = phi(np.exp(np.minimum(grid, 700.0)), alpha)
    width = len(grid) - 2 * reach
    summed = np.zeros(width)  # over N', on the grid that reaches `reach` past both ends
    for place, chance in enumerate(reference):
        summed += chance * curve[place * per_unit : place * per_unit + width]
    y = h * np.arange(-below, above + 1)
    density = np.exp(a * y - np.exp(y)) * h / math.gamma(a)
    ratios, weights = [], []
    for place, chance in enumerate(truth):
        if chance > prune:
            net, start = place - d, 2 * reach - place * per_unit
            c = np.exp(epsilon * net - y / alpha) / math.gamma(a) * summed[start : start + len(y)]
            keep = (c > 1e-280) & (density > prune * h)
            ratios.append(c[keep])
            weights.append(chance * density[keep])
    return np.concatenate(ratios), np.concatenate(weights)


def _net_law(up: float, down: float, steps: int) -> Floats:
    """The law of a sum of steps +1, 0, -1; entry d is that of 0."""
    law, step = np.ones(1), np.array([down, max(0.0, 1 - up - down), up])
    for _ in range(steps):
        law = np.convolve(law, step)
    return law


def expected_candidates(coordinate: CoordinateResponse, load: float) -> float:
    """E[e^(eps d)] for d ~ Poisson(load): about how many draws the encoder of a chunk looks at."""
    return math.exp(load * (float(coordinate.odds) - 1))
