"""Fig. 4: the measured error of every mechanism against epsilon, on four data sets."""

from functools import partial

import numpy as np

from deniable import Unary
from deniable.core.odds import odds_below
from deniable.domains import Categories
from deniable.mechanisms.algebra.utility_formulas import published_optimum
from research.data.folder import Data
from research.data.histograms import STATED, Histogram, histogram
from research.papers import style
from research.papers.figure import ALL, Check, Figure, Pace, Result, near, printed, ranking, set_up, trend
from research.papers.uldp.collect import Measured, measure, over_exact
from research.papers.uldp.mechanisms import EPSILONS, FEW, FEWER, LEAN, PEOPLE, PUBLISHED, stated_error

FIGURE = Figure(
    "uldp/fig4", "ULDP", "measured error against epsilon, on four data sets", seconds=11, minutes=0.5, limit=FEWER
)
COLUMNS = ("data", "epsilon", "mechanism", "n x MSE", "standard error", "exact", "paper's formula")
NAMES = (*PUBLISHED, "uSS lean", "uRAP lean")
LEANS, LARGE = ("uSS", "uRAP"), ("Census", "Normal")
SAME = 1 + 1e-6  # two mechanisms of one law differ by rounding


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Repeated collections, beside the exact error and the paper's formula."""
    rows, found, notes = [], list[Measured](), [LEAN]
    people, repeats = pace.times(quick, PEOPLE, PEOPLE), pace.times(quick, 5, 50)
    sets = {name: histogram(data, name, seed) for name in STATED}
    for name, held in pace.over(list(sets.items())):
        notes.append(held.note)
        for epsilon in FEW if quick else EPSILONS:
            for each in NAMES:
                measured = measure(held, each, epsilon, people, repeats, seed)
                found.append(measured)
                stated = stated_error(each, len(held.sensitive), epsilon, held.open_share) if each in PUBLISHED else np.nan
                rows.append((name, epsilon, each, float(measured.errors.mean()), measured.spread, measured.exact, stated))
    table = Result(COLUMNS, rows)
    ratio, error = over_exact(found)
    checks = (
        near(
            "measured error over the exact one, on average",
            "1",
            ratio,
            "the collections do not have the error that was worked out",
            error,
        ),
        *orderings(table),
        *parameters(),
        *shapes(sets["Drug"]),
    )
    gain = {
        name: table.numbers("exact", mechanism=f"{name} lean") / table.numbers("exact", mechanism=name) for name in LEANS
    }
    better = tuple(
        f"{name}, estimated without the noisy part of its reports, has {share.min():.2f} to {share.max():.2f} of its error"
        for name, share in gain.items()
    )
    return Result(COLUMNS, rows, checks, tuple(notes), improved=better, setup=set_up(notes, other=True, smaller=True))


def orderings(table: Result) -> list[Check]:
    """Which mechanism the text calls better than which, by their exact errors on these data."""
    exact = {name: table.numbers("exact", mechanism=name) for name in PUBLISHED}
    cases, best = len(exact["uSS"]), np.min([exact[name] for name in PUBLISHED], axis=0)
    beaten = exact["uSS"] > best * SAME
    winners = ", ".join(name for name in PUBLISHED if (exact[name] * SAME < exact["uSS"]).any())
    on_drug = [table.numbers("exact", data="Drug", mechanism=name) for name in PUBLISHED]
    large = [np.array([table.numbers("exact", data=name, mechanism=each) for each in PUBLISHED]) for name in LARGE]
    worst = np.concatenate([each[0] * SAME >= each.max(axis=0) for each in large])
    least = min(np.tile(table.numbers("epsilon", data="Census", mechanism="uRR"), len(LARGE))[~worst], default=0.0)
    instead = sorted({PUBLISHED[row] for each in large for row in each.argmax(axis=0)} - {"uRR"})
    behind = exact["uUE"] > exact["uRAP"] * SAME
    fall = [table.numbers("exact", data=name, mechanism=each) for name in STATED for each in PUBLISHED]
    alike = float(np.exp(np.log(exact["uUE"] / exact["uLH"]).mean()))
    return [
        trend(
            "errors fall with epsilon",
            all((np.diff(each) < 0).all() for each in fall),
            "some rise with it, as the table shows",
        ),
        ranking(
            "uSS has the least error of the six everywhere",
            not beaten.any(),
            f"{winners} has less in {beaten.sum()} of {cases} cases, down to {(best / exact['uSS']).min():.2f} of it "
            "(erratum ULDP E12)",
        ),
        ranking(
            "uRR is among the best on Drug, where it is uSS",
            all((on_drug[0] <= each * SAME).all() for each in on_drug),
            "another one has less error there, as the table shows",
        ),
        ranking(
            "uRR is the worst on Census and Normal",
            worst.all(),
            f"in {(~worst).sum()} of {len(worst)} cases, from epsilon {least:g} on, {' and '.join(instead)} has more error",
        ),
        ranking(
            "uUE has less error than uRAP everywhere",
            not behind.any(),
            f"it has more in {behind.sum()} of {cases} cases, by both exact variances (erratum ULDP E6)",
        ),
        near("error of uUE over that of uLH, geometric mean", "1", alike, "uUE discloses open answers more rarely"),
    ]


def parameters() -> list[Check]:
    """The numbers p that the text states for Census."""
    _, size, share, _ = STATED["Census"]
    p = {epsilon: published_optimum(size, float(odds_below(epsilon)), share)["p"] for epsilon in (0.5, 5.0)}
    symmetric = {epsilon: float(Unary.symmetric(Categories(range(2)), epsilon).p) for epsilon in (0.5, 5.0)}
    cut = f"{p[5.0]:.4f} is cut off after three digits, not rounded (erratum ULDP E11)"
    return [
        printed("p of uRAP at epsilon 0.5", "0.562", symmetric[0.5], "the formula gives another number"),
        printed("p of uRAP at epsilon 5", "0.924", symmetric[5.0], "the formula gives another number"),
        printed("p of uUE for Census at epsilon 0.5", "0.5", p[0.5], "the formula gives another number"),
        printed("p of uUE for Census at epsilon 5", "0.517", p[5.0], cut),
    ]


def shapes(drug: Histogram) -> list[Check]:
    """What is said of uHR, and of the one data set that is the paper's own."""
    ends = {
        name: [stated_error("uHR", size, eps, share) for eps in (3.5, 5.0)] for name, (_, size, share, _) in STATED.items()
    }
    flat = float(np.mean([after / before for before, after in ends.values()]))
    limit = ", ".join(
        f"{(1 - share) * (size - 1):.4g} on {name} (now {ends[name][1]:.4g})" for name, (_, size, share, _) in STATED.items()
    )
    checks = [
        near(
            "error of uHR at epsilon 5 over that at 3.5, mean of the four settings",
            "1",
            flat,
            f"it falls on to (1 - open share) (s - 1): {limit} (erratum ULDP E4)",
        )
    ]
    if drug.real:
        checks.append(printed("open share of Drug", "0.78", drug.open_share, "other ratings count as sensitive here"))
        checks.append(printed("people of Drug", "215063", int(drug.people.sum()), "it is another version of the set"))
    return checks


plot = partial(style.panels, x="epsilon", y="n x MSE", by="mechanism", panel="data", error="standard error", log="y")
