"""The error of reports on vectors of length one against their bits: ours beside PrivUnit, ProjUnit, SQKR, RRSC and RHR.

    python -m research.experiments.unit_bits          writes unit_bits.md, a few minutes
    python -m research.experiments.unit_bits --quick  prints it for 64 dimensions and two epsilons

Nothing is simulated: all errors are worked out by formulas (`research/rivals/unit_vectors.py`), with the best parameters of
every mechanism. The bits are those of a report without the public seed, which may be known beforehand.
"""

from collections.abc import Callable
from pathlib import Path

import click

import deniable as dn
from deniable.mechanisms.algebra.tuning import total_error
from deniable.planning.vector_bounds import unit_bound
from deniable.planning.vectors import plan_units
from research.experiments.command import deliver, quick_option
from research.rivals import unit_vectors as rivals
from research.rivals.unit_vectors import Cost

RESULT = Path(__file__).with_suffix(".md")
EPSILONS, DIMENSIONS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0), (64, 256, 1024, 4096)
SHORT = 64  # dimensions onto which ProjUnit projects, and the corners of a simplex

Costs = Callable[[int, float], Cost]


def ours(mechanism: dn.UnitCodes) -> Cost:
    """The error of one of ours, and its bits without seeds."""
    codes = [field.bits for field in mechanism.layout.fields if field.name.startswith("code")]
    return Cost(mechanism.error, sum(codes))


def planned(d: int, epsilon: float) -> Cost:
    """What `plan` takes."""
    return ours(plan_units(dn.UnitVectors(d), epsilon))


MECHANISMS: dict[str, tuple[str, Costs]] = {
    "planned": ("proved", planned),
    "UnitAxes": ("proved", lambda d, epsilon: ours(dn.UnitAxes(dn.UnitVectors(d), epsilon))),
    "UnitCodes": ("proved", lambda d, epsilon: ours(dn.UnitCodes(dn.UnitVectors(d), epsilon))),
    "PrivUnit": ("published", rivals.priv_unit),
    "PrivUnitG": ("published", rivals.priv_unit_g),
    "ProjUnit, 64 dimensions": ("published", lambda d, epsilon: rivals.proj_unit(d, SHORT, epsilon)),
    "RRSC, 16 corners": ("published", lambda d, epsilon: rivals.simplex(d, epsilon, 16)),
    "RRSC, 64 corners": ("published", lambda d, epsilon: rivals.simplex(d, epsilon, SHORT)),
    "SQKR": ("published", rivals.sampled_kashin),
    "PrivHS, in rounds": ("published", rivals.half_spaces),
}


def least(d: int, epsilon: float) -> float:
    """The error that no unbiased report can beat."""
    return unit_bound(dn.UnitVectors(d), epsilon, 1) ** 2 * d


def shown(cost: Cost, bound: float) -> str:
    """The error as a multiple of the bound, and the bits."""
    return f"{cost.error / bound:.3f} ({cost.bits:,})"


def _head(first: str, epsilons: tuple[float, ...]) -> list[str]:
    columns = first.count("|") + 1
    return [
        f"| {first} | {' | '.join(f'epsilon {epsilon:g}' for epsilon in epsilons)} |",
        "|" + "--:|" + "---|" * (columns - 1) + "--:|" * len(epsilons),
    ]


def directions(dimensions: tuple[int, ...], epsilons: tuple[float, ...]) -> list[str]:
    """A row for each mechanism and number of dimensions."""
    lines = _head("d | mechanism | privacy", epsilons)
    for d in dimensions:
        for name, (proof, cost) in MECHANISMS.items():
            cells = " | ".join(shown(cost(d, epsilon), least(d, epsilon)) for epsilon in epsilons)
            lines.append(f"| {d:,} | {name} | {proof} | {cells} |")
    return lines


def one_hot(dimensions: tuple[int, ...], epsilons: tuple[float, ...]) -> list[str]:
    """RHR is for vectors with a single 1: the shares of answers. The bound is the error of the best subsets."""
    lines = _head("d | mechanism", epsilons)
    for d in dimensions:
        domain = dn.Categories(range(d))
        own, theirs = [], []
        for epsilon in epsilons:
            best = dn.SubsetSelection(domain, epsilon)
            bound = float(total_error(d, best.p, best.q))
            hashing = dn.LocalHashing(domain, epsilon)
            cost = Cost(float(total_error(d, hashing.p, hashing.q)), hashing.layout.fields[-1].bits)
            own.append(shown(cost, bound))
            theirs.append(shown(rivals.recursive_hadamard(d, epsilon), bound))
        lines += [f"| {d:,} | LocalHashing | {' | '.join(own)} |", f"| {d:,} | RHR | {' | '.join(theirs)} |"]
    return lines


@click.command()
@quick_option("64 dimensions, two epsilons")
def main(quick: bool) -> None:
    """Errors of vectors of length one against bits."""
    dimensions, epsilons = ((64,), (1.0, 4.0)) if quick else (DIMENSIONS, EPSILONS)
    text = [
        "The squared error of one report on a vector of length one, as a multiple of the smallest possible, and in "
        "brackets the bits of a report without public seeds:",
        "",
        *directions(dimensions, epsilons),
        "",
        "The same for vectors with a single 1, which stand for the shares of d answers, compared with the best subsets:",
        "",
        *one_hot(dimensions, epsilons),
        "",
    ]
    deliver("\n".join(text), None if quick else RESULT)


if __name__ == "__main__":
    main()
