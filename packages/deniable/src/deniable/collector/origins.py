"""Other sites that may use the JavaScript client with this collector: exact origins, and only what a device needs."""

import re
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from deniable.collector.service import Headers, Receive, Scope, Send, header
from deniable.errors import InvalidParameter

# Never results, tallies or metrics
OPEN = frozenset(
    {"/v1/reports", "/v1/survey", "/v1/law", "/v1/mix", "/v1/promise", "/v1/status", "/v1/issuer", "/v1/invitation"}
)
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:\d{1,5})?")
_BEFORE: Headers = [
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"authorization, content-type"),
    (b"access-control-max-age", b"86400"),
]


def checked_origins(origins: Collection[str]) -> None:
    """Refuse what is no exact origin."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise InvalidParameter(
                "An origin is a scheme and a lower-case host, with a port if needed, such as https://example.org. Paths "
                "and wildcards are not allowed."
            )


def origin_of(url: str) -> str | None:
    """The origin of an address; None if there is none that can be named."""
    parts = urlsplit(url)
    found = f"{parts.scheme}://{parts.netloc}".lower()
    return found if _ORIGIN.fullmatch(found) else None


class AllowOrigins:
    """The application, with leave for pages of these origins to use some of its paths (CORS), and never with credentials.

    These are the paths of a collector that a device needs, unless others are given. `before` is the answer to a browser that
    asks first.
    """

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        origins: Collection[str],
        paths: Collection[str] = OPEN,
        before: Headers = _BEFORE,
    ) -> None:
        checked_origins(origins)
        self._app, self._origins = app, frozenset(origin.encode() for origin in origins)
        self._paths, self._before = paths, before

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
            return
        origin = header(scope, b"origin")
        leave: Headers = [(b"vary", b"origin")]
        if origin in self._origins:
            assert origin is not None
            leave.append((b"access-control-allow-origin", origin))
            leave.append((b"cross-origin-resource-policy", b"cross-origin"))

        async def sending(event: MutableMapping[str, Any]) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], *leave]}
            await send(event)

        if scope["method"] == "OPTIONS" and origin in self._origins:
            await sending({"type": "http.response.start", "status": 204, "headers": self._before})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._app(scope, receive, sending)
