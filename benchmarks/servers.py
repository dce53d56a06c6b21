"""HTTP servers with nothing behind them: which one a collector should build on.

    python -m benchmarks.servers            writes servers.md; measures granian only where it is installed

Each reads a body of 61 bytes and answers `{}`; 64 connections, load and server on the same machine. What a server takes of
the processor for a request is what a collector cannot save.
"""

import importlib.util
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import click

from benchmarks.collector import BARE, CONNECTIONS, bodies
from benchmarks.effort import processor_seconds
from benchmarks.page import publish
from deniable.collector.crowd import run_crowd
from tests.servers import free_port, wait_until_ready

RESULT = Path(__file__).with_suffix(".md")
ASGI = BARE.split("uvicorn.run")[0].replace("import uvicorn\n", "")
GRANIAN_ASGI = f"""{ASGI}
from granian.server.embed import Server
import asyncio, uvloop
uvloop.run(Server(app, port=PORT, interface="asginl", log_enabled=False).serve())
"""
GRANIAN_RSGI = """
async def app(scope, protocol):
    await protocol()
    protocol.response_bytes(200, [("content-length", "2")], b"{}")
from granian.server.embed import Server
import asyncio, uvloop
uvloop.run(Server(app, port=PORT, interface="rsgi", log_enabled=False).serve())
"""
PROTOCOL = """
import asyncio, httptools, uvloop
ANSWER = b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}"
class Protocol(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.parser = transport, httptools.HttpRequestParser(self)
    def data_received(self, data):
        self.parser.feed_data(data)
    def on_message_begin(self): self.headers, self.body = [], b""
    def on_url(self, url): self.url = url
    def on_header(self, name, value): self.headers.append((name, value))
    def on_body(self, body): self.body += body
    def on_message_complete(self): self.transport.write(ANSWER)
KNOWN
async def main():
    server = await asyncio.get_running_loop().create_server(Protocol, "127.0.0.1", PORT)
    await server.serve_forever()
uvloop.run(main())
"""
KNOWN = """
class Known(Protocol):
    heads = {}
    def data_received(self, data):
        end = data.find(b"\\r\\n\\r\\n") + 4
        length = self.heads.get(data[:end])
        if length is not None and len(data) == end + length:
            self.body = data[end:]
            self.on_message_complete()
            return
        super().data_received(data)
        self.heads[data[:end]] = len(data) - end
Protocol = Known
"""
SERVERS = {
    "uvicorn, ASGI (httptools, uvloop)": BARE,
    "granian, ASGI": GRANIAN_ASGI,
    "granian, RSGI": GRANIAN_RSGI,
    "a protocol of asyncio (httptools, uvloop)": PROTOCOL.replace("KNOWN", ""),
    "the same, known heads not parsed again": PROTOCOL.replace("KNOWN", KNOWN),
}
HEAD = """# HTTP servers with nothing behind them

`python -m benchmarks.servers` on {date}: {requests:,} requests of 61 bytes over {connections} connections,
server and load on two cores, best of {rounds} rounds in turns.

| server | requests a second | processor, us a request |
|---|--:|--:|
"""
TAIL = """
A collector takes the first and the last: uvicorn for everything that is unusual (long, chunked, pipelined and broken
requests, pages, TLS, shutdown), and on the same connections the shortest way for small reports
whose head it has parsed before.
"""


def measured(code: str, requests: int) -> tuple[float, float]:
    """Requests a second, and microseconds of the processor for each."""
    port, made = free_port(), list(islice(bodies("single"), requests + 300))
    with subprocess.Popen([sys.executable, "-c", code.replace("PORT", str(port))], stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_ready(f"http://127.0.0.1:{port}", process)
            run_crowd(f"http://127.0.0.1:{port}", iter(made[requests:]), CONNECTIONS)
            used, start = processor_seconds(process.pid), time.perf_counter()
            done = run_crowd(f"http://127.0.0.1:{port}", iter(made[:requests]), CONNECTIONS)
            seconds = time.perf_counter() - start
            used = processor_seconds(process.pid) - used
        finally:
            process.kill()
    if done.arrived != requests:
        raise RuntimeError(f"the server answered {done.statuses}")
    return requests / seconds, 1e6 * used / requests


@click.command()
@click.option("--requests", default=20_000, show_default=True)
@click.option("--rounds", default=3, show_default=True)
@click.option("--print", "shown", is_flag=True, help="Print the result instead of writing it.")
def main(requests: int, rounds: int, shown: bool) -> None:
    """Compare HTTP servers with nothing behind them."""
    there = importlib.util.find_spec("granian") is not None
    codes = {name: code for name, code in SERVERS.items() if there or not name.startswith("granian")}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in codes}
    for _ in range(rounds):
        for name, code in codes.items():
            found[name].append(measured(code, requests))
    rows = [f"| {name} | {max(r for r, _ in some):,.0f} | {min(u for _, u in some):.0f} |" for name, some in found.items()]
    head = HEAD.format(date=datetime.now(UTC).date(), requests=requests, connections=CONNECTIONS, rounds=rounds)
    text = head + "\n".join(rows) + "\n" + TAIL
    publish(text, RESULT, shown)


if __name__ == "__main__":
    main()
