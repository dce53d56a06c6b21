"""Fig. 15: accuracy where features are randomized."""

from typing import TYPE_CHECKING

from deniable.papers import style
from deniable.papers.bitrand import training
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("bitrand/fig15", "BitRand", "accuracy where features are randomized", seconds=12, minutes=5)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Trained once for each mechanism and budget."""
    return training.judged(*training.features(quick, seed, data, pace), "accuracy", "BitRand", "its rivals")


def plot(result: Result) -> "pictures.Figure":
    """One panel for each set."""
    return style.panels(result, "epsilon", "accuracy", "mechanism", "data")
