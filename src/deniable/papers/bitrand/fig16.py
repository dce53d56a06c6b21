"""Fig. 16: accuracy where gradients are randomized."""

from typing import TYPE_CHECKING

from deniable.papers import style
from deniable.papers.bitrand import training
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("bitrand/fig16", "BitRand", "accuracy where gradients are randomized", seconds=12, minutes=5)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Trained once for each mechanism and budget."""
    return training.judged(
        *training.gradients(quick, seed, data, pace, shuffled=False), "accuracy", "BitRand (features)", "noise on gradients"
    )


def plot(result: Result) -> "pictures.Figure":
    """One panel for each set."""
    return style.panels(result, "epsilon", "accuracy", "mechanism", "data")
