"""Fig. 6: utility by similarity (Tanimoto's extension of Jaccard's) instead of distance."""

import numpy as np

from deniable import Bipartite, Coarsened
from deniable.domains import Points
from deniable.mechanisms.releases.release_channel import exponential_channel
from research.data.folder import Data
from research.papers import style
from research.papers.figure import ALL, Figure, Pace, Result, ranking, theory

FIGURE = Figure("brr/fig6", "BRR", "expected similarity of releases on a line", seconds=0.3)
COLUMNS = ("panel", "points", "epsilon", "mechanism", "mean similarity")
SIZES, EPSILONS = (5, 10, 20, 50, 100), (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


def similarities(size: int, epsilon: float) -> dict[str, float]:
    """One less the expected loss 1 - x y / (x^2 + y^2 - x y), all numbers from 1 to N equally common."""
    domain = Points(np.arange(1, size + 1), "tanimoto")
    losses = domain.losses(np.arange(size))
    return {
        "direct": 1 - Bipartite(domain, epsilon, near=1).expected_loss(),
        "exponential": 1 - float((exponential_channel(domain, epsilon) * losses).sum(axis=1).mean()),
        "bipartite": 1 - Bipartite(domain, epsilon).expected_loss(),
        "bipartite, best m": 1 - Bipartite(domain, epsilon, "mean").expected_loss(),
        "coarsened": 1 - Coarsened(domain, epsilon).expected_loss(),
        "constant": 1 - float(losses.mean(axis=0).min()),
    }


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Exact expectations."""
    rows = [
        ("20 points", 20, epsilon, name, value) for epsilon in EPSILONS for name, value in similarities(20, epsilon).items()
    ]
    rows += [
        ("epsilon 1", size, 1.0, name, value) for size in pace.over(SIZES) for name, value in similarities(size, 1.0).items()
    ]
    table = Result(COLUMNS, rows)
    by = {str(name): table.numbers("mean similarity", mechanism=name) for name in style.distinct(table.column("mechanism"))}
    lost = by["coarsened"] / by["bipartite"]
    checks = (
        ranking(
            "releases are more similar to the truth by bipartite response than by direct response",
            (by["bipartite"] >= by["direct"] - 1e-12).all(),
            "it is not",
        ),
        ranking(
            "releases are more similar to the truth by bipartite response than by the exponential mechanism",
            (by["bipartite"] >= by["exponential"] - 1e-12).all(),
            "for few points and small epsilon the exponential mechanism is "
            "as good: with one near answer bipartite is direct response",
        ),
        theory(
            "no better mechanism exists",
            lost.max() <= 1 + 1e-9,
            f"a coarsened response has up to {lost.max():.3f} times its similarity (erratum BRR A6)",
        ),
    )
    return Result(
        COLUMNS, rows, checks, ("the text of Section 5.2 is missing; the similarity is that of the authors' program",)
    )


def plot(result: Result) -> "style.Picture":
    """Against epsilon and against the number of points."""
    figure, axes = style.blank(1, 2)
    for chart, (panel, x) in zip(axes, (("20 points", "epsilon"), ("epsilon 1", "points")), strict=True):
        for number, name in enumerate(style.distinct(result.column("mechanism"))):
            look = {"color": style.COLOURS[number], "marker": style.MARKERS[number], "label": str(name)}
            chart.plot(
                result.numbers(x, panel=panel, mechanism=name),
                result.numbers("mean similarity", panel=panel, mechanism=name),
                **look,
            )
        chart.set(title=panel, xlabel=x, ylabel="mean similarity")
    style.legend(figure)
    return figure
