"""Fig. 7: the places of the location experiments and their regions."""

import math

import numpy as np

from deniable import FiniteChannel
from deniable.arrays import Ints
from deniable.domains import Ordered
from research.data.folder import Data
from research.papers import style
from research.papers.brr.regions import COUNTS, by_prefix, divided
from research.papers.figure import ALL, Check, Figure, Pace, Result, near, printed, set_up, theory

FIGURE = Figure("brr/fig7", "BRR", "maps of the places and their regions", seconds=0.5)
COLUMNS = ("data", "region", "latitude", "longitude")


def across_regions() -> float:
    """The exact loss of releases that never leave the region of the truth: two regions of two places each."""
    rows = [[3, 1, 0, 0], [1, 3, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]]
    return FiniteChannel(Ordered(range(4)), 1.2, rows).loss().epsilon()


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Divide the places."""
    rows, notes, checks = [], [], []
    for name, (_, wanted, smallest, largest) in COUNTS.items():
        found = divided(data, name, seed)
        notes.append(found.places.note)
        for region, (lat, lon) in zip(found.region.tolist(), found.places.points.tolist(), strict=True):
            rows.append((name, region, lat, lon))
        sizes = found.sizes if found.places.authors else np.bincount(by_prefix(found.places.points, smallest))
        if found.places.authors:
            checks += counts(name, sizes)
            continue
        notes.append(
            f"{name}: the paper's places are not known, so its counts cannot be tested; on these, tiles of at least "
            f"{smallest} places make {len(sizes)} regions of up to {sizes.max():,}. {wanted} regions of at least {smallest} "
            f"(paper: up to {largest}) were made on purpose: the fullest tiles are split first, and small ones join their "
            "neighbours"
        )
    checks.append(
        theory(
            "releases that stay within the region of the truth keep epsilon",
            math.isfinite(across_regions()),
            "a release rules out all places of other regions: epsilon is unbounded (erratum BRR A11)",
        )
    )
    return Result(COLUMNS, rows, tuple(checks), tuple(notes), setup=set_up(notes, other=True))


def counts(name: str, sizes: Ints) -> list[Check]:
    """The paper's counts on its own places, divided by the rule of its program."""
    _, wanted, smallest, largest = COUNTS[name]
    why = "the program's own rule gives this on its own places"
    return [
        near(f"{name}: regions", str(wanted), len(sizes), why),
        printed(f"{name}: places of the smallest region", str(smallest), int(sizes.min()), why),
        printed(f"{name}: places of the largest region", str(largest), int(sizes.max()), why),
    ]


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
