"""Compressed randomized response as a whole: reports, decoders, estimates, promises, files, and bad input.

Statistical tests have fixed seeds and state how rarely they alarm falsely.
"""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.core.reports import Reports
from deniable.core.variable import VariableLayout
from deniable.domains import domain_from_spec
from deniable.mechanisms.sparse import codes
from deniable.mechanisms.sparse.budget import represented_odds
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.heap_index import heap_index
from deniable.mechanisms.sparse.index_law import index_law, mixed_index_law
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from deniable.mechanisms.sparse.published_compressed import PublishedCompressed
from tests.mechanisms.test_sparse_law import is_likely
from tests.twins import prints_the_same_without

ITEMS = dn.SparseVector(300)
SETS = [[3, 14, 159], [], list(range(0, 300, 7)), [299]]


@pytest.fixture(scope="module")
def mechanism() -> dn.Compressed:
    return dn.Compressed(ITEMS, epsilon=1.0)


@pytest.fixture(scope="module")
def ratings() -> dn.Compressed:
    return dn.Compressed(dn.SparseVector(200, values=11), epsilon=2.0, alpha=2.0)


class TestDecoders:
    @pytest.mark.parametrize("options", [{}, {"code": "zipf"}, {"code": "gamma"}, {"alpha": 2.0}, {"load": 0.5}])
    def test_all_agree(self, options: dict[str, object]) -> None:
        mechanism = dn.Compressed(ITEMS, 1.0, **options)  # type: ignore[arg-type]
        reports = mechanism.perturb(SETS * 5, dn.SeededCoins(1))
        vectors = mechanism.vector(reports)
        assert vectors.shape == (20, 300) and 0.3 < vectors.mean() < 0.6
        assert np.array_equal(mechanism.value(reports, np.arange(300)), vectors)
        assert np.array_equal(mechanism.value(reports, 14), vectors[:, 14])
        for found, row in zip(mechanism.ones(reports), vectors, strict=True):
            assert np.array_equal(np.sort(found), np.flatnonzero(row))
        packed = mechanism.packed(reports).unpack()
        assert np.array_equal(packed[:, mechanism.permutation.forward(np.arange(300))], vectors)
        assert np.array_equal(mechanism.count(reports), vectors.sum(axis=0))

    def test_all_agree_on_ratings(self, ratings: dn.Compressed) -> None:
        reports = ratings.perturb([{17: 8, 2: 10}, {}, {199: 1}], dn.SeededCoins(2))
        vectors = ratings.vector(reports)
        assert vectors.max() == 10
        assert np.array_equal(ratings.value(reports, np.arange(200)), vectors)
        for found, row in zip(ratings.ones(reports), vectors, strict=True):
            assert np.array_equal(np.sort(found), np.flatnonzero(row))
        counts = ratings.count(reports).reshape(200, 10)
        for value in range(1, 11):
            assert np.array_equal(counts[:, value - 1], (vectors == value).sum(axis=0))
        assert ratings.domain.labels[10 * 17 + 7] == "17 = 8"
        with pytest.raises(dn.InvalidParameter, match="two values"):
            ratings.packed(reports)

    def test_plain_where_that_is_shorter(self) -> None:
        """Half of 24 coordinates differ: a response of each is cheaper, and is known to be so from the noisy sparsity."""
        mechanism = dn.Compressed(dn.SparseVector(24), 4.0, load=0.5)
        reports = mechanism.perturb([list(range(0, 24, 2)), []], dn.SeededCoins(3))
        counts = mechanism.decoder(reports).counts
        assert counts[0] == 0
        assert mechanism.bits(reports)[0] <= 40
        vectors = mechanism.vector(reports)
        assert np.array_equal(mechanism.value(reports, np.arange(24)), vectors)
        assert np.array_equal(mechanism.count(reports), vectors.sum(axis=0))
        assert [sorted(found) for found in mechanism.ones(reports)] == [np.flatnonzero(row).tolist() for row in vectors]

    @pytest.mark.needs("numba")
    @pytest.mark.parametrize("load", [None, 0.5])
    def test_whole_vectors_are_responses(self, load: float | None) -> None:
        """Means of all coordinates and joint law of the three that differ; each alarms falsely once in 1e6 or less."""
        mechanism = dn.Compressed(dn.SparseVector(40), 3.0, load=load)
        people = 20_000
        vectors = mechanism.vector(mechanism.perturb([[1, 17, 33]] * people, dn.SeededCoins(4)))
        p, q = float(mechanism.coordinate.p), float(mechanism.coordinate.q)
        for coordinate, share in enumerate(vectors.mean(axis=0)):
            chance = p if coordinate in (1, 17, 33) else q
            assert abs(share - chance) < 5.7 * (chance * (1 - chance) / people) ** 0.5
        cell = vectors[:, [1, 17, 33, 5]] @ [8, 4, 2, 1]
        ones = [[(each >> 3 - place) & 1 for place in range(4)] for each in range(16)]
        expected = [people * np.prod([p if o == t else q for o, t in zip(row, (1, 1, 1, 0), strict=True)]) for row in ones]
        assert is_likely(np.bincount(cell, minlength=16), expected)

    def test_names_fix_the_draws(self, mechanism: dn.Compressed) -> None:
        first = mechanism.perturb(SETS[:2], names=["ann 1", "bob 1"])
        assert first.columns["key"].tolist() == [mechanism.key("ann 1"), mechanism.key("bob 1")]
        assert mechanism.key("ann 1") != mechanism.key("ann 2")
        for names in (["ann", "ann"], ["ann"]):
            with pytest.raises(dn.InvalidParameter, match="unique name"):
                mechanism.perturb(SETS[:2], names=names)

    def test_coordinates_outside(self, mechanism: dn.Compressed) -> None:
        with pytest.raises(dn.InvalidParameter, match="0 to 299"):
            mechanism.value(mechanism.perturb([[1]]), 300)

    def test_size_does_not_matter(self) -> None:
        """A billion coordinates: encoding and random access touch only those that are asked for."""
        mechanism = dn.Compressed(dn.SparseVector(10**9), 1.0)
        reports = mechanism.perturb([[5, 999_999_999]], dn.SeededCoins(5))
        assert mechanism.value(reports, [5, 6, 999_999_999]).shape == (1, 3)
        assert mechanism.bits(reports)[0] < 100
        estimate = mechanism.estimate_at(reports, [5, 999_999_999])
        assert (list(estimate.labels), estimate.n, len(estimate.values)) == ([5, 999_999_999], 1, 2)
        for whole in (mechanism.vector, mechanism.count, mechanism.ones):
            with pytest.raises(dn.InvalidParameter, match="are not decoded whole"):
                whole(reports)


class TestEstimate:
    def test_unbiased_on_expected_counts(self, mechanism: dn.Compressed, ratings: dn.Compressed) -> None:
        for each in (mechanism, ratings):
            shares = np.random.default_rng(6).random(each.cells) / each.domain.values
            p, q, n = each.coordinate.p, each.coordinate.q, 1 << 40
            counts = np.array([round(n * (q + Fraction(share) * (p - q))) for share in shares])
            estimate = each.estimate(dn.Tally(each.fingerprint, n, counts))
            assert estimate.values == pytest.approx(shares, abs=1e-9)

    def test_variance_is_exact(self, ratings: dn.Compressed) -> None:
        """Of one coordinate with value 8 for one person of four: Bernoulli variances, added in fractions."""
        p, q = ratings.coordinate.p, ratings.coordinate.q
        shares = np.zeros(ratings.cells)
        shares[7] = 0.25
        predicted = ratings.predict(shares, 4)
        assert predicted.variance is not None
        exact = (p * (1 - p) + 3 * q * (1 - q)) / (4 * (p - q)) ** 2
        assert predicted.variance[7] == pytest.approx(float(exact), rel=1e-12)
        assert predicted.variance[0] == pytest.approx(float(q * (1 - q) / (4 * (p - q) ** 2)), rel=1e-12)
        for wrong in (shares[:-1], shares - 1):
            with pytest.raises(dn.InvalidParameter, match="true shares"):
                ratings.predict(wrong, 4)

    def test_some_coordinates_are_estimated_as_all_are(self, mechanism: dn.Compressed, ratings: dn.Compressed) -> None:
        for each, answers in ((mechanism, SETS), (ratings, [{17: 8}, {3: 1}])):
            reports = each.perturb(answers, dn.SeededCoins(6))
            whole, part = each.estimate(each.tally(reports)), each.estimate_at(reports, [17, 3])
            others = each.domain.values - 1
            cells = [17 * others + value for value in range(others)] + [3 * others + value for value in range(others)]
            assert np.array_equal(part.values, whole.values[cells])
            assert part.variance is not None and whole.variance is not None
            assert np.array_equal(part.variance, whole.variance[cells])
            assert list(part.labels) == [whole.labels[cell] for cell in cells]
            with pytest.raises(dn.EmptyBatch):
                each.estimate_at(reports[:0], [1])

    @pytest.mark.needs("numba")
    def test_a_collection(self) -> None:
        """400 people, all with item 7 and a quarter with item 9: within six standard errors, wrong once in 5e8."""
        mechanism = dn.Compressed(dn.SparseVector(50), 8.0)
        people = [[7, 9]] * 100 + [[7]] * 300
        estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(people, dn.SeededCoins(7))))
        truth = np.zeros(50)
        truth[7], truth[9] = 1, 0.25
        assert (abs(estimate.values - truth) < 6 * estimate.standard_error).all()


class TestPromise:
    @pytest.mark.parametrize("alpha", [1.1, 1.25, 1.5, 2.0, 3.7])
    @pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
    @pytest.mark.parametrize("most", [None, 30])
    def test_within_the_budget(self, alpha: float, epsilon: float, most: int | None) -> None:
        mechanism = dn.Compressed(dn.SparseVector(100, most=most), epsilon, alpha, code="gamma")
        certificate = dn.certify(mechanism)
        assert certificate.holds and certificate.loss.proof == "theorem"
        assert certificate.loss.odds == mechanism.loss().odds
        assert epsilon * 0.998 < mechanism.loss().epsilon() <= epsilon
        assert "one coordinate" in str(certificate) and "theorem: published" in str(certificate)

    def test_powers_are_exact_or_above(self) -> None:
        odds = Fraction(9, 8)
        assert represented_odds(odds, 1.5) == odds**3
        above = represented_odds(odds, 1.25)
        assert odds**5 < above**2 < odds**5 * (1 + Fraction(1, 10**60))

    def test_planted_bugs_are_seen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mechanism = dn.Compressed(ITEMS, 1.0, code="gamma")
        digits = NoisyCount(0.05).digits
        monkeypatch.setattr(NoisyCount, "digits", [*digits[:-2], digits[-2] / 2, digits[-1]])
        with pytest.raises(dn.NotCertifiable, match="geometric"):
            dn.certify(dn.Compressed(ITEMS, 1.0, code="gamma"))
        weak = dn.Compressed(ITEMS, 1.0, code="gamma")
        monkeypatch.undo()
        object.__setattr__(weak, "coordinate", CoordinateResponse.quantised(0.5))
        assert not dn.certify(weak).holds
        assert dn.certify(mechanism).holds

    def test_the_number_of_chunks_follows_from_the_noisy_sparsity_alone(self, mechanism: dn.Compressed) -> None:
        first, second = ITEMS.index([[1, 2, 3]]), ITEMS.index([[200, 100, 7]])
        for seed in range(20):
            chunks = [mechanism.chunks(each, dn.SeededCoins(seed)) for each in (first, second)]
            assert np.array_equal(chunks[0], chunks[1])
        bounded = dn.Compressed(dn.SparseVector(300, most=50), 1.0)
        assert bounded.chunks(first, dn.SeededCoins(1)) == bounded.chunks(ITEMS.index([[]]), dn.SeededCoins(2))

    def test_published_gives_the_sparsity_away(self) -> None:
        """With eps 1/4 and beta 2, two differing coordinates are told in one index and three in two."""
        published = dn.Compressed.as_published(dn.SparseVector(50), 1.0)
        assert isinstance(published, PublishedCompressed) and published.coordinate.epsilon == pytest.approx(0.25)
        truth = published.domain.index([[1, 2], [1, 2, 3]])
        assert published.chunks(truth, dn.SeededCoins(1)).tolist() == [1, 2]
        certificate = dn.certify(published)
        assert not certificate.holds and certificate.loss.odds is None
        assert "number of indices" in certificate.worst_report
        assert dn.mechanism_from_json(published.to_json()) == published
        whole = dn.Compressed.as_published(dn.SparseVector(50), 1.0, beta=0)
        assert dn.certify(whole).holds
        for each in (published, whole):
            reports = each.perturb([[1, 2, 3], []], dn.SeededCoins(2))
            assert np.array_equal(each.value(reports, np.arange(50)), each.vector(reports))
        with pytest.raises(dn.InvalidParameter, match="public bound"):
            dn.Compressed.as_published(dn.SparseVector(50, most=9), 1.0)
        for beta in (-1, 1e7):
            with pytest.raises(dn.InvalidParameter, match=r"Beta.*from 0 to below 1,000,000"):
                dn.Compressed.as_published(dn.SparseVector(50), 1.0, beta=beta)

    @pytest.mark.needs("numba")
    def test_heap_encoder_has_the_same_law(self) -> None:
        """Alarms falsely less than once in 1e6; at alpha 3, where its mean time is finite."""
        coordinate, alpha, samples = CoordinateResponse.quantised(0.7), 3.0, 4000
        coins, nets = dn.SeededCoins(8), np.random.default_rng(9)
        found = []
        for _ in range(samples):
            drawn: dict[int, int] = {}

            def net(label: int, drawn: dict[int, int] = drawn) -> int:
                if label not in drawn:
                    drawn[label] = 1 if nets.random() < float(coordinate.q) else -1
                return drawn[label]

            found.append(heap_index(net, coordinate.epsilon, alpha, 1, coins)[0])
        law = index_law(coordinate, alpha, 1)
        expected = samples * np.append(law.pmf(np.arange(1, 30)), law.tail(29))
        assert is_likely(np.bincount(np.minimum(found, 30), minlength=31)[1:], expected)


class TestNoisyCount:
    def test_digits_make_a_geometric_number(self) -> None:
        """Pr[number = i] in exact fractions, over all combinations of the digits."""
        noise = NoisyCount(2.0)
        *digits, more = noise.digits
        ratio = 1 / noise.odds
        for number in range(1 << min(len(digits), 6)):
            chance = 1 - more
            for place, digit in enumerate(digits):
                chance *= digit if number >> place & 1 else 1 - digit
            assert chance == (1 - ratio) * ratio**number
        assert more == ratio ** (1 << len(digits))

    @pytest.mark.parametrize("epsilon", [0.004, 0.05, 0.5, 3.0])
    def test_odds_are_within_the_budget(self, epsilon: float) -> None:
        odds = NoisyCount(epsilon).odds
        assert dn.odds_below(0.97 * epsilon) <= odds <= dn.odds_below(epsilon)
        assert odds.numerator < 10**6

    def test_noise(self) -> None:
        """20,000 draws against the law of the difference; alarms falsely less than once in 1e6."""
        noise = NoisyCount(0.5)
        ratio = float(1 / noise.odds)
        drawn = noise.noise(20_000, dn.SeededCoins(10))
        grid = np.arange(-30, 31)
        expected = 20_000 * (1 - ratio) / (1 + ratio) * ratio ** abs(grid)
        assert is_likely(np.bincount(np.clip(drawn, -31, 31) + 31, minlength=63)[1:-1], expected)

    def test_refusals(self) -> None:
        for epsilon in (0.003, float("nan")):
            with pytest.raises(dn.InvalidParameter, match="noisy sparsity needs a budget"):
                NoisyCount(epsilon)


class TestCode:
    @pytest.mark.parametrize(("epsilon", "alpha", "load"), [(0.25, 2.0, 16.0), (1 / 3, 1.5, 10.0), (1.0, 2.0, 2.5)])
    def test_bits_are_near_the_entropy(self, epsilon: float, alpha: float, load: float) -> None:
        law = mixed_index_law(CoordinateResponse.quantised(epsilon), alpha, load)
        entropy = law.entropy()
        assert entropy < codes.mean_bits(codes.model_weights(law)) < 1.01 * entropy
        chances = np.array(codes.model_weights(law)) / 65536
        zipf = np.array(codes.zipf_weights(law.mean_log())) / 65536
        assert 0 < chances @ np.log2(chances / zipf) < 0.015 * entropy

    def test_weights(self) -> None:
        for load in (0.0, 3.0):
            assert codes.are_weights(codes.model_weights(mixed_index_law(CoordinateResponse.quantised(0.5), 2.0, load)))
        assert codes.are_weights(codes.zipf_weights(0.8))
        assert codes.are_weights(codes.value_weights(CoordinateResponse.quantised(0.5, 11)), 11)

    def test_any_message_is_read_or_refused(self, mechanism: dn.Compressed) -> None:
        """Random bytes and damaged messages: refused, or exactly what a device would have written."""
        random = np.random.default_rng(12)
        good = mechanism.perturb(SETS, dn.SeededCoins(13)).columns["message"].tolist()
        hostile = [random.bytes(size) for size in [*range(12)] * 20]
        hostile += [bytes([255]) * 40, b"\0" * 40, b"\0\0\1", good[0] + b"\0", good[2][:-1], good[2] + b"\1"]
        hostile += [bytes([each[0] ^ 1 << bit]) + each[1:] for each in good for bit in range(8)]
        read = 0
        for each in hostile:
            reports = forged(mechanism, each)
            try:
                decoder = mechanism.decoder(reports)
                mechanism.vector(reports)
            except dn.InvalidReport as refused:
                assert "refused" in str(refused)
                continue
            read += 1
            if decoder.counts[0]:
                assert mechanism._label_code.write(decoder.labels, decoder.counts) == [each]
        assert 0 < read < len(hostile)

    @pytest.mark.parametrize("claimed", [10**3, 10**6, 10**9, 1 << 39])
    def test_a_short_message_cannot_claim_much(self, claimed: int) -> None:
        """The header of a message with so many labels, and nothing after it: refused before anything is read."""
        mechanism = dn.Compressed(dn.SparseVector(1 << 30), 1.0)
        size = (claimed + 1).bit_length()
        text = "0" * (size.bit_length() - 1) + f"{size:b}" + f"{claimed + 1:b}"[1:]
        bits = np.array([int(bit) for bit in text], np.uint8)
        with pytest.raises(dn.InvalidReport, match="refused"):
            mechanism.value(forged(mechanism, np.packbits(bits, bitorder="little").tobytes()), 0)

    def test_an_empty_message_is_no_whole_vector(self) -> None:
        mechanism = dn.Compressed(dn.SparseVector(1 << 30), 1.0)
        with pytest.raises(dn.InvalidReport, match="refused"):
            mechanism.value(forged(mechanism, b"\1"), 0)


def forged(mechanism: dn.Compressed, message: bytes) -> Reports:
    columns: dict[str, NDArray[np.generic]] = {
        "key": np.zeros(1, np.uint64),
        "message": np.array([message, b""], object)[:1],
    }
    return Reports(mechanism.fingerprint, mechanism.layout, columns)  # type: ignore[arg-type]


class TestWire:
    def test_pack_and_unpack(self, mechanism: dn.Compressed) -> None:
        reports = mechanism.perturb(SETS, dn.SeededCoins(14))
        data = mechanism.pack(reports)
        again = mechanism.unpack(data)
        assert again.columns["message"].tolist() == reports.columns["message"].tolist()
        assert np.array_equal(again.columns["key"], reports.columns["key"])
        part = dn.concatenate([reports[:1], reports[1:]])
        assert mechanism.pack(part) == data
        assert mechanism.tally(reports[:2]) + mechanism.tally(reports[2:]) == mechanism.tally(reports)

    @pytest.mark.parametrize("at", [32, 40, 72, 90, -5])
    def test_damage_is_refused(self, mechanism: dn.Compressed, at: int) -> None:
        data = bytearray(mechanism.pack(mechanism.perturb(SETS, dn.SeededCoins(14))))
        data[at] ^= 4
        with pytest.raises(dn.InvalidReport):
            mechanism.unpack(bytes(data))
        with pytest.raises(dn.InvalidReport):
            mechanism.unpack(bytes(data[:at]))

    @pytest.mark.parametrize(
        ("data", "size"),
        [
            (b"", 0),
            (bytes(8), 1),
            (b"\1" + bytes(7), 0),
            (b"\x0d" + bytes(7 + 8) + b"\2" + bytes(3) + b"a", 1),
            (bytes(8), 1 << 40),
        ],
    )
    def test_lengths_that_do_not_fit(self, data: bytes, size: int) -> None:
        with pytest.raises(dn.InvalidReport):
            VariableLayout.of(9).unpack(data, size)

    def test_columns_that_do_not_fit(self, mechanism: dn.Compressed) -> None:
        good: dict[str, NDArray[Any]] = dict(mechanism.perturb(SETS).columns)
        wrong: list[dict[str, NDArray[Any]]] = [
            {"key": np.zeros(4, np.int64)},
            {"message": np.array([1, 2, 3, 4], object)},
            {"message": np.array([b"x" * 10**6] * 4, object)},
        ]
        for changes in wrong:
            with pytest.raises(dn.InvalidReport):
                Reports.of(mechanism.fingerprint, mechanism.layout, {**good, **changes})
        assert len(Reports.of(mechanism.fingerprint, mechanism.layout, good)) == 4

    @pytest.mark.needs("pyarrow")
    @pytest.mark.parametrize("name", ["a.reports", "a.parquet"])
    def test_files(self, mechanism: dn.Compressed, tmp_path: Path, name: str) -> None:
        reports = mechanism.perturb(SETS, dn.SeededCoins(15))
        dn.write_batches(tmp_path / name, mechanism, [reports[:3], reports[3:]])
        again = dn.read_reports(tmp_path / name, mechanism)
        assert mechanism.pack(again) == mechanism.pack(reports)

    def test_json_keeps_the_fingerprint(self, mechanism: dn.Compressed, ratings: dn.Compressed) -> None:
        for each in (mechanism, ratings, dn.Compressed(dn.SparseVector(99, most=9), 1.0, code="gamma")):
            again = dn.mechanism_from_json(each.to_json())
            assert again == each and again.fingerprint == each.fingerprint
        with pytest.raises(dn.InvalidParameter, match="has been changed"):
            dn.mechanism_from_json(mechanism.to_json().replace('"threshold":', '"threshold":1'))

    def test_reports_of_another(self, mechanism: dn.Compressed, ratings: dn.Compressed) -> None:
        with pytest.raises(dn.SurveyMismatch):
            mechanism.vector(ratings.perturb([{}]))

    def test_seeds_repeat(self, mechanism: dn.Compressed) -> None:
        first, second = (mechanism.pack(mechanism.perturb(SETS, dn.SeededCoins(16))) for _ in range(2))
        assert first == second != mechanism.pack(mechanism.perturb(SETS))


def test_it_is_the_same_without_numba() -> None:
    """Reports, messages and counts in a process that cannot load it."""
    code = """
import hashlib, numpy as np, deniable as dn
for values, options in ((2, {}), (11, {"alpha": 2.0}), (2, {"code": "gamma"})):
    mechanism = dn.Compressed(dn.SparseVector(3000, values), 2.0, **options)
    answers = [{int(x): 1 + int(x) % (values - 1) for x in np.arange(seed, 3000, 150)} for seed in range(12)]
    reports = mechanism.perturb(answers, dn.SeededCoins(3))
    print(hashlib.sha256(mechanism.pack(reports)).hexdigest(), mechanism.count(reports).tolist()[:50])
"""
    assert prints_the_same_without(("numba",), code)


class TestRefusals:
    @pytest.mark.parametrize(
        ("answers", "says"),
        [
            ([[300]], "0 to 299"),
            ([[-1]], "0 to 299"),
            ([[3, 3]], "occurs twice"),
            ([{3: 2}], "A value is not one of 0 to 1"),
            ([{3: -1}], "A value is not one of 0 to 1"),
            ([[1.5]], "mapping of coordinates"),
            ([["17"]], "mapping of coordinates"),
            (["17"], "mapping of coordinates"),
            ([17], "mapping of coordinates"),
            ([[True]], "mapping of coordinates"),
            ([[1 << 70]], "mapping of coordinates"),
            ([[[1, 2]]], "mapping of coordinates"),
            ({17: 1}, "must be a list"),
            ("17", "must be a list"),
        ],
    )
    def test_answers(self, mechanism: dn.Compressed, answers: object, says: str) -> None:
        with pytest.raises(dn.OutsideDomain, match=says) as refused:
            mechanism.perturb(answers)  # type: ignore[arg-type]
        assert "17" not in str(refused.value).replace("{17: 1}", "")

    def test_nobody(self, mechanism: dn.Compressed) -> None:
        with pytest.raises(dn.EmptyBatch):
            mechanism.perturb([])

    def test_the_reference_may_be_said_aloud(self) -> None:
        given = dn.SparseVector(10, values=3).index([{1: 0, 2: 2}, {3: 0}, {4: 1}])
        assert (given.places.tolist(), given.values.tolist(), given.counts.tolist()) == ([2, 4], [2, 1], [1, 0, 1])
        assert dn.SparseVector(10).index(np.array([[1, 2], [3, 4]])).counts.tolist() == [2, 2]

    def test_more_than_the_public_bound(self) -> None:
        with pytest.raises(dn.OutsideDomain, match="more than 2 coordinates"):
            dn.Compressed(dn.SparseVector(100, most=2), 1.0, code="gamma").perturb([[1, 2, 3]])

    def test_ratings_need_values(self, ratings: dn.Compressed) -> None:
        with pytest.raises(dn.OutsideDomain, match="An answer must be a mapping"):
            ratings.perturb([[1, 2]])

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"alpha": 1.0}, "must be above 1"),
            ({"alpha": 0.5}, "must be above 1"),
            ({"sparsity": 0.0}, "would disclose it"),
            ({"sparsity": 1.0}, "would disclose it"),
            ({"sparsity": 1e-9}, "a budget of at least"),
            ({"load": 0}, "The load is"),
            ({"code": "huffman"}, "model, zipf, gamma"),
            ({"weights": (1, 2)}, "weights of the code"),
            ({"epsilon": 0.0}, "Epsilon must be"),
        ],
    )
    def test_parameters(self, options: dict[str, object], says: str) -> None:
        given: dict[str, object] = {"domain": ITEMS, "epsilon": 1.0, **options}
        with pytest.raises(dn.InvalidParameter, match=says):
            dn.Compressed(**given)  # type: ignore[arg-type]

    def test_a_budget_that_leaves_nothing(self) -> None:
        with pytest.raises(dn.InvalidParameter, match="leaves nothing"):
            dn.Compressed(dn.SparseVector(10, most=2), 1e-6)
        with pytest.raises(dn.InvalidParameter, match="needs a SparseVector"):
            dn.Compressed(dn.Categories(range(3)), 1.0)  # type: ignore[arg-type]

    @pytest.mark.parametrize("given", [(0,), (1 << 40,), (10, 1), (10, 257), (10, 2, 11), (10, 2, 0), (True,), (2.5,)])
    def test_domains(self, given: tuple[int, ...]) -> None:
        with pytest.raises(dn.InvalidParameter):
            dn.SparseVector(*given)

    def test_the_planner_is_for_single_answers(self) -> None:
        with pytest.raises(dn.InvalidParameter, match="use Compressed"):
            dn.plan(ITEMS, 1.0, 100)

    def test_domain_from_spec(self) -> None:
        for domain in (ITEMS, dn.SparseVector(5, 3, 2)):
            assert domain_from_spec(domain.spec()) == domain
        labels = dn.SparseVector(5, 3).labels
        assert (len(labels), labels[-1], list(labels[1:3])) == (10, "4 = 2", ["0 = 2", "1 = 1"])
        with pytest.raises(IndexError):
            labels[10]

    def test_copies_with_other_parameters(self, mechanism: dn.Compressed) -> None:
        assert replace(mechanism, alpha=2.0, weights=None, load=None).coordinate != mechanism.coordinate
