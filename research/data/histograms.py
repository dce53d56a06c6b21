"""The four data sets of the utility-optimized figures, as histograms with their sensitive answers."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from research.data.folder import Data, random_for

BOX, CELLS = ((40.70, 40.88), (-74.02, -73.91)), 25  # Manhattan and its edges, as a grid
CHECKINS, VENUES = "locations/gowalla_nyc_checkins.csv.gz", "locations/gowalla_nyc_venues.csv.gz"
FOURSQUARE = "locations/foursquare_nyc_pois.csv.gz", "locations/foursquare_nyc_checkins.csv.gz"
CENSUS, DRUGS = "surveys/us_census_1990_MODEL_1200.csv.gz", "surveys/drug_review_rating_histogram.csv.gz"
# answers, sensitive ones, open share and people as the paper states them
STATED = {
    "Foursquare": (625, 25, 0.95, 419_959),
    "Census": (1200, 424, 0.56, 2_458_285),
    "Drug": (10, 3, 0.78, 215_063),
    "Normal": (1000, 230, 0.77, 99_732),
}


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many people have each answer, which answers are sensitive, and where the numbers come from."""

    name: str
    people: Ints
    sensitive: tuple[int, ...]
    note: str = ""
    real: bool = True

    @property
    def open_share(self) -> float:
        """The share of people with an answer that is not sensitive."""
        return 1 - float(self.people[list(self.sensitive)].sum() / self.people.sum())

    def scaled(self, most: int) -> Ints:
        """At most so many people with nearly the same shares; n times the error does not depend on n."""
        if self.people.sum() <= most:
            return self.people
        return np.diff(np.rint(np.cumsum(self.people) / self.people.sum() * most).astype(np.int64), prepend=0)


@lru_cache(maxsize=16)
def histogram(data: Data, name: str, seed: int) -> Histogram:
    """One of the four, by its name in the paper."""
    if name == "Normal":
        return _normal(seed)
    if name == "Drug" and data.has(DRUGS):
        (people,) = data.table(DRUGS, ["count"])
        return _real(name, np.array(people, np.int64), (0, 1, 2), "ratings 1 to 3 of all reviews, the paper's own set")
    if name == "Census" and data.has(CENSUS):
        people, marks = data.table(CENSUS, ["count", "sensitive_430"])
        secret = tuple(place for place, mark in enumerate(marks) if mark == "1")
        return _real(name, np.array(people, np.int64), secret, "a model fitted to 1,000 real rows; the full set is missing")
    if name == "Foursquare" and data.has(CHECKINS, VENUES):
        found = grid(name, data, VENUES, CHECKINS, "venue")
        what = "Gowalla's check-ins in Manhattan in place of Foursquare's, which are missing"
        return _real(name, found.people, found.sensitive, what)
    return _made(name, seed)


def _real(name: str, people: Ints, secret: tuple[int, ...], what: str) -> Histogram:
    exact = name == "Drug"
    return Histogram(name, people, secret, f"{name}: {int(people.sum()):,} people, {what}", exact)


def grid(name: str, data: Data, venues: str, visits: str, key: str) -> Histogram:
    """Check-ins in Manhattan: how many fall into each cell; a cell with a sensitive place is sensitive."""
    venue, lat, lon, marks = data.table(venues, [key, "lat", "lon", "sensitive"])
    cell = dict(zip(venue, _cells(np.array(lat, np.float64), np.array(lon, np.float64)).tolist(), strict=True))
    (visited,) = data.table(visits, [key])
    people = np.bincount([cell[visit] for visit in visited if cell.get(visit, -1) >= 0], minlength=CELLS * CELLS)
    secret = sorted({cell[each] for each, mark in zip(venue, marks, strict=True) if mark == "1" and cell[each] >= 0})
    return Histogram(name, people, tuple(secret))


def _cells(lat: NDArray[np.float64], lon: NDArray[np.float64]) -> Ints:
    steps = [np.floor((axis - low) / (high - low) * CELLS) for axis, (low, high) in zip((lat, lon), BOX, strict=True)]
    inside = (steps[0] >= 0) & (steps[0] < CELLS) & (steps[1] >= 0) & (steps[1] < CELLS)
    return np.where(inside, steps[0] * CELLS + steps[1], -1).astype(np.int64)


def _normal(seed: int) -> Histogram:
    """The paper's own generator, whose mean and spread it does not state."""
    size, count, _, people = STATED["Normal"]
    random = random_for(seed, "normal")
    drawn = np.clip(np.rint(500 + 500 / 3 * random.standard_normal(people)), 1, size).astype(np.int64) - 1
    held = np.bincount(drawn, minlength=size)
    secret = tuple(sorted(random.choice(size, count, replace=False).tolist()))
    note = f"Normal: {people:,} people, drawn from a normal distribution with the seed, as in the paper"
    return Histogram("Normal", held, secret, note, True)


def _made(name: str, seed: int) -> Histogram:
    """Answers that fall off as 1 / rank, with the stated numbers of answers and people and the stated open share."""
    size, count, share, people = STATED[name]
    random = random_for(seed, "histogram", name)
    secret = np.sort(random.choice(size, count, replace=False))
    weights = 1 / (1 + random.permutation(size))
    mark = np.zeros(size, np.bool_)
    mark[secret] = True
    weights[mark] *= (1 - share) / weights[mark].sum()
    weights[~mark] *= share / weights[~mark].sum()
    held = np.rint(np.cumsum(weights) * people).astype(np.int64)
    held[1:] -= held[:-1].copy()
    note = f"{name}: stand-in, {people:,} made-up people with the stated open share {share:g}"
    return Histogram(name, held, tuple(secret.tolist()), note, False)
