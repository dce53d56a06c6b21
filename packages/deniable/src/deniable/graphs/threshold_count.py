"""How many people have at least so many neighbours: a count with an interval that holds even where hardly anybody has.

A noisy number can be wrong about a threshold only where it comes near it. Let r = 1 / odds of two-sided geometric noise. Of
the people below the threshold k, call those *strays* who report k - 1 or more. Geometric noise has no memory: whoever they
are, a stray reports k - 1 with probability 1 - r, k with r (1 - r), and more with r^2. The unbiased count adds -c, 1 + c and
1 for these reports, c = r / (1 - r)^2, which is none on average. People at or above k who report k or less are strays as
well, and add the same with the other sign. So, given the numbers of strays of both kinds, the law of the error is known
exactly, whatever the graph is.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.graphs.honest import CONFIDENCE, HonestCount
from deniable.mechanisms.sparse.noisy_count import NoisyCount

EXACT = 100  # strays; the error of more is taken as normal
SAME = 1e-9  # errors that differ by less are one


@dataclass(frozen=True)
class ThresholdCount(HonestCount):
    """A count of people at or above a threshold, from how many report one below it, just it, and more.

    The interval holds the counts that a test of the size of each tail does not refute. The numbers of strays are estimated
    anew under each of these counts: if nobody is at or above the threshold, whoever reports so is a stray.
    """

    below: int
    at: int
    above: int
    ratio: float

    @classmethod
    def of(cls, noisy: Ints, degree: int, noise: NoisyCount) -> "ThresholdCount":
        """From noisy numbers of neighbours."""
        below, at, above = (int(some.sum()) for some in (noisy == degree - 1, noisy == degree, noisy > degree))
        ratio = 1 / float(noise.odds)
        half = ratio / (1 - ratio) ** 2
        raw = above + (1 + half) * at - half * below
        error = math.sqrt(max(half * (1 + half) * (below + at), 1.0))
        return cls(raw, error, len(noisy), f"people with {degree} or more neighbours", below, at, above, ratio)

    @property
    def clear(self) -> bool:
        """Whether the 95 % interval is no wider than the value, also the one that is not cut to what is possible."""
        low, high = self.interval()
        return super().clear and high - low <= self.value

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """The ends of an interval: the least and the largest number of people that the reports do not refute."""
        self._reach(confidence)  # refuses what is no confidence
        middle = round(self.value)
        return float(self._furthest(middle, 0, confidence)), float(self._furthest(middle, self.most, confidence))

    def _furthest(self, inside: int, end: int, confidence: float) -> int:
        """The last number on the way to an end that is not refuted."""
        if self._possible(end, confidence):
            return end
        while abs(end - inside) > 1:
            middle = (inside + end) // 2
            inside, end = (middle, end) if self._possible(middle, confidence) else (inside, middle)
        return inside

    def _possible(self, people: int, confidence: float) -> bool:
        """Whether so many people can be at or above the threshold."""
        up, down = self._strays(people)
        if self._too_few_near(up + down):
            return False
        off, tail = self.value - people, (1 - confidence) / 2
        if up + down > EXACT:
            half = self.ratio / (1 - self.ratio) ** 2
            deviation = math.sqrt(half * (1 + half) * (1 - self.ratio**2) * (up + down))
            return abs(off) <= NormalDist().inv_cdf(1 - tail) * deviation
        errors, chances = stray_law(self.ratio, up, down)
        return bool(min(chances[errors <= off + SAME].sum(), chances[errors >= off - SAME].sum()) > tail)

    def _too_few_near(self, strays: int) -> bool:
        """Whether so many strays send so few reports of k - 1 and k less than once in 200 times (Chernoff's bound)."""
        near, far = self.below + self.at, self.ratio**2
        parts = ((near, strays * (1 - far)), (strays - near, strays * far))
        return near < parts[0][1] and sum(seen * math.log(seen / mean) for seen, mean in parts if seen) > math.log(200)

    def _strays(self, people: int) -> tuple[int, int]:
        """How many strays there are from below the threshold, and from above, if so many people are at or above it.

        Those from below are all who report k - 1 or more, less the people above, plus the strays of these who go further
        down, a share of r^2; and the other way round.
        """
        far = self.ratio**2
        up = self.below + self.at + self.above - people
        down = people - self.above
        from_below, from_above = ((a + far * b) / (1 - far**2) for a, b in ((up, down), (down, up)))
        if from_above < 0 or from_above > people:
            from_above = min(max(from_above, 0.0), float(people))
            from_below = up + far * from_above
        elif from_below < 0 or from_below > self.most - people:
            from_below = min(max(from_below, 0.0), float(self.most - people))
            from_above = down + far * from_below
        return round(min(max(from_below, 0), self.most - people)), round(min(max(from_above, 0), people))


@lru_cache(maxsize=32)
def stray_law(ratio: float, up: int, down: int) -> tuple[Floats, Floats]:
    """What so many strays from below and from above add together, and with which probabilities.

    Each adds i c + j, (i, j) being (-1, 0), (1, 1) or (0, 1), or from above the same with the other sign: a convolution in
    two dimensions, exact but for rounding.
    """
    size = 2 * (up + down) + 3
    one = np.zeros((size, size))
    one[-1, 0], one[1, 1], one[0, 1] = 1 - ratio, ratio * (1 - ratio), ratio**2
    turned = np.fft.fft2(one)
    chances = np.fft.ifft2(turned**up * turned.conj() ** down).real
    steps = np.fft.fftfreq(size, 1 / size)
    half = ratio / (1 - ratio) ** 2
    return (half * steps[:, None] + steps[None, :]).ravel(), chances.ravel()
