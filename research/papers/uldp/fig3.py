"""Fig. 3: the error of every mechanism by its formula, in four settings."""

from functools import partial

import numpy as np

from deniable.arrays import Floats
from research.data.folder import Data
from research.data.histograms import STATED
from research.papers import style
from research.papers.figure import ALL, Figure, Pace, Result, near, ranking, theory
from research.papers.uldp.collect import disclosed_at
from research.papers.uldp.mechanisms import EPSILONS, OURS, PUBLISHED, hashed_epsilon, sized, stated_error, total

FIGURE = Figure(
    "uldp/fig3", "ULDP", "error by theory against epsilon, in the settings of four data sets", seconds=3, minutes=0.1
)
COLUMNS = ("setting", "epsilon", "mechanism", "n x MSE", "true epsilon")
SAME = 1 + 1e-9  # two mechanisms of one law differ by rounding


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
    table = Result(COLUMNS, rows)
    errors = {name: table.numbers("n x MSE", mechanism=name) for name in (*PUBLISHED, *OURS)}
    epsilons, true = table.numbers("epsilon", mechanism="uLH"), table.numbers("true epsilon", mechanism="uLH")
    worse = errors["uUE"] > errors["uRAP"] * SAME
    behind = errors["uSS"] > errors["uRR"] * SAME
    best = np.min([errors[name] for name in ("uRR", "uRAP", "uUE", "uLH")], axis=0)
    beaten, by_hadamard = errors["uSS"] > best * SAME, errors["uSS"] > errors["uHR"] * SAME
    large = [size >= 100 for _, size, _, _ in STATED.values() for _ in EPSILONS]
    cases = len(worse)
    level = disclosed_as_often(errors["uUE"], errors["uSS"])[large]
    alike = {name: float(np.exp(np.log(errors[name] / errors["uSS"])[large].mean())) for name in ("uUE", "uLH")}
    checks = (
        ranking("uSS is never worse than uRR", not behind.any(), f"it is in {behind.sum()} of {cases} settings"),
        ranking(
            "uUE is better than uRAP in all settings",
            not worse.any(),
            f"by the paper's own Eq. 28 it is worse in {worse.sum()} of {cases} (erratum ULDP E6)",
        ),
        ranking(
            "uSS has the least error of the five with a formula, in all settings",
            not beaten.any(),
            f"another one has less in {beaten.sum()} of {cases}, down to {(best / errors['uSS']).min():.3f} of it",
        ),
        theory(
            "uSS has less error than uHR too, which has no formula in the paper",
            not by_hadamard.any(),
            f"by its exact variance uHR has less in {by_hadamard.sum()} of {cases} (erratum ULDP E12)",
        ),
        *(
            near(
                f"error of {name} over that of uSS where many answers are sensitive (Census, Normal), geometric mean",
                "1",
                ratio,
                f"z* of uUE is small: with that of uSS it would be {level.mean():.3f} times (erratum ULDP E3)",
            )
            for name, ratio in alike.items()
        ),
        theory(
            "uLH keeps epsilon",
            (true <= epsilons * (1 + 1e-9)).all(),
            f"it costs up to {(true - epsilons).max():.3g} more (erratum ULDP E1)",
        ),
    )
    gain = float((errors["uSS lean"] / errors["uSS"]).min())
    better = f"uSS, the same reports estimated without their noisy part (lean), has down to {gain:.2f} of the error of uSS"
    return Result(COLUMNS, rows, checks, ("settings as the paper states them; no data needed",), improved=(better,))


def disclosed_as_often(unary: Floats, subset: Floats) -> Floats:
    """The error of uUE over that of uSS, had open answers been disclosed as often as by uSS: Eq. 28 with another z*."""
    ratios = []
    cases = [(size, share, epsilon) for _, size, share, _ in STATED.values() for epsilon in EPSILONS]
    for (size, share, epsilon), error, other in zip(cases, unary, subset, strict=True):
        own, theirs = (share * (1 / disclosed_at(name, size, epsilon, share) - 1) for name in ("uUE", "uSS"))
        ratios.append((error - own + theirs) / other)
    return np.array(ratios)


plot = partial(style.panels, x="epsilon", y="n x MSE", by="mechanism", panel="setting", log="y")
