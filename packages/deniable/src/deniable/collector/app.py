"""One survey over HTTP: reports come in through a plain ASGI function, everything else through Starlette routes."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from deniable.collector import verdicts
from deniable.collector.access import Gate, RateLimit
from deniable.collector.begun import Begun
from deniable.collector.collector import Collector
from deniable.collector.intake import QUICK, SEALED, media_of, read_messages, read_sealed, refused_unread, too_large
from deniable.collector.mixed import names_other
from deniable.collector.service import (
    Client,
    Headers,
    Limits,
    Receive,
    Reply,
    Scope,
    Send,
    Service,
    Shared,
    too_many_headers,
)
from deniable.collector.verdicts import Counted, Refusal, Verdict
from deniable.errors import Unavailable
from deniable.survey import Message

FEW = 16  # messages, of which the writer finds bad ones in no time


class App(Service):
    """The ASGI application of one survey. A `Site` holds those of several."""

    def __init__(
        self,
        collector: Collector,
        submit: Gate,
        read: Gate,
        limits: Limits | None = None,
        batch: Gate | None = None,
        shared: Shared | None = None,
    ) -> None:
        from deniable.collector.routes import routes  # needs Starlette

        super().__init__(collector, submit, read, limits, batch, shared)
        self._rest: Callable[[Scope, Receive, Send], Awaitable[None]] = routes(self)
        self._one_counted = dict[str, Reply]()  # by the fingerprint of the survey, or of a round

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._rest(scope, receive, send)
            return
        headers: Headers = scope["headers"]
        excess = too_many_headers(headers, self.limits)
        if excess is not None:
            await self._reply(excess).give(send)
        elif scope["path"] == "/v1/reports":
            named = dict(reversed(headers))  # the first of each name
            sender = self._admitted(scope["method"], scope.get("client"), named)
            if isinstance(sender, Refusal):
                reply = self._reply(sender)
            else:
                reply = self._reply(*await self._submitted(named, receive, sender, scope.get("client")))
            seconds = self.held(reply, scope.get("client"))
            if reply.status >= 400:
                scope.get("let_go", _nothing)()
            if seconds:
                scope["held"] = True
                await asyncio.sleep(seconds)
            await reply.give(send)
        else:
            await self._rest(scope, receive, send)

    def _admitted(self, method: str, client: Client, headers: Mapping[bytes, bytes]) -> "Refusal | Sender":
        """Who sends this, or why nothing of it is read."""
        if method != "POST":
            return verdicts.NO_METHOD.saying("Use POST.")
        given, sender = headers.get(b"authorization"), ANYBODY
        holder = None if given is None else self.batch_gate.holder(given)
        if holder is not None:
            sender = RELAY
        elif self.submit_gate:
            holder = self.submit_gate.holder(given)
            if holder is None:
                return verdicts.NO_TOKEN
        if holder is not None and self.token_rate is not None:
            sender = Sender(sender.batch, self.token_rate, self.senders.by_token(holder))
        elif holder is None and self.address_rate is not None:
            sender = Sender(False, self.address_rate, self.senders.by_address((client or ("",))[0]))
        if not sender.allowed(0):
            return verdicts.TOO_OFTEN
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            return verdicts.MEDIA.saying(
                "Send the body without Content-Encoding. The collector does not decompress requests."
            )
        length = headers.get(b"content-length", b"0")
        if not length.isdigit():
            return too_large(self.limits, sender.batch)
        media = media_of(headers.get(b"content-type"))
        if self.mixed is not None and media != SEALED:
            return verdicts.MIXED_ONLY
        if self.mixed is not None and names_other(headers.get(b"content-type"), self.mixed.terms):
            return verdicts.OTHER_TERMS
        return refused_unread(media, int(length), self.limits, sender.batch) or sender

    async def _submitted(
        self, headers: Mapping[bytes, bytes], receive: Receive, sender: "Sender", client: Client
    ) -> tuple[Refusal | list[Verdict], str]:
        """What became of the messages of a request, and the fingerprint of the survey, or of the round, they were for."""
        body, taken = await self._body(receive, media_of(headers.get(b"content-type")), sender.batch)
        try:
            if isinstance(body, Refusal):
                return body, ""
            known = list[Verdict | None]()
            if len(body) <= QUICK:
                collector, messages = self._read(headers, body, sender)
            else:
                work = partial(self._screened, headers, body, sender)
                annoying = not sender.batch and self.annoys(client)
                read = await self.shared.reader.read(work, annoying, sender.batch)
                if read is None:
                    return verdicts.BUSY, ""
                collector, messages, known = read
            messages = self._charged(messages, sender)
            if isinstance(messages, Refusal):
                return messages, ""
            answer = await self._counted(collector, messages, known)
            if not isinstance(answer, Refusal):
                self._note(messages, answer)
            return answer, collector.survey.fingerprint
        finally:
            self.flight.bytes -= taken

    def _read(
        self, headers: Mapping[bytes, bytes], body: bytes, sender: "Sender"
    ) -> tuple[Collector, list[Message] | Refusal]:
        """The messages in a body, and the collector they are for: that of the survey, or of one of its rounds."""
        media, collector = media_of(headers.get(b"content-type")), self.collector
        if media == SEALED:
            return collector, read_sealed(self.mixed, collector.survey, body, self.limits, sender.batch)
        found = read_messages(collector.survey, body, media, self.limits, sender.batch)
        if collector.survey.rounds is None or not _is_other(found):
            return collector, found
        with suppress(Unavailable):
            self.next_round(only_look=True)  # perhaps another collector has opened one
        for collector in self.rounds.newest_first:
            found = read_messages(collector.survey, body, media, self.limits, sender.batch)
            if not _is_other(found):
                break
        return collector, found

    def _screened(
        self, headers: Mapping[bytes, bytes], body: bytes, sender: "Sender"
    ) -> tuple[Collector, list[Message] | Refusal, list[Verdict | None]]:
        """The same, and which of many are refused: found here, so that nobody waits for that in the writer."""
        collector, found = self._read(headers, body, sender)
        many = isinstance(found, list) and len(found) > FEW and not sender.batch
        return collector, found, collector.screened(found) if many and isinstance(found, list) else []

    async def _counted(
        self, collector: Collector, messages: list[Message], known: list[Verdict | None]
    ) -> Refusal | list[Verdict]:
        """The verdicts on messages, of which some are `known` before if any is."""
        if not any(known):
            return await self.writer.submit(collector, messages)
        left = [message for message, verdict in zip(messages, known, strict=True) if verdict is None]
        answer = await self.writer.submit(collector, left) if left else []
        if isinstance(answer, Refusal):
            return answer
        others = iter(answer)
        return [next(others) if verdict is None else verdict for verdict in known]

    def _charged(self, messages: list[Message] | Refusal, sender: "Sender") -> list[Message] | Refusal:
        if isinstance(messages, Refusal) or sender.rate is None:
            return messages
        return sender.charged(sum(message.reports for message in messages)) or messages

    def take_whole(
        self, headers: Headers, named: Mapping[bytes, bytes], client: Client, body: bytes, done: Callable[[Reply], None]
    ) -> None:
        """Count a short body that was posted and has arrived whole; `named` has the first header of each name.

        `done` gets the answer once it is durable, or at once if refused.
        """
        outcome: Refusal | Sender | None = too_many_headers(headers, self.limits)
        if outcome is None:
            outcome = self._admitted("POST", client, named)
        if isinstance(outcome, Sender):
            outcome = self._handed_over(named, body, outcome, done)
        if outcome is not None:
            done(self._reply(outcome))

    def _handed_over(
        self, headers: Mapping[bytes, bytes], body: bytes, sender: "Sender", done: Callable[[Reply], None]
    ) -> Refusal | None:
        """Give the messages in a body to the writer; or why that is refused."""
        if not self.flight.take(len(body), len(body)):
            return verdicts.BUSY
        collector, found = self._read(headers, body, sender)
        messages = self._charged(found, sender)
        if isinstance(messages, Refusal):
            self.flight.bytes -= len(body)
            return messages

        def answered(answer: Refusal | list[Verdict]) -> None:
            self.flight.bytes -= len(body)
            if not isinstance(answer, Refusal):
                self._note(messages, answer)
            done(self._reply(answer, collector.survey.fingerprint))

        self.writer.hand_over(collector, messages, answered)
        return None

    async def _body(self, receive: Receive, media: bytes, batch: bool) -> tuple[bytes | Refusal, int]:
        """The body, or why it is not read to its end; and how many bytes of it are in flight."""
        first = Begun(receive())
        if first.done and first.value["type"] == "http.request" and not first.value.get("more_body"):
            body: bytes = first.value.get("body", b"")
            refusal = refused_unread(media, len(body), self.limits, batch)
            if refusal is not None:
                return refusal, 0
            return (body, len(body)) if self.flight.take(len(body), len(body)) else (verdicts.BUSY, 0)
        size, parts = 0, list[bytes]()
        try:
            async with asyncio.timeout(self.limits.seconds):
                event = await first
                while event["type"] != "http.disconnect":
                    part: bytes = event.get("body", b"")
                    refusal = refused_unread(media, size + len(part), self.limits, batch)
                    if refusal is not None:
                        return refusal, size
                    if not self.flight.take(len(part), size + len(part)):
                        return verdicts.BUSY, size
                    size += len(part)
                    parts.append(part)
                    if not event.get("more_body"):
                        return b"".join(parts), size
                    if len(part) >= self.flight.SMALL:
                        await asyncio.sleep(self.flight.turn(asyncio.get_running_loop().time()))
                    event = await receive()
        except TimeoutError:
            return verdicts.SLOW, size
        return verdicts.DAMAGED, size

    def _note(self, messages: list[Message], answer: list[Verdict]) -> None:
        for message, verdict in zip(messages, answer, strict=True):
            if isinstance(verdict, Refusal):
                self.metrics.refused[verdict.reason] += 1
            else:
                self.metrics.messages[verdict.value] += 1
                if verdict is Counted.NOW:
                    self.metrics.reports += message.reports

    def _reply(self, outcome: Refusal | list[Verdict], fingerprint: str = "") -> Reply:
        if isinstance(outcome, Refusal):
            self.metrics.refused[outcome.reason] += 1
        elif len(outcome) == 1 and outcome[0] is Counted.NOW:
            if fingerprint not in self._one_counted:
                self._one_counted[fingerprint] = Reply.of(200, _summary(outcome, fingerprint), b"application/json")
            return self._one_counted[fingerprint]
        elif all(isinstance(verdict, Refusal) for verdict in outcome):
            first = outcome[0]
            assert isinstance(first, Refusal)
            outcome = first
        if isinstance(outcome, Refusal):
            return Reply.refusing(outcome)
        blamed = any(isinstance(verdict, Refusal) and verdict.reason in verdicts.BLAMED for verdict in outcome)
        return Reply.of(200, _summary(outcome, fingerprint), b"application/json")._replace(blamed=blamed)


def _nothing() -> None:
    """In the place of what a server without httptools cannot do."""


def _is_other(messages: list[Message] | Refusal) -> bool:
    """Whether these messages are for another survey or round."""
    return isinstance(messages, Refusal) and messages.reason == verdicts.OTHER_SURVEY.reason


class Sender(NamedTuple):
    """Who sends a request: whether with a batch token, and how the reports are limited, under which name."""

    batch: bool
    rate: RateLimit | None = None
    name: bytes = b""

    def allowed(self, reports: int) -> bool:
        """Whether so many reports may pass now."""
        return self.rate is None or self.rate.allows(self.name, reports)

    def charged(self, reports: int) -> Refusal | None:
        """None if so many reports may pass now, of which all count."""
        if self.allowed(reports):
            return None
        assert self.rate is not None
        if reports > self.rate.burst:
            return verdicts.TOO_LARGE.saying(f"You may send at most {int(self.rate.burst):,} reports at a time.")
        return verdicts.TOO_OFTEN


ANYBODY, RELAY = Sender(False), Sender(True)


def _summary(outcome: list[Verdict], fingerprint: str) -> bytes:
    refused = [
        {"message": place, "reason": verdict.reason, "detail": verdict.detail or verdict.title}
        for place, verdict in enumerate(outcome)
        if isinstance(verdict, Refusal)
    ]
    counted = sum(verdict is Counted.NOW for verdict in outcome)
    data = {"counted": counted, "duplicates": len(outcome) - counted - len(refused), "refused": refused}
    return json.dumps(data | {"survey": fingerprint}).encode()
