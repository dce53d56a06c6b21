"""Learners: the exact loss of every piece, unbiased reports, trees that tell no more than they may, and refusals."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.core.odds import log_up
from deniable_learn import (
    GradientReports,
    PrivateGBDTRegressor,
    PrivateMeansClassifier,
    PrivateSGDClassifier,
    PrivateSGDRegressor,
    PrivateVectorClassifier,
    importance_budgets,
)
from deniable_learn.gradients import WAYS
from deniable_learn.learner import Learner, area_under_curve, class_numbers, sorted_places
from deniable_learn.local_trees import LeafReports, hadamard
from deniable_learn.network import Network, trained
from deniable_learn.noise import choice_law, choose, geometric, geometric_law, step_odds, waiting
from deniable_learn.tree import SPLIT_SENSITIVITY, Tree, grow, split_scores

RANDOM = np.random.default_rng(3)
PEOPLE = 2000
FEATURES = RANDOM.uniform(-1, 1, (PEOPLE, 4))
CLASS = (FEATURES @ [2, -1, 0.5, 0] > 0).astype(int)
TARGET = 10 + 4 * FEATURES[:, 0] + 2 * (FEATURES[:, 1] > 0) + 0.2 * RANDOM.normal(size=PEOPLE)


def learners() -> list[Learner]:
    """One of each, small."""
    return [
        PrivateSGDClassifier(4.0, (0, 1), (-1, 1), seed=1, rounds=5, rate=3.0),
        PrivateSGDClassifier(4.0, (0, 1), (-1, 1), "best", seed=1, hidden=3, passes=2),
        PrivateSGDRegressor(4.0, (-1, 1), (4, 18), seed=1),
        PrivateMeansClassifier(4.0, (0, 1), (-1, 1), seed=1),
        PrivateGBDTRegressor(4.0, (-1, 1), (4, 18), seed=1, trees=4),
        PrivateGBDTRegressor(4.0, (-1, 1), (4, 18), "local", seed=1, depth=1),
        PrivateVectorClassifier(8.0, (0, 1), (-1, 1), seed=1, epochs=2),
    ]


def fitted(learner: Learner) -> Learner:
    made: Learner = learner.fit(FEATURES, CLASS if learner._kind == "classifier" else TARGET)  # type: ignore[attr-defined]
    return made


class TestEveryLearner:
    @pytest.mark.parametrize("place", range(len(learners())))
    def test_it_keeps_its_budget_and_says_its_model(self, place: int) -> None:
        learner = fitted(learners()[place])
        loss, epsilon = learner.privacy_loss(), learner.get_params()["epsilon"]
        assert 0.999 * epsilon < loss.epsilon() <= epsilon
        central = learner.get_params().get("model") == "central"
        assert ("central" if central else "local") in loss.protects

    @pytest.mark.parametrize("place", range(len(learners())))
    def test_it_learns_and_is_the_same_with_the_same_seed(self, place: int) -> None:
        first, second = fitted(learners()[place]), fitted(learners()[place])
        predicted, again = first.predict(FEATURES), second.predict(FEATURES)  # type: ignore[attr-defined]
        assert np.array_equal(predicted, again)
        if first._kind == "classifier":
            chances = first.predict_proba(FEATURES)  # type: ignore[attr-defined]
            np.testing.assert_allclose(chances.sum(axis=1), 1)
            assert first.score(FEATURES, CLASS) > 0.6  # type: ignore[attr-defined]
        else:
            assert first.score(FEATURES, TARGET) > 0.1  # type: ignore[attr-defined]
            assert predicted.min() >= 4 and predicted.max() <= 18

    def test_without_a_seed_coins_are_secure(self) -> None:
        learner = PrivateMeansClassifier(1.0, (0, 1), (-1, 1))
        assert not np.array_equal(fitted(learner).decision_function(FEATURES), fitted(learner).decision_function(FEATURES))  # type: ignore[attr-defined]

    @pytest.mark.parametrize("place", range(len(learners())))
    def test_parameters_are_kept_as_given(self, place: int) -> None:
        learner = learners()[place]
        again = type(learner)(**learner.get_params())
        assert again.get_params() == learner.get_params() and repr(again) == repr(learner)
        assert again.set_params(epsilon=2.0).get_params()["epsilon"] == 2.0
        with pytest.raises(dn.InvalidParameter, match="no parameter 'luck'"):
            again.set_params(luck=1)

    @pytest.mark.needs("sklearn")
    @pytest.mark.parametrize("place", range(len(learners())))
    def test_scikit_learn_can_use_it(self, place: int) -> None:
        from sklearn.base import clone, is_classifier, is_regressor
        from sklearn.model_selection import cross_val_score

        learner = learners()[place]
        assert is_classifier(clone(learner)) == (learner._kind == "classifier") != is_regressor(learner)
        target = CLASS if learner._kind == "classifier" else TARGET
        assert np.isfinite(cross_val_score(learner, FEATURES[:300], target[:300], cv=3, error_score="raise")).all()

    @pytest.mark.parametrize("place", range(len(learners())))
    def test_nothing_is_predicted_before_fit(self, place: int) -> None:
        with pytest.raises(dn.InvalidParameter, match="Call fit first"):
            learners()[place].predict(FEATURES)  # type: ignore[attr-defined]

    @pytest.mark.needs("sklearn")
    @pytest.mark.filterwarnings("ignore")  # the checks warn about what they try
    @pytest.mark.parametrize(
        "learner",
        [
            PrivateMeansClassifier(4.0, "observed", (-10, 10), seed=1),
            PrivateSGDClassifier(4.0, "observed", (-10, 10), rounds=3, seed=1),
            PrivateVectorClassifier(4.0, "observed", (-10, 10), hidden=4, epochs=1, seed=1),
        ],
        ids=lambda learner: type(learner).__name__,
    )
    def test_scikit_learn_checks_it(self, learner: Learner) -> None:
        """All of its checks but those that need what is not installed or not switched on."""
        from sklearn.utils.estimator_checks import check_estimator

        found = check_estimator(learner, on_fail=None, on_skip=None)
        left = {each["check_name"] for each in found if each["status"] != "passed"}
        unavailable = {
            "check_array_api_input",  # SCIPY_ARRAY_API is not set
            "check_classifier_data_not_an_array",  # pandas is not in this environment
        }
        assert left <= unavailable
        assert len(found) >= 55

    def test_two_classes_have_one_score(self) -> None:
        learner = PrivateMeansClassifier(4.0, (0, 1), (-1, 1), seed=1).fit(FEATURES, CLASS)
        scores = learner.decision_function(FEATURES)
        assert scores.shape == (len(FEATURES),)
        assert (learner.predict(FEATURES) == (scores > 0)).all()

    @pytest.mark.parametrize("place", range(len(learners())))
    def test_bad_data_are_refused_without_repeating_them(self, place: int) -> None:
        learner = learners()[place]
        target = CLASS if learner._kind == "classifier" else TARGET
        secret = FEATURES.copy()
        secret[7, 1] = math.nan
        cases = [(secret, target), (FEATURES[0], target), (FEATURES, target[:-1]), (FEATURES[:0], target[:0])]
        wrong = target.astype(float).copy()
        wrong[3] = 12345 if learner._kind == "classifier" else math.inf
        for rows, right in [*cases, (FEATURES, wrong)]:
            with pytest.raises((dn.OutsideDomain, dn.EmptyBatch)) as caught:
                learner.fit(rows, right)  # type: ignore[attr-defined]
            assert "12345" not in str(caught.value) and "nan" not in str(caught.value)


class Untouched:
    """Data that must not be looked at."""

    def __array__(self, *_: object, **__: object) -> None:
        raise AssertionError("the data were touched")

    def __len__(self) -> int:
        raise AssertionError("the data were touched")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PrivateSGDClassifier(1.0, (0, 1)), "public range of the features"),
        (lambda: PrivateSGDClassifier(1.0, (0, 1), (1, 1)), "lower one first"),
        (lambda: PrivateSGDClassifier(1.0, (0, 1), (0, math.inf)), "finite numbers"),
        (lambda: PrivateSGDClassifier(1.0, None, (-1, 1)), "Give the classes"),
        (lambda: PrivateSGDClassifier(1.0, (1, 1), (-1, 1)), "Give the classes"),
        (lambda: PrivateSGDClassifier(-1.0, (0, 1), (-1, 1)), "Epsilon must be"),
        (lambda: PrivateSGDClassifier(1.0, (0, 1), (-1, 1), rounds=-1), "rounds must be a whole number"),
        (lambda: PrivateSGDClassifier(1.0, (0, 1), (-1, 1), passes=0), "passes must be a whole number"),
        (lambda: PrivateSGDClassifier(1.0, (0, 1), (-1, 1), way="luck"), "reported by one of"),
        (lambda: PrivateSGDClassifier(1.0, (0, 1), (-1, 1), clip=0.0), "clip must be a positive"),
        (lambda: PrivateSGDRegressor(1.0, (-1, 1)), "public range of the targets"),
        (lambda: PrivateMeansClassifier(1.0, (0, 1)), "public range of the features"),
        (lambda: PrivateMeansClassifier(1.0, (0, 1), (-1, 1), centre=1.0), "below 1"),
        (lambda: PrivateMeansClassifier(1.0, (0, 1), (-1, 1), shares=(0.5, 0.6)), "sum to 1"),
        (lambda: PrivateGBDTRegressor(1.0, (-1, 1)), "public range of the targets"),
        (lambda: PrivateGBDTRegressor(1.0, None, (0, 1)), "public range of the features"),
        (lambda: PrivateGBDTRegressor(1.0, (-1, 1), (0, 1), "federal"), "The model is one of central, local"),
        (lambda: PrivateGBDTRegressor(1.0, (-1, 1), (0, 1), leaves="luck"), "Leaves are published as one of sums"),
        (lambda: PrivateGBDTRegressor(1.0, (-1, 1), (0, 1), splits="luck"), "Splits are one of exponential"),
        (lambda: PrivateGBDTRegressor(1.0, (-1, 1), (0, 1), trees=-3), "trees must be a whole number"),
        (lambda: PrivateGBDTRegressor(1.0, (-1, 1), (0, 1), split_share=1.5), "between 0 and 1"),
        (lambda: PrivateGBDTRegressor(1.0, (-1, 1), (0, 1), "local", "laplace"), "local model"),
        (lambda: PrivateGBDTRegressor(1e-5, (-1, 1), (0, 1), trees=50), "Epsilon must be"),
        (lambda: PrivateVectorClassifier(1.0, (0, 1), (-1, 1), (0.2, 0.2, 0.2, 0.2, 0.3)), "sum to 1.1, not to epsilon"),
        (lambda: PrivateVectorClassifier(1.0, (0, 1), (-1, 1), (0.2, 0.2, 0.2, 0.1, 0.2)), "sum to 0.9, not to epsilon"),
        (lambda: PrivateVectorClassifier(1.0, (0, 1), (-1, 1), (0.5, 0.5, 0.0)), "positive one for the label"),
        (lambda: PrivateVectorClassifier(1.0, (0, 1), (-1, 1), way="luck"), "way must be one of"),
        (lambda: PrivateVectorClassifier(1.0, (0, 1), (-1, 1), ask=1.0), "at least 0 and below 1"),
        (lambda: PrivateVectorClassifier(1.0, (0, 1), (-1, 1), (0.5, 0.5), ask=0.1), "not both"),
    ],
)
def test_refused_before_any_data_are_touched(make: Callable[[], Learner], message: str) -> None:
    with pytest.raises(dn.InvalidParameter, match=message):
        make().fit(Untouched(), Untouched())  # type: ignore[attr-defined]


class TestGradients:
    @pytest.mark.parametrize("way", WAYS)
    def test_reports_keep_the_budget_and_are_certified(self, way: str) -> None:
        reports = GradientReports(3, 1.0, way)
        assert reports.loss().epsilon() <= 1.0
        if way in (
            "unit-codes",
            "unit-axes",
            "duchi-vector",
            "bipartite",
            "coarsened",
        ):  # the others in the tests of their family
            certificate = dn.certify(reports.mechanism)
            assert certificate.holds and certificate.loss.odds == reports.loss().odds

    @pytest.mark.parametrize("way", ["duchi", "three-outputs", "hybrid", "piecewise"])
    def test_unbiased_on_the_exact_law(self, way: str) -> None:
        """The mean of all reports on a gradient, each with its exact probability, is the gradient."""
        reports = GradientReports(3, 2.0, way, reach=0.5)
        mechanism = dn.FeatureVector(dn.Features(3, -0.5, 0.5, steps=4), 2.0, 1, reports.mechanism.scalar)  # type: ignore[attr-defined]
        gradient = (0.25, -0.5, 0.0)
        index = next(i for i in range(125) if mechanism.domain.answer(i) == gradient)
        found = np.zeros(3)
        part = mechanism.part
        for start, value in itertools.product(range(3), range(part.cells)):
            place = round((gradient[start] + 0.5) * 4)
            found[start] += float(part.row(place)[value]) / 3 * 3 * part.numbers[value]
        np.testing.assert_allclose(found, gradient, atol=1e-12)
        assert index >= 0

    @pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0, 8.0])
    def test_directions_are_the_better_of_two(self, epsilon: float) -> None:
        """By the exact error of one report: within two percent of naming a direction, and below it for long vectors."""
        for dimensions in (5, 31, 32, 65, 300):
            codes, axes, chosen = (
                GradientReports(dimensions, epsilon, way).mechanism for way in ("unit-codes", "unit-axes", "directions")
            )
            assert isinstance(codes, dn.UnitCodes) and isinstance(axes, dn.UnitAxes) and isinstance(chosen, dn.UnitCodes)
            assert chosen == (codes if dimensions < 32 else axes)
            assert chosen.error <= codes.error * (1.02 if dimensions < 64 else 1.0)

    @pytest.mark.parametrize("way", ["unit-codes", "unit-axes", "best", "duchi-vector"])
    def test_the_mean_is_right(self, way: str) -> None:
        """Fixed coins; 40 numbers within six standard errors, which chance misses less than once in 1e7."""
        rows = np.tile([0.5, -0.2, 0.1, 0.0, 0.3], (2000, 1))
        found = np.stack([GradientReports(5, 2.0, way).mean(rows, dn.SeededCoins(turn)) for turn in range(8)])
        assert (np.abs(found.mean(axis=0) - rows[0]) < 6 * np.maximum(found.std(axis=0, ddof=1), 0.01) / 8**0.5).all()

    def test_long_gradients_are_cut_one_by_one(self) -> None:
        rows = np.array([[3.0, 4.0], [0.3, 0.4]])
        np.testing.assert_allclose(GradientReports(2, 1.0, clip=1.0).cut(rows), [[0.6, 0.8], [0.3, 0.4]])

    def test_releases_shrink(self) -> None:
        """BRR cannot be undone: the mean of its releases is nearer to the middle than the truth."""
        rows = np.full((20_000, 1), 0.9)
        found = GradientReports(1, 1.0, "bipartite").mean(rows, dn.SeededCoins(1))[0]
        assert 0.05 < found < 0.5

    def test_one_person_costs_one_report_per_pass(self) -> None:
        one = PrivateSGDClassifier(2.0, (0, 1), (-1, 1), "duchi", rounds=7, seed=1).fit(FEATURES, CLASS)
        assert one.privacy_loss().odds == one._reports(one.network_.size).loss().odds
        three = PrivateSGDClassifier(2.0, (0, 1), (-1, 1), "duchi", rounds=7, passes=3, seed=1).fit(FEATURES, CLASS)
        odds = three._reports(three.network_.size).loss().odds
        assert odds is not None and three.privacy_loss().odds == odds**3
        assert log_up(odds**3) <= 2

    def test_too_many_rounds(self) -> None:
        with pytest.raises(dn.EmptyBatch, match="its own people"):
            PrivateSGDClassifier(2.0, (0, 1), (-1, 1), rounds=50).fit(FEATURES[:20], CLASS[:20])

    @pytest.mark.parametrize(("hidden", "classify"), [(0, True), (3, True), (3, False)])
    def test_gradients_are_those_of_the_loss(self, hidden: int, classify: bool) -> None:
        network = Network(4, 3 if classify else 1, hidden, classify)
        weights = np.random.default_rng(1).normal(size=network.size)
        rows, right = FEATURES[:5], (np.arange(5) % 3 if classify else TARGET[:5])

        def loss(at: np.ndarray, row: int) -> float:
            predicted = network.predict(at, rows[row : row + 1])[0]
            return -math.log(predicted[int(right[row])]) if classify else (predicted[0] - right[row]) ** 2 / 2

        gradients = network.gradients(weights, rows, right)
        np.testing.assert_allclose(gradients.mean(axis=0), network.mean_gradient(weights, rows, right), atol=1e-12)
        for row, place in itertools.product(range(5), range(network.size)):
            step = np.eye(network.size)[place] * 1e-5
            slope = (loss(weights + step, row) - loss(weights - step, row)) / 2e-5
            assert gradients[row, place] == pytest.approx(slope, abs=1e-5)

    def test_training_without_privacy_learns(self) -> None:
        network = Network(4, 2, 8)
        weights = trained(network, FEATURES, CLASS, np.random.default_rng(1), epochs=5)
        assert (network.predict(weights, FEATURES).argmax(axis=1) == CLASS).mean() > 0.95


class TestMeans:
    def test_what_is_decoded_is_unbiased_and_as_far_off_as_known(self) -> None:
        """Share times mean of each class; fixed coins; within six standard errors, which chance misses once in 1e7."""
        learner = PrivateMeansClassifier(2.0, range(3), (-1, 1), seed=1)
        vectors, kinds = np.tile([0.6, 0.8, 0.0, 0.0], (6000, 1)), np.arange(6000) % 2
        decoded, noise = learner._collect(vectors, kinds, 3, dn.SeededCoins(5))
        truth = np.zeros((3, 4))
        truth[:2] = np.array([0.6, 0.8, 0.0, 0.0]) / 2
        assert (np.abs(decoded - truth) < 6 * noise**0.5).all()
        assert 0.3 < ((decoded - truth) ** 2 / noise).mean() < 3

    def test_the_loss_is_that_of_the_worst_of_the_reports(self) -> None:
        learner = PrivateMeansClassifier(1.0, (0, 1), (-3, 3), shares=(0.5, 0.5), seed=1).fit(FEATURES, CLASS)
        losses = [mechanism.loss() for mechanism in (learner._direction(4, 2), learner._direction(4, 1), learner._scale(4))]
        assert learner.asked_ == (True, True)
        assert learner.privacy_loss().odds == max(loss.odds for loss in losses if loss.odds is not None)
        assert learner.privacy_loss().epsilon() <= 1
        for mechanism in (learner._direction(4, 2), learner._scale(4)):
            certificate = dn.certify(mechanism)
            assert certificate.holds and certificate.loss.odds == mechanism.loss().odds

    def test_who_tells_what_depends_on_nothing_private(self) -> None:
        learner = PrivateMeansClassifier(0.3, range(10), (-1, 1))
        assert learner._groups(60_000, 98) == (0.0, 0.0) and learner._groups(60_000, 10) == (0.1, 0.1)
        assert PrivateMeansClassifier(3.0, range(10), (-1, 1))._groups(60_000, 98) == (0.1, 0.1)
        assert PrivateMeansClassifier(3.0, range(10), (-1, 1), centre=0)._groups(60_000, 98) == (0.0, 0.1)

    def test_without_any_signal_the_most_common_class_is_predicted(self) -> None:
        random = np.random.default_rng(3)
        rows, kinds = random.normal(size=(4000, 50)), (random.random(4000) < 0.2).astype(int)
        learner = PrivateMeansClassifier(0.5, (0, 1), (-3, 3), shares=(0.8, 0.2), seed=1).fit(rows, kinds)
        assert learner.score(rows, kinds) > 0.79

    def test_chances_are_as_sure_as_they_should_be(self) -> None:
        """Classes that overlap, spread more widely between them than elsewhere: chances are right on average."""
        random = np.random.default_rng(3)
        kinds = random.integers(0, 2, 30_000)
        rows = random.normal(size=(30_000, 20)) * 0.3
        rows[:, 0] = random.normal(kinds - 0.5, 1.0)
        learner = PrivateMeansClassifier(4.0, (0, 1), (-3, 3), shares=(0.5, 0.5), seed=1).fit(rows, kinds)
        chances = learner.predict_proba(rows)
        sure = chances.max(axis=1).mean()
        assert abs(sure - learner.score(rows, kinds)) < 0.06


class TestNoise:
    @pytest.mark.parametrize("heads", [Fraction(1, 3), Fraction(9, 10)])
    def test_waiting_is_exact(self, heads: Fraction) -> None:
        """Up to where another toss decides about more, every number has its probability: all coins followed."""
        found: dict[int, Fraction] = {}
        digits = max(1, min(12, int(-1 / math.log(heads)).bit_length()))
        for bits in itertools.product((0, 1), repeat=digits):
            chance, power = Fraction(1), heads
            for bit in bits:
                chance *= (power if bit else 1) / (1 + power)
                power *= power
            number = sum(bit << place for place, bit in enumerate(bits))
            found[number] = chance * (1 - power)
        assert found == {number: (1 - heads) * heads**number for number in range(1 << digits)}

    def test_drawn_numbers_have_the_law(self) -> None:
        """A chi-squared test of 20,000 numbers with 10 classes: beyond 80 by chance less than once in 1e12."""
        step = step_odds(1.0, 2)
        drawn = geometric(step, 20_000, dn.SeededCoins(2))
        inner = range(-4, 5)
        expected = np.array([float(geometric_law(step, k)) for k in inner] + [0.0]) * 20_000
        expected[-1] = 20_000 - expected.sum()
        counts = np.array([(drawn == k).sum() for k in inner] + [(np.abs(drawn) > 4).sum()])
        assert ((counts - expected) ** 2 / expected).sum() < 80
        assert log_up(step**2) <= 1

    def test_neighbours_differ_by_the_step(self) -> None:
        step = step_odds(0.7, 3)
        ratios = {geometric_law(step, k) / geometric_law(step, k + 1) for k in range(-5, 5)}
        assert ratios == {step, 1 / step}
        assert sum((geometric_law(step, k) for k in range(-3, 4)), Fraction(0)) < 1

    def test_choices_have_the_exact_law(self) -> None:
        """Chi-squared of 4,000 choices among four: beyond 60 by chance less than once in 1e12."""
        scores, step = np.array([3, 0, 2, 5]), step_odds(2.0, 4)
        law = choice_law(scores, step)
        assert sum(law) == 1 and law[3] / law[1] == step**5
        coins = dn.SeededCoins(9)
        counts = np.bincount([choose(scores, step, coins) for _ in range(4000)], minlength=4)
        expected = 4000 * np.array([float(each) for each in law])
        assert ((counts - expected) ** 2 / expected).sum() < 60

    def test_what_makes_no_sense_is_refused(self) -> None:
        for make in (lambda: step_odds(1.0, 0), lambda: waiting(Fraction(1), 3, dn.SeededCoins(1))):
            with pytest.raises(dn.InvalidParameter):
                make()


class TestTrees:
    def test_scores_of_splits_move_by_no_more_than_is_said(self) -> None:
        """Every small set of people on both sides, with every person more, and the bound is reached nearly."""
        largest, worst = 4, 0
        people = [(side, gradient) for side in (0, 1) for gradient in (-4, -1, 0, 3, 4)]
        for size in range(4):
            for held in itertools.combinations_with_replacement(people, size):
                before = score(held, largest)
                worst = max(worst, *(abs(score((*held, more), largest) - before) for more in people))
        assert worst <= SPLIT_SENSITIVITY

    def test_random_sets_keep_the_bound_too(self) -> None:
        random = np.random.default_rng(1)
        for _ in range(2000):
            n = int(random.integers(1, 40))
            held = list(zip(random.integers(0, 2, n).tolist(), (4 * random.choice([-1, 1], n)).tolist(), strict=True))
            more = (int(random.integers(2)), int(4 * random.choice([-1, 1])))
            assert abs(score((*held, more), 4) - score(held, 4)) <= SPLIT_SENSITIVITY

    def test_the_law_of_a_split_keeps_the_level(self) -> None:
        """The whole law of which split is chosen, for neighbouring sets of people: no ratio above the level's odds."""
        step = step_odds(1.0, 2 * SPLIT_SENSITIVITY)
        random, worst = np.random.default_rng(2), Fraction(0)
        for _ in range(200):
            n = int(random.integers(1, 8))
            places, gradients = random.integers(0, 3, (n + 1, 2)), random.integers(-4, 5, n + 1)
            laws = [choice_law(all_scores(places[:many], gradients[:many]), step) for many in (n, n + 1)]
            worst = max(worst, *(max(a / b, b / a) for a, b in zip(*laws, strict=True)))
        assert worst > 1 and log_up(worst) <= 1

    @pytest.mark.parametrize("leaves", ["sums", "laplace"])
    def test_the_law_of_a_leaf_keeps_its_part(self, leaves: str) -> None:
        """What is published of a leaf, for every small set and every person more, never differs by more than is paid."""
        learner = PrivateGBDTRegressor(3.0, (-1, 1), (0, 1), leaves=leaves, trees=1, depth=1, regular=1, rate=1.0)
        step, sensitivity, counting = learner._leaf_steps(0)
        values = (-64, -10, 0, 33, 64)
        for size in range(4):
            for held in itertools.combinations_with_replacement(values, size):
                for more in values:
                    odds = step ** abs(leaf(leaves, (*held, more)) - leaf(leaves, held))
                    odds *= counting if leaves == "sums" else 1
                    assert odds <= step**sensitivity * counting
        split = step_odds(float(Fraction(3, 2)), 2 * SPLIT_SENSITIVITY) ** (2 * SPLIT_SENSITIVITY)
        assert learner.tree_odds() == split * step**sensitivity * counting

    @pytest.mark.parametrize("leaves", ["sums", "laplace", "bipartite", "coarsened"])
    @pytest.mark.parametrize(("trees", "disjoint"), [(6, 1), (6, 6), (6, 4)])
    def test_groups_add_up_and_trees_of_a_group_do_not(self, leaves: str, trees: int, disjoint: int) -> None:
        learner = PrivateGBDTRegressor(3.0, (-1, 1), (4, 18), leaves=leaves, trees=trees, disjoint=disjoint, depth=2, seed=1)
        assert learner.groups == {1: 6, 6: 1, 4: 2}[disjoint]
        loss = learner.privacy_loss()
        assert loss.odds == max(learner.tree_odds(place) for place in range(disjoint)) ** learner.groups
        assert 0.999 * 3 < loss.epsilon() <= 3.0
        learner.fit(FEATURES, TARGET)
        assert len(learner.trees_) == trees

    def test_cuts_come_from_the_public_range_only(self) -> None:
        """People whose features are all in one corner get the same cuts to choose from as others."""
        learner = PrivateGBDTRegressor(1.0, (-1, 1), (4, 18), splits="drawn", trees=3, seed=4)
        first = learner.fit(FEATURES, TARGET).trees_
        second = (
            PrivateGBDTRegressor(1.0, (-1, 1), (4, 18), splits="drawn", trees=3, seed=4).fit(FEATURES * 0.01, TARGET).trees_
        )
        assert np.array_equal(first[0].cut, second[0].cut) and np.array_equal(first[0].feature, second[0].feature)
        moved = learner._places(np.array([[-9.0, -1, 0.999, 1]]))
        assert moved.tolist() == [[0, 0, 31, 31]]

    def test_a_grown_tree_finds_the_split(self) -> None:
        places = np.stack([np.arange(400) % 8, np.arange(400) // 50], axis=1)
        gradients = np.where(places[:, 1] > 3, 64, -64)
        tree = grow(places, gradients, 1, 8, 64, [step_odds(5.0, 4)], dn.SeededCoins(1))
        assert (tree.feature[0], tree.cut[0]) == (1, 3)
        tree.values = np.array([-1.0, 1.0])
        assert np.array_equal(tree.predict(places), np.sign(gradients))

    def test_drawn_trees_have_every_leaf(self) -> None:
        tree = Tree.drawn(2, 2, 2, dn.SeededCoins(3))
        assert tree.leaves == 4 and set(tree.leaf(np.array(list(itertools.product((0, 1), repeat=2))))) <= set(range(4))


def score(held: "tuple[tuple[int, int], ...] | list[tuple[int, int]]", largest: int) -> int:
    """The score of the split that puts side 0 to the left."""
    left = [gradient for side, gradient in held if side == 0]
    whole = sum(gradient for _, gradient in held)
    return int(split_scores(np.array([sum(left)]), np.array([len(left)]), whole, len(held), largest)[0])


def all_scores(places: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    pairs = [(feature, cut) for feature in range(2) for cut in range(2)]
    held = [[(int(row[f] > cut), int(g)) for row, g in zip(places, gradients, strict=True)] for f, cut in pairs]
    return np.array([score(each, 4) for each in held])


def leaf(kind: str, held: tuple[int, ...]) -> int:
    """The whole number that noise is added to."""
    return sum(held) if kind == "sums" else sum(held) * 2 // max(1, len(held) + 1)


class TestLocalLeaves:
    @pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0, 8.0])
    def test_certified(self, epsilon: float) -> None:
        reports = LeafReports.of(epsilon, 4)
        certificate = dn.certify(reports.mechanism)
        assert certificate.holds and certificate.loss.odds == reports.loss().odds

    @pytest.mark.parametrize("leaves", [2, 4])
    def test_contrasts_are_unbiased_on_the_exact_law(self, leaves: int) -> None:
        """Every contrast and every report with its exact probability: the mean is that of h(leaf) x, for any leaf and x."""
        reports, signs = LeafReports.of(1.0, leaves), hadamard(leaves).astype(int)
        assert np.array_equal(signs @ signs.T, leaves * np.eye(leaves))
        mechanism = reports.mechanism
        middle = mechanism.domain.size // 2
        for row, leaf, away in itertools.product(range(1, leaves), range(leaves), (-32, -5, 0, 20)):
            chances = mechanism.row(middle + away * int(signs[row, leaf]))
            mean = sum(float(chance) * number for chance, number in zip(chances, mechanism.numbers, strict=True))
            assert mean == pytest.approx(signs[row, leaf] * away / 32, abs=1e-9)

    def test_leaves_are_found(self) -> None:
        """100,000 people in leaves of equal size: half of the difference to the mean is added, or all of it by a stump.

        Within 0.03, some eight standard errors.
        """
        leaf, truth = np.arange(100_000) % 4, np.array([-0.5, 0.0, 0.5, 0.9])
        found = LeafReports.of(4.0, 4).values(leaf, truth[leaf], dn.SeededCoins(1))
        assert (np.abs(found - (truth - truth.mean()) / 2) < 0.03).all()
        halves = LeafReports.of(4.0, 2).values(leaf % 2, (truth - truth.mean())[leaf], dn.SeededCoins(1))
        assert (np.abs(halves - [-0.225, 0.225]) < 0.03).all()

    def test_noise_alone_is_taken_for_noise(self) -> None:
        """People whose residuals are all 0: of 200 stumps most add nothing, and none more than five standard errors."""
        reports, added = LeafReports.of(1.0, 2), []
        for seed in range(200):
            added.append(abs(reports.values(np.arange(500) % 2, np.zeros(500), dn.SeededCoins(seed))[1]))
        assert np.mean(np.array(added) == 0) > 0.7 and max(added) < 5 * (reports.square / 500) ** 0.5

    def test_fewer_people_and_smaller_budgets_have_fewer_trees(self) -> None:
        many = [[LeafReports.of(epsilon, 2).trees(people, 40) for people in (50, 1000, 10**6)] for epsilon in (0.2, 1, 5)]
        assert many == sorted(many) and all(row == sorted(row) for row in many)
        assert many[0][0] == 0 and many[2][2] == 40
        assert LeafReports.of(1.0, 8).trees(3000, 40) < LeafReports.of(1.0, 2).trees(3000, 40)

    @pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
    def test_never_much_worse_than_the_mean(self, epsilon: float) -> None:
        """Targets that no feature explains: the error above that of the mean is what estimating a mean costs.

        Fixed coins, 12 trainings; the bound is three times the error of a mean by the reports of a fifth of the people.
        """
        random, worse = np.random.default_rng(8), []
        rows, targets = random.uniform(-1, 1, (3000, 6)), random.normal(-0.4, 0.2, 3000)
        for seed in range(12):
            learner = PrivateGBDTRegressor(epsilon, (-1, 1), (-1, 1), "local", depth=1, trees=40, seed=seed)
            predicted = learner.fit(rows, targets).predict(rows)
            worse.append(float(((predicted - targets) ** 2).mean() - targets.var()))
        assert np.mean(worse) < min(9 * LeafReports.of(epsilon, 2).square / 600, 0.2)

    @pytest.mark.parametrize(("people", "trees"), [(30, 0), (2000, 5)])
    def test_everybody_reports_once(self, people: int, trees: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever is grown: the loss is that of one report because there is one."""
        sent, true = list[int](), LeafReports.decoded

        def decoded(self: LeafReports, numbers: np.ndarray, coins: dn.Coins) -> np.ndarray:
            sent.append(len(numbers))
            return true(self, numbers, coins)

        monkeypatch.setattr(LeafReports, "decoded", decoded)
        learner = PrivateGBDTRegressor(0.5, (-1, 1), (4, 18), "local", trees=5, depth=1, seed=2)
        learner.set_params(epsilon=4.0 if trees else 0.5).fit(FEATURES[:people], TARGET[:people])
        assert sum(sent) == people and len(learner.trees_) == trees and len(sent) == 2 + trees

    def test_too_few_people_say_nothing(self) -> None:
        assert not LeafReports.of(1.0, 4).values(np.zeros(0, np.int64), np.ones(0), dn.SeededCoins(1)).any()
        one = PrivateGBDTRegressor(1.0, (-1, 1), (0, 1), "local", seed=1).fit(FEATURES[:1], TARGET[:1])
        assert not one.trees_ and 0 <= one.predict(FEATURES[:1])[0] <= 1


class TestVectors:
    def test_some_people_pay_for_what_is_important(self) -> None:
        """Nobody is asked twice, so the loss is the larger one of the two."""
        random = np.random.default_rng(2)
        kinds, rows = random.integers(0, 2, 20_000), random.uniform(-1, 1, (20_000, 6))
        rows[:, 2] = np.clip(kinds - 0.5 + 0.3 * random.normal(size=20_000), -1, 1)
        learner = PrivateVectorClassifier(2.0, (0, 1), (-1, 1), ask=0.3, epochs=1, seed=1).fit(rows, kinds)
        budgets = learner.budgets_[:-1]
        assert np.argmax(budgets) == 2 and sum(learner.budgets_) <= 2
        _, vectors, label = learner._mechanisms(6)
        odds = vectors.loss().odds * label.loss().odds  # type: ignore[operator]
        assert learner.privacy_loss().odds == max(odds, learner.asked_.privacy_loss().odds)  # type: ignore[type-var]
        assert learner.privacy_loss().epsilon() <= 2
        with pytest.raises(dn.InvalidParameter, match="Call fit first"):
            PrivateVectorClassifier(2.0, (0, 1), (-1, 1), ask=0.3)._budgets(6)

    def test_budgets_sum(self) -> None:
        for weights in ([1, 1, 1], [0.1, 0.7, 0.3], [0, 0, 5]):
            for epsilon in (0.3, 1.0, 7.7):
                parts = importance_budgets(weights, epsilon, 0.4)
                total = sum(map(Fraction, parts))
                assert Fraction(epsilon) * (1 - Fraction(1, 10**12)) < total <= Fraction(epsilon)
        for wrong in ([], [-1, 2], [0, 0], [math.nan]):
            with pytest.raises(dn.InvalidParameter):
                importance_budgets(wrong, 1.0)
        with pytest.raises(dn.InvalidParameter):
            importance_budgets([1], 1.0, 1.0)

    @pytest.mark.parametrize("way", ["coarsened", "bipartite", "laplace"])
    def test_the_loss_is_that_of_all_releases(self, way: str) -> None:
        budgets = importance_budgets([2, 1], 2.0)
        learner = PrivateVectorClassifier(2.0, (0, 1), (-1, 1), budgets, way, steps=4)
        _, vectors, label = learner._mechanisms(2)
        odds = [dn.certify(part).loss.odds for part in (*vectors.parts, label)]
        product = math.prod(each for each in odds if each is not None)
        assert learner.privacy_loss().odds == product and learner.privacy_loss().epsilon() <= 2.0
        assert dn.certify(vectors).loss.odds == vectors.loss().odds

    def test_features_without_budget_are_not_asked_for(self) -> None:
        budgets = importance_budgets([1, 0, 1, 0], 8.0)
        learner = PrivateVectorClassifier(8.0, (0, 1), (-1, 1), budgets, seed=1, epochs=1).fit(FEATURES, CLASS)
        changed = FEATURES.copy()
        changed[:, [1, 3]] = 0.7
        again = PrivateVectorClassifier(8.0, (0, 1), (-1, 1), budgets, seed=1, epochs=1).fit(changed, CLASS)
        assert np.array_equal(learner.weights_, again.weights_)
        with pytest.raises(dn.InvalidParameter, match="There are 4 features"):
            PrivateVectorClassifier(1.0, (0, 1), (-1, 1), (0.5, 0.5)).fit(FEATURES, CLASS)

    def test_corrected_labels_are_right_on_average(self) -> None:
        """On the exact law of the label's response."""
        learner = PrivateVectorClassifier(1.0, (0, 1, 2), (-1, 1), importance_budgets([1], 1.0))
        label = learner._mechanisms(1)[2]
        p, q = label.p, label.q
        weights = [[((k == reported) - q) / (p - q) for k in range(3)] for reported in range(3)]
        for true in range(3):
            mean = [sum((p if reported == true else q) * weights[reported][k] for reported in range(3)) for k in range(3)]
            assert mean == [int(k == true) for k in range(3)]


def test_area_under_the_curve() -> None:
    assert area_under_curve([1, 1, 0, 0], [0.9, 0.2, 0.4, 0.1]) == 0.75
    with pytest.raises(dn.InvalidParameter):
        area_under_curve([1, 1], [0, 1])


@pytest.mark.parametrize("classes", [(3, 1, 2), (-5, 1 << 40, 0), ("a", 1, 2.0), (True, 0, 7)])
def test_labels_are_numbered_in_the_order_of_the_classes(classes: tuple[object, ...]) -> None:
    """Whole numbers by arrays, others one by one."""
    which = np.random.default_rng(1).integers(0, 3, 50)
    labels = np.array([classes[each] for each in which], None if all(isinstance(c, int) for c in classes) else object)
    np.testing.assert_array_equal(class_numbers(labels, classes, 50), which)
    if labels.dtype != object:
        labels[7] = 6
        with pytest.raises(dn.OutsideDomain, match="not one of the classes"):
            class_numbers(labels, classes, 50)


def test_equal_numbers_keep_their_order() -> None:
    for most in (5, 1 << 62):
        numbers = np.random.default_rng(2).integers(0, most, 3000)
        np.testing.assert_array_equal(sorted_places(numbers), np.argsort(numbers, kind="stable"))
