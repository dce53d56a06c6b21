"""Fig. 5: bits and time of a message against the number of variants."""

from typing import TYPE_CHECKING

import numpy as np

from research.data.folder import Data
from research.data.lists import SITES, variants
from research.papers.compressed import drawing, messages
from research.papers.compressed.about import LOCATIONS
from research.papers.figure import ALL, Check, Figure, Pace, Result, claimed

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure(
    "compressed/fig5", "Compressed RR", "bits and time of a message against the number of variants", seconds=4, minutes=1
)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Messages of some people, at epsilon 1 for one differing coordinate."""
    count = pace.times(quick, 40, 1000)
    return messages.size_result(variants(data, seed, count), count, seed, pace, pace.times(quick, 5, 20), own)


def own(cost: messages.Cost) -> list[Check]:
    """How many variants there are, and how much the cost varies."""
    away = float(np.abs(cost.bits / cost.bits.mean() - 1).max())
    low, high = int(cost.differing.min()), int(cost.differing.max())
    kept = SITES / LOCATIONS
    return [
        claimed("over 83 % of the locations are kept", kept > 0.83, f"it is {kept:.4f} of them"),
        claimed("people have 800 to 1,100 variants", low >= 800 and high <= 1100, f"they have {low} to {high}", sure=False),
        claimed(
            "every cost is within 10 % of the mean",
            away <= 0.1,
            f"one is {away:.1%} away, as a tail of 1 / x of the labels lets it (erratum Compressed C4)",
            sure=False,
        ),
    ]


def plot(result: Result) -> "pictures.Figure":
    """Bits and times."""
    return drawing.by_size(result)
