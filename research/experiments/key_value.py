"""How often the intervals of degrees and weights hold the truth, on real ratings and visits.

    python -m research.experiments.key_value --data DIR            writes key_value.md
    python -m research.experiments.key_value --data DIR --quick    prints it for a tenth of the runs

Ratings are those of MovieLens, visits those to a web site. The same people report again and again, with seeded coins; the
degree, the weight and the mean weight of the twenty items with most links are looked up in their 95 % intervals.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from deniable import PCKVDirect, PCKVUnary
from deniable.arrays import Floats
from deniable.core.coins import SeededCoins
from deniable.domains import KeyValue, Pairs
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol
from deniable.planning import plan
from research.data.folder import Data
from research.data.lists import RATINGS, VISITS
from research.experiments.command import data_option, deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
RUNS, QUICK, TOP, FILMS = 400, 40, 20, 100
SURE = 4.0  # standard errors of a frequency from which on its mean is looked at: it is then hardly ever left out
BUDGETS = (1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Collection:
    """People's links, and which question is asked about them."""

    name: str
    domain: KeyValue
    pairs: Pairs

    @property
    def truth(self) -> tuple[Floats, Floats]:
        """The frequency and the weight of every item."""
        size, n = len(self.domain.labels), len(self.pairs)
        weights = np.bincount(self.pairs.keys, self.pairs.values, minlength=size)
        return np.bincount(self.pairs.keys, minlength=size) / n, weights / n


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that hold the truth, and the typical error of a frequency."""

    degree: float
    weight: float
    mean: float  # of the items whose frequency is expected to be no noise; not a number if there are none
    error: float

    def cells(self) -> list[str]:
        """For a row of the table."""
        mean = "-" if np.isnan(self.mean) else f"{100 * self.mean:.1f}"
        return [f"{100 * self.degree:.1f}", f"{100 * self.weight:.1f}", mean, f"{100 * self.error:.2f}"]


def collection(
    name: str, users: list[str], items: list[str], weights: Floats, low: float, high: float, most: int
) -> Collection:
    """The links to the `most` items with most links; who has none of them takes part with an empty set."""
    names, often = np.unique(items, return_counts=True)
    kept = sorted(names[np.argsort(-often, kind="stable")[:most]].tolist())
    places = {item: place for place, item in enumerate(kept)}
    people, person = np.unique(users, return_inverse=True)
    keys = np.array([places.get(item, -1) for item in items])
    listed = np.flatnonzero(keys >= 0)
    listed = listed[np.argsort(person[listed], kind="stable")]
    sizes = np.bincount(person[listed], minlength=len(people))
    pairs = Pairs(np.concatenate([[0], np.cumsum(sizes)]), keys[listed], weights[listed])
    return Collection(name, KeyValue(kept, low, high, int(sizes.max())), pairs)


def ratings(data: Data) -> Collection:
    """Stars from 0.5 to 5 for the most rated films; users of different files are different people."""
    users, items, weights = list[str](), list[str](), list[float]()
    for number, file in enumerate(RATINGS):
        own, films, twice = data.table(file, ["user", "movie", "rating_x2"])
        users += [f"{number} {user}" for user in own]
        items += films
        weights += [float(each) / 2 for each in twice]
    return collection("ratings", users, items, np.array(weights), 0.5, 5.0, FILMS)


def visits(data: Data) -> Collection:
    """Areas of a web site, every visit with weight 1."""
    users, items = data.table(VISITS, ["user", "area"])
    return collection("visits", users, items, np.ones(len(users)), 0.0, 1.0, 10**6)


def measured(asked: Collection, mechanism: KeyValueProtocol, runs: int, seed: str) -> Coverage:
    """Collect again and again from the same people."""
    frequency, weight = asked.truth
    top = np.argsort(-frequency, kind="stable")[:TOP]
    value = np.where(frequency > 0, weight / np.maximum(frequency, 1e-12), asked.domain.low)
    predicted = mechanism.predict(np.stack([frequency, value], axis=1), len(asked.pairs))
    expected = frequency > SURE * predicted.frequency.standard_error
    coins, inside, means, errors = SeededCoins(seed.encode()), np.zeros(2), list[bool](), list[Floats]()
    for _ in range(runs):
        found = mechanism.estimate(mechanism.tally(mechanism.perturb(asked.pairs, coins)))
        for kind, (each, true) in enumerate(((found.frequency, frequency), (found.weight, weight))):
            low, high = each.interval(0.95)
            inside[kind] += np.sum((low <= true)[top] & (true <= high)[top])
        errors.append((found.frequency.values - frequency)[top] ** 2)
        shown = top[(found.clear & expected)[top]]
        if len(shown):
            place = np.cumsum(found.clear)[shown] - 1  # means are given only for clear keys
            low, high = (end[place] for end in found.mean.interval(0.95))
            means += ((low <= value[shown]) & (value[shown] <= high)).tolist()
    degree, weights = (inside / (runs * len(top))).tolist()
    mean = float(np.mean(means)) if means else float("nan")
    return Coverage(degree, weights, mean, float(np.sqrt(np.mean(errors))))


def table(collections: Iterable[Collection], runs: int, budgets: Iterable[float] = BUDGETS) -> list[str]:
    """One row for each collection, budget and mechanism."""
    lines = [
        "| data | epsilon | mechanism | bits | degree | weight | mean | error of a share, points |",
        "|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    for asked in collections:
        for epsilon in budgets:
            made = {"planned": plan(asked.domain, epsilon, len(asked.pairs))}
            made |= {"PCKV-UE": PCKVUnary.balanced(asked.domain, epsilon), "PCKV-GRR": PCKVDirect(asked.domain, epsilon)}
            for name, mechanism in made.items():
                label = f"planned: `{mechanism.wire}`" if name == "planned" else name
                cells = measured(asked, mechanism, runs, f"{asked.name} {epsilon} {name}").cells()
                lines.append(f"| {asked.name} | {epsilon:g} | {label} | {mechanism.layout.bits} | {' | '.join(cells)} |")
    return lines


def page(collections: list[Collection], runs: int) -> str:
    """The whole result."""
    about = [
        f"{each.name}: {len(each.pairs):,} people, {len(each.domain.labels)} items, at most {each.domain.at_most} a person"
        for each in collections
    ]
    first = f"Percentage of 95 % intervals that hold the truth, for the {TOP} items with most links, {runs} collections ("
    return "\n".join([first + "; ".join(about) + "):", "", *table(collections, runs), ""])


@click.command()
@data_option
@quick_option("A tenth of the runs")
def main(data: Data, quick: bool) -> None:
    """Measure how often intervals of degrees and weights hold the truth."""
    collections = [ratings(data), visits(data)]
    deliver(page(collections, QUICK if quick else RUNS), None if quick else RESULT)


if __name__ == "__main__":
    main()
