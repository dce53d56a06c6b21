"""BitRand's figures: rounds are plain training, losses of all lines, numbers from the channel, checks that can fail."""

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable_learn.noisy_labels import transition
from research.bit_formulas import latent_published_epsilon, ome_published_epsilon, published_flips
from research.data.samples import images, texts
from research.papers import Data, Pace
from research.papers.bitrand import about, attack, celeba, claims, elastic, fig10, lines, rounds, theory, training
from research.papers.bitrand.lines import Line, Size, Task
from research.papers.bitrand.rounds import Clients, Layers, learnt

RANDOM = np.random.default_rng(7)
SMALL = Layers(5, 3, 4)
ROWS, LABELS = RANDOM.normal(size=(23, 5)), RANDOM.integers(3, size=23)
TINY = Pace(0.02)


def task(people: int = 200) -> Task:
    return Task(texts(Data(), 1, people), 43, Size(8, 5, 2), "1 0")


def part_of(clients: Clients, place: int) -> tuple[Any, Any, Any]:
    """The samples of one client, their labels, and an equal share for each."""
    own = slice(clients.ends[place - 1] if place else 0, clients.ends[place])
    return clients.rows[own], clients.labels[own], np.full(own.stop - own.start, 1 / (own.stop - own.start), np.float32)


class TestRounds:
    @pytest.mark.parametrize("channel", [None, transition(dn.LabelResponse(dn.Categories(["a", "b", "c"]), 1.0))])
    def test_the_gradient_is_the_derivative_of_the_loss(self, channel: Any) -> None:
        shares, weights = RANDOM.uniform(size=23), RANDOM.normal(size=SMALL.size)  # no constant of zero, where units bend

        def loss(at: Any) -> float:
            scores = SMALL.scores(at, ROWS)  # type: ignore[arg-type]
            p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
            reported = p if channel is None else p @ channel
            return float(-(shares * np.log(reported[np.arange(23), LABELS])).sum())

        found = SMALL.gradient(weights, ROWS, LABELS, shares, channel)  # type: ignore[arg-type]
        steps = 1e-6 * np.eye(SMALL.size)
        slopes = [(loss(weights + step) - loss(weights - step)) / 2e-6 for step in steps]
        np.testing.assert_allclose(found, slopes, rtol=1e-4, atol=1e-5)

    def test_one_client_is_plain_training(self) -> None:
        """Gradient descent with momentum on all samples, written out."""
        found = rounds.learnt(SMALL, Clients.split(ROWS, LABELS, 23), 6, np.random.default_rng(1))
        weights, speed = SMALL.start(np.random.default_rng(1)), np.zeros(SMALL.size)
        for _ in range(6):
            each = [
                SMALL.gradient(weights, ROWS[k : k + 1].astype(np.float32), LABELS[k : k + 1], np.ones(1, np.float32))
                for k in range(23)
            ]
            speed = rounds.MOMENTUM * speed + np.mean(each, axis=0)
            weights = (weights - rounds.RATE * speed).astype(np.float32)
        np.testing.assert_allclose(found, weights, atol=2e-5)

    def test_every_client_counts_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Clients of different sizes: the mean of their own means, as Algorithm 1 has it, and not of all samples."""
        monkeypatch.setattr(rounds, "LONGEST", 100.0)
        clients = Clients(ROWS.astype(np.float32), LABELS, np.array([2, 20, 23]))
        found = rounds.learnt(SMALL, clients, 4, np.random.default_rng(1))
        reported = rounds.learnt_from_reports(SMALL, clients, 4, np.random.default_rng(1), lambda all: all.mean(axis=0))
        pooled = rounds.learnt(SMALL, Clients.split(ROWS, LABELS, 23), 4, np.random.default_rng(1))
        np.testing.assert_allclose(found, reported, atol=2e-5)
        assert np.abs(found - pooled).max() > 1e-2
        assert sum(clients.shares) == pytest.approx(1) and len(clients) == 3

    def test_long_gradients_are_cut(self) -> None:
        rows = np.array([[3.0, 4.0], [0.3, 0.4]], np.float32)
        np.testing.assert_allclose(rounds.cut(rows), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)

    def test_the_gradients_of_all_clients_are_those_of_each(self) -> None:
        clients = Clients(ROWS.astype(np.float32), LABELS, np.array([2, 12, 20, 23]))
        weights = SMALL.start(np.random.default_rng(3))
        alone = [SMALL.gradient(weights, *part_of(clients, place)) for place in range(4)]
        np.testing.assert_allclose(SMALL.gradients(weights, *clients.padded()), alone, atol=1e-6)

    @pytest.mark.needs("flwr")
    def test_flower_gives_the_same_weights(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its FedAvg over clients that each take one step: without momentum the rounds of the figures."""
        from deniable_learn.federated import local_grid
        from deniable_learn.federated.flower import (
            Array,
            ArrayRecord,
            ClientApp,
            FedAvg,
            Message,
            MetricRecord,
            RecordDict,
        )

        monkeypatch.setattr(rounds, "MOMENTUM", 0.0)
        clients, app = Clients(ROWS.astype(np.float32), LABELS, np.array([2, 12, 20, 23])), ClientApp()

        @app.train()  # type: ignore[untyped-decorator]
        def train(message: Any, context: Any) -> Any:
            own, weights = part_of(clients, context.node_config["place"]), message.content["arrays"]["w"].numpy()
            gradient = SMALL.gradient(weights, *own)
            content = {
                "arrays": ArrayRecord({"w": Array(np.asarray(weights - rounds.RATE * gradient, np.float32))}),
                "metrics": MetricRecord({"num-examples": 1}),
            }
            return Message(RecordDict(content), reply_to=message)

        start = ArrayRecord({"w": Array(SMALL.start(np.random.default_rng(3)))})
        with local_grid(app, [{"place": k} for k in range(4)]) as grid:
            result = FedAvg(fraction_evaluate=0.0).start(grid, start, num_rounds=3)
        ours = rounds.learnt(SMALL, clients, 3, np.random.default_rng(3))
        np.testing.assert_allclose(result.arrays["w"].numpy(), ours, atol=2e-5)

    def test_it_learns(self) -> None:
        held = images(Data(), 1, 600)
        own = Task(held, 227, Size(32, 40, 2), "1 0")
        scores, cost = lines.outcome(own, training.NOISELESS, 0.0)
        assert training.scored(scores, held.test_right.astype(np.int64))[0] > 80 and math.isinf(cost)
        assert training.scored(lines.outcome(own, training.RANDOM, 0.0)[0], held.test_right.astype(np.int64))[0] < 20


class TestLines:
    """What every line truly costs, from the mechanisms that ran."""

    def test_features_by_codes(self) -> None:
        own = task()
        size = own.held.rows.shape[1]
        _, cost = lines.outcome(own, Line("features", "BitRand"), 1.0)
        assert cost == pytest.approx(dn.BitRand.as_published(size, lines.BITS, 1.0).loss().epsilon()) and cost > 100
        _, more = lines.outcome(own, Line("features", "BitRand", 2.5), 1.0)
        assert more - cost == pytest.approx(2.5, abs=1e-6)
        _, noisy = lines.outcome(own, Line("features", "BitRand", 2.5, laplace=True), 1.0)
        assert 0 < noisy - cost < 2.5  # the largest of noisy entries discloses less than the noise paid for

    @pytest.mark.parametrize("name", list(lines.SCALARS))
    def test_features_by_numbers(self, name: str) -> None:
        _, cost = lines.outcome(task(), Line("features", name), 2.0)
        assert 1.99 < cost <= 2.0 + 1e-9

    @pytest.mark.parametrize(("what", "name"), [("gradients", "HM"), ("anonymized", "DM"), ("anonymized", "LDP-FL")])
    def test_gradients(self, what: str, name: str) -> None:
        own = task()
        _, cost = lines.outcome(own, Line(what, name), 2.0)
        assert cost == pytest.approx(2.0 if what == "gradients" else 2.0 * own.size.rounds, rel=1e-3)

    def test_without_any_accumulation(self) -> None:
        own = task()
        _, cost = lines.outcome(own, Line("unlinked", "LDP-FL"), 2.0)
        assert cost == pytest.approx(2.0 * own.size.rounds * own.layers.size, rel=1e-6)

    @pytest.mark.parametrize("name", [lines.OURS_RAW, lines.OURS_AWARE, lines.OURS_ONE])
    def test_ours_is_certified(self, name: str) -> None:
        assert 0.99 < lines.outcome(task(), Line("ours", name), 1.0)[1] <= 1.0

    def test_ours_at_the_true_epsilon_costs_no_more_than_bitrand(self) -> None:
        own = task()
        (_, ours), (_, theirs) = (
            lines.outcome(own, Line(*what), 1.0) for what in (("ours", lines.OURS_FAIR), ("features", "BitRand"))
        )
        assert 0.999 * theirs < ours <= theirs

    def test_the_range_of_gradients_is_public(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The same for other people, whatever their gradients."""
        seen = []

        def spied(domain: dn.Interval, epsilon: float) -> Any:
            seen.append((domain.low, domain.high, epsilon))
            return dn.Duchi(domain, epsilon)

        monkeypatch.setattr(lines, "Duchi", spied)
        for seed in (1, 2):
            lines.outcome(Task(texts(Data(), seed, 200), 43, Size(8, 5, 2), "1 0"), Line("unlinked", "LDP-FL"), 1.0)
        assert seen[0] == seen[1]

    def test_codes_are_read_as_they_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With a code that never flips a bit, numbers come back up to the last bit."""
        own = task()
        size = own.held.rows.shape[1]
        sure = dn.BitRand(dn.SignMagnitude(size, lines.BITS), 1.0, (Fraction(1),) * lines.BITS, (Fraction(0),) * lines.BITS)
        monkeypatch.setattr(dn.BitRand, "as_published", classmethod(lambda cls, *given: sure))
        rows, _ = lines.coded(own, "BitRand", 1.0)
        assert np.abs(rows - own.held.rows).max() <= 2.0 ** (1 - lines.BITS)

    def test_sampled_means_are_unbiased(self) -> None:
        """40,000 rows with fixed coins, within six standard errors: a false alarm once in 5e7 for the five numbers."""
        made, row = dn.Duchi(dn.Interval(-1, 1, clip=True), 2.0), np.array([0.5, -0.25, 0.0, 1.0, -1.0])
        rows = np.tile(row, (40_000, 1))
        found = lines.sampled_mean(made, rows, 2, dn.SeededCoins(3), np.random.default_rng(3))
        spread = math.sqrt(5 / 2) * 1.32 / math.sqrt(40_000)  # (d / k) C^2 at most, C = coth(1)
        assert np.abs(found - row).max() < 6 * spread


class TestNumbers:
    @pytest.mark.parametrize(("r", "bits", "alpha"), [(1, 2, 7.0), (100, 10, 7.0), (3, 4, 100.0), (10, 10, 1.0)])
    def test_the_theorems_from_the_channel_are_the_printed_formulas(self, r: int, bits: int, alpha: float) -> None:
        latent, ome = (theory.claimed_epsilon(name, r, bits, 0.5, alpha) for name in ("LATENT", "OME"))
        assert latent == pytest.approx(latent_published_epsilon(r, bits, 0.5, alpha), rel=1e-9)
        assert ome == pytest.approx(ome_published_epsilon(r, bits, 0.5, alpha), rel=1e-9)

    @pytest.mark.parametrize("name", ["f-RR", "LATENT", "OME"])
    def test_true_losses_are_those_of_all_coins(self, name: str) -> None:
        made = {
            "f-RR": lambda: dn.BitRand.as_published(2, 2, 1.0),
            "LATENT": lambda: dn.BitRand.latent(2, 2, 1.0, theory.LATENT),
            "OME": lambda: dn.BitRand.ome(2, 2, 1.0, theory.OME),
        }[name]()
        assert theory.true_epsilon(name, 2, 2, 1.0) == pytest.approx(dn.certify(made).loss.epsilon(), rel=1e-9)

    @pytest.mark.parametrize(("name", "true"), [("LATENT", 0.1914), ("OME", 0.25)])
    def test_corrected_rivals(self, name: str, true: float) -> None:
        """They cost epsilon by the theorems, and far less in truth."""
        own = theory.corrected(name, 384, 10, 1.0)
        assert theory.claimed_epsilon(name, 384, 10, own) == pytest.approx(1.0, rel=1e-9)
        assert theory.true_epsilon(name, 384, 10, own) == pytest.approx(true, rel=1e-3)
        assert theory.corrected("f-RR", 384, 10, 1.0) == 1.0

    def test_stated_numbers_follow_the_channel(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Another channel, and what was matched is no longer: nothing is typed in."""
        bits = [each for each in about.STATED if each.place in ("Appendix I", "Appendix J", "Section 5")]
        before = {each.what: (each.ours(), each.matched) for each in bits}
        real: Callable[..., tuple[list[float], list[float]]] = theory.chances

        def planted(*given: Any) -> tuple[list[float], list[float]]:
            ones, zeros = real(*given)
            return [one**1.2 for one in ones], zeros

        monkeypatch.setattr(theory, "chances", planted)
        for each in bits:
            assert each.ours() != pytest.approx(before[each.what][0], rel=1e-6, abs=0), each.what
            assert not (each.matched and before[each.what][1]), each.what

    @pytest.mark.parametrize(
        ("first", "second", "p"), [([1, 2, 3], [2, 3, 4], 0.2878641), ([0, 0, 1, 1], [5, 5, 6, 6], 1.804245e-05)]
    )
    def test_the_t_test(self, first: list[float], second: list[float], p: float) -> None:
        assert theory.t_test(first, second) == pytest.approx(p, rel=1e-3)

    @pytest.mark.needs("scipy")
    def test_the_t_test_is_the_usual_one(self) -> None:
        from scipy import stats

        for size in (3, 10, 60):
            first, second = RANDOM.normal(size=size), RANDOM.normal(2, 1, size + 3)
            assert theory.t_test(first, second) == pytest.approx(float(stats.ttest_ind(first, second).pvalue), rel=1e-8)

    def test_tables_of_the_paper(self) -> None:
        assert [round(celeba.gain(what), 2) for what in celeba.RIVALS] == [1.66, 1.05, 1.28]
        assert all(len(own) == 3 and min(own) > 45 for table in celeba.RIVALS.values() for own in table.values())


class Made(training.Study):
    """A study whose scores are given: the line's, and the same a little off in the other repetition."""

    scores: dict[str, float]

    def once(self, data: str, line: Line, epsilon: float, repeat: int, times: int = 1) -> tuple[float, float, float]:
        score = self.scores.get(line.name, 25.0) + 0.01 * repeat + 0.1 * epsilon * (line.name == "BitRand")
        score -= 10 * (line.name == "BitRand" and data == "digits")
        return score, score, 1000.0 if line.name.startswith("BitRand") else epsilon


def judged(what: str, **scores: float) -> dict[str, bool]:
    made = Made(True, 1, Data(), TINY)
    made.scores = {key.replace("_", " "): value for key, value in scores.items()}
    result = claims.on_inputs(made, what, "accuracy %")
    return {check.claim: check.holds for check in result.checks}


class TestClaims:
    def test_a_study_as_in_the_paper(self) -> None:
        """All statements on AG hold for the paper's own numbers, but for the promise."""
        found = judged(
            "features", BitRand=72.46, OME=26.43, **{"BitRand,_labels_at_1": 70.0, "BitRand,_labels_at_2.5": 71.0}
        )
        assert [claim for claim, holds in found.items() if not holds] == [
            "points by which BitRand is above OME at epsilon 1 on FEMNIST",
            "BitRand keeps epsilon",
        ]

    def test_planted_errors_are_seen(self) -> None:
        right = {"BitRand": 72.46, "OME": 26.43}
        noisy = {"BitRand,_labels_at_1": 70.0, "BitRand,_labels_at_2.5": 71.0}
        for planted, claim in (
            ({**right, **noisy, "BitRand": 60.0}, "points by which BitRand is above OME at epsilon 1 on AG"),
            ({**right, **noisy, "DM": 30.0}, "OME is the best rival at epsilon 1 on both sets"),
            ({**right, **noisy, "DM": 80.0}, "at a claimed epsilon of 1 BitRand is above all rivals on both sets"),
            ({**right, **noisy, "BitRand": 26.43}, "at a claimed epsilon of 1 BitRand is above all rivals on both sets"),
            (right, "with labels at 1 and 2.5 too BitRand is above the rivals in most cases at epsilon 1"),
        ):
            assert not judged("features", **planted)[claim], claim

    def test_rivals_that_guess_are_tied(self) -> None:
        """The highest of many guesses is no better than the others; one that is really above them is."""
        right = {"BitRand": 72.46, "OME": 20.0, "BitRand,_labels_at_1": 70.0, "BitRand,_labels_at_2.5": 71.0}
        tied, beaten = (
            next(item for item in judged("features", **right, **more).items() if item[0].startswith("OME is the best rival"))
            for more in ({}, {"DM": 25.5})
        )
        assert tied[1] and "all 14 are tied" in tied[0] and not beaten[1]
        assert claims.luck(4, 16) == pytest.approx(6.8952, abs=1e-3) and claims.luck(2, 1) == pytest.approx(6.3138, abs=1e-3)

    @pytest.mark.parametrize(("public", "sure"), [(0.0, True), (99.0, False)])
    def test_wrong_labels_that_help(self, public: float, sure: bool) -> None:
        """Where label-RR is behind, the cause is computed if labels as they are would be behind too."""
        made = Made(True, 1, Data(), TINY)
        made.scores = {"f-RR & Label-Laplace, labels at 10": 60.0, "BitRand, labels at 10": 59.0, "BitRand": public}
        found = claims.on_labels(made, "AUC %").checks[0]
        assert (found.holds, found.sure) == (False, sure) and "with no label changed at all" in found.line

    def test_gains_have_the_error_of_the_repetitions(self) -> None:
        made = Made(True, 1, Data(), TINY)
        made.scores = {"BitRand": 50.0}
        gain, error = made.gain("AG", training.BITRAND[0], training.CODED[1], (1.0,), "AUC %")
        assert gain == pytest.approx(25.1) and error == pytest.approx(0.0, abs=1e-9)

    def test_the_papers_gaps_against_each_other(self) -> None:
        assert [claims._smaller(what, place).holds for what in ("gradients", "anonymized") for place in (0, 1)] == [
            False,
            True,
            False,
            False,
        ]

    def test_all_lines_of_the_paper_are_there(self) -> None:
        names = {line.name for line in (*training.FEATURES, *training.BITRAND, *training.ENDS)}
        assert names >= {"DM", "PM", "HM", "Three-outputs", "PM-SUB", "LATENT", "OME", "BitRand", "noiseless", "random"}
        assert {f"BitRand, labels at {labels:g}" for labels in (1, 2.5, 5, 10)} <= names
        assert "LDP-FL [gradients, anonymizer]" in {line.name for line in training.ANONYMIZED}

    @pytest.mark.xdist_group("figures of bitrand")  # whose trainings are kept
    def test_a_run_is_the_same_again(self) -> None:
        """Anew, beside what is kept."""
        kept, anew = training.study(True, 1, Data(), TINY), training.Study(True, 1, Data(), TINY)
        made = [claims.on_labels(study, "AUC %") for study in (kept, anew)]
        assert kept.made is not anew.made and made[0].csv() == made[1].csv() and made[0].verdict == made[1].verdict


class TestTheory:
    def test_flips_that_depend_on_the_features_are_seen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def checks() -> list[bool]:
            rows = elastic.table((10, 1000), (10,), (1.0,), "features")
            return [check.holds for check in elastic.feature_checks(rows, (10,), (1.0,))]

        assert checks() == [True, True, False]
        monkeypatch.setattr(
            elastic, "published_flips", lambda r, *rest: [flip * r**-0.1 for flip in published_flips(r, *rest)]
        )
        assert checks() == [False, True, False]

    def test_bits_that_rise_are_named(self) -> None:
        rows = elastic.table((1000,), (5, 10, 20), (1.0,), "bits")
        lowered, raised, *_ = elastic.bit_checks(rows, (1.0,))
        assert "the lowest integer bit's goes from" in lowered.otherwise
        assert "the highest fraction bit's goes from" in raised.otherwise

    def test_ours_in_figure_10_is_as_accurate_as_its_formula(self) -> None:
        """768 numbers with fixed coins: their mean square has a relative error of 0.05, and six of them are allowed."""
        for low in (-1.0, 0.0):
            found = {name: error for name, error, _ in fig10.errors(low, 1.0, 4.0, 1)}
            assert (found["ours, measured"] / found["ours: sampled coordinates"]) ** 2 == pytest.approx(1, abs=0.31)

    def test_a_result_can_hold_everywhere(self) -> None:
        """The promise is the only thing that a mechanism which keeps it would change."""
        assert elastic.cost_check(elastic.table((10,), (10,), (1.0,), "features"), "features").holds


class TestAttack:
    def test_one_report_identifies_a_person(self) -> None:
        """At a claimed epsilon of 1 with 100 numbers; e / 200 = 1.4 % is what a true epsilon of 1 allows."""
        rows = np.random.default_rng(1).uniform(-0.9, 0.9, (200, 100))
        made = dn.BitRand.as_published(100, 10, 1.0)
        assert attack.identified(made, attack.reported_bits(made, rows[:50]), rows) > 0.9

    def test_numbers_are_read_without_bias(self) -> None:
        """The mean of 2,000 reports of 20 equal rows lies within six standard errors: false alarm below 1e-7."""
        row = np.linspace(-0.9, 0.9, 20)
        made = dn.BitRand.as_published(20, 10, 1.0)
        found = attack.unbiased(made, attack.reported_bits(made, np.tile(row, (2000, 1))))
        assert (np.abs(found.mean(axis=0) - row) < 6 * found.std(axis=0) / 2000**0.5 + 2**-9).all()

    def test_without_noise_the_image_comes_back(self) -> None:
        rows = np.random.default_rng(2).normal(size=(50, 8))
        assert np.allclose(attack.recovered(rows[:5], rows, np.zeros(8)), rows[:5], atol=0.01)


def test_layers_without_constants_keep_none() -> None:
    layers = Layers(3, 2, 4, constants=False)
    random = np.random.default_rng(1)
    clients = Clients.split(random.normal(size=(30, 3)), np.arange(30) % 2, 10)
    weights = learnt(layers, clients, 5, random)
    assert all((matrix[-1] == 0).all() and matrix[:-1].any() for matrix in layers.matrices(weights))


def test_trainings_are_kept_and_taken_up(tmp_path: Path) -> None:
    pace = Pace(0.02, kept=tmp_path)
    first = training.Study(True, 1, Data(), pace).once("digits", training.NOISELESS, 1.0, 0)
    again = training.Study(True, 1, Data(), pace)
    assert list(again.made.values()) == [first] and not training.Study(True, 2, Data(), pace).made
