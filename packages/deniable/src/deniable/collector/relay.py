"""A relay: it stores sealed messages until there are enough, and passes them on in a random order.

A device gets its answer when its message is stored durably. One thread passes a batch on, again and again if need be, until
the collector has taken it; only then it is forgotten. The relay has no key, so it cannot read anything; it logs how many
messages went on, and nothing about any one of them.
"""

import asyncio
import json
import logging
import socket
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from deniable.collector import verdicts
from deniable.collector.access import RateLimit, Senders
from deniable.collector.connections import Connection, Server
from deniable.collector.events import FORMAT, note
from deniable.collector.forwarded import Proxies
from deniable.collector.intake import SEALED, media_of
from deniable.collector.mixed import announced, names_other
from deniable.collector.origins import AllowOrigins
from deniable.collector.serve import Place, quiet_end, server_settings
from deniable.collector.service import Headers, Limits, Receive, Reply, Scope, Send, too_many_headers
from deniable.collector.verdicts import Refusal
from deniable.device.sending import Reply as Answer
from deniable.device.sending import asker
from deniable.errors import InvalidParameter
from deniable.mixing.sealing import MEDIA_TYPE, MOST_BYTES, MOST_PEOPLE, TICKET_BYTES, Terms
from deniable.mixing.waiting import Waiting

FULL = Refusal("full", 503, "The relay is full", "Nothing was stored. Send the report again later.", 60)
PATH = "/v1/mix"
# What a page of a named origin may do: post a sealed message. No header of it carries credentials.
BEFORE: Headers = [
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"content-type"),
    (b"access-control-max-age", b"86400"),
]
LOOK = 1.0  # seconds between looks for a batch that is due
LONGEST = 60.0  # seconds between attempts to pass a batch on
PATIENCE = 120.0  # seconds for one attempt
Poster = Callable[[bytes], tuple[int, bytes, float | None] | Answer]


def http_poster(collector: str, terms: Terms, token: str | None) -> Poster:
    """A function that posts a batch to the collector."""
    ask = asker(collector, PATIENCE)
    headers = {"Content-Type": terms.media_type} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    return lambda body: ask("/v1/reports", body, headers)


def most_at_once(terms: Terms, token: str | None) -> int:
    """How many messages the collector takes in one request. A larger batch, which must not change, would wait for ever."""
    most = Limits().people if token is None else MOST_PEOPLE
    if terms.people > most:
        raise InvalidParameter(
            f"The collector takes more than {most:,} messages at a time only with a batch token. Ask whoever runs the "
            "survey for one (deniable token survey.toml --role batch), and add --token."
        )
    return max(terms.people, min(most, MOST_BYTES // terms.length))


class Forwarder(threading.Thread):
    """Passes on what is due, one batch at a time."""

    def __init__(self, terms: Terms, waiting: Waiting, post: Poster, most: int) -> None:
        super().__init__(name="deniable relay", daemon=True)
        self._terms, self._waiting, self._post, self._most = terms, waiting, post, most
        self.due, self._ending, self._pause = threading.Event(), threading.Event(), 0.0

    def run(self) -> None:
        while not self._ending.is_set():
            self.due.wait(LOOK)
            self.due.clear()
            try:
                passed = self.step()
            except sqlite3.Error:
                note("store-failed", logging.ERROR, trace=True)
                passed = False
            if passed is False:
                self._pause = min(LONGEST, max(LOOK, 2 * self._pause))
                self._ending.wait(self._pause)
            elif passed:
                self._pause = 0.0

    def step(self) -> bool | None:
        """Pass on one batch: whether the collector has taken it; None if none is due."""
        batch = self._waiting.batch(self._terms.people, self._most)
        if not batch:
            return None
        found = self._post(b"".join(batch))
        if isinstance(found, Answer):
            note("not-forwarded", logging.WARNING, messages=len(batch), cause=found.detail)
            return False
        status, body, _ = found
        data: dict[str, object] = {}
        with suppress(ValueError, TypeError):
            data = dict(json.loads(body))
        refused = data.get("refused")
        if status == 200 and data.get("survey") == self._terms.survey and isinstance(refused, list):
            self._waiting.taken()
            counted, twice = data.get("counted"), data.get("duplicates")
            note("forwarded", messages=len(batch), counted=counted, duplicates=twice, refused=len(refused))
            return True
        if status == 400 and data.get("type") == "urn:deniable:problem:damaged":
            self._waiting.taken()  # it will never be anything else
            note("unreadable", logging.ERROR, messages=len(batch), cause="the collector could read none of them")
            return True
        cause, detail = data.get("type", "another server"), data.get("detail", "")
        note("not-forwarded", logging.ERROR, messages=len(batch), status=status, cause=cause, detail=detail)
        return False

    def end(self) -> None:
        """Stop after the attempt that is under way."""
        self._ending.set()
        self.due.set()


class Relay:
    """The ASGI application: POST /v1/mix, the terms for people to compare, and whether it is alive."""

    def __init__(
        self,
        terms: Terms,
        waiting: Waiting,
        forwarder: Forwarder,
        limits: Limits,
        most: int,
        proxies: Proxies | None = None,
    ) -> None:
        self.terms, self.waiting, self.forwarder, self.limits, self.most = terms, waiting, forwarder, limits, most
        self.proxies = proxies or Proxies()
        self.senders, self.rate = Senders(), RateLimit.of(limits.rate)
        self._pending: list[tuple[tuple[bytes, bytes], asyncio.Future[bool]]] = []
        self._storing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "deniable relay store")
        stored = json.dumps({"stored": 1, "survey": terms.survey}).encode()
        self._stored = Reply.of(202, stored, b"application/json")
        self._terms = Reply.of(200, json.dumps(announced(terms), indent=2).encode(), b"application/json")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["path"].startswith("/health/") and scope["method"] == "GET":
            await Reply.of(200, b'{"status": "ok"}', b"application/json").give(send)
        elif scope["path"] == PATH and scope["method"] == "GET":
            await self._terms.give(send)
        else:
            outcome = await self._mixed(scope, receive)
            await (self._stored if outcome is None else Reply.refusing(outcome)).give(send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        self.forwarder.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.forwarder.end()
        await asyncio.to_thread(self.forwarder.join, PATIENCE)
        await asyncio.to_thread(self._thread.shutdown)
        await send({"type": "lifespan.shutdown.complete"})

    async def _mixed(self, scope: Scope, receive: Receive) -> Refusal | None:
        """None if the message is stored, or why it is not. Limits come before work."""
        headers = scope["headers"]
        named, size = dict(reversed(headers)), TICKET_BYTES + self.terms.length
        excess = too_many_headers(headers, self.limits)
        if excess is not None:
            return excess
        if scope["path"] != PATH:
            return verdicts.NOT_FOUND
        if scope["method"] != "POST":
            return verdicts.NO_METHOD.saying("Use POST.")
        if media_of(named.get(b"content-type")) != SEALED:
            return verdicts.MEDIA.saying(f"Use {MEDIA_TYPE}.")
        if names_other(named.get(b"content-type"), self.terms):
            return verdicts.OTHER_TERMS
        client = self.proxies.client(scope.get("client"), headers)
        if self.rate is not None and not self.rate.allows(self.senders.by_address((client or ("",))[0])):
            return verdicts.TOO_OFTEN
        if self.waiting.count + len(self._pending) >= self.most:
            return FULL
        body = await self._body(receive, size)
        if isinstance(body, Refusal):
            return body
        return None if await self._store(body[:TICKET_BYTES], body[TICKET_BYTES:]) else verdicts.AWAY

    async def _body(self, receive: Receive, size: int) -> bytes | Refusal:
        """A body of just this size."""
        body, more = b"", True
        try:
            async with asyncio.timeout(self.limits.seconds):
                while more:
                    event = await receive()
                    if event["type"] == "http.disconnect":
                        return verdicts.DAMAGED
                    body += event.get("body", b"")
                    more = event.get("more_body", False)
                    if len(body) > size:
                        break
        except TimeoutError:
            return verdicts.SLOW
        return (
            body
            if len(body) == size
            else verdicts.DAMAGED.saying(f"A sealed report of this survey must have {size:,} bytes.")
        )

    async def _store(self, ticket: bytes, sealed: bytes) -> bool:
        """Whether it is stored durably. What arrives while others are being stored is stored with one write after that."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._pending.append(((ticket, sealed), done))
        if self._storing is None or self._storing.done():
            self._storing = asyncio.create_task(self._store_all())
        return await asyncio.shield(done)

    async def _store_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._pending:
            taken, self._pending = self._pending, []
            try:
                await loop.run_in_executor(self._thread, self.waiting.put, [each for each, _ in taken])
                stored = True
            except sqlite3.Error:
                note("store-failed", logging.ERROR, trace=True)
                stored = False
            for _, done in taken:
                if not done.done():
                    done.set_result(stored)
            if self.waiting.count >= self.terms.people:
                self.forwarder.due.set()


def run_relay(relay: Relay, place: Place, bound: socket.socket) -> None:
    """Serve at a socket until the process is asked to stop. Pages of `place.origins` may send."""
    import uvicorn

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(FORMAT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)

    class Limited(Connection):
        limits = relay.limits

    config = uvicorn.Config(AllowOrigins(relay, place.origins, {PATH}, BEFORE), http=Limited, **server_settings(place))
    note("started", survey=relay.terms.survey, people=relay.terms.people, waiting=relay.waiting.count)
    with quiet_end():
        Server(config).run(sockets=[bound])
    note("stopped", waiting=relay.waiting.count)
