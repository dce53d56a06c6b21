"""Vectors: domains, sampled coordinates, signs together, directions, rotations, and an honest plan."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import Node, Program, encoded
from deniable.core.bits import PackedBits
from deniable.domains import domain_from_spec
from deniable.kernels.directions import directions
from deniable.mechanisms.vectors.feature_vector import best_sampling
from deniable.mechanisms.vectors.unit_codes import order_means
from deniable.planning.vectors import people_needed, plan_vectors, vector_options
from research import mean_formulas as formulas
from tests.every import EveryCoin
from tests.examples import PLANE as SMALL
from tests.examples import SAMPLED as VECTORS
from tests.examples import SIGNS
from tests.law_reference import chances
from tests.twins import plain_loops


class TestDomain:
    def test_answers_are_their_own_places(self) -> None:
        for domain in (SMALL, dn.Features(3, 0.1, 0.7, steps=3)):
            answers = [domain.answer(index) for index in range(domain.size)]
            assert len(set(answers)) == domain.size
            digits = domain.index(answers) @ (domain.steps + 1) ** np.arange(domain.dimensions)
            assert digits.tolist() == list(range(domain.size))
            assert np.array_equal(domain.place(answers, dn.SeededCoins(1)), domain.index(answers))

    @pytest.mark.parametrize(
        "bad",
        [
            [[0.0]],
            [[0.0, 0.0, 0.0]],
            [0.0, 0.0],
            [["a", "b"]],
            [[0.0, float("nan")]],
            [[0.0, float("inf")]],
            [[1], [1, 2]],
            [[0.0, 1.5]],
        ],
    )
    def test_what_is_no_vector_inside_is_refused(self, bad: list[object]) -> None:
        with pytest.raises(dn.OutsideDomain) as refused:
            SMALL.place(bad, dn.SeededCoins(1))
        assert "1.5" not in str(refused.value)

    def test_clipping_is_counted(self) -> None:
        clipped = dn.Features(2, -1, 1, steps=2, clip=True)
        assert clipped.outside([[3.0, 0.0], [-2.0, -5.0]]) == 3
        assert clipped.index([[3.0, -2.0]]).tolist() == [[2, 0]]

    def test_domains_come_back(self) -> None:
        for domain in (SMALL, dn.Features(7, 0, 1, clip=True), dn.UnitVectors(5), dn.SignMagnitude(3, 8, 2)):
            assert domain_from_spec(domain.spec()) == domain

    def test_impossible_domains_are_refused(self) -> None:
        for make in (
            lambda: dn.Features(0, 0, 1),
            lambda: dn.Features(2, 1, 0),
            lambda: dn.Features(True, 0, 1),
            lambda: dn.UnitVectors(1),
            lambda: dn.SignMagnitude(2, 0),
            lambda: dn.SignMagnitude(2, 41),
            lambda: dn.SignMagnitude(2, 8, 50),
        ):
            with pytest.raises(dn.InvalidParameter):
                make()

    def test_unit_vectors_have_length_one(self) -> None:
        with pytest.raises(dn.OutsideDomain, match="length one"):
            dn.UnitVectors(2).index([[1.0, 1.0]])
        for index in range(4):
            assert dn.UnitVectors(2).index([dn.UnitVectors(2).answer(index)]).shape == (1, 2)


def decoded(mechanism: dn.Mechanism, law: dn.Law) -> list[list[Fraction]]:
    """What each report of a law says of each coordinate, where the range is [-1, 1], exactly."""
    columns = mechanism.layout.columns(law.reports)
    if isinstance(mechanism, dn.DuchiVector):
        bits = PackedBits(columns["signs"].astype(np.uint8), mechanism.domain.dimensions).unpack()
        return [[mechanism.scale if bit else -mechanism.scale for bit in row] for row in bits]
    assert isinstance(mechanism, dn.FeatureVector)
    where, values = mechanism.unpacked(columns)
    often = Fraction(mechanism.domain.dimensions, mechanism.coordinates)
    out = [[Fraction(0)] * mechanism.domain.dimensions for _ in where]
    for row, (places, told) in enumerate(zip(where, values, strict=True)):
        for place, value in zip(places, told, strict=True):
            out[row][place] += often * mechanism.part.centred[value]
    return out


@pytest.mark.parametrize(
    "mechanism", [*VECTORS.values(), *SIGNS.values()], ids=[*VECTORS, *(f"signs-{name}" for name in SIGNS)]
)
class TestExactLaws:
    def test_the_mean_report_is_the_truth_and_its_variance_the_predicted(
        self, mechanism: dn.FeatureVector | dn.DuchiVector
    ) -> None:
        domain = mechanism.domain
        half = Fraction(domain.high - domain.low) / 2
        for index in range(domain.size):
            law = dn.law(mechanism, index)
            chances = [chance for _, chance in law.items()]
            told, truth = decoded(mechanism, law), domain.answer(index)
            assert sum(chances) == 1
            predicted = mechanism.predict([truth], 1)
            assert predicted.variance is not None
            for place, number in enumerate(truth):
                x = (Fraction(number) - Fraction(domain.low)) / half - 1
                mean = sum(chance * row[place] for chance, row in zip(chances, told, strict=True))
                assert mean == x
                second = sum(chance * row[place] ** 2 for chance, row in zip(chances, told, strict=True))
                assert predicted.variance[place] == pytest.approx(float(half**2 * (second - x**2)), rel=1e-9)
                assert predicted.variance[place] <= mechanism.worst_variance() * (1 + 1e-12)

    def test_a_collection_comes_near_the_truth(self, mechanism: dn.FeatureVector | dn.DuchiVector) -> None:
        """Fixed coins; no coordinate is more than six standard errors off, which chance does once in 5e8."""
        low, high, d = mechanism.domain.low, mechanism.domain.high, mechanism.domain.dimensions
        vectors = low + (high - low) * np.random.default_rng(1).beta(2, 3, (6000, d))
        reports = mechanism.perturb(vectors, dn.SeededCoins(1))
        estimate = mechanism.estimate(mechanism.tally(reports))
        assert (np.abs(estimate.values - vectors.mean(axis=0)) < 6 * estimate.standard_error).all()
        np.testing.assert_allclose(estimate.standard_error, mechanism.predict(vectors, 6000).standard_error, rtol=0.15)


class TestFeatureVector:
    def test_large_vectors_are_certified(self) -> None:
        mechanism = dn.FeatureVector(dn.Features(384, -0.3, 0.3, steps=64), epsilon=4.0)
        certificate = dn.certify(mechanism)
        assert certificate.holds and certificate.loss.proof == "proved"
        assert certificate.slack < 1e-12
        assert "about 10^696 answers" in str(certificate)

    def test_every_coordinate_is_reported_equally_often(self) -> None:
        for d in (5, 7, 12):
            for k in range(1, d):
                mechanism = dn.FeatureVector(dn.Features(d, -1, 1, steps=1), 8.0, k, "duchi-1")
                places = (np.arange(d)[:, None] + mechanism.offsets) % d
                assert all(len(set(row)) == k for row in places.tolist())
                assert np.bincount(places.ravel()).tolist() == [k] * d

    def test_a_coordinate_that_is_looked_at_twice_is_noticed(self) -> None:
        class Leaky(dn.FeatureVector):
            def randomize(self, truth, coins):  # type: ignore[no-untyped-def]
                columns = dict(super().randomize(truth, coins))
                columns["start"] = np.where(truth[:, 0] > truth[:, 1], columns["start"], 0)
                return columns

        mechanism = Leaky(dn.Features(3, -1, 1, steps=2), 2.0, 1, "duchi-1")
        with pytest.raises(dn.NotCertifiable, match="no rule of proof"):
            dn.certify(mechanism)
        assert dn.certify(mechanism, "enumerated").loss.odds != mechanism.loss().odds

    def test_the_best_number_of_coordinates(self) -> None:
        """No other number, and no other mechanism for numbers, has a smaller worst-case variance."""
        k, scalar = best_sampling(64, 10.0)
        assert (k, scalar) == (5, "duchi-1")
        domain = dn.Features(64, -1, 1, steps=64)
        best = dn.FeatureVector(domain, 10.0).worst_variance()
        for other in (3, 4, 6, 8):
            assert dn.FeatureVector(domain, 10.0, other, "duchi-1").worst_variance() > best
        assert dn.FeatureVector(domain, 10.0, 4, "hybrid-1").worst_variance() > best

    def test_variance_is_the_published_formula(self) -> None:
        domain = dn.Features(768, -1, 1, steps=2)
        mechanism = dn.FeatureVector(domain, 1.0, 1, "duchi-1")
        variance = mechanism.predict(np.zeros((1, 768)), 1).variance
        assert variance is not None
        assert variance[0] == pytest.approx(formulas.sampled_variance("DM", 768, 1.0, 0.0), rel=1e-9)

    def test_a_typical_size_chooses_another_mechanism(self) -> None:
        domain = dn.Features(100, -1, 1, steps=64)
        typical, worst = dn.FeatureVector.typical(domain, 4.0, 0.1), dn.FeatureVector(domain, 4.0)
        assert (typical.coordinates, typical.scalar) != (worst.coordinates, worst.scalar)
        small = np.full((1, 100), 0.1)
        assert typical.predict(small, 1).standard_error[0] < worst.predict(small, 1).standard_error[0]

    @pytest.mark.parametrize(
        ("make", "says"),
        [
            (lambda: dn.FeatureVector(dn.Interval(0, 1), 1.0), "Features"),  # type: ignore[arg-type]
            (lambda: dn.FeatureVector(SMALL, 1.0, 3), "1 to 2 coordinates"),
            (lambda: dn.FeatureVector(SMALL, 1.0, 1, "no-1"), "one of duchi-1"),
            (lambda: dn.FeatureVector.composed(dn.Features(60_000, 0, 1), 0.05), "cannot be split among 60000"),
            (lambda: dn.FeatureVector.typical(SMALL, 1.0, 2.0), "half of the range"),
            (lambda: VECTORS["one-of-two"].predict([[0.0, 0.0]], 0), "one person"),
            (lambda: dn.DuchiVector(dn.Interval(0, 1), 1.0), "Features"),  # type: ignore[arg-type]
            (lambda: dn.DuchiVector(SMALL, 1.0, Fraction(0)), "tie"),
            (lambda: SIGNS["two"].predict([[0.0, 0.0]], 0), "one person"),
            (lambda: vector_options(SMALL, 1.0, 0), "at least 1"),
            (lambda: people_needed(SMALL, 1.0, part=0), "positive fraction"),
            (lambda: people_needed(SMALL, 1.0, typical=0.0), "no number of people"),
            (lambda: dn.plan(SMALL, 1.0, target="mean", prior=-0.5), "between 0 and half of the range"),
            (lambda: dn.plan(SMALL, 1.0, max_bits=1, target="mean"), "fits in 1 bit per report"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, make: object, says: str) -> None:
        with pytest.raises(dn.InvalidParameter, match=says):
            make()  # type: ignore[operator]

    def test_impossible_reports_are_refused(self) -> None:
        mechanism = VECTORS["one-of-three"]
        with pytest.raises(dn.InvalidReport):
            mechanism.votes({"start": np.array([0], np.uint8), "values": np.array([[3]], np.uint8)})


def domain_index(domain: dn.Features, answer: object) -> int:
    return next(index for index in range(domain.size) if domain.answer(index) == answer)


class TestDuchiVector:
    @pytest.mark.parametrize("d", [2, 4])
    def test_the_published_rule_breaks_for_even_dimensions(self, d: int) -> None:
        published = dn.DuchiVector.as_published(dn.Features(d, -1, 1, steps=1), 1.0)
        certificate = dn.certify(published, "enumerated")
        assert not certificate.holds
        assert certificate.loss.odds == published.loss().odds == published.odds + 1
        assert published.scale > dn.DuchiVector(published.domain, 1.0).scale  # and it is less accurate

    def test_odd_dimensions_were_right(self) -> None:
        domain = dn.Features(3, -1, 1, steps=1)
        published, ours = dn.DuchiVector.as_published(domain, 1.0), dn.DuchiVector(domain, 1.0)
        assert published.scale == ours.scale
        assert dn.certify(published, "enumerated").holds

    @pytest.mark.parametrize("d", [63, 384])
    def test_large_ones_are_certified(self, d: int) -> None:
        certificate = dn.certify(dn.DuchiVector(dn.Features(d, -1, 1), 1.0))
        assert certificate.holds and certificate.loss.proof == "proved" and certificate.rules == ("mask",)
        published = dn.certify(dn.DuchiVector.as_published(dn.Features(d, -1, 1), 1.0))
        assert published.holds is (d % 2 == 1)

    def test_signs_that_are_reported_as_they_are_are_noticed(self) -> None:
        class Leaky(dn.DuchiVector):
            def randomize(self, truth, coins):  # type: ignore[no-untyped-def]
                signs: Any = super().randomize(truth, coins)["signs"]
                return {"signs": signs.with_bit(0, signs.bit(0) | self.rounded(truth, coins).bit(0))}

        class Seeded(dn.DuchiVector):
            def randomize(self, truth, coins):  # type: ignore[no-untyped-def]
                signs: Any = super().randomize(truth, coins)["signs"]
                return {"signs": signs | self.rounded(truth, dn.SeededCoins(1))}

        for d in (3, 9):
            with pytest.raises(dn.NotCertifiable, match="no rule of proof"):
                dn.certify(Leaky(dn.Features(d, -1, 1, steps=1), 1.0))
        leaky = Leaky(dn.Features(3, -1, 1, steps=1), 1.0)
        assert not dn.certify(leaky, "enumerated").holds
        with pytest.raises(dn.NotCertifiable, match="cannot be recorded as a program"):
            dn.certify(Seeded(dn.Features(9, -1, 1), 1.0))

    @pytest.mark.parametrize("n", [1, 4, 7, 8, 9])
    def test_rows_with_a_majority_are_uniform(self, n: int) -> None:
        """Chi-square below its 1 - 1e-7 quantile, about k + 8 sqrt(k) + 30 here; fixed coins."""
        rows = dn.SeededCoins(n).majority(n, 40_000)
        assert (2 * rows.row_sums() > n).all()
        kinds, often = np.unique(rows.bytes, axis=0, return_counts=True)
        every = EveryCoin()
        every.majority(n, 1)
        assert len(kinds) == every.combinations
        expected = 40_000 / len(kinds)
        assert ((often - expected) ** 2 / expected).sum() < len(kinds) + 8 * len(kinds) ** 0.5 + 30


@pytest.mark.needs("scipy")
class TestPrivUnit:
    def test_directions_are_unbiased_and_as_far_off_as_predicted(self) -> None:
        """Fixed coins; no coordinate is more than six standard errors off, which chance does once in 5e8."""
        for d, epsilon in ((2, 1.0), (3, 0.5), (30, 4.0)):
            mechanism = dn.PrivUnit(dn.UnitVectors(d), epsilon)
            vectors = np.random.default_rng(2).normal(1, 1, (20_000, d))
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            reports = mechanism.perturb(vectors, dn.SeededCoins(1))
            tally = mechanism.tally(mechanism.unpack(mechanism.pack(reports)))
            assert tally == mechanism.tally(reports[:50]) + mechanism.tally(reports[50:])
            estimate, predicted = mechanism.estimate(tally), mechanism.predict(vectors, 20_000)
            assert (np.abs(estimate.values - vectors.mean(axis=0)) < 6 * predicted.standard_error).all()
            np.testing.assert_allclose(estimate.standard_error, predicted.standard_error, rtol=0.1)
            total = (predicted.standard_error**2).sum() * 20_000
            assert total == pytest.approx(1 / mechanism.length**2 - 1, rel=1e-6)

    def test_the_cap_has_the_odds(self) -> None:
        mechanism = dn.PrivUnit(dn.UnitVectors(10), 2.0)
        share = Fraction(mechanism._cap(mechanism.gamma)[0])
        inside = mechanism.inside
        assert (inside / share) / ((1 - inside) / (1 - share)) == mechanism.odds
        for other in (0.8, 1.2):
            assert dn.PrivUnit(dn.UnitVectors(10), 2.0, mechanism.gamma * other).length < mechanism.length

    def test_it_says_that_its_proof_is_a_theorem(self) -> None:
        mechanism = dn.PrivUnit(dn.UnitVectors(5), 1.0)
        assert mechanism.loss().proof == "theorem" and "exact arithmetic" in str(mechanism.loss())
        with pytest.raises(dn.NotCertifiable, match="theorem"):
            dn.certify(mechanism)
        assert dn.mechanism_from_json(mechanism.to_json()) == mechanism

    def test_what_makes_no_sense_is_refused(self) -> None:
        with pytest.raises(dn.InvalidParameter, match="UnitVectors"):
            dn.PrivUnit(SMALL, 1.0)  # type: ignore[arg-type]
        with pytest.raises(dn.InvalidParameter, match="gamma"):
            dn.PrivUnit(dn.UnitVectors(3), 1.0, 1.5)
        mechanism = dn.PrivUnit(dn.UnitVectors(3), 1.0)
        with pytest.raises(dn.OutsideDomain):
            mechanism.perturb([[1.0, 1.0, 1.0]])
        for tally, error in (
            (dn.Tally("x", 1, np.zeros(6, np.int64)), dn.SurveyMismatch),
            (dn.Tally(mechanism.fingerprint, 0, np.zeros(6, np.int64)), dn.EmptyBatch),
            (dn.Tally(mechanism.fingerprint, 1, np.full(6, 1 << 40)), dn.InvalidReport),
        ):
            with pytest.raises(error):
                mechanism.estimate(tally)


class TestUnitCodes:
    def test_means_of_the_nearest(self) -> None:
        """Against 4,000 simulated sets of 16 directions; six standard errors: a false alarm once in 5e8."""
        for d in (2, 3, 40):
            normal = np.random.default_rng(d).normal(size=(4000, 16, d))
            first = np.sort(normal[..., 0] / np.linalg.norm(normal, axis=-1), axis=1)[:, ::-1]
            error = first.std(axis=0) / 4000**0.5
            assert (np.abs(first.mean(axis=0) - order_means(d, 16)) < 6 * error).all()
        # Two on a circle: the larger of two cosines of uniform angles has the mean 4 / pi^2.
        assert order_means(2, 2)[0] == pytest.approx(4 / np.pi**2, rel=1e-6)

    def test_directions_look_uniform(self) -> None:
        """Means and squares of 20,000 directions of 5 numbers, within six standard errors of 0 and 1/5."""
        drawn = directions(np.arange(20_000), np.arange(20_000) % 7, 5)
        np.testing.assert_allclose((drawn**2).sum(axis=1), 1)
        assert (np.abs(drawn.mean(axis=0)) < 6 * (0.2 / 20_000) ** 0.5).all()
        assert (np.abs((drawn**2).mean(axis=0) - 0.2) < 6 * 0.24 / 20_000**0.5).all()
        assert len(np.unique(drawn[:, 0])) == 20_000

    @pytest.mark.parametrize(("d", "epsilon", "rounds"), [(2, 1.0, 1), (5, 3.0, 1), (6, 12.0, 0)])
    def test_unbiased_and_as_far_off_as_predicted(self, d: int, epsilon: float, rounds: int) -> None:
        """Fixed coins; no coordinate is more than six standard errors off, which chance does once in 5e8."""
        mechanism = dn.UnitCodes(dn.UnitVectors(d), epsilon, rounds, codes=32)
        vectors = np.zeros((3000, d))
        vectors[:, 0], vectors[:, 1] = 0.6, 0.8
        reports = mechanism.perturb(vectors, dn.SeededCoins(1))
        tally = mechanism.tally(mechanism.unpack(mechanism.pack(reports)))
        assert tally == mechanism.tally(reports[:9]) + mechanism.tally(reports[9:])
        estimate = mechanism.estimate(tally)
        assert (np.abs(estimate.values - vectors[0]) < 6 * (d * estimate.standard_error)).all()
        told = [mechanism.estimate(mechanism.tally(reports[i : i + 1])).values for i in range(3000)]
        measured = ((np.array(told) - vectors) ** 2).sum(axis=1)
        assert abs(measured.mean() - mechanism.error) < 6 * measured.std() / 3000**0.5
        assert mechanism.predict(vectors, 3000).standard_error[0] == pytest.approx(estimate.standard_error[0])

    def test_the_law_is_two_levels_whatever_the_seed(self) -> None:
        mechanism = dn.UnitCodes(dn.UnitVectors(3), 1.0, 1, 2, 8)
        law, odds = mechanism.law.part(["code0"]), mechanism.odds
        one_seed = Program(tuple(Node("const", (), (0,)) if n.op == "public" else n for n in law.nodes), law.report)
        for order in (range(8), [3, 1, 4, 0, 5, 2, 6, 7]):
            found = chances(one_seed, [list(order)])
            assert sorted({chance * (2 * odds + 6) for chance in found.values()}) == [1, odds]
        certificate = dn.certify(mechanism)
        assert certificate.holds and certificate.loss.odds == mechanism.loss().odds == odds

    def test_rounds_are_certified_together(self) -> None:
        mechanism = dn.UnitCodes(dn.UnitVectors(40), 9.0, 3)
        certificate = dn.certify(mechanism)
        assert certificate.holds and certificate.loss.proof == "proved" and certificate.rules == ("independence", "shift")
        assert certificate.loss.odds == mechanism.loss().odds == mechanism.part.odds**3

        class Again(dn.UnitCodes):
            def randomize(self, truth, coins):  # type: ignore[no-untyped-def]
                columns = dict(super().randomize(truth, coins))
                return columns | {"code1": columns["code0"]}

        class Same(dn.UnitCodes):
            """One choice for all rounds."""

            def randomize(self, truth, coins):  # type: ignore[no-untyped-def]
                choice = coins.split(Fraction(1, 2), self.near, self.codes - self.near, len(truth))
                columns: dict[str, Any] = {}
                for k in range(self.rounds):
                    order = encoded(truth, self.order, f"order{k}", self.codes, width=self.codes, distinct=True)
                    columns |= {f"seed{k}": 0 * choice, f"code{k}": order[:, choice]}
                return columns

        assert dn.certify(Again(dn.UnitVectors(40), 9.0, 3)).loss.odds == mechanism.part.odds**2  # and says no more
        with pytest.raises(dn.NotCertifiable, match="Not proved at this size"):
            dn.certify(Same(dn.UnitVectors(40), 9.0, 3))

    @pytest.mark.needs("scipy")
    def test_nearly_as_good_as_all_directions(self) -> None:
        domain = dn.UnitVectors(384)
        for epsilon, more in ((1.0, 1.02), (4.0, 1.04)):
            assert 1 < dn.UnitCodes(domain, epsilon).error / (dn.PrivUnit(domain, epsilon).length ** -2 - 1) < more

    def test_it_comes_back_and_refuses_what_makes_no_sense(self) -> None:
        mechanism = dn.UnitCodes(dn.UnitVectors(3), 2.0)
        assert dn.mechanism_from_json(mechanism.to_json()) == mechanism
        for make in (
            lambda: dn.UnitCodes(SMALL, 1.0),  # type: ignore[arg-type]
            lambda: dn.UnitCodes(dn.UnitVectors(3), 1.0, codes=1),
            lambda: dn.UnitCodes(dn.UnitVectors(3), 1.0, 1, 128),
            lambda: dn.UnitCodes(dn.UnitVectors(3), 1.0, 99),
            lambda: mechanism.predict([[1.0, 0.0, 0.0]], 0),
        ):
            with pytest.raises(dn.InvalidParameter):
                make()
        for tally, error in (
            (dn.Tally("x", 1, np.zeros(3, np.int64)), dn.SurveyMismatch),
            (dn.Tally(mechanism.fingerprint, 0, np.zeros(3, np.int64)), dn.EmptyBatch),
            (dn.Tally(mechanism.fingerprint, 1, np.full(3, 1 << 40)), dn.InvalidReport),
        ):
            with pytest.raises(error):
                mechanism.estimate(tally)


class TestRotation:
    def test_there_and_back(self) -> None:
        turn = dn.Rotation(12, seed=3)
        vectors = np.random.default_rng(0).normal(size=(50, 12))
        turned = turn.apply(vectors)
        np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(vectors, axis=1))
        estimate = dn.Estimate(range(12), turned.mean(axis=0), np.full(12, 0.5), 50, measure="mean")
        back = turn.undo(estimate)
        np.testing.assert_allclose(back.values, vectors.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(back.standard_error**2, 0.5)
        assert len(back.labels) == 12

    def test_what_is_dropped_is_orthogonal(self) -> None:
        turn = dn.Rotation(12, keep=5, seed=1)
        np.testing.assert_allclose(turn.matrix @ turn.matrix.T, np.eye(5), atol=1e-12)
        kept = turn.undo(dn.Estimate(range(5), turn.apply(np.ones((1, 12)))[0], None, 1)).values
        np.testing.assert_allclose(turn.apply([kept]), turn.apply(np.ones((1, 12))), atol=1e-12)
        assert not np.array_equal(turn.matrix, dn.Rotation(12, keep=5, seed=2).matrix)

    def test_a_few_large_coordinates_become_even(self) -> None:
        sparse = np.zeros((1, 256))
        sparse[0, 7] = 1
        assert np.abs(dn.Rotation(256, seed=1).apply(sparse)).max() < 5 / 16

    def test_what_does_not_fit_is_refused(self) -> None:
        with pytest.raises(dn.InvalidParameter):
            dn.Rotation(4, keep=5)
        with pytest.raises(dn.InvalidParameter):
            dn.Rotation(4, keep=2).undo(dn.Estimate(range(4), np.zeros(4), None, 1))
        with pytest.raises(dn.OutsideDomain):
            dn.Rotation(4).apply([[1.0, 2.0]])


class TestPlan:
    def test_a_hopeless_budget_is_called_so(self) -> None:
        mechanism = dn.plan(dn.Features(768, -1, 1), epsilon=1.0, n=1000, target="mean")
        assert "TOO NOISY" in mechanism.explain()
        needed = people_needed(dn.Features(768, -1, 1), 1.0)
        assert f"{needed:,} people" in mechanism.explain()
        assert "TOO NOISY" not in plan_vectors(dn.Features(768, -1, 1), 1.0, needed).explain()
        best = vector_options(dn.Features(768, -1, 1), 1.0, needed)[0]
        assert best.error == pytest.approx(0.5, rel=1e-4)

    def test_the_typical_size_counts(self) -> None:
        domain = dn.Features(32, -1, 1, steps=64)
        typical = dn.plan(domain, epsilon=8.0, n=10_000, target="mean", prior=0.05)
        assert "typical size 0.05" in typical.explain()
        assert isinstance(typical, dn.FeatureVector)

    @pytest.mark.parametrize("size", [0.0, 1e-300, 1e-15])
    @pytest.mark.filterwarnings("error")
    def test_zeros_are_guessed_without_asking(self, size: float) -> None:
        words = dn.plan(dn.Features(3, -1, 1), 1.0, target="mean", prior=size).explain()
        assert words.endswith("TOO NOISY: publishing the middle of the range has a smaller error.")

    def test_errors_are_those_of_the_mechanisms(self) -> None:
        for option in vector_options(dn.Features(8, -1, 1, steps=4), 4.0, 100):
            assert option.error**2 * 100 == pytest.approx(option.mechanism.worst_variance())


@pytest.mark.needs("numba")
@pytest.mark.parametrize(("dimensions", "codes"), [(384, 128), (7, 40), (2, 16)])
def test_compiled_products_with_directions_are_those_of_numpy(dimensions: int, codes: int) -> None:
    """Right to 1e-12, which is a thousandth of what two of the products compared here differ by at least."""
    from deniable.kernels import directions as plain
    from deniable.kernels import directions_compiled

    random = np.random.default_rng(3)
    rows = random.normal(size=(30, dimensions))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    seed = random.integers(0, 1 << 48, len(rows))
    ours, wanted = directions_compiled.nearness(rows, seed, codes), plain_loops(plain).nearness(rows, seed, codes)
    np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-12)
    assert np.diff(np.sort(wanted, axis=1)).min() > 1e-9
    np.testing.assert_array_equal(np.argsort(ours, axis=1), np.argsort(wanted, axis=1))


def test_reports_of_a_seed_do_not_depend_on_the_batches_of_secure_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, rows = dn.UnitCodes(dn.UnitVectors(8), 2.0, codes=16), np.eye(8)[np.arange(40) % 8]
    before = mechanism.pack(mechanism.perturb(rows, dn.SeededCoins(1)))
    monkeypatch.setattr(dn.UnitCodes, "secure_batch", 3)
    assert mechanism.pack(mechanism.perturb(rows, dn.SeededCoins(1))) == before
    assert len(mechanism.perturb(rows)) == 40
