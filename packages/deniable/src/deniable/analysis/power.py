"""Sample size and power, before anything is collected: what effect so many randomized reports can show."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from deniable.analysis.decoder import decoder
from deniable.analysis.distributions import NORMAL, chi_square_limit, noncentral_tail
from deniable.analysis.independence import departures, deviation, summing
from deniable.analysis.joint_tally import product_covariance
from deniable.arrays import Floats
from deniable.core import Mechanism
from deniable.domains import Product, Vectors
from deniable.errors import InvalidParameter
from deniable.wrappers.one_pair import OnePair, Tables

MOST_PEOPLE = 10**12


@dataclass(frozen=True, eq=False)
class PowerTarget:
    """What is to be found out: `chance(effect, n, level)` is how often a test at this level finds it with n people."""

    subject: str
    unit: str  # what an effect is
    most: float  # the largest effect that there can be
    chance: Callable[[float, int, float], float]

    def power(self, effect: float, n: int, level: float = 0.05) -> float:
        """How often n people suffice to find an effect of this size."""
        self._check(effect, level)
        if n < 2:
            raise InvalidParameter("Power needs at least two people.")
        return self.chance(effect, n, level)

    def people(self, effect: float, power: float = 0.8, level: float = 0.05) -> int:
        """The smallest number of people of whom this power can be expected."""
        self._check(effect, level)
        _check_power(power, level)
        low, high = 2, 4
        while self.chance(effect, high, level) < power:
            low, high = high, 2 * high
            if high > MOST_PEOPLE:
                raise InvalidParameter("No number of people would show so small an effect. Ask for a larger one.")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.chance(effect, middle, level) >= power else (middle, high)
        return high

    def smallest(self, n: int, power: float = 0.8, level: float = 0.05) -> float:
        """The smallest effect that n people show with this power."""
        _check_power(power, level)
        if n < 2:
            raise InvalidParameter("Power needs at least two people.")
        low, high = 0.0, self.most / (1 << 20)
        while self.chance(high, n, level) < power:  # from below: very large effects can be hard to see again
            low, high = high, 1.25 * high
            if high > self.most:
                raise InvalidParameter(f"{n:,} people show no effect at all with this power. Ask more people.")
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self.chance(middle, n, level) >= power else (middle, high)
        return high

    def _check(self, effect: float, level: float) -> None:
        if not 0 < effect <= self.most:
            raise InvalidParameter(f"An effect here is {self.unit}, above 0 and at most {self.most:.3g}.")
        _check_power(0.5, level)

    def __str__(self) -> str:
        return f"{self.subject}; an effect is {self.unit}"


def _check_power(power: float, level: float) -> None:
    if not 0 < level < power < 1:
        raise InvalidParameter(
            "The level of a test is above 0, and the power above it and below 1, for example 0.05 and 0.8."
        )


def smallest_effect(target: PowerTarget, n: int, power: float = 0.8, level: float = 0.05) -> float:
    """The smallest effect that a test at this level detects with probability `power`, from n people.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> round(smallest_effect(share_of(DirectResponse(Categories(["no", "yes"]), 1.0), 0.2), 5000), 4)
    0.0413
    """
    return target.smallest(n, power, level)


def share_of(mechanism: Mechanism, share: float, answer: object = None, question: int = 0) -> PowerTarget:
    """That the share of an answer differs from this one; the last answer unless one is named.

    Of a mechanism for several questions, the `question` is the number of the one that is meant.
    """
    noise = _noise(mechanism, answer, question)
    _check_share(share)

    def chance(effect: float, n: int, level: float) -> float:
        reach = NORMAL.inv_cdf(1 - level / 2) * math.sqrt(noise(share) / n)
        return max(_beyond(reach, side * effect, noise(share + side * effect) / n) for side in _sides(share, effect))

    return PowerTarget("a share", "a difference of shares", max(share, 1 - share), chance)


def difference_of(
    mechanism: Mechanism, share: float, split: float = 0.5, answer: object = None, question: int = 0
) -> PowerTarget:
    """That the share of an answer differs between two groups, of which this part of all people are the second."""
    noise = _noise(mechanism, answer, question)
    _check_share(share)
    _check_share(split)

    def chance(effect: float, n: int, level: float) -> float:
        found = []
        for side in _sides(share, effect):
            spread = noise(share) / (n * (1 - split)) + noise(share + side * effect) / (n * split)
            found.append(_beyond(NORMAL.inv_cdf(1 - level / 2) * math.sqrt(spread), side * effect, spread))
        return max(found)

    return PowerTarget("a difference between two groups", "a difference of shares", max(share, 1 - share), chance)


def table_of(
    *mechanisms: Mechanism, margins: Sequence[ArrayLike] | None = None, questions: tuple[int, int] = (0, 1)
) -> PowerTarget:
    """That two questions depend on each other: of two mechanisms for the same people, or one for several questions.

    An effect is Cramer's V, of answers that depend on each other by their order. Answers are equally common unless `margins`
    has the shares of each question. Of a mechanism for several questions, `questions` are the numbers of the two.
    """
    shape, covariance = _law(mechanisms, questions)
    own = [np.full(size, 1 / size) for size in shape] if margins is None else [np.asarray(m, np.float64) for m in margins]
    if [each.shape for each in own] != [(size,) for size in shape] or any(
        (each <= 0).any() or abs(each.sum() - 1) > 1e-9 for each in own
    ):
        raise InvalidParameter("The margins are the shares of the answers to each question, all above 0, with sum 1.")
    null = np.outer(*own)
    scores = [_standard(each) for each in own]
    pattern = null * np.outer(*scores) * math.sqrt(min(shape) - 1)
    most = float((null[pattern < 0] / -pattern[pattern < 0]).min())  # where a cell would become negative
    _, slope = deviation(null)
    rows = departures(null.shape)
    inverse = np.linalg.inv(rows @ slope @ covariance(null) @ slope.T @ rows.T)

    def chance(effect: float, n: int, level: float) -> float:
        distance = rows @ deviation(null + effect * pattern)[0]
        centre = n * float(distance @ inverse @ distance)
        return noncentral_tail(chi_square_limit(level, len(rows)), len(rows), centre)

    return PowerTarget("independence in a table", "Cramer's V", min(1.0, most), chance)


Law = tuple[tuple[int, ...], Callable[[Floats], Floats]]


def _law(mechanisms: Sequence[Mechanism], questions: tuple[int, int]) -> Law:
    """The shape of a table, and n times the covariance of its shares."""
    if len(mechanisms) == 1:
        return table_law(mechanisms[0], questions)
    if len(mechanisms) != 2:
        raise InvalidParameter("A table needs two mechanisms for single questions, or one for two: a Product, or OnePair.")
    parts = [decoder(each) for each in mechanisms]
    return tuple(each.size for each in parts), lambda shares: product_covariance(parts, shares)


@singledispatch
def table_law(mechanism: Mechanism, questions: Sequence[int] = (0, 1)) -> Law:
    """The same of one mechanism, by its kind: of a compound question unless registered otherwise.

    Questions that are summed over have equally common answers, whatever the others are.
    """
    domain = mechanism.domain
    if not isinstance(domain, Product) or not set(questions) <= set(range(len(domain.parts))):
        raise InvalidParameter("A table needs two mechanisms for single questions, or one for two: a Product, or OnePair.")
    known, axes = decoder(mechanism), sorted(questions)
    others = tuple(set(range(len(domain.parts))) - set(axes))
    onto = summing(domain.shape, axes)

    def covariance(shares: Floats) -> Floats:
        spread = np.expand_dims(shares if list(questions) == axes else shares.T, others)
        whole = np.broadcast_to(spread, domain.shape).ravel() / (domain.size / shares.size)
        return np.asarray(onto @ (known.mean_square(whole) - np.outer(whole, whole)) @ onto.T)

    return tuple(domain.shape[axis] for axis in questions), covariance


@table_law.register
def _(mechanism: OnePair, questions: Sequence[int] = (0, 1)) -> Law:
    shapes = [(mechanism.sizes[pair.first], mechanism.sizes[pair.second or 0]) for pair in mechanism.pairs]
    even = [np.full(rows * columns, 1 / (rows * columns)) for rows, columns in shapes]
    at = [tuple(pair) for pair in mechanism.pairs].index((min(questions), max(questions)))

    def covariance(shares: Floats) -> Floats:
        tables = [*even[:at], shares.ravel(), *even[at + 1 :]]
        return Tables(mechanism, tables, mechanism.group_shares, 1).covariance(at)

    return shapes[at], covariance


def coefficient_of(mechanism: Mechanism, share: float, covariate: Literal["normal"] | float = "normal") -> PowerTarget:
    """That a logistic regression finds a covariate: a standard normal number, or what a group of this share has in common.

    The outcome is randomized by the mechanism and has two answers, of which the second has this share. An effect is the
    logarithm of the odds ratio.
    """
    _check_share(share)
    channel = decoder(mechanism).channel
    if len(channel) != 2:
        raise InvalidParameter("The outcome of a logistic regression has two answers.")
    if covariate == "normal":
        points, weights = np.polynomial.hermite_e.hermegauss(41)
        weights = weights / weights.sum()
    else:
        _check_share(float(covariate))
        points, weights = np.array([0.0, 1.0]), np.array([1 - float(covariate), float(covariate)])

    def chance(effect: float, n: int, level: float) -> float:
        low, high = -60.0, 60.0
        for _ in range(100):  # the intercept that gives the overall share
            level_of = (low + high) / 2
            mean = float(weights @ (1 / (1 + np.exp(-(level_of + effect * points)))))
            low, high = (level_of, high) if mean < share else (low, level_of)
        p = 1 / (1 + np.exp(-(low + effect * points)))
        reports = p[:, None] * channel[1] + (1 - p[:, None]) * channel[0]
        known = ((channel[1] - channel[0]) ** 2 / np.where(reports > 0, reports, 1)).sum(axis=1) * (p * (1 - p)) ** 2
        columns = np.stack([np.ones_like(points), points])
        error = math.sqrt(float(np.linalg.inv((columns * weights * known) @ columns.T)[1, 1]) / n)
        return _beyond(NORMAL.inv_cdf(1 - level / 2) * error, effect, error**2)

    return PowerTarget("a coefficient", "a logarithm of an odds ratio", 10.0, chance)


def _noise(mechanism: Mechanism, answer: object, question: int) -> Callable[[float], float]:
    """n times the variance of the estimate of a share, the drawing of people included."""
    if isinstance(mechanism.domain, Product | Vectors):
        return _margin_noise(mechanism, answer, question)
    found = decoder(mechanism)
    place = _place(list(found.labels), answer)
    squares = found.squares[:, place, place]

    def noise(share: float) -> float:
        return float(_others(found.size, place, share) @ squares) - share**2

    return noise


def _margin_noise(mechanism: Mechanism, answer: object, question: int) -> Callable[[float], float]:
    """The same of one of the questions of a mechanism for several; the others have equally common answers."""
    parts = mechanism.domain.parts  # type: ignore[attr-defined]
    if not 0 <= question < len(parts):
        raise InvalidParameter(f"The mechanism is for {len(parts)} questions, numbered from 0.")
    place = _place(list(parts[question].labels), answer)
    other = 1 if question == 0 else 0
    first, second = sorted((question, other))
    shape, covariance = table_law(mechanism, (first, second))
    row = summing(shape, [0 if question == first else 1])[place]

    def noise(share: float) -> float:
        own = _others(parts[question].size, place, share)
        even = np.full(parts[other].size, 1 / parts[other].size)
        return float(row @ covariance(np.outer(own, even) if question == first else np.outer(even, own)) @ row)

    return noise


def _place(labels: Sequence[object], answer: object) -> int:
    if answer is not None and answer not in labels:
        raise InvalidParameter(f"Name one of the answers {', '.join(repr(label) for label in labels[:8])}.")
    return len(labels) - 1 if answer is None else labels.index(answer)


def _others(size: int, place: int, share: float) -> Floats:
    """The shares of all answers, if this one has that share and the others are equally common."""
    shares = np.full(size, (1 - share) / (size - 1))
    shares[place] = share
    return shares


def _standard(shares: Floats) -> Floats:
    """The numbers 0, 1, 2, ... with mean 0 and variance 1 under these shares."""
    numbers = np.arange(len(shares)) - float(shares @ np.arange(len(shares)))
    return np.asarray(numbers / math.sqrt(float(shares @ numbers**2)), np.float64)


def _sides(share: float, effect: float) -> list[int]:
    """Upwards, or downwards where there is no room above."""
    return [1] if share + effect <= 1 else [-1]


def _beyond(reach: float, mean: float, variance: float) -> float:
    """The probability that a normal variable lies further from 0 than this."""
    error = math.sqrt(variance)
    return NORMAL.cdf((-reach - mean) / error) + NORMAL.cdf((mean - reach) / error)


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise InvalidParameter("A share must be between 0 and 1.")
