"""Table 2: how well the first twentieth of the people shows the open share."""

from typing import TYPE_CHECKING

import numpy as np

from deniable.domains import Categories
from deniable.mechanisms import SubsetSelection
from deniable.papers import style
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed, printed
from deniable.papers.histograms import STATED, histogram
from deniable.papers.uldp.mechanisms import EPSILONS, sized
from deniable.papers.uldp.pilot import PILOT, expected_error, measured_share, published_pilot
from deniable.wrappers.utility import UtilityOptimized

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("uldp/table2", "ULDP", "error of the open share from a pilot of 5 %", seconds=15, minutes=10)
COLUMNS = ("data", "mechanism", "paper %", "expected %", "expected at 0.5 %", "measured %", "standard error")
PRINTED = {  # percent
    "uSS": {"Foursquare": "1.23", "Census": "0.40", "Drug": "1.51", "Normal": "2.45"},
    "uUE": {"Foursquare": "3.35", "Census": "4.38", "Drug": "1.79", "Normal": "18.09"},
    "uLH": {"Foursquare": "0.83", "Census": "0.41", "Drug": "1.26", "Normal": "2.90"},
}
TOLD = {"uSS": "0.20", "uUE": "0.0028", "uLH": "0.18"}  # at epsilon 0.5 for Normal
PEOPLE = 100_000


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Expected errors at the stated sizes, and measured ones on the data."""
    rows, notes = [], []
    repeats, epsilons = pace.times(quick, 2, 50), EPSILONS[:: 3 if quick else 1]
    for name, (_, size, share, people) in pace.over(list(STATED.items())):
        held = histogram(data, name, seed)
        notes.append(held.note)
        most = people if not quick else PEOPLE
        for each, stated in PRINTED.items():
            expected = [
                100 * expected_error(sized(each, size, epsilon, 0.0).told_share, share, round(PILOT * people))
                for epsilon in EPSILONS
            ]
            errors = []
            for epsilon in epsilons:
                made = published_pilot(held, each, epsilon)
                shares = [measured_share(made, held, most, seed, number) for number in range(repeats)]
                errors += [100 * abs(found - held.open_share) / held.open_share for found in shares]
            spread = float(np.std(errors) / np.sqrt(len(errors)))
            rows.append(
                (name, each, float(stated[name]), float(np.mean(expected)), expected[0], float(np.mean(errors)), spread)
            )
    notes.append(
        f"expected: over epsilon 0.5 to 5 at the stated sizes; measured: {len(epsilons)} budgets, {repeats} pilots each"
    )
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    told = {each: sized(each, 230, 0.5, 0.77).told_share for each in TOLD}
    ours = UtilityOptimized(SubsetSelection, Categories(range(235)), range(230), 0.5, 0.77).told_share
    checks = [
        printed(f"z* of {each} for Normal at epsilon 0.5", stated, told[each], "our hash functions have a q of their own")
        for each, stated in TOLD.items()
    ]
    for name in STATED:
        for each in PRINTED:
            low, high = (float(table.numbers(column, data=name, mechanism=each)[0]) for column in COLUMNS[3:5])
            checks.append(
                claimed(
                    f"{each} on {name}: the printed {PRINTED[each][name]} % "
                    f"lies between what is expected on average ({low:.2f}) and "
                    f"at epsilon 0.5 ({high:.2f}), a tenth allowed for chance",
                    low / 1.1 <= float(PRINTED[each][name]) <= 1.1 * high,
                    "of chance: the paper does not tell how many pilots it averages",
                )
            )
    worst = table.numbers("expected %", data="Normal", mechanism="uUE")[0]
    checks.append(claimed("uUE on Normal is by far the worst", worst == table.numbers("expected %").max(), "another one is"))
    notes.append(f"with the best mask z* would be {ours:.3f} for all three, so the error of uUE vanishes (erratum ULDP E3)")
    return Result(COLUMNS, rows, tuple(checks), tuple(notes))


def plot(result: Result) -> "pictures.Figure":
    """Groups of bars: expected errors."""
    return style.bars(result, "data", "expected %", "mechanism", log="y", unit="mean error of the open share, %")
