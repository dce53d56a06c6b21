"""The linear program behind the proof of the least variance of a mean under a large budget (`DensityProof`)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.algebra.mean_density import POWERS, DensityProof

SINGLE, APART = 8, 0.2  # the numbers near an end, and their distances, in units of e^(-epsilon / 3)
LAYERED = 20.0  # the epsilon up to which they make a difference
NARROWING, LIMIT = (2.85, 2.42), (2.75, 2.27)  # r and s, times e^(-2 epsilon / 3): with single numbers, and without
INSIDE, NEAR = 60, 240  # reports: up to the numbers near the end, and around them
REACH = 3.0  # how far from a single number it may add something, in the same units
LEAST = 1e-6  # of the weight of a single number
MARGINS = (1e-3, 2e-3, 5e-3, 1e-2, 3e-2)  # by which the solution is lowered until its check succeeds
DIGITS = 40  # significant binary digits of its numbers


def density_proof(epsilon: float) -> DensityProof:
    """The best proof that is found for a large budget, checked."""
    odds = Fraction(math.nextafter(math.exp(epsilon), math.inf))
    program = _Program(float(odds), *(NARROWING if epsilon <= LAYERED else LIMIT), SINGLE if epsilon <= LAYERED else 0)
    for margin in MARGINS:
        found = program.proof(odds, margin)
        if found.holds():
            return found
    raise InvalidParameter("The bound of the mean cannot be proved at this epsilon.")


@dataclass(frozen=True)
class _Program:
    """The linear program for w, a, b and m in floats, where r and s are given. Lengths are in units of e^(-epsilon / 3)."""

    odds: float
    r: float
    s: float
    single: int

    @property
    def unit(self) -> float:
        return self.odds ** (-1 / 3)

    @property
    def cut(self) -> float:
        return 1 - SINGLE * APART * self.unit if self.single else 1.0

    @property
    def x(self) -> Floats:
        return np.asarray(1 - APART * self.unit * np.arange(self.single))

    @property
    def start(self) -> float:
        """Reports from here on come from single numbers as well."""
        return max(0.0, 1 - (APART * self.single + REACH) * self.unit) if self.single else 1 + self.s * self.unit**2

    @property
    def end(self) -> float:
        return 1 + REACH * self.unit

    def moments(self, k: int) -> Floats:
        """The integral of x^(2k) times each term of the density."""
        odd = 2 * (np.array(POWERS) + k) + 1
        return np.asarray(2 * self.cut**odd / odd)

    @cached_property
    def solution(self) -> tuple[float, Floats, Floats, Floats, Floats]:
        """The bound, w with the weight at the ends, and a, b and m of each single number, in powers of the unit.

        For single numbers, a + b d - m d^2 is about the distance d of a report y. What is at the ends has g = -m (y - 1)^2.
        """
        try:
            from scipy.optimize import linprog
            from scipy.sparse import block_array, coo_array, csr_array, diags_array
        except ImportError:
            raise MissingExtra("The best law for a mean", "stats") from None
        unit, terms, single = self.unit, len(POWERS) + 1, self.single
        y = np.unique(np.append(np.linspace(0, self.start, INSIDE), np.linspace(self.start, self.end, NEAR)))
        y = y if single else y[y <= self.start]
        ahead, behind = (np.asarray(y[:, None] - self.x) / unit, np.asarray(-y[:, None] - self.x) / unit)
        place, which = np.nonzero(np.abs(ahead) < REACH)  # where a single number may add something: at least 0, and g
        many, near = len(place), ahead[place, which]
        sums = self.r * unit**2 * self.moments(0) - self.moments(1) - y[:, None] ** 2 * self.moments(0)
        singly = unit**3 * np.hstack([np.full((len(y), single), 2.0), ahead + behind, -(ahead**2) - behind**2])
        at_ends = -2 - 2 * y[:, None] ** 2
        total = csr_array(np.hstack([sums + (self.odds - 1) * self._windows(y), at_ends, singly]))
        counted = coo_array((np.full(many, (self.odds - 1) * unit**3), (place, np.arange(many))), shape=(len(y), many))
        each = np.arange(many)
        parts = coo_array(
            (
                np.concatenate([np.ones(many), near, -(near**2)]),
                (np.tile(each, 3), np.concatenate([terms + which + part * single for part in range(3)])),
            ),
            shape=(many, terms + 3 * single),
        )
        # Within REACH a single number adds at least 0, and g. There, g must be at most 0 and fall outwards.
        one, none = np.eye(single), np.zeros((single, single))
        local = [np.hstack([one, side * REACH * one, -(REACH**2) * one]) for side in (-1, 1)]
        local += [np.hstack([none, side * one, -2 * REACH * one]) for side in (-1, 1)]
        beyond = np.hstack([np.zeros((4 * single, terms)), np.concatenate(local)])
        blocks = [[total, counted], [parts, diags_array(-np.ones(many))], [beyond, csr_array((4 * single, many))]]
        above = block_array(blocks).tocsr() if single else total
        gains = self.r * self.moments(0) - self.s * self.moments(1)
        gain = np.concatenate([gains, [0.0], np.full(single, 2 * unit), np.zeros(2 * single + many)])
        weights = np.concatenate([self.moments(0), [2.0], np.zeros(2 * single), np.full(single, 2 * unit), np.zeros(many)])
        free, positive = [(None, None)] * (2 * single), (0, None)
        found = linprog(
            -gain,
            above,
            np.zeros(above.shape[0]),
            csr_array(weights[None]),
            [1.0],
            [positive] * terms + free + [positive] * (single + many),
            method="highs",
        )
        if not found.success:
            raise InvalidParameter("The bound of the mean cannot be proved at this epsilon.")
        w, a, b, m = np.split(found.x[: terms + 3 * single], terms + single * np.arange(3))
        return -float(found.fun), w, a, b, m

    def _windows(self, y: Floats) -> Floats:
        """The integral of x^(2k) (R^2 - (x - t y)^2) for each y and k, cut where the density is."""
        centre = (1 - self.s * self.unit**2 / 2) * y
        radius = self.unit * np.sqrt(np.maximum(self.r - (self.s - (self.s * self.unit / 2) ** 2) * y**2, 1e-9))
        high = np.clip((self.cut - centre) / radius, -1, 1)[:, None]
        low = np.clip((-self.cut - centre) / radius, -1, 1)[:, None]
        nodes, weights = np.polynomial.legendre.leggauss(2 * max(POWERS))
        t = (high + low) / 2 + (high - low) / 2 * nodes
        x, kernel = centre[:, None] + radius[:, None] * t, (high - low) / 2 * weights * (1 - t**2)
        return np.stack([(kernel * x ** (2 * k)).sum(axis=1) for k in POWERS], axis=1) * radius[:, None] ** 3

    def proof(self, odds: Fraction, margin: float) -> DensityProof:
        """The solution in fractions, with a and r smaller by this share, and weights that sum to 1."""
        _, w, a, b, m = self.solution
        unit = self.unit
        cut, slope = _short(self.cut), _short(self.s * unit**2)
        end = _short(max(float(w[-1]), 0.0))
        single = [(Fraction(1), -end, 2 * end, end)]
        for x, level, tilt, weight in zip(*(part.tolist() for part in (self.x, a, b, m)), strict=True):
            place, top = _short(x), _short(level * unit**3 * (1 - math.copysign(margin, level)))
            rise, mass = _short(tilt * unit**2), _short(weight * unit)
            if weight > LEAST:
                single.append((place, top - rise * place - mass * place**2, rise + 2 * mass * place, mass))
        terms = [_short(max(each, 0.0)) for each in w[:-1].tolist()]
        pairs = zip(POWERS, terms, strict=True)
        have = 2 * sum((term * cut ** (2 * k + 1) / (2 * k + 1) for k, term in pairs), Fraction(0))
        scale = (1 - 2 * sum((mass for *_, mass in single), Fraction(0))) / have
        return DensityProof(
            odds,
            _short(self.r * unit**2 * (1 - margin)),
            slope,
            cut,
            tuple(term * scale for term in terms),
            tuple(single),
            _short(self.start) if self.single else cut / (1 - slope / 2),
            _short(self.end) if self.single else cut / (1 - slope / 2),
        )


def _short(number: float) -> Fraction:
    """A number, rounded to so many significant digits."""
    mantissa, exponent = math.frexp(number)
    return Fraction(round(mantissa * (1 << DIGITS))) * Fraction(2) ** (exponent - DIGITS)
