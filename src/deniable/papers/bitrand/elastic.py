""" "Dimension-elastic": flips of BitRand's bits as features and bits grow, and what all bits together then cost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deniable.mechanisms.bit_budgets import published_flips
from deniable.papers import style
from deniable.papers.bitrand.theory import kinds, true_epsilon
from deniable.papers.figure import Check, Result, Row, claimed

if TYPE_CHECKING:
    from matplotlib import figure as pictures

COLUMNS = ("panel", "features", "bits", "epsilon", "bit", "flip probability", "true epsilon")


def table(features: Sequence[int], bits: Sequence[int], epsilons: Sequence[float], by: str) -> list[Row]:
    """One row for each of the bits that the figures show; panels are by what does not vary."""
    rows: list[Row] = []
    for epsilon in epsilons:
        for r in features:
            for count in bits:
                flipped, cost = published_flips(r, count, epsilon), true_epsilon("f-RR", r, count, epsilon)
                fixed = f"{count} bits" if by == "features" else f"{r:,} features"
                for name, place in kinds(count).items():
                    rows.append((f"{fixed}, epsilon {epsilon:g}", r, count, epsilon, name, flipped[place], cost))
    return rows


def elastic_checks(rows: Sequence[Row], by: str, least: int) -> list[Check]:
    """Flips hardly change from `least` on; the loss does."""
    found = Result(COLUMNS, rows, (claimed("", True, ""),))
    moves, growth = [], []
    for panel in style.distinct(found.column("panel")):
        for bit in kinds(10):
            sizes = found.numbers(by, panel=panel, bit=bit)
            kept = sizes >= least
            moves.append(float(np.ptp(found.numbers("flip probability", panel=panel, bit=bit)[kept])) if kept.any() else 0.0)
        cost, sizes = (
            found.numbers("true epsilon", panel=panel, bit="sign bit"),
            found.numbers(by, panel=panel, bit="sign bit"),
        )
        growth.append(float(cost[-1] / cost[0] / (sizes[-1] / sizes[0])))
    worst = float(max(found.numbers("true epsilon") / found.numbers("epsilon")))
    return [
        claimed(
            f"flips change by less than 0.05 from {least} {by} on", max(moves) < 0.05, f"they change by {max(moves):.3f}"
        ),
        claimed(
            f"the loss does not depend on the number of {by}",
            max(growth) < 0.5,
            f"it grows in proportion to it, up to {worst:.3g} times epsilon (erratum BitRand B1)",
        ),
    ]


def drawn(result: Result, x: str) -> "pictures.Figure":
    """One panel for each pair of the other two."""
    return style.panels(result, x, "flip probability", "bit", "panel", log="x")
