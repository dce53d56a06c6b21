"""Fig. 1: bits and time of a message against the number of ratings."""

from typing import TYPE_CHECKING

from research.data.folder import Data
from research.data.lists import rated
from research.papers.compressed import drawing, messages
from research.papers.figure import ALL, Check, Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure(
    "compressed/fig1", "Compressed RR", "bits and time of a message against the number of ratings", seconds=6, minutes=0.3
)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Messages of some people, at epsilon 1 for one differing coordinate."""
    count = pace.times(quick, 150, 1000)
    return messages.size_result(rated(data, seed), count, seed, pace, pace.times(quick, 30, 100), own)


def own(cost: messages.Cost) -> list[Check]:
    """The slope."""
    return [messages.slope_check(cost)]


def plot(result: Result) -> "pictures.Figure":
    """Bits and times."""
    return drawing.by_size(result)
