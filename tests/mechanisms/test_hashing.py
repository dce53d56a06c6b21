"""Local hashing and the wheel: exact collisions, best parameters, twins of the kernel, bugs that the certificate sees."""

import itertools
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable import kernels
from deniable.arrays import Ints
from deniable.core.coins import Coins
from deniable.mechanisms.algebra.affine import LARGEST, field_for, word_for
from deniable.mechanisms.algebra.fields import is_prime
from deniable.mechanisms.algebra.tuning import total_error
from deniable.mechanisms.shares import local_hashing as hashing
from deniable.mechanisms.shares import subset_selection as subset
from deniable.mechanisms.shares import wheel
from tests.examples import shares
from tests.twins import plain_loops

plain = plain_loops(kernels)

LARGE = [2, 3, 32_749, 32_771, 65_537, 1_000_003, LARGEST]


def domain(size: int) -> dn.Categories:
    return dn.Categories(range(size))


def test_primes_are_those_of_a_sieve() -> None:
    sieve = np.ones(5000, np.bool_)
    sieve[:2] = False
    for number in range(2, 71):
        sieve[number * number :: number] = False
    assert [is_prime(number) for number in range(5000)] == sieve.tolist()


@pytest.mark.parametrize(
    ("number", "prime"),
    [
        (LARGEST, True),
        (2**61 - 1, True),
        (2**64 - 59, True),
        (46_337 * 46_337, False),
        ((2**31 - 1) * (2**31 + 11), False),
        (3_215_031_751, False),  # passes for 2, 3, 5 and 7
        (3_825_123_056_546_413_051, False),  # passes for all bases up to 23
    ],
)
def test_large_primes_and_numbers_that_look_like_them(number: int, prime: bool) -> None:
    assert is_prime(number) == prime


def test_a_field_has_a_place_for_every_value_and_no_prime_is_skipped() -> None:
    for values in range(2, 600):
        prime = field_for(values)
        assert is_prime(prime)
        assert prime >= max(values, 3)
        assert not any(is_prime(number) for number in range(max(values, 3), prime))
    assert field_for(LARGEST) == LARGEST
    for make in (dn.LocalHashing, dn.Wheel):
        with pytest.raises(dn.InvalidParameter, match="up to 2147483647 values"):
            make(domain(LARGEST + 1), 1.0)


@pytest.mark.parametrize("size", [2, 3, 6, 11])
def test_collisions_of_buckets_are_exact_for_every_pair(size: int) -> None:
    prime, odds = field_for(size), Fraction(3)
    a, b = np.divmod(np.arange(prime * (prime - 1)), prime)
    for buckets in range(2, prime + 1):
        p, q = hashing.chance(prime, Fraction(buckets), odds)
        places = ((a[:, None] + 1) * np.arange(size) + b[:, None]) % prime
        bucket = places * buckets // prime
        assert p == odds / (odds + buckets - 1)
        for x, y in itertools.combinations(range(size), 2):
            shared = Fraction(int((bucket[:, x] == bucket[:, y]).sum()), len(a))
            assert shared <= Fraction(1, buckets)
            assert q == shared * p + (1 - shared) / (odds + buckets - 1)


@pytest.mark.parametrize("size", [2, 3, 6, 11])
def test_common_places_of_arcs_are_exact_for_every_pair(size: int) -> None:
    prime, odds = field_for(size), Fraction(3)
    for arc in range(1, prime):
        p, q = subset.chance(prime, arc, odds)
        whole = arc * odds + prime - arc
        assert p == arc * odds / whole
        for x, y in itertools.combinations(range(size), 2):
            arcs = [[{(a * value + i) % prime for i in range(arc)} for a in range(1, prime)] for value in (x, y)]
            common = Fraction(sum(len(one & other) for one, other in zip(*arcs, strict=True)), prime - 1)
            assert q == (common * odds + arc - common) / whole


@pytest.mark.parametrize("mechanism", [dn.LocalHashing(domain(12), 1.0, 5), dn.Wheel(domain(12), 1.0, 4)])
def test_no_bias_is_left_over(mechanism: dn.LocalHashing | dn.Wheel) -> None:
    """Tallies as expected from the enumerated law, not from p and q: the estimate is the truth, in exact fractions."""
    truth, cells = shares(12), np.arange(12)
    expected = [Fraction(0)] * 12
    for index, share in enumerate(truth):
        law = dn.law(mechanism, index)
        supported = mechanism.supports(mechanism.layout.columns(law.reports), cells)
        for kind, chance in enumerate(law.chances):
            for cell, often in enumerate(supported[law.chance == kind].sum(axis=0).tolist()):
                expected[cell] += share * chance * often
    assert [(seen - mechanism.q) / (mechanism.p - mechanism.q) for seen in expected] == truth


def test_no_bias_is_left_over_at_real_size() -> None:
    """1,024 values and a hundred million people: every hash function is tried, and the expected tally gives the truth."""
    mechanism, n = dn.LocalHashing(domain(1024), 1.0), 10**8
    prime, g, odds = mechanism.prime, mechanism.buckets, mechanism.odds
    a, b = np.divmod(np.arange(prime * (prime - 1)), prime)
    truth = np.zeros(1024)
    truth[[0, 1, 700]] = 0.5, 0.3, 0.2
    watched = [0, 1, 700, 1023]
    buckets = [((a + 1) * x + b) % prime * g // prime for x in watched]
    for y, other in enumerate(watched):
        expected = Fraction(0)
        for x, share in zip(range(3), (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), strict=True):
            shared = Fraction(int((buckets[x] == buckets[y]).sum()), len(a))
            expected += share * (shared * mechanism.p + (1 - shared) / (odds + g - 1))
        counts = np.full(1024, float(mechanism.q) * n)
        counts[other] = float(expected * n)
        tally = dn.Tally(mechanism.fingerprint, n, counts)
        assert mechanism.estimate(tally).values[other] == pytest.approx(truth[other], abs=1e-12)


ODDS = [Fraction(1_000_001, 1_000_000), Fraction(3, 2), Fraction(3), Fraction(8), Fraction(50), Fraction(10**6)]


@pytest.mark.parametrize("values", [2, 3, 4, 14, 23, 60, 128])
@pytest.mark.parametrize("odds", ODDS)
def test_parameters_are_the_integer_optimum_of_the_exact_error(values: int, odds: Fraction) -> None:
    prime = field_for(values)

    def hashed(buckets: int) -> Fraction:
        return total_error(values, *hashing.chance(prime, Fraction(buckets), odds))

    def turned(arc: int) -> Fraction:
        return total_error(values, *subset.chance(prime, arc, odds))

    assert hashing.best_buckets(values, odds) == min(range(2, prime + 1), key=hashed)
    assert wheel.best_arc(values, odds) == min(range(1, prime), key=turned)


def test_error_is_close_to_that_of_the_best_subsets() -> None:
    """n times the total error at 1,024 values and epsilon 1: the wheel pays only for the seven places that are too many."""
    errors = {}
    for make in (dn.SubsetSelection, dn.Wheel, dn.LocalHashing, dn.LocalHashing.binary):
        mechanism = make(domain(1024), 1.0)
        errors[make.__name__] = float(total_error(1024, mechanism.p, mechanism.q))
    best = errors["SubsetSelection"]
    assert best < errors["Wheel"] < 1.002 * best
    assert errors["Wheel"] < errors["LocalHashing"] < 1.01 * best
    assert 1.1 * best < errors["binary"] < 1.4 * best


@pytest.mark.parametrize("size", LARGE)
def test_support_is_that_of_whole_numbers_at_every_edge(size: int) -> None:
    """The largest factors, shifts and values: products stay inside 64 bits."""
    cells = sorted({0, 1, size // 2, size - 1})
    prime = field_for(size)
    edges = sorted({1, 2, prime // 2 + 1, prime - 1}), [0, prime // 2, prime - 1]
    for buckets in sorted({2, min(prime, 1000), prime}):
        mechanism = dn.LocalHashing(domain(size), 1.0, buckets)
        rows = list(itertools.product(*edges, [0, buckets - 1]))
        a, b, bucket = np.array(rows).T
        supported = mechanism.supports({"a": a - 1, "b": b, "bucket": bucket}, np.array(cells))
        assert supported.tolist() == [[(a * x + b) % prime * buckets // prime == y for x in cells] for a, b, y in rows]
    for arc in sorted({1, prime // 2, prime - 1}):
        turns = list(itertools.product(*edges))
        a, place = np.array(turns).T
        supported = dn.Wheel(domain(size), 1.0, arc).supports({"a": a - 1, "place": place}, np.array(cells))
        assert supported.tolist() == [[(place - a * x) % prime < arc for x in cells] for a, place in turns]


def test_largest_domain_perturbs_and_supports() -> None:
    coins, last = dn.SeededCoins(3), LARGEST - 1
    for make in (dn.LocalHashing, dn.Wheel):
        mechanism = make(domain(LARGEST), 4.0)
        reports = mechanism.perturb(np.full(20_000, last), coins)
        supported = mechanism.supports(reports.columns, np.array([0, last])).mean(axis=0)
        # Six standard deviations of a mean of 20,000.
        assert abs(supported[0] - float(mechanism.q)) < 0.021
        assert abs(supported[1] - float(mechanism.p)) < 0.021


@pytest.mark.needs("numba")
@settings(deadline=None, max_examples=60)  # the first example compiles
@given(st.integers(0, 2**32), st.sampled_from(LARGE[1:]), st.integers(1, 40), st.integers(1, 5000))
@example(0, 3, 5, 2**15 + 1)
@example(0, 32_749, 4, 65_536 + 2049)
def test_compiled_interval_counts_equal_their_twin_and_whole_numbers(seed: int, prime: int, size: int, rows: int) -> None:
    from deniable.kernels import compiled

    random, word = np.random.default_rng(seed), word_for(prime)
    step, start = random.integers(1, prime, rows), random.integers(0, prime, rows)
    width = random.integers(0, prime + 1, rows)
    step[0], start[0], width[0] = prime - 1, prime - 1, prime  # the largest sums
    columns = step.astype(word), start.astype(word), width.astype(word)
    counts = plain.interval_counts(*columns, prime, size)
    np.testing.assert_array_equal(compiled.interval_counts(*columns, prime, size), counts)
    few = list(zip(step.tolist(), start.tolist(), width.tolist(), strict=True))[:50]
    brute = [sum((start + step * x) % prime < width for step, start, width in few) for x in range(size)]
    first, second, third = (column[:50] for column in columns)
    assert compiled.interval_counts(first, second, third, prime, size).tolist() == brute


@pytest.mark.parametrize("size", [7, 300, 40_000])  # below, in and beyond 16 bits
@pytest.mark.parametrize("make", [dn.LocalHashing, dn.LocalHashing.binary, dn.Wheel])
def test_counts_are_sums_of_support(make: type[dn.LocalHashing], size: int) -> None:
    mechanism = make(domain(size), 1.0)
    reports = mechanism.perturb(np.arange(40_000 if size == 7 else 50) % size, dn.SeededCoins(size))
    counts = mechanism.count(reports)
    np.testing.assert_array_equal(counts, mechanism.supports(reports.columns, np.arange(size)).sum(axis=0))


def test_reports_that_no_device_sends_are_refused() -> None:
    for mechanism in (dn.LocalHashing(domain(5), 1.0, 3), dn.Wheel(domain(5), 1.0)):
        for field in mechanism.layout.fields:
            columns = {each.name: np.zeros(2, np.uint8) for each in mechanism.layout.fields}
            columns[field.name][1] = field.below  # type: ignore[union-attr]
            with pytest.raises(dn.InvalidReport, match=f"'{field.name}'"):
                mechanism.votes(columns)


@pytest.mark.parametrize("number", [-1, 1, 6, 2.5, "3"])
def test_impossible_parameters_are_refused(number: int) -> None:
    with pytest.raises(dn.InvalidParameter, match="2 to 5 buckets"):
        dn.LocalHashing(domain(5), 1.0, number)
    if number != 1:
        with pytest.raises(dn.InvalidParameter, match="1 to 4 of the 5 places"):
            dn.Wheel(domain(5), 1.0, number)


def test_covariance_is_not_claimed_where_it_is_not_known() -> None:
    """With 0 as the truth, some pairs of other values are supported together more often than others."""
    for mechanism in (dn.LocalHashing(domain(7), 1.0, 3), dn.Wheel(domain(7), 1.0, 3)):
        law = dn.law(mechanism, 0)
        supported = mechanism.supports(mechanism.layout.columns(law.reports), np.arange(7)).tolist()
        chances = [chance for _, chance in law.items()]
        both = {
            pair: sum(chance for row, chance in zip(supported, chances, strict=True) if row[pair[0]] and row[pair[1]])
            for pair in itertools.combinations(range(1, 7), 2)
        }
        assert len(set(both.values())) > 1 and mechanism.pairs is None
    for size, large in ((7, dn.LocalHashing(domain(7), 1.0, 3)), (129, dn.Wheel(domain(129), 1.0))):
        with pytest.raises(dn.InvalidParameter, match="not known in closed form"):
            large.predict([1 / size] * size, 10).covariance()
    assert dn.Wheel(domain(128), 1.0).predict([1 / 128] * 128, 10).covariance().shape == (128, 128)


class BareBucket(dn.LocalHashing):
    """Forgets to randomize under one hash function."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        columns = super().randomize(truth, coins)
        bare = self._bucket(columns["a"], columns["b"], truth)
        return {**columns, "bucket": np.where(columns["a"] == 0, bare, columns["bucket"])}


class ChosenSeed(dn.LocalHashing):
    """Chooses b so that the true value comes to place 0."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        columns = super().randomize(truth, coins)
        return {**columns, "b": -(columns["a"] + 1) * truth % self.prime}


class FavouriteSeed(dn.LocalHashing):
    """Draws the hash function twice where the first would put the value into the last bucket."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        columns, again = super().randomize(truth, coins), coins.public(self.prime, len(truth))
        last = self._bucket(columns["a"], columns["b"], truth) == self.buckets - 1
        return {**columns, "b": np.where(last, again, columns["b"])}


class UnevenLie(dn.LocalHashing):
    """Moves on by one bucket at most when it lies."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        a, b = coins.public(self.prime - 1, len(truth)), coins.public(self.prime, len(truth))
        bucket = self._bucket(a, b, truth) + coins.split(self.p, 1, 1, len(truth))
        return {"a": a, "b": b, "bucket": bucket % self.buckets}


class ShortArc(dn.Wheel):
    """An arc that is one place shorter than the probabilities were made for."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        a = coins.public(self.prime - 1, len(truth))
        offset = coins.split(self.p, self.arc - 1, self.prime - self.arc + 1, len(truth))
        return {"a": a, "place": ((a + 1) * truth + offset) % self.prime}


class CutArc(dn.Wheel):
    """Does not go around: places beyond the end of the ring are moved back to its last."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        a = coins.public(self.prime - 1, len(truth))
        offset = coins.split(self.p, self.arc, self.prime - self.arc, len(truth))
        return {"a": a, "place": np.minimum((a + 1) * truth % self.prime + offset, self.prime - 1)}


class ValueAsSeed(dn.Wheel):
    """Takes the seed from the value."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        columns = super().randomize(truth, coins)
        return {**columns, "a": (columns["a"] // 2 + truth) % (self.prime - 1)}


@pytest.mark.parametrize("size", [6, 1100])
@pytest.mark.parametrize("bug", [BareBucket, ChosenSeed, FavouriteSeed, UnevenLie, ShortArc, CutArc, ValueAsSeed])
def test_planted_bugs_are_caught(bug: type[dn.LocalHashing], size: int) -> None:
    certificate = dn.certify(bug(domain(size), 1.0), limit=1 << 18)
    assert not certificate.holds
    assert certificate.slack < 0
