"""Fig. 8: the expected distance of released places from true ones."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deniable import Bipartite, Coarsened, Staircase
from deniable.domains import Points, quadkey
from deniable.domains.quadkey import LEVELS
from research.data.folder import Data
from research.papers import style
from research.papers.brr.regions import COUNTS, divided
from research.papers.figure import ABOUT, ALL, Figure, Pace, Result, Row, near, ranking, set_up, theory, trend

FIGURE = Figure(
    "brr/fig8", "BRR", "expected distance of releases, within regions of two sets of places", seconds=19, minutes=0.4
)
PUBLISHED, PROGRAMMED = "L-SRR as published", "L-SRR as the authors group it"
COARSEST, MOST, DEEPER = 2, 50, 5  # of the authors' groups: their first level, their size, and levels of the nearer one
COLUMNS = ("data", "epsilon", "mechanism", "expected distance", "true epsilon")
EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
STATED = {"Gowalla": ("8.7", "23.4", 2.0), "FourSquare": ("6.7", "14.3", 0.25)}  # mean and largest saving in %, and where


def published_staircase(points: NDArray[np.float64], epsilon: float) -> tuple[float, float]:
    """L-SRR as published: the expected distance in kilometres, and the true epsilon."""
    km, channel = Points(points, "haversine"), published_channel(points, epsilon)
    logs = np.log(channel)
    true = float((logs.max(axis=0) - logs.min(axis=0)).max())
    return float((channel * km.losses(np.arange(km.size))).sum(axis=1).mean()), max(true, epsilon)


def published_channel(points: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """The law of L-SRR as published, with rings by map tiles."""
    tiles = Points(points, "quadkey")
    levels = np.unique(tiles.losses(np.arange(tiles.size)))
    edges = np.unique(np.quantile(levels[levels < levels.max()], [1 / 3, 1.0], method="lower"))
    return staircase_channel(tiles, epsilon, edges.tolist())


def staircase_channel(domain: Points, epsilon: float, edges: list[float]) -> NDArray[np.float64]:
    """The law of `ReleaseChannel.staircase_as_published` in floats, for hundreds of places."""
    ring = np.searchsorted(edges, domain.losses(np.arange(domain.size)))
    weights = 1 + (len(edges) - ring) * np.expm1(epsilon) / len(edges)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def grouped_savings(regions: Sequence[NDArray[np.float64]], ours: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is saved over L-SRR as published, in %: a row for every way to cut map tiles into two or three rings.

    `ours` has an expected distance for each budget. The paper does not state its rings.
    """
    km = [Points(points, "haversine") for points in regions]
    far = [domain.losses(np.arange(domain.size)) for domain in km]
    tiles = [Points(points, "quadkey") for points in regions]
    levels = [domain.losses(np.arange(domain.size)) for domain in tiles]
    weights = np.array([len(points) for points in regions]) / sum(map(len, regions))
    edges = np.unique(np.concatenate([np.unique(level) for level in levels]))[:-1]
    found = []
    for cut in (*combinations(edges, 1), *combinations(edges, 2)):
        # the mean distance within and the size of each ring around each place: all that a budget needs
        ring = [np.searchsorted(cut, level) for level in levels]
        sums = [np.stack([(d * (r == k)).sum(axis=1) for k in range(len(cut) + 1)]) for d, r in zip(far, ring, strict=True)]
        sizes = [np.stack([(r == k).sum(axis=1) for k in range(len(cut) + 1)]) for r in ring]
        row = []
        for epsilon in EPSILONS:
            step = 1 + (len(cut) - np.arange(len(cut) + 1)) * np.expm1(epsilon) / len(cut)
            means = [float(((step @ total) / (step @ size)).mean()) for total, size in zip(sums, sizes, strict=True)]
            row.append(float(weights @ means))
        found.append(100 * (1 - ours / np.array(row)))
    return np.array(found)


def programmed_staircase(points: NDArray[np.float64], epsilon: float) -> tuple[float, float]:
    """L-SRR as the authors' program groups all places: the expected distance in kilometres, and the true epsilon.

    A place is released as one of those in the largest tile around it that holds at most 50, wherever the regions end: with
    probability e^epsilon / (e^epsilon + 1) as one of those that agree in five more levels, otherwise as one of the rest.
    Every place further away is ruled out, so that epsilon is unbounded.
    """
    keys, km = quadkey(points), Points(points, "haversine")
    shared = np.sum([(keys[:, None] >> 2 * level) == (keys >> 2 * level) for level in range(LEVELS)], axis=0)
    level = np.full(len(keys), COARSEST)
    while (crowded := (shared >= level[:, None]).sum(axis=1) > MOST).any():
        level[crowded] += 1
    near_ring = shared >= level[:, None] + DEEPER
    far_ring = (shared >= level[:, None]) & ~near_ring
    inside, outside = near_ring.sum(axis=1), far_ring.sum(axis=1)
    odds = math.exp(epsilon)
    first, second = np.where(outside > 0, odds / (odds + 1), 1.0) / inside, 1 / (odds + 1) / np.maximum(outside, 1)
    channel = near_ring * first[:, None] + far_ring * second[:, None]
    low = channel.min(axis=0)
    true = math.inf if (low == 0).any() else float(np.log(channel.max(axis=0) / low).max())
    return float((channel * km.losses(np.arange(km.size))).sum(axis=1).mean()), true


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Exact expectations in every region, averaged over all places, which are equally common."""
    rows, notes, own = list[Row](), [], set[str]()
    for name in COUNTS:
        found = divided(data, name, seed, min(1.0, pace.share))
        notes.append(found.places.note)
        if found.places.authors:
            own.add(name)
        weights = found.sizes / found.sizes.sum()
        for epsilon in pace.over(EPSILONS):
            losses: dict[str, list[float]] = {}
            levels = {PUBLISHED: epsilon}
            for number in range(len(found.sizes)):
                points = found.places.points[found.members(number)]
                domain = Points(points, "haversine")
                published, cost = published_staircase(points, epsilon)
                levels = {PUBLISHED: max(levels[PUBLISHED], cost)}
                made = {
                    "direct": Bipartite(domain, epsilon, near=1).expected_loss(),
                    PUBLISHED: published,
                    "L-SRR, equal rings": Staircase(domain, epsilon).expected_loss(),
                    "bipartite": Bipartite(domain, epsilon).expected_loss(),
                    "bipartite, best m": Bipartite(domain, epsilon, "mean").expected_loss(),
                    "coarsened": Coarsened(domain, epsilon).expected_loss(),
                }
                for each, loss in made.items():
                    losses.setdefault(each, []).append(loss)
            for each, parts in losses.items():
                rows.append((name, epsilon, each, float(weights @ parts), levels.get(each, epsilon)))
            rows.append((name, epsilon, PROGRAMMED, *programmed_staircase(found.places.points, epsilon)))
    table = Result(COLUMNS, rows)
    checks = []
    for name, (mean, largest, where) in STATED.items():
        by = {
            str(each): table.numbers("expected distance", data=name, mechanism=each)
            for each in style.distinct(table.column("mechanism"))
        }
        saved = 100 * (1 - by["bipartite"] / by[PUBLISHED])
        exact = 100 * (1 - by["bipartite"] / by["L-SRR, equal rings"])
        true = table.numbers("true epsilon", data=name, mechanism=PUBLISHED)
        grouped = float((by["bipartite"] / by[PROGRAMMED]).mean())
        known = table.numbers("true epsilon", data=name, mechanism=PROGRAMMED)
        why = (
            f"over L-SRR as the authors' program groups the places, at most {MOST} each and with an epsilon of "
            f"{known.max():g}, bipartite response has {grouped:.2f} times the distance, so that this does not explain it"
        )
        if name in own:
            found = divided(data, name, seed, min(1.0, pace.share))
            regions = [found.places.points[found.members(number)] for number in range(len(found.sizes))]
            ways = grouped_savings(regions, by["bipartite"])
            means, most = ways.mean(axis=1), ways.max(axis=1)
            met = (np.abs(means - float(mean)) <= ABOUT * float(mean)) & (
                np.abs(most - float(largest)) <= ABOUT * float(largest)
            )
            why += (
                f"; the paper does not state its rings, and in the {len(ways)} ways to cut map tiles into two or three of "
                f"them bipartite response saves {means.min():.1f} to {means.max():.1f} % on average and {most.min():.1f} to "
                f"{most.max():.1f} % at most; both numbers are met within 15 % in {met.sum()} of them"
            )
        best = float((by["bipartite, best m"] / np.minimum(by["direct"], by[PUBLISHED])).max())
        if name in own:
            checks += [
                near(f"{name}: bipartite saves over L-SRR on average, %", mean, float(saved.mean()), why, sure=False),
                near(f"{name}: bipartite saves over L-SRR at most, %", largest, float(saved.max()), why, sure=False),
                trend(f"{name}: most at epsilon {where:g}", EPSILONS[int(saved.argmax())] == where, why, sure=False),
            ]
        else:
            notes.append(
                f"{name}: these are not the paper's places, so its numbers cannot be tested; bipartite saves "
                f"{saved.mean():.1f} % on average (paper {mean}) and {saved.max():.1f} % at most (paper {largest}); {why}"
            )
        checks += [
            ranking(
                f"{name}: bipartite is the best of the three at every budget",
                (by["bipartite"] <= np.minimum(by["direct"], by[PUBLISHED])).all(),
                "its number of near places is forced down by single places (rule min): with the m that is best on average "
                f"it has at most {best:.3f} times the better of the others",
            ),
            theory(
                f"L-SRR as published keeps epsilon on {name}",
                true.max() <= max(EPSILONS) * (1 + 1e-9),
                f"it costs up to {true.max():.3g} at epsilon {max(EPSILONS):g}, "
                "its rings having other sizes around other places (claim L-SRR)",
            ),
            theory(
                f"no mechanism is better on {name}",
                (by["coarsened"] >= by["bipartite"] * (1 - 1e-9)).all(),
                f"coarsened response has down to {(by['coarsened'] / by['bipartite']).min():.3f} "
                "times its distance (erratum BRR A6)",
            ),
        ]
        notes.append(
            f"{name}: over L-SRR with equal rings, which keeps its promise, bipartite saves {exact.mean():.1f} % on average"
        )
    notes.append(
        "distances are in kilometres along the great circle; within regions only, as in the paper (erratum BRR A11)"
    )
    return Result(COLUMNS, rows, tuple(checks), tuple(notes), setup=set_up(notes, other=own != set(COUNTS)))


plot = partial(
    style.panels, x="epsilon", y="expected distance", by="mechanism", panel="data", units=("", "expected distance, km")
)
