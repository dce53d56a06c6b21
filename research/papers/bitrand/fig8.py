"""Fig. 8: area under the curve where gradients are randomized, with an anonymizer."""

from typing import TYPE_CHECKING

from research.data.folder import Data
from research.papers.bitrand import claims, training
from research.papers.figure import ALL, Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure(
    "bitrand/fig8",
    "BitRand",
    "area under the curve where gradients are randomized, with an anonymizer",
    seconds=64,
    minutes=13,
)
MEASURE = "AUC %"


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """All lines of the paper and ours, in federated rounds, several times."""
    return claims.on_inputs(training.study(quick, seed, data, pace), "anonymized", MEASURE, pace)


def plot(result: Result) -> "pictures.Figure":
    """One panel for each set."""
    return training.drawn(result, MEASURE)
