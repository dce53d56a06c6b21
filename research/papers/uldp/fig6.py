"""Fig. 6: the error when the open share comes from a pilot, beside that when it is known."""

from functools import partial

import numpy as np

from deniable import SubsetSelection
from deniable.domains import Categories
from deniable.wrappers.pilot import Pilot
from research.data.folder import Data
from research.data.histograms import STATED, Histogram, histogram
from research.papers import style
from research.papers.figure import ALL, Figure, Pace, Result, Row, near, set_up
from research.papers.uldp.collect import asked, collector
from research.papers.uldp.mechanisms import EPSILONS, FAMILIES, FEW, FEWER_MANY, MANY, PEOPLE
from research.papers.uldp.pilot import PILOT, divided, published_pilot, shown_share

WHAT = "error with an open share from a pilot, and with the true one"
FIGURE = Figure("uldp/fig6", "ULDP", WHAT, seconds=13, minutes=4.5, limit=FEWER_MANY)
COLUMNS = ("data", "epsilon", "mechanism", "n x MSE, pilot", "standard error", "n x MSE, known")
OURS = "uSS lean, merged"


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """The paper discards the pilot's answers; ours are kept."""
    rows, notes = list[Row](), []
    people, repeats = pace.times(quick, PEOPLE, MANY), pace.times(quick, 5, 50)
    for name in pace.over(list(STATED)):
        held = histogram(data, name, seed)
        notes.append(held.note)
        for epsilon in FEW if quick else EPSILONS:
            for each in (*FAMILIES, OURS):
                what = (held, each, epsilon, people, repeats, seed)
                rows += pace.part(partial(compared, *what), FIGURE.name, held.note, *what[1:])
    table = Result(COLUMNS, rows)
    extra = {each: over_known(table, each) for each in (*FAMILIES, OURS)}
    lost = 1 / (1 - PILOT)
    checks = tuple(
        near(
            f"{each}: error with a pilot over that with the true share, on average",
            "1",
            extra[each][0],
            f"a twentieth of the answers is discarded, a factor of {lost:.3f} alone, and the pilot misses the share",
            extra[each][1],
            sure=False,
        )
        for each in FAMILIES
    )
    better = (
        f"a pilot whose answers are kept: {extra[OURS][0]:.3f} +- {extra[OURS][1]:.3f} times the error with the true share",
    )
    return Result(COLUMNS, rows, checks, tuple(notes), improved=better, setup=set_up(notes, other=True, smaller=True))


def compared(held: Histogram, name: str, epsilon: float, people: int, repeats: int, seed: int) -> list[Row]:
    """One mechanism at one budget, with a pilot and with the true share."""
    truth = held.scaled(people) / held.scaled(people).sum()
    share, step = 1 - float(truth[list(held.sensitive)].sum()), merged if name == OURS else discarded
    errors = np.array([step(held, name, epsilon, people, seed, number) for number in range(repeats)])
    known = collector("uSS lean" if name == OURS else name, len(truth), held.sensitive, epsilon, share)
    spread = float(errors.std(ddof=1) / np.sqrt(repeats)) if repeats > 1 else 0.0
    return [(held.name, epsilon, name, float(errors.mean()), spread, float(known.noise(truth).sum()))]


def over_known(table: Result, name: str) -> tuple[float, float]:
    """The mean factor by which not knowing the share costs, and its standard error."""
    known = table.numbers("n x MSE, known", mechanism=name)
    factors = table.numbers("n x MSE, pilot", mechanism=name) / known
    spread = table.numbers("standard error", mechanism=name) / known
    return float(factors.mean()), float(np.sqrt((spread**2).sum()) / len(factors))


def discarded(held: Histogram, name: str, epsilon: float, people: int, seed: int, number: int) -> float:
    """n times the total error of the last 95 %, asked as the first 5 % suggest; n counts all."""
    counts, what = held.scaled(people), (held.name, name, epsilon, number)
    first, rest = divided(counts, seed, *what)
    share = shown_share(published_pilot(held, name, epsilon), first, seed, *what)
    made = collector(name, len(counts), held.sensitive, epsilon, round(share, 4))
    found = made.collect(rest, seed, "rest", *what).shares
    return float(counts.sum() * ((found - rest / rest.sum()) ** 2).sum())  # about the people who were asked


def merged(held: Histogram, name: str, epsilon: float, people: int, seed: int, number: int) -> float:
    """The same with our pilot, whose answers count."""
    counts, what = held.scaled(people), (held.name, name, epsilon, number)
    first, rest = divided(counts, seed, *what)
    pilot = Pilot(SubsetSelection, Categories(range(len(counts))), list(held.sensitive), epsilon)
    early = asked(pilot.first, first, seed, "first", *what)
    found = pilot.estimate(early, asked(pilot.rest(early), rest, seed, "rest", *what)).values
    return float(counts.sum() * ((found - counts / counts.sum()) ** 2).sum())


plot = partial(style.panels, x="epsilon", y="n x MSE, pilot", by="mechanism", panel="data", error="standard error", log="y")
