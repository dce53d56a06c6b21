"""The privacy loss of several reports about one person: exact where it can be computed, and bounds elsewhere.

With delta 0 the odds multiply. With a small delta much less is lost than that when there are many reports: the exact law of
the loss says how much less, the optimal composition of Kairouz, Oh and Viswanath (2015) whatever the mechanisms are, and
the bounds of Dwork, Rothblum and Vadhan (2010) and of Bun and Steinke (2016) are there to be compared.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import add

from deniable.core import Mechanism, PrivacyLoss, PureProtocol, log_up, rounded_up
from deniable.errors import InvalidParameter, NotCertifiable
from deniable.privacy.law import LIMIT, Law, law
from deniable.privacy.loss_law import DIGITS, MARGIN, LossLaw, decimal_of


def loss_law(mechanism: Mechanism, limit: int = LIMIT) -> LossLaw:
    """The law of the loss between the two answers that reports distinguish best.

    For mechanisms whose reports support values, in closed form: a report supports the one and not the other with
    probability (p - q) odds / (odds - 1). For others all pairs of answers are enumerated, and the result stands above each.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> import math
    >>> loss_law(DirectResponse(Categories(range(3)), math.log(3))).masses
    {Fraction(3, 1): Fraction(3, 5), Fraction(1, 1): Fraction(1, 5), Fraction(1, 3): Fraction(1, 5)}
    """
    odds = mechanism.loss().odds
    if isinstance(mechanism, PureProtocol) and odds is not None and odds > 1:
        apart = (mechanism.p - mechanism.q) * odds / (odds - 1)
        return LossLaw({odds: apart, Fraction(1): 1 - apart - apart / odds, 1 / odds: apart / odds})
    size = mechanism.domain.size
    if size * size > limit:
        raise NotCertifiable("There are too many pairs of answers to compute the privacy loss distribution of each.")
    laws = [law(mechanism, index, limit // size) for index in range(size)]
    return LossLaw.above([between(one, other) for one, other in product(laws, laws) if one is not other])


def between(first: Law, second: Law) -> LossLaw:
    """The law of the loss of reports on the first answer against those on the second, from their exact laws."""
    other, masses, unbounded = dict(second.items()), dict[Fraction, Fraction](), Fraction(0)
    for report, chance in first.items():
        if not other.get(report):
            unbounded += chance
        else:
            odds = chance / other[report]
            masses[odds] = masses.get(odds, Fraction(0)) + chance
    return LossLaw(masses, unbounded)


def same_answer(mechanisms: Sequence[Mechanism], limit: int = LIMIT) -> PrivacyLoss:
    """The exact loss of giving the same answer to several mechanisms: often less than the product of their odds.

    The two answers that one mechanism distinguishes best need not be those of another, and the person has one pair only.
    """
    sizes = {mechanism.domain.size for mechanism in mechanisms}
    if len(sizes) != 1:
        raise InvalidParameter("The same answer can only be given to mechanisms with the same number of answers.")
    (size,) = sizes
    worst: Fraction | None = Fraction(1)
    tables = [[dict(law(mechanism, index, limit // size).items()) for index in range(size)] for mechanism in mechanisms]
    for first, second in product(range(size), repeat=2):
        odds: Fraction | None = Fraction(1)
        for table in tables:
            ratios = [chance / table[second][r] if table[second].get(r) else None for r, chance in table[first].items()]
            odds = None if odds is None or None in ratios else odds * max(each for each in ratios if each is not None)
        worst = None if worst is None or odds is None else max(worst, odds)
    return PrivacyLoss(worst, "proved", answers=len(mechanisms), over=f"one answer given {len(mechanisms)} times")


@dataclass(frozen=True)
class Composition:
    """The joint privacy loss of several reports: an epsilon that may fail with probability delta, computed in several ways.

    `pure` holds always, as delta is 0 there. `exact` follows from the laws of the mechanisms, `optimal` from their odds
    alone and is the best that can be said from these; `concentrated` and `advanced` are looser and well known.
    """

    pure: PrivacyLoss
    delta: Fraction
    exact: float | None
    optimal: float
    concentrated: float | None
    advanced: float

    @property
    def epsilon(self) -> float:
        """The smallest of them all."""
        every = (self.pure.epsilon(), self.exact, self.optimal, self.concentrated, self.advanced)
        return min(each for each in every if each is not None)

    def __str__(self) -> str:
        rows = [("pure, delta 0", self.pure.epsilon())]
        if self.exact is not None:
            rows.append(("exact laws", self.exact))
        rows.append(("optimal from the odds", self.optimal))
        if self.concentrated is not None:
            rows.append(("concentrated (zCDP)", self.concentrated))
        rows.append(("advanced", self.advanced))
        lines = [f"{self.pure.answers} answers of one person, delta {float(self.delta):.3g}"]
        return "\n".join([*lines, *(f"  {name:22} epsilon {value:.6g}" for name, value in rows)])


def compose(parts: Iterable[Mechanism | PrivacyLoss], delta: float | Fraction = 0, times: int = 1) -> Composition:
    """The joint privacy loss of these reports, each given this many times with fresh randomness.

    Answers to different questions, or to the same one again: the worst case over everything a person may have said.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> print(compose([DirectResponse(Categories(["yes", "no"]), 0.1)], delta=1e-6, times=100))
    100 answers of one person, delta 1e-06
      pure, delta 0          epsilon 10
      exact laws             epsilon 4.77457
      optimal from the odds  epsilon 4.77457
      concentrated (zCDP)    epsilon 5.75652
      advanced               epsilon 5.75611
    """
    given, allowed = list(parts), Fraction(delta)
    if not given or times < 1 or not 0 <= allowed < 1:
        raise InvalidParameter(
            "Give at least one mechanism or loss, times of at least 1, and a delta of at least 0 and below 1."
        )
    losses = [part.loss() if isinstance(part, Mechanism) else part for part in given]
    bounded = [loss.odds for loss in losses if loss.odds is not None]
    total = None if len(bounded) < len(losses) else math.prod(bounded) ** times
    answers = times * sum(loss.answers for loss in losses)
    pure = reduce(add, losses)
    pure = replace(pure, odds=total, answers=answers, over="" if answers > 1 else pure.over)
    if total is None:
        none = float("inf")
        return Composition(pure, allowed, None, none, None, none)
    laws = _laws(given)
    exact = None if laws is None else _together(laws, times).epsilon(allowed)
    optimal = _together([LossLaw.worst(each) for each in bounded], times).epsilon(allowed)
    if allowed == 0:
        return Composition(pure, allowed, exact, optimal, None, pure.epsilon())
    rho = times * sum((each.concentrated() for each in (laws or [LossLaw.worst(own) for own in bounded])), Fraction(0))
    return Composition(
        pure, allowed, exact, optimal, concentrated_epsilon(rho, allowed), advanced_epsilon(bounded, times, allowed)
    )


def _laws(given: Sequence[Mechanism | PrivacyLoss]) -> list[LossLaw] | None:
    out = []
    for part in given:
        if not isinstance(part, Mechanism):
            return None
        try:
            out.append(loss_law(part))
        except NotCertifiable:
            return None
    return out


def _together(laws: Sequence[LossLaw], times: int) -> LossLaw:
    return math.prod((each**times for each in laws), start=LossLaw({Fraction(1): Fraction(1)}))


def advanced_epsilon(odds: Sequence[Fraction], times: int, delta: Fraction) -> float:
    """sqrt(2 ln(1/delta) sum eps^2) + sum eps (e^eps - 1) / (e^eps + 1): advanced composition, with the mean of the loss.

    Dwork, Rothblum, Vadhan 2010, in the form of Kairouz, Oh, Viswanath 2015, Theorem 3.5. Rounded up.
    """
    with localcontext(Context(prec=DIGITS, rounding=ROUND_CEILING)):
        squares = mean = Decimal(0)
        for each in odds:
            epsilon = Decimal(log_up(each))
            squares += times * epsilon * epsilon
            mean += times * epsilon * decimal_of((each - 1) / (each + 1))
        return _up((2 * _log_inverse(delta) * squares).sqrt() + mean)


def concentrated_epsilon(rho: Fraction, delta: Fraction) -> float:
    """rho + 2 sqrt(rho ln(1/delta)): what rho-concentrated privacy means for a delta (Bun, Steinke 2016). Rounded up."""
    if rho < 0 or not 0 < delta < 1:
        raise InvalidParameter("rho must be at least 0, and delta between 0 and 1.")
    with localcontext(Context(prec=DIGITS, rounding=ROUND_CEILING)):
        exact = decimal_of(rho)
        return _up(exact + 2 * (exact * _log_inverse(delta)).sqrt())


def _log_inverse(delta: Fraction) -> Decimal:
    return (Decimal(delta.denominator) / Decimal(delta.numerator)).ln() + MARGIN


def _up(number: Decimal) -> float:
    return rounded_up(Fraction(number + MARGIN * max(Decimal(1), abs(number))))
