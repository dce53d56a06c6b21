"""The collector over HTTP: requests and reports a second, each acknowledged when it is durable; and what it takes for that.

Server and load share the machine. The bound is the same server with an application that reads the body and answers at once:
no validation, no ids, no counting, no store.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from itertools import islice
from pathlib import Path

import numpy as np

import deniable as dn
from benchmarks.effort import Effort, family_seconds, used
from benchmarks.figure import Figure
from deniable.collector import opened
from deniable.collector.access import new_token
from deniable.collector.crowd import Sent, post_all, run_crowd
from deniable.survey.reading import parse_toml
from tests.servers import free_port, postgres, postgres_programs, served, wait_until_ready

CELLS, CONNECTIONS, BATCH = 16, 64, 1000
ROUNDS = 5  # of which the best counts, as with all figures
BARE = """
import uvicorn
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"{}"})
uvicorn.run(app, port=PORT, log_level="error", access_log=False, lifespan="off")
"""


def text(cells: int) -> str:
    head = '[survey]\nid = "bench"\nepsilon = 1.0\nminimum_reports = 1\npeople = 100000\n'
    return f'{head}[[question]]\nid = "q"\nkind = "category"\nchoices = {list(range(cells))}\n'


@contextmanager
def collector(store: str, cells: int = CELLS, folder: Path | None = None) -> Iterator[tuple[str, int, str]]:
    """A collector's address, process and batch token, on a store of its own, under this folder if one is given."""
    folder = Path(tempfile.mkdtemp(prefix="deniable-bench-", dir=folder))
    (folder / "survey.toml").write_text(text(cells))
    try:
        with ExitStack() as stack:
            address = stack.enter_context(postgres()).database() if store == "postgresql" else str(folder / "store.db")
            with opened(address) as place:
                token = new_token(place, "bench", "batch")
            running = stack.enter_context(served(folder / "survey.toml", address))
            yield running.url, running.process.pid, token
    finally:
        shutil.rmtree(folder)


def bodies(kind: str, cells: int = CELLS) -> Iterator[bytes]:
    """Reports of one person each, or of a thousand under one id, without end."""
    survey, random = parse_toml(text(cells), "survey.toml"), np.random.default_rng(0)
    while True:
        answers = {"q": random.integers(0, cells, BATCH)}
        if kind == "single":
            yield from survey.randomize_all(answers, BATCH)
        else:
            yield survey.batch(answers, BATCH)


def requests(kind: str, effort: Effort) -> int:
    return max(500, effort.n // 50) if kind == "single" else max(300, effort.n // 500)


def sent(
    url: str, kind: str, effort: Effort, token: str | None = None, connections: int = CONNECTIONS
) -> tuple[float, Sent]:
    """Requests a second, and what was answered, in the best of some rounds; the reports are made beforehand."""
    count = requests(kind, effort) // ROUNDS
    made = list(islice(bodies(kind), ROUNDS * count + 300))
    run_crowd(url, iter(made[ROUNDS * count :]), connections, token)  # warm up
    found = list[tuple[float, Sent]]()
    for place in range(ROUNDS):
        start = time.perf_counter()
        done = run_crowd(url, iter(made[place * count : (place + 1) * count]), connections, token)
        seconds = time.perf_counter() - start
        if done.arrived != count or done.lost:
            raise RuntimeError(f"the collector refused some reports: {done.statuses}, {done.lost} connections lost")
        found.append((count / seconds, done))
    return max(found, key=lambda each: each[0])


@cache
def measured(store: str, kind: str, effort: Effort) -> tuple[float, float]:
    """Requests a second, and the seconds within which 99 of 100 were answered."""
    with collector(store) as (url, _, token):
        rate, done = sent(url, kind, effort, token if kind == "batch" else None)
    return rate, float(np.percentile(done.seconds, 99))


def throughput(store: str, kind: str, effort: Effort) -> float:
    return measured(store, kind, effort)[0] * (1 if kind == "single" else BATCH)


def slowest(store: str, kind: str, effort: Effort) -> float:
    return 1000 * measured(store, kind, effort)[1]


@cache
def several(count: int, connections: int, effort: Effort) -> tuple[float, float]:
    """Single reports a second at so many collectors on one PostgreSQL, over so many connections to all of them together; and
    what each takes of the processor, in seconds, of collectors, database and load.
    """
    folder, requested = Path(tempfile.mkdtemp(prefix="deniable-bench-")), requests("single", effort)
    (folder / "survey.toml").write_text(text(CELLS))
    made = list(islice(bodies("single"), requested + 300))

    async def send(urls: list[str], some: list[bytes]) -> int:
        each = [post_all(url, iter(some[place::count]), connections // count) for place, url in enumerate(urls)]
        return sum(done.arrived for done in await asyncio.gather(*each))

    try:
        with ExitStack() as stack:
            server = stack.enter_context(postgres())
            address = server.database()
            running = [stack.enter_context(served(folder / "survey.toml", address)) for _ in range(count)]
            urls = [each.url for each in running]

            def taken() -> float:
                mine = sum(used(each.process.pid) for each in running)
                return mine + family_seconds(server.first) + time.process_time()

            asyncio.run(send(urls, made[requested:]))
            before, start = taken(), time.perf_counter()
            if asyncio.run(send(urls, made[:requested])) != requested:
                raise RuntimeError("the collectors refused some reports")
            seconds = time.perf_counter() - start
            return requested / seconds, (taken() - before) / requested
    finally:
        shutil.rmtree(folder)


def one_of_several(effort: Effort) -> tuple[float, str]:
    return several(1, CONNECTIONS, effort)[0], f"one collector, {CONNECTIONS} clients"


def rate_of_several(count: int, connections: int, effort: Effort) -> float:
    return several(count, connections, effort)[0]


def full_cores(count: int, connections: int, effort: Effort) -> tuple[float, str]:
    """What all cores could do if nobody ever waited, by what a report took of the processor in the same run."""
    cores = len(os.sched_getaffinity(0))
    return cores / several(count, connections, effort)[1], f"{cores} cores full of collectors, database and load"


@cache
def bare(kind: str, effort: Effort) -> tuple[float, float]:
    port = free_port()
    with subprocess.Popen([sys.executable, "-c", BARE.replace("PORT", str(port))]) as process:
        try:
            wait_until_ready(f"http://127.0.0.1:{port}")
            rate, done = sent(f"http://127.0.0.1:{port}", kind, effort)
        finally:
            process.terminate()
    return rate, float(np.percentile(done.seconds, 99))


def bound(kind: str, effort: Effort) -> tuple[float, str]:
    return bare(kind, effort)[0] * (1 if kind == "single" else BATCH), "uvicorn alone, no store"


def bound_slowest(kind: str, effort: Effort) -> tuple[float, str]:
    return 1000 * bare(kind, effort)[1], "uvicorn alone, no store"


def many_clients(effort: Effort) -> float:
    """A thousand connections at once, for a minute (six seconds if quick): requests that failed."""
    seconds = 60 if effort.seconds >= 0.5 else 6
    with collector("sqlite") as (url, _, _token):
        end = time.monotonic() + seconds

        def until() -> Iterator[bytes]:
            for body in bodies("single"):
                if time.monotonic() > end:
                    return
                yield body

        done = run_crowd(url, until(), 1000)
    return float(sum(done.statuses.values()) - done.arrived + done.lost)


def growth(effort: Effort) -> float:
    """How much more memory the collector holds after ten times effort.n reports than after the first tenth of them."""
    with collector("sqlite") as (url, pid, token):
        batches = bodies("batch")
        run_crowd(url, islice(batches, effort.n // BATCH), 16, token)
        first = resident(pid)
        run_crowd(url, islice(batches, 9 * effort.n // BATCH), 16, token)
        return float(max(0, resident(pid) - first))


def resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def results(effort: Effort) -> float:
    """Milliseconds for the estimates of a survey with a thousand cells, over HTTP, best of ten."""
    with collector("sqlite", 1000) as (url, _, token):
        batches, times = bodies("batch", 1000), list[float]()
        run_crowd(url, islice(batches, 20), 4, token)
        for _ in range(10):
            run_crowd(url, islice(batches, 1), 1, token)  # otherwise they are kept
            start = time.perf_counter()
            with urllib.request.urlopen(f"{url}/v1/results") as answer:
                answer.read()
            times.append(time.perf_counter() - start)
    return 1000 * min(times)


def estimate_alone(effort: Effort) -> tuple[float, str]:
    mechanism = parse_toml(text(1000), "survey.toml").questions[0].mechanism
    tally = mechanism.tally(mechanism.perturb(np.arange(20_000) % 1000, dn.SeededCoins(1)))
    return 1e3 / effort.rate(lambda: mechanism.estimate(tally).interval(), 1), "the estimate alone"


STORES = ["sqlite", *(["postgresql"] if postgres_programs() else [])]
UNITS = {"single": "requests/second", "batch": "reports/second"}
FIGURES = [
    *(
        Figure(
            f"collector/{kind}/{store}", UNITS[kind], partial(throughput, store, kind), partial(bound, kind), has_peers=False
        )
        for kind in UNITS
        for store in STORES
    ),
    *(
        Figure(
            f"collector/p99/{kind}/{store}",
            "milliseconds for 99 of 100",
            partial(slowest, store, kind),
            partial(bound_slowest, kind),
            has_peers=False,
        )
        for kind in UNITS
        for store in STORES
    ),
    *(
        Figure(
            f"collector/two/{name}",
            "requests/second",
            partial(rate_of_several, 2, connections),
            against,
            has_peers=False,
        )
        for name, connections, against in (
            (f"{CONNECTIONS}-clients", CONNECTIONS, one_of_several),
            (f"{2 * CONNECTIONS}-clients", 2 * CONNECTIONS, one_of_several),
            ("full-cores", CONNECTIONS, partial(full_cores, 2, CONNECTIONS)),
        )
        if postgres_programs()
    ),
    Figure("collector/failures/1000-clients", "requests that failed", many_clients, lambda _: (1.0, "one"), has_peers=False),
    Figure(
        "collector/memory",
        "bytes that grew",
        growth,
        lambda effort: (160.0 * effort.n, "the ids of all reports"),
        has_peers=False,
    ),
    Figure("collector/results/1000", "milliseconds", results, estimate_alone, has_peers=False),
]
