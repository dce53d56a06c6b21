"""Fig. 1: error and message length as the number of sensitive answers grows."""

from typing import TYPE_CHECKING

from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed
from deniable.papers.uldp.mechanisms import hashed_epsilon, sized, stated_error, total

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("uldp/fig1", "ULDP", "error and bits of a report against the number of sensitive answers", seconds=3)
COLUMNS = ("sensitive answers", "mechanism", "n x MSE", "bits of a report", "true epsilon")
EPSILON, SHARE, ANSWERS, SIZES = 2.0, 0.5, 1000, (10, 25, 50, 100, 200, 400, 800)
NAMES = ("uRR", "uRAP", "uHR", "uLH", "uSS lean", "block design")


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Exact errors and the lengths of the reports that are really sent."""
    rows = []
    for size in pace.over(SIZES):
        for name in NAMES:
            made = sized(name, size, EPSILON, SHARE, ANSWERS - size)
            error = stated_error(name, size, EPSILON, SHARE) if name in ("uRR", "uRAP", "uLH") else total(made, SHARE)
            cost = hashed_epsilon(size, EPSILON, SHARE) if name == "uLH" else made.loss().epsilon()
            rows.append((size, name, error, made.layout.bits, cost))
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    growth = {
        name: table.numbers("n x MSE", mechanism=name)[-1] / table.numbers("n x MSE", mechanism=name)[0] for name in NAMES
    }
    bits = {name: table.numbers("bits of a report", mechanism=name) for name in NAMES}
    true = table.numbers("true epsilon", mechanism="uLH")
    checks = (
        claimed("uRR's error grows fastest", growth["uRR"] == max(growth.values()), "other parameters were used"),
        claimed("the bits of uRAP grow with every sensitive answer", bits["uRAP"][-1] > SIZES[-1], "other codes are used"),
        claimed(
            "uLH costs fewer bits than all earlier mechanisms",
            all((bits["uLH"] <= bits[name]).all() for name in ("uRR", "uRAP", "uHR")),
            "a report must name its hash function too (erratum ULDP E7)",
        ),
        claimed(
            f"uLH keeps epsilon {EPSILON:g}",
            true.max() <= EPSILON * (1 + 1e-9),
            f"its z is worked out for the average hash function and costs up to {true.max():.3g} (erratum ULDP E1)",
        ),
    )
    notes = (f"{ANSWERS} answers, open share {SHARE:g}, epsilon {EPSILON:g}: the paper does not state them",)
    return Result(COLUMNS, rows, checks, notes)


def plot(result: Result) -> "pictures.Figure":
    """Both parts side by side."""
    figure, axes = style.blank(1, 2)
    for number, name in enumerate(NAMES):
        look = {"color": style.COLOURS[number], "marker": style.MARKERS[number], "label": name}
        for chart, column in zip(axes, ("n x MSE", "bits of a report"), strict=True):
            chart.plot(result.numbers("sensitive answers", mechanism=name), result.numbers(column, mechanism=name), **look)
            chart.set(xlabel="sensitive answers", ylabel=column, xscale="log", yscale="log")
    style.legend(figure, axes[0], len(NAMES))
    return figure
