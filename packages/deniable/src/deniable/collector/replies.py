"""Answers of the routes: bodies with safe headers, problem documents, and files that browsers keep."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable

from deniable.collector.mixed import Mixed
from deniable.collector.service import SAFE, problem, problem_headers
from deniable.collector.static import ANSWER, BY_LANGUAGE, CONNECT, HEADERS, HTML, POLICY, File, page_in
from deniable.collector.texts import chosen
from deniable.collector.verdicts import NO_METHOD, NOT_FOUND, Refusal
from deniable.errors import MissingExtra

try:
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
except ImportError:
    raise MissingExtra("A collector over HTTP", "collector") from None

LONG = 2048  # bytes
Endpoint = Callable[[Request], Awaitable[Response]]


def reply(body: str | bytes, media: str = "application/json", status: int = 200) -> Response:
    """An answer that nobody keeps."""
    return Response(body, status, {name.decode(): value.decode() for name, value in SAFE}, media)


async def packed_reply(request: Request, body: bytes, media: str) -> Response:
    """An answer that nobody keeps, and that may be long: compressed if whoever asks can read that."""
    if len(body) < LONG or "gzip" not in request.headers.get("accept-encoding", ""):
        return reply(body, media)
    answer = reply(await asyncio.to_thread(gzip.compress, body, 1), media)  # with the least effort
    answer.headers.update({"content-encoding": "gzip", "vary": "accept-encoding"})
    return answer


def problem_reply(refusal: Refusal) -> Response:
    """A refusal as a problem document."""
    answer = reply(problem(refusal), "application/problem+json", refusal.status)
    for name, value in problem_headers(refusal):
        answer.headers[name.decode()] = value.decode()
    return answer


def file_reply(request: Request, file: File) -> Response:
    """A file that browsers keep, and ask for again each time."""
    headers = {**HEADERS, **(BY_LANGUAGE if file.media == HTML else {}), "etag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(None, 304, headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.small, 200, {**headers, "content-encoding": "gzip"}, file.media)
    return Response(file.plain, 200, headers, file.media)


def language_of(request: Request, survey: str | None = None) -> tuple[str, bool]:
    """The language that a request is answered in, and whether its address asks for it; `survey` is that of the survey."""
    wanted = request.query_params.get("lang", "")
    language = chosen(request.headers.get("accept-language", ""), wanted, survey)
    return language, wanted == language


def page_reply(request: Request, file: File, survey: str | None, mixed: Mixed | None, readable: bool) -> Response:
    """A file, and if it is a page, in the language of the person who asks for it.

    The page that sends reports has the terms of mixing in it, if they are mixed, so that it never runs without them. It may
    connect to the relay then, and to nobody else.
    """
    if file.media != HTML:
        return file_reply(request, file)
    path, spoken = request.url.path, language_of(request, survey)
    if mixed is None or path != ANSWER:
        return file_reply(request, page_in(path, *spoken, readable=readable))
    answer = file_reply(request, page_in(path, *spoken, mixed.text, readable))
    answer.headers["content-security-policy"] = POLICY.replace(CONNECT, f"{CONNECT} {mixed.terms.origin}")
    return answer


def http_reply(error: Exception, refused: Callable[[Refusal], Response] = problem_reply) -> Response:
    """What the framework refuses by itself: other methods, and paths that are not there."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        answer = refused(NO_METHOD.saying("Use GET."))
        answer.headers["allow"] = "GET, HEAD"
        return answer
    return refused(NOT_FOUND.saying("See openapi.json for the paths of this collector."))
