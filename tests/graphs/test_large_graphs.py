"""Large graphs: blocks of answers beside the whole matrix, what takes the place of a largest sum, the same on any engine."""

import itertools

import numpy as np
import pytest

import deniable as dn
from deniable.aggregate.graphs import count_triangles
from deniable.arrays import Ints
from deniable.graphs import Graph, estimate_triangles, outlook, passes
from deniable.graphs.listed import Listed, answered
from deniable.graphs.ownership import Circle
from deniable.graphs.response import CompressedLists
from deniable.kernels import blocks
from deniable.kernels.lists import DrawnLists
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from research.experiments.graph_large import large_power_law
from research.experiments.graph_shapes import power_law


def listed(graph: Graph, rank: Ints, hubs: int, seed: int = 1) -> Listed:
    lists = CompressedLists(3.0, 1.5, NoisyCount(0.5))
    return answered(graph, rank, Circle(graph.vertices).numbers(graph), hubs, 1.0, lists, dn.SeededCoins(seed))


@pytest.mark.parametrize(("size", "hubs"), [(150, 0), (150, 40), (151, 40), (150, 150)])
@pytest.mark.parametrize(
    ("every", "many", "few"), [(1 << 17, 1 << 12, 16), (120, 1 << 12, 16), (1 << 17, 10, 3), (120, 10, 3)]
)
def test_blocks_say_what_the_matrix_says(
    size: int, hubs: int, every: int, many: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts and largest sums of everybody, in small blocks and jobs, also where some take the largest that is possible."""
    for name, value in {"ALL": every, "MANY": many, "FEW": few}.items():
        monkeypatch.setattr(outlook, name, value)
    monkeypatch.setattr(passes, "COLUMNS", 64)
    monkeypatch.setattr(passes, "PAIRS", 200)
    graph, rank = power_law(size, 14.0, 2.5, 1), np.random.default_rng(3).permutation(size)
    found, ordered = listed(graph, rank, hubs), graph.renumbered(rank)
    matrix = found.matrix()
    whole = [matrix.count(place, ordered.below(place)) for place in range(size)]
    seen = passes.seen(ordered, found)
    assert seen.counts(ordered, found) == pytest.approx(np.array([count for count, _ in whole]), abs=1e-9)
    least = outlook.taken_as_largest(ordered.degrees, np.arange(size), size)
    least = least * np.array([matrix.step(place) for place in range(size)])
    exact = (np.arange(size) < outlook.exact_places(size)) & (ordered.degrees > outlook.few_neighbours(size))
    local = np.where(exact, np.maximum(least, [each for _, each in whole]), least)
    assert seen.local == pytest.approx(local, abs=1e-9)
    assert (seen.local >= np.array([each for _, each in whole]) - 1e-9).all()
    pairs = np.array(list(itertools.combinations(range(size), 2)))
    bits = np.unpackbits(matrix.words.view(np.uint8), axis=1, bitorder="little")
    said = found.ones(2 * np.arange(len(pairs) + 1), pairs.reshape(-1))
    inside = pairs[:, 1] < hubs
    assert np.array_equal(said.sum(axis=1), bits[pairs[:, 0], pairs[:, 1]])
    assert not said[inside, 1].any() and not said[~inside, 0].any()


@pytest.mark.parametrize("people", [50, 5_000, 1 << 18])
@pytest.mark.parametrize("place", [3, 1 << 16])
def test_one_edge_changes_what_is_taken_by_one_answer(people: int, place: int) -> None:
    """Whatever the largest sums are: they are at most one answer for each neighbour, and change by one answer at most."""
    degrees = np.arange(60)
    taken = outlook.taken_as_largest(degrees, np.full(60, place), people)
    assert np.abs(np.diff(taken)).max() <= 1
    exact = place < outlook.exact_places(people)
    if exact:
        above = degrees > outlook.few_neighbours(people)
        for share in (0.0, 0.3, 1.0):  # of the largest possible sum
            used = np.where(above, np.maximum(taken, share * degrees), taken)
            assert np.abs(np.diff(used)).max() <= 1 + 1e-12
            assert (used >= share * degrees - 1e-12).all() or share < 1
    else:
        assert np.array_equal(taken, degrees)


@pytest.mark.needs("numba")
def test_compiled_blocks_are_the_plain_ones() -> None:
    from deniable.kernels import blocks_compiled

    random = np.random.default_rng(5)
    for people, kept in ((97, 97), (300, 120)):
        position = np.sort(random.choice(people, kept, replace=False)).astype(np.int64)
        size, chunks = Circle(people).sizes[position], random.integers(0, 4, kept)
        base = np.concatenate([[0], np.cumsum(chunks)])[:-1]
        labels = random.integers(1, 1 << 40, int(chunks.sum())).astype(np.uint64)
        keys, slot = random.integers(0, 1 << 62, kept).astype(np.uint64), random.permutation(70).astype(np.int64)
        rows = np.flatnonzero(random.random(kept) < 0.8)
        given = rows, position, 20, slot, DrawnLists(people, size, chunks, base, labels, keys, 1_900_000_000)
        words = [np.zeros((len(rows), 2), np.uint64) for _ in range(2)]
        plain_fill = blocks.fill_block.__wrapped__  # type: ignore[attr-defined]
        plain_fill(words[0], *given)
        blocks_compiled.fill_block(words[1], *given)
        assert words[0].any() and np.array_equal(words[0], words[1])
        degrees = random.integers(0, 20, 30)
        offsets = np.concatenate([[0], np.cumsum(degrees)])
        members = np.concatenate([np.sort(random.choice(len(rows), d, replace=False)) for d in degrees]).astype(np.int64)
        splits, reach = np.minimum(degrees, random.integers(0, 6, 30)), random.integers(0, 71, 30)
        bit = np.full(kept, -1)
        bit[20:90] = slot
        rest = splits, reach, 9, bit[rows], (0.3, 0.4), (0.45, 0.1)
        plain = blocks.block_sums.__wrapped__(words[0], offsets, members, *rest)  # type: ignore[attr-defined]
        compiled = blocks_compiled.block_sums(words[0], offsets, members, *rest)
        assert np.array_equal(plain[1], compiled[1]) and np.array_equal(plain[0], compiled[0])
    with pytest.raises(IndexError):
        blocks_compiled.fill_block(words[0][:3], *given)
    with pytest.raises(IndexError):
        blocks_compiled.block_sums(words[0], offsets, members + len(rows), *rest)


@pytest.mark.needs("numba")
def test_compiled_lists_are_the_plain_ones() -> None:
    from deniable.kernels import lists, lists_compiled

    plain_ones = lists.pair_ones.__wrapped__  # type: ignore[attr-defined]
    plain_closed = lists.closed_pairs.__wrapped__  # type: ignore[attr-defined]
    for size, hubs in ((150, 0), (151, 40)):
        graph, rank = power_law(size, 14.0, 2.5, 1), np.random.default_rng(3).permutation(size)
        found, ordered = listed(graph, rank, hubs), graph.renumbered(rank)
        given = ordered.offsets, ordered.lower, hubs, found.plain, found.person, found._drawn
        assert np.array_equal(plain_ones(*given), lists_compiled.pair_ones(*given)) and plain_ones(*given)[:, 1].any()
        pairs = ordered.offsets, ordered.lower
        wedges = sum(int(graph.are_edges(j, k).sum()) for _, j, k in graph.wedges())
        assert plain_closed(*pairs) == lists_compiled.closed_pairs(*pairs) == wedges
        for wrong in ((given[0], given[1] + size, *given[2:]), (given[0] + 1, *given[1:]), (*given[:2], size, *given[3:])):
            with pytest.raises(IndexError):
                lists_compiled.pair_ones(*wrong)
        with pytest.raises(IndexError):
            lists_compiled.closed_pairs(ordered.offsets, ordered.lower + size)


@pytest.mark.needs("numba")
def test_the_same_integers_on_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.graphs.listed.PEOPLE", 100)
    monkeypatch.setattr(passes, "COLUMNS", 128)
    graph, shares = power_law(400, 12.0, 2.5, 1), list[float]()
    alone = estimate_triangles(graph, 2.0, coins=dn.SeededCoins(4))
    engine = count_triangles(graph, 2.0, workers=2, coins=dn.SeededCoins(4), progress=shares.append)
    assert (alone.raw, alone.bits, alone.plan) == (engine.raw, engine.bits, engine.plan)
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) >= 5


def test_more_people_than_a_matrix_has_room_for() -> None:
    """200,000 people, of whom a few know each other: whoever is not among the first takes the largest change possible."""
    pairs = np.random.default_rng(2).integers(0, 200_000, (2_000, 2))
    found = estimate_triangles(Graph.of(pairs, 200_000), 4.0, coins=dn.SeededCoins(1))
    assert abs(found.raw) < 5 * found.standard_error and not found.clear


def test_generated_graphs() -> None:
    graph = large_power_law(2_000, 20.0, 2.5, 1)
    assert graph.edges == 20_000 and graph.degrees.sum() == 20_000 and graph.triangles() > 1_000
