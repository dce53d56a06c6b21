"""Contests in which every learner gets the same care: the same settings to choose from, chosen in the same way.

For each budget, every learner is trained with every setting of one common grid on a part of the training people and judged
on another part of them, with seeds of their own. It then enters with the setting that was best there, and is scored with
fresh seeds on people who took no part in the choice. Leads are differences between learners trained with the same seeds;
one whose 95 % interval holds zero is a tie. The choice itself looks at the training people several times: it is not
covered by the certified epsilon, of ours or of the others, and the table says how many trainings it took.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from research.contest import Score
from research.data.folder import Data
from research.papers.figure import Pace

SELECTING, FRESH = 1_000_000, 0  # where the seeds of the choice and of the scores begin
Setting = Mapping[str, str]
Train = Callable[[Setting, float, int, bool], tuple[float, float]]


@dataclass(frozen=True)
class Fair:
    """A learner: `train(setting, epsilon, seed, choosing)` returns a score and the certified epsilon.

    While choosing, it must be scored on training people only. `paper` is empty for our own learners. One that is not
    `tuned` has none of the settings of the grid, and nothing to choose.
    """

    name: str
    train: Train
    paper: str = ""
    tuned: bool = True


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
    settings: Sequence[Setting] = grid if learner.tuned else [{}]

    def once(setting: Setting, seed: int, choosing: bool) -> list[float]:
        what = (learner.name, sorted(setting.items()), epsilon, seed, choosing)
        return pace.part(lambda: list(learner.train(setting, epsilon, seed, choosing)), "fair contest", *what)

    def chosen(setting: Setting) -> float:
        return Score.of([once(setting, SELECTING + number, True)[0] for number in range(selecting)]).mean

    best = max(settings, key=chosen) if len(settings) > 1 else settings[0]
    trials = [once(best, FRESH + number, False) for number in range(fresh)]
    scores = [score for score, _ in trials]
    tried = len(settings) * selecting if len(settings) > 1 else 0
    return Entry(learner, epsilon, best, scores, max(loss for _, loss in trials), tried)


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


@dataclass(frozen=True)
class FairContest:
    """Learners on one data set, the settings that each of them may choose from, and the budgets."""

    title: str
    measure: str  # a share, of which more is better
    learners: Sequence[Fair]
    grid: Sequence[Setting]
    budgets: Sequence[float]

    def run(self, selecting: int, fresh: int, pace: Pace | None = None) -> list[Entry]:
        """All entries, by budget."""
        cases = [(epsilon, each) for epsilon in self.budgets for each in self.learners]
        pace = pace or Pace()
        return [entered(each, self.grid, epsilon, selecting, fresh, pace) for epsilon, each in pace.over(cases)]


def fair_command(
    result: Path, head: str, contests: Callable[[Data], Iterable[FairContest]], selecting: int = 2, fresh: int = 10
) -> click.Command:
    """A command that runs contests and writes their page; `head` may name {selecting} and {fresh}."""

    @click.command()
    @click.option("--data", type=click.Path(path_type=Path), help="The folder of real data.")
    @click.option("--kept", type=click.Path(path_type=Path), help="A folder for trainings, to resume a run.")
    @click.option("--selecting", default=selecting, show_default=True, help="Trainings of each setting for the choice.")
    @click.option("--fresh", default=fresh, show_default=True, help="Fresh trainings of each learner.")
    @click.option("--only", default="", help="Only contests whose title contains this.")
    def main(data: Path | None, kept: Path | None, selecting: int, fresh: int, only: str) -> None:
        """Choose settings on training people, then compare learners with fresh seeds."""
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
        text = [*head.format(selecting=selecting, fresh=fresh).splitlines(), ""]
        for contest in contests(Data(data)):
            if only in contest.title:
                text += markdown(contest.title, contest.measure, contest.run(selecting, fresh, Pace(kept=kept)))
        click.echo("\n".join(text))
        if data is not None and not only:
            result.write_text("\n".join(text), encoding="utf-8")

    return main


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
        setting = ", ".join(f"{key} {value}" for key, value in each.setting.items()) or "-"
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
