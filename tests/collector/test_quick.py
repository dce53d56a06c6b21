"""The shortest way for a report: the same answers as on the usual way, however the bytes are cut into packets."""

import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.survey.message import MEDIA_TYPE
from tests.servers import Served, served
from tests.surveys import several, survey
from tests.waits import PATIENCE

pytestmark = [pytest.mark.needs("starlette", "uvicorn", "httptools"), pytest.mark.long]
TEXT = several(4)


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("quick")
    (folder / "survey.toml").write_text(TEXT)
    with served(folder / "survey.toml", str(folder / "store.db")) as running:
        yield running


def request(body: bytes, *headers: str, path: str = "/v1/reports") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Type: {MEDIA_TYPE}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def answers(collector: Served, *packets: bytes, wanted: int = 1) -> list[bytes]:
    """What comes back for these packets on one connection, each answer without its date."""
    with socket.create_connection(("127.0.0.1", collector.port), timeout=PATIENCE) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for packet in packets:
            connection.sendall(packet)
            time.sleep(0.05)
        found, data = list[bytes](), b""
        while len(found) < wanted:
            more = connection.recv(65536)
            if not more:
                break
            data += more
            while (end := data.find(b"\r\n\r\n")) >= 0:
                size = int(re.search(rb"content-length: (\d+)", data[:end]).group(1))  # type: ignore[union-attr]
                if len(data) < end + 4 + size:
                    break
                found.append(re.sub(rb"date: [^\r]*\r\n", b"", data[: end + 4 + size]))
                data = data[end + 4 + size :]
        return found


def body() -> bytes:
    return survey(TEXT).randomize_all({"q0": [1]}, 1)[0]


def test_whole_and_cut_requests_get_the_same_answers(collector: Served) -> None:
    damaged = body()[:-1] + b"x"
    for made in (body, lambda: damaged, lambda: b"", lambda: body() + body()):
        whole, other = request(made()), request(made())
        (quick,) = answers(collector, whole)
        (usual,) = answers(collector, other[:-5], other[-5:])
        assert quick == usual and (quick.startswith(b"HTTP/1.1 200 OK\r\n") or made() in (damaged, b""))
        assert b"\r\ncache-control: no-store\r\n" in quick


def test_it_counts_once(collector: Served) -> None:
    before, one = collector.get("/v1/results")["people"], body()
    first, again = answers(collector, request(one))[0], answers(collector, request(one, path="/s/several/v1/reports"))[0]
    assert b'"counted": 1' in first and b'"duplicates": 1' in again
    assert collector.get("/v1/results")["people"] == before + 1


def test_pipelined_requests_are_answered_in_order(collector: Served) -> None:
    """Several in one packet, and one that comes while another is being counted."""
    one = body()
    found = answers(collector, request(body()) + request(one) + request(one), request(b"x"), wanted=4)
    assert [each[9:12] for each in found] == [b"200", b"200", b"200", b"400"]
    assert b'"duplicates": 0' in found[1] and b'"duplicates": 1' in found[2]


def test_a_connection_closes_when_asked(collector: Served) -> None:
    with socket.create_connection(("127.0.0.1", collector.port), timeout=PATIENCE) as connection:
        connection.sendall(request(body(), "Connection: close"))
        data = b""
        while more := connection.recv(65536):
            data += more
    assert data.startswith(b"HTTP/1.1 200") and b"connection: close" in data.lower()


def test_too_many_headers_and_other_methods(collector: Served) -> None:
    many = [f"X-{place}: y" for place in range(80)]
    assert answers(collector, request(body(), *many))[0].startswith(b"HTTP/1.1 431")
    got = answers(collector, b"GET /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")[0]
    assert got.startswith(b"HTTP/1.1 405")
    (continued,) = answers(collector, request(b"x", "Expect: nothing"))
    assert continued.startswith(b"HTTP/1.1 400")


def test_a_head_that_was_read_before_means_the_same(collector: Served) -> None:
    """Known heads on one connection and on others, beside those that may not be remembered."""
    device, token = "User-Agent: known head", "Authorization: Bearer nobody"
    found = [answers(collector, *(request(body(), device) for _ in range(3)), wanted=3) for _ in range(2)]
    assert {each for some in found for each in some} == set(found[0]) and len(set(found[0])) == 1
    one = body()
    mixed = answers(
        collector, request(one, device), request(one, device), request(body(), token), request(body(), device), wanted=4
    )
    assert [re.search(rb'"counted": (\d)', each).group(1) for each in mixed] == [b"1", b"0", b"1", b"1"]  # type: ignore[union-attr]
    twice = answers(collector, request(body(), device) + request(body(), device), wanted=2)
    assert [each[9:12] for each in twice] == [b"200", b"200"]
    cut = request(body(), device)
    assert answers(collector, cut[:-3], cut[-3:])[0][9:12] == b"200"
    assert (
        answers(collector, request(body(), device) + b"POST", b" / HTTP/1.1\r\nHost: x\r\n\r\n", wanted=2)[1][9:12] == b"405"
    )


def test_only_heads_of_kinds_of_devices_are_remembered() -> None:
    from deniable.collector.quick import LONGEST_HEAD, MOST_HEADS, Head, QuickConnection

    connection = QuickConnection.__new__(QuickConnection)
    connection.heads = {}  # type: ignore[misc]

    def remembered(*headers: tuple[bytes, bytes], read: bytes = b"x") -> bool:
        connection.heads.clear()
        connection._remember(read, Head(b"/", list(headers), dict(headers), 1))
        return bool(connection.heads)

    assert remembered((b"host", b"a"), (b"user-agent", b"b"))
    for name in (b"authorization", b"cookie", b"x-forwarded-for", b"forwarded", b"x-real-ip", b"transfer-encoding"):
        assert not remembered((b"host", b"a"), (name, b"b"))
    assert not remembered((b"host", b"a"), (b"host", b"b")), "twice the same name"
    assert not remembered((b"host", b"a"), read=b"x" * (LONGEST_HEAD + 1))
    for place in range(3 * MOST_HEADS):
        connection._remember(str(place).encode(), Head(b"/", [], {}, 1))
    assert 0 < len(connection.heads) <= MOST_HEADS
