"""What deploy/ holds: alerts that fire when they should, a board of metrics that exist, and files that fit together."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from deniable.collector.metrics import Metrics
from tests import ROOT
from tests.waits import PATIENCE

DEPLOY = ROOT / "deploy"
PATH = os.environ["PATH"]
pytestmark = pytest.mark.needs("starlette", "uvicorn", "yaml")


def exposed() -> set[str]:
    """The names of all series that a collector has."""
    metrics = Metrics("x")
    metrics.refused["damaged"] += 1
    metrics.suspicions = {"mode": 1}
    return set(re.findall(r"^(deniable_\w+)", metrics.text(0, True), re.MULTILINE))


@pytest.mark.needs("promtool")
def test_alerts_fire_when_they_should() -> None:
    for command in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        done = subprocess.run(
            ["promtool", *command], cwd=DEPLOY / "prometheus", capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tested_and_every_metric_exists() -> None:
    rules, tests = ((DEPLOY / "prometheus" / name).read_text() for name in ("alerts.yml", "alerts_test.yml"))
    named = re.findall(r"alert: (\w+)", rules)
    assert len(named) == 7 and {*named} == {*re.findall(r"alertname: (\w+)", tests)}
    board = (DEPLOY / "grafana" / "deniable.json").read_text()
    for text in (rules, tests, board):
        used = set(re.findall(r"deniable_[a-z_]+", text))
        assert used and used <= exposed(), used - exposed()
    panels = json.loads(board)["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) == 9


def test_compose_names_files_that_exist() -> None:
    import yaml  # type: ignore[import-untyped, unused-ignore]

    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    assert {"collector-1", "collector-2", "database", "proxy", "prometheus", "grafana"} == set(services)
    for service in services.values():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in compose["volumes"] or (DEPLOY / source).exists(), source
        assert set(service.get("secrets", ())) <= set(compose["secrets"])
    assert services["collector-1"]["read_only"] is True
    written = set(re.findall(r"secrets/([\w.]+)", (DEPLOY / "secrets.sh").read_text())) | {"database", "token", "grafana"}
    assert {Path(secret["file"]).name for secret in compose["secrets"].values()} <= written


CHECKS = {
    "caddy": ["caddy", "validate", "--adapter", "caddyfile", "--config", "Caddyfile"],
    "systemd-analyze": ["systemd-analyze", "verify", "deniable.service"],
    "docker-compose": ["docker-compose", "-f", "compose.yaml", "config", "--quiet"],
}


@pytest.mark.parametrize("program", [pytest.param(each, marks=pytest.mark.needs(each)) for each in CHECKS])
def test_files_for_other_programs_are_valid(program: str, tmp_path: Path) -> None:
    installed = tmp_path / "deniable"
    installed.write_text("#!/bin/sh\n", encoding="utf-8")
    installed.chmod(0o755)
    for name in ("caddy/Caddyfile", "systemd/deniable.service", "compose.yaml"):
        text = (DEPLOY / name).read_text(encoding="utf-8").replace("/opt/deniable/bin/deniable", str(installed))
        (tmp_path / Path(name).name).write_text(text, encoding="utf-8")
    done = subprocess.run(CHECKS[program], cwd=tmp_path, capture_output=True, text=True, timeout=60, env={"PATH": PATH})
    assert done.returncode == 0, done.stdout + done.stderr


def test_settings_in_deploy_exist() -> None:
    import tomllib

    from deniable.cli.configuration import PREFIX, settings
    from deniable.cli.serve import serve

    known = settings(serve)
    assert set(tomllib.loads((DEPLOY / "systemd" / "deniable.toml").read_text())) <= set(known)
    variables = {f"{PREFIX}_{name.upper().replace('-', '_')}" for name in [*known, "config"]}
    for path in (path for path in DEPLOY.rglob("*") if path.is_file() and not {"secrets", "__pycache__"} & set(path.parts)):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"DENIABLE_[A-Z_]+", text)) <= variables, path
        given = re.findall(r"--(root-path|proxy|host|log-format|store-file|check)\b", text)
        assert set(given) <= {*known, "check"}
    for snippet in ("nginx/deniable.conf", "caddy/Caddyfile"):
        assert "/surveys" in (DEPLOY / snippet).read_text()
    shipped, composed = ((DEPLOY / name).read_text() for name in ("nginx/deniable.conf", "compose/nginx.conf"))
    assert shipped.partition("location =")[2] == composed.partition("location =")[2]


@pytest.mark.needs("nginx", "postgres", "psycopg", "uvloop")
def test_no_report_is_lost_or_doubled_while_collectors_are_restarted() -> None:
    """Two collectors, PostgreSQL, and nginx with TLS, with the shipped files; `python -m benchmarks.stack` sends 100,000."""
    from benchmarks.stack import SURVEYS, bodies, rolled, stack
    from deniable.survey import Survey

    survey = Survey.load(SURVEYS / "commute.toml")
    with stack() as services:
        services.send(bodies(survey, 20), 4)
        assert services.results()["people"] == 20
        found = rolled(services, survey, 1500, connections=16)
    assert found.counted == found.sent == 1500 and found.restarts >= 2
