"""Fig. 6: flip probabilities against the number of bits, 1,000 features, epsilon 1."""

from typing import TYPE_CHECKING

from research.data.folder import Data
from research.papers.bitrand import elastic
from research.papers.figure import ALL, Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure(
    "bitrand/fig6", "BitRand", "flip probabilities against the number of bits, 1,000 features, epsilon 1", seconds=0.1
)
FEATURES, BITS, EPSILONS = (1000,), (5, 10, 20, 100, 1000), (1.0,)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Formulas of the paper at its alpha, and the loss of all bits together."""
    rows = elastic.table(FEATURES, BITS, EPSILONS, "bits")
    return Result(elastic.COLUMNS, rows, elastic.bit_checks(rows, EPSILONS), ("no data needed",))


def plot(result: Result) -> "pictures.Figure":
    """The bits that the paper shows."""
    return elastic.drawn(result, "bits")
