"""Fig. 2: the feasible regions of RR3-dagger, as printed and as they are."""

import numpy as np

from deniable.mechanisms.key_value.three_design import channel_loss
from research.data.folder import Data
from research.papers import style
from research.papers.figure import ALL, Figure, Pace, Result, theory, trend

FIGURE = Figure("rr3/fig2", "RR3", "feasible regions of RR3-dagger at epsilon 1", seconds=0.2)
COLUMNS = ("p1", "p2", "region", "admitted by the paper", "exact epsilon", "within epsilon")
EPSILON, STEPS = 1.0, 60


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """A grid of points above 1/3, each with the exact loss of its channel."""
    odds = np.exp(EPSILON)
    grid = 1 / 3 + (np.arange(STEPS) + 0.5) / STEPS * 2 / 3
    rows = []
    for p1 in grid.tolist():
        for p2 in grid.tolist():
            region = 1 if p1 < p2 else 2
            printed_in = 2 * p1 <= odds * (1 - p2) and (region == 1 or 2 * p2 <= odds * (1 - p1))
            loss = float(channel_loss(*(np.array(each) for each in (p1, (1 + p2) / 2, 2 * p2 / (1 + p2)))))
            rows.append((p1, p2, region, int(printed_in), loss, int(loss <= EPSILON + 1e-12)))
    table = Result(COLUMNS, rows)
    first = (
        table.numbers("admitted by the paper", region=1).astype(bool),
        table.numbers("within epsilon", region=1).astype(bool),
    )
    second = (
        table.numbers("admitted by the paper", region=2).astype(bool),
        table.numbers("within epsilon", region=2).astype(bool),
    )
    wrong, worst = first[0] & ~first[1], float(table.numbers("exact epsilon", region=1)[first[0]].max())
    point = float(channel_loss(np.array(0.4), np.array(0.85), np.array(1.4 / 1.7)))
    best = table.numbers("p1")[table.numbers("within epsilon").astype(bool)]
    checks = (
        trend(
            "all points of the first region keep epsilon",
            not wrong.any(),
            f"{wrong.sum()} of {first[0].sum()} do not, up to {worst:.3g}; (0.4, 0.7) costs {point:.4g} (erratum RR3 R5)",
        ),
        trend(
            "all points of the second region keep epsilon",
            not (second[0] & ~second[1]).any(),
            f"{(second[0] & ~second[1]).sum()} of {second[0].sum()} do not: the bound 2 p2 <= "
            "e^epsilon (1 - p2) of the general region was dropped there too (erratum RR3 R5)",
        ),
        theory(
            "p1 = e^epsilon / 3 at p2 = 1/3 is feasible (Theorem 4)",
            best.max() >= odds / 3 - 0.02,
            f"the largest feasible p1 is about {best.max():.3f}, not {odds / 3:.3f} (erratum RR3 R6)",
        ),
    )
    return Result(COLUMNS, rows, checks, ("no data needed",))


def plot(result: Result) -> "style.Picture":
    """Which points are printed, which keep epsilon."""
    figure, axes = style.blank(1, 2, 4, 3.6)
    for chart, region in zip(axes, (1, 2), strict=True):
        p1, p2 = (result.numbers(name, region=region) for name in ("p1", "p2"))
        said, true = (
            result.numbers(name, region=region).astype(bool) for name in ("admitted by the paper", "within epsilon")
        )
        for number, (name, shown) in enumerate(
            (
                ("printed and private", said & true),
                ("printed, not private", said & ~true),
                ("private, not printed", true & ~said),
            )
        ):
            if not shown.any():
                continue
            chart.plot(
                p1[shown],
                p2[shown],
                linestyle="",
                marker="sxo"[number],
                markersize=3,
                color=style.COLOURS[number],
                label=name,
            )
        chart.set(xlabel="p1", ylabel="p2", title=f"region {region}, epsilon 1", xlim=(1 / 3, 1), ylim=(1 / 3, 1))
    style.legend(figure)
    return figure
