"""Collectors under faults, in a loop: killed, with wrong clocks, cut off from their database, on full disks.

    python -m benchmarks.chaos --minutes 30                      both stores, writes chaos.md
    python -m benchmarks.chaos --minutes 1 --store sqlite --print

Every report is known: its number is its answer, so that the exact tally of every period is known too. People send a report
until the collector answers that it was counted, and some send it again afterwards. At the end each period is compared with
what was acknowledged: any report that was lost or counted twice shows.
"""

import http.client
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import click
import numpy as np

from deniable.collector import opened
from deniable.survey import Message, Survey
from deniable.survey.message import MEDIA_TYPE, encode
from deniable.survey.reading import parse_toml
from tests.servers import Postgres, free_port, postgres, wait_until_ready

RESULT = Path(__file__).with_suffix(".md")
CELLS, WINDOW, DAY = 3000, 300, 86_400
SENDERS, PAUSE = 6, 0.05  # people who send at the same time, and seconds between two reports of one
REPLAYS = 0.2  # of the reports are sent once more after they were acknowledged
# The clock of a collector: the true one, and as many seconds as the file says.
LAUNCH = """
import mmap, struct, sys, time
file = open(sys.argv.pop(1), "rb")
offset, true = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ), time.time
time.time = lambda: true() + struct.unpack_from("<d", offset)[0]
from deniable.cli import run
run()
"""


def survey_text(opens: float) -> str:
    head = '[survey]\nid = "chaos"\nepsilon = 1.0\nminimum_reports = 1\npeople = 100000\n'
    head += f"opens = {datetime.fromtimestamp(opens, UTC):%Y-%m-%dT%H:%M:%SZ}\nwindow = {WINDOW}\nlate = 2\n"
    question = f'[[question]]\nid = "q"\nkind = "category"\nchoices = {list(range(CELLS))}\n'
    return f'{head}{question}mechanism = {{ mechanism = "direct-1" }}\n'


class Running:
    """A collector whose clock can be moved, which is started again when it was killed."""

    def __init__(self, folder: Path, name: str, store: str) -> None:
        self._folder, self._store, self._clock = folder, store, folder / f"{name}.clock"
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self._log = folder / f"{name}.log"
        self.set_clock(0.0)
        self.start()

    def set_clock(self, offset: float) -> None:
        if not self._clock.exists():
            self._clock.write_bytes(struct.pack("<d", offset))
        with self._clock.open("r+b") as file:  # in place: the process has it mapped
            file.write(struct.pack("<d", offset))

    def start(self) -> None:
        command = [sys.executable, "-c", LAUNCH, str(self._clock), "serve", str(self._folder / "survey.toml")]
        command += ["--store", self._store, "--port", str(self.port), "--open-results"]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)

    def wait(self) -> None:
        wait_until_ready(f"http://127.0.0.1:{self.port}", self.process)

    def kill(self, how: int = signal.SIGKILL) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait()


@dataclass
class Account:
    """What was sent, and how it was answered."""

    acknowledged: dict[int, Counter[int]] = field(default_factory=dict)  # by period, how often each answer
    statuses: Counter[int] = field(default_factory=Counter)
    lost_answers: int = 0
    replays: int = 0
    given_up: list[tuple[int, int]] = field(default_factory=list)  # period and answer of reports never acknowledged
    lock: threading.Lock = field(default_factory=threading.Lock)

    def acknowledge(self, message: Message, value: int) -> None:
        with self.lock:
            self.acknowledged.setdefault(message.period, Counter())[value] += 1


class People:
    """Threads that send one report after another, each to any of the collectors until one has counted it."""

    def __init__(self, survey: Survey, ports: list[int], pause: float = PAUSE) -> None:
        self.survey, self.ports, self.account, self._pause = survey, ports, Account(), pause
        self._going, self._serial = True, iter(range(1 << 60))
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(SENDERS)]
        for thread in self._threads:
            thread.start()

    def finish(self, seconds: float = 90.0) -> None:
        self._going, self._end = False, time.monotonic() + seconds
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        account = self.account
        while self._going:
            with account.lock:
                value = next(self._serial) % CELLS
            payload = value.to_bytes(2, "little")  # a direct response is the number of the answer, in whole bytes
            message = Message(os.urandom(16), 1, self.survey.period(time.time()), 1, payload)
            body = encode(self.survey.fingerprint_bytes, message)
            if self._sent(body):
                account.acknowledge(message, value)
                if random.random() < REPLAYS:
                    account.replays += 1
                    self._posted(body)
            else:
                account.given_up.append((message.period, value))
            time.sleep(self._pause)

    def _sent(self, body: bytes) -> bool:
        while self._going or time.monotonic() < self._end:
            status = self._posted(body)
            if status == 200:
                return True
            time.sleep(0.2)
        return False

    def _posted(self, body: bytes) -> int | None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", random.choice(self.ports), timeout=12)
            connection.request("POST", "/v1/reports", body, {"Content-Type": MEDIA_TYPE})
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            self.account.lost_answers += 1
            return None
        finally:
            connection.close()
        self.account.statuses[answer.status] += 1
        return answer.status


class Faults:
    """What goes wrong, one thing at a time."""

    def __init__(self, collectors: list[Running], database: Postgres | None, pace: float) -> None:
        self._collectors, self._database, self._pace = collectors, database, pace
        self.happened: Counter[str] = Counter()
        others = ["clock", "stop", "disk", "partition" if database else "pause"]
        self.kinds = [*others, *["kill"] * len(others)]
        self.kills = 0  # by `kill -9`, also those while a clock was wrong

    def happen(self, kind: str) -> None:
        one = random.choice(self._collectors)
        self.revive()
        getattr(self, f"_{kind}")(one)
        self.happened[kind] += 1

    def revive(self) -> bool:
        """Start the server again if it has ended, which a full disk may bring about some time later; whether it had."""
        if self._database is None or _family(self._database):
            return False
        self._database.start()
        self.happened["of these the server ended"] += 1
        return True

    def _restart(self, one: Running) -> None:
        one.start()
        try:
            one.wait()
        except AssertionError:  # without its server a collector does not start
            if not self.revive():
                raise
            one.kill()
            one.start()
            one.wait()

    def _rest(self, seconds: float) -> None:
        time.sleep(seconds * self._pace)

    def _kill(self, one: Running) -> None:
        self._rest(random.uniform(0.0, 1.0))
        one.kill()
        self.kills += 1
        self._restart(one)

    def _stop(self, one: Running) -> None:
        """A restart as the operator does it."""
        one.kill(signal.SIGTERM)
        self._restart(one)

    def _clock(self, one: Running) -> None:
        one.set_clock(random.uniform(-DAY, DAY))
        self._rest(3.0)
        if random.random() < 0.5:  # killed while its clock is wrong
            one.kill()
            self.kills += 1
            one.start()
            self._rest(4.0)
        one.set_clock(0.0)

    def _pause(self, one: Running) -> None:
        """A collector that stands still for a while, and goes on."""
        assert one.process is not None
        one.process.send_signal(signal.SIGSTOP)
        self._rest(random.uniform(1.0, 15.0))
        one.process.send_signal(signal.SIGCONT)

    def _partition(self, _: Running) -> None:
        """The database does not answer, longer than anybody waits for it every other time."""
        assert self._database is not None
        family = _family(self._database)
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        self._rest(random.choice([3.0, 14.0]))
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def _disk(self, one: Running) -> None:
        """No file can grow: of the collector with SQLite, of the server with PostgreSQL, which may end by that."""
        assert one.process is not None
        size = random.choice([0, 1 << 16, 1 << 20])
        if self._database is None:
            _limit([one.process.pid], size)
            self._rest(4.0)
            _limit([one.process.pid], None)
            return
        _limit(_family(self._database), size, self._database.owner)
        self._rest(4.0)
        if not self.revive():
            _limit(_family(self._database), None, self._database.owner)


def _limit(processes: list[int], size: int | None, owner: Sequence[str] = ()) -> None:
    """Limit how long these processes may make a file; only their owner may do that."""
    limit = "unlimited" if size is None else str(size)
    for pid in processes:
        subprocess.run([*owner, "prlimit", "--pid", str(pid), f"--fsize={limit}:"], check=False, capture_output=True)


def _family(database: Postgres) -> list[int]:
    """The processes of the server."""
    try:
        first = database.first
        os.kill(first, 0)
    except (OSError, ValueError, IndexError):
        return []
    tasks = Path(f"/proc/{first}/task/{first}/children")
    children = [int(each) for each in tasks.read_text().split()] if tasks.exists() else []
    return [first, *children]


@dataclass
class Outcome:
    """What came of it."""

    store: str
    seconds: float
    account: Account
    happened: Counter[str]
    lost: int
    doubled: int
    kills: int = 0

    def line(self) -> str:
        account = self.account
        acknowledged = sum(sum(each.values()) for each in account.acknowledged.values())
        faults = ", ".join(f"{number} {kind}" for kind, number in sorted(self.happened.items()))
        statuses = ", ".join(f"{number} of {status}" for status, number in sorted(account.statuses.items()))
        return (
            f"| {self.store} | {self.seconds / 60:.1f} | {self.kills} | {faults} | {acknowledged:,} | {account.replays:,} | "
            f"{account.lost_answers:,} | {statuses} | {len(account.given_up)} | **{self.lost}** | **{self.doubled}** |"
        )


@contextmanager
def stage(store: str) -> Iterator[tuple[Path, str, Postgres | None, int]]:
    """A folder, the address of an empty store, its server if it has one, and how many collectors work on it."""
    folder = Path(tempfile.mkdtemp(prefix="deniable-chaos-"))
    try:
        if store == "sqlite":
            yield folder, str(folder / "store.db"), None, 1
        else:
            with postgres() as server:
                yield folder, server.database(), server, 2
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def chaos(store: str, seconds: float, pace: float = 1.0, seed: int = 1, pause: float = PAUSE, kills: int = 0) -> Outcome:
    """Let things go wrong for so long, and until so many collectors were killed.

    `pace` is how long faults last, compared with the whole experiment.
    """
    random.seed(seed)
    with stage(store) as (folder, address, server, count):
        opens = time.time() - 2 * DAY  # so that a clock that is a day behind is within the survey
        (folder / "survey.toml").write_text(survey_text(opens))
        survey = parse_toml((folder / "survey.toml").read_text(), "survey.toml")
        collectors = [Running(folder, f"collector{place}", address) for place in range(count)]
        try:
            for each in collectors:
                each.wait()
            people, faults = People(survey, [each.port for each in collectors], pause), Faults(collectors, server, pace)
            start = time.monotonic()
            while time.monotonic() - start < seconds or faults.kills < kills:
                kind = random.choice(faults.kinds)
                faults.happen(kind)
                time.sleep(random.uniform(0.5, 3.0) * pace)
            faults.revive()
            people.finish()
            spent = time.monotonic() - start
        finally:
            for each in collectors:
                each.kill()
        outcome = _judged(store, spent, address, survey, people.account, faults.happened)
        return replace(outcome, kills=faults.kills)


def _judged(store: str, seconds: float, address: str, survey: Survey, account: Account, happened: Counter[str]) -> Outcome:
    lost = doubled = 0
    with opened(address) as place:
        number, asked = place.register(survey)
        with place.view() as view:
            tallies = view.tallies(number, asked)
    for period in {period for period, _ in tallies} | set(account.acknowledged):
        expected, allowed = np.zeros(CELLS, np.int64), np.zeros(CELLS, np.int64)
        for value, times in account.acknowledged.get(period, Counter()).items():
            expected[value] += times
        for made, value in account.given_up:  # nobody knows whether these were counted: each may be there once
            allowed[value] += made == period
        found = tallies[(period, "q")].counts if (period, "q") in tallies else np.zeros(CELLS, np.int64)
        lost += int(np.maximum(expected - found, 0).sum())
        doubled += int(np.maximum(found - expected - allowed, 0).sum())
    if not account.acknowledged:
        raise RuntimeError("No report was acknowledged at all, so nothing was tested.")
    return Outcome(store, seconds, account, happened, lost, doubled)


HEAD = """# Collectors under faults

`python -m benchmarks.chaos --minutes {minutes:g} --kills {kills}` on {date}, two cores that others used too, seed {seed}.
SQLite has one collector, PostgreSQL two, each of which gets any report. Faults come one after another, at random:

- **kill**, every other fault: `kill -9` of a collector; **stop**: SIGTERM, as in a rolling restart;
- **clock**: the clock of a collector jumps by up to a day, either way; every other time it is killed meanwhile;
- **partition**: SIGSTOP of every process of PostgreSQL for 3 or 14 s; **pause**: SIGSTOP of the collector for up to 15 s;
- **disk**: no file may grow for 4 s (RLIMIT_FSIZE): of the collector with SQLite, of the server with PostgreSQL.

Periods last {window} s and are accepted two periods later. One report in five is sent again after it was acknowledged.

| store | min | `kill -9` | faults | acknowledged | sent again | no answer | statuses | unknown | lost | doubled |
|---|---|---|---|---|---|---|---|---|---|---|
"""


@click.command()
@click.option("--minutes", type=float, default=30.0, show_default=True)
@click.option(
    "--store", "stores", multiple=True, type=click.Choice(["sqlite", "postgresql"]), help="Default: both, at once."
)
@click.option("--kills", type=int, default=50, show_default=True, help="Go on until so many collectors were killed.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--print", "shown", is_flag=True, help="Print the result instead of writing it.")
def main(minutes: float, stores: tuple[str, ...], kills: int, seed: int, shown: bool) -> None:
    """Let collectors fail in every way that we know, and count."""
    found: list[Outcome] = []
    if len(stores) == 1:
        found.append(chaos(stores[0], 60 * minutes, seed=seed, kills=kills))
        lines = [each.line() for each in found]
    else:
        again = [sys.executable, "-m", "benchmarks.chaos", "--minutes", str(minutes)]
        again += ["--kills", str(kills), "--seed", str(seed), "--print"]
        both = [
            subprocess.Popen([*again, "--store", store], stdout=subprocess.PIPE, text=True)
            for store in stores or ("sqlite", "postgresql")
        ]
        lines = [line for each in both for line in each.communicate()[0].splitlines() if line.startswith("| ")]
    text = "\n".join(lines) + "\n"
    if shown:
        click.echo(text)
    else:
        RESULT.write_text(
            HEAD.format(minutes=minutes, kills=kills, date=datetime.now(UTC).date(), seed=seed, window=WINDOW) + text
        )


if __name__ == "__main__":
    main()
