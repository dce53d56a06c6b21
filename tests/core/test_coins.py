"""Exactness of the coins on the primitives themselves: the map from random bytes to outcomes is counted, not sampled.

Tests that do sample have a fixed seed and a false-alarm rate below 1e-6 each: a chi-square variable with k degrees of
freedom exceeds k + 2 sqrt(k t) + 2 t with probability at most exp(-t) (Laurent, Massart 2000), and t is 16.2.
"""

import copy
import itertools
import math
import os
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import deniable as dn
from deniable import kernels
from deniable.core.bits import PackedBits
from tests.every import EveryCoin
from tests.streams import CountingCoins, GivenCoins, planes
from tests.twins import plain_loops

plain = plain_loops(kernels)

LANES = np.arange(256)


def chi_square_limit(freedom: int) -> float:
    t = 16.2
    return freedom + 2 * math.sqrt(freedom * t) + 2 * t


def check_uniform(counts: NDArray[np.int64], chances: Sequence[float] | None = None) -> None:
    expected = counts.sum() * np.array(chances if chances is not None else [1 / len(counts)] * len(counts))
    assert expected.min() > 50
    assert ((counts - expected) ** 2 / expected).sum() < chi_square_limit(len(counts) - 1)


@pytest.mark.parametrize(
    "heads", [Fraction(1, 3), Fraction(269, 1000), Fraction(5, 256), Fraction(77, 65536), Fraction(255, 256)]
)
def test_every_pair_of_bytes_is_tossed_to_the_right_side(heads: Fraction) -> None:
    """All 65,536 streams of two bytes: heads exactly as often as the probability allows, the last digit undecided."""
    won = 0
    for second in range(256):
        # 256 lanes hold every first byte; those that tie with the first digit take `second`, then a third byte of 255.
        coins = GivenCoins(planes(LANES), bytes([second, 255, 255, 255]))
        won += int(coins.toss(heads, 256).sum())
    assert won == math.floor(heads * 65536)


@pytest.mark.parametrize(
    "heads",
    [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(77, 65536), Fraction(10**30, 3 * 10**30 + 1)],
)
def test_one_toss_takes_the_bytes_of_a_row_of_one(heads: Fraction) -> None:
    """For every first byte, and second ones on both sides of a tie; the bytes after it are the same too."""
    for first, second in itertools.product(range(256), (0, 76, 77, 84, 85, 86, 255)):
        stream = planes(np.r_[first, np.arange(63) * 4]), bytes([second, 86, 255, 84, 0, 1, 2, 3, 4])
        one, row = GivenCoins(*stream), GivenCoins(*stream)
        assert one.toss(heads, 1).tolist() == row.toss_packed(heads, 1, 1).unpack()[0].tolist()
        assert one.draw(3).tolist() == row.draw(3).tolist()


@pytest.mark.parametrize("size", [2, 7, 8, 9, 40, 63, 64, 65])
@pytest.mark.parametrize(
    "heads", [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(10**30, 3 * 10**30 + 1)]
)
def test_a_few_tosses_take_the_bytes_of_a_row(heads: Fraction, size: int) -> None:
    """With none, some and all of them tied, and some tied again."""
    for tied in (0, size // 2, size):
        first = np.r_[np.full(tied, 85), np.arange(64 - min(tied, 64)) * 4][:64]
        stream = planes(np.resize(first, 128 if size > 64 else 64)), bytes([84, 85, 86] * 60)
        few, row = GivenCoins(*stream), GivenCoins(*stream)
        assert few.toss(heads, size).tolist() == row.toss_packed(heads, 1, size).unpack()[0].tolist()
        assert few.draw(3).tolist() == row.draw(3).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 2**24), st.booleans(), st.integers(0, 9))
def test_one_word_is_added_as_in_a_batch(word: int, n: int, where: bool, more: int) -> None:
    words, chosen, many, alone = np.array([word] * 2, "<u4"), np.array([where] * 2), np.array([5, 5]), np.array([5])
    again = plain.add_scaled(many, words, n, 32, chosen, more)
    assert plain.add_scaled(alone, words[:1], n, 32, chosen[:1], more).tolist() == again[:1].tolist()
    assert alone.tolist() == many[:1].tolist()


def test_ties_are_settled_in_the_order_of_the_lanes() -> None:
    heads = Fraction(1, 3)  # 0x55 0x55 ...
    lanes = np.full(64, 0x55)
    lanes[10:] = 0xFF
    further = bytes([0, 0xFF, 0x55, 0x54, 0x56, 0x55, 1, 0xFF, 0, 0xFF]) + bytes([0, 0xFF])
    outcome = GivenCoins(planes(lanes), further).toss(heads, 64)
    assert np.flatnonzero(outcome).tolist() == [0, 2, 3, 6, 8]


def test_neighbouring_tosses_share_no_randomness() -> None:
    """All 65,536 pairs of bytes in neighbouring lanes: the joint counts are the products of the single ones."""
    pairs = np.array(list(itertools.product(range(256), repeat=2))).ravel()
    for distance in (1, 8):  # neighbours in a byte, and the same bit of neighbouring bytes
        lanes = pairs if distance == 1 else pairs.reshape(-1, 8, 2).transpose(0, 2, 1).ravel()
        outcome = GivenCoins(planes(lanes)).toss(Fraction(70, 256), len(lanes))
        first = outcome.reshape(-1, 2)[:, 0] if distance == 1 else outcome.reshape(-1, 2, 8)[:, 0].ravel()
        second = outcome.reshape(-1, 2)[:, 1] if distance == 1 else outcome.reshape(-1, 2, 8)[:, 1].ravel()
        counts = Counter(zip(first.tolist(), second.tolist(), strict=True))
        assert counts == {(True, True): 70 * 70, (True, False): 70 * 186, (False, True): 186 * 70, (False, False): 186 * 186}


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 64, 100, 1024])
def test_joint_law_of_neighbouring_bits_and_rows(bits: int) -> None:
    heads, rows = Fraction(2, 7), 40_000
    tossed = dn.SeededCoins(bits).toss_packed(heads, rows, bits).unpack()
    p = float(heads)
    neighbours = [(tossed[:-1, 0], tossed[1:, 0])]  # the same bit of neighbouring rows
    neighbours += [(tossed[:, 0], tossed[:, step]) for step in (1, 8, 63, 64) if step < bits]
    for first, second in neighbours:
        counts = np.bincount(2 * first + second, minlength=4)
        check_uniform(counts, [(1 - p) ** 2, (1 - p) * p, p * (1 - p), p**2])


def test_padding_bits_are_never_set() -> None:
    packed = dn.SeededCoins(1).toss_packed(Fraction(9, 10), 1000, 13)
    assert packed.bytes[:, 1].max() < 1 << 5
    assert dn.SeededCoins(1).toss_packed(Fraction(1), 3, 13).row_sums().tolist() == [13, 13, 13]
    assert dn.SeededCoins(1).toss_packed(Fraction(0), 3, 13).row_sums().tolist() == [0, 0, 0]


@pytest.mark.parametrize("heads", [Fraction(1, 2), Fraction(1, 3), Fraction(1, 1000), Fraction(10**30 - 1, 10**30)])
def test_a_toss_costs_about_one_byte(heads: Fraction) -> None:
    coins = CountingCoins(1)
    coins.toss_packed(heads, 1000, 1024)
    assert 1000 * 1024 <= coins.drawn <= 1.01 * 1000 * 1024


@pytest.mark.parametrize("word_bits", [4, 8, 12])
def test_every_word_is_scaled_evenly(word_bits: int) -> None:
    """At reduced word size: each value below n comes from the same number of words, and as few as possible are refused."""
    words = np.arange(1 << word_bits, dtype=np.uint64)
    for n in range(1, (1 << word_bits) + 1, 1 if word_bits < 12 else 37):
        values, refused = plain.scale(words, n, word_bits)
        kept = np.delete(values, refused)
        assert len(refused) == (1 << word_bits) % n
        assert np.bincount(kept, minlength=n).tolist() == [(1 << word_bits) // n] * n


@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50),
    st.one_of(st.integers(1, 2**63 - 1), st.integers(1, 100), st.integers(2**32 - 5, 2**32 + 5)),
)
def test_scaling_of_real_words_is_the_formula(words: list[int], n: int) -> None:
    for bits in (32, 64) if n <= 1 << 24 else (64,):
        narrow = [word % 2**bits for word in words]
        values, refused = plain.scale(np.array(narrow, np.uint64), n, bits)
        assert values.tolist() == [word * n >> bits for word in narrow]
        assert refused.tolist() == [i for i, word in enumerate(narrow) if word * n % 2**bits < 2**bits % n]


def test_refused_words_are_drawn_again_in_order() -> None:
    # n = 3: the word 0 is refused, since 2^32 mod 3 = 1.
    words = np.array([0, 2**31, 0, 2**32 - 1, 1, 0, 1 << 30], "<u4")
    assert GivenCoins(words.tobytes()).below(3, 4).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("n", [2, 6, 1000, 2**24 + 1])
def test_below_and_its_neighbours_are_uniform(n: int) -> None:
    draws = dn.SeededCoins(n).below(n, 200_000)
    assert draws.min() >= 0
    assert draws.max() < n
    bins = (draws * 10 // n) if n > 10 else draws
    count = min(n, 10)
    edges = [-(-n * place // 10) for place in range(11)] if n > 10 else list(range(n + 1))
    chances = [(edges[place + 1] - edges[place]) / n for place in range(count)]
    check_uniform(np.bincount(bins, minlength=count), chances)
    check_uniform(np.bincount(bins[:-1] * count + bins[1:], minlength=count**2), np.outer(chances, chances).ravel().tolist())


@pytest.mark.parametrize("one_less", [False, True])
@pytest.mark.parametrize(("n", "k", "word_bits"), [(4, 2, 5), (5, 1, 8), (5, 3, 4), (6, 6, 3), (7, 5, 3)])
def test_every_row_of_words_gives_every_subset_equally_often(n: int, k: int, word_bits: int, one_less: bool) -> None:
    """At reduced word size: all rows of k words, of which only those with a refused word are drawn again."""
    words = np.array(list(itertools.product(range(1 << word_bits), repeat=k)), np.uint64)
    members, refused = plain.subsets(words, n, np.full(len(words), one_less), word_bits)
    kept = PackedBits(np.delete(members, refused, axis=0), n).unpack()
    subsets = Counter(tuple(row) for row in kept.tolist())
    assert len(subsets) == math.comb(n, k - one_less)
    assert len(set(subsets.values())) == 1
    assert all(sum(subset) == k - one_less for subset in subsets)
    assert len(kept) == math.prod((1 << word_bits) // bound * bound for bound in range(n - k + 1, n + 1))


def test_refused_subsets_are_drawn_again_whole() -> None:
    # Two of three: bounds 2 and 3. The word 0 is refused for bound 3, and then the row's first word is forgotten too.
    words = np.array([0, 2**31, 2**31, 0, 0, 2**32 - 1, 0, 1], "<u4")
    drawn = GivenCoins(words.tobytes()).subset(3, 2, np.zeros(3, np.bool_))
    # Row 0: 0, then 1. Row 1 is refused. Row 2: 0, then 2. Row 1 again: 0, then 0 is taken, so 2.
    assert [np.flatnonzero(row).tolist() for row in drawn.unpack()] == [[0, 1], [0, 2], [0, 2]]


@pytest.mark.parametrize(("n", "k"), [(5, 2), (9, 4), (300, 150)])
def test_subsets_have_their_size_and_no_favourites(n: int, k: int) -> None:
    subsets = dn.SeededCoins(n).subset(n, k, np.zeros(20_000, np.bool_))
    assert (subsets.row_sums() == k).all()
    members = subsets.unpack()
    both = np.bincount(2 * members[:, 0] + members[:, n - 1], minlength=4)  # first and last element together
    neither, one, two = (math.comb(n - 2, k - both) / math.comb(n, k) for both in range(3))
    check_uniform(both, [neither, one, one, two])


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 4), (3, 1), (3, 5)])
def test_split_is_uniform_on_each_side(first: int, second: int) -> None:
    heads = Fraction(2, 5)
    drawn = dn.SeededCoins(first * 10 + second).split(heads, first, second, 20_000)
    chances = [0.4 / first] * first + [0.6 / second] * second
    check_uniform(np.bincount(drawn, minlength=first + second), chances)
    # Exactly: every toss with every draw on either side, put together from a stream that is given.
    coins = EachSide(0)
    counts = np.bincount(coins.split(heads, first, second, 5 * first * second), minlength=first + second)
    assert counts.tolist() == [2 * second] * first + [3 * first] * second


class EachSide(dn.SeededCoins):
    """Every combination of a toss (two heads in five), a first and a second draw, each once."""

    draws = 0

    def toss(self, heads: Fraction, size: int) -> NDArray[np.bool_]:
        return np.arange(size) % 5 < 2

    def _add_below(self, values: NDArray[np.int64], n: int, where: NDArray[np.bool_], more: int) -> None:
        fifth = np.arange(len(values)) // 5
        self.draws += 1
        values += ((fifth % n if self.draws == 1 else fifth // (len(values) // 5 // n)) + more) * where


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 4), (3, 1), (3, 5), (3 << 22, 5), (1, 5 << 60)])
def test_split_takes_the_bytes_of_its_parts(first: int, second: int) -> None:
    """A toss each, then a number below `second` each, then one below `first` each; large bounds refuse many words."""
    coins, size = dn.SeededCoins(7), 3_000
    inside = coins.toss(Fraction(2, 5), size)
    later = coins.below(second, size) if second > 1 else np.zeros(size, np.int64)
    sooner = coins.below(first, size) if first > 1 else np.zeros(size, np.int64)
    split = dn.SeededCoins(7).split(Fraction(2, 5), first, second, size)
    np.testing.assert_array_equal(split, np.where(inside, sooner, later + first))


def test_each_toss_has_its_own_probability() -> None:
    """The edges of 2^53 equal parts, exactly; and EveryCoin gives both outcomes their exact chance."""
    heads = np.array([0, 1, 1, 2**52, 2**52, 2**53 - 1, 2**53, 2**53], np.int64)
    parts = np.array([0, 0, 1, 2**52 - 1, 2**52, 2**53 - 1, 0, 2**53 - 1], np.uint64)
    words = (parts << np.uint64(11)) + np.uint64(0x7FF)  # the lowest bits say nothing
    tossed = GivenCoins(words.astype("<u8").tobytes()).toss_each(heads)
    assert tossed.tolist() == [False, True, False, True, False, False, True, True]
    every = EveryCoin()
    every.toss_each(np.array([3], np.int64))
    every.follow(np.arange(every.combinations))
    assert every.toss_each(np.array([3, 3], np.int64)).tolist() == [False, True]
    code, chances = every.chances()
    assert [chances[place] for place in code] == [1 - Fraction(3, 2**53), Fraction(3, 2**53)]
    for wrong in ([-1], [2**53 + 1]):
        with pytest.raises(dn.InvalidParameter, match="2\\^53"):
            dn.SeededCoins(1).toss_each(np.array(wrong, np.int64))


def test_shares_of_another_whole_are_exact() -> None:
    """j out of s: below the s equally likely numbers; and the followed coin has just that chance."""

    class EachOnce(dn.SeededCoins):
        def below(self, n: int, size: int) -> NDArray[np.int64]:
            return np.arange(size) % n

    tossed = EachOnce(1).toss_each(np.repeat(np.arange(8), 7).astype(np.int64), 7)
    assert tossed.reshape(8, 7).sum(axis=1).tolist() == list(range(8))
    every = EveryCoin()
    every.toss_each(np.array([3], np.int64), 7)
    every.follow(np.arange(2))
    every.toss_each(np.array([3, 3], np.int64), 7)
    code, chances = every.chances()
    assert [chances[place] for place in code] == [Fraction(4, 7), Fraction(3, 7)]
    with pytest.raises(dn.InvalidParameter, match="whole"):
        dn.SeededCoins(1).toss_each(np.array([8], np.int64), 7)


def test_rounding_tosses_nothing_on_the_grid_when_followed() -> None:
    """Devices always draw; certificates go through points of the grid, where there is only one outcome."""
    every = EveryCoin()
    assert every.rounded(np.array([0, 2**53, 0], np.int64)).tolist() == [False, True, False]
    assert every.combinations == 1
    coins, other = dn.SeededCoins(1), dn.SeededCoins(1)
    coins.rounded(np.zeros(5, np.int64))
    other.draw(40)
    assert coins.draw(8).tobytes() == other.draw(8).tobytes()


def test_majorities_have_more_ones() -> None:
    rows = dn.SeededCoins(4).majority(6, 500)
    assert (rows.row_sums() >= 4).all() and rows.bytes.max() < 1 << 6


def test_pick_follows_its_weights_exactly() -> None:
    class EachOnce(dn.SeededCoins):
        def below(self, n: int, size: int) -> NDArray[np.int64]:
            return np.arange(n)

    assert np.bincount(EachOnce(1).pick([3, 0, 5, 1], 9)).tolist() == [3, 0, 5, 1]
    check_uniform(np.bincount(dn.SeededCoins(1).pick([1, 2, 5], 10_000), minlength=3), [1 / 8, 2 / 8, 5 / 8])


def test_secure_coins_never_repeat() -> None:
    coins = dn.SecureCoins()
    drawn = {coins.draw(16).tobytes() for _ in range(100)} | {dn.SecureCoins().draw(16).tobytes() for _ in range(100)}
    assert len(drawn) == 200


class Careless(dn.SecureCoins):
    def __init__(self, name: str = "") -> None:
        self.name = name  # and no super().__init__()


@dataclass(frozen=True)
class Frozen(dn.SecureCoins):
    name: str = ""


@dataclass
class Equal(dn.SecureCoins):
    """Without a hash."""

    name: str = ""


SECURE: list[Callable[[], dn.SecureCoins]] = [dn.SecureCoins, Careless, Frozen, Equal]


def drawn_in_a_fork(coins: dn.SecureCoins) -> bytes:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, coins.draw(16).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    drawn = os.read(reader, 16)
    os.close(reader)
    os.close(writer)
    return drawn


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("make", SECURE)
def test_a_forked_process_takes_a_key_of_its_own(make: Callable[[], dn.SecureCoins]) -> None:
    for coins in (make(), copy.copy(make()), copy.deepcopy(make())):
        coins.draw(16)
        assert drawn_in_a_fork(coins) != coins.draw(16).tobytes()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_that_runs_no_hook_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.core.coins._fresh", set())
    coins = dn.SecureCoins()
    monkeypatch.setattr("deniable.core.coins._fresh", set())
    coins.draw(16)
    assert drawn_in_a_fork(coins) != coins.draw(16).tobytes()


@pytest.mark.parametrize("make", SECURE)
@pytest.mark.parametrize("used", [False, True])
def test_a_copy_of_secure_coins_has_a_stream_of_its_own(make: Callable[[], dn.SecureCoins], used: bool) -> None:
    coins = make()
    if used:
        coins.draw(16)
    copies = [copy.copy(coins), copy.deepcopy(coins), pickle.loads(pickle.dumps(coins)), copy.copy(copy.copy(coins))]
    drawn = [each.draw(16).tobytes() for each in [coins, *copies] for _ in range(2)]
    assert len(set(drawn)) == len(drawn)
    assert copy.copy(Careless("mine")).name == pickle.loads(pickle.dumps(Frozen("mine"))).name == "mine"


def test_a_seed_repeats_its_stream_and_others_differ() -> None:
    assert dn.SeededCoins(7).below(1000, 20).tolist() == dn.SeededCoins(7).below(1000, 20).tolist()
    assert dn.SeededCoins(7).draw(32).tobytes() != dn.SeededCoins(8).draw(32).tobytes()
    # The stream is part of what other clients must reproduce.
    assert dn.SeededCoins(7).draw(8).tobytes().hex() == "87fc0e99e14c7893"


def test_random_bytes_do_not_depend_on_how_they_are_asked_for() -> None:
    whole = dn.SeededCoins(3).draw(300_000)
    coins = dn.SeededCoins(3)
    parts = [coins.draw(size) for size in (1, 15, 16, 131_072, 100_000)]
    assert np.array_equal(np.concatenate(parts), whole[: sum(len(part) for part in parts)])


@pytest.mark.needs("numba")
@settings(deadline=None)  # the first example compiles
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 9))
def test_compiled_kernels_equal_their_twins(seed: int, rows: int, width: int) -> None:
    from deniable.kernels import compiled

    random = np.random.default_rng(seed)
    words = random.integers(0, 2**64, (rows, width), dtype=np.uint64)
    eight = random.integers(0, 2**64, (8, rows), dtype=np.uint64)
    np.testing.assert_array_equal(compiled.column_sums(words), plain.column_sums(words))
    for digit, used in ((0, rows * 64), (1, 0), (85, rows * 64 - 63), (255, rows * 64 - 7)):
        for ours, twins in zip(compiled.toss_lanes(eight, digit, used), plain.toss_lanes(eight, digit, used), strict=True):
            np.testing.assert_array_equal(ours, twins)
    same = np.broadcast_to(words[0], (8, width)).copy()  # every lane is 0 or 255: half of them are tied, more than expected
    for ours, twins in zip(compiled.toss_lanes(same, 255, width * 64), plain.toss_lanes(same, 255, width * 64), strict=True):
        np.testing.assert_array_equal(ours, twins)
    _, tied = plain.toss_lanes(same, 0, min(width, rows) * 64)
    more = random.integers(80, 90, len(tied), dtype=np.uint8)
    set_ours, set_twins = np.zeros(rows * 8, np.uint8), np.zeros(rows * 8, np.uint8)
    np.testing.assert_array_equal(compiled.settle(set_ours, tied.copy(), more, 85), plain.settle(set_twins, tied, more, 85))
    np.testing.assert_array_equal(set_ours, set_twins)
    flat, narrow = words.ravel(), words.ravel().astype(np.uint32)
    for scaled, bound, bits in ((narrow, 3, 32), (narrow, 2**24, 32), (flat, 2**40 + 1, 64), (flat, 2**63 - 2**61, 64)):
        for result, twin in zip(compiled.scale(scaled, bound, bits), plain.scale(scaled, bound, bits), strict=True):
            np.testing.assert_array_equal(result, twin)
    rare = narrow.reshape(rows, width)
    rare[0, -1] = 0  # refused unless the bound is a power of two
    row_words: list[tuple[Any, int]] = [(rare, 32), (words, 64)]
    for drawn, bits in row_words:
        one_less = random.integers(0, 2, rows).astype(np.bool_)
        members, refused = compiled.subsets(drawn, width + 6, one_less, bits)
        twin_members, twin_refused = plain.subsets(drawn, width + 6, one_less, bits)
        np.testing.assert_array_equal(members, twin_members)
        np.testing.assert_array_equal(refused, twin_refused)
    values = random.integers(0, 7, rows * width).astype(np.uint8)
    np.testing.assert_array_equal(compiled.histogram(values, 7), plain.histogram(values, 7))


@pytest.mark.needs("numba")
@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 9))
def test_compiled_steps_equal_their_twins(seed: int, rows: int, width: int) -> None:
    from deniable.kernels import steps_compiled as compiled

    random = np.random.default_rng(seed)
    words = random.integers(0, 2**64, rows, dtype=np.uint64)
    where, more = random.integers(0, 2, rows).astype(np.bool_), int(random.integers(100))
    narrow = words.astype(np.uint32)
    narrow[0] = 0  # refused unless the bound is a power of two
    for drawn, bound, bits in ((narrow, 3, 32), (narrow, 1 << 24, 32), (words, 2**40 + 1, 64), (words, 2**63 - 2**61, 64)):
        ours, twins = (np.arange(rows, dtype=np.int64) for _ in range(2))
        again = compiled.add_scaled(ours, drawn, bound, bits, where, more)
        np.testing.assert_array_equal(again, plain.add_scaled(twins, drawn, bound, bits, where, more))
        np.testing.assert_array_equal(ours, twins)
    by, highest = int(random.integers(1, 1 << int(random.integers(1, 32)))), (1 << 31) - 1
    numbers = np.append(random.integers(0, highest, rows), [0, highest, highest // by * by, max(0, highest // by * by - 1)])
    np.testing.assert_array_equal(compiled.remainder(numbers, by, highest), plain.remainder(numbers, by, highest))
    once = numbers % (2 * by)
    twice = once.copy()
    compiled.wrap(once, by)
    plain.wrap(twice, by)
    np.testing.assert_array_equal(once, twice)
    column, row, odd = (random.integers(0, high, rows) for high in (1 << 40, 1 << 40, 2))
    np.testing.assert_array_equal(compiled.aim(column, row, odd), plain.aim(column, row, odd))
    points = np.linspace(-1.5, float(width), 7 * width)
    places = np.concatenate([random.uniform(-1.5, width, rows), points])
    np.testing.assert_array_equal(compiled.grid_position(places, points), plain.grid_position(places, points))
    np.testing.assert_array_equal(compiled.grid_codes(places, points), plain.grid_codes(places, points))
    for wrong in (np.nan, np.inf, -1.6, width + 0.1):
        outside = np.append(places, wrong)
        assert compiled.grid_codes(outside, points) is None and plain.grid_codes(outside, points) is None


@pytest.mark.needs("numba")
@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 9))
def test_compiled_moves_of_bits_equal_their_twins(seed: int, rows: int, width: int) -> None:
    from deniable.kernels import rows_compiled

    random = np.random.default_rng(seed)
    cells, value = random.integers(0, 256, (rows, width), np.uint8), random.integers(0, 2, rows).astype(np.bool_)
    source, target = (random.integers(0, 8 * width, rows) for _ in range(2))
    np.testing.assert_array_equal(rows_compiled.get_bits(cells, source), plain.get_bits(cells, source))
    for given_columns, name in (((source,), "put_bits"), ((source, target), "move_bits")):
        ours, twins = cells.copy(), cells.copy()
        getattr(rows_compiled, name)(ours, *given_columns, value)
        getattr(plain, name)(twins, *given_columns, value)
        np.testing.assert_array_equal(ours, twins)
    for beside in (-1, 8 * width):
        with pytest.raises(IndexError):
            rows_compiled.put_bits(cells, np.full(rows, beside), value)


def test_refusals_of_scaled_words_are_exercised() -> None:
    """The bounds above 2^62 refuse a good part of all words, so that the comparison of twins covers refusals."""
    words = np.random.default_rng(0).integers(0, 2**64, 500, dtype=np.uint64)
    assert 50 < len(kernels.scale(words, 2**63 - 2**61, 64)[1]) < 450


@pytest.mark.parametrize("probability", [0.5, 1, Fraction(3, 2), Fraction(-1, 2), "1/2"])
def test_a_probability_is_an_exact_fraction(probability: object) -> None:
    for coins in (dn.SeededCoins(1), EveryCoin()):
        with pytest.raises(dn.InvalidParameter):
            coins.toss(probability, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [[], [0, 0], [-1, 2], [0.5, 0.5], [2**62, 2**62]])
def test_impossible_weights_are_refused(weights: list[int]) -> None:
    with pytest.raises(dn.InvalidParameter):
        dn.SeededCoins(1).pick(weights, 1)


def test_impossible_bounds_and_subsets_are_refused() -> None:
    for n in (0, -3, 2**63):
        with pytest.raises(dn.InvalidParameter):
            dn.SeededCoins(1).below(n, 1)
    for k in (-1, 0, 6):
        with pytest.raises(dn.InvalidParameter):
            dn.SeededCoins(1).subset(5, k, np.zeros(1, np.bool_))


@pytest.mark.parametrize("seed", [1.5, None, "seven", True, [1]])
def test_a_seed_is_a_number_or_bytes(seed: object) -> None:
    with pytest.raises(dn.InvalidCoins):
        dn.SeededCoins(seed)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        dn.SecureCoins(seed)  # type: ignore[call-arg]
