"""Fig. 12: flip probabilities of the bits at epsilon 0.1, 1 and 2."""

from typing import TYPE_CHECKING

from research.data.folder import Data
from research.papers.bitrand import bits
from research.papers.figure import ALL, Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("bitrand/fig12", "BitRand", "flip probabilities of the bits at epsilon 0.1, 1 and 2", seconds=0.1)
EPSILONS = bits.EPSILONS


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Formulas of the paper at its alpha, with 1,000 features of 10 bits."""
    rows = bits.table(EPSILONS)
    return Result(bits.COLUMNS, rows, tuple(bits.flip_checks(rows, EPSILONS)), bits.NOTES)


def plot(result: Result) -> "pictures.Figure":
    """Flips of each bit, and their mean over the first ones."""
    return bits.drawn(result, ("flip probability", "mean of the first bits"))
