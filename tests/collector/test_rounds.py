"""A survey in rounds: thresholds move between them, whatever devices, collectors and the database do meanwhile."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, open_store, results
from deniable.collector.rounds import Rounds
from deniable.collector.store import Store, opened
from deniable.collector.verdicts import CLOCK, IMPOSSIBLE, Counted
from deniable.survey.rounds import is_over, next_survey, people_of
from tests.collector.one_backup import read_backup, write_backup
from tests.servers import served
from tests.surveys import survey
from tests.waits import PATIENCE, until

ASKED = """
[survey]
id = "ages"
epsilon = 2.0
people = 3000
minimum_reports = 100
rounds = 3

[[question]]
id = "age"
kind = "number"
low = 0
high = 40
target = "quantiles"

[[question]]
id = "pet"
kind = "category"
choices = ["cat", "dog", "none"]
"""


@pytest.fixture(scope="module")
def asked() -> dn.Survey:
    return survey(ASKED)


@pytest.fixture
def address(new_store: Callable[[], str]) -> str:
    return new_store()


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    with opened(address) as found:
        yield found


def answers(people: int, seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {"age": np.round(40 * random.beta(3, 5, people)), "pet": random.choice(["cat", "dog", "none"], people).tolist()}


def send(rounds: Rounds, people: int, seed: int) -> None:
    current = rounds.current
    body = current.survey.batch(answers(people, seed), people, dn.SeededCoins(seed))
    assert set(current.take(current.survey.read(body))) == {Counted.NOW}


def test_rounds_move_on_by_themselves_and_results_combine_them(asked: dn.Survey, store: Store) -> None:
    rounds = Rounds(Collector(asked, store))
    send(rounds, 999, 1)
    assert not rounds.step() and rounds.current.survey is rounds.first.survey  # one person too few
    send(rounds, 1, 2)
    assert rounds.step() and rounds.current.survey.round == 2
    send(rounds, 1000, 3)
    assert rounds.step() and rounds.current.survey.round == 3
    send(rounds, 1000, 4)
    assert not rounds.step()  # there are three
    prints = {each.survey.fingerprint for each in rounds.newest_first}
    wires = [each.survey.questions[0].mechanism.wire for each in rounds.newest_first]
    assert len(prints) == 3 and wires[:2] == ["cuts-1", "cuts-1"] != wires[1:]
    for each in rounds.newest_first:
        assert each.survey.contract() == asked.contract() and each.survey.lasting == asked.lasting
        assert dn.certify_survey(each.survey).holds
        assert dn.Survey.from_json(each.survey.to_json()).fingerprint == each.survey.fingerprint
    found = results(rounds.first.survey, rounds.first.number, store)
    age, pet = found.answered
    assert (found.people, age.reports, pet.reports) == (3000, 3000, 3000)
    given = [answers(n, seed)["age"] for n, seed in ((999, 1), (1, 2), (1000, 3), (1000, 4))]
    truth = float(np.median(np.concatenate(given)))
    (median,) = (line for line in age.records(0.9999999) if line[2] == "median")
    assert median[6] - 0.5 <= truth <= median[7] + 0.5  # a false alarm below 1e-6
    assert pet.tally is not None and pet.tally.n == 3000 and age.tally is None
    assert json.loads(found.json())["questions"][0]["words"]


def test_late_devices_are_counted_in_their_round_for_one_round_more(asked: dn.Survey, store: Store) -> None:
    rounds = Rounds(Collector(asked, store))
    late, later = (dn.Device(asked).answer({"age": 20, "pet": "cat"}) for _ in range(2))
    send(rounds, 1000, 1)
    rounds.step()
    send(rounds, 1000, 2)
    first = rounds.newest_first[-1]
    assert first.take(first.survey.read(late)) == [Counted.NOW]
    assert first.take(first.survey.read(late)) == [Counted.BEFORE]
    with store.view() as view:
        assert view.people(first.number) == {0: 1001, 1: 1000}
    rounds.step()
    send(rounds, 10, 3)
    assert first.take(first.survey.read(later)) == [CLOCK]  # two rounds later


def test_a_hostile_device_cannot_count_in_another_round(asked: dn.Survey, store: Store) -> None:
    rounds = Rounds(Collector(asked, store))
    send(rounds, 1000, 1)
    rounds.step()
    second = rounds.current
    (message,) = second.survey.read(second.survey.randomize({"age": 3, "pet": "dog"}))
    verdict = second.take([message._replace(period=0)])[0]
    assert verdict == IMPOSSIBLE.saying("The round stated in the report is not the one it was made for.")
    with pytest.raises(dn.SurveyMismatch):
        asked.read(second.survey.randomize({"age": 3, "pet": "dog"}))


def test_a_person_answers_once_whichever_round(asked: dn.Survey, store: Store, tmp_path: Path) -> None:
    rounds = Rounds(Collector(asked, store))
    ledger = tmp_path / "me.ledger"
    first = dn.Device(rounds.current.survey, ledger).answer({"age": 20, "pet": "cat"})
    send(rounds, 1000, 1)
    rounds.step()
    again = dn.Device(rounds.current.survey, ledger)
    assert again.message() == first
    with pytest.raises(dn.BudgetSpent):
        again.answer({"age": 21, "pet": "cat"})
    changed = replace(rounds.current.survey, title="Something else")
    with pytest.raises(dn.SurveyMismatch):
        dn.Device(changed, ledger).message()


def test_a_round_that_cannot_be_proved_is_neither_opened_nor_answered(
    asked: dn.Survey, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = Rounds(Collector(asked, store))
    send(rounds, 1000, 1)

    def greedy(*_: object) -> dn.DirectResponse:
        return dn.DirectResponse(asked.questions[1].mechanism.domain, 9.0)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(type(asked.questions[1].how), "next_round", greedy)
        assert not rounds.step() and rounds.current is rounds.first
    pet = replace(asked.questions[1], mechanism=greedy())
    with pytest.raises(dn.DeniableError):
        dn.Device(replace(asked, questions=(asked.questions[0], pet), round=2)).answer({"age": 3, "pet": "dog"})


def test_two_collectors_agree_and_a_crash_between_rounds_loses_nothing(
    asked: dn.Survey, store: Store, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = open_store(address)
    one, other = Rounds(Collector(asked, store)), Rounds(Collector(asked, beside))
    send(one, 1000, 1)

    class Crash(BaseException):
        pass

    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr("deniable.collector.store.Change.put_round", crash)
        with pytest.raises(Crash):
            one.step()
    send(other, 1, 2)  # the other one has a later tally, and opens the round
    assert other.step()
    assert one.step() and one.current.survey.fingerprint == other.current.survey.fingerprint
    afresh = Rounds(Collector(asked, store))  # after a restart
    assert afresh.current.survey.fingerprint == one.current.survey.fingerprint
    made = write_backup(asked, store, tmp_path / "backup.gz")
    assert made == 1001
    restored = open_store(str(tmp_path / "restored.db"))
    read_backup(tmp_path / "backup.gz", restored)
    moved = Rounds(Collector(asked, restored))
    assert moved.current.survey.fingerprint == one.current.survey.fingerprint
    send(moved, 100, 5)
    restored.close()
    beside.close()


def test_rounds_over_http(asked: dn.Survey, tmp_path: Path) -> None:
    """A device that made its report before the round changed is counted; a new one is asked the next round."""
    path = tmp_path / "survey.toml"
    path.write_text(ASKED.replace("people = 3000", "people = 30"))
    with served(path, str(tmp_path / "survey.db"), "--open-results") as server:

        def get(name: str) -> str:
            with urllib.request.urlopen(f"{server.url}/v1/{name}", timeout=PATIENCE) as answer:
                found: bytes = answer.read()
                return found.decode()

        first = dn.Survey.from_json(get("survey"))
        late = dn.Device(first, send=server.url)
        late.answer({"age": 20, "pet": "cat"})
        for _ in range(10):
            assert dn.Device(first, send=server.url).submit({"age": 20, "pet": "dog"}, strict=True).state == "sent"
        until(lambda: dn.Survey.from_json(get("survey")).round is not None)
        second = dn.Survey.from_json(get("survey"))
        assert second.round == 2 and second.contract() == first.contract()
        assert json.loads(get("law"))["survey"] == second.fingerprint
        assert json.loads(get("promise"))["fingerprint"] == second.fingerprint
        assert late.send().arrived
        assert dn.Device(second, send=server.url).submit({"age": 20, "pet": "cat"}, strict=True).state == "sent"
        assert json.loads(get("results"))["people"] == 12


def test_a_round_may_end_by_time() -> None:
    timed = survey(ASKED.replace("rounds = 3", 'rounds = 3\nround_time = "day"\nopens = 1970-01-02T00:00:00Z'))
    day = 86_400
    assert [is_over(timed, 1, people, 2 * day - 1) for people in (999, 1000)] == [False, True]
    assert [is_over(timed, 1, people, 2 * day) for people in (0, 1)] == [False, True]
    assert not is_over(timed, 2, 1, 2 * day) and is_over(timed, 2, 1, 3 * day)
    with pytest.raises(dn.InvalidSurvey, match="round_time requires rounds"):
        survey(ASKED.replace("rounds = 3", 'rounds = 3\nround_time = "day"'))


def test_what_rounds_need_is_checked() -> None:
    for change, says in (
        (("rounds = 3", "rounds = 1"), "rounds must be a whole number from 2 to"),
        (("rounds = 3", "round = 2"), "Write rounds = 3 instead"),
        (('target = "quantiles"', ""), "rounds need a question that learns from them"),
        (("rounds = 3", "rounds = 3\nkeep_reports = true"), "cannot be kept"),
        (("rounds = 3", 'rounds = 3\nwindow = "day"\nopens = 2026-01-01T00:00:00Z'), "either rounds or windows"),
    ):
        with pytest.raises(dn.InvalidSurvey, match=says):
            survey(ASKED.replace(*change))
    assert people_of(survey(ASKED)) == 1000


def test_the_next_round_follows_from_the_tallies_alone(asked: dn.Survey) -> None:
    age = asked.questions[0].mechanism
    tally = age.tally(age.perturb(answers(500, 1)["age"], dn.SeededCoins(1)))
    first, second = (next_survey([(asked, {"age": tally})]) for _ in range(2))
    assert first.fingerprint == second.fingerprint != asked.fingerprint
