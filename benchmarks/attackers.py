"""The clients that attack a collector in `benchmarks.hostile`, each kind in a process of its own.

python -m benchmarks.attackers NAME PORT
"""

import asyncio
import json
import resource
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import islice

import click

from benchmarks.collector import CELLS, bodies, text
from deniable.survey.message import MEDIA_TYPE
from deniable.survey.reading import parse_toml
from tests.collector.json_writer import write_json

SLOW, HALF, FLOOD, MANY = 1200, 60, 16, 1000  # connections
PACE = 1.0  # seconds between two bytes of a slow client
MEBIBYTE = 1 << 20


def head(length: int, media: str = MEDIA_TYPE) -> bytes:
    lines = ["POST /v1/reports HTTP/1.1", "Host: collector", f"Content-Type: {media}", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


async def answer(reader: asyncio.StreamReader) -> int:
    """The status of the next answer, which is read to its end."""
    found = await reader.readuntil(b"\r\n\r\n")
    length = next((line[15:] for line in found.lower().split(b"\r\n") if line.startswith(b"content-length:")), b"0")
    await reader.readexactly(int(length))
    return int(found[9:12])


# Each is a coroutine that runs on one connection until that is dropped

Attack = Callable[[asyncio.StreamReader, asyncio.StreamWriter, Counter[str]], Awaitable[None]]


async def slow_heads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """A head that comes byte by byte."""
    for byte in head(60) * 100:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(PACE)


async def slow_bodies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """A head at once, and a body byte by byte."""
    writer.write(head(4000))
    for _ in range(4000):
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(PACE)


async def half_bodies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """Half of 8 MiB, and then nothing."""
    writer.write(head(8 * MEBIBYTE))
    for _ in range(64):
        writer.write(b"x" * (MEBIBYTE // 16))
        await writer.drain()
    seen[str(await answer(reader))] += 1


async def _flood(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str], request: Callable[[], bytes]
) -> None:
    while True:
        writer.write(request())
        await writer.drain()
        seen[str(await answer(reader))] += 1


async def small_damaged(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """Bodies of 61 bytes that are no reports, as fast as they are answered."""
    await _flood(reader, writer, seen, lambda: head(61) + secrets.token_bytes(61))


async def large_damaged(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """1 MiB that is no report."""
    body = secrets.token_bytes(MEBIBYTE)
    await _flood(reader, writer, seen, lambda: head(len(body)) + body)


async def large_json(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """1 MiB of JSON that is no report, in many small objects."""
    body = ("[" + ",".join(["{}"] * 300_000) + "]").encode()
    await _flood(reader, writer, seen, lambda: head(len(body), "application/json") + body)


async def other_media(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """1 MiB of a media type that no report has."""
    body = secrets.token_bytes(MEBIBYTE)
    await _flood(reader, writer, seen, lambda: head(len(body), "text/plain") + body)


async def late_damaged(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """999 reports that are good, and one that is not: all of it is read before it is refused."""
    body = b"".join(islice(bodies("single"), 999)) + secrets.token_bytes(62)
    await _flood(reader, writer, seen, lambda: head(len(body)) + body)


async def late_json(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """The same in JSON, as long as it may be."""
    survey = parse_toml(text(CELLS), "survey.toml")
    good = [write_json(survey, survey.read(each)[0]) for each in islice(bodies("single"), 420)]
    body = json.dumps([*good, {**good[0], "id": "no id"}], separators=(",", ":")).encode()
    await _flood(reader, writer, seen, lambda: head(len(body), "application/json") + body)


async def chunked_json(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """JSON in chunks, without a length and without end, whatever is answered."""
    listening = asyncio.ensure_future(answer(reader))
    writer.write(head(0, "application/json").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
    await _without_end(writer, b"4000\r\n" + b"[" * 16_384 + b"\r\n", listening, seen)


async def sent_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """A head that announces a gigabyte, and all of it, whatever is answered."""
    listening = asyncio.ensure_future(answer(reader))
    writer.write(head(1 << 30))
    await _without_end(writer, b"x" * 65_536, listening, seen)


async def _without_end(
    writer: asyncio.StreamWriter, part: bytes, listening: "asyncio.Future[int]", seen: Counter[str]
) -> None:
    try:
        while True:
            writer.write(part)
            await writer.drain()
            seen["KiB sent"] += len(part) >> 10
    finally:
        with suppress(OSError, EOFError):
            seen[str(await listening)] += 1


async def too_large(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Counter[str]) -> None:
    """A head that announces a gigabyte, and a part of it."""
    writer.write(head(1 << 30) + b"x" * 65536)
    await writer.drain()
    seen[str(await answer(reader))] += 1


ATTACKS: dict[str, tuple[Attack, int, str]] = {
    "slow-heads": (slow_heads, SLOW, f"{SLOW:,} connections, one byte of a head a second each"),
    "slow-bodies": (slow_bodies, SLOW, f"{SLOW:,} connections, one byte of a body a second each"),
    "half-bodies": (half_bodies, HALF, f"{HALF} connections, half of a body of 8 MiB each"),
    "small-damaged": (small_damaged, FLOOD, f"{FLOOD} connections, 61 random bytes, without a pause"),
    "large-damaged": (large_damaged, FLOOD, f"{FLOOD} connections, 1 MiB of random bytes, without a pause"),
    "large-json": (large_json, FLOOD, f"{FLOOD} connections, 900 kB of JSON that is no report, without a pause"),
    "other-media": (other_media, FLOOD, f"{FLOOD} connections, 1 MiB of plain text, without a pause"),
    "late-damaged": (late_damaged, FLOOD, f"{FLOOD} connections, 999 good reports and a damaged one, without a pause"),
    "late-json": (late_json, FLOOD, f"{FLOOD} connections, 60 kB of JSON whose last report is damaged, without a pause"),
    "too-large": (too_large, FLOOD, f"{FLOOD} connections that announce 1 GiB, one after the other"),
    "sent-on": (sent_on, FLOOD, f"{FLOOD} connections that announce 1 GiB, and send it whatever is answered"),
    "chunked-json": (chunked_json, FLOOD, f"{FLOOD} connections, JSON in chunks without end, whatever is answered"),
    "many-large": (sent_on, MANY, f"{MANY:,} connections that announce 1 GiB, and send it whatever is answered"),
}


def many_files() -> None:
    """Let this process have as many connections as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def attack(name: str, port: int) -> None:
    """Attack until the process is ended; every second what happened so far is printed."""
    does, count, _ = ATTACKS[name]
    seen = Counter[str]()

    async def one() -> None:
        while True:
            with suppress(OSError, EOFError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                seen["connections"] += 1
                try:
                    await does(reader, writer, seen)
                finally:
                    writer.close()
            await asyncio.sleep(0.05)

    tasks = [asyncio.ensure_future(one()) for _ in range(count)]
    while tasks:
        await asyncio.sleep(1.0)
        print(json.dumps(seen), flush=True)


@click.command()
@click.argument("name", type=click.Choice(list(ATTACKS)))
@click.argument("port", type=int)
def main(name: str, port: int) -> None:
    """Attack the collector at this port until the process is ended."""
    many_files()
    asyncio.run(attack(name, port))


if __name__ == "__main__":
    main()
