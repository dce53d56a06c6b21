"""The law of a sum of many independent whole numbers, by Fourier transforms, with a bound of every error.

A sum S of terms, n_j of which have the law of `Part` j, is asked for near some place c, which may lie far out in its tail.
Every term is tilted by e^(theta L), with theta chosen so that the mean of S becomes c. Then P(S = c + k) is the tilted
probability times e^(log_scale - theta k), and what is asked lies in the middle of the tilted law, so that rounding errors
are small beside the result however small that is. With u = 2^-53:

1. **A coefficient** of the transform of a tilted term is off by at most `NOISE` log2(size). Each input reaches an output
   over log2(size) steps. A step of two is off by at most (1 + sqrt(5) + 1) u of what goes through it: for the addition, the
   complex product, and the root of unity. Steps of three, four and five are off by no more than 8 u for each factor of two
   in them, which is NOISE. The probabilities that go in are 1 together.
2. **A power** of n terms is off by n times that, times the size of the coefficient to the power of n - 1. The logarithm and
   the exponential that compute it are off by a few u n in the angle, which item 1 has room for.
3. **The transform back** is off by `NOISE` log2(size) times the sum of the sizes of the coefficients, divided by size.
4. **The window.** Sums further from c than `reach` have at most the probability `OUTSIDE` (Bernstein's inequality), and fall
   onto some place of the window.
5. **Tilting**: each probability has a relative error of a few u, which the power multiplies by n: `slack`.

Items 1 to 4 make an error that may be in every place, item 5 a factor; callers add both on the safe side. It is assumed that
the machine's addition and multiplication are rounded correctly, and that its elementary functions are off by at most 2 u.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ints

TINY = 2.0**-50  # relative, more than the roundings of a value or a probability
NOISE = 2.0**-50  # for each of the log2 steps of a transform, relative to the whole
OUTSIDE = 1e-20  # of the tilted law, outside of the window


@dataclass(frozen=True)
class Part:
    """Terms that have the same law: the places where they can be, their probabilities, and how many terms there are."""

    places: Ints
    chances: Floats
    times: int


class TiltedSum:
    """The sum of all terms of these parts, tilted so that its mean is `centre`, or as near to it as theta >= 0 allows."""

    def __init__(self, parts: Sequence[Part], centre: int = 0) -> None:
        self.parts = [part for part in parts if part.times]
        self.centre = centre
        self.terms = sum(part.times for part in self.parts)
        self.theta = self._theta()
        logs = [_log_mean(part, self.theta) for part in self.parts]
        self.log_scale = sum(part.times * log for part, log in zip(self.parts, logs, strict=True)) - self.theta * centre
        self.tilted = [
            part.chances * np.exp(self.theta * part.places - log) for part, log in zip(self.parts, logs, strict=True)
        ]

    def _theta(self) -> float:
        largest = max((float(part.places.max()) for part in self.parts), default=0.0)
        if largest <= 0:
            return 0.0

        def short(theta: float) -> bool:
            return sum(part.times * _mean(part, theta) for part in self.parts) < self.centre

        if not short(0.0):
            return 0.0
        low, high = 0.0, 1.0 / largest
        while short(high) and high * largest < 600:
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if short(middle) else (low, middle)
        return high

    @property
    def reach(self) -> int:
        """How far from the centre sums lie in the tilted law, but for `OUTSIDE`."""
        mean = variance = largest = every = 0.0
        for part, tilted in zip(self.parts, self.tilted, strict=True):
            own = float(tilted @ part.places)
            mean += part.times * own
            variance += part.times * float(tilted @ (part.places - own) ** 2)
            largest = max(largest, float(np.abs(part.places - own).max()))
            every += part.times * float(np.abs(part.places).max())
        wanted = -math.log(OUTSIDE / 2)
        bernstein = wanted * largest / 3 + math.sqrt((wanted * largest / 3) ** 2 + 2 * wanted * variance)
        return math.ceil(min(bernstein + abs(mean - self.centre), every + abs(self.centre))) + 1

    def slack(self, size: int) -> float:
        """How far sums over the law may be off in floating point, relatively: the roundings of all terms and their own."""
        widest = max((float(np.abs(part.places).max()) for part in self.parts), default=0.0)
        tilts = self.terms * (2 + self.theta * widest) + abs(self.theta * self.centre)
        return 4 * TINY * (tilts + size)

    def law(self) -> tuple[Floats, float]:
        """The tilted probabilities of centre, centre + 1, ..., centre - 2, centre - 1, and how far each may be off."""
        widest = max((int(np.abs(part.places).max()) for part in self.parts), default=0)
        size = _quick(2 * max(self.reach, widest) + 2)
        error = NOISE * math.log2(size)
        logarithm, bound = np.zeros(size // 2 + 1, dtype=np.complex128), np.ones(size // 2 + 1)
        for part, tilted in zip(self.parts, self.tilted, strict=True):
            one = np.zeros(size)
            np.add.at(one, part.places % size, tilted)
            transform = np.fft.rfft(one)
            sizes = np.abs(transform)
            with np.errstate(divide="ignore", invalid="ignore"):
                logarithm += np.where(sizes == 0, -np.inf, part.times * np.log(transform))
            bound *= np.minimum(sizes + error, 1.0) ** (part.times - 1)
        with np.errstate(invalid="ignore"):
            powered = np.where(np.isneginf(logarithm.real), 0.0, np.exp(logarithm))
        total = self.terms * error * float(bound @ _twice(size)) / size
        total += error * float(np.abs(powered) @ _twice(size)) / size
        return np.roll(np.fft.irfft(powered, size), -self.centre % size), total + OUTSIDE


def _mean(part: Part, theta: float) -> float:
    """The mean of one term, tilted."""
    weights = part.chances * np.exp(theta * (part.places - float(part.places.max())))
    return float(part.places @ weights) / float(weights.sum())


def _log_mean(part: Part, theta: float) -> float:
    """log E e^(theta L)."""
    largest = float(part.places.max())
    return theta * largest + math.log(float((part.chances * np.exp(theta * (part.places - largest))).sum()))


def _quick(size: int) -> int:
    """A number from this one on with which a transform is quick: even, and small primes alone."""
    power = 1 << size.bit_length()
    return min(made for made in (power, power // 8 * 5, power // 4 * 3, power // 16 * 9) if made >= size and made % 2 == 0)


def _twice(size: int) -> Floats:
    """How often each coefficient of a real transform stands in the whole one."""
    often = np.full(size // 2 + 1, 2.0)
    often[0] = often[-1] = 1.0
    return often
