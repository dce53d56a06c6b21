"""Sparse vectors, graphs and weighted links: ratings, variants of a genome, friends; real, or generated in their shape."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.files.edges import read_edges
from deniable.graphs import Graph
from research.data.folder import Data, random_for

RATINGS = ("ratings/ml_latest_small_2018.csv.gz", "ratings/ml_latest_small_2016.csv.gz")
SPECTRUM, VISITS = "genomics/rare_spectrum_890060.csv.gz", "telemetry/msweb_visits.csv.gz"
SLASHDOT, WIKI = "graphs/soc_slashdot0902.csv.gz", "graphs/wiki_vote.csv.gz"
FACEBOOK = "graphs/facebook_combined.csv.gz"
GOWALLA, FOURSQUARE = "locations/gowalla_nyc_checkins.csv.gz", "locations/foursquare_nyc_checkins.csv.gz"
CHECK_INS = {GOWALLA: ("venue", "time"), FOURSQUARE: ("poi", "minute")}  # the columns of places and times
MOVIES, SITES, PEOPLE = 87_585, 890_060, 107_614  # coordinates of the three kinds of vectors, as the paper states them
TWICE = {"522", "533", "624"}  # users of the second file of ratings who are in the first one too


@dataclass(frozen=True, eq=False)
class Lists:
    """For each person the coordinates that differ from the reference, of `size` coordinates."""

    size: int
    lists: tuple[Ints, ...]
    note: str

    def first(self, count: int) -> tuple[Ints, ...]:
        """So many of the lists, or all if there are fewer."""
        return self.lists[:count]


@lru_cache(maxsize=8)
def rated(data: Data, seed: int) -> Lists:
    """The films that people rated; identifiers stand for random ones of all films there are."""
    random = random_for(seed, "ratings")
    if data.has(*RATINGS):
        rows: dict[str, list[int]] = {}
        places: dict[str, int] = {}
        for number, file in enumerate(RATINGS):
            for user, movie in zip(*data.table(file, ["user", "movie"]), strict=True):
                if number and user in TWICE:
                    continue
                rows.setdefault(f"{number} {user}", []).append(places.setdefault(movie, len(places)))
        name = random.permutation(MOVIES)
        users = [np.sort(name[row]) for row in rows.values()]
        order = random.permutation(len(users))
        note = f"{len(users):,} real users of MovieLens's small samples, their films placed among {MOVIES:,}"
        return Lists(MOVIES, tuple(users[place] for place in order), note)
    sizes = np.clip(np.exp(random.normal(4.426, 1.035, 1000)), 20, 3500).astype(np.int64)
    weights = 1 / np.arange(1, MOVIES + 1)
    weights /= weights.sum()
    users = [_drawn(random, weights, int(size)) for size in sizes]
    return Lists(MOVIES, tuple(users), f"stand-in: {len(users):,} made-up users with as many ratings as MovieLens's have")


def _drawn(random: np.random.Generator, weights: Floats, size: int) -> Ints:
    """Different coordinates, drawn with weights; more are drawn than needed, and the first ones kept."""
    found = random.choice(len(weights), 3 * size + 100, p=weights)
    _, first = np.unique(found, return_index=True)
    kept = found[np.sort(first)][:size]
    return np.sort(kept).astype(np.int64)


@lru_cache(maxsize=8)
def variants(data: Data, seed: int, count: int) -> Lists:
    """Made-up genomes, as in the paper: each rare site differs with its frequency, independently."""
    random = random_for(seed, "variants")
    if data.has(SPECTRUM):
        frequency, sites = (np.array(column, np.float64) for column in data.table(SPECTRUM, ["frequency", "sites_model"]))
        chances = np.repeat(frequency, sites.astype(np.int64))
        note = f"made-up genomes from a spectrum of {len(chances):,} sites fitted to the 1000 Genomes project"
    else:
        chances = (100 - 90 * random.random(SITES)) ** -2.0
        note = f"stand-in: made-up genomes from made-up frequencies of {SITES:,} sites"
    random.shuffle(chances)
    people = []
    for _ in range(count):
        hit = np.flatnonzero(random.random(len(chances)) < chances)
        people.append(hit.astype(np.int64))
    return Lists(len(chances), tuple(people), note)


@lru_cache(maxsize=8)
def friends(data: Data, seed: int) -> Lists:
    """How many neighbours of smaller number people have in a large network, each at a random place."""
    random = random_for(seed, "friends")
    if data.has(SLASHDOT):
        graph = edges(data, SLASHDOT)
        degrees = np.rint(graph.degrees * PEOPLE / graph.vertices)
        note = f"degrees of Slashdot's network ({graph.vertices:,} people) scaled to {PEOPLE:,}; Google+ itself is missing"
    else:
        degrees = np.exp(random.normal(2.5, 1.6, 5000))
        note = f"stand-in: made-up degrees in a network of {PEOPLE:,}; Google+ itself is missing"
    sizes = np.clip(degrees[degrees >= 1], 1, 5000).astype(np.int64)
    sizes = random.permutation(sizes)[:1000]
    return Lists(PEOPLE, tuple(np.sort(random.choice(PEOPLE, int(size), replace=False)) for size in sizes), note)


def edges(data: Data, name: str) -> Graph:
    """The graph in a file of edges."""
    data.read(name)
    assert data.folder is not None
    return read_edges(data.folder / name)[0]


def contacts(data: Data, name: str) -> Graph:
    """Who met whom: people who checked in at the same place on the same day, as a file of check-ins has them."""
    place, when = CHECK_INS[name]
    people, places, times = data.table(name, ["user", place, when])
    days = [time[:10] if when == "time" else str(int(time) // 1440) for time in times]
    names, numbers = np.unique(people, return_inverse=True)
    met: dict[tuple[str, str], set[int]] = {}
    for person, there, day in zip(numbers.tolist(), places, days, strict=True):
        met.setdefault((there, day), set()).add(person)
    pairs = {pair for some in met.values() for pair in combinations(sorted(some), 2)}
    return Graph.of(np.array(sorted(pairs)), len(names))


@dataclass(frozen=True, eq=False)
class Network:
    """A graph and where it comes from."""

    graph: Graph
    note: str
    real: bool


@lru_cache(maxsize=4)
def network(data: Data, seed: int, small: bool = False) -> Network:
    """Wikipedia's votes; else, or for a quick look, a made-up network of friends of friends."""
    if data.has(WIKI) and not small:
        graph = edges(data, WIKI)
        return Network(graph, f"Wikipedia's votes: {graph.vertices:,} people, {graph.edges:,} edges", True)
    size = 400 if small else 2000
    random = random_for(seed, "network", size)
    links, ends, below = list[tuple[int, int]](), [0, 1], [list[int]() for _ in range(size)]
    for vertex in range(2, size):  # new people know well-known ones, and some of whom those know
        chosen = {ends[place] for place in random.integers(0, len(ends), 1 + int(random.geometric(0.12)))}
        for other in sorted(chosen)[:2]:
            chosen |= set(below[other][:4])
        below[vertex] = sorted(chosen)
        links += [(vertex, other) for other in below[vertex]]
        ends += [vertex, *below[vertex]]
    graph = Graph.of(np.array(links), size)
    return Network(graph, f"stand-in: a made-up network of {size:,} people with {graph.edges:,} edges", False)


@dataclass(frozen=True, eq=False)
class Weighted:
    """Links of people to items, with weights; who, to what, how much."""

    name: str
    users: Ints
    items: Ints
    weights: Floats
    low: float
    high: float
    note: str


@lru_cache(maxsize=4)
def weighted(data: Data, name: str, seed: int, most: int) -> Weighted:
    """Ratings of the most rated films, or visits to the parts of a web site, every one with weight 1."""
    if name == "ratings" and data.has(RATINGS[0]):
        users, items, stars = data.table(RATINGS[0], ["user", "movie", "rating_x2"])
        return _kept(name, users, items, np.array(stars, np.float64) / 2, (0.5, 5.0), most, "real ratings of MovieLens")
    if name == "visits" and data.has(VISITS):
        users, items = data.table(VISITS, ["user", "area"])
        return _kept(name, users, items, np.ones(len(users)), (0.0, 1.0), most, "real visits to a web site")
    random = random_for(seed, "weighted", name)
    people, things = (600, 300) if name == "ratings" else (8000, 200)
    chance = 0.5 / np.arange(1, things + 1) ** 0.7
    pairs = np.argwhere(random.random((people, things)) < chance[None, :])
    weights = np.clip(np.rint(random.normal(7, 2, len(pairs))), 1, 10) / 2 if name == "ratings" else np.ones(len(pairs))
    span = (0.5, 5.0) if name == "ratings" else (0.0, 1.0)
    users, items = ([str(each) for each in column] for column in pairs.T)
    return _kept(name, users, items, weights, span, most, f"stand-in: made-up {name}")


def _kept(
    name: str, users: list[str], items: list[str], weights: Floats, span: tuple[float, float], most: int, what: str
) -> Weighted:
    """The links to the `most` items that have most of them; all people take part."""
    names, item, often = np.unique(items, return_inverse=True, return_counts=True)
    top = np.argsort(-often, kind="stable")[:most]
    place = np.full(len(names), -1)
    place[top] = np.arange(len(top))
    _, person = np.unique(users, return_inverse=True)
    kept = place[item] >= 0
    note = f"{name}: {what}, {int(person.max()) + 1:,} people, {len(top)} items, {int(kept.sum()):,} links"
    return Weighted(name, person[kept], place[item][kept], weights[kept], *span, note)
