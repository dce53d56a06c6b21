"""The mean of the positive part of a sum of n independent terms, each with the same few values: bounds by one transform.

Every hiding of a report among n others comes down to delta = E [ max(0, L_1 + ... + L_n) ] / n, where a term is
u_k - e^epsilon v_k with probability w_k, and else 0.

**From above.** Each value is replaced by its two neighbours on a lattice, with probabilities that keep the mean. The
positive part is convex, so that this can only raise the result. All other roundings are upwards too: of values, since the
positive part rises, and of probabilities. **From below.** Whether the sum on the lattice is positive is a test, if not the
best one, and no test separates two laws better than delta says: delta >= E [ L_1; sum on the lattice > 0 ].

For few people and values the law of the sum is listed. Otherwise it is a power of the Fourier transform of one term. Before
that the term is tilted by e^(theta L), with theta chosen so that the mean becomes 0. What is asked lies then in the middle
of the law and not in its tail, so that rounding errors are small beside the result however small that is. They are bounded:
`NOISE` for each step of a transform, n times that for the power. What lies outside of the window of the transform is at most
`OUTSIDE` (Bernstein).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats, Ints

Atom = tuple[Fraction, Fraction, Fraction]  # the probability w, and u and v
TINY = 2.0**-50  # relative, more than the roundings of a value or a probability
NOISE = 2.0**-50  # for each of the log2 steps of a transform, relative to the whole
OUTSIDE = 1e-20  # of the tilted law, outside of the window
LARGEST = 1 << 22  # places of the window
MOST_LISTED = 600_000  # ways in which values can be shared out among few people
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
        slack = TINY * (u + power * v) * (1 if up else -1)
        rest = float(1 - sum(atom[0] for atom in atoms))
        chances = np.append(chances, max(rest, 0.0)) * (1 + TINY if up else 1 - TINY)
        return cls(np.append(u - power * v + slack, 0.0), chances)

    @property
    def spread(self) -> float:
        """The standard deviation of one term."""
        mean = float(self.chances @ self.values)
        return math.sqrt(max(float(self.chances @ self.values**2) - mean**2, 0.0))


class Lattice:
    """One term on a lattice with this step, tilted: its places, their tilted probabilities, theta and log E e^(theta L)."""

    def __init__(self, terms: Terms, step: float) -> None:
        self.step = step
        self.low, self.share = spread_out(terms.values / step)
        self.places, self.chances = _collected(self.low, self.share, terms.chances)
        self.theta, self.log_scale = tilted(self.places, self.chances)
        self.tilted = self.chances * np.exp(self.theta * self.places - self.log_scale)

    def reach(self, people: int) -> int:
        """How far from 0 sums lie in the tilted law, but for `OUTSIDE`."""
        places = self.places.astype(np.float64)
        mean = float(self.tilted @ places)
        variance, largest = people * float(self.tilted @ (places - mean) ** 2), float(np.abs(places - mean).max())
        wanted = -math.log(OUTSIDE / 2)
        bernstein = wanted * largest / 3 + math.sqrt((wanted * largest / 3) ** 2 + 2 * wanted * variance)
        all_of_it = people * float(np.abs(places).max())
        return math.ceil(min(bernstein + people * abs(mean), all_of_it)) + 1

    def slack(self, people: int, size: int) -> float:
        """How far sums over the law may be off in floating point, relatively: the roundings of all terms and their own."""
        return 4 * TINY * (people * (2 + self.theta * float(np.abs(self.places).max())) + size)

    def sums(self, people: int) -> tuple[Floats, float]:
        """The tilted probabilities of the sums 0, 1, ..., -2, -1 in turn, and how far each may be off."""
        reach = max(self.reach(people), int(np.abs(self.places).max()))
        size = _quick(2 * reach + 2)
        one = np.zeros(size)
        np.add.at(one, self.places % size, self.tilted)
        transform = np.fft.rfft(one)
        sizes = np.abs(transform)
        with np.errstate(divide="ignore", invalid="ignore"):
            powered = np.exp(people * np.log(transform))
        powered[sizes == 0] = 0
        error = NOISE * math.log2(size)
        power_error = people * error * float(np.minimum(sizes + error, 1.0) ** max(people - 1, 0) @ _twice(size))
        total = power_error / size + error * float(np.abs(powered) @ _twice(size)) / size
        return np.fft.irfft(powered, size), total + OUTSIDE


def spread_out(values: Floats) -> tuple[Ints, Floats]:
    """The place below each value, and the probability of the next one that keeps the mean, rounded upwards."""
    low = np.floor(values)
    return low.astype(np.int64), np.minimum(values - low + TINY * np.maximum(np.abs(values), 1.0) * (values != 0), 1.0)


def tilted(places: Ints, chances: Floats) -> tuple[float, float]:
    """The theta for which the tilted mean is 0, or nearly so, and log E e^(theta L); any theta would be right."""
    largest = float(places.max())
    if largest <= 0:
        return 0.0, math.log(float(chances.sum()))

    def mean(theta: float) -> float:
        return float(places @ (chances * np.exp(theta * (places - largest))))

    low, high = 0.0, 1.0 / largest
    while mean(high) < 0 and high * largest < 600:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < 0 else (low, middle)
    theta = high if mean(0.0) < 0 else 0.0
    return theta, theta * largest + math.log(float((chances * np.exp(theta * (places - largest))).sum()))


def _collected(low: Ints, share: Floats, chances: Floats) -> tuple[Ints, Floats]:
    """The places that occur, with their probabilities."""
    places, which = np.unique(np.concatenate([low, low + 1]), return_inverse=True)
    total = np.zeros(len(places))
    np.add.at(total, which, np.concatenate([chances * (1 - share), chances * share]))
    kept = total > 0
    return places[kept], total[kept]


def _quick(size: int) -> int:
    """A number from this one on with which a transform is quick: even, and small primes alone."""
    power = 1 << size.bit_length()
    return min(made for made in (power, power // 8 * 5, power // 4 * 3, power // 16 * 9) if made >= size and made % 2 == 0)


def _twice(size: int) -> Floats:
    """How often each coefficient of a real transform stands in the whole one."""
    often = np.full(size // 2 + 1, 2.0)
    often[0] = often[-1] = 1.0
    return often


def _lattice(terms: Terms, people: int, rough: bool) -> Lattice:
    """Fine enough that it hardly matters, most of all for few people, as far as the window allows."""
    spread = terms.spread or float(np.abs(terms.values).max()) or 1.0
    per = ROUGH if rough else max(20.0, 4_000 / math.sqrt(people))
    while True:
        made = Lattice(terms, spread / per)
        if per <= ROUGH or 2 * made.reach(people) <= LARGEST:
            return made
        per = max(ROUGH, per / 1.5)


def mean_positive_part(atoms: Sequence[Atom], people: int, power: float, rough: bool = False) -> float:
    """An upper bound of E [ max(0, L_1 + ... + L_n) ] / n."""
    terms = Terms.of(atoms, power, up=True)
    if terms.values.max() <= 0:
        return 0.0
    if math.comb(people + len(atoms), people) <= MOST_LISTED:
        return _listed(terms, people)
    made = _lattice(terms, people, rough)
    law, error = made.sums(people)
    half = np.arange(1, len(law) // 2)
    # Beyond the window s e^(-theta s) is at most 1 / (e theta): part of OUTSIDE, which has room for it.
    weights = half * np.exp(-made.theta * half)
    beyond = 1 / made.theta if made.theta else people * float(np.abs(made.places).max())
    found = float((np.maximum(law[1 : len(law) // 2], 0.0) + error) @ weights) + OUTSIDE * beyond
    return found * made.step * math.exp(people * made.log_scale) / people * (1 + made.slack(people, len(law)))


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
    return float(np.maximum(lean, 0.0) @ np.exp(chance)) / people * (1 + TINY * 1000 * people)


def mean_if_positive(atoms: Sequence[Atom], people: int, power: float, rough: bool = False) -> float:
    """A lower bound of the same: what the test on the lattice attains."""
    terms = Terms.of(atoms, power, up=False)
    made = _lattice(terms, people, rough)
    if people == 1:
        return max(0.0, float(terms.chances @ np.maximum(terms.values, 0.0)))
    law, error = made.sums(people - 1)
    half, reach = np.arange(-(len(law) // 2) + 1, len(law) // 2), len(law) // 2
    mass = np.concatenate([law[-reach + 1 :], law[:reach]])
    # The test is asked for sums near 0 only: those above come from the tail, added from the far end.
    shifts = np.concatenate([made.low, made.low + 1])
    shares = np.concatenate([1 - made.share, made.share])
    least = int(-shifts.max())
    kept = slice(least + reach, None)
    plain = np.exp(-made.theta * half[kept])
    weights = np.maximum(mass[kept], 0.0) * plain
    tails = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    off = error * float(plain.sum()) + OUTSIDE * float(plain[0])
    above = tails[np.clip(1 - shifts - (least + 1), 0, len(tails) - 1)]
    pieces = np.concatenate([terms.values * terms.chances] * 2) * shares
    slack = made.slack(people, len(law))
    sure = np.where(pieces > 0, np.maximum(above - off, 0.0) * (1 - slack), (above + off) * (1 + slack))
    return max(0.0, float(pieces @ sure) * math.exp((people - 1) * made.log_scale) * (1 - slack))
