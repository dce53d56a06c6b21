"""Fig. 8: the mean absolute error of every mechanism."""

from typing import TYPE_CHECKING

import numpy as np

from deniable.metrics import mae
from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed
from deniable.papers.histograms import STATED
from deniable.papers.uldp.mechanisms import LEAN
from deniable.papers.uldp.metrics import judged

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("uldp/fig8", "ULDP", "mean absolute error against epsilon, on four data sets", seconds=10, minutes=25)
COLUMNS = ("data", "epsilon", "mechanism", "MAE", "standard error")


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """The collections of Fig. 4, judged by another metric."""
    rows, notes = judged(quick, seed, data, pace, {"MAE": mae}, tuple(STATED))
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    found = {name: table.numbers("MAE", mechanism=name) for name in ("uRR", "uRAP", "uHR", "uSS", "uUE", "uLH", "uSS lean")}
    apart = np.abs(np.log(found["uUE"] / found["uLH"]))
    checks = (
        claimed("uSS is better than uRR on average", float(np.log(found["uSS"] / found["uRR"]).mean()) <= 0, "of chance"),
        claimed(
            "uUE and uLH are alike, within a fifth at the median",
            float(np.median(apart)) < 0.2,
            "uUE tells open answers too rarely (erratum ULDP E3), which absolute errors show more than squares",
        ),
        claimed("uUE is not always better than uRAP", (found["uUE"] > found["uRAP"]).any(), "it is here"),
    )
    return Result(COLUMNS, rows, checks, (*notes, LEAN))


def plot(result: Result) -> "pictures.Figure":
    """One panel for each data set."""
    return style.panels(result, "epsilon", "MAE", "mechanism", "data", "standard error", log="y")
