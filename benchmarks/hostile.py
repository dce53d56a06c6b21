"""A collector under hostile clients: how long honest people wait meanwhile, and how much memory it takes.

    python -m benchmarks.hostile            all attacks, one after the other; writes hostile.md
    python -m benchmarks.hostile --seconds 5 --print

Honest people send 400 reports a second over 16 connections. Each attack runs in a process of its own, of low priority: its
work would be done on other machines. An attacker whose connection is dropped opens another.
"""

import asyncio
import json
import resource
import secrets
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from benchmarks.collector import CELLS, bodies, collector, resident, text
from benchmarks.effort import used
from benchmarks.page import publish
from deniable.survey.message import MEDIA_TYPE
from deniable.survey.reading import parse_toml
from tests.collector.json_writer import write_json

RESULT = Path(__file__).with_suffix(".md")
HONEST, EVERY = 16, 0.04  # connections of honest people, and seconds between two reports of one of them
SLOW, HALF, FLOOD, MANY = 1200, 60, 16, 1000  # connections of the attackers
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


# Honest people


async def _honest(port: int, reports: Iterator[bytes], end: float, waited: list[float], statuses: Counter[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.sleep(EVERY * secrets.randbelow(1000) / 1000)
    while time.monotonic() < end:
        body, start = next(reports), time.perf_counter()
        writer.write(head(len(body)) + body)
        statuses[await answer(reader)] += 1
        waited.append(time.perf_counter() - start)
        await asyncio.sleep(max(0.0, EVERY - (time.perf_counter() - start)))
    writer.close()


def honest(port: int, reports: Iterator[bytes], seconds: float) -> tuple[list[float], Counter[int]]:
    """How long every honest report took, and how it was answered."""
    waited, statuses, end = list[float](), Counter[int](), time.monotonic() + seconds

    async def everybody() -> None:
        await asyncio.gather(*(_honest(port, reports, end, waited, statuses) for _ in range(HONEST)))

    asyncio.run(everybody())
    return waited, statuses


# Attackers: each is a coroutine that runs on one connection until that is dropped

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


@contextmanager
def attacked(name: str, port: int) -> Iterator[dict[str, int]]:
    """An attack meanwhile; what came of it stands in the dictionary at the end."""
    seen = dict[str, int]()
    command = ["nice", "-n", "15", sys.executable, "-m", "benchmarks.hostile", "--attack", name, "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout
        assert output is not None

        def listen() -> None:
            for line in output:
                seen.update(json.loads(line))

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        try:
            yield seen
        finally:
            process.kill()
            listener.join()


class Watch(threading.Thread):
    """The most memory that a process has held."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid, self._going, self.most = pid, True, 0

    def run(self) -> None:
        while self._going:
            self.most = max(self.most, resident(self._pid))
            time.sleep(0.1)

    def end(self) -> int:
        self._going = False
        self.join()
        return self.most


HEAD = """# A collector under hostile clients

`python -m benchmarks.hostile` on {date}, two cores for the collector (SQLite), the honest people and the attackers together.
Honest people send {rate} reports a second over {honest} connections. An attacker whose connection is dropped opens another.

| attack | honest reports | median, ms | p99, ms | slowest, ms | p99 / calm | refused | cores | memory, MB | attackers saw |
|---|---|---|---|---|---|---|---|---|---|
"""
TAIL = """
Calm is the median of the {calm} calm phases. Cores are what the collector took of the processor. Memory is the most that the
whole process held; requests in flight are limited to 64 MiB of bodies, 4,000 connections and 16 KiB of head each. Phases
last {seconds:g} s.
"""


class Phase(NamedTuple):
    """How honest people fared for some seconds, and what that took."""

    waited: list[float]  # milliseconds
    statuses: Counter[int]
    memory: int  # bytes, at most
    cores: float  # of the collector


def phase(port: int, pid: int, reports: Iterator[bytes], seconds: float) -> Phase:
    watch = Watch(pid)
    watch.start()
    before, start = used(pid), time.monotonic()
    waited, statuses = honest(port, reports, seconds)
    cores = (used(pid) - before) / (time.monotonic() - start)
    return Phase([1000 * each for each in waited], statuses, watch.end(), cores)


def line(name: str, found: Phase, calm: float, seen: dict[str, int]) -> str:
    waited, statuses, most, cores = found
    p50, p99 = np.percentile(waited, [50, 99])
    refused = sum(number for status, number in statuses.items() if status != 200)
    saw = ", ".join(f"{number:,} {'of ' if key.isdigit() else ''}{key}" for key, number in sorted(seen.items()))
    return (
        f"| {name} | {len(waited):,} | {p50:.1f} | {p99:.1f} | {max(waited):.0f} | {p99 / calm:.2f} | {refused} | "
        f"{cores:.2f} | {most / 1e6:.0f} | {saw} |"
    )


def run(seconds: float, names: list[str]) -> str:
    """The table of all attacks."""
    with collector("sqlite") as (url, pid, _):
        port, reports = int(url.rpartition(":")[2]), bodies("single")
        phase(port, pid, reports, 3.0)  # warm up
        found = list[tuple[str, Phase, dict[str, int]]]()
        for name in names:
            found.append(("calm", phase(port, pid, reports, seconds / 2), {}))
            with attacked(name, port) as seen:
                while not seen:
                    time.sleep(0.1)
                found.append((ATTACKS[name][2], phase(port, pid, reports, seconds), seen))
            time.sleep(1.0)
    calm = statistics.median(float(np.percentile(one.waited, 99)) for name, one, _ in found if name == "calm")
    rows = [line(name, one, calm, seen) for name, one, seen in found]
    return "\n".join(rows) + "\n" + TAIL.format(calm=len(names), seconds=seconds)


@click.command()
@click.option("--seconds", type=float, default=14.0, show_default=True, help="How long each attack lasts.")
@click.option("--only", "names", multiple=True, type=click.Choice(list(ATTACKS)), help="Default: all.")
@click.option("--print", "shown", is_flag=True, help="Print the result instead of writing it.")
@click.option("--attack", "name", type=click.Choice(list(ATTACKS)), hidden=True)
@click.option("--port", type=int, hidden=True)
def main(seconds: float, names: tuple[str, ...], shown: bool, name: str | None, port: int | None) -> None:
    """Attack a collector in every way that we know, and measure how long honest people wait."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if name is not None and port is not None:
        asyncio.run(attack(name, port))
    top = HEAD.format(date=datetime.now(UTC).date(), rate=round(HONEST / EVERY), honest=HONEST)
    publish(top + run(seconds, list(names or ATTACKS)), RESULT, shown)


if __name__ == "__main__":
    main()
