"""The collector over HTTP: reports come in through a plain ASGI function, everything else through Starlette routes."""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from deniable.collector import verdicts
from deniable.collector.access import Gate
from deniable.collector.collector import Collector
from deniable.collector.json_reports import read_json
from deniable.collector.service import Limits, Receive, Scope, Send, Service, header, problem, problem_headers, respond
from deniable.collector.verdicts import Counted, Refusal, Verdict
from deniable.errors import InvalidReport, SurveyMismatch
from deniable.survey import Message
from deniable.survey.message import MEDIA_TYPE

_ONE_COUNTED = b'{"counted":1,"duplicates":0,"refused":[]}'


class App(Service):
    """The ASGI application of a collector."""

    def __init__(self, collector: Collector, submit: Gate, read: Gate, limits: Limits | None = None) -> None:
        from deniable.collector.routes import routes  # needs Starlette

        super().__init__(collector, submit, read, limits)
        self._rest: Callable[[Scope, Receive, Send], Awaitable[None]] = routes(self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and scope["path"] == "/v1/reports":
            refusal = self._refused_at_once(scope)
            outcome = refusal if refusal is not None else await self._submitted(scope, receive)
            await self._reply(outcome, send)
        else:
            await self._rest(scope, receive, send)

    def _refused_at_once(self, scope: Scope) -> Refusal | None:
        if scope["method"] != "POST":
            return verdicts.NO_METHOD.saying("Use POST.")
        if self.rate is not None and not self.rate.allows((scope.get("client") or ("",))[0]):
            return verdicts.TOO_OFTEN
        if self.submit_gate and not self.submit_gate.opens(header(scope, b"authorization")):
            return verdicts.NO_TOKEN
        length = header(scope, b"content-length")
        if length is not None and (not length.isdigit() or int(length) > self.limits.body):
            return self._too_large()
        return None

    def _too_large(self) -> Refusal:
        return verdicts.TOO_LARGE.saying(
            f"A request may hold at most {self.limits.body:,} bytes, {self.limits.messages:,} messages and "
            f"{self.limits.reports:,} reports."
        )

    async def _submitted(self, scope: Scope, receive: Receive) -> Refusal | list[Verdict]:
        body = await self._body(receive)
        if isinstance(body, Refusal):
            return body
        try:
            messages = self._read(scope, body)
        except SurveyMismatch as error:
            return verdicts.OTHER_SURVEY.saying(str(error))
        except InvalidReport as error:
            return verdicts.DAMAGED.saying(str(error))
        if isinstance(messages, Refusal):
            return messages
        if len(messages) > self.limits.messages or sum(message.reports for message in messages) > self.limits.reports:
            return self._too_large()
        answer = await self.writer.submit(messages, len(body))
        if not isinstance(answer, Refusal):
            self._note(messages, answer)
        return answer

    async def _body(self, receive: Receive) -> bytes | Refusal:
        event = await receive()
        if event["type"] == "http.disconnect":
            return verdicts.DAMAGED
        if not event.get("more_body"):
            body: bytes = event.get("body", b"")
            return body if len(body) <= self.limits.body else self._too_large()
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await self._long_body(event, receive)
        except TimeoutError:
            return verdicts.SLOW

    async def _long_body(self, event: MutableMapping[str, Any], receive: Receive) -> bytes | Refusal:
        parts, size = [event.get("body", b"")], len(event.get("body", b""))
        while event.get("more_body"):
            event = await receive()
            if event["type"] == "http.disconnect":
                return verdicts.DAMAGED
            parts.append(event.get("body", b""))
            size += len(parts[-1])
            if size > self.limits.body:
                return self._too_large()
        return b"".join(parts)

    def _read(self, scope: Scope, body: bytes) -> list[Message] | Refusal:
        media = (header(scope, b"content-type") or b"").split(b";")[0].strip().lower()
        if media == MEDIA_TYPE.encode() or media == b"application/octet-stream":
            return self.collector.survey.read(body)
        if media == b"application/json":
            return read_json(self.collector.survey, body)
        return verdicts.MEDIA.saying(f"Use {MEDIA_TYPE} or application/json.")

    def _note(self, messages: list[Message], answer: list[Verdict]) -> None:
        for message, verdict in zip(messages, answer, strict=True):
            if isinstance(verdict, Refusal):
                self.metrics.refused[verdict.reason] += 1
            else:
                self.metrics.messages[verdict.value] += 1
                if verdict is Counted.NOW:
                    self.metrics.reports += message.reports

    async def _reply(self, outcome: Refusal | list[Verdict], send: Send) -> None:
        if isinstance(outcome, Refusal):
            self.metrics.refused[outcome.reason] += 1
        elif all(isinstance(verdict, Refusal) for verdict in outcome):
            first = outcome[0]
            assert isinstance(first, Refusal)
            outcome = first
        if isinstance(outcome, Refusal):
            await respond(send, outcome.status, problem(outcome), b"application/problem+json", problem_headers(outcome))
        elif len(outcome) == 1 and outcome[0] is Counted.NOW:
            await respond(send, 200, _ONE_COUNTED, b"application/json")
        else:
            await respond(send, 200, _summary(outcome), b"application/json")


def _summary(outcome: list[Verdict]) -> bytes:
    refused = [
        {"message": place, "reason": verdict.reason, "detail": verdict.detail or verdict.title}
        for place, verdict in enumerate(outcome)
        if isinstance(verdict, Refusal)
    ]
    counted = sum(verdict is Counted.NOW for verdict in outcome)
    data = {"counted": counted, "duplicates": len(outcome) - counted - len(refused), "refused": refused}
    return json.dumps(data).encode()
