"""Fig. 4: the measured error of every mechanism against epsilon, on four data sets."""

from typing import TYPE_CHECKING

import numpy as np

from deniable.core.odds import odds_below
from deniable.domains import Categories
from deniable.mechanisms import Unary
from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed, printed
from deniable.papers.histograms import STATED, histogram
from deniable.papers.uldp.mechanisms import (
    EPSILONS,
    FEW,
    LEAN,
    OURS,
    PUBLISHED,
    Measured,
    as_expected,
    measure,
    stated_error,
)
from deniable.wrappers.published import published_optimum

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("uldp/fig4", "ULDP", "measured error against epsilon, on four data sets", seconds=25, minutes=30)
COLUMNS = ("data", "epsilon", "mechanism", "n x MSE", "standard error", "exact", "paper's formula")
PEOPLE = 20_000, 200_000


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Repeated collections, beside the exact error and the paper's formula."""
    rows, found, notes = [], list[Measured](), [LEAN]
    people, repeats = pace.times(quick, *PEOPLE), pace.times(quick, 5, 50)
    for name in pace.over(list(STATED)):
        held = histogram(data, name, seed)
        notes.append(held.note)
        for epsilon in FEW if quick else EPSILONS:
            for each in (*PUBLISHED, *OURS):
                measured = measure(held, each, epsilon, people, repeats, seed)
                found.append(measured)
                stated = stated_error(each, len(held.sensitive), epsilon, held.open_share) if each in PUBLISHED else np.nan
                rows.append((name, epsilon, each, float(measured.errors.mean()), measured.spread, measured.exact, stated))
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    exact = {name: table.numbers("exact", mechanism=name) for name in (*PUBLISHED, *OURS)}
    fall = [table.numbers("exact", data=name, mechanism=each) for name in STATED for each in PUBLISHED]
    _, size, share, _ = STATED["Census"]
    late = [stated_error("uHR", size, epsilon, share) for epsilon in (3.5, 5.0)]
    p = {epsilon: published_optimum(size, float(odds_below(epsilon)), share)["p"] for epsilon in (0.5, 5.0)}
    symmetric = {epsilon: float(Unary.symmetric(Categories(range(2)), epsilon).p) for epsilon in (0.5, 5.0)}
    checks = (
        claimed("measured errors are those of the exact formulas", as_expected(found), "of chance"),
        claimed("errors fall with epsilon", all((np.diff(each) < 0).all() for each in fall), "some rise"),
        claimed(
            "uSS is the best of the six everywhere",
            all((exact["uSS"] <= exact[name] * 1.001).all() for name in ("uRR", "uRAP", "uHR", "uUE", "uLH")),
            "uRAP and uHR are better where their reports are estimated without their noisy part",
        ),
        printed("p of uRAP at epsilon 0.5", "0.562", symmetric[0.5], "of another formula"),
        printed("p of uRAP at epsilon 5", "0.924", symmetric[5.0], "of another formula"),
        printed("p of uUE for Census at epsilon 0.5", "0.5", p[0.5], "of another formula"),
        printed(
            "p of uUE for Census at epsilon 5",
            "0.517",
            p[5.0],
            "it is cut off after three digits, not rounded (erratum ULDP E11)",
        ),
        claimed(
            "uHR hardly changes above epsilon 3.5 (by less than a tenth)",
            1 - late[1] / late[0] < 0.1,
            "its exact error falls further, to (1 - open share) (s - 1)",
        ),
    )
    return Result(COLUMNS, rows, checks, tuple(notes))


def plot(result: Result) -> "pictures.Figure":
    """One panel for each data set."""
    return style.panels(result, "epsilon", "n x MSE", "mechanism", "data", "standard error", log="y")
