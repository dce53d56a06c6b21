"""A mod for Flower's clients: the update leaves the client randomized, and nothing else does."""

from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.core.coins import Coins
from deniable.core.loss import PrivacyLoss
from deniable.device.ledger import Entry, Ledger
from deniable.errors import BudgetSpent, DeniableError, InvalidParameter
from deniable_learn.federated.flower import ArrayRecord, ConfigRecord, Context, Error, Message, MessageType, RecordDict
from deniable_learn.update_plan import UpdatePlan

RECORD, FIELD = "deniable", "report"
SPENT, REFUSED, FAILED = 801, 802, 803  # codes of the replies that say why there is no report
_STATE = "deniable-ledger"

App = Callable[[Message, Context], Message]


class PrivateUpdates:
    """The mod: `ClientApp(mods=[PrivateUpdates(plan)])`.

    In a round of training it looks at its ledger first. If the budget does not suffice the client refuses, before any data
    is touched; if this round was answered before, the same report is sent again, at no cost. Else it lets the app train,
    takes the difference to the model that came, clips and randomizes it, and sends that report alone: metrics, numbers of
    examples, configuration and the text of errors are dropped. Requests to evaluate or query are refused, since what they
    would answer is not in the plan.

    The ledger is kept in the client's state, which Flower keeps for one run. Pass `ledger`, a `Ledger` with a file and a
    lifetime, so that all runs together have one budget. `coins` is for experiments.
    """

    def __init__(self, plan: UpdatePlan, ledger: Ledger | None = None, coins: Coins | None = None) -> None:
        if not isinstance(plan, UpdatePlan):
            raise InvalidParameter("The mod needs an UpdatePlan: PrivateUpdates(UpdatePlan(...)).")
        self.plan, self.ledger, self.coins = plan, ledger, coins

    def __call__(self, message: Message, context: Context, call_next: App) -> Message:
        """What Flower calls instead of the app."""
        if message.metadata.message_type.split(".")[0] != MessageType.TRAIN:
            return _error(message, REFUSED, "This client only trains: nothing else is in its privacy plan.")
        try:
            report = self._kept(message, context)
            if report is None:
                self._check(context)
                report = self.plan.perturb(self._update(message, context, call_next), self.coins)
                self._keep(message, context, report)
        except BudgetSpent as error:
            return _error(message, SPENT, str(error))
        except DeniableError as error:
            return _error(message, FAILED, str(error))  # these never hold a person's value
        except Exception:
            return _error(message, FAILED, "The training failed. The reason stays on the client.")
        return Message(RecordDict({RECORD: ConfigRecord({FIELD: report})}), reply_to=message)

    def _update(self, message: Message, context: Context, call_next: App) -> Any:
        before = flattened(_arrays(message))
        reply = call_next(message, context)
        if reply.has_error():
            raise RuntimeError
        return flattened(_arrays(reply)) - before

    def spent(self, context: Context) -> PrivacyLoss:
        """What this client has spent in this run, exactly."""
        return self.plan.loss(len(_state(context)))

    def _name(self, message: Message) -> str:
        configs = list(message.content.config_records.values())
        number = configs[0].get("server-round") if configs else None
        return f"{message.metadata.run_id}/{number if isinstance(number, int) else message.metadata.group_id}"

    def _kept(self, message: Message, context: Context) -> bytes | None:
        name = self._name(message)
        if self.ledger is not None:
            entry = self.ledger.entry(name)
            return None if entry is None else bytes.fromhex(entry.message)
        kept = _state(context).get(name)
        return kept if isinstance(kept, bytes) else None

    def _check(self, context: Context) -> None:
        """Refuse a round for which there is no budget left."""
        rounds = len(_state(context))
        if rounds >= self.plan.rounds:
            raise BudgetSpent(
                f"This client has a budget of epsilon {self.plan.epsilon:g} for {self.plan.rounds} rounds and has spent it. "
                "It takes no part in further rounds."
            )
        lifetime = None if self.ledger is None else self.ledger.lifetime
        if self.ledger is not None and lifetime is not None and self.ledger.spent() + self._cost > lifetime:
            raise BudgetSpent(
                f"This round costs epsilon {self._cost:g}; together with earlier rounds, this exceeds the {lifetime:g} "
                "allowed for a lifetime. The client takes no part."
            )

    @property
    def _cost(self) -> float:
        return self.plan.mechanism.loss().epsilon()

    def _keep(self, message: Message, context: Context, report: bytes) -> None:
        name = self._name(message)
        if self.ledger is not None:
            self.ledger.add(name, Entry(self.plan.mechanism.fingerprint, self._cost, report.hex(), "sent"))
        state = _state(context)
        state[name] = report
        context.state[_STATE] = state


def flattened(arrays: ArrayRecord) -> Any:
    """All numbers of a model in one row, array by array."""
    parts = arrays.to_numpy_ndarrays()
    if any(part.dtype.kind != "f" for part in parts):
        raise InvalidParameter("A plan can train only models whose arrays hold floating-point numbers.")
    return np.concatenate([part.astype(np.float64).ravel() for part in parts])


def _arrays(message: Message) -> ArrayRecord:
    records = list(message.content.array_records.values())
    if len(records) != 1:
        raise InvalidParameter("Each round must carry exactly one record of arrays, the model, in both directions.")
    return records[0]


def _state(context: Context) -> ConfigRecord:
    """The reports of this run that were sent, by round."""
    return context.state.config_records.get(_STATE) or ConfigRecord()


def _error(message: Message, code: int, reason: str) -> Message:
    return Message(Error(code, reason), reply_to=message)
