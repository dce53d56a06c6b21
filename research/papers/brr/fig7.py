"""Fig. 7: the places of the location experiments and their regions."""

import math

import numpy as np

from deniable import FiniteChannel
from deniable.domains import Ordered
from research.data.folder import Data
from research.papers import style
from research.papers.brr.regions import COUNTS, by_prefix, divided
from research.papers.figure import ALL, Figure, Pace, Result, claimed, near

FIGURE = Figure("brr/fig7", "BRR", "maps of the places and their regions", seconds=0.5)
COLUMNS = ("data", "region", "latitude", "longitude")


def across_regions() -> float:
    """The exact loss of releases that never leave the region of the truth: two regions of two places each."""
    rows = [[3, 1, 0, 0], [1, 3, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]]
    return FiniteChannel(Ordered(range(4)), 1.2, rows).loss().epsilon()


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Divide the places."""
    rows, notes, checks = [], [], []
    for name, (count, wanted, smallest, largest) in COUNTS.items():
        found = divided(data, name, seed)
        notes.append(found.places.note)
        for region, (lat, lon) in zip(found.region.tolist(), found.places.points.tolist(), strict=True):
            rows.append((name, region, lat, lon))
        plain = np.bincount(by_prefix(found.places.points, smallest))
        why = (
            f"other places were drawn: the tiles that hold at least {smallest} places, as in the authors' program, have "
            f"up to {plain.max():,} here"
        )
        checks += [
            near(
                f"{name}: regions by common prefixes, none below {smallest} places", str(wanted), len(plain), why, sure=False
            ),
            near(
                f"{name}: places of the largest region, where there are {wanted}",
                str(largest),
                int(found.sizes.max()),
                "which places were drawn, and how they were divided, is not stated",
                sure=False,
            ),
        ]
        notes.append(
            f"{name}: {count:,} places in {wanted} regions of at least {smallest}, as stated, were made on purpose: the "
            "fullest tiles are split first, and small ones join their neighbours"
        )
    checks.append(
        claimed(
            "releases that stay within the region of the truth keep epsilon",
            math.isfinite(across_regions()),
            "a release rules out all places of other regions: epsilon is unbounded (erratum BRR A11)",
        )
    )
    return Result(COLUMNS, rows, tuple(checks), tuple(notes))


def plot(result: Result) -> "style.Picture":
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
