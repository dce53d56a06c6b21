"""Better prices for the bound on releases where few answers are near each other: cutting planes within a box.

F(y) of `release_bound` is the smallest of linear functions of the prices, one for each set of answers that may count as near
y: D(y) - s + (odds - 1) times the sum of pi(x) (d(x, y) - mu(x)) over the set, with D(y) the mean loss of y and s the sum of
all pi(x) mu(x). The largest s with none of those met so far below 0 is a sparse linear program. Its prices show which other
sets count. Where they prove more they are kept, and otherwise the next program stays closer to the best ones.
Kelley 1960; Marsten, Hogan, Blankenship 1975.
"""

from collections.abc import Iterable

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.errors import InvalidParameter, MissingExtra

MOST = 1 << 15  # answers in all sets of the first prices; with more, programs take too long
ROUNDS, FEWEST, WORK = 30, 6, 30_000_000  # programs; fewer of them where there are more losses than that in all
STEPS = 20  # to where no F is below 0; what is missing then, the check takes off
ENOUGH = 1e-3  # the share of what is proved that a program must promise to add


def sharpened(losses: Floats, prices: Floats, shares: Floats, odds: float) -> Floats:
    """Prices that prove more than these, if they are found; otherwise these.

    >>> line, even = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))), np.full(5, 0.2)
    >>> round(float(even @ sharpened(line, np.zeros(5), even, 55.0)), 4)
    0.1356
    """
    times, mean = odds - 1, losses @ shares
    direct = (mean - mean.sum() / (times + len(shares))) / (times * np.maximum(shares, 1e-12))  # nobody is near another
    starts = [lowered(losses, np.maximum(each, 0), shares, odds) for each in (prices, direct)]
    best = max(starts, key=lambda each: float(shares @ each))
    known = float(shares @ prices) + min(0.0, float(_totals(losses, prices, shares, odds).min()))
    worth = float(shares @ best)
    if not best.any() or np.count_nonzero(losses < (best if worth > known else prices)) > MOST:
        return best if worth > known else prices
    cuts, radius = _Cuts(losses, shares, times, float(best.mean())), 1.0
    cuts.add(np.eye(len(shares), dtype=np.bool_), range(len(shares)))
    cuts.add(losses < best, range(len(shares)))
    for _ in range(min(ROUNDS, max(FEWEST, WORK // losses.size))):
        try:
            promised, found = cuts.solved(best, radius)
        except (InvalidParameter, MissingExtra):
            break
        near = losses < found
        cuts.add(near, np.flatnonzero(_totals(losses, found, shares, odds) < 0).tolist())
        kept = lowered(losses, found, shares, odds)
        gain, hoped = float(shares @ kept) - worth, promised - worth
        if gain > 0:
            best, worth = kept, worth + gain
        if hoped < ENOUGH * worth:
            break
        radius *= 4 if gain > 0.9 * hoped else 1 if gain > 0.3 * hoped else 1 / 3
    return best if worth > known else prices


def _totals(losses: Floats, prices: Floats, shares: Floats, odds: float) -> Floats:
    """F of every answer."""
    apart = losses - prices
    return np.asarray(np.where(apart < 0, odds * apart, apart) @ shares)


def lowered(losses: Floats, prices: Floats, shares: Floats, odds: float) -> Floats:
    """The largest multiple of these prices, up to all of them, for which no F is below 0: Newton's steps down to it.

    F is concave in the multiple, and at 0 it is the mean loss of y.
    """
    mean, part = losses @ shares, 1.0
    for _ in range(STEPS):
        near = losses < part * prices
        fixed = mean + (odds - 1) * ((losses * near) @ shares)
        slope = shares @ prices + (odds - 1) * (near @ (shares * prices))
        most = float((fixed / np.maximum(slope, 1e-300)).min())  # F is fixed - part * slope as long as the same are near
        if most >= part * (1 - 1e-12):
            break
        part = most
    return part * prices


class _Cuts:
    """The sets met so far, as rows of a program in prices over `unit` and s over `unit`, each divided by its limit."""

    def __init__(self, losses: Floats, shares: Floats, times: float, unit: float) -> None:
        self.losses, self.shares, self.times, self.unit, self.mean = losses, shares, times, unit, losses @ shares
        self.met, self.values, self.places, self.ends = set[tuple[int, bytes]](), list[Floats](), list[Ints](), [0]

    def add(self, near: Bools, released: Iterable[int]) -> None:
        """These sets of near answers, for these of the answers that may be released."""
        for y in released:
            inside = np.flatnonzero(near[y])
            if (y, inside.tobytes()) in self.met:
                continue
            self.met.add((y, inside.tobytes()))
            owed = self.times * self.shares[inside]
            limit = float(self.mean[y] + owed @ self.losses[y, inside])
            self.values.append(np.append(owed, 1.0) * (self.unit / limit))
            self.places.append(np.append(inside, len(self.shares)))
            self.ends.append(self.ends[-1] + len(inside) + 1)

    def solved(self, centre: Floats, radius: float) -> tuple[float, Floats]:
        """The largest s within this part of the prices from the centre, and the prices that promise it."""
        try:
            from scipy.optimize import linprog
            from scipy.sparse import csr_array
        except ImportError:
            raise MissingExtra("The bound", "stats") from None
        size, count = len(centre), len(self.ends) - 1
        rows = csr_array((np.concatenate(self.values), np.concatenate(self.places), self.ends), shape=(count, size + 1))
        width = radius * np.maximum(centre, self.unit)
        lowest, highest = np.maximum(centre - width, 0) / self.unit, (centre + width) / self.unit
        bounds = np.stack([np.append(lowest, 0.0), np.append(highest, np.inf)], axis=1)
        cost, sums = np.append(np.zeros(size), -1.0), csr_array(np.append(self.shares, -1.0)[None, :])
        found = linprog(cost, A_ub=rows, b_ub=np.ones(count), A_eq=sums, b_eq=[0.0], bounds=bounds, method="highs-ds")
        if found.status != 0:
            raise InvalidParameter(f"The linear program was not solved: {found.message}")
        return -float(found.fun) * self.unit, np.maximum(found.x[:size], 0) * self.unit
