""" "Dimension-elastic": flips of BitRand's bits as features and bits grow, and what all bits together then cost."""

import math
from collections.abc import Sequence

import numpy as np

from deniable.mechanisms.algebra.bit_budgets import published_alpha
from research.bit_formulas import published_flips
from research.papers import style
from research.papers.bitrand.theory import kinds, true_epsilon
from research.papers.figure import ABOUT, Check, Result, Row, near, theory, trend

COLUMNS = ("panel", "features", "bits", "epsilon", "bit", "flip probability", "true epsilon")
FEATURES_IN_USE = (512, 768)  # of the paper's images and texts
WHOLE_BITS = ("sign bit", "highest integer bit", "lowest integer bit")
SMALL_BITS = ("highest fraction bit", "lowest fraction bit")


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


def _series(rows: Sequence[Row], by: str) -> dict[tuple[str, str, float], tuple[list[float], list[float]]]:
    """Sizes and flip probabilities by panel, bit and epsilon."""
    found: dict[tuple[str, str, float], tuple[list[float], list[float]]] = {}
    for row in rows:
        panel, _, _, epsilon, bit, flip, _ = row
        sizes, values = found.setdefault((str(panel), str(bit), float(epsilon)), ([], []))
        sizes.append(float(row[COLUMNS.index(by)]))
        values.append(float(flip))
    return found


def steady(claim: str, rows: Sequence[Row], by: str, least: int, epsilons: Sequence[float]) -> Check:
    """Flips stay within 15 % of themselves from a size on."""
    moves = {}
    for (panel, bit, epsilon), (sizes, values) in _series(rows, by).items():
        kept = [value for size, value in zip(sizes, values, strict=True) if size >= least]
        if epsilon in epsilons and kept:
            moves[panel, bit] = max(kept) / min(kept) - 1
    where, most = max(moves.items(), key=lambda item: item[1])
    return trend(f"{claim} (within 15 %)", most <= ABOUT, f"with {where[0]} the {where[1]}'s changes by {most:.0%}")


def cost_check(rows: Sequence[Row], by: str) -> Check:
    """The privacy budget is said not to be affected: the loss should then be the same for all sizes."""
    found = Result(COLUMNS, rows)
    grown = []
    for panel in style.distinct(found.column("panel")):
        cost, sizes = (found.numbers(name, panel=panel, bit="sign bit") for name in ("true epsilon", by))
        grown.append((float(cost[-1] / cost[0]), float(sizes[-1] / sizes[0])))
    worst = float(max(found.numbers("true epsilon") / found.numbers("epsilon")))
    most = max(grown)
    return theory(
        f"the loss does not depend on the number of {by} (within 15 %)",
        most[0] <= 1 + ABOUT,
        f"it grows {most[0]:.3g} times where that grows {most[1]:.3g} times, up to {worst:.3g} times epsilon "
        "(erratum BitRand B1)",
    )


def feature_checks(rows: Sequence[Row], bits: Sequence[int], epsilons: Sequence[float]) -> tuple[Check, ...]:
    """Figs. 5 and 13: r from 10 to 10,000, as in the text; and what alpha is said to be approximately."""
    misses = {}
    for r in FEATURES_IN_USE:
        for count in bits:
            for epsilon in epsilons:
                about = math.sqrt(count / (2 * math.fsum(math.exp(2 * epsilon * i / count) for i in range(count))))
                misses[published_alpha(r, count, epsilon) / about] = (about, published_alpha(r, count, epsilon))
    about, alpha = misses[max(misses, key=lambda ratio: abs(ratio - 1))]
    return (
        steady("from 10 features on their number does not affect the flips", rows, "features", 10, epsilons),
        near(f"alpha is about sqrt(l / 2C) for {FEATURES_IN_USE} features", f"{about:.6g}", alpha, "epsilon / r counts too"),
        cost_check(rows, "features"),
    )


def bit_checks(rows: Sequence[Row], epsilons: Sequence[float]) -> tuple[Check, ...]:
    """Figs. 6 and 14: at a small epsilon l does not matter; at larger ones it lowers some flips and raises others."""
    checks = []
    small, large = [e for e in epsilons if e < 1], [e for e in epsilons if e >= 1]
    if small:
        checks.append(steady("at epsilon 0.1 the number of bits does not affect the flips", rows, "bits", 0, small))
    for names, sign, word in ((WHOLE_BITS, -1, "lower"), (SMALL_BITS, 1, "raise")):
        wrong = {}
        for (panel, bit, epsilon), (sizes, values) in _series(rows, "bits").items():
            if bit in names and epsilon in large and (sign * np.diff(values) < 0).any():
                at = int(np.flatnonzero(sign * np.diff(values) < 0)[0])
                wrong[bit] = f"the {bit}'s goes from {values[at]:.3f} to {values[at + 1]:.3f} between {sizes[at]:g} and "
                wrong[bit] += f"{sizes[at + 1]:g} bits ({panel})"
        kinds_of = "sign and integer" if sign < 0 else "fraction"
        checks.append(
            trend(
                f"from epsilon 1 on more bits {word} the flips of {kinds_of} bits",
                not wrong,
                " and ".join(wrong.values()) or "it does not",
            )
        )
    checks.append(steady("from 20 bits on their number hardly affects the flips", rows, "bits", 20, epsilons))
    return (*checks, cost_check(rows, "bits"))


def drawn(result: Result, x: str) -> "style.Picture":
    """One panel for each pair of the other two."""
    return style.panels(result, x, "flip probability", "bit", "panel", log="x")
