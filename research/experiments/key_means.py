"""How often intervals of the means that are reported hold the truth, for one key at epsilon 1.

    python -m research.experiments.key_means            writes key_means.md
    python -m research.experiments.key_means --quick    prints it for a twentieth of the runs

A mean is reported only where its frequency is two standard errors above zero. That selects collections in which the
frequency came out too large, so an interval at the plain level holds the truth less often than it says; the level of
`mean.interval` allows for it. Both are measured on the same reports.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import NormalDist
from typing import Any

import click
import numpy as np

from deniable.arrays import Floats
from deniable.core.coins import SeededCoins
from deniable.domains import KeyValue, Pairs
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value.key_value_estimate import RatioEstimate
from deniable.planning import plan
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
RUNS, QUICK = 2_000, 100
PEOPLE, EPSILON = 2_000, 1.0
SHARES, MEANS = (0.03, 0.06, 0.12, 0.25, 0.5), (0.3, 0.9)


class PlainRatio(RatioEstimate):
    """The same interval without the allowance for the selection."""

    def _selected(self, missed: float) -> Floats:
        return np.full(len(self.values), NormalDist().inv_cdf(1 - missed / 2) ** 2)


@dataclass(frozen=True)
class Held:
    """In how many collections a mean was reported, and in how many of these the two intervals held the truth."""

    runs: int
    reported: int
    plain: int
    allowed: int
    endless: int

    def cells(self) -> list[str]:
        """In percent."""
        of = max(self.reported, 1)
        shares = (self.reported / self.runs, self.plain / of, self.allowed / of, self.endless / of)
        return [f"{100 * each:.1f}" for each in shares]


def people(share: float, mean: float) -> tuple[Pairs, float]:
    """Who has the key has -1 or 1, so that the mean is nearly the given one; and the mean itself."""
    owners = round(PEOPLE * share)
    values = np.where(np.arange(owners) < round(owners * (1 + mean) / 2), 1.0, -1.0)
    starts = np.minimum(np.arange(PEOPLE + 1), owners)
    return Pairs(starts, np.zeros(owners, np.int64), values), float(values.mean())


def joined(found: Sequence[RatioEstimate], kind: type[RatioEstimate]) -> RatioEstimate:
    """The means of many collections as one estimate, as if each were a key of its own: their ends are found together."""

    def stacked(parts: Sequence[Any]) -> Any:
        if isinstance(parts[0], tuple):
            merged = [stacked([part[place] for part in parts]) for place in range(len(parts[0]))]
            return type(parts[0])(*merged) if hasattr(parts[0], "_fields") else tuple(merged)
        return np.concatenate(parts)

    arrays = ("values", "variance", "frequency", "signed", "spread", "named", "bias")
    merged = {name: stacked([getattr(each, name) for each in found]) for name in arrays}
    kept = {each.name: getattr(found[0], each.name) for each in fields(found[0])}
    return kind(**{**kept, **merged, "labels": range(len(found))})


def measured(share: float, mean: float, runs: int) -> Held:
    """Collect again and again from the same people."""
    mechanism, (pairs, truth) = plan(KeyValue(["key"], -1, 1, at_most=1), EPSILON, PEOPLE), people(share, mean)
    coins, found = SeededCoins(f"{share} {mean}".encode()), list[RatioEstimate]()
    for _ in range(runs):
        with suppress(InvalidParameter):  # the frequency may be noise
            found.append(mechanism.estimate(mechanism.tally(mechanism.perturb(pairs, coins))).mean)
    ends = [joined(found, kind).interval(0.95) for kind in (PlainRatio, RatioEstimate)]
    plain, allowed = (int(np.sum((low <= truth) & (truth <= high))) for low, high in ends)
    return Held(runs, len(found), plain, allowed, int(np.sum(~np.isfinite(ends[1]).all(axis=0))))


def page(runs: int) -> str:
    """The whole result."""
    lines = [
        f"One key, values from -1 to 1, epsilon {EPSILON:g}, {PEOPLE:,} people, {runs:,} collections: how often a mean is "
        "reported, and how often its 95 % interval holds the truth then, in percent:",
        "",
        "| people who have the key | mean value | reported | at the plain level | with the allowance | without an end |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for share in SHARES:
        for mean in MEANS:
            lines.append(f"| {share:.0%} | {mean:g} | {' | '.join(measured(share, mean, runs).cells())} |")
    return "\n".join([*lines, ""])


@click.command()
@quick_option("A twentieth of the runs")
def main(quick: bool) -> None:
    """Measure how often intervals of reported means hold the truth."""
    deliver(page(QUICK if quick else RUNS), None if quick else RESULT)


if __name__ == "__main__":
    main()
