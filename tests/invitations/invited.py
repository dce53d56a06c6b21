"""What the tests of invitations share: a survey for invited people, and devices that speak to its collector directly."""

from dataclasses import replace
from typing import Any

from deniable.collector import Collector, Store
from deniable.collector.access import Gate
from deniable.collector.app import App
from deniable.collector.invited import make_keys
from deniable.collector.issuing import Issuing
from deniable.collector.service import problem
from deniable.collector.verdicts import Refusal
from deniable.device import Device, Ledger
from deniable.device.invitation import Right
from deniable.device.sending import Reply, judged
from deniable.invitations.terms import Invitations
from deniable.survey import Survey
from deniable.survey.message import with_token
from tests.surveys import ONE, survey


def invited(store: Store, text: str = ONE, delay: int = 0, count: int = 2) -> Survey:
    """The survey with keys that are in the store."""
    asked = survey(text)
    return replace(asked, invitations=Invitations(make_keys(store, asked, count), delay))


class Issued:
    """A collector and its issuer without HTTP in between; it counts requests, and loses answers if told to."""

    def __init__(self, asked: Survey, store: Store, **named: Any) -> None:
        self.app = App(Collector(asked, store, **named), Gate(), Gate())
        self.collector, self.issuing = self.app.collector, Issuing(self.app)
        self.lose, self.bodies = 0, list[bytes]()

    def ask(self, path: str, body: bytes | None) -> tuple[Reply, dict[str, object]]:
        answer = self.issuing.keys() if body is None else self.issuing._answer(body)
        if body is not None:
            self.bodies.append(body)
            self.lose -= 1
            if self.lose >= 0:
                return Reply(0, None, "lost"), {}
        if isinstance(answer, Refusal):
            return judged(b"", answer.status, problem(answer)), {}
        import json

        return Reply(200), json.loads(answer)

    def device(self, code: str | None, ledger: Ledger | None = None) -> Device:
        return Device(self.collector.survey, ledger, invitation=code, exchange=self.ask)

    def token(self, code: str) -> bytes:
        device = self.device(code)
        assert device._invited is not None
        right = device._invited.right()
        assert isinstance(right, Right), right
        return right.token

    def take(self, *bodies: bytes) -> list[str]:
        messages = [message for body in bodies for message in self.collector.survey.read(body)]
        verdicts = self.collector.take(messages)
        return [verdict.reason if isinstance(verdict, Refusal) else verdict.value for verdict in verdicts]

    def report(self, token: bytes = b"", now: float | None = None) -> bytes:
        message = self.collector.survey.randomize({"town": "Nice"}, now=now)
        return with_token(message, token) if token else message
