"""Fig. 5: what it costs that more of the answers are sensitive, up to all of them."""

from functools import partial

import numpy as np

from research.data.folder import Data, random_for
from research.data.histograms import STATED, histogram
from research.papers import style
from research.papers.figure import ALL, Figure, Pace, Result, near, ranking, set_up, trend
from research.papers.uldp.collect import Measured, measure, over_exact
from research.papers.uldp.mechanisms import FEWER, LEAN, PEOPLE, PUBLISHED

FIGURE = Figure(
    "uldp/fig5", "ULDP", "measured error against the share of sensitive answers", seconds=7, minutes=0.5, limit=FEWER
)
COLUMNS = ("data", "sensitive share", "mechanism", "n x MSE", "standard error", "exact")
EPSILON, SHARES = 2.0, (0.2, 0.4, 0.6, 0.8, 0.99)
NAMES = (*PUBLISHED, "uSS lean", "uRAP lean")
MUCH = 0.4  # from which the text advises against uHR


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Random answers are made sensitive; the larger sets contain the smaller ones."""
    rows, found, notes = [], list[Measured](), [LEAN]
    people, repeats = pace.times(quick, PEOPLE, PEOPLE), pace.times(quick, 4, 50)
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
    table = Result(COLUMNS, rows)
    exact = {(name, each): table.numbers("exact", data=name, mechanism=each) for name in STATED for each in NAMES}
    growth = {each: [float(exact[name, each][-1] / exact[name, each][0]) for name in STATED] for each in PUBLISHED}
    faster = {
        name: [each for each in PUBLISHED if growth[each][place] > growth["uHR"][place]] for place, name in enumerate(STATED)
    }
    listed = "; ".join(f"{', '.join(names)} on {name}" for name, names in faster.items() if names)
    ratio, error = over_exact(found)
    late = np.array(SHARES) >= MUCH
    rivals = [np.concatenate([exact[name, each][late] for name in STATED]) for each in ("uSS", "uUE", "uLH")]
    better = np.concatenate([exact[name, "uHR"][late] for name in STATED]) < np.min(rivals, axis=0)
    falls = [f"{each} on {name}" for (name, each), values in exact.items() if (np.diff(values) <= 0).any()]
    checks = (
        near(
            "measured error over the exact one, on average",
            "1",
            ratio,
            "the collections do not have the error that was worked out",
            error,
        ),
        trend("errors grow with the share of sensitive answers", not falls, f"that of {', '.join(falls)} does not"),
        trend(
            "the error of uHR grows fastest, on every set",
            not listed,
            f"others grow faster, by the exact errors: {listed}",
        ),
        ranking(
            f"from a share of {MUCH:.0%} on uHR is worse than uSS, uUE and uLH",
            not better.any(),
            f"it is better in {better.sum()} of {len(better)} cases, by the exact errors",
        ),
    )
    drawn = "which answers become sensitive is drawn; the last point has one open answer at least"
    return Result(COLUMNS, rows, checks, (*notes, drawn), setup=set_up(notes, other=True, smaller=True))


plot = partial(style.panels, x="sensitive share", y="n x MSE", by="mechanism", panel="data", error="standard error", log="y")
