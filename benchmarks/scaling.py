"""One and two collectors on one PostgreSQL: what each report takes of the processor, who waits for whom, and what two give.

    python -m benchmarks.scaling            writes scaling.md
    python -m benchmarks.scaling --requests 4000 --print

Where collectors, database and load share two cores, the cores are full before there are two collectors: two servers with
nothing behind them show how much more is possible at all, and so does what everybody takes of the processor. What
collectors take from each other shows where each has so little of a core that the others do not matter: a collector that
has used its share is stopped until it has some again.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.collector import BARE, CELLS, CONNECTIONS, bodies, text
from benchmarks.effort import family_seconds, used
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


async def _send(urls: Sequence[str], some: list[bytes]) -> int:
    count = len(urls)
    each = [post_all(url, iter(some[place::count]), CONNECTIONS // count) for place, url in enumerate(urls)]
    return sum(done.arrived for done in await asyncio.gather(*each))


def send(urls: Sequence[str], some: list[bytes]) -> None:
    """Send all of these, over as many connections to all servers together as to one."""
    import uvloop

    if uvloop.run(_send(urls, some)) != len(some):
        raise RuntimeError("the servers refused some reports")


def measured(
    name: str, urls: Sequence[str], pids: Sequence[int], requests: int, server: Postgres | None, waits: Counter[str]
) -> Row:
    """Send reports, and see what that takes."""
    made = list(islice(bodies("single"), requests))

    def taken() -> tuple[float, float, float]:
        return sum(map(used, pids)), 0.0 if server is None else family_seconds(server.first), time.process_time()

    before, start = taken(), time.perf_counter()
    send(urls, made)
    seconds = time.perf_counter() - start
    mine, theirs, own = (1e6 * (after - first) / requests for after, first in zip(taken(), before, strict=True))
    return Row(name, len(urls), requests / seconds, mine, theirs, own, waits)


def bare(count: int, requests: int) -> Row:
    """So many servers with nothing behind them."""
    ports = [free_port() for _ in range(count)]
    running = [subprocess.Popen([sys.executable, "-c", BARE.replace("PORT", str(port))]) for port in ports]
    try:
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        for url in urls:
            wait_until_ready(url)
        send(urls, list(islice(bodies("single"), 500)))
        return measured("uvicorn alone", urls, [each.pid for each in running], requests, None, Counter())
    finally:
        for each in running:
            each.kill()
            each.wait(timeout=10)


def collectors(server: Postgres, count: int, requests: int, share: float | None = None) -> Row:
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
        return measured(name, urls, pids, requests, server, waits)


HEAD = """# One and two collectors on one PostgreSQL

`python -m benchmarks.scaling` on {date}: reports of one person each over {connections} connections to all servers together,
which share two cores with the database and the load. Microseconds are of the processor, for each request.

| servers | n | requests a second | times one | server, us | database, us | load, us | cores in all | waits: locks, others |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""
TAIL = """
One collector, the database and the load take {all_one:.0f} us of the processor for each report; at {rate:,.0f} reports a
second that is {busy:.2f} of {cores} cores. If nobody ever waited for anybody, {cores} cores would be full at {most:,.0f} a
second: two collectors can be at most **{possible:.2f} times one** here; by what a report takes with two ({all_two:.0f} us),
{possible_two:.2f} times. They are {measured:.2f} times one. Two servers with nothing behind them are {bare:.2f} times one.
With at most {share:g} % of a core each, so that cores are left over, two collectors are **{limited:.2f} times one**.
A report takes {one:.0f} us of collector and database at one collector and {two:.0f} at two.
Locks are looks ({looks:g} ms apart) at which a connection that counted reports waited for another transaction; others are
those at which it waited for anything else (the disk, mostly) or worked.
"""


def shown_row(row: Row, one: float) -> str:
    """A line of the table."""
    locks = row.waits["Lock"]
    others = sum(row.waits.values()) - locks
    return (
        f"| {row.name} | {row.servers} | {row.rate:,.0f} | {row.rate / one:.2f} | {row.server:.0f} | {row.database:.0f} | "
        f"{row.load:.0f} | {row.cores:.2f} | {locks:,}, {others:,} |"
    )


@click.command()
@click.option("--requests", default=20_000, show_default=True)
@click.option("--print", "shown", is_flag=True, help="Print the result instead of writing it.")
def main(requests: int, shown: bool) -> None:
    """Measure what a second collector on the same database gives."""
    with postgres() as server:
        few = max(500, requests // 4)
        pairs = [
            [bare(count, requests) for count in (1, 2)],
            [collectors(server, count, requests) for count in (1, 2)],
            [collectors(server, count, few, SHARE) for count in (1, 2)],
        ]
    rows = [shown_row(row, pair[0].rate) for pair in pairs for row in pair]
    ratios = [pair[1].rate / pair[0].rate for pair in pairs]
    one, two = (row.server + row.database for row in pairs[1])
    alone, both = pairs[1]
    cores = len(os.sched_getaffinity(0))
    tail = TAIL.format(
        bare=ratios[0], one=one, two=two, share=100 * SHARE, limited=ratios[2], looks=1000 * LOOKS, measured=ratios[1],
        all_one=alone.all, all_two=both.all, rate=alone.rate, busy=alone.cores, cores=cores, most=1e6 * cores / alone.all,
        possible=cores / alone.cores, possible_two=1e6 * cores / both.all / alone.rate,
    )  # fmt: skip
    head = HEAD.format(date=datetime.now(UTC).date(), connections=CONNECTIONS)
    publish(head + "\n".join(rows) + "\n" + tail, RESULT, shown)


if __name__ == "__main__":
    main()
