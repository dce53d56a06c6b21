"""How often the 95 % interval of a share holds the truth, measured on simulated collections.

    python -m research.experiments.coverage            writes coverage.md, some minutes
    python -m research.experiments.coverage --quick    prints it for a tenth of the collections

In each collection the same people answer, whose shares fall as 1, 1/2, 1/3, ...; their reports are counted and estimated,
and every share is looked up in its interval. The figure is the percentage over all shares and collections. The coins are
seeded, so that the table can be made again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from deniable.core.coins import SeededCoins
from deniable.core.domain import Domain
from deniable.core.pure import PureProtocol
from deniable.core.tally import Tally
from deniable.domains import Categories
from deniable.mechanisms.registry import candidates
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
PEOPLE, COLLECTIONS, QUICK = 5_000, 2_000, 200
AT_ONCE = 16  # collections that are perturbed together


@dataclass(frozen=True)
class Setting:
    """A question and a budget."""

    size: int
    epsilon: float

    def __str__(self) -> str:
        return f"{self.size} values, epsilon {self.epsilon:g}"


SETTINGS = [Setting(16, 0.5), Setting(16, 2.0), Setting(64, 1.0), Setting(64, 4.0)]


def people(size: int) -> NDArray[np.int64]:
    """How many hold each value."""
    weights = 1 / np.arange(1, size + 1)
    edges = np.rint(np.cumsum(weights) / weights.sum() * PEOPLE).astype(np.int64)
    return np.diff(edges, prepend=0)


def coverage(make: Callable[[Domain, float], PureProtocol], setting: Setting, collections: int, seed: str) -> float:
    """The share of intervals that hold the truth, over all values and collections."""
    mechanism, held = make(Categories(range(setting.size)), setting.epsilon), people(setting.size)
    truth, coins, inside = held / PEOPLE, SeededCoins(seed.encode()), 0
    once = np.repeat(np.arange(setting.size), held)
    for start in range(0, collections, AT_ONCE):
        several = min(AT_ONCE, collections - start)
        reports = mechanism.perturb(np.tile(once, several), coins)
        for turn in range(several):
            part = reports[turn * PEOPLE : (turn + 1) * PEOPLE]
            low, high = mechanism.estimate(Tally(mechanism.fingerprint, PEOPLE, mechanism.count(part))).interval(0.95)
            inside += int(np.sum((low <= truth) & (truth <= high)))
    return inside / (collections * setting.size)


def table(collections: int, settings: Iterable[Setting] = SETTINGS) -> list[str]:
    """One row for each mechanism, in percent."""
    asked = list(settings)
    lines = [f"| mechanism | {' | '.join(map(str, asked))} |", "|---|" + "--:|" * len(asked)]
    for name, make in ((name, candidate.make) for name, candidate in candidates().items()):
        cells = [f"{100 * coverage(make, setting, collections, f'{name}, {setting}'):.2f}" for setting in asked]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def page(collections: int) -> str:
    """The whole result."""
    about = f"Percentage of 95 % intervals that hold the truth, over {collections:,} collections from {PEOPLE:,} people:"
    return "\n".join([about, "", *table(collections), ""])


@click.command()
@quick_option("A tenth of the collections")
def main(quick: bool) -> None:
    """Measure how often the intervals of every mechanism hold the truth."""
    deliver(page(QUICK if quick else COLLECTIONS), None if quick else RESULT)


if __name__ == "__main__":
    main()
