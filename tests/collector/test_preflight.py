"""`deniable serve --check` and its settings: what is wrong is said before anything starts, and nothing is left behind."""

import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from deniable.cli.configuration import PREFIX, settings
from deniable.cli.main import main
from deniable.cli.serve import serve
from deniable.collector import Collector, opened
from deniable.collector.access import admit_token, gates_of, revoke_token
from deniable.collector.forwarded import Proxies
from deniable.collector.preflight import Plan, findings
from deniable.collector.serve import Place
from deniable.errors import InvalidParameter
from tests import ROOT
from tests.servers import Served, free_port
from tests.surveys import ONE, survey
from tests.waits import PATIENCE

pytestmark = pytest.mark.needs("starlette", "uvicorn")


def run(*arguments: object, code: int = 0, variables: Mapping[str, str] | None = None) -> Result:
    runner = CliRunner(env={"COLUMNS": "80", **(variables or {})})
    result = runner.invoke(main, ["serve", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(ONE)
    return path


def plan(file: Path, store: str | None = None, **place: object) -> Plan:
    where = Place(**{"port": free_port(), **place})  # type: ignore[arg-type]
    return Plan(file, store or str(file.with_suffix(".db")), where)


def wrong(asked: Plan) -> dict[str, str]:
    return {each.what: each.text for each in findings(asked) if each.level == "error"}


def test_a_check_finds_nothing_and_leaves_nothing(file: Path) -> None:
    port = free_port()
    assert f"Ready to start at http://127.0.0.1:{port}" in run(file, "--check", "--port", port).output
    assert [path.name for path in file.parent.iterdir()] == ["survey.toml"]


def test_everything_that_is_wrong_is_found_at_once(file: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        given = ("--store", tmp_path / "none" / "x.db", "--proxy", "x", "--tls-cert", file, "--tls-key", file)
        output = run(file, "--check", "--port", port, *given, code=2).output
    for said in ("options: A proxy is given", "address: Nothing can listen", "TLS: The certificate", "database: The folder"):
        assert said in output
    assert "4 of " in output
    assert [path.name for path in tmp_path.iterdir()] == ["survey.toml"]


def test_a_database_is_looked_at_without_changing_it(file: Path, new_store: object) -> None:
    assert callable(new_store)
    address = new_store()
    assert wrong(plan(file, address)) == {}
    with opened(address) as store:
        Collector(survey(ONE), store)
        folder = sorted(file.parent.iterdir())
        assert wrong(plan(file, address)) == {}  # while it is in use
        assert sorted(file.parent.iterdir()) == folder
    file.write_text(ONE.replace("epsilon = 1.0", "epsilon = 1.5"))
    folder = sorted(file.parent.iterdir())
    assert "has changed since" in wrong(plan(file, address))["database"]
    assert sorted(file.parent.iterdir()) == folder


def test_databases_of_later_and_earlier_releases_and_no_databases(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    for version, level in ((99, "error"), (1, "note")):
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE IF NOT EXISTS surveys (id TEXT, spec TEXT)")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        (found,) = [each for each in findings(plan(file, str(path))) if each.what == "database"]
        assert found.level == level and "schema" in found.text
    path.write_bytes(b"no database" * 100)
    assert "not a readable database" in wrong(plan(file, str(path)))["database"]
    assert "PostgreSQL cannot be used" in wrong(plan(file, f"postgresql://x@127.0.0.1:{free_port()}/x"))["database"]


def test_certificates_and_clocks(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.certificates import written

    now = datetime.now(UTC)
    for days, said in ((365, "is valid until"), (3, "expires on"), (-1, "only. Renew it")):
        place = written(tmp_path, now + timedelta(days=days))
        found = [each for each in findings(plan(file, None, **place)) if each.what == "TLS"]
        assert said in found[0].text and (found[0].level == "error") == (days < 0)
    place["tls_key"].chmod(0o644)
    assert any("Everybody on this machine can read" in each.text for each in findings(plan(file, None, **place)))
    monkeypatch.setattr("deniable.collector.preflight.time.time", lambda: 1.0)
    assert "before this release" in wrong(plan(file))["clock"]


def test_a_folder_with_a_bad_file_and_two_of_one_id(tmp_path: Path) -> None:
    for name, text in (("a.toml", ONE), ("b.toml", ONE), ("c.toml", "nonsense")):
        (tmp_path / name).write_text(text)
    said = " ".join(each.text for each in findings(plan(tmp_path, str(tmp_path / "x.db"))) if each.level == "error")
    assert "b.toml: the id 'one' is already used by" in said and "c.toml: " in said


def test_the_command_line_comes_before_variables_and_these_before_a_file(file: Path, tmp_path: Path) -> None:
    config, ports = tmp_path / "deniable.toml", [free_port() for _ in range(3)]
    config.write_text(f'survey = "{file}"\nport = {ports[0]}\nallow-origin = ["https://a.example"]\nopen-results = true\n')

    def address(*arguments: object, **variables: str) -> int:
        return int(run("--config", config, "--check", *arguments, variables=variables).output.rpartition(":")[2])

    assert address() == ports[0]
    assert address(DENIABLE_PORT=str(ports[1])) == ports[1]
    assert address("--port", ports[2], DENIABLE_PORT=str(ports[1])) == ports[2]
    given = {"DENIABLE_CONFIG": str(config), "DENIABLE_PORT": str(ports[1])}
    assert f":{ports[1]}" in run("--check", file, variables=given).output
    for bad, said in (("prot = 1", "do not exist: prot"), ("port = true", "string or a number"), ("=", "not a TOML")):
        config.write_text(bad)
        assert said in run("--config", config, file, "--check", code=2).output
    for bad in ('allow-origin = "x"', "open-results = 1"):
        config.write_text(bad)
        assert "must be" in run("--config", config, file, "--check", code=2).output


def test_the_address_of_the_database_that_was_given_last_counts(file: Path, tmp_path: Path) -> None:
    secret, config = tmp_path / "secret", tmp_path / "c.toml"
    secret.write_text(f"{tmp_path / 'from-file.db'}\n")
    config.write_text(f'store-file = "{secret}"')
    assert "from-file.db will" in run(file, "--check", "--config", config, "--port", free_port()).output
    other = ("--store", tmp_path / "given.db")
    assert "given.db will" in run(file, "--check", "--config", config, *other, "--port", free_port()).output


def test_every_setting_is_in_the_table_of_the_docs() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    for name, parameter in settings(serve).items():
        assert name in rows, name
        assert isinstance(parameter, click.Argument) or f"`{PREFIX}_{name.upper().replace('-', '_')}`" in rows[name], name


def test_a_token_from_a_file_opens_results_until_it_is_revoked(file: Path, tmp_path: Path) -> None:
    secret, token = tmp_path / "token", "0123456789abcdef" * 2
    secret.write_text("short\n")
    assert "at least 32" in run(file, "--token-file", secret, "--port", free_port(), code=2).output
    assert not file.with_suffix(".db").exists()
    with opened(str(tmp_path / "x.db")) as store:
        asked = survey(ONE)
        store.register(asked)
        for _ in range(2):  # two collectors with one file
            admit_token(store, asked.id, "results", token)
        assert gates_of(store, asked.id)["results"].opens(f"Bearer {token}".encode())
        revoke_token(store, asked.id, "results-1")
        admit_token(store, asked.id, "results", token)
        assert not gates_of(store, asked.id)["results"].opens(f"Bearer {token}".encode())


def test_a_missing_extra_leaves_nothing(file: Path) -> None:
    code = "import sys; sys.modules['starlette'] = sys.modules['uvicorn'] = None; from deniable.cli import run; run()"
    for more in ((), ("--check",)):
        command = [sys.executable, "-c", code, "serve", str(file), "--port", str(free_port()), *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 2 and "deniable[collector]" in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in file.parent.iterdir()] == ["survey.toml"]


def test_only_named_proxies_are_believed() -> None:
    proxies = Proxies(["127.0.0.1", "10.0.0.0/8", "::1"])
    header = b"x-forwarded-for"

    def who(connected: str, *lines: bytes) -> str:
        found = proxies.client((connected, 9), [(b"host", b"x"), *((header, line) for line in lines)])
        assert found is not None
        return found[0]

    assert who("127.0.0.1", b"198.51.100.1") == "198.51.100.1"
    assert who("10.1.2.3", b"6.6.6.6, 2001:db8::1, 10.0.0.1") == "2001:db8::1"  # what a person adds stands before
    assert who("127.0.0.1", b"6.6.6.6", b"198.51.100.1") == "198.51.100.1"  # a line of the proxy's own
    assert who("::ffff:127.0.0.1", b"198.51.100.1") == "198.51.100.1"
    assert who("198.51.100.7", b"6.6.6.6") == "198.51.100.7"  # no proxy of ours
    for nonsense in (b"", b"unknown", b"6.6.6.6, <script>", b"," * 5000):
        assert who("127.0.0.1", nonsense) == "127.0.0.1"
    assert Proxies().client(("127.0.0.1", 9), [(header, b"6.6.6.6")]) == ("127.0.0.1", 9)
    with pytest.raises(InvalidParameter, match="network"):
        Proxies(["everybody"])


def test_limits_are_of_people_behind_a_proxy(file: Path, tmp_path: Path) -> None:
    """Single reports that arrive whole and others alike: each address has a rate of its own."""
    import http.client

    import deniable as dn

    collector = Served(file, str(tmp_path / "x.db"), None, "--rate", "0.001", "--proxy", "127.0.0.1")
    try:
        collector.ready()
        asked = survey(ONE)

        def status(address: str, split: bool) -> int:
            body = dn.Device(asked).answer({"town": "Nice"})
            connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=PATIENCE)
            connection.putrequest("POST", "/v1/reports")
            for name, value in (("content-type", "application/vnd.deniable.reports"), ("content-length", str(len(body)))):
                connection.putheader(name, value)
            connection.putheader("x-forwarded-for", address)
            if split:  # in two packets: the usual way
                connection.endheaders()
                time.sleep(0.05)
                connection.send(body)
            else:
                connection.endheaders(body)
            found = connection.getresponse().status
            connection.close()
            return found

        assert [status("198.51.100.1", False), status("198.51.100.1", False), status("198.51.100.2", False)] == [
            200,
            429,
            200,
        ]
        assert [status("198.51.100.3", True), status("198.51.100.3", True), status("198.51.100.4", True)] == [200, 429, 200]
    finally:
        collector.stop()
