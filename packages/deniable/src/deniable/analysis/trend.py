"""A question over time: estimates per period, smoothed, with changes that are larger than noise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.analysis.changes import FALSE_ALARMS, jumps
from deniable.analysis.smoothing import Level, filtered, smoothed, smoothed_with
from deniable.arrays import Floats, Ints
from deniable.core import Estimate, Mechanism, Permanent, Tally, confidence_each
from deniable.core.showing import axes_for
from deniable.errors import EmptyBatch, InvalidParameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WEEKS = 4  # of which there must be at least so many before weekdays are compared
WEEK = 7


@dataclass(frozen=True)
class Change:
    """A change of one answer that is larger than noise: it began in period `since` and was detected after period `named`."""

    answer: object
    since: int
    named: int
    difference: float
    low: float
    high: float

    def __str__(self) -> str:
        return self.sentence(lambda period: f"period {period}")

    def sentence(self, name: Callable[[int], str]) -> str:
        """What changed and when, with these names of periods."""
        way = "rose" if self.difference > 0 else "fell"
        return (
            f"{self.answer} {way} in {name(self.since)}: {self.difference:+.3g} ({self.low:+.3g} to {self.high:+.3g}), "
            f"known after {name(self.named)}"
        )


@dataclass(frozen=True, eq=False)
class Trend:
    """Estimates of several answers in several periods. Rows are periods, columns are answers.

    `variance` is that of an estimate for the people whom the reporters stand for; `kept` is the part of it that comes from
    permanent answers and from who takes part, which does not average out over periods.
    """

    labels: Sequence[object]
    measure: str
    periods: Ints
    reports: Ints
    values: Floats
    variance: Floats
    kept: Floats

    @property
    def fresh(self) -> Floats:
        """The part of the variance that is drawn anew in each period."""
        return np.maximum(self.variance - self.kept, 1e-300)

    @cached_property
    def level(self) -> Level:
        """The smoothed level of each answer, with the variance of what is drawn anew."""
        return smoothed(self.periods, self.values, self.fresh)

    @cached_property
    def published(self) -> Level:
        """The level in each period from what was known then: the average since the last movement where there is none.

        Adaptive publication: how much the level moves is judged anew in each period, so that a flat series is averaged and a
        moving one is followed.
        """
        return filtered(self.periods, self.values, self.fresh)

    def raw(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """The ends of the intervals of the estimates of single periods."""
        reach = _reach(confidence) * np.sqrt(self.variance)
        return self.values - reach, self.values + reach

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """The ends of the intervals of the smoothed level, in each period on its own.

        Noise that is kept counts in full, as the weighted mean of its standard errors: no number of periods averages it out.
        """
        lasting = smoothed_with(self.periods, np.sqrt(self.kept), self.fresh, self.level.moves).values
        reach = _reach(confidence) * np.sqrt(self.level.variance + lasting**2)
        return self.level.values - reach, self.level.values + reach

    def changes(self, false_alarms: float = FALSE_ALARMS, confidence: float = 0.95) -> list[Change]:
        """The changes that are larger than noise; if nothing changes, one is named with at most this probability, ever."""
        found, reach = list[Change](), _reach(confidence)
        for place, label in enumerate(self.labels):
            weights, fresh, kept = self.reports.astype(np.float64), self.fresh[:, place], self.kept[:, place]
            for jump in jumps(self.values[:, place], weights, fresh, kept, len(self.labels), false_alarms):
                since, named = int(self.periods[jump.since]), int(self.periods[jump.named])
                ends = (jump.difference - reach * jump.error, jump.difference + reach * jump.error)
                found.append(Change(label, since, named, jump.difference, *ends))
        return sorted(found, key=lambda change: change.named)

    def difference(self, first: int, second: int, confidence: float = 0.95) -> Estimate:
        """How much each answer changed from one period to another, with an interval that holds whoever took part."""
        a, b = self._place(first), self._place(second)
        confidence_each(confidence, 1)
        size = int(min(self.reports[a], self.reports[b]))
        variance = self.variance[a] + self.variance[b]
        return Estimate(self.labels, self.values[b] - self.values[a], variance, size, measure=f"{self.measure} difference")

    def weekdays(self, first: int = 0) -> Estimate:
        """How much the periods of each weekday differ from the week around them; `first` is the weekday of period 0.

        For daily periods; there must be at least four weeks without a gap.
        """
        whole = self._weeks()
        shape = (WEEK, len(self.periods))
        weights = np.zeros(shape)
        for place in whole:
            day = int(self.periods[place] + first) % WEEK
            weights[day, place] += 1
            weights[day, place - 3 : place + 4] -= 1 / WEEK
        weights /= np.array([sum(int(self.periods[p] + first) % WEEK == day for p in whole) for day in range(WEEK)])[:, None]
        answer = int(self.values.mean(axis=0).argmax())
        fresh, root = self.fresh[:, answer], np.sqrt(self.kept[:, answer])
        up, down = np.maximum(weights, 0) @ root, np.maximum(-weights, 0) @ root
        variance = weights**2 @ fresh + up**2 + down**2
        names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
        n = int(self.reports.min())
        return Estimate(names, weights @ self.values[:, answer], variance, n, measure=f"{self.labels[answer]} by weekday")

    @property
    def has_weekdays(self) -> bool:
        """Whether there are enough periods without a gap to compare weekdays."""
        return len(self._around()) >= WEEKS * WEEK

    def _around(self) -> list[int]:
        """The places that have the three periods before and after them."""
        p = self.periods
        return [t for t in range(3, len(p) - 3) if p[t + 3] - p[t - 3] == WEEK - 1]

    def _weeks(self) -> list[int]:
        around = self._around()
        if len(around) < WEEKS * WEEK:
            raise EmptyBatch(
                f"Weekdays can be compared once there are {WEEKS * WEEK + WEEK - 1} daily periods without a gap."
            )
        return around[: len(around) // WEEK * WEEK]

    def _place(self, period: int) -> int:
        found = np.flatnonzero(self.periods == period)
        if not len(found):
            raise InvalidParameter(
                f"There are no results for period {period}. There are results for {self.periods[0]} to {self.periods[-1]}."
            )
        return int(found[0])

    def rows(self, confidence: float = 0.95) -> list[dict[str, object]]:
        """A line for each answer and period, as plain data."""
        low, high = self.raw(confidence)
        bottom, top = self.interval(confidence)
        return [
            {
                "measure": self.measure, "answer": str(label), "period": int(period), "reports": int(self.reports[t]),
                "value": float(self.values[t, k]), "low": float(low[t, k]), "high": float(high[t, k]),
                "smoothed": float(self.level.values[t, k]), "smoothed_low": float(bottom[t, k]),
                "smoothed_high": float(top[t, k]),
            }
            for k, label in enumerate(self.labels)
            for t, period in enumerate(self.periods)
        ]  # fmt: skip

    def plot(self, confidence: float = 0.95, most: int = 8, ax: "Axes | None" = None) -> "Axes":
        """A line with a band for each answer, dots for single periods, and a mark where a change was named."""
        axes = axes_for(ax, 7, 3.4)
        bottom, top = self.interval(confidence)
        scale = 100 if self.measure == "share" else 1
        shown = np.argsort(-self.values.mean(axis=0), kind="stable")[:most].tolist()
        changes = self.changes(confidence=confidence)
        for place in sorted(shown):
            (line,) = axes.plot(self.periods, scale * self.level.values[:, place], label=str(self.labels[place]))
            color: Any = line.get_color()
            axes.fill_between(
                self.periods, scale * bottom[:, place], scale * top[:, place], color=color, alpha=0.2, linewidth=0
            )
            axes.plot(self.periods, scale * self.values[:, place], ".", color=color, markersize=2, alpha=0.6)
            for change in changes:
                if change.answer == self.labels[place]:
                    axes.axvline(change.since, color=color, linestyle=":", linewidth=1)
        axes.set_xlabel("period")
        axes.set_ylabel("% of people" if self.measure == "share" else self.measure)
        axes.legend(fontsize="small", frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        return axes


def _reach(confidence: float) -> float:
    confidence_each(confidence, 1)
    return NormalDist().inv_cdf((1 + confidence) / 2)


def trend(mechanism: Mechanism, tallies: Mapping[int, Tally]) -> Trend:
    """The trend of a question from its tallies, by the number of their period.

    >>> import deniable as dn
    >>> mechanism = dn.DirectResponse(dn.Categories(["yes", "no"]), 2.0)
    >>> one = mechanism.tally(mechanism.perturb(["yes"] * 300 + ["no"] * 700, dn.SeededCoins(1)))
    >>> dn.trend(mechanism, {day: one for day in range(5)}).changes()
    []
    """
    if not tallies:
        raise EmptyBatch("A trend needs the tallies of at least one period.")
    periods = sorted(tallies)
    return trend_of(mechanism, periods, [mechanism.estimate(tallies[period]) for period in periods])


def trend_of(mechanism: Mechanism, periods: Sequence[int], estimates: Sequence[Estimate]) -> Trend:
    """The trend of a question from an estimate for each period."""
    first = estimates[0]
    if first.variance is None:
        raise InvalidParameter("A trend needs estimates with their variance. Do not clean them first.")
    values = np.array([each.values for each in estimates])
    reports = np.array([each.n for each in estimates])
    # Variances that are known up to a share which is itself estimated: all periods together say it best.
    whole = [_for_people(each) for each in estimates]
    people = np.array([part * each.n for part, each in zip(whole, estimates, strict=True)]).mean(axis=0)
    own = np.array([_kept(mechanism, each, part) * each.n for part, each in zip(whole, estimates, strict=True)]).mean(axis=0)
    variance, kept = people / reports[:, None], np.minimum(own, people) / reports[:, None]
    return Trend(first.labels, first.measure, np.array(periods), reports, values, variance, kept)


def _for_people(estimate: Estimate) -> Floats:
    """The variance for the population; that of a mean is for it anyway."""
    found = estimate.for_population() if estimate.measure == "share" else estimate
    assert found.variance is not None
    return np.maximum(found.variance, 0.0)


def _kept(mechanism: Mechanism, estimate: Estimate, whole: Floats) -> Floats:
    """The part of the whole variance that later periods share."""
    assert estimate.variance is not None
    if not isinstance(mechanism, Permanent):
        return np.zeros(len(estimate.values))
    return np.maximum(mechanism.kept_variance(estimate), 0.0) + whole - np.maximum(estimate.variance, 0.0)
