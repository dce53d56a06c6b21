"""Sending a report over HTTP with nothing but the standard library, and waiting between attempts."""

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.survey.message import MEDIA_TYPE

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})  # what a collector says when the same report may succeed later


@dataclass(frozen=True)
class Reply:
    """The result of one attempt: the status (0 without a response), and how many seconds the collector asks to wait."""

    status: int
    wait: float | None = None
    detail: str = ""

    @property
    def arrived(self) -> bool:
        """Whether the collector has counted the report, now or before."""
        return 200 <= self.status < 300

    @property
    def again(self) -> bool:
        """Whether it makes sense to send the same report again."""
        return self.status == 0 or self.status in AGAIN


Sender = Callable[[bytes], Reply]


def http_sender(url: str, token: str | None = None, timeout: float = 10.0) -> Sender:
    """A function that posts a report to the collector at this address."""
    import urllib.error
    import urllib.request  # loads the whole of HTTP and TLS, which a program that only randomizes does not need

    if not url.startswith(("http://", "https://")):
        raise InvalidParameter("The address of a collector must begin with http:// or https://.")
    headers = {"Content-Type": MEDIA_TYPE} | ({} if token is None else {"Authorization": f"Bearer {token}"})

    def send(message: bytes) -> Reply:
        request = urllib.request.Request(url.rstrip("/") + "/v1/reports", message, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                answer.read()
                return Reply(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, _seconds(error.headers.get("Retry-After")), _detail(error.read(4096)))
        except (OSError, ValueError) as error:  # refused, reset, timed out, no such host
            return Reply(0, None, type(error).__name__)

    return send


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() and len(text) < 6 else None


def _detail(body: bytes) -> str:
    try:
        return str(json.loads(body)["detail"])
    except (ValueError, KeyError, TypeError):
        return ""


def send_until(
    send: Sender, message: bytes, attempts: int, first: float = 0.5, sleep: Callable[[float], None] | None = None
) -> Reply:
    """Send until it arrives or is refused for good; wait twice as long each time, within random bounds, or as asked."""
    reply = send(message)
    for attempt in range(1, attempts):
        if not reply.again:
            break
        backoff = first * 2 ** (attempt - 1)
        (sleep or time.sleep)(max(reply.wait or 0.0, backoff * random.uniform(0.5, 1.0)))
        reply = send(message)
    return reply
