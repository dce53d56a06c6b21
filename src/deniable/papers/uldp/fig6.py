"""Fig. 6: the error when the open share comes from a pilot, beside that when it is known."""

from typing import TYPE_CHECKING

import numpy as np

from deniable.domains import Categories
from deniable.mechanisms import SubsetSelection
from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed, coins_for
from deniable.papers.histograms import STATED, Histogram, histogram
from deniable.papers.uldp.mechanisms import EPSILONS, FAMILIES, FEW, measure
from deniable.papers.uldp.pilot import PILOT, measured_share, published_pilot
from deniable.wrappers.pilot import Pilot
from deniable.wrappers.published import PublishedUtility

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("uldp/fig6", "ULDP", "error with an open share from a pilot, and with the true one", seconds=15, minutes=20)
COLUMNS = ("data", "epsilon", "mechanism", "n x MSE, pilot", "standard error", "n x MSE, known")
PEOPLE = 20_000, 200_000
OURS = "uSS lean, merged"


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """The paper discards the pilot's answers; ours are kept."""
    rows, notes = [], []
    people, repeats = pace.times(quick, *PEOPLE), pace.times(quick, 5, 50)
    for name in pace.over(list(STATED)):
        held = histogram(data, name, seed)
        notes.append(held.note)
        for epsilon in FEW if quick else EPSILONS:
            for each in (*FAMILIES, OURS):
                step = merged if each == OURS else discarded
                errors = np.array([step(held, each, epsilon, people, seed, number) for number in range(repeats)])
                known = measure(held, "uSS lean" if each == OURS else each, epsilon, people, repeats, seed)
                spread = float(errors.std(ddof=1) / np.sqrt(repeats)) if repeats > 1 else float("nan")
                rows.append((name, epsilon, each, float(errors.mean()), spread, known.exact))
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    extra = {
        each: float(
            np.mean(table.numbers("n x MSE, pilot", mechanism=each) / table.numbers("n x MSE, known", mechanism=each))
        )
        for each in (*FAMILIES, OURS)
    }
    checks = [
        claimed(
            f"{each} with a pilot is within a quarter of knowing the share ({extra[each]:.3f} times the error)",
            extra[each] < 1.25,
            "a pilot of so few people misses the share",
        )
        for each in FAMILIES
    ]
    checks.append(
        claimed(
            "keeping the pilot's answers costs no more than discarding them", extra[OURS] <= extra["uSS"] + 0.05, "of chance"
        )
    )
    return Result(COLUMNS, rows, tuple(checks), tuple(notes))


def discarded(held: Histogram, name: str, epsilon: float, people: int, seed: int, number: int) -> float:
    """n times the total error of the last 95 %, asked as the first 5 % suggest; n counts all."""
    share = measured_share(published_pilot(held, name, epsilon), held, people, seed, number)
    counts = held.scaled(people)
    answers = np.repeat(np.arange(len(counts)), counts)
    coins = coins_for(seed, "rest", held.name, name, epsilon, number)
    rest = answers[np.argsort(coins.below(1 << 50, len(answers)), kind="stable")[round(PILOT * len(answers)) :]]
    made = PublishedUtility.recommended(
        FAMILIES[name], Categories(range(len(counts))), held.sensitive, epsilon, round(share, 4)
    )
    found = made.estimate(made.tally(made.perturb(rest, coins))).values
    own = np.bincount(rest, minlength=len(counts)) / len(rest)  # its error is about the people who were asked
    return float(len(answers) * ((found - own) ** 2).sum())


def merged(held: Histogram, name: str, epsilon: float, people: int, seed: int, number: int) -> float:
    """The same with our pilot, whose answers count."""
    counts = held.scaled(people)
    answers, truth = np.repeat(np.arange(len(counts)), counts), counts / counts.sum()
    coins = coins_for(seed, "merged", held.name, epsilon, number)
    order = np.argsort(coins.below(1 << 50, len(answers)), kind="stable")
    first, rest = np.split(answers[order], [round(PILOT * len(answers))])
    pilot = Pilot(SubsetSelection, Categories(range(len(counts))), list(held.sensitive), epsilon)
    early = pilot.first.tally(pilot.first.perturb(first, coins))
    second = pilot.rest(early)
    found = pilot.estimate(early, second.tally(second.perturb(rest, coins))).values
    return float(len(answers) * ((found - truth) ** 2).sum())


def plot(result: Result) -> "pictures.Figure":
    """One panel for each data set."""
    return style.panels(result, "epsilon", "n x MSE, pilot", "mechanism", "data", "standard error", log="y")
