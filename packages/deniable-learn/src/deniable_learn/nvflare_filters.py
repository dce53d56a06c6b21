"""Filters for NVFLARE: a client's update leaves it randomized, and the server gets an unbiased one back for averaging."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats
from deniable.core.coins import Coins
from deniable.device.ledger import Entry, Ledger
from deniable.errors import DeniableError, InvalidParameter, MissingExtra
from deniable_learn.update_plan import UpdatePlan

try:
    from nvflare.apis.dxo import DXO, DataKind, MetaKey, from_shareable
    from nvflare.apis.event_type import EventType
    from nvflare.apis.filter import Filter
    from nvflare.apis.fl_constant import FilterKey, FLContextKey, ReturnCode
    from nvflare.apis.fl_context import FLContext
    from nvflare.apis.shareable import Shareable, make_reply
    from nvflare.apis.utils.task_utils import get_filters
except ImportError:
    raise MissingExtra("Federated learning with NVFLARE", "learn") from None

FIELD = "report"
Arrays = dict[str, NDArray[np.float64]]


class PlannedFilter(Filter):  # type: ignore[misc]
    """What the filters of both sides share: a plan, and the arrays of the model by name, with their shapes.

    All arguments are plain values, as the configuration of an NVFLARE job needs them.
    """

    def __init__(
        self, shapes: Mapping[str, Sequence[int]], epsilon: float, rounds: int, clip: float, method: str = "unit-axes"
    ) -> None:
        super().__init__()
        if not shapes:
            raise InvalidParameter('Give the shape of every array of the model, such as {"weights": [10, 4], "bias": [10]}.')
        self.shapes = {name: list(shape) for name, shape in sorted(shapes.items())}
        self.epsilon, self.rounds, self.clip, self.method = epsilon, rounds, clip, method
        self.plan = UpdatePlan(sum(map(math.prod, self.shapes.values())), epsilon, rounds, clip, method)
        if not self.plan.unbiased:
            raise InvalidParameter(f"{method} is biased, so single reports cannot be averaged. Use another method.")

    def process(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        """What is passed on; an empty reply with an error code in place of anything that is not expected."""
        try:
            return self.passed(shareable, fl_ctx)
        except DeniableError as error:
            self.log_error(fl_ctx, str(error))  # these never hold a person's value
        except Exception:
            self.log_error(fl_ctx, "The result could not be read, and is dropped.")
        return make_reply(ReturnCode.TASK_RESULT_FILTER_ERROR)

    def passed(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        """What is passed on."""
        raise NotImplementedError

    def flattened(self, arrays: Mapping[str, object]) -> Floats:
        """All numbers of an update in one row."""
        parts = {name: np.asarray(array) for name, array in arrays.items()}
        if {name: list(part.shape) for name, part in parts.items()} != self.shapes:
            raise InvalidParameter("The update does not have the names and shapes of arrays that the filter was given.")
        if any(part.dtype.kind != "f" for part in parts.values()):
            raise InvalidParameter("A plan can train only models whose arrays hold floating-point numbers.")
        return np.concatenate([parts[name].astype(np.float64).ravel() for name in self.shapes])

    def shaped(self, row: Floats) -> Arrays:
        """The arrays of a model from one row."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()])
        parts = np.split(row, ends[:-1])
        return {name: part.reshape(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}


class PrivateResults(PlannedFilter):
    """The filter of a client: for its task results.

    Name every task whose results it is for, such as `tasks=["train"]`: NVFLARE takes the names literally, so that "*", its
    own default, stands for no task, and results would leave as they are. This filter therefore looks at every result, also
    of tasks that it is not for, and empties those that would leave without it.

    It takes the difference of weights that a training returns (`WEIGHT_DIFF`), clips and randomizes it, and passes on that
    report alone. Metrics, numbers of steps, headers and every other kind of result are dropped: the reply then holds an
    error code and nothing else. What was spent is kept in the file `ledger`, which all jobs with this filter share, up to
    `epsilon` in all. Clients on one machine need a file each: "{site}" stands for the name of the client. `coins` is for
    experiments.
    """

    def __init__(
        self,
        ledger: str,
        shapes: Mapping[str, Sequence[int]],
        epsilon: float,
        rounds: int,
        clip: float,
        method: str = "unit-axes",
        coins: Coins | None = None,
    ) -> None:
        super().__init__(shapes, epsilon, rounds, clip, method)
        if not ledger:
            raise InvalidParameter("Give the path of a file in which the client keeps what it has spent.")
        self.ledger, self.coins = ledger, coins

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        """Before the results of any task are filtered: empty those that no filter of this class is for."""
        super().handle_event(event_type, fl_ctx)
        if event_type == EventType.BEFORE_TASK_RESULT_FILTER and not self._covers(fl_ctx):
            task, result = fl_ctx.get_prop(FLContextKey.TASK_NAME), fl_ctx.get_prop(FLContextKey.TASK_RESULT)
            result.clear()
            result.update(make_reply(ReturnCode.TASK_RESULT_FILTER_ERROR))
            self.log_error(
                fl_ctx, f"PrivateResults is not for the task {task!r}, so its result is dropped. Name it in tasks."
            )

    def _covers(self, fl_ctx: FLContext) -> bool:
        """Whether the result of the present task will be filtered."""
        table = getattr(fl_ctx.get_prop(FLContextKey.RUNNER), "task_result_filters", {})
        task = fl_ctx.get_prop(FLContextKey.TASK_NAME, "")
        applied = get_filters("task_result_filters", fl_ctx, table, task, FilterKey.OUT)
        return any(isinstance(each, PrivateResults) for each in applied)

    def passed(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        if shareable.get_return_code() != ReturnCode.OK:
            raise InvalidParameter("The task failed. The reason stays on the client.")
        update = from_shareable(shareable)
        if update.data_kind != DataKind.WEIGHT_DIFF:
            raise InvalidParameter("Only differences of weights (WEIGHT_DIFF) are in the plan. This result is dropped.")
        row = self.flattened(update.data)
        kept = Ledger(self.ledger.format(site=fl_ctx.get_identity_name()), lifetime=self.epsilon)
        report = self.plan.perturb(row, self.coins)
        name, cost = f"{fl_ctx.get_job_id()}/{len(kept.entries())}", self.plan.mechanism.loss().epsilon()
        kept.add(name, Entry(self.plan.mechanism.fingerprint, cost, report.hex(), "sent"))
        return DXO(DataKind.APP_DEFINED, {FIELD: report}).to_shareable()


class DecodedReports(PlannedFilter):
    """The filter of the server: for task results, before they are aggregated.

    A report becomes an unbiased difference of weights, so that any aggregation that averages works unchanged; the mean over
    clients is the estimate from all reports together. Every client counts once, as one step. What is not exactly one report
    of the plan is dropped.
    """

    def passed(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        if shareable.get_return_code() != ReturnCode.OK:
            return shareable  # it says why, and holds nothing else
        sent = from_shareable(shareable)
        if sent.data_kind != DataKind.APP_DEFINED or set(sent.data) != {FIELD} or not isinstance(sent.data[FIELD], bytes):
            raise InvalidParameter("A client sends one report, and nothing else. This result is dropped.")
        arrays = self.shaped(self.plan.mean([self.plan.read(sent.data[FIELD])]))
        return DXO(DataKind.WEIGHT_DIFF, arrays, {MetaKey.NUM_STEPS_CURRENT_ROUND: 1}).update_shareable(shareable)
