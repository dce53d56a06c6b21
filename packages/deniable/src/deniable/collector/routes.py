"""Everything but the hot path: pages, the survey, its promise, results, health, metrics, and the description."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from deniable.collector import verdicts
from deniable.collector.fakes import checked_fakes
from deniable.collector.issuing import MOST_BYTES, Issuing
from deniable.collector.metrics import MEDIA_TYPE
from deniable.collector.openapi import description
from deniable.collector.playground import Playground
from deniable.collector.promises import Promises
from deniable.collector.publish import MOST_CONFIDENT
from deniable.collector.published import Published, Wanted
from deniable.collector.readiness import Readiness
from deniable.collector.replies import Endpoint, file_reply, http_reply, packed_reply, page_reply, problem_reply, reply
from deniable.collector.service import Service
from deniable.collector.static import FOLDER, PAGES, File, all_files
from deniable.collector.verdicts import Refusal
from deniable.collector.work import running
from deniable.errors import InvalidParameter, MissingExtra, Unavailable
from deniable.survey.law_document import law_json

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response
    from starlette.routing import Route
except ImportError:
    raise MissingExtra("A collector over HTTP", "collector") from None

ANY = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
FORMATS = {"json": "application/json", "csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def routes(app: Service) -> Starlette:
    """The routes of one survey; served alone, with its writer started and stopped around them."""

    of_rounds, playground, checks = dict[str, Promises](), Playground(), set[asyncio.Future[None]]()
    rendered, readiness = Published(app), Readiness(app.collector.store, app.writer, app.warm.is_set)
    issuing = Issuing(app)
    laws = dict[str, File]()  # the document of the survey, or of each round, once somebody has asked for it

    def refused(refusal: Refusal) -> Response:
        app.metrics.refused[refusal.reason] += 1
        app.metrics.refused_elsewhere[refusal.reason] += 1
        return problem_reply(refusal)

    def guarded(endpoint: Endpoint) -> Endpoint:
        async def guard(request: Request) -> Response:
            given = request.headers.get("authorization")
            if app.read_gate and not app.read_gate.opens(None if given is None else given.encode("latin-1")):
                return refused(verdicts.NO_TOKEN)
            return await endpoint(request)

        return guard

    async def page(request: Request) -> Response:
        file = all_files().get(request.url.path)
        if file is None:
            return refused(verdicts.NOT_FOUND.saying("See openapi.json for the paths of this collector."))
        return page_reply(request, file, app.collector.survey.language, app.mixed, _readers(app) != "token")

    async def mix(request: Request) -> Response:
        if app.mixed is None:
            return refused(verdicts.NOT_FOUND.saying("The reports of this survey are not mixed."))
        return reply(app.mixed.text, "application/json")

    async def law(request: Request) -> Response:
        survey = app.collector.survey
        if survey.fingerprint not in laws:
            text = await asyncio.to_thread(law_json, survey)
            laws[survey.fingerprint] = File.of(text.encode(), "application/json")
        return file_reply(request, laws[survey.fingerprint])

    async def promise(request: Request) -> Response:
        survey = app.collector.survey
        if survey.fingerprint not in of_rounds:
            of_rounds[survey.fingerprint] = Promises(survey)
            checks.clear()
        promises = of_rounds[survey.fingerprint]
        if not promises.settled and not checks:
            checks.add(asyncio.ensure_future(asyncio.to_thread(promises.settle)))
        who = {"needs_token": bool(app.submit_gate), "invited": survey.invitations is not None}
        return reply(json.dumps(promises.data() | who), "application/json")

    async def tried(request: Request) -> Response:
        answer = await playground.answer(dict(request.query_params))
        return refused(answer) if isinstance(answer, Refusal) else reply(answer, "application/json")

    async def published(request: Request) -> Response:
        kind, level = request.query_params.get("format", "json"), _number(request.query_params.get("confidence", "0.95"))
        if kind not in FORMATS:
            return refused(verdicts.BAD_QUERY.saying(f"format must be one of {', '.join(FORMATS)}."))
        if not 0 < level <= MOST_CONFIDENT:
            return refused(verdicts.BAD_QUERY.saying("confidence must be a number between 0 and 1, such as 0.95."))
        try:
            fakes = checked_fakes(request.query_params.get("fakes"))
        except InvalidParameter as error:
            return refused(verdicts.BAD_QUERY.saying(str(error)))
        history = request.query_params.get("history", "true")
        if history not in ("true", "false"):
            return refused(verdicts.BAD_QUERY.saying("history must be true or false."))
        answer = await rendered.answer(Wanted(kind, level, fakes, history == "true"))
        return refused(answer) if isinstance(answer, Refusal) else await packed_reply(request, answer, FORMATS[kind])

    async def tallies(request: Request) -> Response:
        return shown(await rendered.answer(Wanted("tallies")), "application/json")

    def shown(answer: bytes | Refusal, media: str) -> Response:
        return refused(answer) if isinstance(answer, Refusal) else reply(answer, media)

    async def issuer(request: Request) -> Response:
        return shown(await asyncio.to_thread(issuing.keys), "application/json")

    async def invitation(request: Request) -> Response:
        if request.method != "POST":
            return refused(verdicts.NO_METHOD.saying("Use POST."))
        body = await read_small(request, MOST_BYTES, app.limits.seconds)
        address = request.client.host if request.client else ""
        answer = body if isinstance(body, Refusal) else await issuing.exchanged(address, body)
        return shown(answer, "application/json")

    async def ready(request: Request) -> Response:
        refusal = await readiness.refusal()
        return reply('{"status":"ready"}', "application/json") if refusal is None else refused(refusal)

    def says(made: Callable[[Service], str], media: str = "application/json", aside: bool = False) -> Endpoint:
        """An endpoint that takes nothing; `aside`, in a thread of its own, if it reads the database."""

        async def answer(request: Request) -> Response:
            return reply(await asyncio.to_thread(made, app) if aside else made(app), media)

        return answer

    async def on_http(request: Request, error: Exception) -> Response:
        return http_reply(error, refused)

    async def on_away(request: Request, error: Exception) -> Response:
        return refused(verdicts.AWAY.saying("The database cannot be read. Try again in 2 s."))

    async def on_extra(request: Request, error: Exception) -> Response:
        return refused(
            verdicts.BAD_QUERY.saying("The collector does not have the package for this format installed. Use json or csv.")
        )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with running(app.shared, lambda: [app]):
            yield

    return Starlette(
        routes=[
            *(Route(address, page) for address in PAGES),
            Route(FOLDER + "{name}", page),
            Route("/v1/survey", says(lambda app: app.collector.survey.to_json())),
            Route("/v1/law", law),
            Route("/v1/mix", mix),
            Route("/v1/promise", promise),
            Route("/v1/status", says(_status)),
            Route("/v1/issuer", issuer),
            Route("/v1/invitation", invitation, methods=ANY),
            Route("/v1/try", tried),
            Route("/v1/results", published if app.collector.survey.share_results else guarded(published)),
            Route("/v1/tallies", guarded(tallies)),
            Route("/v1/intake", guarded(says(lambda app: json.dumps(app.metrics.summary())))),
            Route("/health/live", says(lambda _: '{"status":"alive"}')),
            Route("/health/ready", ready),
            Route("/metrics", guarded(says(_metrics, MEDIA_TYPE))),
            Route("/openapi.json", says(_described)),
        ],
        exception_handlers={HTTPException: on_http, Unavailable: on_away, MissingExtra: on_extra},
        lifespan=lifespan,
    )


async def read_small(request: Request, most: int, seconds: float) -> bytes | Refusal:
    """The body of a request, or why it is not read to its end."""
    body = b""
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    return verdicts.TOO_LARGE.saying(f"This request may hold at most {most:,} bytes.")
    except TimeoutError:
        return verdicts.SLOW
    except ClientDisconnect:
        return verdicts.DAMAGED
    return body


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _metrics(app: Service) -> str:
    return app.metrics.text(app.flight.bytes, app.writer.healthy)


def _status(app: Service) -> str:
    survey = app.collector.survey
    about = {"survey": survey.id, "fingerprint": survey.fingerprint, "title": app.title, "stage": app.stage}
    opens = {"needs_token": bool(app.submit_gate), "results": _readers(app)}
    return json.dumps(about | opens)


def _readers(app: Service) -> str:
    """Who may read the results: everybody, all of it or what is shared with people, or only who has a token."""
    if not app.read_gate:
        return "open"
    return "shared" if app.collector.survey.share_results else "token"


def _described(app: Service) -> str:
    return json.dumps(description(app.collector.survey, bool(app.submit_gate), bool(app.read_gate)))
