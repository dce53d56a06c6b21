"""How far each mechanism is from the smallest possible error, and the planner's choice with it: exact, without a trial.

    python -m research.experiments.accuracy            writes accuracy.md, some minutes
    python -m research.experiments.accuracy --quick    prints it for a coarse grid

The smallest possible error is that of subset selection with the best size, which is optimal among all mechanisms of this
epsilon (Ye, Barg 2018, for many people). The error is n times the mean squared error of a share, averaged over the values;
it does not depend on the true shares. The planner is asked at every point of a grid; between its points it may do worse.
It chooses as for survey files: without weighted designs, which have exactly the smallest error, for up to 256 values.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from deniable.core.pure import PureProtocol
from deniable.domains import Categories
from deniable.mechanisms.algebra.tuning import total_error
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.shares.subset_selection import SubsetSelection
from deniable.planning.shares import options
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
POINTS = [
    (0.5, 16), (0.5, 1024), (1.0, 16), (1.0, 128), (1.0, 1024), (2.0, 16), (2.0, 128), (3.0, 128), (4.0, 16), (4.0, 128),
    (4.0, 1024),
]  # fmt: skip

BUDGETS = [step / 10 for step in range(1, 81)]
SIZES = sorted({*range(2, 129), *(round(2 ** (step / 16)) for step in range(7 * 16, 12 * 16 + 1))})


def scaled_error(mechanism: PureProtocol) -> float:
    """n times the mean squared error of a share, exact up to the last rounding."""
    size = mechanism.domain.size
    return float(total_error(size, mechanism.p, mechanism.q) / size)


def ratios(epsilon: float, size: int) -> dict[str, float]:
    """The error of every family as a multiple of the optimum."""
    domain = Categories(range(size))
    best = scaled_error(SubsetSelection(domain, epsilon))
    return {
        name: scaled_error(make(domain, epsilon)) / best
        for name, make in ((name, candidate.make) for name, candidate in candidates("shares", 1).items())
    }


def accuracy_table(points: Iterable[tuple[float, int]] = POINTS) -> list[str]:
    """One row for each question and budget."""
    names = [name for name in candidates("shares", 1) if name != "subset"]
    lines = [
        f"| epsilon | values | n x error of subset (size) | {' | '.join(names)} |",
        "|--:|--:|--:|" + "--:|" * len(names),
    ]
    for epsilon, size in points:
        subset, found = SubsetSelection(Categories(range(size)), epsilon), ratios(epsilon, size)
        cells = " | ".join(_short(found[name]) for name in names)
        lines.append(f"| {epsilon:g} | {size} | {scaled_error(subset):.4g} ({subset.size}) | {cells} |")
    return lines


def _short(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 10 else f"{ratio:.3g}"


@dataclass(frozen=True)
class Choice:
    """What the planner chose at one point, and how much larger its squared error is than the optimum."""

    epsilon: float
    size: int
    name: str
    ratio: float
    bits: int


def choice(epsilon: float, size: int) -> Choice:
    """The planner's choice for this question; the number of people does not matter."""
    domain = Categories(range(size))
    best = options(domain, epsilon, 1, edition=1).best
    chosen = candidates("shares", 1)[best.name].make(domain, epsilon)
    ratio = scaled_error(chosen) / scaled_error(SubsetSelection(domain, epsilon))
    return Choice(epsilon, size, best.name, ratio, best.bits)


def planner_table(choices: list[Choice]) -> list[str]:
    """How often each family was chosen, and at worst how far from the optimum."""
    lines = ["| chosen | points | largest squared error to the optimum | at epsilon | and values |", "|---|--:|--:|--:|--:|"]
    for name in candidates("shares", 1):
        of_name = [each for each in choices if each.name == name]
        if of_name:
            worst = max(of_name, key=lambda each: each.ratio)
            lines.append(f"| {name} | {len(of_name):,} | {worst.ratio:.4f} | {worst.epsilon:g} | {worst.size} |")
    worst = max(choices, key=lambda each: each.ratio)
    lines.append(f"| any | {len(choices):,} | {worst.ratio:.4f} | {worst.epsilon:g} | {worst.size} |")
    return lines


def page(budgets: list[float], sizes: list[int]) -> str:
    """The whole result."""
    choices = [choice(epsilon, size) for epsilon in budgets for size in sizes]
    return "\n".join(
        [
            "Squared error of a share as a multiple of the smallest possible one, that of subset selection with the best "
            "size:",
            "",
            *accuracy_table(),
            "",
            f"The planner's choice without weighted designs, at {len(budgets)} budgets from {budgets[0]:g} to "
            f"{budgets[-1]:g} times {len(sizes)} sizes from {sizes[0]} to {sizes[-1]}:",
            "",
            *planner_table(choices),
            "",
        ]
    )


@click.command()
@quick_option("A coarse grid for the planner")
def main(quick: bool) -> None:
    """Work out how far each mechanism, and the planner's choice, are from the smallest possible error."""
    deliver(page(BUDGETS[::16], SIZES[::24]) if quick else page(BUDGETS, SIZES), None if quick else RESULT)


if __name__ == "__main__":
    main()
