"""One and two collectors on one PostgreSQL: what each report takes of the processor, who waits for whom, and what two give.

    python -m benchmarks.scaling            writes scaling.md
    python -m benchmarks.scaling --requests 4000 --repeats 1 --place memory --print
    chrt --rr 10 python -m benchmarks.scaling            on a machine that has other work

The database lies in memory, where nobody waits for a disk, and on the disk. Where collectors, database and load share two
cores, the cores are full before there are two collectors: two servers with nothing behind them show how much more is
possible at all, and so does what everybody takes of the processor. What collectors take from each other shows where each
has so little of a core that the others do not matter, as on a machine of its own: a collector that has used its share is
stopped until it has some again.
"""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.collector import BARE, CELLS, CONNECTIONS, bodies, text
from benchmarks.effort import family_seconds, used
from benchmarks.hostile import PLACES
from benchmarks.page import publish
from deniable.collector.crowd import post_all
from tests.servers import Postgres, free_port, postgres, served, wait_until_ready

RESULT = Path(__file__).with_suffix(".md")
SHARE = 0.2  # of a core, for a collector that is limited
TICK = 0.004  # seconds between two looks at how much it has used
LOOKS = 0.01  # seconds between two looks at what the database waits for


class Row(NamedTuple):
    """What one measurement gave."""

    name: str
    servers: int
    connections: int  # to all servers together
    rate: float  # requests a second
    server: float  # microseconds of the processor for each request
    database: float
    load: float
    waits: Counter[str]  # what writing connections waited for, by the kind of event; "" if they worked

    @property
    def all(self) -> float:
        """Microseconds of the processor for each request, of everybody."""
        return self.server + self.database + self.load

    @property
    def cores(self) -> float:
        """Of the processor, that all of it took together."""
        return self.rate * self.all / 1e6


@contextmanager
def limited(pid: int, share: float) -> Iterator[None]:
    """Let a process have so much of a core and no more."""
    ended = threading.Event()

    def work() -> None:
        before, first, stopped = time.monotonic(), used(pid), False
        while not ended.wait(TICK):
            over = used(pid) - first > share * (time.monotonic() - before)
            if over != stopped:
                os.kill(pid, signal.SIGSTOP if over else signal.SIGCONT)
                stopped = over

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=10)
        os.kill(pid, signal.SIGCONT)


@contextmanager
def watched(address: str) -> Iterator[Counter[str]]:
    """What the connections of collectors wait for meanwhile, looked at again and again."""
    import psycopg

    found, ended = Counter[str](), threading.Event()
    query = (
        "SELECT coalesce(wait_event_type, ''), count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND state = 'active' AND pid <> pg_backend_pid() GROUP BY 1"
    )

    def look() -> None:
        with psycopg.connect(address, autocommit=True, connect_timeout=10) as connection:
            while not ended.wait(LOOKS):
                for kind, number in connection.execute(query):
                    found[kind] += number

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join(timeout=10)


async def _send(urls: Sequence[str], some: list[bytes], connections: int) -> int:
    count = len(urls)
    each = [post_all(url, iter(some[place::count]), connections // count) for place, url in enumerate(urls)]
    return sum(done.arrived for done in await asyncio.gather(*each))


def send(urls: Sequence[str], some: list[bytes], connections: int = CONNECTIONS) -> None:
    """Send all of these, over so many connections to all servers together."""
    import uvloop

    if uvloop.run(_send(urls, some, connections)) != len(some):
        raise RuntimeError("the servers refused some reports")


def measured(
    name: str,
    urls: Sequence[str],
    pids: Sequence[int],
    connections: int,
    requests: int,
    server: Postgres | None = None,
    waits: Counter[str] | None = None,
) -> Row:
    """Send reports, and see what that takes."""
    made = list(islice(bodies("single"), requests))

    def taken() -> tuple[float, float, float]:
        return sum(map(used, pids)), 0.0 if server is None else family_seconds(server.first), time.process_time()

    before, start = taken(), time.perf_counter()
    send(urls, made, connections)
    seconds = time.perf_counter() - start
    mine, theirs, own = (1e6 * (after - first) / requests for after, first in zip(taken(), before, strict=True))
    return Row(name, len(urls), connections, requests / seconds, mine, theirs, own, waits or Counter())


def bare(count: int, connections: int, requests: int) -> Row:
    """So many servers with nothing behind them."""
    ports = [free_port() for _ in range(count)]
    running = [subprocess.Popen([sys.executable, "-c", BARE.replace("PORT", str(port))]) for port in ports]
    try:
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        for url in urls:
            wait_until_ready(url)
        send(urls, list(islice(bodies("single"), 500)))
        return measured("uvicorn alone", urls, [each.pid for each in running], connections, requests)
    finally:
        for each in running:
            each.kill()
            each.wait(timeout=10)


def collectors(server: Postgres, count: int, connections: int, requests: int, share: float | None = None) -> Row:
    """So many collectors on one database, each with this share of a core."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="deniable-bench-")))
        (folder / "survey.toml").write_text(text(CELLS))
        address = server.database()
        running = [stack.enter_context(served(folder / "survey.toml", address)) for _ in range(count)]
        urls, pids = [each.url for each in running], [each.process.pid for each in running]
        send(urls, list(islice(bodies("single"), 500)))
        waits = stack.enter_context(watched(address))
        for pid in pids if share is not None else ():
            stack.enter_context(limited(pid, share or 0.0))
        name = "collectors" if share is None else f"collectors with {100 * share:g} % of a core each"
        return measured(name, urls, pids, connections, requests, server, waits)


HEAD = """# One and two collectors on one PostgreSQL

`python -m benchmarks.scaling` on {date}: reports of one person each to servers that share two cores with the database and
the load. Medians of {repeats} runs, rates with the least and the most. "Times one" is the rate of two beside that of one
server with as many connections, and with as many connections to each server. Microseconds are of the processor, for each
request.{priority}
"""
PRIORITY = " The machine had other work too: all of this had real-time priority (`chrt --rr 10`)."
TABLE = """
## The database {where}

| servers | n | connections | requests a second | times one | server, us | database, us | load, us | cores in all |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""
TAIL = """
With {connections} connections, one collector, the database and the load take {one:.0f} us of the processor for each report,
which is {busy:.2f} of {cores} cores at {rate:,.0f} a second; with two collectors a report takes {two:.0f} us. If nobody ever
waited for anybody, two collectors could be {possible:.2f} times one. One collector keeps hardly more than one core busy:
where it has all the clients it can serve, it takes that core for itself, and {cores} cores are full at **{full:.2f} times
one**, whatever is done about waiting. Of {looks:,} looks ({every:g} ms apart) at the connections of two collectors,
{locks:,} found one that waited for another transaction.
"""
KINDS = {"memory": "in memory (`/dev/shm`)", "disk": "on the disk"}
SETTINGS = [(1, CONNECTIONS), (1, 2 * CONNECTIONS), (2, CONNECTIONS), (2, 2 * CONNECTIONS)]  # servers and connections


def between(rows: list[Row]) -> Row:
    """The median of several runs of one setting."""

    def median(taken: Callable[[Row], float]) -> float:
        return statistics.median(map(taken, rows))

    return rows[0]._replace(
        rate=median(lambda row: row.rate),
        server=median(lambda row: row.server),
        database=median(lambda row: row.database),
        load=median(lambda row: row.load),
        waits=sum((row.waits for row in rows), Counter[str]()),
    )


def shown_row(rows: list[Row], ones: dict[int, float]) -> str:
    """A line of the table; `ones` has the rates of one server, by its connections."""
    row, rates = between(rows), [each.rate for each in rows]
    same, each = ones[row.connections], ones[row.connections // row.servers] if row.connections > CONNECTIONS else None
    times = "1.00" if row.servers == 1 else f"{row.rate / same:.2f}" + (f", {row.rate / each:.2f}" if each else "")
    return (
        f"| {row.name} | {row.servers} | {row.connections} | {row.rate:,.0f} ({min(rates):,.0f} to {max(rates):,.0f}) | "
        f"{times} | {row.server:.0f} | {row.database:.0f} | {row.load:.0f} | {row.cores:.2f} |"
    )


def part(place: str, runs: list[list[list[Row]]]) -> str:
    """What was measured with the database at one place: of each kind of server, the rows of each setting."""
    lines = list[str]()
    for kind in runs:
        ones = {rows[0].connections: between(rows).rate for rows in kind if rows[0].servers == 1}
        lines += [shown_row(rows, ones) for rows in kind]
    one, two = (between(runs[1][SETTINGS.index((count, 2 * CONNECTIONS))]) for count in (1, 2))
    cores = len(os.sched_getaffinity(0))
    tail = TAIL.format(
        connections=2 * CONNECTIONS, one=one.all, two=two.all, busy=one.cores, cores=cores, rate=one.rate,
        possible=1e6 * cores / two.all / one.rate, full=cores * one.server / one.all, every=1000 * LOOKS,
        looks=sum(two.waits.values()), locks=two.waits["Lock"],
    )  # fmt: skip
    return TABLE.format(where=KINDS[place]) + "\n".join(lines) + "\n" + tail


@click.command()
@click.option("--requests", default=20_000, show_default=True)
@click.option("--repeats", default=3, show_default=True)
@click.option("--place", "places", multiple=True, type=click.Choice(list(KINDS)), help="Of the database. Default: both.")
@click.option("--print", "shown", is_flag=True, help="Print the result instead of writing it.")
def main(requests: int, repeats: int, places: tuple[str, ...], shown: bool) -> None:
    """Measure what a second collector on the same database gives."""
    few, priority = max(500, requests // 4), "" if os.sched_getscheduler(0) == os.SCHED_OTHER else PRIORITY
    text = HEAD.format(date=datetime.now(UTC).date(), repeats=repeats, priority=priority)
    for place in places or KINDS:
        with postgres(PLACES[place]) as server:
            every = range(repeats)
            runs = [
                [[bare(*setting, requests) for _ in every] for setting in SETTINGS],
                [[collectors(server, *setting, requests) for _ in every] for setting in SETTINGS],
                [[collectors(server, *setting, few, SHARE) for _ in every] for setting in SETTINGS],
            ]
        text += part(place, runs)
    publish(text, RESULT, shown)


if __name__ == "__main__":
    main()
