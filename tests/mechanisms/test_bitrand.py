"""BitRand: its code, its published forms and what they truly cost, and the certified forms; labels beside them."""

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.core import Coins, cells
from deniable.errors import InvalidLaw
from deniable.mechanisms.algebra import bit_budgets as budgets
from deniable.mechanisms.shares.label_response import laplace_keep
from deniable.mechanisms.vectors.bitrand import bit_odds
from research.bit_formulas import best_possible_epsilon, sign_magnitude_errors
from research.papers.bitrand.theory import true_epsilon

CODE = dn.SignMagnitude(1, 10, 5)


class TestCode:
    def test_every_code_is_reached_by_its_answer(self) -> None:
        for domain in (
            dn.SignMagnitude(1, 5, 2),
            dn.SignMagnitude(2, 3, 0),
            dn.SignMagnitude(3, 2, -1),
            dn.SignMagnitude(2, 1),
        ):
            digits = 1 << domain.bits * np.arange(domain.dimensions)
            answers = [domain.answer(index) for index in range(domain.size)]
            assert (domain.index(answers) @ digits).tolist() == list(range(domain.size))

    def test_decoding_is_the_number_cut_off(self) -> None:
        numbers = np.linspace(-31.9, 31.9, 999)[:, None]
        back = CODE.decode(CODE.index(numbers))
        assert (np.abs(numbers - back) < CODE.unit).all() and (np.abs(back) <= np.abs(numbers)).all()
        assert CODE.decode(CODE.index(back)).tolist() == back.tolist()

    def test_large_numbers_saturate_or_are_refused(self) -> None:
        assert CODE.decode(CODE.index([[1e9]]))[0, 0] == CODE.largest == 31.9375
        assert CODE.outside([[40.0], [31.95], [32.0]]) == 2
        assert CODE.decode(CODE.wrapped([[40.0]]))[0, 0] == 8  # what the published rule makes of it
        with pytest.raises(dn.OutsideDomain, match="does not fit into 10 bits") as refused:
            dn.SignMagnitude(1, 10, 5, clip=False).index([[77.5]])
        assert "77" not in str(refused.value)
        assert CODE.bits_of([[-0.0]])[0, 0, 0] == 1

    @pytest.mark.parametrize("bad", [[[float("nan")]], [[float("-inf")]], [["x"]], [[1.0, 2.0]]])
    def test_what_is_no_number_is_refused(self, bad: list[list[object]]) -> None:
        with pytest.raises(dn.OutsideDomain):
            CODE.index(bad)


class TestLoss:
    @pytest.mark.parametrize(
        ("r", "bits", "epsilon", "alpha", "true"),
        [(2, 3, 0.8, 3.0, 9.13356731317027), (1000, 5, 1.0, 100.0, 34513.903067775), (1000, 10, 0.1, 100.0, 69077.5)],
    )
    def test_ome_counts_places_over_the_whole_vector(
        self, r: int, bits: int, epsilon: float, alpha: float, true: float
    ) -> None:
        mechanism, total = dn.BitRand.ome(r, bits, epsilon, alpha), 0.0
        zero = 1 / (1 + alpha * math.exp(epsilon / (r * bits)))
        for place in range(r * bits):
            one = 1 / (1 + alpha**3) if place % 2 else alpha / (1 + alpha)
            total += max(abs(math.log(one / zero)), abs(math.log((1 - one) / (1 - zero))))
        assert mechanism.loss().epsilon() == pytest.approx(total, rel=1e-9) == pytest.approx(true, rel=2e-3)
        assert true_epsilon("OME", r, bits, epsilon, alpha) == pytest.approx(total, rel=1e-9)

    def test_odd_bits_of_ome_are_randomized_as_they_say(self) -> None:
        """Three numbers of three bits: shares of 200,000 reports are within five deviations, in 54 places (3e-5)."""
        mechanism, n = dn.BitRand.ome(3, 3, 0.8, 2.0), 200_000
        for answer, chances in (((0.9, 0.9, 0.9), mechanism.ones), ((-0.1, -0.1, -0.1), mechanism.zeros)):
            counts = mechanism.tally(mechanism.perturb([answer] * n, dn.SeededCoins(5))).counts.reshape(-1, 3)[:3]
            expected = np.array([[float(chances[3 * (j % 2) + i]) for j in range(3)] for i in range(3)])
            assert (np.abs(counts / n - expected) < 5 * np.sqrt(expected * (1 - expected) / n)).all()
        back = dn.mechanism_from_json(mechanism.to_json())
        assert back == mechanism and back.fingerprint == mechanism.fingerprint

    @pytest.mark.parametrize(("r", "bits"), [(1, 8), (2, 4), (4, 2)])
    def test_eight_bits(self, r: int, bits: int) -> None:
        mechanism = dn.BitRand.as_published(r, bits, 2.0)
        assert dn.certify(mechanism, "enumerated").loss.odds == dn.certify(mechanism).loss.odds

    @pytest.mark.parametrize(("r", "bits"), [(1, 10), (2, 5), (5, 2)])
    def test_the_worst_case_of_ten_bits_occurs(self, r: int, bits: int) -> None:
        """Two answers that differ in every bit have just the proved ratio at some report, by their exact laws."""
        mechanism = dn.BitRand.as_published(r, bits, 2.0)
        assert dn.certify(mechanism).loss.odds == mechanism.loss().odds
        laws = [dict(dn.law(mechanism, index).items()) for index in (0, mechanism.domain.size - 1)]
        ratios = [laws[0][report] / laws[1][report] for report in laws[0]]
        assert max(*ratios, *(1 / ratio for ratio in ratios)) == mechanism.loss().odds

    @pytest.mark.parametrize(("r", "bits", "epsilon"), [(1, 5, 1.0), (768, 10, 1.0), (1000, 20, 5.0)])
    def test_the_published_form_costs_what_the_formula_says(self, r: int, bits: int, epsilon: float) -> None:
        alpha = budgets.published_alpha(r, bits, epsilon)
        formula = r * math.fsum(abs(math.log(alpha) + epsilon * i / bits) for i in range(bits))
        mechanism = dn.BitRand.as_published(r, bits, epsilon)
        assert mechanism.loss().epsilon() == pytest.approx(formula, rel=1e-12)
        assert formula >= best_possible_epsilon(r, bits, epsilon)
        assert mechanism.epsilon == epsilon

    def test_the_paper_size_does_not_hold(self) -> None:
        certificate = dn.certify(dn.BitRand.as_published(features=768, bits=10, epsilon=1.0))
        assert not certificate.holds and certificate.loss.proof == "proved"
        assert certificate.loss.epsilon() == pytest.approx(3310.97158905015, rel=1e-12)
        assert "e^3310.97" in str(certificate) and "about 10^2311 answers" in str(certificate)
        assert "e^3310.97" in certificate.mechanism.explain()

    def test_certified_forms_spend_the_budget_and_no_more(self) -> None:
        for mechanism in (
            dn.BitRand.water_filled(50, 10, 5.0, 5),
            dn.BitRand.offset(50, -1, 1, 5.0),
            dn.BitRand.offset(4, 0, 10, 40.0),
        ):
            certificate = dn.certify(mechanism)
            assert certificate.holds and certificate.slack < 1e-6
        assert dn.BitRand.offset(4, 0, 10, 40.0).bits > 1

    def test_latent_is_more_private_than_its_budget(self) -> None:
        assert dn.certify(dn.BitRand.latent(10, 10, 1.0, 7.0)).loss.epsilon() == pytest.approx(0.8755, abs=1e-3)

    def test_the_loss_of_a_bit(self) -> None:
        assert bit_odds(Fraction(3, 4), Fraction(1, 4)) == 3
        assert bit_odds(Fraction(1, 2), Fraction(1, 4)) == 2
        assert bit_odds(Fraction(1, 4), Fraction(1, 4)) == 1
        assert bit_odds(Fraction(1), Fraction(1, 4)) is None


class Coupled(dn.BitRand):
    """A planted bug: the second bit is reported together with the first. It costs no privacy, but is counted wrongly."""

    def randomize(self, truth, coins: Coins):  # type: ignore[no-untyped-def]
        columns: dict[str, Any] = dict(super().randomize(truth, coins))
        columns["bit1"] = columns["bit1"] ^ columns["bit0"]
        return columns


class Peeking(dn.BitRand):
    """A planted bug: the second bit of the report depends on both bits of the number."""

    def randomize(self, truth, coins: Coins):  # type: ignore[no-untyped-def]
        columns: dict[str, Any] = dict(super().randomize(truth, coins))
        columns["bit1"] = columns["bit1"] ^ cells(truth, 1)
        return columns


class Twice(dn.BitRand):
    """A planted bug: the noise of the first bit is used for the second one again."""

    def randomize(self, truth, coins: Coins):  # type: ignore[no-untyped-def]
        columns: dict[str, Any] = dict(super().randomize(truth, coins))
        columns["bit1"] = columns["bit0"] ^ cells(truth, 1) ^ cells(truth, 0)
        return columns


class Shifted(dn.BitRand):
    """A planted bug: the bits of the answer are moved before they are randomized, as arrays."""

    def randomize(self, truth, coins: Coins):  # type: ignore[no-untyped-def]
        return super().randomize(truth ^ truth >> 1, coins)


class Still(dn.BitRand):
    """A planted bug: the last bit is not randomized."""

    def randomize(self, truth, coins: Coins):  # type: ignore[no-untyped-def]
        columns: dict[str, Any] = dict(super().randomize(truth, coins))
        columns["bit1"] = cells(truth, 0)
        return columns


class TestPlantedBugs:
    def made(self, kind: type[dn.BitRand]) -> dn.BitRand:
        right = dn.BitRand.as_published(2, 2, 1.0)
        return kind(right.domain, right.epsilon, right.ones, right.zeros)

    def test_the_right_one_passes(self) -> None:
        assert dn.certify(self.made(dn.BitRand)).loss.odds == self.made(dn.BitRand).loss().odds

    @pytest.mark.parametrize("kind", [Coupled, Peeking])
    def test_bits_that_are_not_separate_have_their_true_loss(self, kind: type[dn.BitRand]) -> None:
        """Whoever sees both bits can undo the coupling, so that it costs nothing."""
        assert dn.certify(self.made(kind)).loss.odds == dn.certify(self.made(kind), "enumerated").loss.odds

    @pytest.mark.parametrize("kind", [Twice, Still])
    def test_a_bit_without_noise_of_its_own_is_unbounded(self, kind: type[dn.BitRand]) -> None:
        assert dn.certify(self.made(kind)).loss.odds is None
        assert dn.certify(self.made(kind), "enumerated").loss.odds is None

    def test_arithmetic_on_whole_rows_is_refused(self) -> None:
        with pytest.raises(dn.NotCertifiable, match="cannot be recorded as a program"):
            dn.certify(self.made(Shifted))
        with pytest.raises(InvalidLaw):
            self.made(Shifted).perturb([[0.5, 0.5]])


class TestEstimate:
    def test_offset_binary_has_the_variance_of_the_formula(self) -> None:
        mechanism = dn.BitRand.offset(1, -1, 1, 3.0, 2)
        for index in range(4):
            predicted = mechanism.predict([mechanism.domain.answer(index)], 1).variance
            assert predicted is not None
            assert predicted[0] == pytest.approx(budgets.offset_variance(2, 3.0)["noise"], rel=1e-9)

    def test_predicted_variance_of_sign_and_magnitude_is_exact(self) -> None:
        mechanism = dn.BitRand.as_published(1, 6, 2.0, 3)
        for number in (5.25, -1.0, 0.0, 7.75):
            exact = sign_magnitude_errors(mechanism, number)
            predicted = mechanism.predict([[number]], 1)
            assert predicted.variance is not None
            assert exact["mean"] == pytest.approx(number, abs=1e-9)
            assert predicted.variance[0] == pytest.approx(exact["variance"], rel=1e-9)
            assert exact["mse"] >= exact["bias"] ** 2

    def test_collections_come_near_the_truth(self) -> None:
        """Fixed coins; no number is more than six standard errors off, which chance does once in 5e8."""
        vectors = np.random.default_rng(3).uniform(-0.9, 0.9, (20_000, 12))
        for mechanism in (dn.BitRand.offset(12, -1, 1, 24.0), dn.BitRand.as_published(12, 10, 2.0)):
            reports = mechanism.perturb(vectors, dn.SeededCoins(5))
            estimate = mechanism.estimate(mechanism.tally(reports))
            unit = 2.0 ** -(mechanism.bits - 1) if isinstance(mechanism.domain, dn.SignMagnitude) else 0
            assert (np.abs(estimate.values - vectors.mean(axis=0)) < 6 * estimate.standard_error + unit).all()
            predicted = mechanism.predict(vectors, 20_000).standard_error
            assert (estimate.standard_error > 0.9 * predicted).all()

    def test_what_cannot_be_is_refused(self) -> None:
        mechanism = dn.BitRand.as_published(3, 4, 1.0)
        counts = np.zeros(mechanism.cells, np.int64)
        counts[-1] = 1  # a bit and the sign together, but neither alone
        with pytest.raises(dn.InvalidReport, match="both one more often"):
            mechanism.estimate(dn.Tally(mechanism.fingerprint, 2, counts))
        changed = json.loads(mechanism.to_json()) | {"ones": ["1/2"]}
        with pytest.raises(dn.InvalidParameter, match="two probabilities"):
            dn.mechanism_from_json(json.dumps(changed))


class TestBudgets:
    @pytest.mark.parametrize("budget", [1e-3, 0.5, 4.0, 30.0, 200.0])
    def test_no_other_split_is_better(self, budget: float) -> None:
        sizes, weights = budgets.sensitivities(6, 3), budgets.offset_weights(5)
        cases: list[tuple[budgets.BitBudgets, Callable[[NDArray[np.float64]], float]]] = [
            (budgets.water_filled(sizes, budget), lambda e: float((np.array(sizes) / (1 + np.exp(e))).sum())),
            (
                budgets.least_variance(weights.tolist(), budget),
                lambda e: float((weights**2 / (4 * np.sinh(e / 2) ** 2)).sum()),
            ),
        ]
        for found, error in cases:
            assert found.epsilons.sum() == pytest.approx(budget, rel=1e-9)
            assert (found.epsilons >= 0).all()
            assert found.error == pytest.approx(error(found.epsilons), rel=1e-9)
            for i, j in itertools.permutations(range(len(found.epsilons)), 2):
                moved = found.epsilons.copy()
                step = min(1e-2 * budget, moved[i] / 2)
                if step > 0:
                    moved[[i, j]] += [-step, step]
                    assert error(moved) >= found.error * (1 - 1e-12)

    def test_the_table_of_worst_variances(self) -> None:
        """Bits, at their best number, are Duchi's up to epsilon 2 and never better than the best mechanism for numbers."""
        table = {
            0.1: (400.7, 1),
            0.5: (16.67, 1),
            1: (4.683, 1),
            2: (1.724, 1),
            3: (0.806, 2),
            5: (0.290, 2),
            8: (0.105, 3),
            10: (0.0597, 3),
        }
        for epsilon, (variance, bits) in table.items():
            assert budgets.best_offset_bits(epsilon) == bits
            assert budgets.offset_variance(bits, epsilon)["worst"] == pytest.approx(variance, rel=2e-3)

    @pytest.mark.parametrize(
        ("make", "says"),
        [
            (lambda: budgets.water_filled([], 1.0), "positive weight"),
            (lambda: budgets.water_filled([1.0, -1.0], 1.0), "positive weight"),
            (lambda: budgets.least_variance([1.0], 0.0), "budget"),
            (lambda: budgets.offset_weights(0), "1 to 40 bits"),
            (lambda: dn.BitRand.offset(60_000, 0, 1, 0.05), "cannot be split among 60,000 parts"),
            (lambda: dn.BitRand.latent(1000, 100, 0.01), "cannot be split"),
            (lambda: dn.BitRand.latent(1, 2, 1.0, alpha=-1.0), "Alpha"),
            (lambda: dn.BitRand(dn.Features(2, 0, 1, steps=4), 1.0, (), ()), "2\\^b - 1 steps"),
            (lambda: dn.BitRand(dn.SignMagnitude(1, 1), 1.0, (Fraction(2),), (Fraction(1),)), "probability"),
            (lambda: dn.BitRand.as_published(2, 2, 1.0).predict([[0.0, 0.0]], 0), "one person"),
            (lambda: sign_magnitude_errors(dn.BitRand.offset(1, 0, 1, 1.0), 0.5), "sign-and-magnitude"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, make: object, says: str) -> None:
        with pytest.raises(dn.InvalidParameter, match=says):
            make()  # type: ignore[operator]


class TestLabels:
    def test_beta_has_two_bounds(self) -> None:
        labels = dn.Categories(range(10))
        for beta in (1 - math.log(9), -1 - math.log(9) + 1e-12, -2.0):
            mechanism = dn.LabelResponse.with_beta(labels, 1.0, beta)
            certificate = dn.certify(mechanism)
            assert certificate.loss.epsilon() == pytest.approx(abs(beta + math.log(9)), rel=1e-9)
            assert certificate.loss.epsilon() <= 1 + 1e-9
        for beta in (1.01 - math.log(9), -1.01 - math.log(9), -5.0):
            with pytest.raises(dn.InvalidParameter, match="beta must lie between"):
                dn.LabelResponse.with_beta(labels, 1.0, beta)
        assert not dn.certify(dn.LabelResponse.as_published(labels, 1.0, -5.0)).holds

    def test_at_the_upper_bound_it_is_direct_response(self) -> None:
        labels = dn.Categories(range(5))
        mechanism, direct = dn.LabelResponse(labels, 1.0), dn.DirectResponse(labels, 1.0)
        assert (mechanism.p, mechanism.q) == (direct.p, direct.q)

    def test_an_inverted_response_is_still_unbiased(self) -> None:
        mechanism = dn.LabelResponse.as_published(dn.Categories(range(4)), 3.0, -3.0)
        assert mechanism.p < mechanism.q
        tally = dn.Tally(mechanism.fingerprint, 1000, 1000 * np.array([float(mechanism.p)] + [float(mechanism.q)] * 3))
        np.testing.assert_allclose(mechanism.estimate(tally).values, [1, 0, 0, 0], atol=1e-12)

    def test_noise_on_one_hot_labels_keeps_less_than_its_budget_allows(self) -> None:
        for labels in (2, 5, 40):
            noisy = dn.LabelResponse.laplace(dn.Categories(range(labels)), 2.0)
            assert noisy.loss().epsilon() < 2.0
            assert noisy.keep < dn.LabelResponse(noisy.domain, 2.0).keep
        # Two labels: two such noises differ by more than -1 with probability 1 - (2 + b) e^(-b) / 4, b = epsilon / 2.
        assert laplace_keep(2, 2.0) == pytest.approx(1 - 3 * math.exp(-1) / 4, rel=1e-9)

    def test_the_noisy_largest_has_that_probability(self) -> None:
        """200,000 trials, six standard errors: a false alarm once in 5e8."""
        noise = np.random.default_rng(1).laplace(0, 2 / 3.0, (200_000, 6))
        noise[:, 0] += 1
        kept = (noise.argmax(axis=1) == 0).mean()
        assert abs(kept - laplace_keep(6, 3.0)) < 6 * 0.5 / math.sqrt(200_000)

    def test_what_makes_no_sense_is_refused(self) -> None:
        labels = dn.Categories(range(4))
        for keep in (Fraction(1, 4), Fraction(1), Fraction(3, 2)):
            with pytest.raises(dn.InvalidParameter):
                dn.LabelResponse(labels, 1.0, keep)
        with pytest.raises(dn.InvalidParameter, match="Beta"):
            dn.LabelResponse.as_published(labels, 1.0, float("nan"))
        with pytest.raises(dn.InvalidReport):
            dn.LabelResponse(labels, 1.0).votes({"value": np.array([4], np.uint8)})
