"""Single runs of a count of triangles with a look at what nobody sees: the true variance, given the graph and the answers.

Given the graph, the order of the people and the answers, the variance of a count is exact: that of one answer times the sum
of c^2, c being how many people are joined to both of a pair, and the squares of the noise that everybody adds.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from deniable.arrays import Ints
from deniable.core.coins import SeededCoins
from deniable.graphs import Graph
from deniable.graphs.evidence import Evidence
from deniable.graphs.honest import HonestCount
from deniable.graphs.hubs import step
from deniable.graphs.listed import answered
from deniable.graphs.outlook import Outlook
from deniable.graphs.ownership import Circle
from deniable.graphs.passes import seen
from deniable.graphs.plan import DEGREES, Plan, planned
from deniable.graphs.triangle_survey import first_answers, ranks, with_noise
from deniable.mechanisms.sparse.noisy_count import NoisyCount

REACH = 1.96
SETTINGS = ((1.0, 1.5), (2.0, 1.25))  # epsilon and alpha


@dataclass(frozen=True)
class Run:
    """What one run found, its true standard error, and the bits that everybody downloads."""

    found: HonestCount
    true: float
    bits: int

    @property
    def ratio(self) -> float:
        """Of the stated error to the true one."""
        return self.found.standard_error / self.true

    @property
    def coverage(self) -> float:
        """How often such an interval holds, if errors are normal."""
        return 2 * NormalDist().cdf(REACH * self.ratio) - 1


@dataclass(frozen=True, eq=False)
class FirstRound:
    """A graph, numbered around a public circle, the noisy numbers of the first round, and the plan from them."""

    graph: Graph
    noisy: Ints
    outlook: Outlook
    plan: Plan

    @classmethod
    def of(cls, graph: Graph, epsilon: float, alpha: float, coins: SeededCoins) -> "FirstRound":
        """As `estimate_triangles` has it."""
        graph = graph.renumbered(np.argsort(coins.public(1 << 62, graph.vertices), kind="stable"))
        degrees = NoisyCount(DEGREES * epsilon)
        noisy = Circle(graph.vertices).numbers(graph) + degrees.noise(graph.vertices, coins)
        outlook = Outlook(np.sort(noisy)[::-1], degrees)
        return cls(graph, noisy, outlook, planned(outlook, epsilon, alpha, degrees.epsilon))

    @cached_property
    def _ordered(self) -> Graph:
        return self.graph.renumbered(ranks(self.noisy))

    @cached_property
    def _squares(self) -> tuple[float, float]:
        return shared_squares(self._ordered, self.plan.hubs)

    def rest(self, coins: SeededCoins) -> Run:
        """The other rounds, as `estimate_triangles` has them."""
        plan, ordered, places = self.plan, self._ordered, np.arange(self.graph.vertices)
        listed = answered(self.graph, ranks(self.noisy), self.noisy, plan.hubs, plan.between.response, plan.lists, coins)
        saw = seen(ordered, listed)
        counts = with_noise(places, saw.counts(ordered, listed), saw.local, plan, coins)
        found = Evidence(counts, first_answers(listed)).triangles(plan, self.outlook)
        inside, outside = self._squares
        variance = plan.plain.noise * inside + plan.lists.coordinate.noise * outside + added(saw.local, plan)
        return Run(found, math.sqrt(variance), listed.bits)


def one_run(graph: Graph, epsilon: float, alpha: float, coins: SeededCoins) -> Run:
    """All rounds."""
    return FirstRound.of(graph, epsilon, alpha, coins).rest(coins)


def shared_squares(ordered: Graph, hubs: int) -> tuple[float, float]:
    """The sum of c^2 over all pairs of hubs, and over all others."""
    codes: list[Ints] = [j * ordered.vertices + k for _, j, k in ordered.wedges()]
    if not codes:
        return 0.0, 0.0
    pairs, counts = np.unique(np.concatenate(codes), return_counts=True)
    squares, inside = counts.astype(np.float64) ** 2, pairs % ordered.vertices < hubs
    return float(squares[inside].sum()), float(squares[~inside].sum())


def added(local: np.ndarray[tuple[int], np.dtype[np.float64]], plan: Plan) -> float:
    """The variance of the noise of the last round."""
    total = 0.0
    for tier, start, part in ((plan.between, 0, local[: plan.hubs]), (plan.other, plan.hubs, local[plan.hubs :])):
        if len(part):
            wide = tier.noise.sensitivities(part, step(start, plan.hubs, plan.plain, plan.lists.coordinate))
            total += float(((tier.noise.deviation * wide) ** 2).sum())
    return total
