"""Fig. 7: how often a label is kept, and changed into each other one, against the number of labels."""

import numpy as np

from deniable import DirectResponse, LabelResponse
from deniable.domains import Categories
from research.data.folder import Data
from research.papers import style
from research.papers.figure import ABOUT, ALL, Figure, Pace, Result, theory, trend

FIGURE = Figure(
    "bitrand/fig7", "BitRand", "label-RR: how often a label is kept or changed, against their number", seconds=0.1
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
    table = Result(COLUMNS, rows)
    wide = LabelResponse.as_published(Categories(range(10)), 1.0, -5.0).loss().epsilon()

    def moved(column: str) -> tuple[float, str]:
        """By how much a probability changes from 100 labels on, at most, and where."""
        found = {}
        for budget in style.distinct(table.column("budget")):
            values = table.numbers(column, budget=budget)[LABELS.index(100) :]
            found[float(np.ptp(values))] = f"at {budget} it goes from {values[0]:.3g} at 100 to {values[-1]:.3g} at 2,000"
        return max(found), found[max(found)]

    rises = [np.diff(table.numbers("kept", labels=count)) > 0 for count in LABELS]
    pairs = [
        (LabelResponse(domain, epsilon), DirectResponse(domain, epsilon))
        for domain in (Categories(range(count)) for count in LABELS)
        for epsilon in EPSILONS
    ]
    falls = [np.diff(table.numbers("each other", labels=count)) < 0 for count in LABELS]
    checks = (
        trend(
            "from 100 labels on the probability of each other label hardly changes (by 0.15 at most)",
            moved("each other")[0] <= ABOUT,
            moved("each other")[1],
        ),
        trend(
            "from 100 labels on the probability of keeping a label hardly changes either",
            moved("kept")[0] <= ABOUT,
            f"{moved('kept')[1]} (erratum BitRand B4)",
        ),
        trend("the probability of each other label falls with epsilon", np.all(falls), "it rises"),
        trend("the probability of keeping a label rises with epsilon", np.all(rises), "it falls"),
        theory(
            "with the largest beta label-RR has the probabilities of LabelDP (k-ary randomized response)",
            all((made.p, made.q) == (other.p, other.q) for made, other in pairs),
            "it has others",
        ),
        theory(
            "every beta up to epsilon - ln(C - 1) keeps epsilon 1",
            wide <= 1,
            f"beta -5 with 10 labels costs {wide:.4g} (erratum BitRand B4)",
        ),
    )
    return Result(COLUMNS, rows, checks, ("no data needed",))


def plot(result: Result) -> "style.Picture":
    """Kept labels, and each other one."""
    figure, axes = style.blank(1, 2)
    for number, epsilon in enumerate(style.distinct(result.column("budget"))):
        for chart, column in zip(axes, ("kept", "each other"), strict=True):
            chart.plot(LABELS, result.numbers(column, budget=epsilon), **style.look(number, str(epsilon)))
            chart.set(xscale="log", yscale="log", xlabel="labels", ylabel=f"probability: {column}")
            style.plain_numbers(chart)
    style.legend(figure)
    return figure
