"""A device that is asked again and again: one report in a period, kept answers, and what it costs."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.device.panel import Panel
from deniable.device.sending import Reply
from deniable.errors import BudgetSpent
from deniable.survey.repeating import MONDAY
from tests.survey.test_repeating import ALL, EXAMPLE, WEEKLY, survey

DAY = 86_400.0
FIRST = MONDAY + 20_000 * DAY + 3600
ANSWERS = {"mood": "good", "pain": 2, "screen": 5.5, "symptoms": ["cough"], "sex": "f"}


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = FIRST

    def __call__(self) -> float:
        return self.now


class Collector:
    """Takes what is sent, or does not answer."""

    def __init__(self) -> None:
        self.got, self.up = list[bytes](), True

    def __call__(self, message: bytes) -> Reply:
        if not self.up:
            return Reply(503)
        self.got.append(message)
        return Reply(200)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., tuple[dn.Device, Clock, Collector]]:
    clock, collector = Clock(), Collector()

    def make(text: str = ALL, name: str = "me.ledger") -> tuple[dn.Device, Clock, Collector]:
        return dn.Device(survey(text), tmp_path / name, collector, attempts=1, clock=clock), clock, collector

    return make


def test_one_report_in_a_period_and_the_cost_does_not_grow(made: Callable[..., tuple[dn.Device, Clock, Collector]]) -> None:
    device, clock, collector = made()
    spent = list[float]()
    answers = dict(ANSWERS)
    for _ in range(5):
        assert device.due
        assert device.submit(answers, strict=True).state == "sent"
        assert not device.due
        with pytest.raises(BudgetSpent):
            device.answer(answers)
        spent.append(device.ledger.spent())
        clock.now += DAY
        answers.pop("sex", None)  # it is asked once
    assert len(set(spent)) == 1 and spent[0] == pytest.approx(4, abs=1e-9)
    messages = [device.survey.read(body)[0] for body in collector.got]
    assert [each.period for each in messages] == [20_000, 20_001, 20_002, 20_003, 20_004]
    assert [each.part for each in messages] == [0b11111, *[0b1111] * 4]
    assert len({each.id for each in messages}) == 5


def test_a_changed_value_and_a_lost_memory_are_paid_again(
    made: Callable[..., tuple[dn.Device, Clock, Collector]], tmp_path: Path
) -> None:
    device, clock, _ = made(EXAMPLE)
    device.answer({"mood": "good"})
    clock.now += DAY
    device.answer({"mood": "bad"})
    assert device.ledger.spent() == pytest.approx(8, abs=1e-9)
    clock.now += DAY
    device.answer({"mood": "good"})  # which is kept
    assert device.ledger.spent() == pytest.approx(8, abs=1e-9)
    file = tmp_path / "me.ledger"
    data = json.loads(file.read_text())
    data["memories"] = {}
    file.write_text(json.dumps(data))
    clock.now += DAY
    device.answer({"mood": "good"})
    assert device.ledger.spent() == pytest.approx(12, abs=1e-9)
    loss = device.ledger.loss()
    assert loss is not None and loss.odds == dn.odds_below(math.nextafter(4.0, 0)) ** 3


def test_clocks_that_go_back_or_ahead(made: Callable[..., tuple[dn.Device, Clock, Collector]]) -> None:
    device, clock, _ = made(EXAMPLE)
    first = device.answer({"mood": "good"})
    clock.now += 3 * DAY
    device.answer({"mood": "good"})
    clock.now -= 3 * DAY  # the same period again
    assert not device.due and device.message() is not None
    with pytest.raises(BudgetSpent):
        device.answer({"mood": "good"})
    clock.now += DAY  # a period that had no report
    assert device.due and device.answer({"mood": "good"}) != first
    assert device.ledger.spent() == pytest.approx(4, abs=1e-9)


def test_what_did_not_arrive_is_sent_while_it_is_accepted(made: Callable[..., tuple[dn.Device, Clock, Collector]]) -> None:
    device, clock, collector = made(EXAMPLE)
    collector.up = False
    for _ in range(3):
        assert device.submit({"mood": "good"}).state == "kept"
        clock.now += DAY
    collector.up = True
    assert device.submit({"mood": "good"}).state == "sent"
    assert [device.survey.read(body)[0].period for body in collector.got] == [20_002, 20_003]  # late = 1


def test_windows_report_in_one_of_seven_periods(made: Callable[..., tuple[dn.Device, Clock, Collector]]) -> None:
    device, clock, _ = made(WEEKLY)
    days = []
    for day in range(28):
        if device.due:
            device.answer({"mood": "bad"})
            days.append(day)
        else:
            with pytest.raises(BudgetSpent, match=r"not it|already"):
                device.answer({"mood": "bad"})
        clock.now += DAY
    assert len(days) == 4 and set(np.diff(days).tolist()) == {7}
    assert device.ledger.spent() == pytest.approx(4, abs=1e-9)
    clock.now -= 9 * DAY  # no setting of the clock gives two reports in seven periods
    while clock.now < FIRST + 28 * DAY:
        assert not device.due
        clock.now += DAY


def test_nothing_is_reported_after_the_end_that_the_lifetime_was_counted_to(tmp_path: Path) -> None:
    lines = "lifetime_epsilon = 2.9\nopens = 2024-10-04T00:00:00Z\ncloses = 2024-10-18T00:00:00Z\n"
    asked, clock = survey(WEEKLY.replace("epsilon = 1.0\n", "epsilon = 1.0\n" + lines)), Clock()
    device = dn.Device(asked, dn.Ledger(tmp_path / "me.ledger"), clock=clock)
    assert asked.opens is not None
    for day in range(60):
        clock.now = asked.opens + day * DAY
        if device.due:
            device.answer({"mood": "bad"})
    assert device.ledger.spent() == pytest.approx(2, abs=1e-9)
    with pytest.raises(BudgetSpent, match="closed"):
        device.answer({"mood": "bad"})


def test_a_changed_survey_keeps_the_memory_of_unchanged_questions(
    made: Callable[..., tuple[dn.Device, Clock, Collector]],
) -> None:
    two = EXAMPLE + '\n[[question]]\nid = "sleep"\nkind = "category"\nchoices = ["well", "badly"]\nrepeat = "permanent"\n'
    device, _, _ = made(two)
    device.answer({"mood": "good", "sleep": "well"})
    assert device.ledger.spent() == pytest.approx(4, abs=1e-9)
    changed = two.replace('id = "wellbeing"', 'id = "wellbeing-2"').replace('["well", "badly"]', '["well", "badly", "not"]')
    other, _, _ = made(changed)
    other.answer({"mood": "good", "sleep": "well"})
    assert other.ledger.spent() == pytest.approx(6, abs=1e-9)  # the mood costs nothing more


def test_the_lifetime_limit_of_a_ledger_holds_for_kept_answers(tmp_path: Path) -> None:
    clock = Clock()
    device = dn.Device(survey(EXAMPLE), dn.Ledger(tmp_path / "me.ledger", lifetime=5), clock=clock)
    device.answer({"mood": "good"})
    clock.now += DAY
    with pytest.raises(BudgetSpent, match="lifetime limit"):
        device.answer({"mood": "bad"})
    assert device.answer({"mood": "good"})


def test_averaging_1000_days_of_one_person_tells_no_more_than_the_permanent_answer() -> None:
    """The most likely value after 1,000 reports is the kept one, which is true as often as a permanent report is."""
    mechanism = survey(EXAMPLE).questions[0].mechanism
    assert isinstance(mechanism, dn.Memoized)
    people, coins = 2000, dn.SeededCoins(b"averaging")
    kept = mechanism.keep(["good"] * people, coins)
    counts = np.zeros((people, 3), np.int64)
    for _ in range(1000):
        np.add.at(counts, (np.arange(people), mechanism.report(kept, coins).columns["value"].astype(np.int64)), 1)
    guessed = counts.argmax(axis=1)
    assert (guessed == kept.columns["value"]).mean() > 0.999
    right, p = (guessed == 0).mean(), float(mechanism.base.p)
    # Six standard errors of a binomial share: a false alarm less often than once in 10^8.
    assert abs(right - p) < 6 * math.sqrt(p * (1 - p) / people)


@pytest.mark.parametrize("text", [ALL, WEEKLY])
def test_a_panel_reports_as_devices_do(text: str) -> None:
    asked, people = survey(text), 3000
    panel, random = Panel(asked, people, dn.SeededCoins(b"panel")), np.random.default_rng(1)
    answers = {each.id: each.how.pretend(each.domain, random, people) for each in asked.asked}
    seen = 0
    for day in range(8):
        (message, *others) = asked.read(panel.batch(answers, FIRST + day * DAY))
        assert not others and message.period == 20_000 + day
        seen += message.reports
        reports = asked.unpack(message)
        estimate = asked.questions[0].mechanism.estimate(asked.questions[0].mechanism.tally(reports[0]))
        truth = np.array([sum(value == label for value in answers["mood"]) for label in ("good", "so-so", "bad")]) / people
        assert np.abs((estimate.values - truth) / estimate.for_population().standard_error).max() < 6  # once in 10^8
    assert seen == 8 * people if text == ALL else abs(seen - people * 8 / 7) < people
