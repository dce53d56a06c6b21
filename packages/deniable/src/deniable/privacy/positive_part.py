"""The mean of the positive part of a sum of n independent terms, each with the same few values: bounds by one transform.

Every hiding of a report among n others comes down to delta = E [ max(0, L_1 + ... + L_n) ] / n, where a term is
u_k - e^epsilon v_k with probability w_k, and else 0.

**From above.** Each value is replaced by its two neighbours on a lattice, with probabilities that keep the mean. The
positive part is convex, so that this can only raise the result. All other roundings are upwards too: of values, since the
positive part rises, and of probabilities. **From below.** Whether the sum on the lattice is positive is a test, if not the
best one, and no test separates two laws better than delta says: delta >= E [ L_1; sum on the lattice > 0 ].

For few people and values the law of the sum is listed. Otherwise it is a power of the Fourier transform of one term, and the
module `transform` bounds its errors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.privacy.transform import OUTSIDE, TINY, Part, TiltedSum

Atom = tuple[Fraction, Fraction, Fraction]  # the probability w, and u and v
LARGEST = 1 << 22  # places of the window
MOST_LISTED = 600_000  # ways in which values can be shared out among few people
FITS = 256  # parts into which a value is divided in search of a lattice on which all lie well
FITTED = 1 << 18  # such parts and values together
ROUGH = 4.0  # places of the lattice in a standard deviation of a term: enough for a first look


@dataclass(frozen=True)
class Terms:
    """The values of a term, with their probabilities, in floating point."""

    values: Floats
    chances: Floats

    @classmethod
    def of(cls, atoms: Sequence[Atom], power: float, up: bool) -> "Terms":
        """Those of the atoms, and 0 with what is left, all rounded up or all rounded down."""
        u, v = (np.array([float(atom[k]) for atom in atoms]) for k in (1, 2))
        chances = np.array([float(atom[0]) for atom in atoms])
        slack = rounding(len(atoms)) * (1 if up else -1)
        rest = float(1 - sum(atom[0] for atom in atoms))
        chances = np.append(chances, max(rest, 0.0)) * (1 + slack)
        return cls(np.append(u - power * v + slack * (u + power * v), 0.0), chances)

    @property
    def spread(self) -> float:
        """The standard deviation of one term."""
        mean = float(self.chances @ self.values)
        return math.sqrt(max(float(self.chances @ self.values**2) - mean**2, 0.0))


def rounding(values: int) -> float:
    """How far a number of a term may be off, relatively, once so many of them are added up."""
    return TINY * (1 + values / 4)


class Lattice:
    """One term on a lattice with this step: the place below each value, and the part that goes to the next one."""

    def __init__(self, terms: Terms, step: float) -> None:
        self.step = step
        self.low, self.share = spread_out(terms.values / step)
        self.places, self.chances = _collected(self.low, self.share, terms.chances)

    def sum_of(self, people: int) -> TiltedSum:
        """The sum of so many terms, tilted to the mean 0."""
        return TiltedSum([Part(self.places, self.chances, people)])


def spread_out(values: Floats) -> tuple[Ints, Floats]:
    """The place below each value, and the probability of the next one that keeps the mean, rounded upwards."""
    low = np.floor(values)
    return low.astype(np.int64), np.minimum(values - low + TINY * np.maximum(np.abs(values), 1.0) * (values != 0), 1.0)


def _collected(low: Ints, share: Floats, chances: Floats) -> tuple[Ints, Floats]:
    """The places that occur, with their probabilities."""
    places, which = np.unique(np.concatenate([low, low + 1]), return_inverse=True)
    total = np.zeros(len(places))
    np.add.at(total, which, np.concatenate([chances * (1 - share), chances * share]))
    kept = total > 0
    return places[kept], total[kept]


def _lattice(terms: Terms, people: int, rough: bool) -> Lattice:
    """Fine enough that it hardly matters, most of all for few people, as far as the window allows."""
    spread = terms.spread or float(np.abs(terms.values).max()) or 1.0
    per = ROUGH if rough else max(20.0, min(4_000 / math.sqrt(people), 40_000 / people))
    while True:
        made = Lattice(terms, max(spread / per, _fitting(terms, spread / per)))
        if per <= ROUGH or 2 * made.sum_of(people).reach <= LARGEST:
            return made
        per = max(ROUGH, per / 1.5)


def _fitting(terms: Terms, step: float) -> float:
    """The widest step on which the values of a term lie so well that they spread no more than anywhere on this one.

    A value that lies at a part f of the way between two places adds f (1 - f) squared steps to the variance: 1 / 6 on the
    average, and next to nothing where a few large values are multiples of the step.
    """
    weight = terms.chances * terms.values**2
    heavy = np.abs(terms.values[np.argsort(-weight)[:3]])
    parts = np.arange(1, max(2, min(FITS, FITTED // len(weight))))
    steps = (heavy[heavy > 0][:, None] / parts).ravel()
    places = terms.values / steps[:, None]
    off = places - np.floor(places)
    added = (off * (1 - off)) @ terms.chances * steps**2
    fits = steps[added <= step**2 / 6]
    return float(fits.max()) if len(fits) else 0.0


def mean_positive_part(atoms: Sequence[Atom], people: int, power: float, rough: bool = False) -> float:
    """An upper bound of E [ max(0, L_1 + ... + L_n) ] / n."""
    terms = Terms.of(atoms, power, up=True)
    if terms.values.max() <= 0:
        return 0.0
    if math.comb(people + len(atoms), people) <= (MOST_LISTED // 64 if rough else MOST_LISTED):
        return _listed(terms, people)
    made = _lattice(terms, people, rough)
    total = made.sum_of(people)
    law, error = total.law()
    half = np.arange(1, len(law) // 2)
    # Beyond the window s e^(-theta s) is at most 1 / (e theta): part of OUTSIDE, which has room for it.
    weights = half * np.exp(-total.theta * half)
    beyond = 1 / total.theta if total.theta else people * float(np.abs(made.places).max())
    found = float((np.maximum(law[1 : len(law) // 2], 0.0) + error) @ weights) + OUTSIDE * beyond
    bound = found * made.step * math.exp(total.log_scale) / people * (1 + total.slack(len(law)))
    return max(bound, math.ulp(0.0))  # too small for a float is not nothing


def _listed(terms: Terms, people: int) -> float:
    """The same for few people and values: by how many have each value."""
    factorials = np.append(0.0, np.cumsum(np.log(np.arange(1, people + 1))))  # all in logarithms
    chances = np.log(terms.chances, where=terms.chances > 0, out=np.full(len(terms.chances), -1e9))
    left, lean, chance = np.array([people]), np.zeros(1), np.array([factorials[people]])
    for value, each in zip(terms.values[:-1], chances[:-1], strict=True):
        rows = np.repeat(np.arange(len(left)), left + 1)
        count = np.arange(len(rows)) - np.repeat(np.cumsum(left + 1) - left - 1, left + 1)
        lean, chance = lean[rows] + count * value, chance[rows] + count * each - factorials[count]
        left = left[rows] - count
    chance += left * chances[-1] - factorials[left]
    # A factorial adds up to `people` logarithms, one after the other; a chance adds up a few numbers for each value.
    rarest = float(-chances[chances > -1e9].min())
    off = factorials[people] * (people + 2 * len(chances)) + people * rarest * len(chances) + len(lean)
    bound = float(np.maximum(lean, 0.0) @ np.exp(chance)) / people * (1 + TINY * off)
    return max(bound, math.ulp(0.0))


@dataclass(frozen=True)
class Tails:
    """How often the sum on the lattice is positive, for each value of one of its terms: at least, and at most."""

    least: Floats
    most: Floats

    @classmethod
    def of(cls, terms: Terms, people: int, rough: bool) -> "Tails":
        """For each value rounded down, then for each rounded up, times the probability that it is."""
        made = _lattice(terms, people, rough)
        others = made.sum_of(people - 1)
        law, error = others.law()
        half, reach = np.arange(-(len(law) // 2) + 1, len(law) // 2), len(law) // 2
        mass = np.concatenate([law[-reach + 1 :], law[:reach]])
        # The test is asked for sums near 0 only: those above come from the tail, added from the far end.
        shifts = np.concatenate([made.low, made.low + 1])
        shares = np.concatenate([1 - made.share, made.share])
        least = int(-shifts.max())
        kept = slice(least + reach, None)
        plain = np.exp(-others.theta * half[kept])
        weights = np.maximum(mass[kept], 0.0) * plain
        tails = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        off = error * float(plain.sum()) + OUTSIDE * float(plain[0])
        above = tails[np.clip(1 - shifts - (least + 1), 0, len(tails) - 1)]
        slack = others.slack(len(law)) * 2 + 4 * people * rounding(len(shifts))
        scale = math.exp(others.log_scale)
        down, up = np.maximum(above - off, 0.0) * (1 - slack), (above + off) * (1 + slack)
        return cls(*(shares * scale * np.maximum(each, 0.0) for each in (down, up)))


def mean_if_positive(atoms: Sequence[Atom], people: int, power: float, rough: bool = False) -> float:
    """A lower bound of the same: what the test on the lattice attains."""
    terms = Terms.of(atoms, power, up=False)
    if people == 1:
        return max(0.0, float(terms.chances @ np.maximum(terms.values, 0.0)))
    tails = Tails.of(terms, people, rough)
    pieces = np.concatenate([terms.values * terms.chances] * 2)
    return max(0.0, float(pieces @ np.where(pieces > 0, tails.least, tails.most)) * (1 - TINY))


def power_of_test(atoms: Sequence[Atom], people: int, power: float) -> tuple[float, float]:
    """How often the test on the lattice speaks for the first answer: at least if it was given, at most if the second was."""
    tails = Tails.of(Terms.of(atoms, power, up=False), people, rough=False)
    least, most = (each.reshape(2, -1).sum(axis=0)[:-1] for each in (tails.least, tails.most))
    first, second = (np.array([float(atom[0] * atom[k]) for atom in atoms]) for k in (1, 2))
    slack = TINY * len(atoms)
    return float(first @ least) * (1 - slack), float(second @ most) * (1 + slack)
