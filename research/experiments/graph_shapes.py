"""Graphs of all kinds on which counts are tried: made up."""

from collections.abc import Iterator

import numpy as np

from deniable.graphs import Graph

HELD_OUT = "power law 2.2, held out"  # no setting was chosen on this graph and those after it


def complete(size: int) -> Graph:
    """Everybody is joined to everybody."""
    return Graph.of(np.argwhere(np.tri(size, k=-1) > 0), size)


def two_sides(first: int, second: int) -> Graph:
    """Everybody on one side is joined to everybody on the other."""
    return Graph.of([(i, first + j) for i in range(first) for j in range(second)], first + second)


def road(side: int) -> Graph:
    """A grid of streets with a diagonal in every third block."""
    pairs = [((x, y), (x + 1, y)) for x in range(side - 1) for y in range(side)]
    pairs += [((x, y), (x, y + 1)) for x in range(side) for y in range(side - 1)]
    pairs += [((x, y), (x + 1, y + 1)) for x in range(side - 1) for y in range(side - 1) if (x + y) % 3 == 0]
    return Graph.of([(a * side + b, c * side + d) for (a, b), (c, d) in pairs], side * side)


def power_law(size: int, mean: float, exponent: float, seed: int) -> Graph:
    """Expected degrees that follow a power law, and no other structure."""
    weights = (np.arange(size) + 10.0) ** (-1 / (exponent - 1))
    weights *= mean * size / weights.sum()
    random = np.random.default_rng(seed)
    rows = [
        np.stack([np.full(i, i), np.arange(i)], axis=1)[random.random(i) < weights[i] * weights[:i] / weights.sum()]
        for i in range(1, size)
    ]
    return Graph.of(np.concatenate(rows), size)


def communities(size: int, each: int, inside: float, between: float, seed: int) -> Graph:
    """Groups that are dense inside."""
    random = np.random.default_rng(seed)
    group = np.arange(size) // each
    chance = np.where(group[:, None] == group[None, :], inside, between)
    return Graph.of(np.argwhere(np.tril(random.random((size, size)) < chance, -1)), size)


def small_world(size: int, reach: int, rewired: float, seed: int) -> Graph:
    """A ring of neighbours, some of whose edges lead elsewhere (Watts and Strogatz 1998)."""
    random = np.random.default_rng(seed)
    first = np.repeat(np.arange(size), reach)
    second = (first + np.tile(np.arange(1, reach + 1), size)) % size
    second = np.where(random.random(len(first)) < rewired, random.integers(0, size, len(first)), second)
    return Graph.of(np.stack([first, second], axis=1), size)


def camps(hubs: int, others: int) -> Graph:
    """Two camps of people, each joined to the hubs of their camp: the degrees do not say which hubs share people."""
    return Graph.of(
        [(2 * hub + camp, 2 * hubs + 2 * i + camp) for camp in (0, 1) for hub in range(hubs) for i in range(others)]
    )


def graphs() -> Iterator[tuple[str, Graph]]:
    """All graphs with their names."""
    yield "empty, 500 people", Graph.of([], 500)
    yield "star of 1,000", Graph.of([(0, i) for i in range(1, 1000)])
    yield "K(3,250)", two_sides(3, 250)
    yield "clique of 100", complete(100)
    yield "road-like, 1,600 crossings", road(40)
    yield "power law 2.5, 1,000 people", power_law(1000, 20.0, 2.5, 1)
    yield HELD_OUT, power_law(800, 12.0, 2.2, 2)
    yield "communities of 40, held out", communities(800, 40, 0.5, 0.005, 3)
    yield "small world, held out", small_world(800, 8, 0.1, 4)
    yield "two camps, held out", camps(5, 200)


def small_graphs() -> Iterator[tuple[str, Graph]]:
    """Those on which all other counts are made."""
    yield "empty, 300 people", Graph.of([], 300)
    yield "star of 300", Graph.of([(0, i) for i in range(1, 300)])
    yield "clique of 60", complete(60)
    yield "power law 2.5, 400 people", power_law(400, 12.0, 2.5, 1)
    yield "communities of 40, 400 people", communities(400, 40, 0.5, 0.005, 3)
