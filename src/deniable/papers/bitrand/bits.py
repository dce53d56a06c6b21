"""Figs. 4, 11 and 12: what happens to each bit of a number."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deniable.mechanisms.bit_budgets import sensitivities
from deniable.papers import style
from deniable.papers.bitrand.theory import BITS, FEATURES, WHOLE, flips, true_epsilon
from deniable.papers.figure import Check, Result, Row, claimed

if TYPE_CHECKING:
    from matplotlib import figure as pictures

COLUMNS = (
    "budget",
    "bit",
    "mechanism",
    "flip probability",
    "mean of the first bits",
    "error bound",
    "mean bound of the first bits",
)
NAMES = ("f-RR", "not bit-aware", "LATENT", "OME", "certified")


def table(epsilons: Sequence[float]) -> list[Row]:
    """Flip probabilities and their means over the first bits; and the same for the published bound on the error."""
    rows: list[Row] = []
    places = np.arange(1, BITS + 1)
    for epsilon in epsilons:
        for name in NAMES:
            flipped = np.array(flips(name, FEATURES, BITS, epsilon))
            error = flipped * sensitivities(BITS, WHOLE)
            means, bounds = flipped.cumsum() / places, error.cumsum() / places
            rows += [
                (f"epsilon {epsilon:g}", bit, name, *(float(part[bit]) for part in (flipped, means, error, bounds)))
                for bit in range(BITS)
            ]
    return rows


def flip_checks(rows: Sequence[Row], epsilons: Sequence[float]) -> list[Check]:
    """What the text says about flips."""
    found = Result(COLUMNS, rows, (claimed("", True, ""),))
    ours, latent, ome, top = (
        np.concatenate([found.numbers(column, budget=f"epsilon {epsilon:g}", mechanism=name) for epsilon in epsilons])
        for column, name in (
            ("flip probability", "f-RR"),
            ("flip probability", "LATENT"),
            ("mean of the first bits", "OME"),
            ("mean of the first bits", "f-RR"),
        )
    )
    true = true_epsilon("f-RR", FEATURES, BITS, epsilons[0])
    over = int((ours > 0.5).sum())
    return [
        claimed("the first bits of f-RR are flipped least", all(np.diff(ours[:BITS]) > 0), "they are not"),
        claimed(
            "f-RR flips no bit more often than LATENT",
            (ours <= latent + 1e-12).all(),
            f"{over} of its low bits are sent flipped more often than not (erratum BitRand B2)",
        ),
        claimed("over the first bits f-RR flips less than OME", (top < ome).all(), "it does not"),
        claimed(f"f-RR keeps epsilon {epsilons[0]:g}", true <= epsilons[0], f"it costs {true:.0f} (erratum BitRand B1)"),
    ]


NOTES = (
    "LATENT and OME flip ones and zeros with different probabilities; the mean of both is shown",
    "certified: what a true epsilon for all features together allows, which is next to nothing",
)


def drawn(result: Result, columns: tuple[str, str], log: str = "") -> "pictures.Figure":
    """The bits from the highest on, and the mean over the first ones, for each budget."""
    budgets = style.distinct(result.column("budget"))
    figure, axes = style.blank(2, len(budgets), 3.8, 2.8)
    for row, column in enumerate(columns):
        for place, budget in enumerate(budgets):
            chart = axes[row * len(budgets) + place]
            for number, name in enumerate(NAMES):
                values = result.numbers(column, budget=budget, mechanism=name)
                chart.plot(range(BITS), values, color=style.COLOURS[number], marker=style.MARKERS[number], label=name)
            chart.set(xlabel="bit, highest first", ylabel=column, title=str(budget))
            chart.title.set_fontsize(9)
            if log:
                chart.set_yscale("log")
    style.legend(figure, axes[0], len(NAMES))
    return figure
