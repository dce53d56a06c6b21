"""Fig. 9: how well the thirty most frequent answers are found."""

from typing import TYPE_CHECKING

import numpy as np

from deniable.metrics import top_f1, top_ndcg
from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed
from deniable.papers.uldp.mechanisms import LEAN, Floats
from deniable.papers.uldp.metrics import judged

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("uldp/fig9", "ULDP", "F1 and NDCG of the 30 most frequent answers", seconds=8, minutes=20)
COLUMNS = ("data", "epsilon", "mechanism", "F1", "F1 error", "NDCG", "NDCG error")
TOP, SETS = 30, ("Foursquare", "Census", "Normal")


def f1(truth: Floats, values: Floats) -> float:
    """The share of the top answers that is found."""
    return top_f1(truth, values, TOP)


def ndcg(truth: Floats, values: Floats) -> float:
    """How well they are ranked."""
    return top_ndcg(truth, values, TOP)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """The collections of Fig. 4, judged by rank; the ten answers of Drug have no top thirty."""
    rows, notes = judged(quick, seed, data, pace, {"F1": f1, "NDCG": ndcg}, SETS)
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    names = ("uRAP", "uHR", "uSS", "uUE", "uLH")
    scores = {name: table.numbers("F1", mechanism=name) for name in ("uRR", *names)}
    ranked = {name: float(table.numbers("NDCG", mechanism=name).mean()) for name in ("uRR", *names)}
    others = np.array([scores[name].mean() for name in names])
    checks = (
        claimed("uRR finds fewest on average", scores["uRR"].mean() <= others.min(), "of chance"),
        claimed("uRR ranks worst on average", ranked["uRR"] == min(ranked.values()), "of chance"),
        claimed("the others are alike (mean F1 within 0.1)", float(np.ptp(others)) < 0.1, "they differ more here"),
    )
    return Result(COLUMNS, rows, checks, (*notes, LEAN))


def plot(result: Result) -> "pictures.Figure":
    """F1 in one panel for each data set; NDCG is in the table."""
    return style.panels(result, "epsilon", "F1", "mechanism", "data", "F1 error")
