"""Bounds of E(S - tau)^+ for sums S over the keys of a random set, which the bound of keys with values needs.

A set of m of d keys is drawn, all sets equally likely. S is the sum of numbers u_i over its keys, where all u_i add up to
0 and their squares to 1. With values, S is the sum of u_i + sqrt(c) e_i h_i, where each e_i is 1 or -1 by the toss of a
coin, the squares of all u_i and h_i add up to 1, and c = (d - m) / (d - 1). In both cases E S = 0 and E S^2 = c m / d.
The bounds hold for all such numbers at once. Proof:

1. *Blocks.* Cut the keys at random into m blocks of n or n + 1 keys, and draw one key from each block. By symmetry, this
   draws a set of m keys, all equally likely. Given the blocks, S is a number Y plus independent numbers Z_b of mean 0.
   The variance of Z_b is v_b / n_b, where n_b is the size of the block. The sum v of all v_b is at most 1, and E v = c.
2. *One block.* Z_b has N = n_b equally likely values, or N = 2 n_b with values. If E exp(s Z_b) is the largest that a
   variance allows, Z_b takes only two values, because s exp(s z) meets a line at most twice (Lagrange). If one of them
   has probability p, log E exp(s Z_b) <= s^2 Var(Z_b) sinh(t) / (2 t) with t = log((1 - p) / p) (Kearns and Saul 1998).
   This grows with |t|, and p is between 1 / N and 1 - 1 / N, so t = log(N - 1) gives a bound for all Z_b.
3. *All blocks.* So E exp(s S) <= E exp(s Y + k v), where k is s^2 times the largest sinh(t) / (2 t n_b). If all blocks
   have n keys, Y = 0. For v <= 1, exp(k v) <= exp(k c) (1 + k (v - c)) + k^2 exp(k) (v - c)^2 / 2 (Taylor). So E exp(k v)
   is at most exp(k c) + k^2 exp(k) Var(v) / 2. Var(v) is a linear function of the sum of all u_i^4, which is from 1 / d
   to 1.
4. *Unequal blocks.* Then Y is the sum S_A of u_i over a random set A of keys, those in blocks of n, divided by n (n + 1).
   For every size of A, E exp(t S_A) <= exp(t^2 / 3). If A has at most half of the keys, draw twice as many, pair them and
   take one of each pair by a coin: S_A is half of the sum over all that were drawn, plus a sum of coins which contributes
   at most t^2 / 4 to the exponent (Hoeffding). If A has more, take the keys outside of A. Repeated, this leaves t^2 / 4 +
   t^2 / 16 + ... By Hoelder, E exp(s Y + k v) <= exp(P s^2 / (3 n^2 (n + 1)^2)) (E exp(P' k v))^(1 / P') for 1 / P + 1 /
   P' = 1.
5. *Certificates.* Let z = S - y and a, b >= 0. The function a (exp(s z) - 1 - s z) + b z^2 is convex and touches 0 at S =
   y. If its slope is 1 at S = y + w, it touches a line S - tau there. So it is at least (S - tau)^+ everywhere, and its
   mean, which 3 and 4 bound, is at least E(S - tau)^+.

If one u_i stands out, S takes two values, with probabilities m / d and 1 - m / d. A certificate that touches (S - tau)^+
at both is exact but for Var(v) and unequal blocks, where s is such that Kearns and Saul is exact.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from deniable.arrays import Floats

POWERS = (2.0, 4.0, 8.0, 16.0, 32.0)  # P, of Hoelder
SPEEDS = (0.5, 0.7, 0.85, 0.95, 1.0, 1.05, 1.15, 1.3, 1.6, 2.0, 2.5, 3.2, 4.0)  # s, relative to where one key stands out
STARTS = (0.0, 0.3, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.8, 2.5)  # y, likewise
WIDTHS = np.linspace(0.7, 2.2, 61)  # w, likewise
SHARES = np.linspace(0.0, 1.0, 21)  # of the slope that is due to the exponential


def evenness(keys: int, chosen: int, values: bool) -> float:
    """c. If everybody has all keys, people differ in values only, and any c will do."""
    return (keys - chosen) / (keys - 1) if keys > chosen else float(values)


@lru_cache(maxsize=32)
def excesses(keys: int, chosen: int, values: bool) -> tuple[Floats, Floats]:
    """Numbers tau, and bounds of E(S - tau)^+ for sets of so many keys, of all certificates that no others improve on."""
    spread = chosen / keys * evenness(keys, chosen, values)
    p = min(chosen / keys / (2 if values else 1), 0.49)
    step = math.sqrt(spread / (p * (1 - p)))  # between the two values of S, if one key stands out
    speeds = np.array(SPEEDS) * 2 * math.log((1 - p) / p) / step
    s, start, width, share = np.meshgrid(speeds, np.array(STARTS) * -p * step, WIDTHS * step, SHARES, indexing="ij")
    moments = np.array([exponential_moment(keys, chosen, values, float(each)) for each in speeds])[:, None, None, None]
    curved, squared = share / (s * np.expm1(s * width)), (1 - share) / (2 * width)
    tau = start + width - curved * (np.expm1(s * width) - s * width) - squared * width**2
    bound = curved * (np.exp(-s * start) * moments - 1 + s * start) + squared * (spread + start**2)
    return _lower_hull(tau.ravel(), bound.ravel())


def exponential_moment(keys: int, chosen: int, values: bool, s: float) -> float:
    """A bound of E exp(s S)."""
    n, more = divmod(keys, chosen)
    sizes = [n, n + 1] if more else [n]
    k = s * s * max(_growth(size * (2 if values else 1)) / size for size in sizes)
    centre, variance = evenness(keys, chosen, values), float(largest_variance(keys, chosen))

    def energy(k: float) -> float:
        return math.exp(k * centre) + k * k / 2 * math.exp(k) * variance

    if not more:
        return energy(k)
    return min(math.exp(p * (s / (n * (n + 1))) ** 2 / 3) * energy(k * p / (p - 1)) ** (1 - 1 / p) for p in POWERS)


def _growth(size: int) -> float:
    """sinh(t) / (2 t) for t = log(size - 1)."""
    t = math.log(size - 1) if size > 1 else 0.0
    return math.sinh(t) / (2 * t) if t else 0.5


def largest_variance(keys: int, chosen: int) -> Fraction:
    """Var(v) at most, where 1 - v is the sum of S_b^2 / n_b over all blocks, and S_b that of u_i over the keys of a block.

    (1 - v)^2 is a sum of products u_i u_j u_k u_l. Let q be the sum of all u_i^4. The products add up to q if all four
    indices are the same, 1 - q for two pairs, -q if three are the same, 2 q - 1 for one pair, and 3 - 6 q if all differ.
    Each is multiplied by the mean of 1 / (n_b n_c) where i and j are in a block b, and k and l in a block c.
    """
    if keys < 4:
        return Fraction(1, 4)  # no number from 0 to 1 varies more
    n, more = divmod(keys, chosen)
    sizes = ((n, chosen - more), (n + 1, more))
    two = keys * (keys - 1)
    three, four = two * (keys - 2), two * (keys - 2) * (keys - 3)
    inverse = sum(Fraction(count, size) for size, count in sizes)
    triple = sum(Fraction(count * (size - 1) * (size - 2), size) for size, count in sizes)
    fourfold = sum(Fraction(count * (size - 1) * (size - 2) * (size - 3), size) for size, count in sizes)
    apart = (keys - chosen) ** 2 - sum(count * (size - 1) ** 2 for size, count in sizes)

    def variance(q: Fraction) -> Fraction:
        square = q * inverse / keys
        square += (1 - q) * (chosen**2 - inverse + 2 * (chosen - inverse)) / two - 4 * q * (chosen - inverse) / two
        square += (2 * q - 1) * (2 * (triple + (chosen - 1) * (keys - chosen)) + 4 * triple) / three
        square += (3 - 6 * q) * (fourfold + apart) / four
        return square - Fraction(chosen - 1, keys - 1) ** 2

    return max(variance(Fraction(1, keys)), variance(Fraction(1)), Fraction(0))


def _lower_hull(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The corners of the convex hull from below, as far as y falls."""
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    falls = np.flatnonzero(y < np.concatenate([[np.inf], np.minimum.accumulate(y)[:-1]]))
    kept: list[int] = []
    for place in falls.tolist():
        while len(kept) > 1 and _is_above(x, y, kept[-2], kept[-1], place):
            kept.pop()
        kept.append(place)
    return x[kept], y[kept]


def _is_above(x: Floats, y: Floats, left: int, middle: int, right: int) -> bool:
    """Whether the middle point is on the line between the others, or above it."""
    return bool((y[middle] - y[left]) * (x[right] - x[left]) >= (y[right] - y[left]) * (x[middle] - x[left]))
