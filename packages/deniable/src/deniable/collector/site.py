"""Several surveys in one server: each has its own path, tokens, results and metrics; they share a store and its writer."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress

from deniable.collector.access import gates_of, renew_gates
from deniable.collector.app import App
from deniable.collector.embedding import AllowEmbedding
from deniable.collector.forwarded import Proxies
from deniable.collector.index import index_page
from deniable.collector.metrics import MEDIA_TYPE, text_of
from deniable.collector.openapi import site_description
from deniable.collector.origins import AllowOrigins
from deniable.collector.readiness import Readiness
from deniable.collector.replies import file_reply, http_reply, language_of, problem_reply, reply
from deniable.collector.service import Receive, Scope, Send, Shared, refuse, respond, too_many_headers
from deniable.collector.static import FOLDER, HTML, File, all_files
from deniable.collector.store import Store
from deniable.collector.tokens import SERVER
from deniable.collector.verdicts import AWAY, NO_TOKEN, NOT_FOUND
from deniable.collector.work import RENEWED, Job, running
from deniable.errors import MissingExtra, Unavailable

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
except ImportError:
    raise MissingExtra("A collector over HTTP", "collector") from None

Application = Callable[[Scope, Receive, Send], Awaitable[None]]
FOLDER_OF_SURVEYS = "/s/"
NO_SURVEY = NOT_FOUND.saying("This server has no survey with this id. Check the address that you were given.")


class Site:
    """The ASGI application of a server: the survey with the id x is under /s/x/.

    The one that is added as `first` is at / too; without it, / is an index of the surveys that are listed. `prefix` is the
    path under which a proxy shows the server; it may or may not take the prefix off. `origins` may send reports from their
    pages, and `embedding` may show the answer page in a frame.
    """

    def __init__(
        self,
        store: Store,
        shared: Shared,
        origins: Collection[str] = (),
        prefix: str = "",
        embedding: Collection[str] = (),
        proxies: Proxies | None = None,
    ) -> None:
        self.store, self.shared, self.proxies = store, shared, proxies or Proxies()
        self._origins, self._prefix, self._embedding = origins, prefix.rstrip("/"), embedding
        self._apps: dict[str, App] = {}
        self._answering: dict[str, Application] = {}  # the same, for pages of other sites too
        self._first: Application | None = None
        self._takers: dict[bytes, App] = {}  # by the path of their reports
        self.jobs: list[Job] = []  # what is done beside requests
        self.around: Application | None = None  # what answers in the place of `answer`, and calls it
        self.prepare: Callable[[App], None] = lambda app: None  # is called with every survey that is added
        self.gate = gates_of(store, SERVER)["results"]
        self.jobs.append((RENEWED, self._renew))
        self._own: Application = _own_routes(self)

    def _renew(self) -> None:
        with suppress(Unavailable):  # then what was known holds on
            renew_gates(self.store, {SERVER: {"results": self.gate}})

    def readable(self, authorization: bytes | None) -> list[App]:
        """The surveys whose metrics a token opens: all with one of the server, else those that it reads the results of."""
        if self.gate.opens(authorization):
            return self.apps
        return [app for app in self.apps if not app.read_gate or app.read_gate.opens(authorization)]

    @property
    def apps(self) -> list[App]:
        """The surveys that are served now."""
        return list(self._apps.values())

    def add(self, app: App, first: bool = False) -> None:
        """Serve this survey from now on."""
        name = app.collector.survey.id
        answering: Application = AllowOrigins(app, self._origins) if self._origins else app
        answering = AllowEmbedding(answering, self._embedding) if self._embedding else answering
        self._apps, self._answering = self._apps | {name: app}, self._answering | {name: answering}
        if first:
            self._first = answering
        if not self._origins:  # otherwise answers say who may read them
            path = b"/v1/reports"
            paths = [FOLDER_OF_SURVEYS.encode() + name.encode() + path, *([path] if first else [])]
            prefixes = {b"", self._prefix.encode()}
            self._takers = self._takers | {prefix + each: app for prefix in prefixes for each in paths}
        self.prepare(app)

    def taker(self, path: bytes) -> App | None:
        """The survey whose reports are sent to this path, if nothing else has a say about them."""
        return self._takers.get(path)

    def remove(self, survey: str) -> None:
        """Serve the survey with this id no more. What is stored stays."""
        app = self._apps[survey]
        self._apps = {name: each for name, each in self._apps.items() if name != survey}
        self._answering = {name: each for name, each in self._answering.items() if name != survey}
        self._takers = {path: each for path, each in self._takers.items() if each is not app}
        for collector in app.rounds.newest_first:
            app.writer.drop(collector)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._own(scope, receive, send)
            return
        if self.proxies:
            scope["client"] = self.proxies.client(scope.get("client"), scope["headers"])
        path: str = scope["path"]
        if self._prefix and path == self._prefix:  # pages load their parts from below
            where = path.rpartition("/")[2].encode() + b"/" + _query(scope)
            await respond(send, 308, b"", b"text/plain", [(b"location", where)])
            return
        if self._prefix and path.startswith(self._prefix) and path[len(self._prefix) :][:1] in ("", "/"):
            path = path[len(self._prefix) :] or "/"
            scope = {**scope, "path": path}
        await (self.around or self.answer)(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose path begins here, without the prefix of a proxy."""
        path: str = scope["path"]
        if path.startswith(FOLDER_OF_SURVEYS):
            await self._survey(path, scope, receive, send)
        else:
            await (self._first or self._own)(scope, receive, send)

    async def _survey(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        name, slash, rest = path[len(FOLDER_OF_SURVEYS) :].partition("/")
        answering = self._answering.get(name)
        if answering is None:
            await refuse(send, too_many_headers(scope["headers"], self.shared.limits) or NO_SURVEY)
        elif not slash:  # pages load their parts from beside them
            await respond(send, 308, b"", b"text/plain", [(b"location", name.encode() + b"/" + _query(scope))])
        else:
            await answering({**scope, "path": "/" + rest}, receive, send)


def _query(scope: Scope) -> bytes:
    """What a redirection takes along."""
    return b"?" + scope["query_string"] if scope.get("query_string") else b""


def _own_routes(site: Site) -> Starlette:
    """What belongs to no survey: the index, its files, health, and the metrics of all."""
    readiness = Readiness(site.store, site.shared.writer, lambda: all(app.warm.is_set() for app in site.apps))

    async def index(request: Request) -> Response:
        return file_reply(request, File.of(index_page(site.apps, *language_of(request)), HTML))

    async def page(request: Request) -> Response:
        file = all_files().get(request.url.path)
        return problem_reply(NOT_FOUND) if file is None else file_reply(request, file)

    async def live(request: Request) -> Response:
        return reply('{"status":"alive"}')

    async def ready(request: Request) -> Response:
        refusal = await readiness.refusal()
        return reply('{"status":"ready"}') if refusal is None else problem_reply(refusal)

    async def metrics(request: Request) -> Response:
        given = request.headers.get("authorization")
        opened = site.readable(None if given is None else given.encode("latin-1"))
        if not opened:
            return problem_reply(NO_TOKEN)
        shared = site.shared
        return reply(text_of((app.metrics for app in opened), shared.flight.bytes, shared.writer.healthy), MEDIA_TYPE)

    async def described(request: Request) -> Response:
        return reply(json.dumps(site_description()))

    async def on_http(request: Request, error: Exception) -> Response:
        return http_reply(error)

    async def on_away(request: Request, error: Exception) -> Response:
        return problem_reply(AWAY.saying("The database cannot be read. Try again in 2 s."))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with running(site.shared, lambda: site.apps, *site.jobs):
            yield

    return Starlette(
        routes=[
            Route("/", index),
            Route(FOLDER + "{name}", page),
            Route("/health/live", live),
            Route("/health/ready", ready),
            Route("/metrics", metrics),
            Route("/openapi.json", described),
        ],
        exception_handlers={HTTPException: on_http, Unavailable: on_away},
        lifespan=lifespan,
    )
