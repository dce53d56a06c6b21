"""Fig. 3: the error of every mechanism by its formula, in four settings."""

from typing import TYPE_CHECKING

from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed
from deniable.papers.histograms import STATED
from deniable.papers.uldp.mechanisms import EPSILONS, OURS, PUBLISHED, hashed_epsilon, sized, stated_error, total

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("uldp/fig3", "ULDP", "error by theory against epsilon, in the settings of four data sets", seconds=8)
COLUMNS = ("setting", "epsilon", "mechanism", "n x MSE", "true epsilon")


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """The paper's formulas for the paper's mechanisms, and the exact errors of ours."""
    rows = []
    for name, (_, size, share, _) in pace.over(list(STATED.items())):
        for epsilon in EPSILONS:
            for each in (*PUBLISHED, *OURS):
                made = sized(each, size, epsilon, share)
                error = stated_error(each, size, epsilon, share) if each in PUBLISHED else total(made, share)
                setting = f"{name}: {size} sensitive, open share {share:g}"
                cost = hashed_epsilon(size, epsilon, share) if each == "uLH" else made.loss().epsilon()
                rows.append((setting, epsilon, each, error, cost))
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    errors = {name: table.numbers("n x MSE", mechanism=name) for name in (*PUBLISHED, *OURS)}
    epsilons, true = table.numbers("epsilon", mechanism="uLH"), table.numbers("true epsilon", mechanism="uLH")
    worse = errors["uUE"] > errors["uRAP"] * (1 + 1e-9)
    checks = (
        claimed("uSS is never worse than uRR", (errors["uSS"] <= errors["uRR"] * (1 + 1e-9)).all(), "of its parameters"),
        claimed(
            "uUE is better than uRAP in all settings",
            not worse.any(),
            f"by the paper's own Eq. 28 it is worse in {worse.sum()} of {len(worse)} (erratum ULDP E6)",
        ),
        claimed(
            "uSS is the best published mechanism in all settings",
            all((errors["uSS"] <= errors[name] * (1 + 1e-9)).all() for name in ("uRR", "uUE", "uLH")),
            "others are better somewhere",
        ),
        claimed(
            "uLH keeps epsilon",
            (true <= epsilons * (1 + 1e-9)).all(),
            f"it costs up to {(true - epsilons).max():.3g} more (erratum ULDP E1)",
        ),
    )
    gain = float((errors["uSS lean"] / errors["uSS"]).min())
    better = f"uSS, the same reports estimated without their noisy part (lean), has down to {gain:.2f} of the error of uSS"
    return Result(COLUMNS, rows, checks, ("settings as the paper states them; no data needed",), improved=(better,))


def plot(result: Result) -> "pictures.Figure":
    """One panel for each setting."""
    return style.panels(result, "epsilon", "n x MSE", "mechanism", "setting", log="y")
