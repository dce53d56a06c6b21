"""Figs. 2, 3, 7 and 8: bits and times for other budgets and numbers of chunks."""

from collections.abc import Sequence

import numpy as np

from deniable.papers.compressed.messages import EPSILON, MEASURED, OURS, PUBLISHED, Cost, ours, published
from deniable.papers.data import Data
from deniable.papers.figure import Check, Pace, Result, Row, claimed
from deniable.papers.lists import rated
from deniable.sparse.channel import Channel
from deniable.sparse.index_law import index_law

FEW, MANY = 40, 1000
BUDGETS, BETAS = (0.5, 1.0, 2.0, 4.0), (1.0, 2.0, 4.0, 8.0)


def swept(
    setting: str, values: Sequence[float], quick: bool, seed: int, data: Data, pace: Pace
) -> tuple[list[Row], dict[float, Cost], str]:
    """A row for each person and value of the setting."""
    held = rated(data, seed)
    lists = held.first(pace.times(quick, FEW, MANY))
    rows, costs = list[Row](), dict[float, Cost]()
    for value in pace.over(values):
        epsilon, beta = (value, 2.0) if setting == "epsilon" else (EPSILON, value)
        costs[value] = published(held.size, lists, seed, epsilon, beta)
        found = {PUBLISHED: costs[value]}
        if setting == "epsilon":
            found[OURS] = ours(held.size, lists, seed, 2.0, epsilon)
        for way, cost in found.items():
            rows += [
                (value, int(d), way, float(b), float(t))
                for d, b, t in zip(cost.differing, cost.bits, cost.milliseconds, strict=True)
            ]
    return rows, costs, f"{held.note}; {len(lists)} of them"


def totals(costs: dict[float, Cost]) -> tuple[list[float], list[float]]:
    """Bits for each coordinate, and time for each in microseconds, for each value of the setting."""
    differing = [cost.differing.sum() for cost in costs.values()]
    bits = [float(cost.bits.sum() / d) for cost, d in zip(costs.values(), differing, strict=True)]
    times = [float(1000 * cost.milliseconds.sum() / d) for cost, d in zip(costs.values(), differing, strict=True)]
    return bits, times


def heavy_tail() -> Check:
    """The published encoder ranks all points up to the one it tells: its mean time is that of K, which is infinite."""
    law = index_law(Channel.quantised(0.25), 2.0, 2)
    far, further = (float(law.tail(x) * x) for x in (1e4, 1e6))
    return claimed(
        "the expected time of the published encoder is in proportion to d (Theorem 7)",
        further < 0.1 * far,
        f"P(K > x) x stays at {further:.2g} as x grows, so that its mean is infinite at alpha 2 (erratum Compressed C4)",
    )


def result(setting: str, values: Sequence[float], quick: bool, seed: int, data: Data, pace: Pace, times: bool) -> Result:
    """The figure of bits or of times."""
    rows, costs, note = swept(setting, values, quick, seed, data, pace)
    bits, each = totals(costs)
    rising = setting == "epsilon"
    if times:
        claim = "times rise with epsilon" if rising else "times fall from beta 1 to 2"
        holds = each[-1] > each[0] if rising else each[0] > each[1] * 0.8
        checks = [
            claimed(
                claim,
                holds,
                "our encoder skips what cannot win, so that small budgets cost overhead only"
                if rising
                else "our encoder takes no longer for full chunks",
            ),
            claimed(
                "all messages take a manageable time (below a second)",
                max(cost.milliseconds.max() for cost in costs.values()) < 1000,
                "this machine is slow",
            ),
            heavy_tail(),
        ]
    else:
        checks = [claimed(f"bits rise with {setting}", (np.diff(bits) > 0).all(), "they do not")]
        if not rising:
            checks.append(
                claimed("2 is a reasonable beta: 1 does not take half the bits", bits[0] > 0.5 * bits[1], "it does")
            )
    notes = (note, "times are processor time of our encoder on this machine, and not in the CSV")
    return Result((setting, "differing", "way", "bits", "milliseconds"), rows, tuple(checks), notes, MEASURED)
