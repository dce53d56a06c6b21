"""Steps on vectors that are joined give what the interpreter gives, bit by bit, from the same bytes."""

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.batches import VectorRun
from deniable.core.coins import WHOLE
from deniable.core.operations import Node, Type
from deniable.core.orders import Gridded
from deniable.core.program import Program
from deniable.core.running import checked_code, compiled, copied, run
from deniable.core.vector_steps import vector_steps
from deniable.errors import OutsideDomain
from deniable.kernels import plain as kernel_loops
from deniable.kernels import vectors
from tests.core.test_batches import LAWS_OF_NUMBERS
from tests.core.test_programs import random_codes
from tests.twins import plain_loops

REFUSING = (1 << 32) // 257 + 1  # a bound that refuses one word of 257, more than any other


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.needs("numba"))], ids=["plain", "compiled"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_loops, "_available", request.param)
    monkeypatch.setattr(kernel_loops, "_done", kernel_loops.COMPILE_AFTER)


def joined(program: Program) -> VectorRun:
    steps = vector_steps(program)
    assert steps is not None
    return VectorRun(program, steps, 1 << 11)


def assert_alike(program: Program, codes: list[Any], size: int, seed: int = 1) -> None:
    coins, twins = dn.SeededCoins(seed), dn.SeededCoins(seed)
    ours, expected = joined(program).run(codes, coins, size), run(program, codes, twins, size)
    assert list(ours) == list(expected)
    for name, field in ours.items():
        np.testing.assert_array_equal(field, expected[name])
    assert coins.draw(8).tobytes() == twins.draw(8).tobytes()


def law(width: int, steps: int, places: list[int] | None = None, between: bool = False) -> Program:
    """The signs of all numbers, or of those at some places, with a toss between them or none."""
    nodes = [Node("code", (), ("below", 0, steps - 1, width)), Node("code", (), ("up", 0, WHOLE, width))]
    nodes += [Node("toss_each", (1,), (WHOLE,)), Node("add", (0, 2))]
    signs = []
    for place in range(width) if places is None else places:
        nodes += [Node("const", (), (place,)), Node("at", (3, len(nodes)))]
        nodes.append(Node("toss_each", (len(nodes) - 1,), (steps,)))
        signs.append(len(nodes) - 1)
        if between:
            nodes.append(Node("below", (), (7,)))
    nodes.append(Node("pack", tuple(signs), (1,)))
    return Program(tuple(nodes), (("signs", len(nodes) - 1),))


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("width", [1, 3, 8, 9, 63, 64, 65, 130])
@pytest.mark.parametrize("steps", [1, 3, 255, 256, 1000, 1024, 1 << 16, REFUSING, 1 << 24])
def test_signs_of_all_numbers(width: int, steps: int) -> None:
    program = law(width, steps)
    assert len(joined(program).steps[1]) == 4  # both codes, and two in place of all others
    for size in (1, 2, 15, 16, 17, 101):
        codes = random_codes(program, size)
        codes[1][::2] = np.random.default_rng(size).choice([0, 1, WHOLE - 1, WHOLE], codes[1][::2].shape)
        codes[0][::3] = np.random.default_rng(size).choice([0, steps - 1], codes[0][::3].shape)
        assert_alike(program, codes, size, seed=size)


@pytest.mark.usefixtures("loops")
def test_many_words_are_refused_and_drawn_again() -> None:
    program, size = law(65, REFUSING), 700
    coins, twins = dn.SeededCoins(9), dn.SeededCoins(9)
    run(program, random_codes(program, size), coins, size)
    twins.draw(8 * 65 * size + 4 * 65 * size)
    assert coins.draw(8).tobytes() != twins.draw(8).tobytes()  # more was drawn than one word for each
    assert_alike(program, random_codes(program, size), size, seed=9)


@pytest.mark.usefixtures("loops")
def test_more_numbers_than_are_drawn_at_once() -> None:
    program = law(131, 1024)
    assert_alike(program, random_codes(program, 1025), 1025)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int32, np.int64])
def test_codes_of_every_type(kind: type[np.generic]) -> None:
    program = law(9, 2)
    below, up = random_codes(program, 40)
    assert_alike(program, [below.astype(kind), up], 40)
    assert_alike(program, [below, (up % 2).astype(kind)], 40)
    assert_alike(program, [np.asfortranarray(below.astype(kind)), np.asfortranarray(up)], 40)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize(
    "program",
    [law(5, 8, places=[1, 0, 2, 3, 4]), law(5, 8, places=[0, 1, 2]), law(5, 8, places=[0, 0]), law(5, 8, between=True)],
    ids=["another order", "a part", "one twice", "a draw between"],
)
def test_signs_that_are_not_of_all_numbers_in_turn_are_tossed_as_ever(program: Program) -> None:
    draws = sum(node.op in ("toss_each", "below") for node in program.nodes)
    assert len(joined(program).steps[1]) > draws
    assert_alike(program, random_codes(program, 50), 50)


def test_sums_that_are_read_in_other_ways_are_made_as_ever() -> None:
    first = law(3, 8).nodes[:4]
    other = Program((*first, Node("cells", (3,), (0,))), (("bits", 4),))
    assert vector_steps(other) is None
    assert vector_steps(Program((Node("below", (), (7,)),), (("number", 0),))) is None


@pytest.mark.usefixtures("loops")
def test_laws_that_are_joined_report_what_the_interpreter_reports() -> None:
    programs = [program for program in LAWS_OF_NUMBERS if vector_steps(program) is not None]
    for program in programs:
        for size in (16, 33):
            assert_alike(program, random_codes(program, size), size)
    assert len(programs) > 1


def test_the_steps_of_the_interpreter_stay_as_they_are() -> None:
    program = law(7, 1024)
    before = len(compiled(program)[1])
    assert vector_steps(program) is not None
    assert len(compiled(program)[1]) == before == 2 + 2 + 2 * 7 + 1


class Shy(dn.SeededCoins):
    """Coins of a class of their own, which run as ever."""


@pytest.mark.parametrize("dimensions", [1, 9, 100])
@pytest.mark.parametrize("kind", [dn.DuchiVector, dn.FeatureVector])
def test_reports_do_not_depend_on_how_they_are_made(kind: Any, dimensions: int) -> None:
    for steps in (1024, 1000):
        mechanism = kind(dn.Features(dimensions, -1, 1, steps=steps), 2.0)
        rows = np.random.default_rng(dimensions).uniform(-1, 1, (77, dimensions))
        rows[:3] = [[-1], [0], [1]]
        ours, others = mechanism.perturb(rows, dn.SeededCoins(2)), mechanism.perturb(rows, Shy(2))
        assert mechanism.pack(ours) == mechanism.pack(others)


def test_a_vector_outside_is_refused_among_many() -> None:
    rows = np.zeros((50, 9))
    rows[31, 7] = 1.5
    for kind in (dn.DuchiVector, dn.FeatureVector):
        with pytest.raises(dn.errors.OutsideDomain):
            kind(dn.Features(9, -1, 1), 1.0).perturb(rows)


@pytest.mark.needs("numba")
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_a_draw_that_equals_the_chance_is_no_head(kind: type[np.unsignedinteger]) -> None:
    from deniable.kernels import vectors_compiled

    chances = np.array([0, 1, 5, 5, 5, WHOLE, WHOLE], np.int64)
    words = np.array([0, 0, 4, 5, 6, 0, WHOLE - 1], np.uint64) << np.uint64(11) | np.uint64(2047)
    columns = np.array([[4], [5], [6], [0], [7], [7], [0], [3], [4]], np.uint32) << np.uint32(29) | np.uint32(77)
    numbers = np.array([[5, 5, 5, 0, 8, 7, 1, 4, 4]], kind)
    for loops in (vectors_compiled, plain_loops(vectors)):
        points, rows = np.empty(7, kind), np.empty((1, 2), np.uint8)
        loops.rounded_up(np.arange(7).astype(kind), chances, words, points)
        assert points.tolist() == [0, 2, 3, 3, 4, 6, 7]
        loops.toss_columns(numbers, columns, 8, 0, rows)
        assert rows.tolist() == [[0b11010001, 0]]


GRIDS = [(-1.0, 1.0, 1024), (-1.0, 1.5, 7), (0.0, 3.0, 1), (-1e300, 1e300, 5)]  # as wide as a power of two, and not


def gridded(low: float, high: float, steps: int, rows: int) -> tuple[dn.Features, Any]:
    """Numbers of all places, also on points of the grid and at its ends."""
    domain, random = dn.Features(96, low, high, steps=steps), np.random.default_rng(steps)
    numbers = random.uniform(low, high, (rows, 96))
    numbers[:, :2] = low, high
    numbers[:, 2 : 2 + min(steps, 9)] = domain.coordinate.points[1 : 1 + min(steps, 9)]
    return domain, numbers


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("rows", [16, 700])
def test_numbers_are_rounded_as_their_codes_are(grid: tuple[float, float, int], rows: int) -> None:
    domain, numbers = gridded(*grid, rows)
    codes, written = list(domain.encode(numbers)), [np.array(code) for code in domain.encode(numbers)]
    assert all(isinstance(code, Gridded) for code in codes)
    for each, expected in zip(written, domain.coordinate.encode(numbers.ravel()), strict=True):
        np.testing.assert_array_equal(each.ravel(), expected)
    program = law(96, grid[2])
    assert_alike(program, codes, rows)
    coins, twins = dn.SeededCoins(1), dn.SeededCoins(1)
    ours, theirs = joined(program).run(codes, coins, rows), joined(program).run(written, twins, rows)
    np.testing.assert_array_equal(ours["signs"], theirs["signs"])
    assert_alike(program, [codes[0], written[1]], rows)  # one of them alone is an array again


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("wrong", [1.0001, -2.0, np.nan, np.inf])
def test_numbers_outside_a_grid_are_refused_where_they_are_rounded(wrong: float) -> None:
    domain, numbers = gridded(*GRIDS[0], 700)
    numbers[699, 95] = wrong
    for mechanism in (dn.FeatureVector(domain, 4.0), dn.DuchiVector(domain, 4.0)):
        with pytest.raises(OutsideDomain, match=r"outside the interval|not finite"):
            mechanism.perturb(numbers)


def test_only_numbers_on_the_grid_of_the_law_are_left_unwritten() -> None:
    """A code that is no plain array of the right shape, or of another grid, becomes one and is looked at as any other."""
    domain, numbers = gridded(*GRIDS[0], 20)
    below, up = Type(0, 1023, width=96), Type(0, WHOLE, width=96)

    def make(given: Any = numbers, grid: Any = GRIDS[0], place: int = 0) -> Any:
        return Gridded(given, grid, place, lambda: domain._codes(numbers))

    assert make().fits(below, 20) and make(place=1).fits(up, 20)
    for code, kind, size in (
        (make(), below, 19),
        (make(), up, 20),
        (make(place=1), below, 20),
        (make(), Type(0, 1023, width=95), 20),
        (make(), Type(-1, 1023, width=96), 20),
        (make(grid=(-1.0, 1.0, 1025)), below, 20),
        (make(grid=(1.0, -1.0, 1024)), below, 20),
        (make(grid=(-1.7e308, 1.7e308, 1024)), below, 20),
        (make(grid=(np.nan, 1.0, 1024)), below, 20),
        (make(grid=(-1, 1, 1024)), below, 20),
        (make(numbers.astype(np.float32)), below, 20),
        (make(np.asfortranarray(numbers)), below, 20),
        (make(np.ma.masked_array(numbers)), below, 20),
    ):
        assert not code.fits(kind, size)
    np.testing.assert_array_equal(checked_code(make(grid=(-1.0, 1.0, 3)), below, 20, unwritten=True), make().copy())
    with pytest.raises(OutsideDomain, match="bounds of the law"):
        checked_code(make(grid=(-1.0, 1.0, 3)), Type(0, 5, width=96), 20, unwritten=True)


def test_what_an_encoder_says_later_is_never_a_code() -> None:
    """Two codes that do not go together, or that are copied, become arrays after they were looked at."""
    domain, numbers = gridded(*GRIDS[0], 20)

    def wrong() -> Any:
        raise AssertionError

    codes: list[Any] = [Gridded(each, GRIDS[0], place, wrong) for place, each in enumerate((numbers, numbers.copy()))]
    written = [np.array(code) for code in domain.encode(numbers)]
    for code, expected in zip(codes, written, strict=True):
        np.testing.assert_array_equal(np.asarray(copied(code)), expected)
    program, coins, twins = law(96, GRIDS[0][2]), dn.SeededCoins(1), dn.SeededCoins(1)
    ours, theirs = joined(program).run(codes, coins, 20), joined(program).run(written, twins, 20)
    np.testing.assert_array_equal(ours["signs"], theirs["signs"])
