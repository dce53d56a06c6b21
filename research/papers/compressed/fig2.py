"""Fig. 2: bits of a message against epsilon."""

from typing import TYPE_CHECKING

from research.data.folder import Data
from research.papers.compressed import drawing, sweep
from research.papers.figure import ALL, Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("compressed/fig2", "Compressed RR", "bits of a message against epsilon", seconds=6, minutes=0.4)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Messages of some people on ratings."""
    return sweep.bits_result("epsilon", sweep.BUDGETS, quick, seed, data, pace)


def plot(result: Result) -> "pictures.Figure":
    """Quartiles over people."""
    return drawing.by_setting(result, "epsilon", "bits", "bits")
