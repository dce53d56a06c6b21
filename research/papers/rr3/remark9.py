"""Remark 9: a bipartite graph built from local reports, beside one that a trusted party builds.

Half of the budget is for how many links a person has, half for which: together they cost epsilon, as Remark 9 says of
sequential composition. The collector draws a graph with the estimated degrees of both sides. In the central variant a
trusted party sees all links and adds discrete Laplace noise to the same two histograms; all links of one person are hidden.
"""

from functools import partial

import numpy as np

from deniable import SubsetSelection
from deniable.arrays import Floats
from deniable.domains import Categories
from deniable.planning.key_value import plan_key_value
from research.data.folder import Data, random_for
from research.data.lists import weighted
from research.papers import style
from research.papers.figure import ALL, TIE, Figure, Pace, Result, Row, coins_for, ranking, theory
from research.papers.rr3.graphs import ITEMS, asked

FIGURE = Figure(
    "rr3/remark9", "RR3", "a graph from local reports, and from a trusted party", seconds=6, minutes=0.5, own=True
)
COLUMNS = ("data", "epsilon", "way", "item degree RMSE", "standard error", "people's degrees, L1", "links", "true epsilon")
EPSILONS = (1.0, 2.0, 4.0)
LOCAL, CENTRAL = "local (Remark 9)", "central (trusted party)"


def drawn(items: Floats, people: Floats, count: int, random: np.random.Generator) -> tuple[Floats, Floats, int]:
    """A graph with these degrees on average: the shares of its items, its people's degrees, and its links.

    `items` are shares of people, `people` is the distribution of their numbers of links.
    """
    own = random.choice(len(people), count, p=people / people.sum())
    chances = np.minimum(1, own[:, None] * items / max(items.sum(), 1e-12))
    links = random.random(chances.shape) < chances
    degrees = np.bincount(links.sum(axis=1), minlength=len(people))[: len(people)] / count
    return links.mean(axis=0), degrees, int(links.sum())


def positive(values: Floats) -> Floats:
    """Estimates as they may be true: none below zero, and not all zero."""
    return np.maximum(values, 0) + 1e-9


def noisy(counts: Floats, sensitivity: float, epsilon: float, random: np.random.Generator) -> Floats:
    """Counts with discrete Laplace noise: the difference of two geometric numbers."""
    step = 1 - np.exp(-epsilon / sensitivity)
    return np.asarray(counts + random.geometric(step, len(counts)) - random.geometric(step, len(counts)))


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Degrees of items and people in the graphs that come out, beside the true ones."""
    rows: list[Row] = []
    notes, repeats = [], max(2, pace.times(quick, 3, 20))
    for name in pace.over(("ratings", "visits")):
        held = weighted(data, name, seed, ITEMS)
        notes.append(held.note)
        domain, pairs = asked(held)
        people, sizes = len(pairs), np.diff(pairs.starts)
        degree = np.bincount(pairs.keys, minlength=len(domain.labels)) / people
        spread = np.bincount(sizes, minlength=domain.at_most + 1) / people
        for epsilon in EPSILONS:
            which = plan_key_value(domain, epsilon / 2, people, values=False)
            many = SubsetSelection(Categories(range(domain.at_most + 1)), epsilon / 2)
            cost = which.loss().epsilon() + many.loss().epsilon()
            for way in (LOCAL, CENTRAL):
                found = []
                for number in range(repeats):
                    random = random_for(seed, name, epsilon, way, number)
                    if way == LOCAL:
                        coins = coins_for(seed, name, epsilon, number)
                        items = which.estimate(which.tally(which.perturb(pairs, coins))).frequency.values
                        own = many.estimate(many.tally(many.perturb(sizes, coins))).values
                    else:
                        items = noisy(degree * people, domain.at_most, epsilon / 2, random) / people
                        own = noisy(spread * people, 2, epsilon / 2, random) / people
                    made = drawn(positive(items), positive(own), people, random)
                    error = float(np.sqrt(((made[0] - degree) ** 2).mean()))
                    found.append((error, float(np.abs(made[1] - spread).sum()), made[2]))
                values = np.array(found)
                mean, error = values.mean(axis=0), float(values[:, 0].std(ddof=1) / np.sqrt(repeats))
                spent = cost if way == LOCAL else epsilon
                rows.append((name, epsilon, way, float(mean[0]), error, float(mean[1]), round(mean[2]), spent))
        notes.append(f"{name}: the true graph has {len(pairs.keys):,} links")
    table = Result(COLUMNS, rows)
    errors, spreads = (
        {way: table.numbers(column, way=way) for way in (LOCAL, CENTRAL)}
        for column in ("item degree RMSE", "standard error")
    )
    budgets = table.numbers("epsilon", way=LOCAL)
    apart = errors[LOCAL] - errors[CENTRAL]
    checks = (
        theory(
            "Remark 9: degrees of both sides from local reports cost epsilon together",
            bool((table.numbers("true epsilon", way=LOCAL) <= budgets * (1 + 1e-9)).all()),
            "the two losses add up to more",
        ),
        ranking(
            "a trusted party is more accurate at every budget (ties within two standard errors)",
            bool((apart > -TIE * np.hypot(spreads[LOCAL], spreads[CENTRAL])).all()),
            "the local graph is nearer",
        ),
    )
    ratio = errors[LOCAL] / errors[CENTRAL]
    notes.append(f"the local error of the items' degrees is {ratio.min():.1f} to {ratio.max():.1f} times the central one")
    return Result(COLUMNS, rows, checks, tuple(notes))


plot = partial(
    style.panels,
    x="epsilon",
    y="item degree RMSE",
    by="way",
    panel="data",
    error="standard error",
    log="xy",
    units=("", "RMSE, share of people"),
)
