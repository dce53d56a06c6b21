"""Which mechanism for the mean of answers that go round, such as hours and compass points: the best there is.

Answers are d points of a circle, evenly spaced. A report stands for a point of the plane, and its mean is the true one, so
that the mean of all reports is the mean direction of the people, times how much they agree. The best law is an arc: each of
w places next to the true one is `odds` times as likely as any other, as in the circular `SquareWave`.

Proof. As for directions (`vector_bounds`), the mean square of reports that are right on average is at least 1 / g^2, where g
is the largest length of E[r(x) x] for points x drawn evenly, and r with mean 1 and ratios up to the odds. For a given
direction, r has the larger of two values for the points nearest to it: w neighbours. Their sum has the length
sin(w pi / d) / sin(pi / d). Reports of the law with the best w reach it, whatever the number of outputs; laws with N outputs
and piecewise ones on the circle (Zheng, Mishra, Hu 2025, arXiv 2505.15483) are among those it is compared with.
"""

import math
from dataclasses import dataclass

import numpy as np

from deniable.core import Domain, Tally, checked_epsilon
from deniable.domains import Ordered
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.square_wave import SquareWave
from deniable.planning.ranking import EQUAL, Column, Ranking, Row, checked_people, people, planned

MOST = 4096  # answers


def arc_gain(size: int, window: int, odds: float) -> float:
    """How long the mean report of an arc of so many of all places is.

    >>> round(arc_gain(24, 10, math.e), 4)
    0.3088
    """
    return (odds - 1) * math.sin(window * math.pi / size) / math.sin(math.pi / size) / (size + window * (odds - 1))


def circle_options(domain: Domain, epsilon: float, n: int) -> Ranking[SquareWave]:
    """The best arc for the mean direction, beside the arc that is published for the distribution."""
    checked_people(n)
    if not isinstance(domain, Ordered) or not 3 <= domain.size <= MOST:
        raise InvalidParameter(
            f"Circular answers must be Ordered, 3 to {MOST:,} of them, evenly spaced, such as Ordered(range(24)) for hours."
        )
    budget, size = checked_epsilon(epsilon), domain.size
    most = math.nextafter(math.exp(budget), math.inf)
    best = max(range(1, size), key=lambda window: arc_gain(size, window, most))
    offered = {"best arc": SquareWave(domain, budget, best, True), "square wave": SquareWave(domain, budget, circular=True)}

    def error(gain: float) -> float:
        return math.sqrt((gain**-2 - 1) / (2 * n))

    rows = tuple(
        Row(name, each, error(arc_gain(size, each.window, float(each.odds))), each.layout.bits)
        for name, each in offered.items()
    )
    subject = f"the mean direction of {size:,} circular answers, epsilon {budget:g} for one answer, {people(n)}"
    column = Column("error", "standard error along either axis of a circle with radius 1", ".4g")
    bound = error(arc_gain(size, best, most)) * (1 - 1e-12)
    rivals = "any mechanism whose reports are decoded without bias"
    return Ranking(rows, subject, column, close=EQUAL, bound=bound, rivals=rivals)


def plan_circle(domain: Domain, epsilon: float, n: int, max_bits: int | None = None) -> SquareWave:
    """The best mechanism for the mean of answers that go round; `mean_direction` reads its tallies.

    >>> plan_circle(Ordered(range(24)), 1.0, 1000).window
    10
    """
    return planned(circle_options(domain, epsilon, n).within(max_bits), "Decode a tally with dn.mean_direction.")


@dataclass(frozen=True)
class Direction:
    """A mean direction: `place` in units of answers, from 0 to below their number, and how far people agree, 0 to about 1.

    `standard_error` is that of the place, in the same units, of the privacy noise; it is about right where `agreement` is
    several times its own standard error, `spread`, and else the direction is unknown.
    """

    place: float
    agreement: float
    standard_error: float
    spread: float
    n: int


def mean_direction(mechanism: SquareWave, tally: Tally) -> Direction:
    """The mean direction behind a tally of arcs on a circle.

    >>> mechanism = plan_circle(Ordered(range(24)), 1.0, 1000)
    >>> counts = np.round(mechanism.matrix[7] * 10**6).astype(np.int64)
    >>> round(mean_direction(mechanism, Tally(mechanism.fingerprint, int(counts.sum()), counts)).place, 3)
    7.0
    """
    if not isinstance(mechanism, SquareWave) or not mechanism.circular:
        raise InvalidParameter("A mean direction needs circular answers: plan them with circular=True.")
    mechanism.check_tally(tally)
    size, gain = mechanism.domain.size, arc_gain(mechanism.domain.size, mechanism.window, float(mechanism.odds))
    angles = 2 * math.pi / size * (np.arange(size) - (mechanism.window - 1) / 2)
    mean = complex((tally.counts @ np.exp(1j * angles)) / (tally.n * gain))
    spread = math.sqrt(max(gain**-2 - abs(mean) ** 2, 0.0) / (2 * tally.n))
    agreement = abs(mean)
    place = math.atan2(mean.imag, mean.real) * size / (2 * math.pi) % size
    error = spread / agreement * size / (2 * math.pi) if agreement else math.inf
    return Direction(place, agreement, error, spread, tally.n)
