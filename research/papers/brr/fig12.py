"""Fig. 12: how long the server takes to make the tables and release places."""

import time
from functools import partial

import numpy as np

from deniable import Bipartite, Staircase
from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins
from deniable.domains import Points
from deniable.mechanisms.releases.release import Release
from research.data.folder import Data
from research.papers import style
from research.papers.brr.fig8 import PUBLISHED, published_channel
from research.papers.brr.regions import COUNTS, Regions, divided
from research.papers.figure import ABOUT, ALL, Figure, Pace, Result, coins_for, ranking, set_up, trend

FIGURE = Figure("brr/fig12", "BRR", "run-time against the share of places", seconds=2, minutes=0.4)
RINGS = "L-SRR, equal rings"
WAYS = ("direct", "bipartite", PUBLISHED, RINGS)
COLUMNS = ("data", "users %", "mechanism", "released", "seconds")
EPSILON, SHARES, FEW = 1.0, tuple(range(10, 101, 10)), (10, 40, 70, 100)
STATED, EACH, USERS = 4.0, 0.03, 100  # seconds for bipartite response on 3,000 places, and for a user; users that are timed


def made(name: str, domain: Points) -> Release:
    """The mechanism, from nothing but the places."""
    if name == RINGS:
        return Staircase(domain, EPSILON)
    return Bipartite(domain, EPSILON, near=1 if name == "direct" else 0)


def released(name: str, points: Floats, own: Ints, coins: Coins) -> int:
    """How many releases were made for these places of a region."""
    if name == PUBLISHED:
        edges = np.cumsum(published_channel(points, EPSILON), axis=1)
        draws = coins.below(1 << 30, len(own)) / (1 << 30)
        return len([int(np.searchsorted(edges[place], draw)) for place, draw in zip(own, draws, strict=True)])
    mechanism = made(name, Points(points, "haversine"))
    return len(mechanism.released(mechanism.perturb(own, coins)))


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Tables for all regions, and a release for the share of users: processor time of one core."""
    rows, notes = [], []
    for name in COUNTS:
        found = divided(data, name, seed, min(1.0, pace.share))
        notes.append(found.places.note)
        users = coins_for(seed, "users", name).below(1 << 40, len(found.region))
        for share in pace.over(FEW if quick else SHARES):
            chosen = np.zeros(len(users), np.bool_)
            chosen[np.argsort(users)[: round(share / 100 * len(users))]] = True
            for each in WAYS:
                coins, count, start = coins_for(seed, name, share, each), 0, time.process_time()
                for number in range(len(found.sizes)):
                    members = found.members(number)
                    own = np.flatnonzero(chosen[members])
                    if len(own):
                        count += released(each, found.places.points[members], own, coins)
                rows.append((name, share, each, count, time.process_time() - start))
    table = Result(COLUMNS, rows, measured=("seconds",))
    seconds = {each: table.numbers("seconds", mechanism=each) for each in WAYS}
    largest = float(table.numbers("seconds", data="FourSquare", mechanism="bipartite").max())
    everywhere = {each: float(found.sum()) for each, found in seconds.items()}
    times = ", ".join(f"{each} {found:.2g}" for each, found in everywhere.items())
    user = per_user(divided(data, "FourSquare", seed, min(1.0, pace.share)), seed)
    checks = (
        ranking(
            "direct response takes no more than bipartite response in all, within 15 %",
            everywhere["direct"] <= (1 + ABOUT) * everywhere["bipartite"],
            f"seconds in all are {times} here",
        ),
        ranking(
            "L-SRR takes more than bipartite response in all",
            everywhere[PUBLISHED] > everywhere["bipartite"],
            f"seconds in all are {times} here, in other programs than the authors'",
            sure=False,
        ),
        trend(
            f"bipartite response takes at most {STATED:g} seconds for 3,000 places",
            largest <= STATED,
            f"it takes {largest:.2g} here",
        ),
        trend(f"a user takes at most {EACH:g} seconds", user <= EACH, f"one takes {user:.2g} seconds here"),
    )
    notes.append("times are of this machine and of our programs, and not in the CSV")
    return Result(COLUMNS, rows, checks, tuple(notes), ("seconds",), setup=set_up(notes, other=True))


def per_user(found: Regions, seed: int) -> float:
    """The processor time of one release on a device that has the table of its region."""
    own = made("bipartite", Points(found.places.points[found.members(0)], "haversine"))
    coins = coins_for(seed, "user")
    own.perturb(np.array([0]), coins)
    start = time.process_time()
    for user in range(USERS):
        own.perturb(np.array([user % own.domain.size]), coins)
    return (time.process_time() - start) / USERS


plot = partial(
    style.panels,
    x="users %",
    y="seconds",
    by="mechanism",
    panel="data",
    log="y",
    units=("users, % of the places", "seconds of one core"),
)
