"""False reports that aim at one answer: what they gain, what is seen, and how much of the gain recovery takes back.

    python -m research.experiments.false_reports            writes false_reports.md, a minute
    python -m research.experiments.false_reports --quick    prints a rough table

Three attacks, each by a share of all reports. *Plain* sends the crudest report that supports the target: one bit, always the
same hash function or block. *Careful* draws a report at random among those that support the target, so that every one is
possible and the marginal laws are right. *Honest* randomizes the target as a device does.
"""

from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

import deniable as dn
from deniable.core import PureProtocol, Reports, Tally
from deniable.core.bits import PackedBits
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
SIZE, EPSILON, FAKES, TARGET = 64, 1.0, 0.05, 40
ASKED = dn.Categories(range(SIZE))
MAKERS: dict[str, Callable[[], PureProtocol]] = {
    "unary": lambda: dn.Unary(ASKED, EPSILON),
    "hashing": lambda: dn.LocalHashing(ASKED, EPSILON),
    "subset": lambda: dn.SubsetSelection(ASKED, EPSILON),
    "design": lambda: dn.BlockDesign(ASKED, EPSILON),
}
ATTACKS = ("plain", "careful", "honest")


def answers(people: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Zipf's law over the answers; the target is one of the rare ones."""
    weights = 1 / np.arange(1, SIZE + 1)
    return np.asarray(np.random.default_rng(7).choice(SIZE, people, p=weights / weights.sum()), np.int64)


def supporters(mechanism: PureProtocol, wanted: int, seed: int) -> Reports:
    """Reports of nobody in particular, of which only those that support the target are taken."""
    found: list[Reports] = []
    while sum(map(len, found)) < wanted:
        seed += 1
        some = mechanism.perturb(np.full(4 * wanted, TARGET), dn.SeededCoins(seed))
        found.append(_chosen(some, mechanism.supports(some.columns, np.array([TARGET]))[:, 0]))
    return dn.concatenate(found)[:wanted]


def _chosen(reports: Reports, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Reports:
    columns = {name: column[rows] for name, column in reports.columns.items()}
    return Reports(reports.fingerprint, reports.layout, columns)


def false(mechanism: PureProtocol, attack: str, wanted: int, seed: int) -> Reports:
    """The false reports of an attack."""
    if attack == "honest":
        return mechanism.perturb(np.full(wanted, TARGET), dn.SeededCoins(seed))
    if attack == "careful":
        return supporters(mechanism, wanted, seed)
    if isinstance(mechanism, dn.Unary):
        bits = np.zeros((wanted, SIZE), np.bool_)
        bits[:, TARGET] = True
        return Reports(mechanism.fingerprint, mechanism.layout, {"cells": PackedBits.pack(bits).bytes})
    one = supporters(mechanism, 1, seed)
    return _chosen(one, np.zeros(wanted, np.int64))


def row(name: str, attack: str, people: int, runs: int) -> str:
    """One line of the table: means over the runs."""
    mechanism, m = MAKERS[name](), int(FAKES * people)
    gains, blind, aimed, seen, whats = [], [], [], 0, set[str]()
    for run in range(runs):
        honest = mechanism.perturb(answers(people - m), dn.SeededCoins(1000 + run))
        reports = dn.concatenate([honest, false(mechanism, attack, m, 5000 + 100 * run)])
        tally: Tally = mechanism.tally(reports)
        clean = float(mechanism.estimate(mechanism.tally(honest)).values[TARGET])
        gains.append(float(mechanism.estimate(tally).values[TARGET]) - clean)
        blind.append(float(dn.recover(mechanism, tally, FAKES).values[TARGET]) - clean)
        aimed.append(float(dn.recover(mechanism, tally, FAKES, TARGET).values[TARGET]) - clean)
        found = dn.suspicions(mechanism, reports)
        seen += bool(found)
        whats.update(each.what for each in found)
    gain = float(np.mean(gains))
    removed = [f"{100 * (1 - float(np.mean(left)) / gain):.0f} %" for left in (blind, aimed)]
    what = "; ".join(sorted(whats)) or "nothing"
    return f"| {name} | {attack} | {100 * gain:.1f} | {seen} of {runs} | {what} | {' | '.join(removed)} |"


HEAD = f"""# False reports that aim at one answer

`python -m research.experiments.false_reports`: {SIZE} answers by Zipf's law, epsilon {EPSILON:g}, {{people:,}} reports,
of which {100 * FAKES:g} % are false and aim at answer {TARGET} (true share 0.5 %), {{runs}} runs. *Gain*: points by which
the estimate of the target rises. *Seen*: runs in which `dn.suspicions` found a pattern at a false-alarm probability of 1e-6.
*Removed*: the share of the gain that `dn.recover` takes back, without and with the target named; above 100 % is too much.

| mechanism | attack | gain | seen | what | removed | removed, target named |
|---|---|---|---|---|---|---|
"""
TAIL = """
**Invisible.** The *honest* attack is the law of a population in which 5 % more people hold the target. Whatever is computed
from the reports has the same distribution in both cases, so no test has more power than its false-alarm rate. Recovery takes
the gain back only where somebody names the target and is right; if the rise was real, it takes that away.

The *careful* attack on subset selection and block designs is invisible for the same reason. Every report is one of equally
large sets, and reports drawn evenly among those that hold the target stand for -0.0017 people of every other answer, in
shares of all. The rarest honest answer has a share of 0.0031. So all shares stay above 0, and the reports have exactly the
law of the population with these shares. On hashing and unary encoding a report that supports the target for certain has
1 - p more votes than an honest one on average, which shows only once there are enough reports.

Without a target, recovery takes little from an attack on one answer, and with crude reports on unary encoding it makes the
estimate worse: the sum of the shares falls, and it spreads what is missing over all popular answers. It is shown beside the
raw estimate for that reason, never in its place.
"""


@click.command()
@quick_option("Two runs of 5,000 reports")
def main(quick: bool) -> None:
    """Measure attacks and recovery."""
    people, runs = (5_000, 2) if quick else (100_000, 10)
    lines = [row(name, attack, people, runs) for name in MAKERS for attack in ATTACKS]
    deliver(HEAD.format(people=people, runs=runs) + "\n".join(lines) + "\n" + TAIL, None if quick else RESULT)


if __name__ == "__main__":
    main()
