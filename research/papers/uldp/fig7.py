"""Fig. 7: how much of the error disappears when the open answer is sent beside a disguised report."""

from fractions import Fraction
from functools import partial

import numpy as np

from deniable.core.odds import odds_below
from deniable.mechanisms.algebra.utility_formulas import disclosed_beside, disguise, published_error, published_optimum
from deniable.mechanisms.shares.subset_selection import chance
from research.data.folder import Data
from research.data.histograms import STATED
from research.papers import style
from research.papers.figure import ALL, ROUNDING, Figure, Pace, Result, near, theory, trend
from research.papers.uldp.mechanisms import EPSILONS, FAMILIES, best_subset, hashed_epsilon

FIGURE = Figure("uldp/fig7", "ULDP", "error saved by the largest z, exactly", seconds=1, minutes=0.1)
COLUMNS = ("data", "epsilon", "mechanism", "n x MSE, z = 0", "n x MSE, largest z", "saved %")
APART = (("Foursquare", "uSS"), ("Drug", "uSS"))  # which the text treats apart: (a) and (g)


def errors(name: str, size: int, epsilon: float, share: float) -> tuple[float, float]:
    """n times the total error by Eq. 28 without z and with the printed one, at the parameter that is best with it."""
    odds = odds_below(epsilon)
    best = published_optimum(size, float(odds), share)
    parameter = {
        "uSS": Fraction(best_subset(size, epsilon, share)),
        "uUE": Fraction(best["p"]),
        "uLH": Fraction(round(best["g"])),
    }[name]
    if name == "uSS":
        p, q = chance(size, int(parameter), odds)
    elif name == "uUE":
        p, q = parameter, parameter / (odds * (1 - parameter) + parameter)
    else:
        p, q = odds / (odds + parameter - 1), 1 / parameter
    f, z = disguise(size, p, q), disclosed_beside(name, size, parameter, odds)
    both = (published_error(size, p, q, 1 - f * (1 - each), Fraction(share)) for each in (Fraction(0), z))
    first, second = map(float, both)
    return first, second


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """By the paper's formulas, which are exact for what they describe."""
    rows = []
    for name, (_, size, share, _) in pace.over(list(STATED.items())):
        for epsilon in EPSILONS:
            for each in FAMILIES:
                without, largest = errors(each, size, epsilon, share)
                rows.append((name, epsilon, each, without, largest, 100 * (1 - largest / without)))
    table = Result(COLUMNS, rows)
    means = {
        (name, each): float(table.numbers("saved %", data=name, mechanism=each).mean())
        for name in STATED
        for each in FAMILIES
    }
    useful = [mean for cell, mean in means.items() if cell not in APART]
    zero = table.numbers("saved %", data="Drug", mechanism="uSS")
    late = table.numbers("saved %", data="Foursquare", mechanism="uSS")[np.array(EPSILONS) > 3.5]
    excess = hashed_epsilon(230, 2.0, 0.77) - 2.0
    checks = (
        near("least mean saving of the others, %", "9", min(useful), "the formulas give this at the stated settings"),
        near("largest mean saving, %", "26", max(useful), "the formulas give this at the stated settings"),
        trend(
            "uSS saves nothing on Drug, where k is 1",
            float(np.abs(zero).max()) < ROUNDING,
            f"it saves up to {np.abs(zero).max():.3g} %",
        ),
        trend(
            "uSS saves nothing on Foursquare above epsilon 3.5",
            float(np.abs(late).max()) < ROUNDING,
            f"it saves up to {np.abs(late).max():.3g} %",
        ),
        theory(
            "the z of uLH is private",
            excess <= 1e-9,
            f"at 230 sensitive answers and epsilon 2 it costs {2 + excess:.4g} (erratum ULDP E1)",
        ),
    )
    return Result(COLUMNS, rows, checks, ("settings as the paper states them; no data needed",))


plot = partial(style.panels, x="epsilon", y="saved %", by="mechanism", panel="data", units=("", "error saved, %"))
