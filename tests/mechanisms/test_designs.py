"""Finite fields, difference sets, the transforms that count, and the two mechanisms that stand on them."""

import itertools
import json
import tracemalloc
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.arrays import Ints
from deniable.core import Coins, aimed, lookup
from deniable.mechanisms.algebra.difference_sets import (
    BY_SIZE,
    DifferenceSet,
    Paley,
    Quartic,
    Singer,
    Trivial,
    TwinPrimes,
    candidates,
    check_differences,
    verified,
)
from deniable.mechanisms.algebra.fields import (
    is_prime,
    power_of_x,
    prime_factors,
    prime_power,
    primitive_polynomial,
    sequence,
)
from deniable.mechanisms.algebra.transforms import ShiftedSums, walsh_hadamard
from deniable.mechanisms.algebra.tuning import total_error
from deniable.mechanisms.shares.block_design import best_design
from deniable.mechanisms.shares.subset_selection import best_size, chance, subset_error

SETS: list[DifferenceSet] = [
    *(Singer(q, 3) for q in (2, 3, 4, 5, 7, 8, 9, 11, 13, 16)),
    *(Singer(q, t) for q, t in ((2, 4), (2, 5), (2, 6), (2, 8), (3, 4), (3, 5), (4, 4), (5, 4), (8, 4))),
    *(Paley(v) for v in (7, 11, 19, 23, 31, 43, 127)),
    *(TwinPrimes(v) for v in (15, 35, 143, 323)),
    *(Quartic(v) for v in (13, 37, 101, 109, 197)),
    *(Trivial(v) for v in (2, 3, 10)),
]


def domain(size: int) -> dn.Categories:
    return dn.Categories(range(size))


def test_primes() -> None:
    assert [n for n in range(50) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
    assert prime_factors(2**20 - 1) == [3, 5, 11, 31, 41]
    powers = [q for q in range(2, 33) if prime_power(q)]
    assert powers == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]


@pytest.mark.parametrize(("p", "degree"), [(2, 2), (2, 3), (2, 4), (2, 10), (3, 2), (3, 3), (3, 6), (5, 2), (5, 4), (7, 3)])
def test_powers_of_the_root_are_all_elements_but_zero(p: int, degree: int) -> None:
    """Among them the fields of 4, 8, 9, 16, 25 and 27 elements."""
    polynomial = primitive_polynomial(p, degree)
    element, seen = np.eye(1, degree, dtype=np.int64)[0], set()
    for exponent in range(p**degree - 1):
        seen.add(tuple(element))
        if exponent % 7 == 0:
            np.testing.assert_array_equal(power_of_x(exponent, polynomial, p), element)
        carry = element[-1]
        element = (np.concatenate([[0], element[:-1]]) - carry * np.array(polynomial)) % p
    assert len(seen) == p**degree - 1
    assert tuple(element) == (1, *[0] * (degree - 1))


@pytest.mark.parametrize(("p", "degree"), [(2, 6), (3, 4), (5, 3), (251, 3)])
def test_sequence_follows_the_recurrence(p: int, degree: int) -> None:
    polynomial = primitive_polynomial(p, degree)
    values = [0] * (degree - 1) + [1]
    while len(values) < 700:
        values.append(-sum(a * s for a, s in zip(polynomial, values[-degree:], strict=True)) % p)
    assert sequence(polynomial, p, 700).tolist() == values
    assert sequence(polynomial, p, 2).tolist() == [0, 0]


@pytest.mark.parametrize("design", SETS, ids=repr)
def test_every_difference_occurs_lambda_times(design: DifferenceSet) -> None:
    """Counted one by one, beside the transform that checks larger sets."""
    elements = np.flatnonzero(verified(design).member).tolist()
    assert len(elements) == design.k
    differences = Counter((a - b) % design.v for a, b in itertools.permutations(elements, 2))
    assert [differences[shift] for shift in range(1, design.v)] == [design.shared] * (design.v - 1)


def test_sets_are_those_of_the_books() -> None:
    """Up to shift and multiplier there is one projective plane of these orders, so any two sets differ by no more."""
    for design, known in [(Singer(2, 3), {1, 2, 4}), (Singer(3, 3), {0, 1, 3, 9}), (Singer(4, 3), {3, 6, 7, 12, 14})]:
        ours = set(np.flatnonzero(design.members()).tolist())
        images = [{(a * x + b) % design.v for x in known} for a in range(1, design.v) for b in range(design.v)]
        assert ours in images


def test_large_sets_are_made_and_verified() -> None:
    for design in (Singer(4, 10), Singer(509, 3), Singer(256, 3), Paley(300007)):
        assert verified(design).member.sum() == design.k


def test_what_is_no_difference_set_is_refused() -> None:
    member = Paley(23).members()
    check_differences(ShiftedSums(member), 11)
    for wrong in ([0, 1], [1, 5]):
        changed = member.copy()
        changed[wrong] ^= True  # still 11 elements, or not even that many
        with pytest.raises(dn.InvalidParameter, match="not a difference set"):
            check_differences(ShiftedSums(changed), 11)


class Broken(Paley):
    def elements(self) -> Ints:
        return (super().elements() + (super().elements() == 1)) % self.v  # one element is off by one


def test_a_family_that_makes_a_wrong_set_is_refused() -> None:
    with pytest.raises(dn.InvalidParameter, match="not a difference set"):
        dn.BlockDesign(domain(5), 1.0, Broken(19)).perturb([1])


def shifted_sums(member: NDArray[np.bool_], counts: Ints) -> list[int]:
    whole = [int(count) for count in counts]
    elements = np.flatnonzero(member).tolist()
    return [sum(whole[(x + delta) % len(whole)] for delta in elements) for x in range(len(whole))]


@pytest.mark.parametrize("design", [Singer(2, 3), Trivial(5), Singer(9, 3), Paley(331), Singer(4, 5)], ids=repr)
@pytest.mark.parametrize("people", [0, 1, 1000, 10**9, 10**15, 2**62])
def test_shifted_sums_are_exact(design: DifferenceSet, people: int) -> None:
    """Spread out, all on one residue, and on a few."""
    sums, rng = verified(design), np.random.default_rng(people % 1000)
    spread = rng.multinomial(people, rng.dirichlet(np.ones(design.v)))
    one, few = np.zeros((2, design.v), np.int64)
    one[design.v // 2] = people
    few[[0, -1]] = people // 2, people - people // 2
    for counts in (spread, one, few):
        assert sums(counts).tolist() == shifted_sums(sums.member, counts)


def test_shifted_sums_of_huge_counts_on_many_residues() -> None:
    """Every count is near 2^40: a single transform would be off by hundreds."""
    sums = verified(Paley(50023))
    counts = np.random.default_rng(1).integers(1 << 40, (1 << 40) + 1000, 50023)
    found = sums(counts)
    for x in (0, 1, 777, 50022):
        assert found[x] == int(np.roll(counts, -x)[sums.member].sum())


def test_an_inexact_transform_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sums, exact = verified(Paley(23)), np.fft.irfft
    for error in (0.3, 1.0):  # not near a whole number, and near the wrong one
        monkeypatch.setattr(np.fft, "irfft", lambda *arguments, error=error: exact(*arguments) + error * np.eye(1, 64)[0])
        with pytest.raises(ArithmeticError, match="less exact than it can be"):
            sums(np.arange(23))


@pytest.mark.parametrize("order", [1, 2, 4, 64, 512])
def test_walsh_hadamard_is_the_matrix_product(order: int) -> None:
    index = np.arange(order)
    matrix = 1 - 2 * (np.bitwise_count(index[:, None] & index[None, :]).astype(np.int64) % 2)
    counts = np.random.default_rng(order).integers(0, 10**15, order)
    np.testing.assert_array_equal(walsh_hadamard(counts), matrix @ counts)


@pytest.mark.parametrize("design", SETS, ids=repr)
def test_p_and_q_are_those_of_the_formula(design: DifferenceSet) -> None:
    mechanism = dn.BlockDesign(domain(2), 1.5, design)
    odds, v, k, shared = mechanism.odds, design.v, design.k, design.shared
    assert mechanism.p == k * odds / (k * odds + v - k)
    assert mechanism.q == (shared * odds + k - shared) / (k * odds + v - k)


def every_design(least: int, most: int) -> list[DifferenceSet]:
    found: list[DifferenceSet] = [
        Singer(q, t) for t in range(3, 14) for q in range(2, 120) if prime_power(q) and q**t < most
    ]
    for family in BY_SIZE.values():
        found += [family(v) for v in itertools.takewhile(lambda v: v < most, family.sizes(least))]
    return [design for design in found if least <= design.v]


@pytest.mark.parametrize("values", [2, 5, 14, 33, 102])
def test_no_design_is_better_than_the_chosen_one(values: int) -> None:
    """Of all families, those that are not looked at included."""
    for epsilon in (0.05, 0.5, 1.0, 3.0):
        odds = dn.odds_below(epsilon)
        errors = [total_error(values, *chance(each.v, each.k, odds)) for each in every_design(values, 1000)]
        chosen = best_design(values, odds)
        assert total_error(values, *chance(chosen.v, chosen.k, odds)) <= min(errors)


@pytest.mark.parametrize("open_share", [Fraction(0), Fraction(9, 10)])
def test_fractions_decide_which_design_is_best(open_share: Fraction) -> None:
    for values, epsilon in [(3, 12.0), (20, 0.00005), (20, 0.0002), (50, 1.0), (101, 9.0)]:
        odds = dn.odds_below(epsilon)
        errors = [(subset_error(values, each.v, each.k, odds, open_share), each.v) for each in candidates(values, 1 << 20)]
        chosen = best_design(values, odds, open_share)
        assert (subset_error(values, chosen.v, chosen.k, odds, open_share), chosen.v) == min(errors)


def test_error_is_near_the_optimum_of_subset_selection() -> None:
    for values, epsilon, limit in [(100, 1.0, "1.004"), (1024, 1.0, "1.004"), (1024, 4.0, "1.02"), (128, 2.0, "1.03")]:
        odds = dn.odds_below(epsilon)
        design = best_design(values, odds)
        optimum = total_error(values, *chance(values, best_size(values, odds), odds))
        assert 1 <= total_error(values, *chance(design.v, design.k, odds)) / optimum < Fraction(limit)


def test_chosen_designs() -> None:
    assert best_design(5, dn.odds_below(4.0)) == Trivial(5)
    assert best_design(1000, dn.odds_below(0.1)) == Paley(1019)
    assert best_design(1024, dn.odds_below(2.0)) == Singer(8, 5)
    assert best_design(100, dn.odds_below(1.0)) == Quartic(101)
    assert best_design(32, dn.odds_below(0.1)) == TwinPrimes(35)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: dn.BlockDesign(domain(8), 1.0, Singer(2, 3)), "7 points is too small for 8 values"),
        (lambda: dn.BlockDesign(domain(8), 1.0, "fano"), "must be a difference set"),  # type: ignore[arg-type]
        (lambda: dn.BlockDesign(domain((1 << 24) + 1), 1.0), "at most 16777216 points"),
        (lambda: Singer(6, 3), "prime power"),
        (lambda: Singer(2, 2), "at least 3"),
        (lambda: Singer(2, 10**9), "at most"),
        (lambda: Singer(4.0, 3), "Singer"),  # type: ignore[arg-type]
        (lambda: Singer(True, 3), "Singer"),
        (lambda: Paley(13), "3 modulo 4"),
        (lambda: Paley(15), "prime"),
        (lambda: Paley(10**9 + 7), "at most"),
        (lambda: Paley(7.0), "prime"),  # type: ignore[arg-type]
        (lambda: TwinPrimes(63), "both prime"),
        (lambda: Quartic(17), "4 a"),
        (lambda: Trivial(1), "at least 2"),
        (lambda: Trivial(-5), "at least 2"),
    ],
)
def test_bad_designs_are_refused(make: type, why: str) -> None:
    with pytest.raises(dn.InvalidParameter, match=why):
        make()


def test_description_of_a_design_rebuilds_it() -> None:
    design = {"family": "singer", "v": 273, "k": 17, "lambda": 1, "q": 16, "t": 3}
    polynomial = [1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
    mechanism = dn.BlockDesign(domain(200), 1.0, Singer(16, 3))
    assert mechanism.parameters()["design"] == {**design, "polynomial": polynomial}
    assert dn.mechanism_from_json(mechanism.to_json()) == mechanism


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"family": "fano"}, "family"),
        ({"family": ["singer"]}, "mechanism"),
        ({"q": 6}, "prime power"),
        ({"q": 10**30}, "at most"),
        ({"t": 4}, "do not fit together"),
        ({"k": 18}, "do not fit together"),
        ({"lambda": 2}, "do not fit together"),
        ({"polynomial": [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]}, "do not fit together"),
    ],
)
def test_changed_descriptions_are_refused(changes: dict[str, object], why: str) -> None:
    spec = json.loads(dn.BlockDesign(domain(200), 1.0, Singer(16, 3)).to_json())
    spec["design"] |= changes
    with pytest.raises(dn.InvalidParameter, match=why):
        dn.mechanism_from_json(json.dumps(spec))


def test_impossible_reports_are_refused() -> None:
    for mechanism, name, beyond in [
        (dn.BlockDesign(domain(5), 1.0, Paley(11)), "point", 11),
        (dn.HadamardResponse(domain(5), 1.0), "column", 8),
    ]:
        with pytest.raises(dn.InvalidReport, match="not below"):
            mechanism.votes({name: np.array([beyond], np.uint8)})
        assert mechanism.votes({name: np.empty(0, np.uint8)}).tolist() == [0] * 5


class ShortBlock(dn.BlockDesign):
    """Never draws the last element of the block."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        v, k = self.design.v, self.design.k
        return {"point": (truth + lookup(self._offsets, coins.split(self.p, k - 1, v - k + 1, len(truth)))) % v}


class DoubledOffset(dn.BlockDesign):
    """The table of one value has an element of the block twice, and one from outside not at all."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        v, k = self.design.v, self.design.k
        index = coins.split(self.p, k, v - k, len(truth))
        index = np.where((truth == 1) & (index == v - 1), 0, index)
        return {"point": (truth + lookup(self._offsets, index)) % v}


class NarrowColumns(dn.HadamardResponse):
    """Never draws the last column."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        row, column = truth + 1, coins.below(self.order - 1, len(truth))
        wanted = coins.toss(self.p, len(truth))
        lowest = lookup(np.array([value + 1 & -(value + 1) for value in range(self.domain.size)]), truth)
        return {"column": column ^ lowest * (np.bitwise_count(row & column) & 1 == wanted)}


class AimedNarrowColumns(dn.HadamardResponse):
    """The same with the step that the law has for it, which needs all columns."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        column = coins.below(self.order - 1, len(truth))
        return {"column": aimed(column, truth + 1, ~coins.toss(self.p, len(truth)))}


@pytest.mark.parametrize(
    ("bug", "size"), [(ShortBlock, 6), (ShortBlock, 1100), (DoubledOffset, 6), (DoubledOffset, 1100), (NarrowColumns, 6)]
)
def test_planted_bugs_are_caught(bug: type[dn.BlockDesign], size: int) -> None:
    certificate = dn.certify(bug(domain(size), 0.5))
    assert not certificate.holds
    assert certificate.slack < 0


def test_a_planted_bug_that_no_rule_reaches_is_refused() -> None:
    with pytest.raises(dn.NotCertifiable, match="no rule of proof"):
        dn.certify(NarrowColumns(domain(1100), 0.5))


def test_columns_that_cannot_be_paired_are_refused() -> None:
    with pytest.raises(dn.NotCertifiable, match="needs columns 0 to"):
        dn.certify(AimedNarrowColumns(domain(6), 0.5))


class SwappedOffset(dn.BlockDesign):
    """One value's block is another set of k points: as private as before, but counted wrongly."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        v, k = self.design.v, self.design.k
        index = coins.split(self.p, k, v - k, len(truth))
        swapped = (truth == 1) & (index >= k - 1) & (index <= k)
        index = np.where(swapped, np.maximum(2 * k - 1 - index, 0), index)
        return {"point": (truth + lookup(self._offsets, index)) % v}


def test_a_wrong_block_costs_no_privacy_but_shows_in_the_law() -> None:
    mechanism = SwappedOffset(domain(5), 1.0, Paley(11))
    assert dn.certify(mechanism).holds
    law = dn.law(mechanism, 1)
    supported = mechanism.supports(mechanism.layout.columns(law.reports), np.arange(5))
    chances = [sum(chance for row, (_, chance) in zip(supported, law.items(), strict=True) if row[x]) for x in range(5)]
    assert chances[1] < mechanism.p


@pytest.mark.parametrize("make", [dn.HadamardResponse, dn.BlockDesign])
def test_a_million_values(make: type[dn.HadamardResponse]) -> None:
    """Half of the people share one value; memory is a few numbers for each point, and never one for each pair."""
    tracemalloc.start()
    mechanism, people = make(domain(10**6), 1.0), 4000
    truth = np.where(np.arange(people) % 2, 314_159, np.arange(people) * 240)
    estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(truth, dn.SeededCoins(1))))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 160 * mechanism.layout.fields[0].below  # type: ignore[union-attr]
    # Seven standard errors: fails once in 10^11 seeds.
    assert abs(estimate.values[314_159] - 0.5) < 7 * estimate.standard_error[314_159]
    assert estimate.values.argmax() == 314_159


def test_many_points_are_certified() -> None:
    certificate = dn.certify(dn.BlockDesign(domain(200_000), 1.0))
    assert certificate.holds
    assert certificate.loss.proof == "proved" and certificate.rules == ("shift",)
