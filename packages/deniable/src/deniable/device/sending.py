"""Sending a report over HTTP with nothing but the standard library, and waiting between attempts."""

import json
import math
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.survey.message import MEDIA_TYPE

FINGERPRINT = slice(8, 24)  # where a message has the fingerprint of its survey
PROBLEM = "urn:deniable:problem:"
MOST_BYTES = 1 << 16  # of an answer
AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})  # what a collector says when the same report may succeed later


@dataclass(frozen=True)
class Reply:
    """The result of one attempt: the status (0 without a response), and how many seconds the collector asks to wait."""

    status: int
    wait: float | None = None
    detail: str = ""
    reason: str = ""  # the name of a refusal

    @property
    def arrived(self) -> bool:
        """Whether the collector has counted the report, now or before."""
        return 200 <= self.status < 300

    @property
    def again(self) -> bool:
        """Whether it makes sense to send the same report again."""
        return self.status == 0 or self.status in AGAIN


Sender = Callable[[bytes], Reply]
Exchanger = Callable[[str, bytes | None], tuple[Reply, dict[str, object]]]  # a path and a body to what the issuer answers


def http_sender(url: str, token: str | None = None, timeout: float = 10.0) -> Sender:
    """A function that posts a report to the collector at this address.

    It believes only the collector itself: any other answer, such as the page of a network that wants a login, means that
    nobody has counted the report. Redirects are not followed.
    """
    ask = asker(url, timeout)
    headers = {"Content-Type": MEDIA_TYPE} | ({} if token is None else {"Authorization": f"Bearer {token}"})

    def send(message: bytes) -> Reply:
        found = ask("/v1/reports", message, headers)
        return found if isinstance(found, Reply) else judged(message, *found)

    return send


def http_exchanger(url: str, survey: str, timeout: float = 10.0) -> Exchanger:
    """A function that asks the issuer of the survey with this fingerprint, and gives its answer.

    Each request has a connection of its own, so that an exchange and a report have none in common.
    """
    ask = asker(url, timeout)

    def exchange(path: str, body: bytes | None) -> tuple[Reply, dict[str, object]]:
        found = ask(path, body, {"Content-Type": "application/json"})
        if isinstance(found, Reply):
            return found, {}
        status, answer, wait = found
        with suppress(ValueError, TypeError, AttributeError):
            data = json.loads(answer)
            if status == 200 and data.get("survey") == survey:
                return Reply(status), data
        # Whatever else answers has not exchanged anything: `judged` finds no counted report in it.
        return judged(b"", status, answer, wait), {}

    return exchange


def asker(
    url: str, timeout: float
) -> "Callable[[str, bytes | None, dict[str, str]], tuple[int, bytes, float | None] | Reply]":
    """A function that makes one request: its status, body and the seconds to wait, or why there was no answer."""
    import urllib.error
    import urllib.request  # loads the whole of HTTP and TLS, which a program that only randomizes does not need
    from http.client import HTTPException

    if not url.startswith(("http://", "https://")):
        raise InvalidParameter("The address of a collector must begin with http:// or https://.")

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:  # then it is an error
            return None

    opener = urllib.request.build_opener(Stay)

    def ask(path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes, float | None] | Reply:
        request = urllib.request.Request(url.rstrip("/") + path, body, headers, method="GET" if body is None else "POST")
        try:
            with opener.open(request, timeout=timeout) as answer:
                return answer.status, answer.read(MOST_BYTES), None
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read(MOST_BYTES), _seconds(error.headers.get("Retry-After"))
        except (OSError, ValueError, HTTPException) as error:  # refused, reset, timed out, no such host, not HTTP
            return Reply(0, None, type(error).__name__)

    return ask


def judged(message: bytes, status: int, body: bytes, wait: float | None = None) -> Reply:
    """What an answer to this message means: status 0 if it is not the answer of a collector of this survey."""
    try:
        data = json.loads(body)
        if status == 200:
            counted = data["counted"] + data["duplicates"] > 0
            if counted and data["survey"] == message[FINGERPRINT].hex():
                return Reply(status)
        elif str(data["type"]).startswith(PROBLEM):
            return Reply(status, wait, str(data["detail"]), str(data["type"]).removeprefix(PROBLEM))
    except (ValueError, KeyError, TypeError):
        pass
    if status in AGAIN:
        return Reply(status, wait)
    what = "a redirect" if 300 <= status < 400 else "something other than the collector of this survey"
    return Reply(0, None, f"{what} (status {status}) answered")


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() and len(text) < 6 else None


def send_until(
    send: Sender,
    message: bytes,
    attempts: int,
    first: float = 0.5,
    sleep: Callable[[float], None] | None = None,
    patience: float = math.inf,
) -> Reply:
    """Send until it arrives or is refused for good; wait twice as long each time, within random bounds, or as asked.

    It gives up where the waits, and what the attempts took, would exceed `patience` in seconds.
    """
    start, waited = time.monotonic(), 0.0
    reply = send(message)
    for attempt in range(1, attempts):
        if not reply.again:
            break
        backoff = first * 2 ** (attempt - 1)
        wait = max(reply.wait or 0.0, backoff * random.uniform(0.5, 1.0))
        if max(waited, time.monotonic() - start) + wait > patience:
            break
        (sleep or time.sleep)(wait)
        waited += wait
        reply = send(message)
    return reply
