"""How many bits a report of each family takes on its own, by a public seed, and by hashing; and what that costs.

    python -m research.experiments.seeded_bits    writes seeded_bits.md, some seconds

All figures are exact: bits without public draws, and the total error over all answers as a multiple of that of the family
itself. For keys with values it is that of frequency and weight of a key that one person in a hundred has.
"""

from collections.abc import Callable
from pathlib import Path

import click

import deniable as dn
from deniable.core import PureProtocol
from deniable.mechanisms.algebra.tuning import total_error
from deniable.mechanisms.key_value.key_value_protocol import total_error as key_error
from research.experiments.command import deliver

RESULT = Path(__file__).with_suffix(".md")
ANSWERS, EPSILONS = 1000, (0.5, 1.0, 2.0, 4.0)
MAKERS: dict[str, Callable[[dn.Categories, float], PureProtocol]] = {
    "Unary": dn.Unary,
    "Unary.symmetric": dn.Unary.symmetric,
    "SubsetSelection": dn.SubsetSelection,
    "BlockDesign": dn.BlockDesign,
    "Wheel": dn.Wheel,
    "LocalHashing": dn.LocalHashing,
    "HadamardResponse": dn.HadamardResponse,
    "DirectResponse": dn.DirectResponse,
}


def error(mechanism: PureProtocol) -> float:
    """The total error over all answers."""
    return float(total_error(mechanism.domain.size, mechanism.p, mechanism.q))


def own_bits(mechanism: dn.Mechanism) -> int:
    """The bits of a report without public draws."""
    public = {name for name, place in mechanism.law.report if mechanism.law.nodes[place].op == "public"}
    return sum(field.bits for field in mechanism.layout.fields if field.name not in public)


def cell(short: PureProtocol, whole: PureProtocol) -> str:
    """The ratio of errors, and the bits."""
    return f"{error(short) / error(whole):.3f} ({own_bits(short)})"


def seeded(base: PureProtocol) -> str:
    """What a public seed makes of a base."""
    return cell(dn.Seeded(base), base)


def keyed(epsilon: float) -> tuple[int, str]:
    """The bits of PCKV-UE, and what a seed and a ring make of it."""
    domain = dn.KeyValue(range(ANSWERS), -1, 1, 8)
    whole = dn.PCKVUnary.balanced(domain, epsilon, frequency=0.01)
    shorts = (dn.SeededPairs(whole), dn.PairWheel(domain, epsilon))
    ratios = [key_error(short, 0.01, 0.0) / key_error(whole, 0.01, 0.0) for short in shorts]
    return own_bits(whole), " | ".join(
        f"{ratio:.3f} ({own_bits(short)})" for ratio, short in zip(ratios, shorts, strict=True)
    )


def table() -> list[str]:
    """A row for each family."""
    domain = dn.Categories(range(ANSWERS))
    heads = [f"epsilon {epsilon:g}, seeded | hashed" for epsilon in EPSILONS]
    lines = [f"| family | own bits | {' | '.join(heads)} |", "|---|--:|" + "--:|" * 2 * len(EPSILONS)]
    for name, make in MAKERS.items():
        bases = [make(domain, epsilon) for epsilon in EPSILONS]
        cells = (f"{seeded(base)} | {cell(dn.LocalHashing(domain, base.epsilon), base)}" for base in bases)
        lines.append(f"| {name} | {own_bits(bases[0])} | {' | '.join(cells)} |")
    rings = [keyed(epsilon) for epsilon in EPSILONS]
    return [*lines, f"| PCKVUnary.balanced | {rings[0][0]} | {' | '.join(cells for _, cells in rings)} |"]


@click.command()
def main() -> None:
    """Bits and errors of short reports."""
    head = (
        f"The error for {ANSWERS:,} answers or keys as a multiple of that of the family, and in brackets the bits of a "
        "report without public draws; hashed is `LocalHashing`, for keys with values `PairWheel`:"
    )
    deliver("\n".join([head, "", *table(), ""]), RESULT)


if __name__ == "__main__":
    main()
