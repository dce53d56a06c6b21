"""The answer page in a frame of another site: exact origins only, and only that page."""

from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from deniable.collector.origins import checked_origins
from deniable.collector.service import Headers, Receive, Scope, Send, header
from deniable.collector.static import ANSWER, FOLDER

COMPONENT = FOLDER + "embed.js"  # the element <deniable-survey>, which a page of the other site loads
_NONE = b"frame-ancestors 'none'"


class AllowEmbedding:
    """The application, whose answer page these origins may show in a frame. Results and all else stay out of frames."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], origins: Collection[str]) -> None:
        checked_origins(origins)
        self._app, self._origins = app, frozenset(origin.encode() for origin in origins)
        self._ancestors = b"frame-ancestors " + b" ".join(sorted(self._origins))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = scope["path"] if scope["type"] == "http" else None
        if path not in (ANSWER, COMPONENT):
            await self._app(scope, receive, send)
            return
        origin = header(scope, b"origin")

        async def sending(event: MutableMapping[str, Any]) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": self._opened(path, event["headers"], origin)}
            await send(event)

        await self._app(scope, receive, sending)

    def _opened(self, path: str, headers: Headers, origin: bytes | None) -> Headers:
        if path == ANSWER:
            policy = b"content-security-policy"
            return [(name, value.replace(_NONE, self._ancestors) if name == policy else value) for name, value in headers]
        own = [(name, value) for name, value in headers if name not in (b"cross-origin-resource-policy", b"vary")]
        leave = [(b"access-control-allow-origin", origin)] if origin is not None and origin in self._origins else []
        return [*own, (b"vary", b"accept-encoding, origin"), (b"cross-origin-resource-policy", b"cross-origin"), *leave]
