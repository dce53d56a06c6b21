"""The best column of a law under metric privacy for given prices of the answers, with a proof that none is better.

A column c, the probabilities of one release under all answers, keeps c_v >= exp(-limits[u, v]) c_u for all pairs. For prices
y, release z and answers x let a_x = prior_x loss(x, z) - y_x. The smallest sum of a_x c_x is that of a linear program.
Where a_u is negative, c_u wants to be large, and elsewhere small: only pairs from a negative u matter, and few of them are
tight. They are found by adding those that the solution breaks. Until all are there, the value is too low, not too high: a
proof at any time. Its multipliers are a flow: what u lacks is taken from where there is enough, exp(limits) times as much.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.errors import InvalidParameter, MissingExtra

FIRST, ADDED = 3, 2  # pairs for each answer at first, and those that a later program adds
PROGRAMS = 25  # for one column
TINY = 1e-9  # gains below are left out: the solver takes them as 0


@dataclass(frozen=True)
class Flow:
    """For one release: how much goes from each of these answers to each of those, which proves the value of its columns."""

    release: int
    sources: Ints
    targets: Ints
    amounts: Floats


@dataclass(frozen=True)
class Priced:
    """A column for one release, the proved smallest value of all columns, and the flow that proves it.

    Values are sums of a_x c_x, over sums of w_x c_x with the weights w of the columns.
    """

    column: Floats
    least: float
    flow: Flow


@dataclass
class Columns:
    """The columns that keep the limits, and which pairs were tight for each release so far."""

    losses: Floats
    limits: Floats
    prior: Floats
    tight: dict[int, tuple[Ints, Ints]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.size = len(self.losses)
        self.gains = np.exp(-self.limits)
        self.paid = self.prior[:, None] * self.losses
        self.weights = (self.prior + 1 / self.size) / 2  # above 0 where the prior is 0

    def priced(self, prices: Floats, releases: Ints, guesses: Floats, close: float) -> Iterator[Priced]:
        """The best columns for these releases, up to `close`; those that are better than another's need not be so close."""
        lowest = 0.0
        for release in releases.tolist():
            found = self._best(prices, release, guesses, close, lowest)
            lowest = min(lowest, found.least)
            yield found

    def _best(self, prices: Floats, release: int, guesses: Floats, close: float, lowest: float) -> Priced:
        scale = 1 / float((self.prior @ self.losses).min())  # the solver's tolerances are for numbers about 1
        above = scale * self.size * (self.paid[:, release] - prices)
        wanting = np.flatnonzero(above < 0)
        nothing = Flow(release, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        if not len(wanting):
            return Priced(np.ones(self.size), 0.0, nothing)
        guess = guesses[((guesses @ above) / (guesses @ self.weights)).argmin()]
        reach = guess[wanting, None] * self.gains[wanting] / np.maximum(guess, 1e-300)
        pairs = self._most(reach, wanting, FIRST)
        if known := self._known(release):
            mine = above[known[0]] < 0
            pairs = np.union1d(pairs, known[0][mine] * self.size + known[1][mine])
        weights = self.size * self.weights
        for _ in range(PROGRAMS):
            sources, targets = np.divmod(pairs, self.size)
            least, column, amounts = _program(above, weights, self.gains[sources, targets], sources, targets)
            reached = column[wanting, None] * self.gains[wanting]
            raised = np.maximum(reached.max(axis=0), 1e-300)
            value = float(above @ raised / (weights @ raised))
            if value - least <= close * scale or least >= lowest * scale:
                break
            broken = reached / np.maximum(column, 1e-12 * column.max())
            more = np.union1d(pairs, self._most(np.where(broken > 1 + 1e-6, np.minimum(broken, 10), 0), wanting, ADDED))
            if len(more) == len(pairs):
                break
            pairs = more
        flowing = amounts > 0
        sources, targets, amounts = sources[flowing], targets[flowing], amounts[flowing] / (scale * self.size)
        self.tight[release] = (sources, targets)
        return Priced(raised / raised.max(), least / scale, Flow(release, sources, targets, amounts))

    def _most(self, scores: Floats, wanting: Ints, count: int) -> Ints:
        """For each answer the sources with the highest scores, but itself and those without any, as numbers of pairs."""
        scores = scores * (self.gains[wanting] > TINY)
        scores[np.arange(len(wanting)), wanting] = 0
        count = min(count, len(wanting))
        # Many are equal along a line; those that differ from answer to answer know more than the same ones again.
        spread = scores * (1 - 0.02 * np.modf(0.6180339887 * np.arange(scores.size).reshape(scores.shape))[0])
        best = np.argpartition(-spread, count - 1, axis=0)[:count]
        targets = np.broadcast_to(np.arange(self.size), best.shape)
        good = scores[best, targets] > 0
        return np.unique(wanting[best][good] * self.size + targets[good])

    def _known(self, release: int) -> tuple[Ints, Ints] | None:
        """The pairs that were tight for this release, or for the nearest one."""
        if not self.tight:
            return None
        others = np.array(list(self.tight))
        return self.tight[int(others[self.limits[release, others].argmin()])]


def _program(above: Floats, weights: Floats, gains: Floats, sources: Ints, targets: Ints) -> tuple[float, Floats, Floats]:
    """The smallest value with these pairs, a column that has it, and the multipliers of the pairs."""
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_array
    except ImportError:
        raise MissingExtra("The best law", "stats") from None
    count, size = len(sources), len(above)
    places = np.tile(np.arange(count), 2), np.concatenate([sources, targets])
    upper = csr_array((np.concatenate([gains, -np.ones(count)]), places), shape=(count, size))
    found = linprog(above, A_ub=upper, b_ub=np.zeros(count), A_eq=weights[None, :], b_eq=[1.0], method="highs-ds")
    if found.status != 0:
        raise InvalidParameter(f"The linear program was not solved: {found.message}")
    return float(found.fun), np.maximum(found.x, 0), -np.minimum(found.ineqlin.marginals, 0)
