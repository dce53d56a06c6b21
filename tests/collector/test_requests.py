"""Requests that strangers make up: odd heads, lengths, chunks and paths, at a real server with several surveys."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from deniable.survey.message import MEDIA_TYPE
from tests.servers import Served, served
from tests.surveys import ONE, several, survey
from tests.waits import PATIENCE

pytestmark = [pytest.mark.needs("starlette", "uvicorn", "httptools"), pytest.mark.long]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A folder with two surveys, and much that is none: links, a pipe, a huge file."""
    place: Path = tmp_path_factory.mktemp("requests")
    folder = place / "surveys"
    folder.mkdir()
    (folder / "one.toml").write_text(ONE)
    (place / "elsewhere.toml").write_text(several(3))
    (folder / "link.toml").symlink_to(place / "elsewhere.toml")  # as mounted folders of settings have them
    (folder / "loop.toml").symlink_to(folder / "loop.toml")
    (folder / "nothing.toml").symlink_to(place / "nothing")
    (folder / "passwd.toml").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.toml")
    (folder / "huge.toml").write_bytes(ONE.encode() + b"#" * (9 << 20))
    with served(folder, str(place / "store.db")) as running:
        yield running


def body() -> bytes:
    return survey(ONE).randomize_all({"town": ["Nice"]}, 1)[0]


def request(content: bytes, *headers: str, path: str = "/s/one/v1/reports", length: bool = True) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Type: {MEDIA_TYPE}", "Connection: close"]
    lines += [f"Content-Length: {len(content)}"] if length else []
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + content


_strangers = (f"1.{high}.{low}" for high in range(256) for low in range(1, 255))


def status(server: Served, data: bytes) -> int | None:
    """The status of the first answer; None if the connection was dropped without one. Every stranger has another address:
    whoever is refused all the time would wait for the answers.
    """
    stranger = (f"127.{next(_strangers)}", 0)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE, source_address=stranger) as connection:
        said = b""
        try:
            connection.sendall(data)
            while b"\r\n" not in said and (part := connection.recv(4096)):
                said += part
        except (ConnectionResetError, BrokenPipeError):
            pass
    return int(said[9:12]) if said else None


CHUNKED = "Transfer-Encoding: chunked"
SIZE = len(body())


@pytest.mark.parametrize(
    ("headers", "content", "expected"),
    [
        ([f"Content-Length: {SIZE}", f"Content-Length: {SIZE}"], b"", 400),
        (["Content-Length: 5", f"Content-Length: {SIZE}"], b"", 400),
        ([f"Content-Length: {SIZE}, {SIZE}"], b"", 400),
        ([f"Content-Length: +{SIZE}"], b"", 400),
        (["Content-Length: -1"], b"", 400),
        (["Content-Length: 0x3d"], b"", 400),
        (["Content-Length: \xb2"], b"", 400),
        (["Content-Length: 5", CHUNKED], b"0\r\n\r\n", 400),
        (["Transfer-Encoding: xchunked"], b"0\r\n\r\n", 400),
        (["Transfer-Encoding: chunked, identity"], b"0\r\n\r\n", 400),
        ([CHUNKED], b"ffffffffffffffff1\r\n", 400),
        ([CHUNKED], b"0\r\n" + b"X: y\r\n" * 20_000 + b"\r\n", 431),
        (["X-Space : before the colon", f"Content-Length: {SIZE}"], b"", 400),
        (["X-Folded: a\r\n line", f"Content-Length: {SIZE}"], b"", 400),
        (["X-Nul: a\0b", f"Content-Length: {SIZE}"], b"", 400),
        ([f"X-Long: {'x' * 16_300}", f"Content-Length: {SIZE}"], b"", 431),
    ],
)
def test_odd_heads_are_refused(server: Served, headers: list[str], content: bytes, expected: int) -> None:
    before = server.get("/s/one/v1/results")["people"]
    assert status(server, request(content or body(), *headers, length=False)) == expected
    assert server.get("/s/one/v1/results")["people"] == before


def test_bytes_around_a_body_are_limited(server: Served) -> None:
    """Chunks of one byte, or extensions without end, would cost much more than the body is long."""
    one = body()
    cut = b"".join(b"10;a=b\r\n%b\r\n" % one[start : start + 16] for start in range(0, SIZE // 16 * 16, 16))
    rest = one[SIZE // 16 * 16 :]
    assert status(server, request(cut + b"%x\r\n%b\r\n0\r\n\r\n" % (len(rest), rest), CHUNKED, length=False)) == 200
    assert status(server, request(b"1\r\nx\r\n" * 200_000, CHUNKED, length=False)) is None
    assert status(server, request(b"5;" + b"a" * 600_000, CHUNKED, length=False)) is None
    much = b"".join(b"400\r\n%b\r\n" % (b"x" * 1024) for _ in range(400))
    assert status(server, request(much + b"0\r\n\r\n", CHUNKED, length=False)) == 400, "a long body in usual chunks is read"


def told(connection: socket.socket) -> bytes:
    """The next answer."""
    said = b""
    while b"}" not in said and (part := connection.recv(4096)):
        said += part
    return said


def test_the_rest_of_a_refused_body_is_thrown_away(server: Served) -> None:
    """So that whoever sends all of it before reading gets the answer, and can go on; but not without end."""
    head = "POST /s/one/v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    size = 7 << 20  # more than sockets hold
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode() + b"[" * size)
        said = told(connection)
        assert said.startswith(b"HTTP/1.1 413 ") and b"in JSON may hold at most 65,536 bytes" in said
        connection.sendall(request(body()).replace(b"Connection: close\r\n", b""))
        assert told(connection).startswith(b"HTTP/1.1 200 ")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        with pytest.raises(OSError):
            connection.sendall(f"{head}{CHUNKED}\r\n\r\n".encode() + b"8000\r\n%b\r\n" % (b"[" * 32_768) * 1000)
        with suppress(ConnectionResetError):
            assert told(connection).startswith(b"HTTP/1.1 413 ")


def test_a_request_inside_a_refused_body_is_not_answered(server: Served) -> None:
    """A proxy would take the answer for that to whoever sends next."""
    inside = request(body(), "User-Agent: inside").replace(b"Connection: close\r\n", b"")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(inside)  # so that its head is known
        assert told(connection).startswith(b"HTTP/1.1 200 ")
    before = server.get("/s/one/v1/results")["people"]
    inside = inside[:-SIZE] + body()
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        head = "POST /s/one/v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n"
        connection.sendall(f"{head}Content-Length: {len(inside)}\r\n\r\n".encode())
        assert told(connection).startswith(b"HTTP/1.1 415 ")
        connection.sendall(inside)
        time.sleep(0.05)  # a packet of its own
        connection.sendall(request(b"damaged"))
        assert told(connection).startswith(b"HTTP/1.1 400 "), "the next answer is that to the next request"
    assert server.get("/s/one/v1/results")["people"] == before


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/s/one/v1/reports", 200), ("http://elsewhere/s/one/v1/reports", 200), ("/s/%6fne/v1/reports", 200),
        ("/s/one/v1/reports?token=secret", 200), ("//s/one/v1/reports", 404), ("/s/../s/one/v1/reports", 404),
        ("/s/%2e%2e/one/v1/reports", 404), ("/s/one%00/v1/reports", 404), ("/s/%C3%BC/v1/reports", 404),
        ("/s/%ff%fe/v1/reports", 404), ("/s/One/v1/reports", 404), ("/s//v1/reports", 404), ("/v1/reports", 404),
        ("/s/several/v1/reports", 409),
    ],
)  # fmt: skip
def test_paths_lead_to_one_survey_or_nowhere(server: Served, path: str, expected: int) -> None:
    assert status(server, request(body(), path=path)) == expected


def test_a_token_in_the_address_opens_nothing(tmp_path: Path) -> None:
    """It would end up in logs and histories."""
    from deniable.collector import opened
    from deniable.collector.access import new_token

    (tmp_path / "one.toml").write_text(ONE)
    with opened(str(tmp_path / "one.db")) as store:
        token = new_token(store, "one", "submit")
    with served(tmp_path / "one.toml", str(tmp_path / "one.db")) as running:
        for path in (f"/v1/reports?token={token}", f"/v1/reports?access_token={token}"):
            assert status(running, request(body(), path=path)) == 401
        assert status(running, request(body(), f"Authorization: Bearer {token}", path="/v1/reports")) == 200


def test_files_that_are_no_surveys_stop_nobody(server: Served) -> None:
    assert server.get("/s/one/v1/status")["stage"] == server.get("/s/several/v1/status")["stage"] == "open"
    get = b"GET %b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    for path in (b"/pages/..%2f..%2fetc/passwd", b"/s/one/pages/../../store.db", b"/s/passwd/", b"/s/huge/"):
        assert status(server, get % path) == 404
