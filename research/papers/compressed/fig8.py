"""Fig. 8: time of a message against beta."""

from typing import TYPE_CHECKING

from research.data.folder import Data
from research.papers.compressed import drawing, sweep
from research.papers.figure import ALL, Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("compressed/fig8", "Compressed RR", "time of a message against beta", seconds=9, minutes=0.3)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Messages of some people on ratings."""
    return sweep.times_result("beta", sweep.BETAS, quick, seed, data, pace)


def plot(result: Result) -> "pictures.Figure":
    """Quartiles over people."""
    return drawing.by_setting(result, "beta", "milliseconds", "milliseconds")
