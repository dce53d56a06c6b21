"""Federated rounds: what leaves a client, what it costs, and what the server makes of it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn

pytestmark = pytest.mark.needs("flwr")

SECRET = 0.123456789


def plan(dimensions: int = 6, epsilon: float = 8.0, rounds: int = 4, clip: float = 1.0, method: str = "duchi") -> Any:
    from deniable_learn.federated import UpdatePlan

    return UpdatePlan(dimensions, epsilon, rounds, clip, method)


def model(numbers: Any) -> Any:
    from deniable_learn.federated.flower import Array, ArrayRecord

    row = np.asarray(numbers, np.float64)
    return ArrayRecord({"a": Array(row[:4].reshape(2, 2)), "b": Array(row[4:])})


def client_app(mod: Any, update: Callable[[int], Any], touched: list[int] | None = None) -> Any:
    """An app that trains by adding a fixed update, and discloses all it should not."""
    from deniable_learn.federated.flower import ClientApp, ConfigRecord, Message, MetricRecord, RecordDict

    app = ClientApp(mods=[mod])

    @app.train()  # type: ignore[untyped-decorator]
    def train(message: Any, context: Any) -> Any:
        if touched is not None:
            touched.append(context.node_id)
        old = np.concatenate([array.numpy().ravel() for array in message.content["arrays"].values()])
        content = {
            "arrays": model(old + update(context.node_id)),
            "metrics": MetricRecord({"num-examples": 4711, "loss": SECRET}),
            "extra": ConfigRecord({"name": "planted leak"}),
        }
        return Message(RecordDict(content), reply_to=message)

    @app.evaluate()  # type: ignore[untyped-decorator]
    def evaluate(message: Any, context: Any) -> Any:
        if touched is not None:
            touched.append(-context.node_id)
        return Message(RecordDict({"metrics": MetricRecord({"num-examples": 1, "accuracy": SECRET})}), reply_to=message)

    return app


def run(strategy: Any, app: Any, clients: int, rounds: int, start: Any = None) -> tuple[Any, Any]:
    from deniable_learn.federated import local_grid

    with local_grid(app, [{"partition-id": k} for k in range(clients)]) as grid:
        result = strategy.start(grid, model(np.zeros(6)) if start is None else start, num_rounds=rounds)
    return result, grid


def as_bytes(message: Any) -> bytes:
    """All that the network would carry of a reply's content."""
    from flwr.common.serde import recorddict_to_proto

    return bytes(recorddict_to_proto(message.content).SerializeToString())


class TestPlan:
    def test_rounds_compose_exactly_and_fit_the_budget(self) -> None:
        for method in ("unit-axes", "unit-codes", "duchi", "piecewise", "hybrid", "three-outputs", "ldp-fl", "duchi-vector"):
            made = plan(rounds=3, epsilon=0.3, method=method)
            one = made.mechanism.loss().odds
            assert made.loss().odds == one**3 and made.loss(2).odds == one**2 and isinstance(one, Fraction)
            assert 0.3 * (1 - 1e-11) < made.loss().epsilon() <= 0.3
            assert made.loss().answers == 3
            if method in ("unit-axes", "duchi", "ldp-fl", "duchi-vector"):  # the others are slow, and certified elsewhere
                assert dn.certify(made.mechanism).holds

    @pytest.mark.parametrize("method", ["brr", "coarsened"])
    def test_releases_are_certified_and_said_to_be_biased(self, method: str) -> None:
        made = plan(method=method, epsilon=4.0)
        assert dn.certify(made.mechanism).holds and made.loss().epsilon() <= 4.0 and not made.unbiased
        reports = [made.read(made.perturb(np.full(6, 0.5), dn.SeededCoins(k))) for k in range(300)]
        assert (made.mean(reports) > 0).all() and (made.mean(reports) < 1).all()

    def test_privunit_rests_on_its_theorem(self) -> None:
        made = plan(method="privunit")
        assert made.loss().proof == "theorem" and made.unbiased

    @pytest.mark.parametrize("method", ["duchi", "three-outputs", "duchi-vector", "ldp-fl"])
    def test_the_mean_is_unbiased_on_the_exact_law(self, method: str) -> None:
        """Every combination of coins for one client: the mean of what the server adds is the clipped update."""
        from deniable_learn.federated import UpdatePlan

        made = UpdatePlan(2, 2.0, 1, 0.5, method, coordinates=1 if method in ("duchi", "three-outputs") else 0)
        law = dn.law(dn.mechanism_from_json(made.mechanism.to_json()), made.mechanism.domain.size - 1)
        domain = made.mechanism.domain
        assert isinstance(domain, dn.Features)
        total = np.zeros(2)
        for report, chance in law.items():
            rows = np.frombuffer(bytes.fromhex(report) if isinstance(report, str) else report, np.uint8)[None]
            columns = made.mechanism.layout.columns(rows)
            total += float(chance) * made.mean([dn.Reports(made.mechanism.fingerprint, made.mechanism.layout, columns)])
        np.testing.assert_allclose(total, domain.answer(domain.size - 1), atol=1e-12)
        assert domain.answer(domain.size - 1) == (0.5, 0.5)

    @pytest.mark.parametrize("method", ["unit-axes", "unit-codes", "privunit", "piecewise", "hybrid"])
    def test_the_mean_of_many_is_near_the_update(self, method: str) -> None:
        """400 reports with fixed coins, within six standard errors of the measured spread: a false alarm once in 5e8."""
        made, update = plan(method=method, epsilon=16.0), np.array([0.5, -0.25, 0.0, 0.125, 0.25, -0.5])
        reports = [made.read(made.perturb(update, dn.SeededCoins(k))) for k in range(400)]
        singles = np.array([made.mean([report]) for report in reports])
        assert (np.abs(singles.mean(axis=0) - update) < 6 * singles.std(axis=0) / 400**0.5).all()
        np.testing.assert_allclose(made.mean(reports), singles.mean(axis=0), atol=1e-6)

    def test_updates_are_clipped_to_the_public_bound(self) -> None:
        made = plan(method="unit-axes", clip=2.0)
        inside, outside = np.array([1.0, 1, 1, 0, 0, 0]), np.array([300.0, 0, 400, 0, 0, 0])
        np.testing.assert_allclose(made.clipped(inside)[0, :6], inside / 2)
        np.testing.assert_allclose(made.clipped(outside)[0], [0.6, 0, 0.8, 0, 0, 0, 0], atol=1e-7)
        for row in (inside, outside, np.zeros(6), np.full(6, 1e300), np.full(6, np.nan), np.full(6, np.inf)):
            assert np.linalg.norm(made.clipped(row)) == pytest.approx(1)
            assert len(made.perturb(row, dn.SeededCoins(1))) == len(made.perturb(inside, dn.SeededCoins(1)))
        np.testing.assert_allclose(plan(method="piecewise").clipped(outside)[0], [1, 0, 1, 0, 0, 0])

    @pytest.mark.parametrize(
        "bad",
        [
            {"epsilon": 0.0},
            {"rounds": 0},
            {"rounds": True},
            {"clip": 0.0},
            {"clip": float("inf")},
            {"clip": float("nan")},
            {"method": "gaussian"},
            {"dimensions": 0},
            {"epsilon": 1e-6, "rounds": 10},
        ],
    )
    def test_plans_that_make_no_sense(self, bad: dict[str, Any]) -> None:
        with pytest.raises(dn.InvalidParameter):
            plan(**bad)

    def test_other_updates_and_messages_are_refused(self) -> None:
        made = plan()
        with pytest.raises(dn.OutsideDomain, match="6 numbers"):
            made.perturb(np.zeros(5))
        with pytest.raises(dn.SurveyMismatch):
            made.read(plan(epsilon=7.0).perturb(np.zeros(6)))
        two = made.mechanism.pack(made.mechanism.perturb(np.zeros((2, 6))))
        with pytest.raises(dn.InvalidParameter, match="one report"):
            made.read(two)
        with pytest.raises(dn.EmptyBatch):
            made.mean([])


class TestRounds:
    def test_twenty_clients_learn_a_mean(self) -> None:
        """The model moves by the mean update; fixed coins, and a bound of eight standard errors."""
        from deniable_learn.federated import PrivateFedAvg, PrivateUpdates

        made = plan(epsilon=80.0, rounds=2, method="piecewise")
        strategy, mod = PrivateFedAvg(made), PrivateUpdates(made, coins=dn.SeededCoins(3))
        result, grid = run(strategy, client_app(mod, lambda node: np.full(6, 0.5)), 20, 2)
        moved = np.concatenate([array.numpy().ravel() for array in result.arrays.values()])
        spread = (2 * made.mechanism.worst_variance() / 20) ** 0.5
        assert (np.abs(moved - 1.0) < 8 * spread).all() and spread < 0.2
        assert [array.numpy().shape for array in result.arrays.values()] == [(2, 2), (2,)]
        assert strategy.privacy_loss().odds == made.loss().odds == mod.spent(grid.contexts[1]).odds
        assert result.train_metrics_clientapp[1]["reports"] == 20 and strategy.refused == 0

    def test_nothing_but_the_report_leaves_a_client(self) -> None:
        from deniable_learn.federated import PrivateFedAvg, PrivateUpdates
        from deniable_learn.federated.flower import ConfigRecord

        made = plan()
        update = np.array([SECRET, 0.1, 0.2, 0.3, 0.4, 0.5])
        _, grid = run(PrivateFedAvg(made), client_app(PrivateUpdates(made), lambda node: update), 5, 2)
        assert len(grid.sent) == 10
        for reply in grid.sent:
            assert list(reply.content) == ["deniable"] and isinstance(reply.content["deniable"], ConfigRecord)
            assert list(reply.content["deniable"]) == ["report"]
            report = reply.content["deniable"]["report"]
            assert len(made.read(report)) == 1 and len(report) == len(made.perturb(np.zeros(6)))
            carried = as_bytes(reply)
            assert len(carried) < len(report) + 40  # the two names, and their lengths
            for leak in (b"num-examples", b"loss", b"planted", b"metrics", b"arrays", b"config"):
                assert leak not in carried
            for number in (SECRET, *update):
                assert np.float64(number).tobytes() not in carried and np.float32(number).tobytes() not in carried

    def test_without_the_mod_the_leak_is_there(self) -> None:
        """So that the test above can fail."""

        def through(message: Any, context: Any, call_next: Any) -> Any:
            return call_next(message, context)

        from deniable_learn.federated import PrivateFedAvg

        strategy = PrivateFedAvg(plan())
        result, grid = run(strategy, client_app(through, lambda node: np.full(6, SECRET)), 2, 1)
        assert b"num-examples" in as_bytes(grid.sent[0]) and np.float64(SECRET).tobytes() in as_bytes(grid.sent[0])
        assert strategy.refused == 2 and not result.arrays  # and the server takes none of it

    def test_rounds_past_the_budget_are_refused_before_data_are_touched(self) -> None:
        from deniable_learn.federated import PrivateFedAvg, PrivateUpdates, local_grid

        made, touched = plan(rounds=2), list[int]()
        app = client_app(PrivateUpdates(made), lambda node: np.zeros(6), touched)
        with local_grid(app, [{}] * 3) as grid:
            PrivateFedAvg(made).start(grid, model(np.zeros(6)), num_rounds=2)
            assert len(touched) == 6
            greedy = PrivateFedAvg(plan(rounds=9))  # a server with a plan of its own
            for number in (3, 4):
                list(grid.send_and_receive(greedy.configure_train(number, model(np.zeros(6)), _config(), grid)))
            assert len(touched) == 6 and all(reply.has_error() for reply in grid.sent[6:])
            assert "has spent it" in grid.sent[-1].error.reason
            # A round that was answered is answered again with the same report, and costs nothing.
            again = list(grid.send_and_receive(greedy.configure_train(2, model(np.ones(6)), _config(), grid)))
            old = {reply.metadata.src_node_id: as_bytes(reply) for reply in grid.sent[3:6]}
            assert len(touched) == 6 and {r.metadata.src_node_id: as_bytes(r) for r in again} == old
        with pytest.raises(dn.InvalidParameter, match="budget for 2 rounds; 3 were requested"):
            run(PrivateFedAvg(made), app, 2, 3)

    def test_a_ledger_with_a_file_outlives_a_run(self, tmp_path: Path) -> None:
        from deniable_learn.federated import PrivateFedAvg, PrivateUpdates

        made, touched = plan(epsilon=2.0, rounds=2), list[int]()
        for runs, expected in ((1, 2), (2, 3)):
            ledger = dn.Ledger(tmp_path / "ledger.json", lifetime=3.0)
            app = client_app(PrivateUpdates(made, ledger), lambda node: np.zeros(6), touched)
            if runs == 2:  # another run of the same server has another name
                kept = json.loads((tmp_path / "ledger.json").read_text())
                kept["surveys"] = {f"other/{name}": entry for name, entry in kept["surveys"].items()}
                (tmp_path / "ledger.json").write_text(json.dumps(kept))
            run(PrivateFedAvg(made, min_train_nodes=1, min_available_nodes=1), app, 1, 2)
            assert len(touched) == expected
        assert 2.99 < dn.Ledger(tmp_path / "ledger.json").spent() <= 3.0

    def test_evaluation_and_errors_tell_nothing(self) -> None:
        from deniable_learn.federated import PrivateFedAvg, PrivateUpdates, local_grid
        from deniable_learn.federated.flower import FedAvg

        def fails(node: int) -> Any:
            raise ValueError(f"the secret is {SECRET}")

        made, touched = plan(), list[int]()
        mod = PrivateUpdates(made)
        with local_grid(client_app(mod, fails, touched), [{}] * 2) as grid:
            PrivateFedAvg(made).start(grid, model(np.zeros(6)), num_rounds=1)
            list(grid.send_and_receive(FedAvg().configure_evaluate(1, model(np.zeros(6)), _config(), grid)))
        assert [reply.has_error() for reply in grid.sent] == [True] * 4 and sorted(touched) == [1, 2]
        assert not any(str(SECRET) in reply.error.reason for reply in grid.sent)
        assert "only trains" in grid.sent[-1].error.reason
        with pytest.raises(dn.InvalidParameter, match="do not evaluate"):
            PrivateFedAvg(made, fraction_evaluate=0.5)

    def test_damaged_and_foreign_replies_are_left_out(self) -> None:
        from deniable_learn.federated import PrivateFedAvg, PrivateUpdates, local_grid
        from deniable_learn.federated.flower import ConfigRecord, RecordDict

        made = plan()
        strategy = PrivateFedAvg(made)
        with local_grid(client_app(PrivateUpdates(made), lambda node: np.zeros(6)), [{}] * 5) as grid:
            replies = list(grid.send_and_receive(strategy.configure_train(1, model(np.zeros(6)), _config(), grid)))
        good = replies[0].content["deniable"]["report"]
        contents = [
            {"deniable": ConfigRecord({"report": good[:-1]})},
            {"deniable": ConfigRecord({"report": plan(epsilon=7.0).perturb(np.zeros(6))})},
            {"deniable": ConfigRecord({"report": good, "more": 1})},
            {"deniable": ConfigRecord({"report": good}), "more": ConfigRecord({"x": 1})},
        ]
        for reply, content in zip(replies[1:], contents, strict=True):
            reply.content = RecordDict(content)
        arrays, metrics = strategy.aggregate_train(1, replies)
        assert arrays is not None and metrics is not None and metrics["reports"] == 1 and strategy.refused == 4

    def test_an_anonymizer_is_never_silent(self) -> None:
        from deniable.privacy.shuffle import shuffled
        from deniable_learn.federated import Anonymizer, PrivateFedAvg

        made = plan(epsilon=4.0, rounds=4, method="duchi-vector")
        with pytest.raises(dn.InvalidParameter, match="explicitly"):
            PrivateFedAvg(made, anonymizer=True)  # type: ignore[arg-type]
        with pytest.raises(dn.InvalidParameter, match="nobody is known to mix"):
            PrivateFedAvg(made).shuffled_loss()
        for clients, delta in ((0, 0.1), (5, 0.0), (True, 0.5)):
            with pytest.raises(dn.InvalidParameter):
                Anonymizer(clients, delta)
        strategy = PrivateFedAvg(made, anonymizer=Anonymizer(10_000, 4e-6))
        one = shuffled(made.mechanism, 10_000, 1e-6)
        loss = strategy.shuffled_loss()
        assert loss.epsilon == pytest.approx(4 * one.epsilon) and loss.epsilon < 1 and loss.delta == 4e-6
        assert loss.local == made.loss().epsilon() and "only if a trusted shuffler mixes" in str(loss)
        assert strategy.privacy_loss().odds == made.loss(1).odds  # which does not know of any mixing
        with pytest.raises(dn.InvalidParameter, match="models of 6 numbers"):
            run(PrivateFedAvg(plan()), None, 2, 1, model(np.zeros(7)))

    def test_what_is_not_a_plan_is_refused(self) -> None:
        from deniable_learn.federated import PrivateFedAvg, PrivateUpdates, local_grid

        for make in (PrivateFedAvg, PrivateUpdates):
            with pytest.raises(dn.InvalidParameter, match="UpdatePlan"):
                make(3)  # type: ignore[arg-type]
        with pytest.raises(dn.InvalidParameter, match="one client"), local_grid(None, []):
            pass


def _config() -> Any:
    from deniable_learn.federated.flower import ConfigRecord

    return ConfigRecord()


@pytest.mark.parametrize("first", ["", "import flwr.app;"])
def test_telemetry_is_off_before_flower_runs(first: str) -> None:
    code = f"""
import os; os.environ.pop("FLWR_TELEMETRY_ENABLED", None)
{first}
import deniable_learn.federated
import flwr.supercore.telemetry as telemetry
print(telemetry.FLWR_TELEMETRY_ENABLED, os.environ["RAY_USAGE_STATS_ENABLED"], os.environ["FLWR_TELEMETRY_ENABLED"])
"""
    settings = {name: value for name, value in os.environ.items() if name != "FLWR_TELEMETRY_ENABLED"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=settings, timeout=300
    )
    assert done.stdout.split() == ["0", "0", "0"]


@pytest.mark.parametrize("method", ["unit-axes", "unit-codes", "privunit", "duchi", "piecewise", "ldp-fl", "duchi-vector"])
def test_noise_is_foreseen(method: str) -> None:
    """By 60 rounds of 10 clients that send no update; within 30 %, false alarms below 1e-6."""
    made, clients = plan(dimensions=5, epsilon=4.0, rounds=2, method=method), 10
    coins, still = dn.SeededCoins(7), np.zeros(5)
    means = [made.mean([made.read(made.perturb(still, coins)) for _ in range(clients)]) for _ in range(60)]
    found = float(np.sqrt(np.mean(np.sum(np.square(means), axis=1))))
    assert found == pytest.approx(made.foresee(clients).noise, rel=0.3)


def test_a_hopeless_plan_says_so() -> None:
    hopeless = plan(dimensions=10_000, epsilon=1.0, rounds=10, method="unit-axes").foresee(100)
    assert hopeless.hopeless and "Hopeless" in str(hopeless) and f"{hopeless.needed:,}" in str(hopeless)
    enough = plan(dimensions=10_000, epsilon=1.0, rounds=10, method="unit-axes").foresee(hopeless.needed)
    assert not enough.hopeless and "Hopeless" not in str(enough) and enough.ratio == pytest.approx(10**0.5, rel=1e-3)
    with pytest.raises(dn.InvalidParameter, match="biased"):
        plan(method="brr").foresee(100)
    with pytest.raises(dn.InvalidParameter, match="at least one"):
        plan().foresee(0)
