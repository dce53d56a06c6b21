"""Axes of a public random rotation: the sums that the estimate rests on, the law, and that it comes back."""

from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.core import Ranked, encoded
from deniable.kernels import rotations
from deniable.kernels.rotations import hadamard, sign_words, unpacked_signs
from deniable.mechanisms.vectors.unit_axes import largest_sums


def test_sums_of_the_largest() -> None:
    """Against 4,000 directions of 64 numbers; six standard errors: a false alarm once in 5e8."""
    drawn = np.abs(np.random.default_rng(1).normal(size=(4000, 64)))
    drawn = -np.sort(-drawn / np.linalg.norm(drawn, axis=1, keepdims=True), axis=1)
    for near in (1, 2, 9, 40, 62):
        for power, found in zip((1, 2), largest_sums(64, near), strict=True):
            sums = (drawn[:, :near] ** power).sum(axis=1)
            assert abs(sums.mean() - found) < 6 * sums.std() / 4000**0.5
    # The larger of two coordinates of a direction on the circle has the mean 2 sqrt(2) / pi.
    assert largest_sums(2, 1)[0] == pytest.approx(2 * 2**0.5 / np.pi, rel=1e-4)


def test_a_rotation_keeps_lengths_and_is_undone() -> None:
    rows = np.random.default_rng(2).normal(size=(5, 128))
    turned = hadamard(rows.copy())
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(rows, axis=1))
    np.testing.assert_allclose(hadamard(turned.copy()), rows)
    signs = unpacked_signs(sign_words(np.arange(5), 128), 128)
    assert signs.shape == (5, 3, 128) and set(np.unique(signs)) == {-1, 1}
    assert abs(signs.mean()) < 6 / signs.size**0.5  # a false alarm once in 5e8


@pytest.mark.needs("numba")
@pytest.mark.parametrize(("size", "width"), [(128, 2), (512, 384)])
@pytest.mark.parametrize("people", [1, 33])
def test_compiled_rotations_equal_the_plain_ones(size: int, width: int, people: int) -> None:
    from deniable.kernels import rotations_compiled as compiled

    random = np.random.default_rng(size + people)
    for rows in (random.normal(size=(people, width)), np.tile(np.eye(width)[1], (people, 1))):  # axes have many ties
        words = random.integers(0, 1 << 64, (people, 3 * size // 64), np.uint64)
        wide, given = rotations.rotated.__wrapped__(rows, words, size), (words, size, width)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(compiled.rotated(rows, words, size).view(np.uint32), wide.view(np.uint32))
        place, opposite = random.integers(0, size, people), random.integers(0, 2, people)
        column = rotations.largest_at.__wrapped__(wide, place)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(compiled.largest_at(wide, place), column)
        before = rotations.axes_before.__wrapped__(column, opposite, *given)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(compiled.axes_before(column, opposite, *given), before)
        sums = rotations.axis_sums.__wrapped__(column, opposite, *given, 1 << 24)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(compiled.axis_sums(column, opposite, *given, 1 << 24), sums)


@pytest.mark.needs("numba")
def test_each_number_has_one_place_whatever_the_floats_are() -> None:
    from deniable.kernels import rotations_compiled as compiled

    odd = np.array([[0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.0, -1.0, 1.0, 1e-45, 0.0, -1e-45]], np.float32)
    ranked = Ranked(odd)
    assert (len(ranked), ranked.size) == (1, 24) and sorted(np.asarray(ranked)[0].tolist()) == list(range(24))
    columns = [int(compiled.largest_at(odd, np.array([place]))[0]) for place in range(12)]
    assert columns == [int(np.asarray(ranked)[0, place]) // 2 for place in range(12)]
    assert columns[2:8] == [4, 5, 6, 7, 8, 9]  # after the two that are no numbers: by size, then by number


def test_ranks_of_turned_vectors_are_those_of_the_numbers_after_turning() -> None:
    rows, words = np.random.default_rng(3).normal(size=(6, 100)), sign_words(np.arange(6), 128)
    turned = Ranked(rows, words)
    assert turned.is_plain() and turned.copy().is_plain() and (len(turned), turned.size) == (6, 256)
    np.testing.assert_array_equal(np.asarray(turned), np.asarray(Ranked(rotations.rotated(rows, words, 128))))
    for wrong in (words[:5], words[:, :5], words[:, :0], np.tile(words, 2)[:, :9]):
        assert not Ranked(rows, wrong).is_plain()


def test_every_direction_is_named_by_some_rank_and_none_twice() -> None:
    mechanism = dn.UnitAxes(dn.UnitVectors(3), 1.0, 1)
    (named,) = np.asarray(mechanism.order(np.array([[0.6, 0.0, 0.8]]), np.array([77])))
    assert sorted(named.tolist()) == list(range(mechanism.codes))
    vectors, seeds = np.tile([0.6, 0.0, 0.8], (len(named), 1)), np.full(len(named), 77)
    nearness = (mechanism.named(seeds, named.astype(np.int64)) * vectors).sum(axis=1)
    assert (np.diff(nearness) < 1e-6).all()


@pytest.mark.parametrize(("d", "epsilon", "vector"), [(2, 3.0, "axis"), (90, 6.0, "axis"), (90, 18.0, "even")])
def test_unbiased_and_as_far_off_as_predicted(d: int, epsilon: float, vector: str) -> None:
    """Fixed coins; within six standard errors, which chance exceeds once in 5e8. Axes are the worst for few turns."""
    mechanism = dn.UnitAxes(dn.UnitVectors(d), epsilon)
    vectors = np.tile(np.eye(d)[0] if vector == "axis" else np.full(d, d**-0.5), (4000, 1))
    reports = mechanism.perturb(vectors, dn.SeededCoins(1))
    tally = mechanism.tally(mechanism.unpack(mechanism.pack(reports)))
    assert tally == mechanism.tally(reports[:9]) + mechanism.tally(reports[9:])
    off = mechanism.estimate(tally).values - vectors[0]
    spread = (mechanism.error / d / 4000) ** 0.5
    assert (np.abs(off) < 6 * d**0.5 * spread).all() and abs(off @ vectors[0]) < 6 * d**0.5 * spread
    told = [mechanism.estimate(mechanism.tally(reports[i : i + 1])).values for i in range(1000)]
    measured = ((np.array(told) - vectors[:1000]) ** 2).sum(axis=1)
    assert abs(measured.mean() - mechanism.error) < 6 * measured.std() / 1000**0.5


def test_the_loss_is_proved_whatever_the_order_and_the_seed() -> None:
    mechanism = dn.UnitAxes(dn.UnitVectors(3), 1.0, 1)
    for made in (mechanism, dn.UnitAxes(dn.UnitVectors(384), 12.0), dn.UnitCodes(dn.UnitVectors(5), 9.0)):
        certificate = dn.certify(made)
        assert certificate.holds and certificate.loss.odds == made.loss().odds and certificate.loss.proof == "proved"


def test_the_order_may_be_anything_but_names_every_direction_once() -> None:
    class Own(dn.UnitAxes):
        def order(self, truth, seed):  # type: ignore[no-untyped-def]
            return np.tile(np.arange(self.codes)[::-1], (len(truth), 1))

    class Twice(dn.UnitAxes):
        def order(self, truth, seed):  # type: ignore[no-untyped-def]
            return np.minimum(dn.UnitAxes.order(self, truth, seed), self.codes - 2)

    class Wider(dn.UnitAxes):
        def randomize(self, truth, coins):  # type: ignore[no-untyped-def]
            choice = coins.split(Fraction(3, 4), 2 * self.near, self.codes - 2 * self.near, len(truth))
            order = encoded(truth, self.order, "order", self.codes, width=self.codes, distinct=True)
            return {"seed0": coins.public(1 << 48, len(truth)), "code0": order[:, choice // 2]}

    vectors = [[0.6, 0.0, 0.8]] * 3
    own: dn.Mechanism = Own(dn.UnitVectors(3), 1.0, 1)
    assert dn.certify(own).holds and len(own.perturb(vectors)) == 3
    twice: dn.Mechanism = Twice(dn.UnitVectors(3), 1.0, 1)
    with pytest.raises(dn.OutsideDomain, match="Nothing was reported"):
        twice.perturb(vectors)
    with pytest.raises(dn.NotCertifiable):
        dn.certify(Wider(dn.UnitVectors(3), 1.0, 1))


def test_better_than_few_directions_where_the_budget_is_large() -> None:
    domain = dn.UnitVectors(384)
    for epsilon, ratio in ((1.0, 1.01), (4.0, 0.98), (16.0, 0.86), (64.0, 0.82)):
        assert dn.UnitAxes(domain, epsilon).error / dn.UnitCodes(domain, epsilon).error < ratio


def test_it_comes_back_and_refuses_what_makes_no_sense() -> None:
    mechanism = dn.UnitAxes(dn.UnitVectors(300), 20.0)
    assert dn.mechanism_from_json(mechanism.to_json()) == mechanism and mechanism.codes == 1024
    for make in (
        lambda: dn.UnitAxes(dn.Features(2, -1, 1), 1.0),  # type: ignore[arg-type]
        lambda: dn.UnitAxes(dn.UnitVectors(3), 1.0, codes=100),
        lambda: dn.UnitAxes(dn.UnitVectors(3), 1.0, 1, 256),
        lambda: dn.UnitAxes(dn.UnitVectors(3), 1.0, 99),
    ):
        with pytest.raises(dn.InvalidParameter):
            make()  # type: ignore[no-untyped-call]
