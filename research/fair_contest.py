"""Contests in which every learner gets the same care: the same settings to choose from, chosen in the same way.

For each budget, every learner is trained with every setting of one common grid on a part of the training people and judged
on another part of them, with seeds of their own. It then enters with the setting that was best there, and is scored with
fresh seeds on people who took no part in the choice. Leads are differences between learners trained with the same seeds;
one whose 95 % interval holds zero is a tie. The choice itself looks at the training people several times: it is not
covered by the certified epsilon, of ours or of the others, and the table says how many trainings it took.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from research.contest import Score
from research.papers.figure import Pace

SELECTING, FRESH = 1_000_000, 0  # where the seeds of the choice and of the scores begin
Setting = Mapping[str, str]
Train = Callable[[Setting, float, int, bool], tuple[float, float]]


@dataclass(frozen=True)
class Fair:
    """A learner: `train(setting, epsilon, seed, choosing)` returns a score and the certified epsilon.

    While choosing, it must be scored on training people only. `paper` is empty for our own learners.
    """

    name: str
    train: Train
    paper: str = ""
    allows: Callable[[Setting], bool] = field(default=lambda _: True, compare=False)


@dataclass(frozen=True)
class Entry:
    """How a learner did at one budget: the setting it chose, its scores with fresh seeds, and its certified epsilon."""

    learner: Fair
    epsilon: float
    setting: Setting
    scores: Sequence[float]
    certified: float
    tried: int  # trainings that the choice took

    @property
    def score(self) -> Score:
        return Score.of(self.scores)


def entered(
    learner: Fair, grid: Sequence[Setting], epsilon: float, selecting: int, fresh: int, pace: Pace | None = None
) -> Entry:
    """Choose the setting, then score it."""
    pace = pace or Pace()
    settings = [setting for setting in grid if learner.allows(setting)]

    def once(setting: Setting, seed: int, choosing: bool) -> list[float]:
        what = (learner.name, sorted(setting.items()), epsilon, seed, choosing)
        return pace.part(lambda: list(learner.train(setting, epsilon, seed, choosing)), "fair contest", *what)

    def chosen(setting: Setting) -> float:
        return Score.of([once(setting, SELECTING + number, True)[0] for number in range(selecting)]).mean

    best = max(settings, key=chosen) if len(settings) > 1 else settings[0]
    trials = [once(best, FRESH + number, False) for number in range(fresh)]
    scores = [score for score, _ in trials]
    return Entry(learner, epsilon, best, scores, max(loss for _, loss in trials), len(settings) * selecting)


@dataclass(frozen=True)
class Lead:
    """How far one entry is ahead of another, trained with the same seeds."""

    first: Entry
    second: Entry

    @property
    def score(self) -> Score:
        return Score.of([a - b for a, b in zip(self.first.scores, self.second.scores, strict=True)])

    @property
    def words(self) -> str:
        """Who is ahead, or that it is a tie.

        >>> learner = Fair("A", lambda *_: (0.0, 1.0)), Fair("B", lambda *_: (0.0, 1.0), "somebody")
        >>> one, two = (Entry(each, 1.0, {}, scores, 1.0, 0) for each, scores in zip(learner, ([3.0, 5.0], [3.0, 4.0])))
        >>> Lead(one, two).words
        'tie'
        """
        found = self.score
        if abs(found.mean) <= found.reach:
            return "tie"
        return f"{(self.first if found.mean > 0 else self.second).learner.name} leads"


def best_of(entries: Sequence[Entry], ours: bool) -> Entry:
    """Our best entry, or the rivals'. Taken by its score, which flatters both sides alike."""
    return max((each for each in entries if (each.learner.paper == "") == ours), key=lambda each: each.score.mean)


def markdown(title: str, measure: str, entries: Sequence[Entry]) -> list[str]:
    """A table of all entries, and one of the leads of our best over the best rival."""
    lines = [
        f"**{title}**, {measure} in percent, mean of {len(entries[0].scores)} fresh trainings and its 95 % interval",
        "",
        f"| epsilon | certified | learner | from | chosen setting | trainings to choose | {measure} |",
        "|--:|--:|---|---|---|--:|--:|",
    ]
    for each in entries:
        setting = ", ".join(f"{key} {value}" for key, value in each.setting.items())
        whose = each.learner.paper or "ours"
        lines.append(
            f"| {each.epsilon:g} | {each.certified:.3g} | {each.learner.name} | {whose} | {setting} | {each.tried} | "
            f"{each.score.text(100, 1)} |"
        )
    lines += ["", "| epsilon | our best | best rival | lead in points | verdict |", "|--:|---|---|--:|---|"]
    for epsilon in dict.fromkeys(each.epsilon for each in entries):
        own = [each for each in entries if each.epsilon == epsilon]
        lead = Lead(best_of(own, True), best_of(own, False))
        lines.append(
            f"| {epsilon:g} | {lead.first.learner.name} | {lead.second.learner.name} | {lead.score.text(100, 1)} | "
            f"{lead.words} |"
        )
    return [*lines, ""]
