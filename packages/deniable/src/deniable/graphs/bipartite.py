"""A weighted bipartite graph, people on one side and items on the other: degrees and weights of the items."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.core import Answers, Coins, Estimate
from deniable.core.showing import axes_for
from deniable.domains import KeyValue
from deniable.mechanisms.algebra.score_interval import ScoreEstimate, SlantedEstimate
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol
from deniable.planning.key_value import plan_key_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Average:
    """A mean over one side of the graph, with its standard error, rather too large than too small."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class BipartiteGraph:
    """What the reports of all people say about the graph: each person's links together are one answer.

    The links of a person are the set of pairs (item, weight); a report protects all of them at once. Items are public.

    >>> from deniable.core.coins import SeededCoins
    >>> films = KeyValue(["Alien", "Brazil"], low=0, high=5, at_most=2)
    >>> people = [{"Alien": 5, "Brazil": 3}] * 30_000 + [{"Brazil": 1}] * 10_000
    >>> graph = BipartiteGraph.collect(films, people, epsilon=4.0, coins=SeededCoins(1))
    >>> graph.degree.values.round(-3), graph.mean.values.round(1)
    (array([30000., 40000.]), array([5. , 2.5]))
    """

    estimate: KeyValueEstimate
    mechanism: KeyValueProtocol

    @classmethod
    def collect(
        cls, domain: KeyValue, links: Answers, epsilon: float, coins: Coins | None = None, weighted: bool = True
    ) -> "BipartiteGraph":
        """Randomize each person's links with the best mechanism for the budget, count and estimate."""
        mechanism = plan_key_value(domain, epsilon, max(1, len(links)), values=weighted)
        return cls(mechanism.estimate(mechanism.tally(mechanism.perturb(links, coins))), mechanism)

    @property
    def people(self) -> int:
        """How many people reported."""
        return self.estimate.n

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.estimate.labels)

    @property
    def degree(self) -> SlantedEstimate:
        """How many people link to each item."""
        return self.estimate.frequency.times(self.people, "people")

    @property
    def weight(self) -> ScoreEstimate:
        """The sum of the weights of each item's links."""
        return self.estimate.weight.times(self.people, "total weight")

    @property
    def mean(self) -> Estimate:
        """The mean weight of the links of those items whose degree is no noise."""
        return self.estimate.mean

    @property
    def item_degree(self) -> Average:
        """The mean number of people who link to an item: all links over the number of items.

        The links could connect people and items only, so neither all vertices nor all pairs of them are a denominator.
        Counts of different items hardly vary together, but against each other where reports name one item; so their
        errors are added as if they were independent.
        """
        return self._average(self.degree, self.items)

    @property
    def person_degree(self) -> Average:
        """The mean number of items that a person links to: all links over the number of people."""
        return self._average(self.degree, self.people)

    @property
    def item_weight(self) -> Average:
        """The mean of the items' total weights."""
        return self._average(self.weight, self.items)

    def _average(self, totals: Estimate, over: int) -> Average:
        return Average(float(totals.values.sum()) / over, float(np.sqrt((totals.standard_error**2).sum())) / over)

    def top(self, count: int, confidence: float = 0.95, together: bool = True) -> list["Item"]:
        """The items with the largest degrees, largest first.

        With `together` all intervals of a kind, of whatever item, hold at once with this confidence, so that picking out the
        largest does not mislead.
        """
        degree = self.degree
        order = degree.largest(count)
        degrees = _ends(degree, confidence, together)
        weights = _ends(self.weight, confidence, together) if self.estimate.signed is not None else {}
        means = _ends(self.mean, confidence, together) if weights and self.estimate.clear.any() else {}
        labels = [degree.labels[place] for place in order]
        return [Item(label, degrees[label], weights.get(label), means.get(label)) for label in labels]

    def plot(self, top: int = 20, confidence: float = 0.95, ax: "Axes | None" = None) -> "Axes":
        """The items with the largest degrees; on the upper axis the mean weights of those whose degree is no noise."""
        shown = self.top(top, confidence, together=False)[::-1]
        low, high = self.estimate.low, self.estimate.high
        ax = axes_for(ax, 7, 1.6 + 0.3 * len(shown))
        ax.barh([str(item.label) for item in shown], [item.degree.value for item in shown], color="#bbccdd")
        ax.set_xlabel(f"people of {self.people:,}")
        for y, item in enumerate(shown):
            ax.plot([item.degree.low, item.degree.high], [y, y], color="#222222", linewidth=1.2)
        ax.axvline(0, color="#222222", linewidth=0.8)
        ax.spines[["top", "right"]].set_visible(False)
        if any(item.mean for item in shown):
            upper = ax.twiny()
            for y, item in enumerate(shown):
                if item.mean:
                    ends = np.clip([item.mean.low, item.mean.high], low, high)
                    upper.plot(ends, [y + 0.25, y + 0.25], color="#cc3311", linewidth=1.2)
                    upper.plot(np.clip(item.mean.value, low, high), y + 0.25, "o", color="#cc3311", markersize=4)
            upper.set(xlabel="mean weight (dots)", xlim=(low, high))
            upper.spines[["right", "left"]].set_visible(False)
        ax.set_title(f"The {len(shown)} items of {self.items:,} with most links, {confidence:.0%} intervals", fontsize=10)
        return ax


class Between(NamedTuple):
    """A value with the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Item:
    """What is known of an item: no weight where weights are not reported, and no mean where its degree is noise."""

    label: object
    degree: Between
    weight: Between | None
    mean: Between | None


def _ends(each: Estimate, confidence: float, together: bool) -> dict[object, Between]:
    columns = (each.values.tolist(), *(end.tolist() for end in each.interval(confidence, together)))
    return dict(zip(each.labels, map(Between, *columns), strict=True))
