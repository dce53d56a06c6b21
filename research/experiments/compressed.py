"""Compressed response: bits, encoding times and accuracy.

    python -m research.experiments.compressed            writes compressed.md, about a minute
    python -m research.experiments.compressed --quick    prints it for fewer vectors

Random vectors of 87,585 coordinates at epsilon 1 for one differing coordinate, all included. Bits are those of the messages,
which hide how many coordinates differ; keys follow from names that both sides know. *entropy* is the mean of what the labels
would take with the best code for each number of chunks and the true number of differing coordinates. Times are processor
time on one thread.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from deniable import Compressed
from deniable.core.coins import SeededCoins
from deniable.domains import SparseVector
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.index_law import mixed_index_law
from research.experiments.command import deliver, quick_option
from research.rivals.vector_costs import Costs

RESULT = Path(__file__).with_suffix(".md")
SIZE, EPSILON, VECTORS, QUICK = 87_585, 1.0, 200, 20
ALPHAS, DIFFERING = (2.0, 1.5, 1.25), (0, 10, 100, 1000, 3500)
SIZES = (7_115, 87_585, 890_060, 10**9)


def vectors(size: int, differing: int, count: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Random sets of coordinates."""
    random = np.random.default_rng(differing)
    return [random.permutation(np.unique(random.integers(0, size, 2 * differing + 50)))[:differing] for _ in range(count)]


def entropy(mechanism: Compressed, differing: int, chunks: int) -> float:
    """The bits of so many labels with the best code."""
    return chunks * mixed_index_law(mechanism.coordinate, mechanism.alpha, differing / chunks).entropy()


def bits(alpha: float, differing: int, count: int) -> tuple[float, float]:
    """The mean bits of a message, and the entropy of its labels."""
    mechanism = Compressed(SparseVector(SIZE), EPSILON, alpha)
    reports = mechanism.perturb(vectors(SIZE, differing, count), SeededCoins(1))
    used = np.unique(mechanism.decoder(reports).counts, return_counts=True)
    middle = used[0][len(used[0]) // 2]  # entropies are all but linear in the number of chunks
    mean = float(used[0] @ used[1]) / count
    return float(mechanism.bits(reports).mean()), entropy(mechanism, differing, int(middle)) * mean / float(middle)


def bits_table(count: int) -> Iterator[str]:
    """Bits for each alpha and number of differing coordinates."""
    yield "| alpha | variance of a bit | " + " | ".join(f"{differing:,} differ" for differing in DIFFERING) + " |"
    yield "|--:|--:|" + "--:|" * len(DIFFERING)
    for alpha in ALPHAS:
        coordinate = Compressed(SparseVector(SIZE), EPSILON, alpha, code="gamma").coordinate
        cells = ["{:.1f} ({:.1f})".format(*bits(alpha, differing, count)) for differing in DIFFERING]
        yield f"| {alpha:g} | {coordinate.noise:.1f} | " + " | ".join(cells) + " |"
    for name, cost in (("list", "listed"), ("subset", "subset"), ("plain response", "plain_response")):
        coordinate = CoordinateResponse.of(EPSILON)
        cells = [f"{getattr(Costs(coordinate, SIZE, differing), cost):,.0f}" for differing in DIFFERING]
        yield f"| {name} | {f'{coordinate.noise:.2f}' if 'plain' in name else '0'} | " + " | ".join(cells) + " |"


def milliseconds(mechanism: Compressed, differing: int, count: int) -> float:
    """The mean time to encode one of several vectors."""
    given = vectors(mechanism.domain.size, differing, count)
    mechanism.perturb(given[:2])
    start = time.process_time()
    mechanism.perturb(given)
    return 1000 * (time.process_time() - start) / count


def times_table(count: int) -> Iterator[str]:
    """Times for each number of coordinates, with the published chunks and with ours."""
    yield "| coordinates | chunks | 1,000 differ | 3,500 differ |"
    yield "|--:|---|--:|--:|"
    for size in SIZES:
        for name, load in (("published: two differing coordinates each", 2.0), ("ours", None)):
            mechanism = Compressed(SparseVector(size), EPSILON, 2.0, load=load)
            cells = [f"{milliseconds(mechanism, differing, count):.2f}" for differing in (1000, 3500)]
            yield f"| {size:,} | {name} | " + " | ".join(cells) + " |"


def page(count: int) -> str:
    """The whole result."""
    first = f"Bits of a message, and in brackets the entropy of its labels, over {count} vectors:"
    second = f"Milliseconds to encode one vector at alpha 2, over {count} vectors:"
    return "\n".join([first, "", *bits_table(count), "", second, "", *times_table(count), ""])


@click.command()
@quick_option("A tenth of the vectors")
def main(quick: bool) -> None:
    """Measure what compressed response takes."""
    deliver(page(QUICK if quick else VECTORS), None if quick else RESULT)


if __name__ == "__main__":
    main()
