"""Fig. 1: the probabilities of all releases for one true answer."""

import math

import numpy as np

from deniable import Bipartite, Coarsened
from deniable.domains import Ordered
from research.data.folder import Data
from research.papers import style
from research.papers.figure import ALL, Figure, Pace, Result, trend

FIGURE = Figure("brr/fig1", "BRR", "probabilities of releases, direct and bipartite", seconds=0.2)
COLUMNS = ("released", "mechanism", "probability")
POINTS, TRUE, EPSILON = 21, 8, 1.0


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """One row of each channel, for 21 points and the truth at place 8."""
    line = Ordered(range(1, POINTS + 1))
    bipartite, direct, coarse = Bipartite(line, EPSILON), Bipartite(line, EPSILON, near=1), Coarsened(line, EPSILON)
    shown = {"direct": direct.matrix[TRUE - 1], "bipartite": bipartite.matrix[TRUE - 1]}
    best = np.zeros(POINTS)
    best[coarse.outputs] = coarse.matrix[TRUE - 1]
    shown["optimum (coarsened)"] = best
    rows = [(y + 1, name, float(row[y])) for name, row in shown.items() for y in range(POINTS)]
    near = np.sort(shown["bipartite"])[::-1][: bipartite.near]
    checks = (
        trend(
            "each sums to one",
            all(abs(row.sum() - 1) < 1e-12 for row in shown.values()),
            "some sums are not",
        ),
        trend(
            "near answers are e^epsilon times as likely as far ones",
            math.isclose(near[-1] / shown["bipartite"].min(), math.e, rel_tol=1e-9),
            "the ratio is another",
        ),
        trend(
            "the near answers are those around the truth",
            set(np.argsort(-shown["bipartite"], kind="stable")[: bipartite.near] + 1)
            == set(range(TRUE - bipartite.near // 2, TRUE + bipartite.near // 2 + 1)),
            "others are near",
        ),
    )
    note = (
        f"{POINTS} points, truth {TRUE}, epsilon {EPSILON:g}, "
        f"{bipartite.near} near; the paper gives no numbers for its sketch"
    )
    return Result(COLUMNS, rows, checks, (note,))


def plot(result: Result) -> "style.Picture":
    """Bars, one panel for each mechanism."""
    names = style.distinct(result.column("mechanism"))
    figure, axes = style.blank(1, len(names), 3.4, 2.6)
    for chart, name in zip(axes, names, strict=True):
        values = result.numbers("probability", mechanism=name)
        chart.bar(result.numbers("released", mechanism=name), values, color=style.COLOURS[0])
        chart.bar([TRUE], [values[TRUE - 1]], color=style.COLOURS[1])
        chart.set(title=str(name), xlabel="released answer (truth in orange)", ylabel="probability")
    return figure
