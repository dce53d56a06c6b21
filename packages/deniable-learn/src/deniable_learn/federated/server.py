"""A strategy for Flower's server that adds the mean of randomized updates to the model."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from deniable.core.loss import PrivacyLoss
from deniable.core.reports import Reports
from deniable.errors import DeniableError, InvalidParameter
from deniable.privacy.shuffle import ShuffledLoss
from deniable_learn.federated.client import FIELD, RECORD, flattened
from deniable_learn.federated.flower import Array, ArrayRecord, ConfigRecord, FedAvg, Grid, Message, MetricRecord
from deniable_learn.update_plan import Anonymizer, UpdatePlan


class PrivateFedAvg(FedAvg):  # type: ignore[misc]
    """FedAvg on reports: new model = old model + rate times the estimated mean update. Every client counts once.

    Clients cannot be weighted by their numbers of examples, since they do not report them; nor are they asked to evaluate. A
    reply that is not exactly one report of the plan is left out and counted in `refused`. More rounds than are in the plan
    are refused before the first.

    The loss that `privacy_loss` returns holds whatever the server does. Only if somebody trusted mixes the reports, an
    `anonymizer`, is there a second promise, `shuffled_loss`. Nothing here mixes them: Flower shows the server who sent what.
    """

    def __init__(self, plan: UpdatePlan, rate: float = 1.0, anonymizer: Anonymizer | None = None, **settings: Any) -> None:
        if not isinstance(plan, UpdatePlan):
            raise InvalidParameter("The strategy needs the UpdatePlan of the clients: PrivateFedAvg(plan).")
        if anonymizer is not None and not isinstance(anonymizer, Anonymizer):
            raise InvalidParameter("State the assumption explicitly: anonymizer=Anonymizer(clients=1000, delta=1e-9).")
        if settings.setdefault("fraction_evaluate", 0.0) != 0.0:
            raise InvalidParameter(
                "Clients do not evaluate: their metrics are private. Evaluate on public data at the server."
            )
        super().__init__(**settings)
        self.plan, self.rate, self.anonymizer, self.refused, self.done = plan, rate, anonymizer, 0, 0
        self._model: ArrayRecord | None = None

    def start(self, grid: Grid, initial_arrays: ArrayRecord, num_rounds: int = 3, *rest: Any, **settings: Any) -> Any:
        """As in Flower; refuses more rounds than the budget of the clients has."""
        if num_rounds + self.done > self.plan.rounds:
            raise InvalidParameter(
                f"The plan has a budget for {self.plan.rounds} rounds; {num_rounds + self.done} were requested. Make a plan "
                "for that many rounds; each then gets a smaller share of epsilon."
            )
        if flattened(initial_arrays).shape != (self.plan.dimensions,):
            raise InvalidParameter(
                f"The plan is for models of {self.plan.dimensions} numbers, but this model has another size."
            )
        return super().start(grid, initial_arrays, num_rounds, *rest, **settings)

    def configure_train(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid) -> Iterable[Message]:
        """As in Flower; remembers the model that updates are relative to."""
        self._model = arrays
        return super().configure_train(server_round, arrays, config, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The next model, and how many reports it is made of."""
        valid, _ = self._check_and_log_replies(list(replies), is_train=True, validate=False)
        reports = [report for report in map(self._report, valid) if report is not None]
        self.refused += len(valid) - len(reports)
        if not reports or self._model is None:
            return None, None
        self.done += 1
        model, start = {}, 0
        step = self.rate * self.plan.mean(reports)
        for name, array in self._model.items():
            old = array.numpy()
            part = step[start : start + old.size].reshape(old.shape)
            model[name], start = Array(np.asarray(old + part, old.dtype)), start + old.size
        return ArrayRecord(model), MetricRecord({"reports": len(reports)})

    def _report(self, message: Message) -> Reports | None:
        """The report in a reply; None if there is something else in it, or more than that."""
        try:
            (record,) = message.content.values()
            report = record.get(FIELD)
            if set(message.content) != {RECORD} or set(record) != {FIELD} or not isinstance(report, bytes):
                return None
            return self.plan.read(report)
        except (DeniableError, ValueError):
            return None

    def privacy_loss(self) -> PrivacyLoss:
        """The exact loss of a client that took part in all rounds so far."""
        return self.plan.loss(max(self.done, 1))

    def shuffled_loss(self) -> ShuffledLoss:
        """What all rounds of the plan cost against somebody who sees mixed reports only; refused without an anonymizer."""
        if self.anonymizer is None:
            raise InvalidParameter("No anonymizer was given, so nobody is known to mix the reports. Use privacy_loss().")
        return self.plan.shuffled_loss(self.anonymizer)

    def summary(self) -> None:
        """As in Flower, without a word about clients."""
