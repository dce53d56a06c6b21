"""Fig. 7: how often a label is kept, and changed into each other one, against the number of labels."""

from typing import TYPE_CHECKING

import numpy as np

from deniable.domains import Categories
from deniable.mechanisms import LabelResponse
from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure(
    "bitrand/fig7", "BitRand", "label-RR: how often a label is kept or changed, against their number", seconds=0.5
)
COLUMNS = ("labels", "budget", "kept", "each other", "kept by guessing")
LABELS, EPSILONS = (5, 10, 100, 500, 1000, 2000), (1.0, 2.5, 5.0, 10.0)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """From the exact mechanism."""
    rows = []
    for epsilon in pace.over(EPSILONS):
        for count in LABELS:
            made = LabelResponse(Categories(range(count)), epsilon)
            rows.append((count, f"epsilon {epsilon:g}", float(made.p), float(made.q), 1 / count))
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    kept, changed = table.numbers("kept"), table.numbers("each other")
    large = table.numbers("labels") >= 100
    wide = LabelResponse.as_published(Categories(range(10)), 1.0, -5.0).loss().epsilon()
    checks = (
        claimed(
            "from 100 labels on the probability of each other label hardly changes (0.01)",
            changed[large].max() < 0.012,
            "it does",
        ),
        claimed(
            "it falls with epsilon", all(np.diff([changed[i * len(LABELS)] for i in range(len(EPSILONS))]) < 0), "it rises"
        ),
        claimed(
            "from 100 labels on the probability to keep one hardly changes (0.01)",
            all(np.ptp(table.numbers("kept", budget=f"epsilon {e:g}")[2:]) < 0.01 for e in EPSILONS),
            f"it falls with their number, from {kept[2 * len(LABELS) + 2]:.3f} "
            f"at 100 to {kept[2 * len(LABELS) + 4]:.3f} at 1,000 "
            "for epsilon 5 (erratum BitRand B4)",
        ),
        claimed(
            "every beta up to epsilon - ln(C - 1) keeps epsilon 1",
            wide <= 1,
            f"beta -5 with 10 labels costs {wide:.4g} (erratum BitRand B4)",
        ),
    )
    return Result(COLUMNS, rows, checks, ("no data needed",))


def plot(result: Result) -> "pictures.Figure":
    """Kept labels, and each other one."""
    figure, axes = style.blank(1, 2)
    for number, epsilon in enumerate(style.distinct(result.column("budget"))):
        for chart, column in zip(axes, ("kept", "each other"), strict=True):
            look = {"color": style.COLOURS[number], "marker": style.MARKERS[number], "label": str(epsilon)}
            chart.plot(LABELS, result.numbers(column, budget=epsilon), **look)
            chart.set(xscale="log", yscale="log", xlabel="labels", ylabel=f"probability: {column}")
    style.legend(figure, axes[0], len(EPSILONS))
    return figure
