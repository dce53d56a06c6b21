"""Predicted beside measured error, for every mechanism that the planner may choose.

    python -m research.experiments.planned            writes planned.md, some minutes
    python -m research.experiments.planned --quick    prints it for a tenth of the collections

In each collection the same people answer; their reports are counted and estimated. Measured is the root of the mean squared
difference to the truth over all values and collections, predicted the root of the mean of the variances that `predict` gives
without any trial; for releases, the mean distance from the truth, and the expected loss. The coins are seeded, so that the
table can be made again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import deniable as dn
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.releases.release import Release
from deniable.planning.records import record_options
from deniable.planning.repeated import REPEATED
from deniable.planning.vectors import vector_options
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
PEOPLE, COLLECTIONS, QUICK = 1_000, 4_000, 400
SIZE, LARGEST = 16, 0.05  # how far predicted and measured may be apart


@dataclass(frozen=True)
class Case:
    """A mechanism, people with answers, the truth as `predict` takes it, and what of an estimate is looked at."""

    name: str
    mechanism: dn.Mechanism
    answers: Sequence[Any] | NDArray[Any]
    truth: Any
    seen: Callable[[Any], dn.Estimate] = lambda estimate: estimate

    def ratio(self, collections: int) -> tuple[float, float]:
        """The predicted error, and the measured one."""
        expected = self.seen(self.mechanism.predict(self.truth, len(self.answers)))
        coins, squares = dn.SeededCoins(self.name.encode()), 0.0
        for _ in range(collections):
            reports = self.mechanism.perturb(self.answers, coins)
            found = self.seen(self.mechanism.estimate(self.mechanism.tally(reports)))
            squares += float(np.mean((found.values - expected.values) ** 2))
        return float(np.sqrt(np.mean(expected.standard_error**2))), float(np.sqrt(squares / collections))


class Released(Case):
    """A release: its expected loss, and the mean distance of what was released from the truth."""

    def ratio(self, collections: int) -> tuple[float, float]:
        assert isinstance(self.mechanism, Release)
        coins, total = dn.SeededCoins(self.name.encode()), 0.0
        for _ in range(collections // 10):
            released = self.mechanism.released(self.mechanism.perturb(self.answers, coins))
            total += float(np.mean(np.abs(np.array(released) - np.array(self.answers))))
        return self.mechanism.expected_loss(self.truth), total / (collections // 10)


def held(size: int) -> NDArray[np.int64]:
    """Answers whose shares fall as 1, 1/2, 1/3, ..."""
    weights = 1 / np.arange(1, size + 1)
    edges = np.rint(np.cumsum(weights) / weights.sum() * PEOPLE).astype(np.int64)
    return np.repeat(np.arange(size), np.diff(edges, prepend=0))


def cases() -> Iterator[Case]:
    """Every mechanism that the planner may choose, for one question of each kind."""
    domain, people = dn.Categories(range(SIZE)), held(SIZE)
    shares = np.bincount(people, minlength=SIZE) / PEOPLE
    for name, make in ((name, candidate.make) for name, candidate in candidates().items()):
        yield Case(name, make(domain, 1.0), people, shares)
    for name, make in ((name, candidate.make) for name, candidate in candidates().items()):
        yield Case(f"6 of 16 sensitive, {name}", dn.UtilityOptimized(make, domain, range(6), 1.0), people, shares)
    for repeated in REPEATED:
        yield Case(repeated.name, repeated.make(domain, 2.0, 1.0), people, shares)
    yield from _records()
    yield from _means()
    yield from _releases()
    keys = dn.KeyValue(["a", "b", "c", "d"], -1, 1, at_most=2)
    pairs = [{"a": 1.0, "b": -1.0}, {"a": -1.0}, {}, {"c": 1.0, "d": 1.0}] * (PEOPLE // 4)
    truth = np.array([[0.5, 0.0], [0.25, -1.0], [0.25, 1.0], [0.25, 1.0]])
    for key_value in candidates("key_value").values():
        yield Case(key_value.name, key_value.make(keys, 2.0), pairs, truth, lambda estimate: estimate.frequency)


def _releases() -> Iterator[Case]:
    domain, people = dn.Ordered(range(SIZE)), held(SIZE)
    prior = np.bincount(people, minlength=SIZE) / PEOPLE
    made: dict[str, dn.Mechanism] = {
        "release, coarsened": dn.Coarsened(domain, 1.0, prior=prior),
        "release, bipartite": dn.Bipartite(domain, 1.0),
        "release, bipartite, mean": dn.Bipartite(domain, 1.0, "mean", prior=prior),
        "release, staircase": dn.Staircase(domain, 1.0, prior=prior),
        "release, optimal": dn.ReleaseChannel.optimal(domain, 1.0, prior),
    }
    for name, mechanism in made.items():
        yield Released(name, mechanism, people, prior)


def _records() -> Iterator[Case]:
    domain = dn.Vectors([dn.Categories(range(4)), dn.Categories(range(9))])
    rows = [(int(person % 4), int(person % 9)) for person in held(36)]
    shares = np.concatenate(
        [np.bincount([row[place] for row in rows], minlength=size) / PEOPLE for place, size in ((0, 4), (1, 9))]
    )
    for way in record_options(domain, 1.0, PEOPLE):
        yield Case(way.name, way.mechanism, rows, shares)


def _means() -> Iterator[Case]:
    domain = dn.Interval(0, 100, steps=20)
    places = np.repeat(np.arange(0, 21, 2), PEOPLE // 11 + 1)[:PEOPLE]
    shares, numbers = np.bincount(places, minlength=21) / PEOPLE, domain.points[places]
    for mean in candidates("means").values():
        for epsilon in (0.5, 4.0) if mean.name == "hybrid" else (1.0,):
            yield Case(f"{mean.name}, epsilon {epsilon:g}", mean.make(domain, epsilon), numbers, shares)
    features = dn.Features(4, -1, 1, steps=2)
    rows = np.array([[1, 0, -1, 0], [1, 1, 0, -1]] * (PEOPLE // 2), np.float64)
    for option in vector_options(features, 1.0, PEOPLE):
        yield Case(option.name, option.mechanism, rows, rows)


def table(collections: int) -> list[str]:
    """The lines of the result."""
    lines = [
        f"Error predicted without a trial beside that measured over {collections:,} collections from {PEOPLE:,} people:",
        "",
        "| mechanism | predicted | measured | measured / predicted |",
        "|---|--:|--:|--:|",
    ]
    ratios = []
    for case in cases():
        predicted, measured = case.ratio(collections)
        ratios.append(measured / predicted)
        lines.append(f"| {case.name} | {predicted:.4g} | {measured:.4g} | {ratios[-1]:.3f} |")
    far = max(ratios, key=lambda ratio: abs(ratio - 1))
    return [*lines, "", f"{len(ratios)} mechanisms; the furthest ratio is {far:.3f}."]


@click.command()
@quick_option("A tenth of the collections")
def main(quick: bool) -> None:
    """Compare predicted with measured errors."""
    deliver("\n".join([*table(QUICK if quick else COLLECTIONS), ""]), None if quick else RESULT)


if __name__ == "__main__":
    main()
