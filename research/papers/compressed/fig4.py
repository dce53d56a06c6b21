"""Fig. 4: the error of the number of films that two people have both rated."""

import math

import numpy as np

from deniable import Compressed
from deniable.domains import SparseVector
from deniable.mechanisms.sparse.common import common_with
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from research.data.folder import Data, random_for
from research.data.lists import rated
from research.papers import style
from research.papers.compressed.messages import EPSILON
from research.papers.figure import ALL, Figure, Pace, Result, coins_for, near, set_up

FIGURE = Figure("compressed/fig4", "Compressed RR", "error of the number of common films", seconds=4, minutes=0.3)
COLUMNS = ("pair", "common", "own films", "way", "absolute error", "exact standard error")
PLAIN = "plain response"


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """One of two people knows their own films, and has a response of the other's."""
    held = rated(data, seed)
    size, pairs = held.size, pace.times(quick, 150, 1000)
    chosen = random_for(seed, "pairs").integers(0, len(held.lists), (pairs, 2))
    plain, rows = CoordinateResponse.of(EPSILON), []
    ways = {f"compressed, alpha {alpha:g}": Compressed(SparseVector(size), EPSILON, alpha) for alpha in (2.0, 1.5)}
    for number, (first, second) in enumerate(pace.over(chosen.tolist())):
        own, other = held.lists[first], held.lists[second]
        truth = np.isin(own, other)
        common, coins = int(truth.sum()), coins_for(seed, "common", number)
        said = truth ^ coins.toss(plain.q, len(own))
        found = {PLAIN: common_with(np.ones(len(own), bool), said, plain)}
        for name, made in ways.items():
            answers = made.value(made.perturb([other], coins), own)[0]
            found[name] = common_with(np.ones(len(own), bool), answers, made.coordinate)
        for name, (estimate, variance) in found.items():
            rows.append((number, common, len(own), name, abs(estimate - common), math.sqrt(variance)))
    table = Result(COLUMNS, rows)
    errors = {name: table.numbers("absolute error", way=name) for name in (PLAIN, *ways)}
    scaled = {
        name: float(
            np.sqrt(
                np.mean((table.numbers("absolute error", way=name) / table.numbers("exact standard error", way=name)) ** 2)
            )
        )
        for name in (PLAIN, *ways)
    }
    worse = float(np.sqrt((errors["compressed, alpha 2"] ** 2).mean() / (errors[PLAIN] ** 2).mean()))
    exact = math.sqrt(CoordinateResponse.of(EPSILON / 4).noise / plain.noise)
    # The error of a mean of squares of normal numbers; of the ratio of two such roots, for the same pairs, at most.
    error, ratio_error = 1 / math.sqrt(2 * pairs), worse / math.sqrt(pairs)
    checks = (
        *(
            near(
                f"{name}: measured error over the exact one",
                "1",
                each,
                "the estimate does not have the error that was worked out",
                error,
            )
            for name, each in scaled.items()
        ),
        near(
            "error of compressed response at alpha 2 over that of plain response, called slightly more",
            "1",
            worse,
            f"one coordinate has a quarter of the budget: exactly it is {exact:.2f} times (erratum Compressed C3)",
            ratio_error,
        ),
    )
    notes = (f"{held.note}; {pairs} random pairs", "ours hides the number of films too; at alpha 1.5 less is lost")
    return Result(COLUMNS, rows, checks, notes, setup=set_up(notes, smaller=pairs < 1000))


def plot(result: Result) -> "style.Picture":
    """Distributions of the absolute error."""
    figure, (chart,) = style.blank(width=5)
    for number, way in enumerate(style.distinct(result.column("way"))):
        values = np.sort(result.numbers("absolute error", way=way))
        chart.plot(
            values,
            np.arange(1, len(values) + 1) / len(values),
            color=style.COLOURS[number],
            linestyle=style.DASHES[number],
            label=str(way),
        )
    chart.set(xlabel="absolute error of the number of common films", ylabel="share of pairs", xscale="symlog")
    style.legend(figure)
    return figure
