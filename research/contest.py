"""Contests of private learners that hide nothing: what was claimed, what is certified, and what is left to learn.

Every training is repeated, and the table gives for each learner and budget the epsilon it claims and the one that is
certified, the mean score with its confidence interval, what learning without privacy reaches (the ceiling), what knowing
nothing reaches (the floor), and what the paper says, where it says something.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.core.loss import PrivacyLoss
from deniable.core.odds import checked_epsilon
from deniable.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Student's t for a two-sided interval of 95 %, for 1, 2, 3, ... degrees of freedom; a little wide beyond.
_STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
    2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """One training: its score on data that it has not seen, and its exact loss of privacy."""

    score: float
    loss: PrivacyLoss


@dataclass(frozen=True)
class Entrant:
    """A learner in a contest: `train(epsilon, seed)` trains it once and scores it.

    `paper` says whose it is, and is empty for our own; `says` is what the paper says of it, by the epsilon it claims.
    """

    name: str
    train: Callable[[float, int], Trial]
    paper: str = ""
    says: Mapping[float, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """The mean of some scores, with the 95 % confidence interval that Student's t gives; no interval for a single one."""

    mean: float
    reach: float
    repeats: int

    @classmethod
    def of(cls, scores: Sequence[float]) -> "Score":
        """The scores of several trainings, summed up.

        >>> Score.of([0.5, 0.7])
        Score(mean=0.6, reach=1.2706, repeats=2)
        """
        if not scores or not all(math.isfinite(score) for score in scores):
            raise InvalidParameter("A score is the mean of finite numbers, at least one.")
        n, mean = len(scores), statistics.fmean(scores)
        if n == 1:
            return cls(mean, math.nan, 1)
        wide = _STUDENT[min(n - 1, len(_STUDENT)) - 1]
        return cls(mean, round(wide * statistics.stdev(scores) / math.sqrt(n), 12), n)

    def text(self, scale: float, digits: int) -> str:
        """The mean and its interval as text."""
        mean = f"{scale * self.mean:.{digits}f}"
        return mean if math.isnan(self.reach) else f"{mean} ± {scale * self.reach:.{digits}f}"


@dataclass(frozen=True)
class Standing:
    """How one learner did at one budget."""

    name: str
    paper: str
    claimed: float
    loss: PrivacyLoss
    score: Score
    says: str = ""

    @cached_property
    def certified(self) -> float:
        """The epsilon that is certain; what is compared with others'."""
        return self.loss.epsilon()

    @property
    def holds(self) -> bool:
        """Whether the certified epsilon is within the claimed one."""
        return self.certified <= self.claimed

    @property
    def stands_at(self) -> float:
        """The epsilon at which it is compared: the claimed one where the certified one is the same but for rounding."""
        return self.claimed if 0.999 * self.claimed < self.certified <= self.claimed else self.certified


@dataclass(frozen=True)
class Contest:
    """Learners on one data set, at the same budgets.

    `ceiling(seed)` scores learning without any privacy, `floor(seed)` without any data on the people. `measure` is
    "accuracy", "AUC" or "RMSE"; of the last, less is better. `about` describes the people and the unit of epsilon.
    """

    title: str
    measure: str
    budgets: Sequence[float]
    entrants: Sequence[Entrant]
    ceiling: Callable[[int], float]
    floor: Callable[[int], float]
    about: str = ""

    def __post_init__(self) -> None:
        if self.measure not in ("accuracy", "AUC", "RMSE"):
            raise InvalidParameter('A contest is judged by "accuracy", "AUC" or "RMSE".')
        if not self.budgets or not self.entrants:
            raise InvalidParameter("A contest needs at least one learner and one epsilon.")
        if len({each.name for each in self.entrants}) != len(self.entrants):
            raise InvalidParameter("The learners of a contest have names of their own.")
        for epsilon in self.budgets:
            checked_epsilon(epsilon)

    @property
    def higher(self) -> bool:
        """Whether a higher score is better."""
        return self.measure != "RMSE"

    def run(self, repeats: int, seed: int = 0, progress: Callable[[float], None] | None = None) -> "Standings":
        """Train everything `repeats` times; `progress` is called with the share that is done.

        The k-th training of each learner has the same seed, so that the data are divided in the same way for all.
        """
        if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
            raise InvalidParameter("A contest is repeated a whole number of times, at least once.")
        seeds = [1000 * seed + k for k in range(repeats)]
        total, done, rows = len(self.budgets) * len(self.entrants) * repeats, 0, []
        ceiling = Score.of([self.ceiling(each) for each in seeds])
        floor = Score.of([self.floor(each) for each in seeds])
        for epsilon in self.budgets:
            for entrant in self.entrants:
                trials = []
                for each in seeds:
                    trials.append(entrant.train(epsilon, each))
                    done += 1
                    if progress is not None:
                        progress(done / total)
                worst = max((trial.loss for trial in trials), key=lambda loss: loss.epsilon())
                score = Score.of([trial.score for trial in trials])
                says = entrant.says.get(epsilon, "")
                rows.append(Standing(entrant.name, entrant.paper, float(epsilon), worst, score, says))
        return Standings(self.title, self.measure, self.higher, ceiling, floor, rows, self.about)


@dataclass(frozen=True)
class Standings:
    """The outcome of a contest."""

    title: str
    measure: str
    higher: bool
    ceiling: Score
    floor: Score
    rows: Sequence[Standing]
    about: str = ""

    def best(self, epsilon: float, ours: bool) -> Standing | None:
        """The best of our learners, or of those of papers, among those whose certified epsilon is at most this."""
        return self._first([row for row in self.rows if row.certified <= epsilon and bool(row.paper) != ours])

    def _first(self, rows: Sequence[Standing]) -> Standing | None:
        return max(rows, key=lambda row: row.score.mean if self.higher else -row.score.mean, default=None)

    def lead(self, epsilon: float) -> float:
        """By how much our best beats the best of the papers at this certified epsilon; infinite if none keeps it."""
        ours, theirs = self.best(epsilon, True), self.best(epsilon, False)
        if ours is None:
            raise InvalidParameter("No learner of ours keeps this epsilon.")
        if theirs is None:
            return math.inf
        return (ours.score.mean - theirs.score.mean) * (1 if self.higher else -1)

    def leads(self) -> dict[float, float]:
        """`lead` at every epsilon at which a learner of a paper stands: the one it claims, or its certified one if that
        is another by more than a thousandth, which is what budgets lose by being rounded down.
        """
        known = [row for row in self.rows if row.paper and row.loss.odds is not None]
        return {epsilon: self.lead(epsilon) for epsilon in sorted({row.stands_at for row in known})}

    def markdown(self) -> str:
        """The table, with the ceiling and the floor above it."""
        scale, digits = (100.0, 1) if self.higher else (1.0, 3)
        unit = " in percent" if self.higher else ", less is better"
        lines = [f"**{self.title}**: {self.about}" if self.about else f"**{self.title}**", ""]
        lines += [
            f"{self.measure}{unit}, mean of {self.ceiling.repeats} trainings and its 95 % interval; without privacy "
            f"{self.ceiling.text(scale, digits)}, without any data {self.floor.text(scale, digits)}.",
            "",
            f"| claimed epsilon | certified epsilon | learner | from | {self.measure} | proof | the paper says |",
            "|--:|--:|---|---|--:|---|---|",
        ]
        for row in self.rows:
            certified = "nothing" if row.loss.odds is None else f"{row.certified:.4g}"
            shown = certified if row.holds else f"**{certified}**"
            rivals = [
                each
                for each in self.rows
                if each.holds and each.claimed == row.claimed and bool(each.paper) == bool(row.paper)
            ]
            best = row is self._first(rivals)
            score = row.score.text(scale, digits)
            lines.append(
                f"| {row.claimed:g} | {shown} | {row.name} | {row.paper or 'ours'} | {f'**{score}**' if best else score} | "
                f"{row.loss.proof} | {row.says or '-'} |"
            )
        return "\n".join([*lines, ""])

    def summary(self) -> str:
        """A smaller table: a line for each learner, a column for each epsilon, certified unless it says otherwise."""
        scale, digits = (100.0, 1) if self.higher else (1.0, 3)
        budgets = list(dict.fromkeys(row.claimed for row in self.rows))
        unit = "in percent" if self.higher else "less is better"
        ends = f"{self.measure} {self.ceiling.text(scale, digits)} without privacy, {self.floor.text(scale, digits)}"
        lines = [
            f"{self.title}, {self.about.rstrip('.')}; {ends} without any data ({unit}):"
            if self.about
            else f"{self.title}; {ends}:",
            "",
            "| learner | from | " + " | ".join(f"epsilon {epsilon:g}" for epsilon in budgets) + " |",
            "|---|---|" + "--:|" * len(budgets),
        ]
        for name in dict.fromkeys(row.name for row in self.rows):
            own = {row.claimed: row for row in self.rows if row.name == name}
            cells = [own[epsilon].score.text(scale, digits) for epsilon in budgets]
            known = all(row.loss.odds is not None for row in own.values())
            paper = next(iter(own.values())).paper or "ours"
            more = paper != "ours" and not all(row.holds for row in own.values())
            broken = (" (**more than it claims**)" if more else "") if known else " (**nothing is promised**)"
            lines.append(f"| {name}{broken} | {paper} | {' | '.join(cells)} |")
            if known and any(row.stands_at != row.claimed for row in own.values()):
                limits = [f"{own[epsilon].certified:.4g}" for epsilon in budgets]
                limits = [
                    each if own[epsilon].holds else f"**{each}**" for each, epsilon in zip(limits, budgets, strict=True)
                ]
                lines.append(f"| its certified epsilon | | {' | '.join(limits)} |")
        return "\n".join([*lines, ""])

    def plot(self) -> "Figure":
        """Scores over the certified epsilon, with their intervals, between the ceiling and the floor."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtra("A plot", "plot") from None
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.subplots()
        for name in dict.fromkeys(row.name for row in self.rows):
            own = sorted((row for row in self.rows if row.name == name), key=lambda row: row.certified)
            known = [row for row in own if row.loss.odds is not None]
            if known:
                reach = [0.0 if math.isnan(row.score.reach) else row.score.reach for row in known]
                style = "--s" if known[0].paper else "-o"
                places, means = [row.certified for row in known], [row.score.mean for row in known]
                axes.errorbar(places, means, reach, fmt=style, capsize=3, markersize=4, label=name)
        for label, score in (("without privacy", self.ceiling), ("without any data", self.floor)):
            axes.axhline(score.mean, color="grey", linestyle=":")
            axes.annotate(label, (0.01, score.mean), xycoords=("axes fraction", "data"), va="bottom", fontsize=8)
        axes.set(xscale="log", xlabel="certified epsilon", ylabel=self.measure, title=self.title)
        axes.legend(fontsize=8)
        return figure
