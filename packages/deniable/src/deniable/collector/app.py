"""The collector over HTTP: reports come in through a plain ASGI function, everything else through Starlette routes."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.collector import verdicts
from deniable.collector.access import Gate, RateLimit
from deniable.collector.collector import Collector
from deniable.collector.json_reports import read_json
from deniable.collector.metrics import Metrics
from deniable.collector.verdicts import Counted, Refusal, Verdict
from deniable.collector.writer import Writer
from deniable.device.sending import MEDIA
from deniable.errors import InvalidReport, SurveyMismatch
from deniable.survey import Message

if TYPE_CHECKING:
    from starlette.applications import Starlette

log = logging.getLogger("deniable.collector")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

SAFE: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]
_ONE_COUNTED = b'{"counted":1,"duplicates":0,"refused":[]}'


@dataclass(frozen=True)
class Limits:
    """How much one request, one address and the queue may hold."""

    body: int = 8 << 20  # bytes of a request
    messages: int = 10_000  # in a request
    reports: int = 1_000_000  # in a request: a report may be as small as one bit
    queue: int = 64 << 20  # bytes that wait to be counted
    rate: float = 0.0  # requests a second from one address; 0 for no limit
    seconds: float = 30.0  # to send a body


class App:
    """An ASGI application. `submit` guards the reports if it holds tokens; `read` guards results and metrics."""

    def __init__(self, collector: Collector, submit: Gate, read: Gate, limits: Limits | None = None) -> None:
        from deniable.collector.routes import routes

        self.collector, self.limits = collector, limits or Limits()
        self.submit_gate, self.read_gate = submit, read
        self.metrics = Metrics()
        self.segments: Path | None = None  # where kept reports go as Parquet files, if the survey keeps them
        self.writer = Writer(collector, self.limits.queue, self.metrics.commit)
        self._rate = RateLimit(self.limits.rate, time.monotonic) if self.limits.rate else None
        self._rest: Starlette = routes(self)

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
            return verdicts.NO_METHOD.saying("Reports are sent with POST.")
        if self._rate is not None and not self._rate.allows((scope.get("client") or ("",))[0]):
            return verdicts.TOO_OFTEN
        if self.submit_gate and not self.submit_gate.opens(header(scope, b"authorization")):
            return verdicts.NO_TOKEN
        length = header(scope, b"content-length")
        if length is not None and (not length.isdigit() or int(length) > self.limits.body):
            return self._too_large()
        return None

    def _too_large(self) -> Refusal:
        return verdicts.TOO_LARGE.saying(
            f"At most {self.limits.body:,} bytes, {self.limits.messages:,} messages and {self.limits.reports:,} reports are "
            "taken at once."
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
        if media == MEDIA.encode() or media == b"application/octet-stream":
            return self.collector.survey.read(body)
        if media == b"application/json":
            return read_json(self.collector.survey, body)
        return verdicts.MEDIA.saying(f"Reports are {MEDIA}, or application/json.")

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


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of this name."""
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return next((value for key, value in headers if key == name), None)


def problem(refusal: Refusal) -> bytes:
    """The problem document of a refusal (RFC 9457)."""
    data = {
        "type": f"urn:deniable:problem:{refusal.reason}",
        "title": refusal.title,
        "status": refusal.status,
        "detail": refusal.detail or refusal.title,
    }
    return json.dumps(data).encode()


def problem_headers(refusal: Refusal) -> Headers:
    """What the headers say about a refusal."""
    headers: Headers = []
    if refusal.wait is not None:
        headers.append((b"retry-after", str(refusal.wait).encode()))
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.reason == verdicts.NO_METHOD.reason:
        headers.append((b"allow", b"POST"))
    return headers


async def respond(send: Send, status: int, body: bytes, media: bytes, headers: Headers | None = None) -> None:
    """One whole answer."""
    start = [(b"content-type", media), (b"content-length", str(len(body)).encode()), *SAFE[:2], *(headers or ())]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
