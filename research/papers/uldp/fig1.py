"""Fig. 1: error and message length as the number of sensitive answers grows."""

import math

import numpy as np

from research.data.folder import Data
from research.papers import style
from research.papers.figure import ALL, Figure, Pace, Result, listed, ranking, theory, trend
from research.papers.uldp.mechanisms import best_buckets, hashed_epsilon, sized, stated_error, total

FIGURE = Figure(
    "uldp/fig1", "ULDP", "error and bits of a report against the number of sensitive answers", seconds=1, minutes=0.1
)
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
    table = Result(COLUMNS, rows)
    growth = {
        name: table.numbers("n x MSE", mechanism=name)[-1] / table.numbers("n x MSE", mechanism=name)[0] for name in NAMES
    }
    bits = {name: table.numbers("bits of a report", mechanism=name) for name in NAMES}
    true = table.numbers("true epsilon", mechanism="uLH")
    fastest = max(growth, key=lambda name: growth[name])
    steps = np.diff(bits["uRAP"]) / np.diff(SIZES)
    shorter = [name for name in ("uRR", "uRAP", "uHR") if (bits[name] < bits["uLH"]).any()]
    nameless = [math.log2(best_buckets(size, EPSILON, SHARE) + ANSWERS - size) for size in SIZES]
    bare = nameless[-1]
    checks = (
        trend("uRR's error grows fastest", fastest == "uRR", f"that of {fastest} does"),
        trend(
            "every sensitive answer adds one bit to the reports of uRAP",
            bool((np.abs(steps - 1) < 0.5).all()),
            f"they grow by {steps.min():.2f} to {steps.max():.2f}",
        ),
        ranking(
            "uLH costs fewer bits than all earlier mechanisms",
            not shorter,
            f"{listed(shorter)} take fewer: a report must name its hash function too, without which it would have "
            f"{bare:.1f} bits for {SIZES[-1]} sensitive answers and not {bits['uLH'][-1]:g} (erratum ULDP E7)",
            faulty=all((np.array(nameless) <= bits[name]).all() for name in ("uRR", "uRAP", "uHR")),
        ),
        theory(
            f"uLH keeps epsilon {EPSILON:g}",
            true.max() <= EPSILON * (1 + 1e-9),
            f"its z is worked out for the average hash function and costs up to {true.max():.3g} (erratum ULDP E1)",
        ),
    )
    notes = (f"{ANSWERS} answers, open share {SHARE:g}, epsilon {EPSILON:g}: the paper does not state them",)
    return Result(COLUMNS, rows, checks, notes)


def plot(result: Result) -> "style.Picture":
    """Both parts side by side."""
    figure, axes = style.blank(1, 2)
    for number, name in enumerate(NAMES):
        look = style.look(number, name)
        for chart, column in zip(axes, ("n x MSE", "bits of a report"), strict=True):
            chart.plot(result.numbers("sensitive answers", mechanism=name), result.numbers(column, mechanism=name), **look)
            chart.set(xlabel="sensitive answers", ylabel=column, xscale="log", yscale="log")
    for chart in axes:
        style.plain_numbers(chart)
    style.legend(figure)
    return figure
