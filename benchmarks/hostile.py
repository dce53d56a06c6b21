"""A collector under hostile clients: how long honest people wait meanwhile, and how much memory it takes.

    python -m benchmarks.hostile                         all attacks, several times; writes hostile.md
    python -m benchmarks.hostile --keep FILE --minutes 7   some of them; again with the same FILE, the rest
    python -m benchmarks.hostile --only many-large --place memory --repeats 1 --print
    chrt --rr 10 python -m benchmarks.hostile            on a machine that has other work

Honest people send 400 reports a second over 16 connections. Each attack runs in a process of its own, of low priority: its
work would be done on other machines. An attacker whose connection is dropped opens another. The store lies on the disk, and
in memory, where nobody waits for a disk: what is left is what the processor does. With real-time priority (chrt) honest
people and the collector come before everything else on the machine; attackers never have it.
"""

import asyncio
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from benchmarks.attackers import ATTACKS, answer, head, many_files
from benchmarks.collector import bodies, collector, resident
from benchmarks.effort import used
from benchmarks.page import publish

RESULT = Path(__file__).with_suffix(".md")
HONEST, EVERY = 16, 0.04  # connections of honest people, and seconds between two reports of one of them
PLACES = {"memory": Path("/dev/shm"), "disk": Path(tempfile.gettempdir())}
CALM = "calm"
LONGER = {"slow-heads": 12.0}  # seconds, until the first of them are dropped and come back


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


@contextmanager
def attacked(name: str, port: int) -> Iterator[dict[str, int]]:
    """An attack meanwhile; what came of it stands in the dictionary at the end."""
    seen = dict[str, int]()
    command = ["nice", "-n", "15", sys.executable, "-m", "benchmarks.attackers", name, str(port)]
    if os.sched_getscheduler(0) != os.SCHED_OTHER:
        command = ["chrt", "--other", "0", *command]
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


class Phase(NamedTuple):
    """How honest people fared for some seconds, and what that took."""

    place: str
    repeat: int
    attack: str  # which, or calm
    before: str  # the attack that a calm phase comes before
    reports: int
    median: float  # milliseconds
    p99: float
    slowest: float
    refused: int
    memory: int  # bytes, at most
    cores: float  # of the collector
    seen: dict[str, int]  # by the attackers


class Honest(NamedTuple):
    """Honest people at one collector."""

    place: str
    repeat: int
    port: int
    pid: int
    reports: Iterator[bytes]

    def phase(self, attack: str, before: str, seconds: float, seen: dict[str, int]) -> Phase:
        """Let them send for some seconds. The reports are made beforehand."""
        made = iter(list(islice(self.reports, round(HONEST * (seconds / EVERY + 1)))))
        watch = Watch(self.pid)
        watch.start()
        first, start = used(self.pid), time.monotonic()
        waited, statuses = honest(self.port, made, seconds)
        cores = (used(self.pid) - first) / (time.monotonic() - start)
        p50, p99 = (float(each) for each in np.percentile(waited, [50, 99]))
        refused = sum(number for status, number in statuses.items() if status != 200)
        return Phase(
            self.place, self.repeat, attack, before, len(waited), 1000 * p50, 1000 * p99, 1000 * max(waited), refused,
            watch.end(), cores, seen,
        )  # fmt: skip


def run(place: str, repeat: int, names: list[str], seconds: float, until: float) -> Iterator[Phase]:
    """These attacks on a new collector, with a calm phase before each; no more of them after this time."""
    with collector("sqlite", folder=PLACES[place]) as (url, pid, _):
        people = Honest(place, repeat, int(url.rpartition(":")[2]), pid, bodies("single"))
        people.phase(CALM, "", 3.0, {})  # warm up
        for name in names:
            if time.monotonic() > until:
                return
            calm = people.phase(CALM, name, seconds / 2, {})
            with attacked(name, people.port) as seen:
                while not seen:
                    time.sleep(0.1)
                found = people.phase(name, "", max(seconds, LONGER.get(name, 0.0)), seen)
            yield from (calm, found)
            time.sleep(1.0)


HEAD = """# A collector under hostile clients

`python -m benchmarks.hostile` on {date}, two cores for the collector (SQLite), the honest people and the attackers together.
Honest people send {rate} reports a second over {honest} connections. An attacker whose connection is dropped opens another.
Every attack lasted {seconds:g} s or more and was made {repeats} times, with the store in memory (`/dev/shm`) and on disk.
Times are milliseconds: the median over the repeats, and the least and the most in brackets.{priority}

| attack | median, memory | p99, memory | / calm | median, disk | p99, disk | / calm | refused | cores | most memory, MB |
|---|---|---|--:|---|---|--:|--:|--:|--:|
"""
PRIORITY = """
The machine had other work too: collector and honest people had real-time priority (`chrt --rr 10`), attackers had not."""
TAIL = """
Calm are all phases between two attacks together: {calm} in memory, {calm_disk} on the disk. Refused are honest reports,
cores what the collector took of the processor, in memory and on the disk. Memory is the most that the whole process held;
requests in flight are limited to 64 MiB of bodies, 4,000 connections and 16 KiB of head each.

What attackers saw, the first time, in memory:

"""


def over(values: list[float]) -> str:
    """The median of these, and their spread."""
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})" if values else ""


def line(attack: str, found: list[Phase]) -> str:
    """A line of the table: what came of one attack, or of calm phases."""
    cells, cores, mine = list[str](), list[str](), [each for each in found if each.attack == attack]
    for place in PLACES:
        some = [each for each in mine if each.place == place]
        calm = [each.p99 for each in found if each.attack == CALM and each.place == place]
        p99 = [each.p99 for each in some]
        times = f"{statistics.median(p99) / statistics.median(calm):.2f}" if p99 and calm else ""
        cells += [over([each.median for each in some]), over(p99), times]
        cores += [f"{statistics.median(each.cores for each in some):.2f}"] if some else []
    name = CALM if attack == CALM else ATTACKS[attack][2]
    refused, memory = sum(each.refused for each in mine), max(each.memory for each in mine) / 1e6
    return f"| {name} | {' | '.join(cells)} | {refused} | {', '.join(cores)} | {memory:.0f} |"


def table(found: list[Phase], seconds: float, repeats: int) -> str:
    """The whole page."""
    top = HEAD.format(
        date=datetime.now(UTC).date(),
        rate=round(HONEST / EVERY),
        honest=HONEST,
        seconds=seconds,
        repeats=repeats,
        priority="" if os.sched_getscheduler(0) == os.SCHED_OTHER else PRIORITY,
    )
    there = {each.attack for each in found}
    rows = [line(name, found) for name in (CALM, *ATTACKS) if name in there]
    calm = {place: sum(each.attack == CALM and each.place == place for each in found) for place in PLACES}
    saw = list[str]()
    for each in found:
        if each.attack != CALM and each.repeat == 0 and each.place == "memory":
            numbers = (f"{number:,} {'of ' if key.isdigit() else ''}{key}" for key, number in sorted(each.seen.items()))
            saw.append(f"- {ATTACKS[each.attack][2]}: {', '.join(numbers)}")
    return top + "\n".join(rows) + "\n" + TAIL.format(calm=calm["memory"], calm_disk=calm["disk"]) + "\n".join(saw) + "\n"


@click.command()
@click.option("--seconds", type=float, default=5.0, show_default=True, help="How long each attack lasts.")
@click.option("--repeats", default=3, show_default=True, help="How often each attack is made.")
@click.option("--only", "names", multiple=True, type=click.Choice(list(ATTACKS)), help="Default: all.")
@click.option("--place", "places", multiple=True, type=click.Choice(list(PLACES)), help="Of the store. Default: both.")
@click.option("--keep", type=click.Path(path_type=Path), help="A file of what was measured, to go on from.")
@click.option("--minutes", type=float, default=600.0, help="Begin nothing more after so many minutes.")
@click.option("--print", "shown", is_flag=True, help="Print the result instead of writing it.")
def main(
    seconds: float,
    repeats: int,
    names: tuple[str, ...],
    places: tuple[str, ...],
    keep: Path | None,
    minutes: float,
    shown: bool,
) -> None:
    """Attack a collector in every way that we know, and measure how long honest people wait."""
    many_files()
    until = time.monotonic() + 60 * minutes
    lines = keep.read_text().splitlines() if keep is not None and keep.exists() else []
    found = [Phase(*json.loads(each)) for each in lines]
    for repeat in range(repeats):
        for place in places or PLACES:
            done = {each.attack for each in found if (each.place, each.repeat) == (place, repeat)}
            left = [name for name in names or ATTACKS if name not in done]
            for phase in run(place, repeat, left, seconds, until) if left and time.monotonic() < until else ():
                found.append(phase)
                if keep is not None:
                    with keep.open("a") as file:
                        file.write(json.dumps(phase) + "\n")
    wanted = repeats * len(places or PLACES) * len(names or ATTACKS)
    if sum(each.attack != CALM for each in found) < wanted:
        click.echo("Not everything is measured yet. Run the same command again.")
    else:
        publish(table(found, seconds, repeats), RESULT, shown)


if __name__ == "__main__":
    main()
