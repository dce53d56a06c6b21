"""A survey that asks again, from simulated people through the collector to trends in results, files and pages."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.collector import Collector, open_store, results
from deniable.collector.collected import collected
from deniable.collector.verdicts import Counted
from deniable.device.panel import Panel
from tests.survey.test_repeating import ALL, WEEKLY

DAY, DAYS, PEOPLE = 86_400, 40, 1500
NOW = 1_790_000_000  # in September 2026; trends of weeks depend on the day


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a survey with 40 days of reports beside it; three people in five change their mood on day 20."""
    folder = tmp_path_factory.mktemp("trends")
    file = folder / "wellbeing.toml"
    file.write_text(ALL.replace('window = "day"', 'window = "day"\nshare_results = true').replace("= 4.0", "= 20.0"))
    survey, now = dn.Survey.load(file), [NOW - DAY * DAYS]
    store = open_store(str(folder / "wellbeing.db"))
    collector = Collector(survey, store, clock=lambda: now[0])
    panel, random = Panel(survey, PEOPLE, dn.SeededCoins(b"trends")), np.random.default_rng(7)
    answers = {each.id: each.how.pretend(each.domain, random, PEOPLE) for each in survey.asked}
    answers["mood"] = ["good"] * PEOPLE
    for day in range(DAYS):
        if day == 20:
            answers["mood"] = np.where(random.random(PEOPLE) < 0.6, "bad", "good").tolist()
        verdicts = collector.take(survey.read(panel.batch(answers, now[0])))
        assert verdicts == [Counted.NOW]
        now[0] += DAY
    store.close()
    return file


def test_results_have_the_last_period_the_trends_and_what_a_person_spends(asked: Path) -> None:
    survey, store = dn.Survey.load(asked), open_store(str(asked.with_suffix(".db")))
    number, known = store.register(survey)
    found = results(known, number, store)
    store.close()
    data = json.loads(found.json())
    assert data["people"] == PEOPLE and [each["reports"] for each in data["questions"]] == [PEOPLE] * 5
    assert data["spending"]["ever"] == pytest.approx(20, abs=1e-6)
    assert "however many reports follow" in data["spending"]["words"]
    trends = {each["question"]: each for each in data["trends"]}
    assert set(trends) == {"mood", "pain", "screen", "symptoms"}  # what is asked once has one period
    mood = trends["mood"]
    assert len(mood["periods"]) == DAYS == len(mood["lines"][0]["value"]) and "weekdays" in mood
    (change,) = [each for each in mood["changes"] if each["answer"] == "bad"]
    assert abs(change["since"] - mood["periods"][20]) <= 2 and change["low"] < 0.6 < change["high"]
    assert not trends["pain"]["changes"] and not trends["screen"]["changes"]
    latest = {row["answer"]: row["value"] for row in data["questions"][0]["estimates"]}
    assert abs(latest["bad"] - 0.6) < 0.3


def test_a_period_with_too_few_reports_stays_hidden(asked: Path) -> None:
    found = collected(asked)
    trend = found.trend("mood")
    assert trend.periods.tolist() == sorted(found.periods["mood"]) and len(trend.periods) == DAYS
    assert "mood" not in found.tallies and "sex" in found.tallies  # people who report again are not summed up
    few = dn.Survey.load(asked).minimum_reports
    assert all(tally.n >= few for tally in found.periods["mood"].values())


def test_the_command_shows_writes_and_compares(asked: Path, tmp_path: Path) -> None:
    run = CliRunner()
    shown = run.invoke(main, ["trend", str(asked), "--question", "mood"])
    assert shown.exit_code == 0 and re.search(r"bad rose in \d{4}-\d\d-\d\d: \+0\.", shown.output)
    made = run.invoke(main, ["trend", str(asked), "--csv", str(tmp_path / "t.csv"), "--picture", str(tmp_path / "t.png")])
    assert made.exit_code == 0 and "Wrote the picture to" in made.output, made.output
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert len(lines) == 1 + DAYS * (3 + 6 + 1 + 3) and lines[0].startswith("question,begins,measure,answer,period")
    assert (tmp_path / "t.png").stat().st_size > 10_000
    data = json.loads(run.invoke(main, ["trend", str(asked), "--json"]).output)
    first, last = data["rows"][0]["period"], data["rows"][DAYS - 1]["period"]
    moved = run.invoke(main, ["trend", str(asked), "--question", "mood", "--difference", str(first), str(last)])
    assert moved.exit_code == 0 and "bad: +0." in moved.output
    weekly = tmp_path / "weekly.toml"
    weekly.write_text(WEEKLY)
    assert run.invoke(main, ["trend", str(weekly)]).exit_code == 2


def test_late_and_early_reports_are_refused_and_a_backup_keeps_every_period(asked: Path, tmp_path: Path) -> None:
    survey = dn.Survey.load(asked)
    store = open_store(str(asked.with_suffix(".db")))
    collector = Collector(survey, store, clock=lambda: NOW)
    panel = Panel(survey, 50, dn.SeededCoins(b"late"))
    random = np.random.default_rng(8)
    answers = {each.id: each.how.pretend(each.domain, random, 50) for each in survey.asked}
    for off, said in ((-3, "too-late"), (2, "too-early")):
        (verdict,) = collector.take(survey.read(panel.batch(answers, NOW + off * DAY)))
        assert getattr(verdict, "reason", "") == said
    store.close()
    before = collected(asked)
    copy, file = tmp_path / "copy.db", tmp_path / "backup"
    run = CliRunner()
    backed = run.invoke(main, ["backup", str(asked), "--out", str(file)])
    assert backed.exit_code == 0, backed.output
    restored = run.invoke(main, ["restore", str(asked), str(file), "--store", str(copy)])
    assert restored.exit_code == 0, restored.output
    assert collected(asked, str(copy)).periods == before.periods
