"""Fig. 8: the mean absolute error of every mechanism."""

from fractions import Fraction
from functools import partial

import numpy as np

from deniable import Unary
from deniable.core.odds import odds_below
from deniable.domains import Categories
from deniable.mechanisms.algebra.utility_formulas import published_optimum
from deniable.metrics import mae
from deniable.wrappers.utility_optimized import UtilityOptimized
from research.data.folder import Data
from research.data.histograms import STATED, histogram
from research.papers import style
from research.papers.figure import ALL, Figure, Pace, Result, near, ranking, set_up
from research.papers.uldp.collect import Collector, Reported, collector, expected_mae
from research.papers.uldp.mechanisms import FEWER, LEAN, PEOPLE, PUBLISHED
from research.papers.uldp.metrics import judged, log_ratio

FIGURE = Figure(
    "uldp/fig8", "ULDP", "mean absolute error against epsilon, on four data sets", seconds=6, minutes=0.5, limit=FEWER
)
COLUMNS = ("data", "epsilon", "mechanism", "MAE", "standard error")


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """The collections of Fig. 4, judged by another metric."""
    rows, notes = judged(quick, seed, data, pace, {"MAE": mae}, tuple(STATED), PEOPLE)
    table = Result(COLUMNS, rows)
    found = {name: table.numbers("MAE", mechanism=name) for name in PUBLISHED}
    spread = {name: table.numbers("standard error", mechanism=name) for name in PUBLISHED}
    behind = found["uSS"] - found["uRR"] > 3 * np.hypot(spread["uSS"], spread["uRR"])
    ahead = found["uUE"] - found["uRAP"] > 3 * np.hypot(spread["uUE"], spread["uRAP"])
    where = np.array(table.column("data"))[np.array(table.column("mechanism")) == "uUE"]
    worse = {str(name): int(ahead[where == name].sum()) for name in STATED}
    alike, error = log_ratio(table, *COLUMNS[3:], "uUE", "uLH")
    first = {name: float(table.numbers("MAE", data="Foursquare", mechanism=name).mean()) for name in PUBLISHED}
    best = min(first, key=lambda name: first[name])
    cases = sorted({(str(row[0]), float(row[1])) for row in rows})
    printed, masked = with_other_mask(cases, data, seed, pace.times(quick, PEOPLE, PEOPLE))
    checks = (
        ranking(
            "uSS is nowhere worse than uRR, by 3 standard errors",
            not behind.any(),
            f"it is in {behind.sum()} of {len(behind)} cases",
        ),
        near(
            "error of uUE over that of uLH, geometric mean",
            "1",
            alike,
            f"uUE discloses open answers too rarely: by the exact variances it has {printed:.2f} times the error of uLH, "
            f"and {masked:.2f} times with the best mask for the same bits (erratum ULDP E3)",
            error,
        ),
        ranking(
            "uUE is not always better than uRAP on Foursquare and on Normal (worse by 3 standard errors somewhere)",
            worse["Foursquare"] > 0 and worse["Normal"] > 0,
            f"it is worse in {worse['Foursquare']} and {worse['Normal']} of {len(cases) // len(STATED)} cases",
        ),
        ranking(
            "uHR has the least error of the six on Foursquare, on average",
            best == "uHR",
            f"{best} has, {first[best]:.3g} against {first['uHR']:.3g}",
        ),
    )
    return Result(COLUMNS, rows, checks, (*notes, LEAN), setup=set_up(notes, other=True, smaller=True))


def with_other_mask(cases: list[tuple[str, float]], data: Data, seed: int, people: int) -> tuple[float, float]:
    """The error of uUE over that of uLH by their variances: as published, and with the bits of uUE behind the best mask."""
    logs = []
    for name, epsilon in cases:
        held = histogram(data, name, seed)
        counts = held.scaled(people)
        truth, size = counts / counts.sum(), len(held.sensitive)
        share = 1 - float(truth[list(held.sensitive)].sum())
        p = Fraction(published_optimum(size, float(odds_below(epsilon)), share)["p"]).limit_denominator(1 << 20)
        base = Unary(Categories(range(size)), epsilon, p)
        domain = Categories(range(len(counts)))
        ways: list[Collector] = [
            *(collector(each, len(counts), held.sensitive, epsilon, share) for each in ("uLH", "uUE")),
            Reported(UtilityOptimized(base, domain, held.sensitive, epsilon, share)),
        ]
        errors = [expected_mae(way, truth, people) for way in ways]
        logs.append(np.log(np.array(errors[1:]) / errors[0]))
    both = np.exp(np.mean(logs, axis=0))
    return float(both[0]), float(both[1])


plot = partial(style.panels, x="epsilon", y="MAE", by="mechanism", panel="data", error="standard error", log="y")
