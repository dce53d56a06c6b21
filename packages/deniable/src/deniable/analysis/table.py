"""A cross-table: the share of people with each combination of answers to two or three questions, with its errors."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.analysis.correlation import Correlation, table_correlation
from deniable.analysis.independence import independence_test, summing
from deniable.analysis.outcome import TestOutcome
from deniable.arrays import Bools, Floats
from deniable.core import Estimate, confidence_each
from deniable.core.showing import Tabular, axes_for, html_table
from deniable.domains.categories import NO_ANSWER
from deniable.errors import InvalidParameter
from deniable.planning.ranking import aligned
from deniable.postprocess.norm_sub import norm_sub

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CELLS = 1024
Covariance = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Table(Tabular):
    """Shares of combinations of answers among n people, unbiased: single ones may lie below 0.

    Errors are about these people and come from the privacy noise; `for_population` adds that of having asked only them.
    Tests and models are about the population in any case. `law` is the covariance of the shares of people drawn from a
    population with given shares.
    """

    questions: tuple[str, ...]
    answers: tuple[Sequence[Any], ...]
    shares: Floats
    n: int
    law: Covariance = field(repr=False)
    population: bool = False

    def covariance(self) -> Floats:
        """The covariance of all cells, row by row."""
        whole = self.law(self.shares)
        if self.population:
            return whole
        flat = self.shares.ravel()
        return whole - (np.diag(flat) - np.outer(flat, flat)) / self.n

    @property
    def estimate(self) -> Estimate:
        """The cells as an estimate; labels are combinations of answers."""
        labels: Any = list(itertools.product(*self.answers))
        return Estimate(labels, self.shares.ravel(), np.diag(self.covariance()).copy(), self.n, self.covariance)

    @property
    def standard_error(self) -> Floats:
        """The standard error of each cell."""
        return self.estimate.standard_error.reshape(self.shares.shape)

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends of normal confidence intervals, each in the shape of the table."""
        low, high = self.estimate.interval(confidence, together)
        return low.reshape(self.shares.shape), high.reshape(self.shares.shape)

    def noisy(self, confidence: float = 0.95) -> Bools:
        """Which cells cannot be distinguished from zero."""
        return self.interval(confidence)[0] <= 0

    def for_population(self) -> "Table":
        """The same table as an estimate for the people that the reporters were drawn from."""
        return replace(self, population=True)

    def margins(self) -> dict[str, Estimate]:
        """The shares of each question alone."""
        return {name: self._summed([axis]) for axis, name in enumerate(self.questions)}

    def _summed(self, axes: Sequence[int]) -> Estimate:
        """The shares of some of the questions, summed over the others."""
        onto = summing(self.shares.shape, axes)
        labels: Any = list(itertools.product(*(self.answers[axis] for axis in axes)))
        if len(axes) == 1:
            labels = list(self.answers[axes[0]])

        def covary() -> Floats:
            return onto @ self.covariance() @ onto.T

        return Estimate(labels, onto @ self.shares.ravel(), np.diag(covary()).copy(), self.n, covary)

    def pair(self, *questions: str) -> "Table":
        """The table of two of three questions, or of the same questions in another order."""
        axes = [self._axis(name) for name in questions]
        if len(set(axes)) != len(axes) or len(axes) < 2:
            raise InvalidParameter("A table needs two different questions.")
        whole, order = self.shares, np.argsort(np.argsort(axes))
        size = [whole.shape[axis] for axis in sorted(axes)]
        onto = summing(whole.shape, axes)[np.arange(np.prod(size)).reshape(size).transpose(order).ravel()]
        shares = (onto @ whole.ravel()).reshape(tuple(whole.shape[axis] for axis in axes))
        others = tuple(set(range(whole.ndim)) - set(axes))

        def law(given: Floats) -> Floats:
            joint = whole
            if given is not shares:  # as if the third question had the same shares within every combination of the two
                own = np.expand_dims(given.transpose(np.argsort(order)), others)
                joint = own * np.expand_dims(whole.sum(axis=tuple(axes)), tuple(sorted(axes)))
            return onto @ self.law(joint) @ onto.T

        names, answers = tuple(self.questions[axis] for axis in axes), tuple(self.answers[axis] for axis in axes)
        return replace(self, questions=names, answers=answers, shares=shares, law=law)

    def _axis(self, question: str) -> int:
        if question not in self.questions:
            raise InvalidParameter(f"This table has the questions {', '.join(map(repr, self.questions))}.")
        return self.questions.index(question)

    def without(self, question: str, answer: object) -> "Table":
        """The table of the people who did not give this answer, such as silence: shares among those who are left."""
        axis = self._axis(question)
        labels = list(self.answers[axis])
        if answer not in labels or len(labels) < 3:
            raise InvalidParameter("Leave out one of the answers of the question, where at least two others are left.")
        place = labels.index(answer)
        kept = np.delete(np.arange(self.shares.size).reshape(self.shares.shape), place, axis).ravel()
        shape = tuple(size - (each == axis) for each, size in enumerate(self.shares.shape))
        part = self.shares.ravel()[kept]
        total = float(part.sum())
        if total <= 0:
            raise InvalidParameter("Hardly anybody gave another answer, so there is no table of the others.")

        def law(shares: Floats) -> Floats:
            whole = self.shares.ravel().copy()
            whole[kept] = shares.ravel() * total
            slope = np.zeros((len(kept), self.shares.size))
            slope[:, kept] = (np.eye(len(kept)) - np.outer(shares.ravel(), np.ones(len(kept)))) / total
            return slope @ self.law(whole.reshape(self.shares.shape)) @ slope.T

        answers = tuple([a for a in each if place_ != axis or a != answer] for place_, each in enumerate(self.answers))
        return replace(self, answers=answers, shares=(part / total).reshape(shape), n=max(1, round(self.n * total)), law=law)

    def cleaned(self) -> Floats:
        """The closest shares that are not negative and sum to one; no longer unbiased."""
        return norm_sub(self.estimate).values.reshape(self.shares.shape)

    def test(self, method: str = "wald", silence: bool = False) -> TestOutcome:
        """Whether the questions are independent in the population: statistic, p-value and Cramer's V, corrected for noise.

        Silence is refused as an answer, unless `silence` says that it is to be one.
        """
        if not silence:
            self._refuse_silence()
        return independence_test(self.shares, self.law, self.n, method)

    def correlation(self, ranks: bool = False, confidence: float = 0.95) -> Correlation:
        """The correlation of two questions whose answers are numbers, or of the ranks of their answers."""
        self._refuse_silence()
        return table_correlation(self.shares, self.answers, self.law, self.n, ranks, confidence)

    def _refuse_silence(self) -> None:
        for question, answers in zip(self.questions, self.answers, strict=True):
            if NO_ANSWER in answers:
                raise InvalidParameter(
                    f"Some people skipped {question!r}, and their silence is an answer in this table. Leave them out: "
                    f"table.without({question!r}, {NO_ANSWER!r})."
                )

    def rows(self, confidence: float = 0.95) -> list[dict[str, object]]:
        """A row for each cell: the answers, the share, its standard error and interval."""
        low, high = self.interval(confidence)
        numbers = zip(self.shares.ravel(), self.standard_error.ravel(), low.ravel(), high.ravel(), strict=True)
        names = ("share", "standard_error", "low", "high")
        return [
            {**dict(zip(self.questions, answers, strict=True)), **dict(zip(names, map(float, own), strict=True))}
            for answers, own in zip(itertools.product(*self.answers), numbers, strict=True)
        ]

    def columns(self, confidence: float = 0.95) -> dict[str, list[object]]:
        """The same rows, column by column."""
        rows = self.rows(confidence)
        return {name: [row[name] for row in rows] for name in rows[0]}

    def __str__(self) -> str:
        return self.text()

    def text(self, confidence: float = 0.95) -> str:
        """The table in percent, with the reach of each interval; a star marks cells that may be empty."""
        lines, note = self._lines(confidence)
        return aligned(lines) + "\n" + note

    def _lines(self, confidence: float) -> tuple[list[list[str]], str]:
        confidence_each(confidence, 1)
        reach, noisy = self.interval(confidence)[1] - self.shares, self.noisy(confidence)
        whose = "the population" if self.population else f"these {self.n:,} people"
        note = f"% of {whose}, {confidence:.0%} intervals" + ("; * may be zero" if noisy.any() else "")
        return grid(self.questions, self.answers, self.shares, reach, noisy), note

    def _repr_html_(self) -> str:
        lines, note = self._lines(0.95)
        return html_table("", lines[0], lines[1:], note=note)

    def plot(self, confidence: float = 0.95, ax: "Axes | None" = None) -> "Axes":
        """Shaded cells with their shares; those that may be zero are grey. Columns are the last question."""
        shares, noisy = (each.reshape(-1, self.shares.shape[-1]) for each in (100 * self.shares, self.noisy(confidence)))
        rows = [", ".join(map(str, labels)) for labels in itertools.product(*self.answers[:-1])]
        columns = [str(each) for each in self.answers[-1]]
        axes = axes_for(ax, 2.5 + 0.9 * len(columns), 1.5 + 0.5 * len(rows))
        axes.imshow(np.where(noisy, np.nan, shares), cmap="Blues", vmin=0, vmax=float(shares.max()), aspect="auto")
        axes.set_facecolor("#dddddd")
        for place in np.ndindex(shares.shape):
            dark = not noisy[place] and shares[place] > shares.max() * 0.6
            colour = "white" if dark else "#222222"
            axes.text(place[1], place[0], f"{shares[place]:.1f}", ha="center", va="center", color=colour)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_xlabel(self.questions[-1])
        axes.set_ylabel(", ".join(self.questions[:-1]))
        axes.set_title(f"% of {self.n:,} people; grey: may be zero", fontsize="medium")
        return axes


def grid(
    questions: Sequence[str], answers: Sequence[Sequence[Any]], shares: Floats, reach: Floats, noisy: Bools
) -> list[list[str]]:
    """The cells of a table as text, below headings: percent, reach of the interval, a star if it may be zero."""
    columns = [str(each) for each in answers[-1]]
    lines = [[" / ".join(questions), *columns]]
    for place, labels in enumerate(itertools.product(*answers[:-1])):
        cells = zip(*(each.reshape(-1, len(columns))[place] for each in (shares, reach, noisy)), strict=True)
        shown = [f"{100 * share:.1f} +- {100 * own:.1f}{'*' if star else ' '}" for share, own, star in cells]
        lines.append([", ".join(map(str, labels)), *shown])
    return lines
