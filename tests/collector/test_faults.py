"""Faults, with real processes: killed collectors, a full disk, a database that goes away, two collectors at once."""

import resource
import ssl
import threading
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import deniable as dn
from benchmarks.chaos import chaos
from deniable.collector import opened, results
from deniable.collector.access import new_token
from deniable.collector.crowd import Sent, post_all
from tests.servers import Postgres, Served, free_port, served
from tests.surveys import several, survey
from tests.waits import PATIENCE, finished, until

pytestmark = [pytest.mark.needs("starlette", "uvicorn"), pytest.mark.long]
TEXT = several(4, 9)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(TEXT)
    return path


class Load:
    """People who answer one after another, each until the collector has said that the report is counted."""

    def __init__(self, *urls: str, connections: int = 8) -> None:
        self.survey, self.made, self.sent = survey(TEXT), list[bytes](), list[Sent]()
        self._going, self._lock = True, threading.Lock()
        self._threads = [threading.Thread(target=self._work, args=(url, connections), daemon=True) for url in urls]
        for thread in self._threads:
            thread.start()

    def _bodies(self) -> Iterator[bytes]:
        random = np.random.default_rng()
        while self._going:
            answers = {"q0": random.integers(0, 4, 20), "q1": random.integers(0, 9, 20)}
            for body in self.survey.randomize_all(answers, 20):
                if not self._going:
                    return
                with self._lock:
                    self.made.append(body)
                yield body

    def _work(self, url: str, connections: int) -> None:
        # It lasts for as long as its test does, which has a limit of its own: twenty restarts take long on a busy machine.
        self.sent.append(finished(post_all(url, self._bodies(), connections), 2 * PATIENCE))

    def finish(self) -> list[Sent]:
        self._going = False
        for thread in self._threads:
            thread.join(timeout=PATIENCE)
            assert not thread.is_alive()
        assert len(self.sent) == len(self._threads), "the load gave up"
        return self.sent

    def check(self, store: str) -> None:
        """Everything that was made was acknowledged in the end, so all of it is counted, exactly once."""
        assert sum(sent.arrived for sent in self.sent) == len(self.made)
        assert {status for sent in self.sent for status in sent.statuses} <= {200, 429, 503}
        expected: dict[str, dn.Tally] = {}
        for message in self.survey.read(b"".join(self.made)):
            for question, reports in zip(self.survey.questions, self.survey.unpack(message), strict=True):
                tally = question.mechanism.tally(reports)
                expected[question.id] = expected[question.id] + tally if question.id in expected else tally
        with opened(store) as place:
            number, asked = place.register(self.survey)
            with place.view() as view:
                assert view.tallies(number, asked) == {(0, name): tally for name, tally in expected.items()}
            assert results(asked, number, place).people == len(self.made)


def test_killed_twenty_times(file: Path, tmp_path: Path) -> None:
    store, port = str(tmp_path / "store.db"), free_port()
    collector = Served(file, store, port).ready()
    load = Load(collector.url)
    try:
        for _ in range(20):
            before = len(load.made)
            until(lambda before=before: len(load.made) > before + 20)  # type: ignore[misc]
            collector.kill()
            collector = Served(file, store, port)
        collector.ready()
        sent = load.finish()
    finally:
        load._going = False
        collector.kill()
    assert sum(each.lost for each in sent) >= 20  # it was hit while requests were under way
    load.check(store)


def test_a_full_disk(file: Path, tmp_path: Path) -> None:
    """The process may not make any file longer, so that writes fail as on a full disk; then it may again."""
    store = str(tmp_path / "store.db")
    with served(file, store) as collector:
        load = Load(collector.url)
        try:
            until(lambda: len(load.made) > 60)
            pid = collector.process.pid
            before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (Path(store + "-wal").stat().st_size, before[1]))
            until(lambda: 'deniable_store_up{survey="several"} 0.0' in text(collector))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
            until(lambda: 'deniable_store_up{survey="several"} 1.0' in text(collector))
            made = len(load.made)
            until(lambda: len(load.made) > made + 40)
        finally:
            load._going = False
        (sent,) = load.finish()
        assert sent.statuses[503] > 0
    load.check(store)


def text(collector: Served) -> str:
    with urllib.request.urlopen(collector.url + "/metrics", timeout=PATIENCE) as answer:
        return str(answer.read().decode())


@pytest.mark.needs("postgres", "psycopg")
def test_a_database_that_goes_away(file: Path, database_server: Postgres) -> None:
    store = database_server.database()
    with served(file, store) as collector:
        load = Load(collector.url)
        try:
            for _ in range(2):
                made = len(load.made)
                until(lambda made=made: len(load.made) > made + 40)  # type: ignore[misc]
                database_server.stop()
                until(lambda: 'deniable_store_up{survey="several"} 0.0' in text(collector))
                database_server.start()
                until(lambda: 'deniable_store_up{survey="several"} 1.0' in text(collector))
        finally:
            load._going = False
        (sent,) = load.finish()
        assert sent.statuses[503] > 0
    load.check(store)


@pytest.mark.needs("postgres", "psycopg")
def test_a_database_that_becomes_read_only(file: Path, database_server: Postgres) -> None:
    import psycopg

    store = database_server.database()
    name = store.rpartition("/")[2]

    def read_only(switch: str) -> None:
        with psycopg.connect(database_server.address("postgres"), autocommit=True, connect_timeout=30) as connection:
            connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {switch}".encode())
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))

    with served(file, store) as collector:
        load = Load(collector.url)
        try:
            until(lambda: len(load.made) > 40)
            read_only("on")
            until(lambda: 'deniable_store_up{survey="several"} 0.0' in text(collector))
            read_only("off")
            until(lambda: 'deniable_store_up{survey="several"} 1.0' in text(collector))
        finally:
            load._going = False
        (sent,) = load.finish()
        assert sent.statuses[503] > 0
    load.check(store)


@pytest.mark.needs("postgres", "psycopg")
def test_two_collectors_on_one_database(file: Path, database_server: Postgres) -> None:
    store = database_server.database()
    first, second = Served(file, store), Served(file, store)  # started together: both make the tables
    try:
        load = Load(first.ready().url, second.ready().url)
        with opened(store) as place:
            token = new_token(place, load.survey.id, "batch")
        try:
            until(lambda: len(load.made) > 600)
        finally:
            load._going = False
        load.finish()
        # the same reports again, to the other collector each
        body = b"".join(load.made)
        for collector in (first, second):
            until(lambda collector=collector: knows(collector, token))  # type: ignore[misc]
            answer = post(collector, body, token)
            assert answer["counted"] == 0 and answer["duplicates"] == len(load.made)
    finally:
        first.stop()
        second.stop()
    load.check(store)


def knows(collector: Served, token: str) -> bool:
    """Whether a collector has heard of this token: it looks for new ones from time to time."""
    try:
        post(collector, b"x", token)
    except urllib.error.HTTPError as error:
        return error.code != 401
    return True


def post(collector: Served, body: bytes, token: str | None = None) -> dict[str, int]:
    import json

    from deniable.survey.message import MEDIA_TYPE

    headers = {"Content-Type": MEDIA_TYPE} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    request = urllib.request.Request(collector.url + "/v1/reports", body, headers, method="POST")
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        found: dict[str, int] = json.loads(answer.read())
        return found


@pytest.mark.needs("pyarrow")
def test_kept_reports_are_in_files_when_it_stops(tmp_path: Path) -> None:
    path, kept = tmp_path / "survey.toml", TEXT.replace("[survey]", "[survey]\nkeep_reports = true")
    path.write_text(kept)
    asked = survey(kept)
    store = str(tmp_path / "store.db")
    with opened(store) as place:
        token = new_token(place, asked.id, "batch")
    with served(path, store) as collector:
        post(collector, asked.batch({"q0": [1] * 500, "q1": [2] * 500}, 500), token)
    for question in asked.questions:
        (segment,) = (tmp_path / "survey.reports").glob(f"{question.id}-*.parquet")
        assert len(dn.read_reports(segment, question.mechanism)) == 500


def test_over_tls(file: Path, tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    collector = Served(file, str(tmp_path / "store.db"), None, "--tls-cert", str(certificate), "--tls-key", str(key))
    trust = ssl.create_default_context(cafile=str(certificate))
    url = collector.url.replace("http://", "https://")
    try:
        until(lambda: answers(url, trust))
        with urllib.request.urlopen(f"{url}/v1/survey", context=trust, timeout=PATIENCE) as answer:
            assert dn.Survey.from_json(answer.read().decode()).id == "several"
        with pytest.raises(OSError):  # plain HTTP is not answered there
            collector.get("/health/live")
    finally:
        collector.stop()


def answers(url: str, trust: ssl.SSLContext) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health/live", context=trust, timeout=PATIENCE):
            return True
    except OSError:
        return False


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that nobody else signed, and its key."""
    now, key = datetime.now(UTC), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "collector")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, plain))
    return certificate, private


def test_told_to_stop_it_answers_everybody(file: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    collector = Served(file, store).ready()
    load = Load(collector.url)
    try:
        until(lambda: len(load.made) > 60)
        assert collector.stop() in (0, -15)
        collector = Served(file, store, collector.port).ready()
        load.finish()
    finally:
        load._going = False
        collector.kill()
    load.check(store)


@pytest.mark.needs("postgres", "psycopg")
def test_a_rolling_restart(file: Path, database_server: Postgres) -> None:
    """Two collectors on one database, each stopped and started again in turn while both get reports."""
    store = database_server.database()
    collectors = [Served(file, store).ready() for _ in range(2)]
    load = Load(*(each.url for each in collectors), connections=4)
    try:
        for place in (0, 1):
            made = len(load.made)
            until(lambda made=made: len(load.made) > made + 40)  # type: ignore[misc]
            assert collectors[place].stop() == 0
            collectors[place] = Served(file, store, collectors[place].port).ready()
        load.finish()
        counted = sum(_metric(each, 'deniable_messages_total{outcome="counted",survey="several"}') for each in collectors)
        assert 0 < counted <= len(load.made)  # each counts for itself, since it began
    finally:
        load._going = False
        for each in collectors:
            each.kill()
    load.check(store)
    with opened(store) as data, data.view() as view:
        shards = {row[0] for row in view.run("SELECT shard FROM tallies")}
    assert len(shards) >= 2  # they did not add to the same rows


def _metric(collector: Served, name: str) -> float:
    return next(float(line.split()[-1]) for line in text(collector).splitlines() if line.startswith(name))


def test_a_short_loop_of_faults() -> None:
    """The loop of `benchmarks.chaos`, with short faults."""
    outcome = chaos("sqlite", 8.0, pace=0.2, seed=3)
    assert outcome.lost == 0 and outcome.doubled == 0 and outcome.account.given_up == []
    assert sum(sum(each.values()) for each in outcome.account.acknowledged.values()) > 20
