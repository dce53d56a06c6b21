"""Places of the location figures: real check-ins, or the districts of a made-up city."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deniable.arrays import Floats
from research.data.folder import Data, random_for

SETS = {"Gowalla": ("locations/gowalla_pois.csv.gz", 1000), "FourSquare": ("locations/foursquare_nyc_pois.csv.gz", 3000)}
AUTHORS = {"Gowalla": "locations/gowalla_authors_1000.csv"}  # the places that the paper's own figures show
Name = Literal["Gowalla", "FourSquare"]


@dataclass(frozen=True, eq=False)
class Places:
    """Rows of latitude and longitude, no two alike, and where they come from; `authors` if they are the paper's own."""

    points: Floats
    note: str
    real: bool
    authors: bool = False


def places(data: Data, name: str, seed: int, count: int) -> Places:
    """The paper's own places, or `count` random places of the same set, or made-up ones if the set is not there."""
    file = SETS[name][0]
    if count == SETS[name][1] and name in AUTHORS and data.has(AUTHORS[name]):
        own = np.array(data.table(AUTHORS[name], ["first", "second"]), np.float64).T
        return Places(own, f"{name}: the {len(own):,} places of the authors' program", True, True)
    random = random_for(seed, "places", name)
    if data.has(file):
        rows = np.array(data.table(file, ["lat", "lon"]), np.float64).T
        rows = np.unique(rows.round(5), axis=0)
        chosen = np.sort(random.choice(len(rows), min(count, len(rows)), replace=False))
        return Places(rows[chosen], f"{name}: {len(chosen):,} of {len(rows):,} real places, drawn with the seed", True)
    centres = random.normal(0, 0.06, (14, 2)) * [1, 1.3] + [40.75, -73.97]
    share = 1 / np.arange(1, 15)
    districts = random.choice(14, count, p=share / share.sum())
    made = np.unique((centres[districts] + random.normal(0, 0.012, (count, 2)) * [1, 1.3]).round(6), axis=0)
    return Places(made, f"{name}: stand-in, {len(made):,} places of a made-up city in 14 districts", False)
