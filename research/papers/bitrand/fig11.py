"""Fig. 11: the published error bound bit by bit."""

import numpy as np

from research.data.folder import Data
from research.papers import style
from research.papers.bitrand import bits
from research.papers.bitrand.theory import BITS, WHOLE
from research.papers.figure import ABOUT, ALL, Figure, Pace, Result, ranking, trend

FIGURE = Figure("bitrand/fig11", "BitRand", "error bound of each bit at epsilon 0.1, 1 and 2", seconds=0.1)
EPSILONS = bits.EPSILONS
OTHERS = bits.NAMES[1:4]


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Formulas of the paper at its alpha, with 1,000 features of 10 bits; sign and five whole bits come first."""
    rows = bits.table(EPSILONS)
    each = {(name, e): bits.column(rows, "error bound", name, e) for name in (*OTHERS, "f-RR") for e in EPSILONS}
    mean = {(name, e): bits.column(rows, "mean bound of the first bits", name, e) for name, e in each}
    ratio = {(name, e): each["f-RR", e] / each[name, e] for name in OTHERS for e in EPSILONS}
    smaller = np.concatenate([own[: WHOLE + 1] < 1 for own in ratio.values()])
    closer = [own[: WHOLE + 1].max() < own[WHOLE + 1 :].min() for own in ratio.values()]
    first = [(mean["f-RR", EPSILONS[0]] < mean[name, EPSILONS[0]]).all() for name in OTHERS]
    gaps = {name: [float((mean[name, e] - mean["f-RR", e])[-1]) for e in EPSILONS] for name in OTHERS}
    moves = {
        name: max(float(np.abs(each[name, e] / each[name, EPSILONS[0]] - 1).max()) for e in EPSILONS) for name in OTHERS
    }
    falls = [float(mean["f-RR", e][-1]) for e in EPSILONS]
    checks = (
        ranking(
            "for most of the sign and integer bits f-RR has the smaller bound",
            2 * smaller.sum() > len(smaller),
            f"for {smaller.sum()} of {len(smaller)} it has",
        ),
        trend(
            "its bounds are nearer to those of the rivals at all fraction bits than at the sign and integer bits",
            all(closer),
            "at some they are not",
        ),
        ranking(
            "the mean bound over the first bits is smaller for all of them at epsilon 0.1",
            all(first),
            "some are larger",
        ),
        trend(
            "the gap of that mean over all bits grows with epsilon",
            all((np.diff(own) > 0).all() for own in gaps.values()),
            f"it is {gaps}",
        ),
        trend("the mean bound of f-RR falls with epsilon", (np.diff(falls) < 0).all(), f"it is {falls}"),
        trend(
            "the rivals' bounds remain the same (within 15 %)",
            max(moves.values()) <= ABOUT,
            f"they change by {max(moves.values()):.2g} of themselves",
        ),
        bits.kept(1.0),
    )
    return Result(bits.COLUMNS, rows, checks, (f"{BITS} bits, five of them for the whole part", *bits.NOTES))


def plot(result: Result) -> "style.Picture":
    """Bounds of each bit, and their mean over the first ones."""
    return bits.drawn(result, ("error bound", "mean bound of the first bits"), "y")
