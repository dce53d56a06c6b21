"""False reports at a collector: alarms in results, log and metrics, and intervals that hold in spite of them."""

import json
import logging
from pathlib import Path

import pytest

from deniable.collector import opened, results
from deniable.collector.access import Gate
from deniable.collector.collector import Collector
from deniable.collector.fakes import ERROR, alarms, checked_fakes, with_fakes
from deniable.core import SeededCoins
from deniable.errors import InvalidParameter
from deniable.survey import Message, Survey
from tests.surveys import survey

pytestmark = pytest.mark.needs("starlette", "uvicorn")
TEXT = """
[survey]
id = "town"
epsilon = 1.0
minimum_reports = 10

[[question]]
id = "q"
kind = "category"
choices = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
mechanism = { mechanism = "unary-1" }
"""


def stuffed(asked: Survey, honest: int, fakes: int) -> list[Message]:
    """Honest reports, and false ones with nothing but the bit of the target."""
    answers, coins = {"q": [place % 16 for place in range(honest)]}, SeededCoins(1)  # the same people each time
    bodies = asked.randomize_all(answers, honest, coins) if honest else []
    found = asked.read(b"".join(bodies)) if bodies else []
    false = [Message(bytes([1, *place.to_bytes(4, "little"), *[7] * 11]), 1, 0, 1, bytes([1, 0])) for place in range(fakes)]
    return [*found, *false]


def test_crude_fakes_raise_an_alarm_and_honest_people_do_not(tmp_path: Path) -> None:
    asked = survey(TEXT)
    with opened(str(tmp_path / "store.db")) as store:
        one = Collector(asked, store)
        one.take(stuffed(asked, 2_000, 0))
        assert alarms(results(asked, one.number, store), one.profiles) == []
        one.take(stuffed(asked, 0, 400))
        found = alarms(results(asked, one.number, store), one.profiles)
        assert "deviation of report profiles from their law" in [each.found.what for each in found]
        assert sum(each.found.error for each in found) <= ERROR
        again = Collector(asked, store)  # after a restart the tallies still tell
        assert alarms(results(asked, again.number, store), again.profiles) != []


def test_what_was_not_committed_is_not_profiled(tmp_path: Path) -> None:
    asked = survey(TEXT)
    with opened(str(tmp_path / "store.db")) as store:
        one = Collector(asked, store)
        messages = stuffed(asked, 20, 0)
        one.take(messages)
        one.take(messages)  # duplicates
        assert one.profiles.of(0, "q").sum() == 20  # type: ignore[union-attr]


def test_intervals_and_recovered_shares_are_in_the_results(tmp_path: Path) -> None:
    asked = survey(TEXT)
    with opened(str(tmp_path / "store.db")) as store:
        one = Collector(asked, store)
        one.take(stuffed(asked, 2_000, 100))
        found = results(asked, one.number, store)
        data = json.loads(json.dumps(with_fakes(found, 0.05, one.profiles)))
        rows, plain = data["false_reports"]["estimates"], data["questions"][0]["estimates"]
        assert len(rows) == 16 and data["false_reports"]["share"] == 0.05
        assert rows[0]["low"] < 1 / 16 < rows[0]["high"]  # the truth, which the usual interval misses
        assert plain[0]["low"] > 1 / 16
        assert sum(row["recovered"] for row in rows) == pytest.approx(1)
        assert "false_reports" not in with_fakes(found, None)


def test_the_alarm_is_logged_once_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from deniable.collector.app import App
    from deniable.collector.work import look_for_fakes

    asked = survey(TEXT)
    with opened(str(tmp_path / "store.db")) as store:
        app = App(Collector(asked, store), Gate(), Gate())
        app.collector.take(stuffed(asked, 500, 300))
        with caplog.at_level(logging.WARNING):
            look_for_fakes(app)
            first = len([each for each in caplog.records if "suspicious-reports" in each.getMessage()])
            look_for_fakes(app)
        assert first == len(app.alarms) > 0
        assert first == len([each for each in caplog.records if "suspicious-reports" in each.getMessage()])
        text = app.metrics.text(0, True)
        assert f'deniable_suspicions{{question="q",survey="town"}} {float(first)}' in text


def test_shares_that_make_no_sense_are_refused() -> None:
    assert checked_fakes(None) is None and checked_fakes("0.05") == 0.05
    for text in ("0.5", "-1", "x", "nan"):
        with pytest.raises(InvalidParameter, match="fakes must be"):
            checked_fakes(text)
