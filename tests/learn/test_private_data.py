"""Training data that are randomized once: refusals, exact losses, unbiased readings, and corrections that help."""

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
import deniable_learn as learning
from deniable_learn.decoding import squares
from deniable_learn.noisy_labels import forward_loss
from deniable_learn.splitting import signed_noise, split_noise, split_sample

BOX, CLASSES, BALL = dn.Features(2, -1, 1, steps=2), dn.Categories(range(3)), dn.UnitVectors(40)


def blobs(n: int, d: int = 40, classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Vectors of length one around a direction for each class."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % classes
    x = 2.5 * np.eye(classes, d)[y] + random.normal(0, 1.0, (n, d)) / d**0.5
    return x / np.linalg.norm(x, axis=1, keepdims=True), y


class Untouchable:
    """Data that must not be looked at."""

    def __len__(self) -> int:
        raise AssertionError("the data were touched")

    def __getitem__(self, place: object) -> object:
        raise AssertionError("the data were touched")


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ({"features": None}, "public range"),
            ({"features": 384}, "public range"),
            ({"features": dn.Interval(0, 1)}, "public range"),
            ({"labels": None}, "classes"),
            ({"labels": dn.Unary(CLASSES, 1.0)}, "LabelResponse"),
            ({"epsilon": 3.0}, "split between"),
            ({"epsilon": (1.0, 2.0, 3.0)}, "split between"),
            ({"epsilon": (1.0, 0.0)}, "Epsilon must be"),
            ({"epsilon": (1.0, None)}, "None if they are public"),
            ({"features": "public"}, "None if they are public"),
            ({"features": "public", "labels": "public", "epsilon": (None, None)}, "nothing to protect"),
            ({"total": 3.5}, "sum to 3, not to the total of 3.5"),
            ({"features": dn.FeatureVector(BOX, 2.0)}, "They must be equal"),
            ({"labels": dn.LabelResponse(CLASSES, 1.0)}, "They must be equal"),
            ({"coins": 7}, "source of randomness"),
        ],
    )
    def test_before_any_data_is_touched(self, arguments: dict[str, Any], why: str) -> None:
        good: dict[str, Any] = {"features": BOX, "labels": CLASSES, "epsilon": (1.0, 2.0)}
        with pytest.raises(dn.DeniableError, match=why):
            learning.privatize(Untouchable(), **(good | arguments))

    @pytest.mark.parametrize(
        "arguments", [{"features": dn.Features(2, 0, 1)}, {"features": None}, {"labels": BOX}, {"epsilon": -1.0}]
    )
    def test_signed_samples_too(self, arguments: dict[str, Any]) -> None:
        good: dict[str, Any] = {"features": BOX, "labels": CLASSES, "epsilon": 1.0}
        with pytest.raises(dn.InvalidParameter):
            learning.privatize_together(Untouchable(), **(good | arguments))
        with pytest.raises(dn.InvalidParameter, match="They must be equal"):
            learning.privatize_together(Untouchable(), features=dn.DuchiVector(BOX, 2.0), labels=CLASSES, epsilon=1.0)

    def test_samples_that_are_none(self) -> None:
        x, y = np.zeros((3, 2)), np.array([0, 1, 2])
        given: dict[str, Any] = {"features": BOX, "labels": CLASSES, "epsilon": (1.0, 1.0)}
        for bad, error in (
            ((x, np.array([0, 1, 4711])), dn.OutsideDomain),
            ((x, np.array([0, 1])), dn.OutsideDomain),
            ((x + 2, y), dn.OutsideDomain),
            ((x * np.nan, y), dn.OutsideDomain),
            ((x[:0], y[:0]), dn.EmptyBatch),
            ([], dn.EmptyBatch),
        ):
            with pytest.raises(error) as caught:
                learning.privatize(bad, **given)
            assert "4711" not in str(caught.value)  # a label outside the classes is refused, and not repeated
        with pytest.raises(dn.InvalidParameter, match="one name or number for each sample"):
            learning.privatize((x, y), people=[1, 2], **given)
        with pytest.raises(dn.OutsideDomain, match="non-negative whole numbers"):
            learning.privatize((x, y - 1), features=BOX, labels="public", epsilon=(1.0, None))
        with pytest.raises(dn.OutsideDomain, match="finite"):
            learning.privatize((x * np.nan, y), features="public", labels=CLASSES, epsilon=(None, 1.0))


class TestGuarantee:
    def test_losses_multiply_and_training_is_free(self) -> None:
        x, y = np.zeros((6, 2)), np.array([0, 1, 2, 0, 1, 2])
        data = learning.privatize(
            (x, y), features=BOX, labels=CLASSES, epsilon=(1.0, 2.0), total=3.0, people=[1, 1, 1, 2, 2, 3]
        )
        features, labels = (each.loss().odds for each in data.guarantee.mechanisms)
        assert isinstance(features, Fraction) and isinstance(labels, Fraction)
        guarantee = data.guarantee
        assert guarantee.sample.odds == features * labels and guarantee.sample.unit == "one answer"
        assert guarantee.samples == 3 and guarantee.client.odds == (features * labels) ** 3
        assert guarantee.after(1000).odds == guarantee.after(0).odds == guarantee.client.odds == guarantee.of(3).odds
        assert guarantee.sample.epsilon() <= 3.0 and guarantee.client.epsilon() <= 9.0
        assert [round(cost, 9) for _, cost in guarantee.ledger()] == [3.0, 6.0, 0.0]
        assert guarantee.ledger()[-1][0].startswith("training")
        certificates = guarantee.certify()
        assert [each.loss.odds for each in certificates] == [features, labels] and all(c.holds for c in certificates)
        assert "training      epsilon 0" in str(guarantee) and "3 samples" in str(guarantee)
        for bad in (0, -1, True, 1.5):
            with pytest.raises(dn.InvalidParameter):
                guarantee.of(bad)  # type: ignore[arg-type]
        with pytest.raises(dn.InvalidParameter):
            guarantee.after(-1)

    def test_what_is_public_is_said(self) -> None:
        x, y = blobs(30)
        only = learning.privatize((x, y), features="public", labels=CLASSES, epsilon=(None, 1.0)).guarantee
        assert only.published == "the features" and "not its features" in str(only.sample) and "as it is" in str(only)
        with pytest.warns(DeprecationWarning, match="now called published"):
            assert only.told == only.published
        other = learning.privatize((x, y), features=BALL, labels="public", epsilon=(2.0, None))
        assert (
            other.guarantee.published == "the labels"
            and np.array_equal(other.labels, y)
            and np.array_equal(other.targets(), np.eye(3)[y])
        )
        np.testing.assert_array_equal(
            learning.privatize((x, y), features="public", labels=CLASSES, epsilon=(None, 1.0)).features, x
        )

    def test_a_broken_promise_is_reported(self) -> None:
        published = dn.BitRand.as_published(1, 4, 0.1)
        data = learning.privatize((np.zeros((4, 1)), np.arange(4)), features=published, labels="public", epsilon=(0.1, None))
        assert data.guarantee.sample.epsilon() == published.loss().epsilon() > 1
        assert not data.guarantee.certify()[0].holds


class TestReading:
    @pytest.mark.parametrize(
        "mechanism",
        [
            dn.FeatureVector(BOX, 2.0, 1, "duchi-1"),
            dn.FeatureVector(BOX, 2.0, 1, "three-outputs-1"),
            dn.FeatureVector(dn.Features(2, 0, 3, steps=1), 2.0, 2, "duchi-1"),
            dn.DuchiVector(BOX, 1.0),
            dn.BitRand.offset(2, -1, 1, 4.0, bits=1),
            dn.BitRand.as_published(1, 3, 1.0),
            dn.Duchi(dn.Interval(0, 4, steps=2), 1.0),
        ],
        ids=lambda each: each.wire,
    )
    def test_every_single_report_is_unbiased_on_the_exact_law(self, mechanism: dn.Mechanism) -> None:
        domain = mechanism.domain
        for index in range(domain.size):
            mean: Any = 0.0
            for report, chance in dn.law(mechanism, index).items():
                rows = np.frombuffer(bytes.fromhex(report) if isinstance(report, str) else report, np.uint8)[None]
                reports = dn.Reports(mechanism.fingerprint, mechanism.layout, mechanism.layout.columns(rows))
                mean = mean + float(chance) * learning.decode(mechanism, reports)[0]
            answer: Any = domain.answer(index)
            if isinstance(domain, dn.SignMagnitude):  # numbers are cut off at the last bit
                answer = domain.decode(domain.index([answer]))[0]
            np.testing.assert_allclose(mean, np.atleast_1d(answer), atol=1e-9)

    @pytest.mark.needs("scipy")
    @pytest.mark.parametrize("make", [dn.UnitAxes, dn.UnitCodes, dn.PrivUnit])
    def test_directions(self, make: Any) -> None:
        mechanism = make(dn.UnitVectors(4), 6.0)
        reports = mechanism.perturb(np.tile([0.6, 0.0, -0.8, 0.0], (500, 1)), dn.SeededCoins(1))
        rows = learning.decode(mechanism, reports)
        np.testing.assert_allclose(rows.mean(axis=0), mechanism.estimate(mechanism.tally(reports)).values, atol=1e-4)

    @pytest.mark.needs("scipy")
    @pytest.mark.parametrize(
        "mechanism",
        [
            dn.UnitAxes(dn.UnitVectors(3), 6.0, 1),
            dn.UnitAxes(dn.UnitVectors(3), 12.0, 2),
            dn.PrivUnit(dn.UnitVectors(3), 4.0),
            dn.FeatureVector(dn.Features(3, -0.5, 1.5, steps=64), 12.0, 3, "piecewise-1"),
        ],
        ids=["axes", "two rounds", "cap", "box"],
    )
    def test_squares_are_without_the_noise(self, mechanism: Any) -> None:
        """20 batches of 1,000 with fixed coins; within six standard errors of the batches, Student's t: under 1e-5 each."""
        vector = np.array([0.6, 0.0, 0.8])
        rows = learning.decode(mechanism, mechanism.perturb(np.tile(vector, (20_000, 1)), dn.SeededCoins(2)))
        found = np.array([squares(mechanism, part) for part in rows.reshape(20, 1000, 3)])
        error = found.std(axis=0) / 20**0.5
        assert (np.abs(found.mean(axis=0) - np.outer(vector, vector)) < 8 * error + 0.01).all()
        plain = rows.T @ rows / len(rows)
        assert np.abs(np.diag(plain) - vector**2).max() > 10 * np.abs(np.diag(found.mean(axis=0)) - vector**2).max()

    def test_two_outcomes_say_nothing_of_squares(self) -> None:
        assert squares(dn.FeatureVector.composed(BOX, 1.0), np.zeros((4, 2))) is None
        assert squares(dn.FeatureVector(BOX, 1.0, 1), np.zeros((4, 2))) is None

    def test_other_reports_are_refused(self) -> None:
        mechanism = dn.DuchiVector(BOX, 1.0)
        with pytest.raises(dn.SurveyMismatch):
            learning.decode(dn.DuchiVector(BOX, 2.0), mechanism.perturb([[0, 0]]))
        response = dn.DirectResponse(CLASSES, 1.0)
        with pytest.raises(dn.InvalidParameter, match="cannot be decoded"):
            learning.decode(response, response.perturb([0]))

    def test_releases_are_read_as_they_are(self) -> None:
        line = dn.Interval(-1, 1, steps=4)
        mechanism = dn.VectorRelease.of(dn.Vectors([line, line]), 4.0)
        rows = learning.decode(mechanism, mechanism.perturb([(0.5, -1.0)] * 9))
        assert rows.shape == (9, 2) and set(rows.ravel()) <= set(line.labels)


class TestSigned:
    def test_signs_are_balanced_and_products_as_said(self) -> None:
        for classes in (2, 3, 4, 5, 7):
            x, y = blobs(3000, d=8, classes=classes)
            data = learning.privatize_together(
                (x, y),
                features=dn.UnitVectors(8),
                labels=dn.Categories(range(classes)),
                epsilon=1.0,
                coins=dn.SeededCoins(1),
            )
            assert set(data.signs.sum(axis=1)) == {2 * (classes // 2) - classes} and data.classes == classes
            products = data.signs.T @ data.signs / 3000
            expected = learning.signed.sign_product(classes)
            off = products[~np.eye(classes, dtype=bool)] - expected
            assert np.abs(off).max() < 6 / 3000**0.5  # a false alarm once in 5e8

    def test_the_loss_is_that_of_one_vector(self) -> None:
        x, y = blobs(10)
        data = learning.privatize_together((x, y), features=BALL, labels=CLASSES, epsilon=2.0, people=[1, 1] + [2] * 8)
        assert data.guarantee.sample.odds == dn.UnitAxes(BALL, 2.0).loss().odds and data.guarantee.samples == 8
        boxed = learning.privatize_together((np.zeros((2, 2)), [0, 2]), features=BOX, labels=CLASSES, epsilon=1.0)
        assert boxed.guarantee.sample.odds == dn.FeatureVector(BOX, 1.0).loss().odds

    def test_differences_between_classes_are_unbiased_on_the_exact_law(self) -> None:
        """All coins of the mechanism and all signs, for one sample of each class."""
        domain = dn.Features(1, -1, 1, steps=1)
        mechanism, classes = dn.DuchiVector(domain, 1.0), 3
        rows = np.array([[s == k for s in range(classes)] for k in range(classes)])  # one plus of three
        for y in range(classes):
            total = np.zeros((1, classes))
            for plus in rows:
                signs = np.where(plus, 1.0, -1.0)
                for report, chance in dn.law(mechanism, int(signs[y] > 0)).items():
                    raw = np.frombuffer(bytes.fromhex(report) if isinstance(report, str) else report, np.uint8)[None]
                    reports = dn.Reports(mechanism.fingerprint, mechanism.layout, mechanism.layout.columns(raw))
                    vectors = learning.decode(mechanism, reports)
                    guarantee = learning.Guarantee((mechanism,), "")
                    total += float(chance) / classes * learning.SignedData(vectors, signs[None], guarantee).cross()
            np.testing.assert_allclose(total[0], np.eye(classes)[y] - 1 / classes, atol=1e-12)

    def test_the_better_way_is_planned(self) -> None:
        domain = dn.UnitVectors(384)
        small, large = split_sample(domain, 4, 1.0), split_sample(domain, 4, 32.0)
        assert small.parts is None and large.parts is not None and sum(large.parts) == pytest.approx(32.0)
        assert small.noise == signed_noise(domain, 4, 1.0) < split_noise(domain, 4, 0.5, 0.5)
        assert large.noise < signed_noise(domain, 4, 32.0)
        with pytest.raises(dn.InvalidParameter):
            split_sample(BOX, 4, 1.0)  # type: ignore[arg-type]

    def test_noise_is_as_predicted(self) -> None:
        """The variance of class differences over 200 collections, within 35 %: seven standard errors of a variance."""
        x, y = blobs(60, d=16, classes=2)
        domain, labels = dn.UnitVectors(16), dn.Categories(range(2))
        for parts, predicted in ((None, signed_noise(domain, 2, 2.0)), ((1.0, 1.0), split_noise(domain, 2, 1.0, 1.0))):
            found = []
            for turn in range(200):
                coins = dn.SeededCoins(turn)
                data: Any = (
                    learning.privatize_together((x, y), features=domain, labels=labels, epsilon=2.0, coins=coins)
                    if parts is None
                    else learning.privatize((x, y), features=domain, labels=labels, epsilon=parts, coins=coins)
                )
                cross = data.cross()
                found.append(cross[:, 0] - cross[:, 1])
            assert np.var(found, axis=0).mean() * 60 == pytest.approx(predicted, rel=0.35)


class TestTraining:
    def test_channel_and_unbiased_labels(self) -> None:
        mechanism = dn.LabelResponse(CLASSES, 1.0)
        channel = learning.transition(mechanism)
        np.testing.assert_allclose(channel.sum(axis=1), 1)
        np.testing.assert_allclose(channel @ learning.unbiased_labels([0, 1, 2], channel), np.eye(3), atol=1e-12)
        for bad in ([[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.5], [0.0, 1.0]], [[1.0, 0.0]]):
            with pytest.raises(dn.InvalidParameter):
                learning.unbiased_labels([0], bad)

    def test_channels_in_single_precision(self) -> None:
        """What single precision rounds away from a row's sum is no fault; what is more than that is one."""
        channel = learning.transition(dn.DirectResponse(dn.Categories(range(10)), 1.0))
        rough = channel.astype(np.float32)
        assert np.abs(rough.astype(np.float64).sum(axis=1) - 1).max() > 1e-9  # so that it was refused before
        np.testing.assert_allclose(
            learning.unbiased_labels([2], rough), learning.unbiased_labels([2], channel), rtol=1e-5, atol=1e-5
        )
        for bad in (rough * np.float32(1.001), channel * (1 + 1e-8)):
            with pytest.raises(dn.InvalidParameter, match="sum to 1"):
                learning.unbiased_labels([2], bad)

    def test_corrections_beat_raw_labels(self) -> None:
        """Few samples for many dimensions: raw labels are learned by heart. Fixed seeds, the margins are wide."""
        x, y = blobs(1500, d=200, seed=1)
        test_x, test_y = blobs(2000, d=200, seed=2)
        found: dict[str, list[float]] = {"none": [], "forward": [], "backward": []}
        for seed in range(3):
            data = learning.privatize(
                (x, y), features="public", labels=CLASSES, epsilon=(None, 0.8), coins=dn.SeededCoins(seed)
            )
            for name, scores in found.items():
                model = learning.fit_softmax(data.features, data.labels, data.channel, name, 1e-4)  # type: ignore[arg-type]
                scores.append(model.accuracy(test_x, test_y))
        assert np.mean(found["forward"]) > np.mean(found["none"]) + 0.02

    def test_without_noise_all_ways_agree(self) -> None:
        x, y = blobs(600)
        test_x, test_y = blobs(1000, seed=2)
        data = learning.privatize((x, y), features="public", labels=CLASSES, epsilon=(None, 50.0))
        ways = [
            learning.fit_softmax(data.features, data.labels, data.channel, name) for name in ("none", "forward", "backward")
        ]
        scores = [model.accuracy(test_x, test_y) for model in (*ways, learning.fit_moments(data))]
        assert min(scores) > 0.97
        with pytest.raises(dn.InvalidParameter, match="correction"):
            learning.fit_softmax(x, y, np.eye(3), "sideways")  # type: ignore[arg-type]
        with pytest.raises(dn.OutsideDomain, match="rows of 40"):
            ways[0].predict(np.zeros((2, 3)))

    def test_taking_the_noise_out_of_squares_helps(self) -> None:
        """Classes that differ along a direction of little variance: only a Gram matrix without the noise finds it."""
        random = np.random.default_rng(3)

        def sample(n: int) -> tuple[Any, Any]:
            y = np.arange(n) % 2
            wide = random.normal(0, 1, (n, 6)) * [1.0, 1.0, 1.0, 0.1, 0.1, 0.1]
            wide[:, 0] += 0.35 * (2 * y - 1)
            wide[:, 3] += 0.15 * (2 * y - 1)
            return wide / np.linalg.norm(wide, axis=1, keepdims=True), y

        (x, y), (test_x, test_y) = sample(8000), sample(4000)
        data = learning.privatize(
            (x, y), features=dn.UnitVectors(6), labels=dn.Categories(range(2)), epsilon=(60.0, 4.0), coins=dn.SeededCoins(1)
        )
        plain, moments = learning.fit_moments(data, np.inf), learning.fit_moments(data)
        assert moments.accuracy(test_x, test_y) > plain.accuracy(test_x, test_y) + 0.05
        with pytest.raises(dn.InvalidParameter):
            learning.fit_moments(data, -1.0)

    @pytest.mark.needs("torch")
    def test_losses_in_torch(self) -> None:
        import torch
        from torch.utils.data import DataLoader

        channel = learning.transition(dn.LabelResponse(CLASSES, 1.0))
        logits = torch.tensor(np.random.default_rng(1).normal(size=(5, 3)), requires_grad=True)
        labels = torch.tensor([0, 1, 2, 1, 0])
        p = torch.softmax(logits, dim=1).detach().numpy()
        reported = p @ channel
        expected = -np.log(reported[np.arange(5), labels.numpy()]).mean()
        assert forward_loss(logits, labels, channel).item() == pytest.approx(expected)
        # The mean of the backward loss over what may be reported is the loss of the true label.
        for true in range(3):
            parts = [learning.backward_loss(logits[:1], torch.tensor([z]), channel).item() for z in range(3)]
            assert channel[true] @ parts == pytest.approx(-np.log(p[0, true]))
        identity = np.eye(3)
        plain = torch.nn.functional.cross_entropy(logits, labels)
        for loss in (forward_loss, learning.backward_loss):
            assert loss(logits, labels, identity).item() == pytest.approx(plain.item())
            loss(logits, labels, channel).backward()
        x, y = blobs(64)
        data = learning.privatize((x, y), features=BALL, labels=CLASSES, epsilon=(4.0, 1.0))
        assert len(data.torch()) == len(data) == 64
        features, named = next(iter(DataLoader(data, batch_size=8)))
        assert features.shape == (8, 40) and named.shape == (8,)
        again = learning.privatize(data.torch(), features="public", labels=CLASSES, epsilon=(None, 1.0))
        assert again.features.shape == (64, 40)


def test_numpy_parts_need_no_torch() -> None:
    code = """
import sys
sys.modules["torch"] = sys.modules["flwr"] = sys.modules["sklearn"] = None
import numpy as np, deniable as dn
import deniable_learn as learning
x, y = np.eye(4)[np.arange(40) % 4], np.arange(40) % 4
data = learning.privatize_together((x, y), features=dn.UnitVectors(4), labels=dn.Categories(range(4)), epsilon=8.0)
print(learning.fit_moments(data).weights.shape)
for use in (lambda: learning.forward_loss(None, None, np.eye(2)), lambda: __import__("deniable_learn.federated")):
    try:
        use()
    except dn.MissingExtra as error:
        print("deniable[learn]" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split("\n")[:3] == ["(4, 4)", "True", "True"]
