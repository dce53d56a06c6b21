"""The loss of a release that no mechanism can beat: prices of the answers, checked in whole numbers.

Proof. Let pi be the prior and d(x, y) the loss of releasing y where x is true. Give each answer x a price mu(x), and let
a(x) = d(x, y) - mu(x) for one y. Probabilities p(x) of releasing y have ratios of at most the odds, so they lie between some
t and odds t, and the sum of pi(x) p(x) a(x) is at least t F(y), with F(y) the sum of pi(x) a(x) where a(x) is positive, and
of odds pi(x) a(x) where it is negative. If no F(y) is negative, then summed over y the expected loss is at least the sum of
pi(x) mu(x): the probabilities of x sum to one. If some F(y) is as low as -s, prices that are lower by s make none negative.
So every choice of prices proves something. For the worst answer, the bound under any prior holds.

What is proved is concave in the prices. They climb it by gradient steps, the smallest F(y) being smoothed ever less; the
weights of the answers y in that are the probabilities of the best release, as far as it is found. Of many answers some may
be released at first, and those whose F(y) turns out to be the lowest are added (column generation). For the worst answer,
the prior follows the losses. Where the budget is so large that few answers are near each other, programs go on from there
(`release_cuts`).
"""

import math
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.domains.metric import Metric
from deniable.mechanisms.algebra.release_cuts import sharpened

LARGEST = 4096  # answers, whose losses are all kept for it
FIRST, ADDED = 160, 80  # answers that may be released at first, and those that each later round adds
STEPS, FEWER, ROUNDS = 400, 160, 4  # of the ascent at first, in a later round, and the rounds
SMOOTH, SHARP = 0.03, 1e-4  # what F(y) is smoothed by, over the largest loss
FAST, SLOW = 0.05, 1e-3  # the length of steps, likewise
FOLLOW, FARTHEST = 0.1, 3.0  # how quickly the prior follows the losses, and from how far above their mean
HALF, BITS, SHARE_BITS = 20, 40, 40  # binary digits of factors, of losses and prices over the largest loss, and of shares


def release_bound(metric: Metric, epsilon: float, shares: Floats, worst: bool = False) -> float | None:
    """The expected loss under the prior, or for the worst answer, that no mechanism with this epsilon can beat.

    None for more than LARGEST answers, and where nothing above 0 was proved.

    >>> from deniable.domains import Ordered
    >>> round(release_bound(Ordered(range(5)), 1.0, np.full(5, 0.2)), 4)
    0.9934
    """
    if metric.size > LARGEST:
        return None
    losses = np.concatenate([rows for _, rows in metric.blocks(released=True)])  # a row for each that may be released
    odds = math.nextafter(math.exp(epsilon), math.inf)
    even = np.full(metric.size, 1 / metric.size)  # from where the prior follows the losses: a share of 0 would stay so
    prices, prior = found(losses, even if worst else shares, odds, worst)
    prices = sharpened(losses, prices, prior, odds)
    proved = checked(losses, prices, prior, odds)
    return proved if proved > 0 else None


def checked(losses: Floats, prices: Floats, shares: Floats, odds: float) -> float:
    """What these prices prove, in whole numbers: losses are rounded down, and what rounding shares costs is taken off.

    >>> round(checked(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.25, 0.25]), np.array([0.5, 0.5]), 3.0), 4)
    0.25
    """
    largest = float(losses.max())
    if not 0 < largest < math.inf:
        return 0.0
    whole = np.floor(losses / largest * (1 - 2.0**-50) * (1 << BITS)).astype(np.int64)
    mu = np.floor(np.clip(prices / largest, 0, 1) * (1 << BITS)).astype(np.int64)
    pi = np.rint(shares * (1 << SHARE_BITS)).astype(np.int64)
    times, short = math.ceil(math.nextafter(odds, math.inf) * (1 << HALF)), 0
    for row in whole:
        apart = row - mu
        above, below = _product(pi, np.maximum(apart, 0)), _product(pi, np.maximum(-apart, 0))
        short = max(short, -(-(times * below - (above << HALF)) >> HALF))
    rounded = (len(pi) + 2) / (1 << (SHARE_BITS + 1))  # each share is off by half a unit at most
    total = (_product(pi, mu) - short) / (1 << (BITS + SHARE_BITS)) - rounded
    return math.nextafter(total * largest * (1 - 2.0**-40), -math.inf)


def _product(shares: Ints, numbers: Ints) -> int:
    """The sum of products, in halves whose sums are less than 2^62."""
    return (int(shares @ (numbers >> HALF)) << HALF) + int(shares @ (numbers & ((1 << HALF) - 1)))


def found(losses: Floats, shares: Floats, odds: float, worst: bool = False) -> tuple[Floats, Floats]:
    """Prices that prove much, and the prior that they are for."""
    largest = float(losses.max())
    if not 0 < largest < math.inf:
        return np.zeros(len(shares)), shares
    losses = losses / largest
    released = _spread(losses)
    state = _Ascent(odds, np.full(losses.shape[1], float((losses @ shares).min()) / 2), shares, worst)
    for place in range(ROUNDS if len(released) < len(losses) else 1):
        state.climb(losses[released], STEPS if place == 0 else FEWER, place == 0)
        low = state.totals(losses)
        if low[released].min() <= low.min():
            break
        released = np.union1d(released, np.argsort(low, kind="stable")[:ADDED])
    # What the last rounds added may have left others too low; the check takes off what is missing.
    return state.prices * largest, state.shares


def _spread(losses: Floats) -> Ints:
    """Answers far from each other: all, if there are few."""
    if len(losses) <= 2 * FIRST:
        return np.arange(len(losses))
    chosen, far = [int(losses.sum(axis=1).argmin())], np.full(len(losses), np.inf)
    while len(chosen) < FIRST:
        far = np.minimum(far, losses[chosen[-1]])
        chosen.append(int(far.argmax()))
    return np.unique(chosen)


@dataclass
class _Ascent:
    """Where the search stands."""

    odds: float
    prices: Floats
    shares: Floats
    worst: bool

    def totals(self, losses: Floats) -> Floats:
        """F for each of these rows of losses."""
        apart = losses - self.prices
        return np.asarray(np.where(apart < 0, self.odds * apart, apart) @ self.shares)

    def climb(self, losses: Floats, steps: int, first: bool) -> None:
        """So many gradient steps, with the moments of Adam (Kingma, Ba 2015); the best state is kept."""
        mean, square = np.zeros(len(self.prices)), np.zeros(len(self.prices))
        best = (-math.inf, self.prices, self.shares)
        for step in range(steps):
            part = step / (steps - 1) if first else 0.5 + 0.5 * step / (steps - 1)
            smooth, length = SMOOTH * (SHARP / SMOOTH) ** part, FAST * (SLOW / FAST) ** part
            apart = losses - self.prices
            near = apart < 0
            totals = np.where(near, self.odds * apart, apart) @ self.shares
            proved = float(self.shares @ self.prices) + min(float(totals.min()), 0.0)
            if proved > best[0]:
                best = (proved, self.prices, self.shares)
            chances = np.exp(-(totals - totals.min()) / smooth)
            chances /= chances.sum()
            sums = 1 + (self.odds - 1) * (chances @ near)  # sums over y of the probabilities of x, but for a factor
            slope = 1 - sums / (self.shares @ sums)
            mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
            moved = mean / (1 - 0.9 ** (step + 1)) / (np.sqrt(square / (1 - 0.99 ** (step + 1))) + 1e-3)
            self.prices = self.prices + length * moved
            if self.worst:
                paid = (chances @ losses + (self.odds - 1) * (chances @ (near * losses))) / sums
                above = np.minimum(paid / (self.shares @ paid) - 1, FARTHEST)
                raised = self.shares * np.exp(FOLLOW * (1 - part) * above)
                self.shares = raised / raised.sum()
            self._settle(losses)
        self.prices, self.shares = best[1:]

    def _settle(self, losses: Floats) -> None:
        """Raise or lower all prices until the smallest F is about 0."""
        row = losses[int(self.totals(losses).argmin())]
        for _ in range(3):
            apart = row - self.prices
            factors = np.where(apart < 0, self.odds, 1.0)
            self.prices = self.prices + (factors * apart) @ self.shares / (factors @ self.shares)
