"""Filters for NVFLARE: what leaves a client, what it may spend, and what the server averages."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn

pytestmark = pytest.mark.needs("nvflare")

SECRET = 0.123456789
SHAPES = {"weights": [2, 2], "bias": [3]}


def settings(**more: Any) -> dict[str, Any]:
    return {"shapes": SHAPES, "epsilon": 8.0, "rounds": 2, "clip": 1.0, "method": "duchi", **more}


def context(site: str = "site-1", job: str = "job-1") -> Any:
    from nvflare.apis.fl_constant import ReservedKey
    from nvflare.apis.fl_context import FLContext

    made = FLContext()
    made.put(ReservedKey.IDENTITY_NAME, site, private=False, sticky=False)
    made.put(ReservedKey.RUN_NUM, job, private=False, sticky=False)
    return made


def update(value: float = SECRET) -> dict[str, np.ndarray]:
    return {name: np.full(shape, value, np.float32) for name, shape in SHAPES.items()}


def result(kind: str = "WEIGHT_DIFF", data: Mapping[str, Any] | None = None) -> Any:
    """What an executor returns, with all that should not leave."""
    from nvflare.apis.dxo import DXO

    made = DXO(kind, dict(update() if data is None else data), {"NUM_STEPS_CURRENT_ROUND": 17, "accuracy": SECRET})
    shareable = made.to_shareable()
    shareable.set_header("note", SECRET)
    shareable["other"] = SECRET
    return shareable


def client(folder: Path, **more: Any) -> Any:
    from deniable_learn.nvflare_filters import PrivateResults

    return PrivateResults(str(folder / "{site}.json"), coins=dn.SeededCoins(1), **settings(**more))


def server(**more: Any) -> Any:
    from deniable_learn.nvflare_filters import DecodedReports

    return DecodedReports(**settings(**more))


class TestClient:
    def test_a_report_leaves_and_nothing_else(self, tmp_path: Path) -> None:
        from nvflare.apis.dxo import from_shareable

        passed = client(tmp_path).process(result(), context())
        sent = from_shareable(passed)
        assert sent.data_kind == "APP_DEFINED" and set(sent.data) == {"report"} and not sent.meta
        assert str(SECRET) not in repr(dict(passed)) and "17" not in repr(sent.meta) and "other" not in passed
        assert len(client(tmp_path).plan.read(sent.data["report"])) == 1

    @pytest.mark.parametrize(
        ("kind", "data"),
        [
            ("WEIGHTS", None),
            ("METRICS", {"accuracy": SECRET}),
            ("WEIGHT_DIFF", {"weights": np.zeros((2, 2))}),
            ("WEIGHT_DIFF", {**update(), "more": np.zeros(1)}),
            ("WEIGHT_DIFF", {name: np.zeros(shape, np.int64) for name, shape in SHAPES.items()}),
            ("WEIGHT_DIFF", {"weights": "no array", "bias": object()}),
        ],
    )
    def test_anything_else_is_dropped(self, kind: str, data: Any, tmp_path: Path) -> None:
        passed = client(tmp_path).process(result(kind, data), context())
        assert passed.get_return_code() == "TASK_RESULT_FILTER_ERROR" and str(SECRET) not in repr(dict(passed))
        assert not list(tmp_path.iterdir())  # nothing was spent

    def test_what_is_no_data_exchange_object_is_dropped(self, tmp_path: Path) -> None:
        """NVFLARE's own filters for such objects pass on what is none, and replies with an error code."""
        from nvflare.apis.shareable import Shareable, make_reply

        failed = make_reply("EXECUTION_EXCEPTION", {"reason": SECRET})
        for shareable in (Shareable({"weights": SECRET}), failed):
            passed = client(tmp_path).process(shareable, context())
            assert passed.get_return_code() == "TASK_RESULT_FILTER_ERROR" and str(SECRET) not in repr(dict(passed))

    def test_the_budget_holds_over_jobs_and_restarts(self, tmp_path: Path) -> None:
        codes = [client(tmp_path).process(result(), context(job=f"job-{n}")).get_return_code() for n in range(4)]
        assert codes == ["OK", "OK", "TASK_RESULT_FILTER_ERROR", "TASK_RESULT_FILTER_ERROR"]
        assert client(tmp_path).process(result(), context("site-2")).get_return_code() == "OK"
        ledger = dn.Ledger(tmp_path / "site-1.json")
        assert ledger.spent() <= 8.0 and ledger.lifetime == 8.0

    @pytest.mark.parametrize("task", ["train", "validate"])
    @pytest.mark.parametrize("named", ["train", "*"])
    def test_nothing_leaves_by_the_tasks_that_the_filter_is_not_for(self, named: str, task: str, tmp_path: Path) -> None:
        """NVFLARE looks filters up by the exact name of the task, so "*" is for none; the filter empties what passes by."""
        from nvflare.apis.fl_constant import FLContextKey
        from nvflare.apis.utils.task_utils import apply_filters

        own, sent, filters = context(), result(), client(tmp_path)
        table = {f"{named}/out": [filters]}
        props = {"RUNNER": SimpleNamespace(task_result_filters=table), "TASK_NAME": task, "TASK_RESULT": sent}
        for key, value in props.items():
            own.put(getattr(FLContextKey, key), value, private=True, sticky=False)
        filters.handle_event("_before_task_result_filter", own)
        passed = apply_filters("task_result_filters", sent, own, table, task, "out")
        assert passed.get_return_code() == ("OK" if named == task else "TASK_RESULT_FILTER_ERROR")
        assert str(SECRET) not in repr(dict(passed))

    def test_arguments(self, tmp_path: Path) -> None:
        from deniable_learn.nvflare_filters import PrivateResults

        with pytest.raises(dn.InvalidParameter, match="path of a file"):
            PrivateResults("", **settings())
        with pytest.raises(dn.InvalidParameter, match="shape of every array"):
            client(tmp_path, shapes={})
        with pytest.raises(dn.InvalidParameter, match="biased"):
            server(method="brr")


class TestServer:
    @pytest.mark.parametrize("method", ["duchi", "unit-axes", "piecewise"])
    def test_averages_are_the_estimate_from_all_reports(self, method: str, tmp_path: Path) -> None:
        """Through NVFLARE's own aggregator, which weights by steps: every client counts once."""
        from nvflare.apis.dxo import from_shareable
        from nvflare.apis.fl_constant import ReservedKey
        from nvflare.app_common.aggregators.intime_accumulate_model_aggregator import InTimeAccumulateWeightedAggregator
        from nvflare.app_common.app_constant import AppConstants

        decoder, reports = server(method=method), []
        aggregator = InTimeAccumulateWeightedAggregator(expected_data_kind="WEIGHT_DIFF")
        for number in range(5):
            own = context(f"site-{number}")
            own.put(AppConstants.CURRENT_ROUND, 0, private=True, sticky=False)
            aggregator.handle_event("_start_run", own) if not number else None
            sender = client(tmp_path, method=method)
            sender.coins = dn.SeededCoins(number)
            passed = sender.process(result(data=update(0.1 * number)), own)
            reports.append(decoder.plan.read(from_shareable(passed).data["report"]))
            decoded = decoder.process(passed, own)
            decoded.add_cookie(AppConstants.CONTRIBUTION_ROUND, 0)
            decoded.set_peer_props({ReservedKey.IDENTITY_NAME: f"site-{number}"})
            assert aggregator.accept(decoded, own)
        found = from_shareable(aggregator.aggregate(own)).data
        expected = decoder.shaped(decoder.plan.mean(reports))
        assert {name: part.shape for name, part in found.items()} == {"weights": (2, 2), "bias": (3,)}
        for name, part in expected.items():
            np.testing.assert_allclose(found[name], part, atol=1e-9)

    @pytest.mark.parametrize("data", [{"report": b"12"}, {"report": "text"}, {"report": b"", "more": 1}, {}])
    def test_anything_else_than_a_report_is_dropped(self, data: dict[str, Any]) -> None:
        from nvflare.apis.dxo import DXO

        passed = server().process(DXO("APP_DEFINED", data).to_shareable(), context())
        assert passed.get_return_code() == "TASK_RESULT_FILTER_ERROR"
        assert server().process(result(), context()).get_return_code() == "TASK_RESULT_FILTER_ERROR"

    def test_an_error_code_is_passed_on(self) -> None:
        from nvflare.apis.shareable import make_reply

        assert server().process(make_reply("TASK_ABORTED"), context()).get_return_code() == "TASK_ABORTED"
