"""How good the length is that a pilot chooses for padding, beside all other lengths.

    python -m research.experiments.padding            writes padding.md
    python -m research.experiments.padding --quick    prints it for fewer pilots and collections

Most people have one or two keys and a few have many. The real error of a frequency, bias of cut sets included, is measured
for every length that a pilot compares; the pilots are of other people, each with coins of its own.
"""

from collections import Counter
from pathlib import Path

import click
import numpy as np

from deniable.arrays import Ints
from deniable.core.coins import SeededCoins
from deniable.domains import KeyValue, Pairs
from deniable.planning import plan
from deniable.planning.padding import PaddingPilot
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
KEYS, MOST, PEOPLE, PILOT = 60, 30, 20_000, 1_000
BUDGETS, PILOTS, COLLECTIONS = (1.0, 2.0, 4.0), 20, 10


def sizes(n: int, seed: int) -> Ints:
    """How many keys each person has: one or two mostly, and a few many."""
    return np.minimum(np.random.default_rng(seed).geometric(0.6, n), MOST)


def people(sizes: Ints, keys: int, seed: int) -> Pairs:
    """So many different keys of each person, drawn at random and in random order, all with the value 1."""
    random = np.random.default_rng(seed)
    order = np.argsort(random.random((len(sizes), keys)), axis=1)
    inside = np.arange(keys) < sizes[:, None]
    return Pairs(np.concatenate([[0], np.cumsum(sizes)]), order[inside].astype(np.int64), np.ones(int(sizes.sum())))


def chosen(pilot: PaddingPilot, pilots: int) -> Counter[int]:
    """How often each length is chosen, by pilots of different people."""
    found: Counter[int] = Counter()
    for seed in range(pilots):
        answers = pilot.answers(people(sizes(PILOT, 100 + seed), KEYS, seed))
        tally = pilot.first.tally(pilot.first.perturb(answers, SeededCoins(seed)))
        found[pilot.rest(tally, PEOPLE).at_most] += 1
    return found


def real_error(held: Pairs, length: int, epsilon: float, collections: int) -> float:
    """The root mean squared error of a frequency, with sets cut to this length."""
    mechanism = plan(KeyValue(range(KEYS), 0, 1, length, cut=True), epsilon, PEOPLE)
    truth = np.bincount(held.keys, minlength=KEYS) / len(held)
    found = [
        mechanism.estimate(mechanism.tally(mechanism.perturb(held, SeededCoins(seed)))).frequency.values
        for seed in range(collections)
    ]
    return float(np.sqrt(np.mean((np.array(found) - truth) ** 2)))


def page(pilots: int, collections: int) -> str:
    """The whole result."""
    lines = [
        f"{KEYS} keys, {PEOPLE:,} people who have one or two keys mostly and up to {MOST}; {pilots} pilots of {PILOT:,} "
        f"other people each; root mean squared error of a frequency in percentage points, {collections} collections:",
        "",
        "| epsilon | length | chosen by pilots | error |",
        "|--:|--:|--:|--:|",
    ]
    held = people(sizes(PEOPLE, 4), KEYS, 5)
    for epsilon in BUDGETS:
        pilot = PaddingPilot(KeyValue(range(KEYS), 0, 1, at_most=MOST), epsilon)
        counts = chosen(pilot, pilots)
        for length in pilot.tried:
            error = real_error(held, length, epsilon, collections)
            lines.append(f"| {epsilon:g} | {length} | {counts[length]} | {100 * error:.2f} |")
    return "\n".join([*lines, ""])


@click.command()
@quick_option("Three pilots and two collections")
def main(quick: bool) -> None:
    """Measure the error with each length of padding, and which lengths pilots choose."""
    deliver(page(3, 2) if quick else page(PILOTS, COLLECTIONS), None if quick else RESULT)


if __name__ == "__main__":
    main()
