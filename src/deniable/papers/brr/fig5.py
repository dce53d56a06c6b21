"""Fig. 5: expected loss on equidistant points, against their number and epsilon, and its ratio to direct response."""

import math
from typing import TYPE_CHECKING

import numpy as np

from deniable.domains import Ordered
from deniable.mechanisms import Bipartite, Coarsened
from deniable.mechanisms.rivals import exponential_channel
from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("brr/fig5", "BRR", "expected loss and its ratio to direct response on a line", seconds=8, minutes=1)
COLUMNS = ("panel", "points", "epsilon", "mechanism", "expected loss", "ratio to direct", "limit of the paper")
EPSILONS, FEW = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0), (0.5, 1.0, 2.0, 4.0)
SIZES, MANY = (5, 10, 20, 50, 100, 200, 500), (5, 10, 20, 50, 100, 200, 500, 1000)
LARGE = 100_000
NAMES = (
    "direct",
    "exponential",
    "bipartite",
    "bipartite as printed",
    "bipartite, best m",
    "optimum (coarsened)",
    "constant",
)


def losses(size: int, epsilon: float) -> dict[str, float]:
    """The expected loss of each mechanism, all points equally common."""
    line = Ordered(range(1, size + 1))
    channel = exponential_channel(line, epsilon)
    distances = line.losses(np.arange(size))
    return {
        "direct": Bipartite(line, epsilon, near=1).expected_loss(),
        "exponential": float((channel * distances).sum(axis=1).mean()),
        "bipartite": Bipartite(line, epsilon).expected_loss(),
        "bipartite as printed": Bipartite.as_published(line, epsilon).expected_loss(),
        "bipartite, best m": Bipartite(line, epsilon, "mean").expected_loss(),
        "optimum (coarsened)": Coarsened(line, epsilon).expected_loss(),
        "constant": float(distances.mean(axis=0).min()),
    }


def limit(epsilon: float) -> float:
    """Theorem 3: the ratio of bipartite to direct response for many points, (7 x + 9) / (4 (x + 1)^2), x = e^(epsilon/2)."""
    x = math.exp(epsilon / 2)
    return (7 * x + 9) / (4 * (x + 1) ** 2)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Exact losses; the ratio also for 100,000 points, where it must have come to its limit."""
    rows = []
    for size in pace.over(SIZES if quick else MANY):
        for name, loss in (found := losses(size, 1.0)).items():
            rows.append(
                ("against the number of points, epsilon 1", size, 1.0, name, loss, loss / found["direct"], limit(1.0))
            )
    for epsilon in pace.over(FEW if quick else EPSILONS):
        for name, loss in (found := losses(50, epsilon)).items():
            rows.append(("against epsilon, 50 points", 50, epsilon, name, loss, loss / found["direct"], limit(epsilon)))
        for size in (10, 100, 1000, 10_000, LARGE):
            line = Ordered(range(1, size + 1))
            both = Bipartite(line, epsilon).expected_loss(), Bipartite(line, epsilon, near=1).expected_loss()
            rows.append(
                ("ratio to direct", size, epsilon, f"epsilon {epsilon:g}", both[0], both[0] / both[1], limit(epsilon))
            )
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    by = {name: table.numbers("expected loss", mechanism=name) for name in NAMES}
    last = table.numbers("ratio to direct", panel="ratio to direct", points=LARGE)
    apart = np.abs(last / table.numbers("limit of the paper", panel="ratio to direct", points=LARGE) - 1)
    worse, gain = by["bipartite as printed"] > by["direct"] * (1 + 1e-12), by["bipartite"] / by["optimum (coarsened)"]
    small = (
        Bipartite.as_published(Ordered(range(1, 76)), 7.9).expected_loss()
        / Bipartite(Ordered(range(1, 76)), 7.9, near=1).expected_loss()
    )
    checks = (
        claimed("Theorem 3's limit of the ratio is reached (within 0.1 %)", apart.max() < 1e-3, "more points are needed"),
        claimed(
            "bipartite response is never worse than direct response",
            (by["bipartite"] <= by["direct"] * (1 + 1e-12)).all(),
            "it is somewhere",
        ),
        claimed(
            "nor with the number of near answers that Algorithm 3 prints",
            not worse.any() and small <= 1,
            f"on 75 points at epsilon 7.9 it has {small:.3f} times the loss (errata BRR A1, A2, A5)",
        ),
        claimed(
            "it is better than the exponential mechanism",
            (by["bipartite"] <= by["exponential"] * (1 + 1e-12)).all(),
            "it is not for few points",
        ),
        claimed(
            "no better mechanism exists",
            (gain <= 1 + 1e-9).all(),
            f"the optimum is lower, bipartite response having up to {gain.max():.3f} times its loss (erratum BRR A6)",
        ),
        claimed(
            "it is useful at small epsilon: better than always answering the middle",
            (by["bipartite"] <= by["constant"] * (1 + 1e-12)).all(),
            "for small epsilon a constant needs no report and loses less (erratum BRR A7)",
        ),
    )
    return Result(COLUMNS, rows, checks, ("exact, all points equally common; no data needed",))


def plot(result: Result) -> "pictures.Figure":
    """The three parts."""
    figure, axes = style.blank(1, 3)
    parts = [str(each) for each in style.distinct(result.column("panel"))]
    order = [
        part for start in ("against the number", "against epsilon", "ratio") for part in parts if part.startswith(start)
    ]
    for chart, part in zip(axes, order, strict=True):
        names = style.distinct([row[3] for row in result.rows if row[0] == part])
        x, y = (
            ("epsilon" if "against epsilon" in part else "points"),
            ("ratio to direct" if part.startswith("ratio") else "expected loss"),
        )
        for number, name in enumerate(names):
            look = {"color": style.COLOURS[number % 8], "marker": style.MARKERS[number % 8], "label": str(name)}
            chart.plot(result.numbers(x, panel=part, mechanism=name), result.numbers(y, panel=part, mechanism=name), **look)
            if part.startswith("ratio"):
                chart.axhline(
                    result.numbers("limit of the paper", panel=part, mechanism=name)[0],
                    color=style.COLOURS[number % 8],
                    linestyle=":",
                )
        chart.set(xlabel=x, ylabel=y, title=part, yscale="linear" if part.startswith("ratio") else "log")
        if x == "points":
            chart.set_xscale("log")
        chart.legend(fontsize=7, frameon=False)
    return figure
