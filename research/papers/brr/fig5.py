"""Fig. 5: expected loss on equidistant points, against their number and epsilon, and its ratio to direct response."""

import math

import numpy as np

from deniable import Bipartite, Coarsened
from deniable.arrays import Floats
from deniable.domains import Ordered
from deniable.mechanisms.releases.release_channel import exponential_channel
from research.data.folder import Data
from research.papers import style
from research.papers.brr.theorems import equation20, exact_limits, mean_ratio, near_share, row_loss, row_ratios
from research.papers.figure import ALL, Figure, Pace, Result, ranking, theory, trend

FIGURE = Figure("brr/fig5", "BRR", "expected loss and its ratio to direct response on a line", seconds=1)
COLUMNS = ("panel", "points", "epsilon", "mechanism", "expected loss", "ratio to direct", "limit of the paper")
EPSILONS, FEW = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0), (0.5, 1.0, 2.0, 4.0)
SIZES, MANY = (5, 10, 20, 50, 100, 200, 500), (5, 10, 20, 50, 100, 200, 500, 1000)
LARGE, CLOSE = 100_000, 1e-3  # many points, and how near to a limit they must be
ODD = ((9, 3, 1.0), (21, 7, 0.5), (101, 31, 2.0))  # points, near ones and epsilon, for formulas that ask for odd numbers
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


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Exact losses; the ratio also for 100,000 points, where it must have come to its limit."""
    rows = []
    for size in pace.over(SIZES if quick else MANY):
        for name, loss in (found := losses(size, 1.0)).items():
            rows.append(
                ("against the number of points, epsilon 1", size, 1.0, name, loss, loss / found["direct"], mean_ratio(1.0))
            )
    for epsilon in pace.over(FEW if quick else EPSILONS):
        for name, loss in (found := losses(50, epsilon)).items():
            rows.append(("against epsilon, 50 points", 50, epsilon, name, loss, loss / found["direct"], mean_ratio(epsilon)))
        for size in (10, 100, 1000, 10_000, LARGE):
            line = Ordered(range(1, size + 1))
            both = Bipartite(line, epsilon).expected_loss(), Bipartite(line, epsilon, near=1).expected_loss()
            rows.append(
                ("ratio to direct", size, epsilon, f"epsilon {epsilon:g}", both[0], both[0] / both[1], mean_ratio(epsilon))
            )
    table = Result(COLUMNS, rows)
    by = {name: table.numbers("expected loss", mechanism=name) for name in NAMES}
    worse, gain = by["bipartite as printed"] > by["direct"] * (1 + 1e-12), by["bipartite"] / by["optimum (coarsened)"]
    small = (
        Bipartite.as_published(Ordered(range(1, 76)), 7.9).expected_loss()
        / Bipartite(Ordered(range(1, 76)), 7.9, near=1).expected_loss()
    )
    stated = [(near_share(each), *row_ratios(each), mean_ratio(each)) for each in (FEW if quick else EPSILONS)]
    exact = [exact_limits(each, points_for(each)) for each in (FEW if quick else EPSILONS)]
    apart = np.abs(np.array(exact) / np.array(stated) - 1).max(axis=0)
    lines = np.array([equation20(size, near, epsilon) for size, near, epsilon in ODD])
    sums = np.array([_losses(size, near, epsilon).sum() for size, near, epsilon in ODD])
    checks = (
        theory(
            f"Theorem 1: m / N is 1 / (x + 1) for many points (within {CLOSE:.1%})",
            apart[0] < CLOSE,
            f"it is {apart[0]:.2%} away",
        ),
        theory(
            f"Theorem 2: so are the largest and the smallest ratio for one true answer (within {CLOSE:.1%})",
            apart[1:3].max() < CLOSE,
            f"they are {apart[1:3].max():.2%} away",
        ),
        trend(
            f"the ratio of the mean losses comes to the limit of Theorem 3 for many points (within {CLOSE:.1%})",
            apart[3] < CLOSE,
            f"it is {apart[3]:.2%} away",
        ),
        theory(
            "the losses of Appendix A.1 are those of the channel",
            max(float(np.abs(_printed_rows(*case) / _losses(*case) - 1).max()) for case in ODD) < 1e-9,
            "they differ",
        ),
        theory(
            "both lines of Eq. (20) are their sum",
            np.abs(lines / sums[:, None] - 1).max() < 1e-9,
            f"on {ODD[0][0]} points with {ODD[0][1]} near at epsilon {ODD[0][2]:g} the first is {lines[0, 0]:.4g}, "
            f"the second {lines[0, 1]:.4g} and the sum {sums[0]:.4g} (erratum BRR A8)",
        ),
        ranking(
            "bipartite response is never worse than direct response",
            (by["bipartite"] <= by["direct"] * (1 + 1e-12)).all(),
            "it is somewhere",
        ),
        theory(
            "bipartite response is not worse with the number of near answers that Algorithm 3 prints either",
            not worse.any() and small <= 1,
            f"on 75 points at epsilon 7.9 it has {small:.3f} times the loss (errata BRR A1, A2, A5)",
        ),
        ranking(
            "bipartite response is better than the exponential mechanism",
            (by["bipartite"] <= by["exponential"] * (1 + 1e-12)).all(),
            "it is not for few points",
        ),
        theory(
            "no better mechanism exists",
            (gain <= 1 + 1e-9).all(),
            f"the optimum is lower, bipartite response having up to {gain.max():.3f} times its loss (erratum BRR A6)",
        ),
        theory(
            "it is useful at small epsilon: better than always answering the middle",
            (by["bipartite"] <= by["constant"] * (1 + 1e-12)).all(),
            "for small epsilon a constant needs no report and loses less (erratum BRR A7)",
        ),
    )
    return Result(COLUMNS, rows, checks, ("exact, all points equally common; no data needed",))


def points_for(epsilon: float) -> int:
    """So many points that what is left to the limit, of the order of e^epsilon / N, is small."""
    return max(LARGE, math.ceil(2 * math.exp(epsilon) / CLOSE))


def _losses(size: int, near: int, epsilon: float) -> Floats:
    return Bipartite(Ordered(range(1, size + 1)), epsilon, near=near).row_losses()


def _printed_rows(size: int, near: int, epsilon: float) -> Floats:
    return np.array([row_loss(size, near, epsilon, min(place, size - 1 - place)) for place in range(size)])


def plot(result: Result) -> "style.Picture":
    """The three parts."""
    figure, axes = style.blank(1, 3, 3.8, 3.4)
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
            at, values = (result.numbers(column, panel=part, mechanism=name) for column in (x, y))
            chart.plot(at, values, **style.look(number, "" if part.startswith("ratio") else str(name)))
            if part.startswith("ratio"):
                chart.annotate(str(name), (at[-1], values[-1]), (0, 5), textcoords="offset points", ha="right", fontsize=8)
                chart.axhline(
                    result.numbers("limit of the paper", panel=part, mechanism=name)[0],
                    color=style.COLOURS[number % 8],
                    linestyle=":",
                )
        chart.set(xlabel=x, ylabel=y, title=part, yscale="linear" if part.startswith("ratio") else "log")
        if x == "points":
            chart.set_xscale("log")
        style.plain_numbers(chart)
    style.legend(figure)
    return figure
