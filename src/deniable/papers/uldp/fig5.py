"""Fig. 5: what it costs that more of the answers are sensitive, up to all of them."""

from typing import TYPE_CHECKING

import numpy as np

from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed, random_for
from deniable.papers.histograms import STATED, histogram
from deniable.papers.uldp.mechanisms import LEAN, PUBLISHED, Measured, as_expected, measure

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("uldp/fig5", "ULDP", "measured error against the share of sensitive answers", seconds=20, minutes=25)
COLUMNS = ("data", "sensitive share", "mechanism", "n x MSE", "standard error", "exact")
EPSILON, SHARES, PEOPLE = 2.0, (0.2, 0.4, 0.6, 0.8, 0.99), (20_000, 200_000)
NAMES = (*PUBLISHED, "uSS lean")


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Random answers are made sensitive; the larger sets contain the smaller ones."""
    rows, found, notes = [], list[Measured](), [LEAN]
    people, repeats = pace.times(quick, *PEOPLE), pace.times(quick, 4, 50)
    for name in pace.over(list(STATED)):
        held = histogram(data, name, seed)
        notes.append(held.note)
        size = len(held.people)
        order = random_for(seed, "sensitive", name).permutation(size)
        for share in SHARES:
            secret = np.sort(order[: min(size - 1, max(2, round(share * size)))]).tolist()
            for each in NAMES:
                measured = measure(held, each, EPSILON, people, repeats, seed, secret)
                found.append(measured)
                rows.append((name, share, each, float(measured.errors.mean()), measured.spread, measured.exact))
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    exact = {(name, each): table.numbers("exact", data=name, mechanism=each) for name in STATED for each in NAMES}
    growth = {
        each: np.mean([exact[name, each][-1] / exact[name, each][0] for name in ("Census", "Normal")]) for each in PUBLISHED
    }
    checks = (
        claimed("measured errors are those of the exact formulas", as_expected(found), "of chance"),
        claimed(
            "errors grow with the share of sensitive answers",
            all((np.diff(e) > 0).all() for e in exact.values()),
            "some fall",
        ),
        claimed(
            "uHR grows faster than uRAP, uSS, uUE and uLH",
            all(growth["uHR"] > growth[name] for name in ("uRAP", "uSS", "uUE", "uLH")),
            "the estimator run here for uRAP and uHR gains most where few answers are sensitive",
        ),
    )
    return Result(
        COLUMNS,
        rows,
        checks,
        (*notes, "which answers become sensitive is drawn; the last point has one open answer at least"),
    )


def plot(result: Result) -> "pictures.Figure":
    """One panel for each data set."""
    return style.panels(result, "sensitive share", "n x MSE", "mechanism", "data", "standard error", log="y")
