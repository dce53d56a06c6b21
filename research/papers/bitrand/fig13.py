"""Fig. 13: flip probabilities against the number of features, other bits and budgets."""

from typing import TYPE_CHECKING

from research.data.folder import Data
from research.papers.bitrand import elastic
from research.papers.figure import ALL, Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure(
    "bitrand/fig13", "BitRand", "flip probabilities against the number of features, other bits and budgets", seconds=0.2
)
FEATURES, BITS, EPSILONS = (1, 10, 100, 1000, 10_000), (5, 20, 100, 1000), (0.1, 1.0, 2.0)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Formulas of the paper at its alpha, and the loss of all bits together."""
    rows = elastic.table(FEATURES, BITS, EPSILONS, "features")
    return Result(elastic.COLUMNS, rows, elastic.feature_checks(rows, BITS, EPSILONS), ("no data needed",))


def plot(result: Result) -> "pictures.Figure":
    """The bits that the paper shows."""
    return elastic.drawn(result, "features")
