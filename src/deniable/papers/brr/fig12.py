"""Fig. 12: how long the server takes to make the tables and release places."""

import time
from typing import TYPE_CHECKING

import numpy as np

from deniable.domains import Points
from deniable.mechanisms import Bipartite, Staircase
from deniable.mechanisms.release import Release
from deniable.papers import style
from deniable.papers.brr.regions import COUNTS, divided
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed, coins_for

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("brr/fig12", "BRR", "run-time against the share of places", seconds=12, minutes=0.3)
COLUMNS = ("data", "users %", "mechanism", "released", "seconds")
EPSILON, SHARES, FEW = 1.0, tuple(range(10, 101, 10)), (10, 40, 70, 100)
STATED = 4.0  # seconds for bipartite response on 3,000 places


def made(name: str, domain: Points) -> Release:
    """The mechanism, from nothing but the places."""
    if name == "L-SRR, equal rings":
        return Staircase(domain, EPSILON)
    return Bipartite(domain, EPSILON, near=1 if name == "direct" else 0)


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
            for each in ("direct", "bipartite", "L-SRR, equal rings"):
                coins, released, start = coins_for(seed, name, share, each), 0, time.process_time()
                for number in range(len(found.sizes)):
                    members = found.members(number)
                    own = np.flatnonzero(chosen[members])
                    if len(own):
                        mechanism = made(each, Points(found.places.points[members], "haversine"))
                        released += len(mechanism.released(mechanism.perturb(own, coins)))
                rows.append((name, share, each, released, time.process_time() - start))
    table = Result(COLUMNS, rows, (claimed("", True, ""),), measured=("seconds",))
    seconds = {each: table.numbers("seconds", mechanism=each) for each in ("direct", "bipartite", "L-SRR, equal rings")}
    largest = float(table.numbers("seconds", data="FourSquare", mechanism="bipartite").max())
    checks = (
        claimed(
            "direct response takes least in all", seconds["direct"].sum() <= 1.2 * seconds["bipartite"].sum(), "of chance"
        ),
        claimed(
            "L-SRR takes more than bipartite response in all",
            seconds["L-SRR, equal rings"].sum() > seconds["bipartite"].sum(),
            "of chance",
        ),
        claimed(
            f"bipartite response takes at most {STATED:g} seconds for 3,000 places",
            largest <= STATED,
            "this machine is slower",
        ),
    )
    return Result(COLUMNS, rows, checks, (*notes, "times are of this machine, and not in the CSV"), ("seconds",))


def plot(result: Result) -> "pictures.Figure":
    """One panel for each set."""
    return style.panels(
        result, "users %", "seconds", "mechanism", "data", log="y", units=("users, % of the places", "seconds of one core")
    )
