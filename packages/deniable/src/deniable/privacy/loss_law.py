"""The law of the privacy loss: with which odds reports speak for one answer against another, and how often."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

from deniable.core import log_up
from deniable.errors import InvalidParameter

MOST = 1 << 9  # different odds that are kept; beyond that some are raised to the next
DIGITS = 50
MARGIN = Decimal(10) ** -35  # far more than fifty digits lose in a few steps, far less than a float shows
_STEP = Fraction(1, 200)  # of the orders at which the concentrated loss is looked at


@dataclass(frozen=True)
class LossLaw:
    """Under the first answer, a report has these odds against the second with these probabilities.

    `unbounded` is the probability of reports that rule the second answer out. Laws of independent reports multiply, and that
    is exact until there are too many different odds; then some are raised, so that nothing is ever promised too much.
    """

    masses: Mapping[Fraction, Fraction]
    unbounded: Fraction = Fraction(0)
    raised: bool = field(default=False, compare=False)

    @classmethod
    def worst(cls, odds: Fraction) -> "LossLaw":
        """The worst law with these odds: that of one bit by randomized response (Kairouz, Oh, Viswanath 2015)."""
        if odds < 1:
            raise InvalidParameter("Odds must be at least 1.")
        if odds == 1:
            return cls({odds: Fraction(1)})
        return cls({odds: odds / (odds + 1), 1 / odds: 1 / (odds + 1)})

    @classmethod
    def above(cls, laws: Sequence["LossLaw"]) -> "LossLaw":
        """A law that stands above all of these at every odds, so that whatever is composed of it does too.

        Its delta is the largest of theirs at each of the odds where one of them bends, and a straight line between, which no
        bent one exceeds there. It is itself the delta of some pair of laws (Zhu, Dong, Wang 2022).
        """
        if len(laws) == 1:
            return laws[0]
        bends = sorted({Fraction(0)} | {odds for law in laws for odds in law.masses})
        deltas = [max(law.delta(odds) for law in laws) for odds in bends]
        masses: dict[Fraction, Fraction] = {}
        slopes = [(b - a) / (y - x) for a, b, x, y in zip(deltas, deltas[1:], bends, bends[1:], strict=False)] + [
            Fraction(0)
        ]
        for place, odds in enumerate(bends[1:], start=1):
            mass = odds * (slopes[place] - slopes[place - 1])
            if mass:
                masses[odds] = mass
        return cls(masses, deltas[-1], any(law.raised for law in laws))

    def delta(self, odds: Fraction) -> Fraction:
        """The probability by which the first answer's reports exceed these odds times the second's, exactly."""
        return self.unbounded + sum(
            (mass * (1 - odds / own) for own, mass in self.masses.items() if own > odds), Fraction(0)
        )

    def odds_at(self, delta: float | Fraction) -> Fraction | None:
        """The smallest odds that hold but with probability delta; None where no odds do."""
        allowed = Fraction(delta)
        if self.unbounded > allowed:
            return None
        first, second = self.unbounded, Fraction(0)  # the mass above, under either answer
        for odds in sorted(self.masses, reverse=True):
            if first - odds * second > allowed:  # here delta is too large already: it is just right a little further up
                return max(Fraction(1), (first - allowed) / second)
            first += self.masses[odds]
            second += self.masses[odds] / odds
        return max(Fraction(1), (first - allowed) / second if second else Fraction(1))

    def epsilon(self, delta: float | Fraction = 0) -> float:
        """The logarithm of these odds, rounded up."""
        odds = self.odds_at(delta)
        return float("inf") if odds is None else log_up(odds)

    def __mul__(self, other: "LossLaw") -> "LossLaw":
        """The law of two independent reports."""
        masses: dict[Fraction, Fraction] = {}
        for one, mass in self.masses.items():
            for two, own in other.masses.items():
                masses[one * two] = masses.get(one * two, Fraction(0)) + mass * own
        unbounded = 1 - (1 - self.unbounded) * (1 - other.unbounded)
        return LossLaw(masses, unbounded, self.raised or other.raised)._within(MOST)

    def __pow__(self, times: int) -> "LossLaw":
        """The law of so many independent reports with this law each."""
        if times < 0:
            raise InvalidParameter("The number of reports must not be negative.")
        top = max(self.masses, default=Fraction(1))
        if times > 2 and top > 1 and set(self.masses) <= {top, Fraction(1), 1 / top}:
            return self._stepwise(top, times)
        whole, square = LossLaw({Fraction(1): Fraction(1)}), self
        while times:
            whole = whole * square if times & 1 else whole
            times >>= 1
            square = square * square if times else square
        return whole

    def _stepwise(self, odds: Fraction, times: int) -> "LossLaw":
        """Where reports go one step up, down or none: the coefficients of (up x^2 + none x + down)^times, all at once.

        The polynomial is worked out at one large power of two, whose digits are its coefficients.
        """
        steps = [self.masses.get(each, Fraction(0)) for each in (1 / odds, Fraction(1), odds)]
        whole = math.lcm(*(step.denominator for step in steps))
        weights = [int(step * whole) for step in steps]
        width = (sum(weights) ** times).bit_length() + 1
        digits = sum(weight << width * place for place, weight in enumerate(weights)) ** times
        masses, one, total = dict[Fraction, Fraction](), (1 << width) - 1, whole**times
        for place in range(2 * times + 1):
            if weight := digits >> width * place & one:
                masses[odds ** (place - times)] = Fraction(weight, total)
        return LossLaw(masses, 1 - (1 - self.unbounded) ** times, self.raised)

    def _within(self, most: int) -> "LossLaw":
        if len(self.masses) <= most:
            return self
        ordered, masses = sorted(self.masses), dict[Fraction, Fraction]()
        step = -(-len(ordered) // most)
        for start in range(0, len(ordered), step):
            group = ordered[start : start + step]
            masses[group[-1]] = sum((self.masses[odds] for odds in group), Fraction(0))
        return LossLaw(masses, self.unbounded, True)

    def renyi(self, order: Fraction | int) -> Fraction:
        """The Renyi divergence of this order, ln(sum mass odds^(order - 1)) / (order - 1): rounded up."""
        exact = Fraction(order)
        if exact <= 1:
            raise InvalidParameter("The order of a divergence must be above 1.")
        if self.unbounded:
            raise InvalidParameter("If a report can rule out an answer, divergences are infinite.")
        with localcontext(Context(prec=DIGITS, rounding=ROUND_CEILING)):
            power = decimal_of(exact - 1)
            total = Decimal(0)
            for odds, mass in self.masses.items():
                total += decimal_of(mass) * (decimal_of(odds).ln() * power).exp()
            return Fraction(total.ln() / power + MARGIN * (1 + 1 / power))

    def concentrated(self) -> Fraction:
        """An upper bound of rho, the largest divergence per order (zero-concentrated privacy), within half a percent.

        Divergences grow with their order, so between two orders none exceeds that of the higher over the lower; and none
        exceeds the logarithm of the largest odds. For a bound from the odds alone it is epsilon^2 / 2.
        """
        most = Fraction(log_up(max(self.masses)))
        best, low = Fraction(0), Fraction(1)
        while most / low > best:
            high = low * (1 + _STEP)
            best = max(best, self.renyi(high) / low)
            low = high.limit_denominator(1 << 24)
            low = low if low <= high else high
        return min(best, most * most / 2)


def decimal_of(number: Fraction) -> Decimal:
    """The fraction in the digits and the rounding of the context around."""
    return Decimal(number.numerator) / Decimal(number.denominator)
