"""Fig. 11: the published error bound bit by bit."""

from typing import TYPE_CHECKING

import numpy as np

from deniable.papers.bitrand import bits
from deniable.papers.bitrand.theory import BITS
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("bitrand/fig11", "BitRand", "error bound of each bit at epsilon 0.1, 1 and 2", seconds=0.5)
EPSILONS = (0.1, 1.0, 2.0)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Formulas of the paper at its alpha, with 1,000 features of 10 bits."""
    rows = bits.table(EPSILONS)
    found = Result(bits.COLUMNS, rows, (claimed("", True, ""),))

    def column(name: str, mechanism: str, epsilon: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        return found.numbers(name, budget=f"epsilon {epsilon:g}", mechanism=mechanism)

    first = [
        np.mean(column("error bound", "f-RR", e)[:6] < column("error bound", other, e)[:6]) > 0.5
        for e in EPSILONS
        for other in bits.NAMES[1:4]
    ]
    means = [
        (column("mean bound of the first bits", "f-RR", e) < column("mean bound of the first bits", other, e)).all()
        for e in EPSILONS
        for other in bits.NAMES[1:4]
    ]
    ratios = [column("error bound", "LATENT", e)[0] / column("error bound", "f-RR", e)[0] for e in EPSILONS]
    same = [
        np.allclose(column("error bound", other, EPSILONS[0]), column("error bound", other, EPSILONS[-1]), rtol=0.01)
        for other in bits.NAMES[1:4]
    ]
    checks = (
        claimed(
            "most bounds of sign and integer bits are smaller than in the rivals",
            np.mean(first) > 0.5,
            "they are larger",
        ),
        claimed("the mean bound over the first bits is smaller for all of them", all(means), "some are larger"),
        claimed("the gap grows with epsilon", (np.diff(ratios) > 0).all(), "it does not"),
        claimed("the rivals' bounds stay the same", all(same), "they change"),
        *bits.flip_checks(rows, (1.0,))[-1:],
    )
    return Result(bits.COLUMNS, rows, checks, (f"{BITS} bits, five of them whole", *bits.NOTES))


def plot(result: Result) -> "pictures.Figure":
    """Bounds of each bit, and their mean over the first ones."""
    return bits.drawn(result, ("error bound", "mean bound of the first bits"), "y")
