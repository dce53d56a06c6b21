"""Fig. 7: the places of the location experiments and their regions."""

import math
from typing import TYPE_CHECKING

from deniable.domains import Ordered
from deniable.mechanisms import FiniteChannel
from deniable.papers import style
from deniable.papers.brr.regions import COUNTS, divided
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed, printed

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("brr/fig7", "BRR", "maps of the places and their regions", seconds=1)
COLUMNS = ("data", "region", "latitude", "longitude")


def across_regions() -> float:
    """The exact loss of releases that never leave the region of the truth: two regions of two places each."""
    rows = [[3, 1, 0, 0], [1, 3, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]]
    return FiniteChannel(Ordered(range(4)), 1.2, rows).loss().epsilon()


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Divide the places."""
    rows, notes, checks = [], [], []
    why = "which places were drawn, and how they were divided, is not told"
    for name, (count, wanted, smallest, largest) in COUNTS.items():
        found = divided(data, name, seed)
        notes.append(found.places.note)
        for region, (lat, lon) in zip(found.region.tolist(), found.places.points.tolist(), strict=True):
            rows.append((name, region, lat, lon))
        checks += [
            printed(f"{name}: places", str(count), len(found.region), why),
            printed(f"{name}: regions", str(wanted), len(found.sizes), why),
            claimed(f"{name}: the smallest region has at least {smallest} places", found.sizes.min() >= smallest, why),
            claimed(
                f"{name}: the largest has at most {largest}",
                found.sizes.max() <= largest,
                f"it has {found.sizes.max()}: {why}",
            ),
        ]
    checks.append(
        claimed(
            "releases that stay within the region of the truth keep epsilon",
            math.isfinite(across_regions()),
            "a release rules out all places of other regions: epsilon is unbounded (erratum BRR A11)",
        )
    )
    return Result(COLUMNS, rows, tuple(checks), tuple(notes))


def plot(result: Result) -> "pictures.Figure":
    """Two maps."""
    names = style.distinct(result.column("data"))
    figure, axes = style.blank(1, len(names), 4.6, 4)
    for chart, name in zip(axes, names, strict=True):
        for region in sorted(set(result.numbers("region", data=name))):
            lat, lon = (result.numbers(column, data=name, region=int(region)) for column in ("latitude", "longitude"))
            number = int(region)
            chart.plot(
                lon, lat, linestyle="", markersize=3, marker=style.MARKERS[number // 8 % 8], color=style.COLOURS[number % 8]
            )
        chart.set(title=str(name), xlabel="longitude, degrees", ylabel="latitude, degrees")
    return figure
