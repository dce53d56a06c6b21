"""What it costs to name a place on a small ring instead of sending two noisy bits for each of 1,000 keys.

    python -m research.experiments.few_bits          writes few_bits.md, some seconds
    python -m research.experiments.few_bits --quick  prints it for two epsilons

All figures are exact: the sum of the variances of frequency and weight of a key that one person in a hundred has, as a
multiple of that of `PCKVUnary` with the best probabilities for such a key, which takes 2,000 bits. The public row, which may
be known beforehand, is counted in the last line only.
"""

from pathlib import Path

import click

import deniable as dn
from deniable.mechanisms.algebra.fields import is_prime
from deniable.mechanisms.key_value.key_value_protocol import total_error
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
KEYS, AT_MOST, FREQUENCY = 1000, 8, 0.01
EPSILONS, BITS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0), (2, 3, 4, 5, 6, 7, 8, 10, 12, 14)


def ratio(epsilon: float, bits: int) -> float:
    """How many times the error of 2,000 bits, with the best ring of at most so many bits."""
    domain = dn.KeyValue(range(KEYS), -1, 1, AT_MOST)
    whole = dn.PCKVUnary.balanced(domain, epsilon, frequency=FREQUENCY)
    sizes = [places for places in range(1 << bits - 1, (1 << bits) + 1) if places > 2 and is_prime(places)][-8:]
    rings = (total_error(dn.PairWheel(domain, epsilon, places), FREQUENCY, 0.0) for places in sizes)
    return min(rings) / total_error(whole, FREQUENCY, 0.0)


def table(epsilons: tuple[float, ...]) -> list[str]:
    """A row for each number of bits."""
    domain = dn.KeyValue(range(KEYS), -1, 1, AT_MOST)
    lines = [f"| bits | {' | '.join(f'epsilon {epsilon:g}' for epsilon in epsilons)} |", "|--:" * (len(epsilons) + 1) + "|"]
    lines += [f"| {bits} | {' | '.join(f'{ratio(epsilon, bits):.4g}' for epsilon in epsilons)} |" for bits in BITS]
    chosen = [[field.bits for field in dn.PairWheel(domain, epsilon).layout.fields] for epsilon in epsilons]
    return [*lines, f"| by default | {' | '.join(f'{place} bits, row {row}' for row, place in chosen)} |"]


@click.command()
@quick_option("Two epsilons")
def main(quick: bool) -> None:
    """What it costs to name a place on a small ring."""
    head = (
        f"The error of `PairWheel` for {KEYS:,} keys, at most {AT_MOST} a person, as a multiple of that of 2,000 noisy bits:"
    )
    deliver("\n".join([head, "", *table((1.0, 4.0) if quick else EPSILONS), ""]), None if quick else RESULT)


if __name__ == "__main__":
    main()
