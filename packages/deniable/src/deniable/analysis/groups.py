"""Comparisons: shares or means of several groups, their differences, and whether they differ at all."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.analysis.correlation import Correlation, correlation_of
from deniable.analysis.crosstab import HasTables, crosstab
from deniable.analysis.decoder import same_people
from deniable.analysis.design import Variable, answer_of, own_mechanisms, silent, variable
from deniable.analysis.distributions import NORMAL, chi_square_tail, two_sided
from deniable.analysis.fitted import Family
from deniable.analysis.formula import Factor, Formula
from deniable.analysis.independence import contrasts
from deniable.analysis.moments import unbiased_values
from deniable.analysis.outcome import TestOutcome, formatted_p
from deniable.analysis.table import Table
from deniable.arrays import Floats
from deniable.core import Estimate, Mechanism, confidence_each
from deniable.domains.categories import NO_ANSWER
from deniable.errors import InvalidParameter
from deniable.planning.ranking import aligned

MOST_GROUPS = 64


@dataclass(frozen=True)
class Difference:
    """The difference between the second group and the first, in the population."""

    first: object
    second: object
    value: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """The share or the mean in each group, with the covariance for the populations that they were drawn from."""

    what: str
    measure: str  # "share" or "mean"
    groups: tuple[Any, ...]
    values: Floats
    covariance: Floats
    n: int
    confidence: float = 0.95

    @property
    def standard_error(self) -> Floats:
        """The standard error of the value of each group."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    def difference(self, first: object = None, second: object = None) -> Difference:
        """The difference between two groups: the only two, unless they are named."""
        if first is None and second is None and len(self.groups) == 2:
            first, second = self.groups
        if first not in self.groups or second not in self.groups:
            raise InvalidParameter(f"Name two of the groups {', '.join(map(repr, self.groups))}.")
        step = np.zeros(len(self.groups))
        step[self.groups.index(first)] -= 1
        step[self.groups.index(second)] += 1
        value, error = float(step @ self.values), max(0.0, float(step @ self.covariance @ step)) ** 0.5
        reach = NORMAL.inv_cdf((1 + confidence_each(self.confidence, 1)) / 2) * error
        p_value = two_sided(value / error) if error > 0 else float(value == 0)
        return Difference(first, second, value, error, (value - reach, value + reach), p_value)

    def test(self) -> TestOutcome:
        """Whether all groups are alike; the effect is the largest difference."""
        rows = contrasts(len(self.groups))
        apart = rows @ self.values
        statistic = float(apart @ np.linalg.solve(rows @ self.covariance @ rows.T, apart))
        degrees = len(rows)
        effect = float(np.ptp(self.values))
        return TestOutcome(
            "Equal groups", statistic, degrees, chi_square_tail(statistic, degrees), effect, "largest difference", self.n
        )

    def __str__(self) -> str:
        scale, unit = (100, " %") if self.measure == "share" else (1, "")
        lines = [["", self.measure, "std err"]]
        for group, value, error in zip(self.groups, self.values, self.standard_error, strict=True):
            lines.append([str(group), f"{scale * value:.2f}{unit}", f"{scale * error:.2f}"])
        shown = [f"{self.what}, {self.n:,} people", aligned(lines)]
        if len(self.groups) <= 4:
            for first, second in itertools.combinations(self.groups, 2):
                found = self.difference(first, second)
                low, high = (scale * end for end in found.interval)
                shown.append(
                    f"{second} less {first}: {scale * found.value:.2f} ({low:.2f} to {high:.2f}), "
                    f"p = {formatted_p(found.p_value)}"
                )
        return "\n".join([*shown, str(self.test())])


def compare_groups(
    data: Mapping[str, Any] | HasTables,
    outcome: str,
    by: str,
    mechanisms: Mapping[str, Mechanism] | None = None,
    *,
    confidence: float = 0.95,
) -> GroupComparison:
    """The share of an answer, or the mean of a number, in every group; either of outcome and groups may be randomized.

    Name an answer as in "satisfied[yes]"; of an outcome with two answers the second is meant. `data` and `mechanisms` are
    those of `regress`; or data is what a survey collected that asks for the table of both: `dn.collected("survey.toml")`.
    Errors are about the populations that the groups were drawn from.
    """
    confidence_each(confidence, 1)
    own, factor = own_mechanisms(mechanisms), Formula.parse(f"{outcome} ~ 1").outcome
    if isinstance(data, HasTables):
        return _in_table(data.table(factor.name, by), factor, by, confidence)
    what, groups = variable(factor.name, data, own), variable(by, data, own)
    people = same_people([(factor.name, what.people), (by, groups.people)])
    kind = _kind(what, factor)
    values = unbiased_values(what, factor, kind)
    labels, inside = _membership(groups)
    sums = inside.sum(axis=0)
    if (sums <= 0).any():
        raise InvalidParameter(f"The estimated size of some group of {by!r} is zero. Leave it out, or collect more reports.")
    means = inside.T @ values / sums
    influence = inside * (values[:, None] - means[None, :]) / sums[None, :]
    return GroupComparison(
        f"{factor} by {by}", "share" if kind == "logistic" else "mean", tuple(labels), means, influence.T @ influence,
        people, confidence,
    )  # fmt: skip


def _in_table(table: Table, factor: Factor, by: str, confidence: float) -> GroupComparison:
    """The comparison of the columns of a table."""
    what = Variable(factor.name, table.n, table.answers[0], None)
    kind = _kind(what, factor)
    if kind == "logistic":
        weights = np.eye(len(table.answers[0]))[1 if factor.answer is None else answer_of(what, factor)]
    else:
        weights = np.array(table.answers[0], np.float64)
    sums = table.shares.sum(axis=0)
    if (sums <= 0).any():
        raise InvalidParameter(f"The estimated size of some group of {by!r} is zero. Collect more reports.")
    means = weights @ table.shares / sums
    slope = np.zeros((len(sums), *table.shares.shape))
    for group in range(len(sums)):
        slope[group, :, group] = (weights - means[group]) / sums[group]
    slope = slope.reshape(len(sums), -1)
    measure = "share" if kind == "logistic" else "mean"
    spread = slope @ table.law(table.shares) @ slope.T
    return GroupComparison(f"{factor} by {by}", measure, tuple(table.answers[1]), means, spread, table.n, confidence)


def _kind(what: Variable, factor: Factor) -> Family:
    if what.labels is not None and NO_ANSWER in what.labels and factor.answer is None:
        raise silent(what)
    if factor.answer is not None:
        answer_of(what, factor)
        return "logistic"
    if what.labels is None:
        return "logistic" if np.isin(what.values, (0, 1)).all() else "linear"
    if len(what.labels) == 2 and not what.numeric:
        return "logistic"
    if what.numeric:
        return "linear"
    raise InvalidParameter(f"{what.name!r} has {len(what.labels)} answers. Name one, such as {what.name}[{what.labels[0]}].")


def _membership(groups: Variable) -> tuple[Sequence[Any], Floats]:
    """The groups, and the unbiased indicator of each for every person."""
    if groups.decoder is not None:
        labels, inside = list(groups.labels or ()), groups.indicators
    else:
        found, codes = np.unique(groups.values, return_inverse=True)
        labels = found.tolist() if groups.labels is None else [groups.labels[place] for place in found.tolist()]
        inside = np.eye(len(labels))[codes] if len(labels) <= MOST_GROUPS else np.zeros((0, 0))
    if not 2 <= len(labels) <= MOST_GROUPS:
        raise InvalidParameter(f"{groups.name!r} has {len(labels)} groups; 2 to {MOST_GROUPS} can be compared.")
    return labels, inside


def compare_estimates(estimates: Mapping[Any, Estimate], answer: object = None, confidence: float = 0.95) -> GroupComparison:
    """The same from estimates of different people: groups that reported separately, or the same question at two times."""
    confidence_each(confidence, 1)
    if len(estimates) < 2:
        raise InvalidParameter("A comparison needs two estimates or more.")
    values, variances, measure = [], [], next(iter(estimates.values())).measure
    for each in estimates.values():
        labels = list(each.labels)
        if len(labels) > 1 and answer not in labels:
            raise InvalidParameter(f"Name one of the answers {', '.join(repr(label) for label in labels[:8])}.")
        place = labels.index(answer) if len(labels) > 1 else 0
        own = each.for_population() if each.measure == "share" else each
        values.append(float(own.values[place]))
        variances.append(float(own.standard_error[place] ** 2))
    what = measure if answer is None else f"{answer}"
    n = sum(each.n for each in estimates.values())
    return GroupComparison(what, measure, tuple(estimates), np.array(values), np.diag(variances), n, confidence)


def correlate(
    data: Mapping[str, Any],
    first: str,
    second: str,
    mechanisms: Mapping[str, Mechanism] | None = None,
    *,
    ranks: bool = False,
    confidence: float = 0.95,
) -> Correlation:
    """The correlation of two numbers in the population, either of which may be randomized; noise does not weaken it.

    With `ranks`, that of the order of the answers, which may be words (Spearman's).
    """
    own = own_mechanisms(mechanisms)
    if ranks:
        return crosstab(data, own, first, second).correlation(ranks=True, confidence=confidence)
    found = [variable(name, data, own) for name in (first, second)]
    people = same_people([(each.name, each.people) for each in found])
    for each in found:
        if not each.numeric:
            raise InvalidParameter(
                f"The answers to {each.name!r} are not numbers. To correlate their ranks, use ranks=True."
            )
    x, y = (_power(each, 1) for each in found)
    xx, yy = (_power(each, 2) for each in found)
    mx, my = float(x.mean()), float(y.mean())
    spread = float(xx.mean()) - mx**2, float(yy.mean()) - my**2
    if min(spread) <= 0:
        raise InvalidParameter(
            "The noise is larger than the spread of the answers, so their correlation cannot be estimated. Collect more "
            "reports."
        )
    joint = x * y - my * x - mx * y + mx * my  # whose mean is the covariance
    together, scale = float(joint.mean()), float(np.sqrt(spread[0] * spread[1]))
    value = together / scale
    varied = [(xx - 2 * mx * x + mx**2) / spread[0] - 1, (yy - 2 * my * y + my**2) / spread[1] - 1]
    influence = (joint - together) / scale - value / 2 * (varied[0] + varied[1])
    error = float(np.sqrt(np.mean(influence**2) / people))
    null = float(np.sqrt(np.mean((joint - together) ** 2) / people))
    return correlation_of(value, error, two_sided(together / null), people, False, confidence)


def _power(own: Variable, power: int) -> Floats:
    if own.decoder is None:
        return np.asarray(own.values, np.float64) ** power
    return own.decoder.decoded(own.values, power)
