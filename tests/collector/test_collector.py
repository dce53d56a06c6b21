"""The collector: what is counted, what is refused, what is published."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, Counted, Refusal, open_store, opened, results
from deniable.collector.segments import write_segment
from deniable.survey import Message
from deniable.survey import message as wire
from tests.collector.one_backup import read_backup, write_backup
from tests.surveys import COMMUTE, ONE, OPENS, SAMPLED, SPARSE, several, survey

NewStore = Callable[[], str]
DAY = 86_400


def pretend(asked: dn.Survey, people: int, seed: int = 0) -> dict[str, object]:
    random = np.random.default_rng(seed)
    return {q.id: q.how.pretend(q.mechanism.domain, random, people) for q in asked.questions}


def collector(text: str, address: str, now: float = OPENS) -> Collector:
    return Collector(survey(text), open_store(address), clock=lambda: now)


def shown(found: Collector) -> dict[str, int]:
    return {each.question.id: each.reports for each in results(found.survey, found.number, found.store).answered}


@pytest.mark.parametrize("text", [COMMUTE, ONE, SAMPLED, several(5, 70, 1000), SPARSE])
def test_what_is_counted_is_what_was_sent(text: str, new_store: NewStore) -> None:
    one = collector(text, new_store())
    asked, people = one.survey, 400
    bodies = asked.randomize_all(pretend(asked, people), people, now=OPENS)  # type: ignore[arg-type]
    bodies.append(asked.batch(pretend(asked, 300, 1), 300, now=OPENS))  # type: ignore[arg-type]
    messages = asked.read(b"".join(bodies))
    assert set(one.take(messages[: people // 2])) == {Counted.NOW}
    again = one.take(messages)
    assert again.count(Counted.BEFORE) == people // 2 and again.count(Counted.NOW) == len(messages) - people // 2
    assert set(one.take(messages[::-1])) == {Counted.BEFORE}
    expected: dict[str, dn.Tally] = {}
    for message in messages:
        for question, reports in zip(asked.part(message.part), asked.unpack(message), strict=True):
            tally = question.mechanism.tally(reports)
            expected[question.id] = expected[question.id] + tally if question.id in expected else tally
    with one.store.view() as view:
        assert view.tallies(one.number, asked) == {(0, name): tally for name, tally in expected.items()}
        assert view.people(one.number) == {0: people + 300}
    one.store.close()


def test_a_duplicate_in_the_same_group_is_counted_once(new_store: NewStore) -> None:
    one = collector(ONE, new_store())
    message = one.survey.read(dn.Device(one.survey).answer({"town": "Nice"}))
    assert one.take(message * 5) == [Counted.NOW] + [Counted.BEFORE] * 4
    assert shown(one) == {"town": 1}
    one.store.close()


def test_impossible_reports_do_not_spoil_the_others(tmp_path: Path) -> None:
    one = collector(several(5), str(tmp_path / "db"))
    good = one.survey.read(b"".join(one.survey.randomize_all({"q0": [1] * 20}, 20)))
    bad = [Message(bytes([place] * 16), 1, 0, 1, payload) for place, payload in enumerate((b"\5", b"\7", b"\x08", b"\xff"))]
    mixed = [*good[:10], *bad, *good[10:]]
    verdicts = one.take(mixed)
    assert [isinstance(verdict, Refusal) for verdict in verdicts] == [False] * 10 + [True] * 4 + [False] * 10
    assert {verdict.reason for verdict in verdicts if isinstance(verdict, Refusal)} == {"impossible"}
    assert shown(one) == {"q0": 20}
    one.store.close()


def test_what_only_the_law_forbids_is_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = collector(several(4), str(tmp_path / "db"))
    kind = type(one.survey.questions[0].mechanism)
    votes = kind.votes

    def strict(self: dn.Mechanism, columns: dict[str, np.ndarray[tuple[int], np.dtype[np.uint8]]]) -> object:
        if (columns["value"] == 3).any():
            raise dn.InvalidReport("No device of this kind says 3.")
        return votes(self, columns)

    monkeypatch.setattr(kind, "votes", strict)
    messages = [Message(bytes([place] * 16), 1, 0, 1, bytes([place % 4])) for place in range(20)]
    verdicts = one.take(messages)
    assert [isinstance(verdict, Refusal) for verdict in verdicts] == [place % 4 == 3 for place in range(20)]
    assert shown(one) == {"q0": 15}
    one.store.close()


def test_batches_that_end_on_whole_bytes_are_unpacked_together(tmp_path: Path) -> None:
    """Counts are those of the messages one by one, among them a duplicate, a bad one and one that fills its last byte."""
    one = collector(several(5, 70), str(tmp_path / "store.db"))
    asked = one.survey
    made = [asked.read(asked.batch(pretend(asked, size, size), size, now=OPENS))[0] for size in (8, 16, 24, 5)]  # type: ignore[arg-type]
    assert [asked.joins(message) for message in made] == [True, True, True, False]
    bad = made[1]._replace(id=b"bad" * 5 + b"!", payload=b"\xff" * len(made[1].payload))
    verdicts = one.take([made[0], bad, *made[1:], made[0]])
    assert [getattr(verdict, "reason", verdict) for verdict in verdicts] == [
        Counted.NOW, "impossible", Counted.NOW, Counted.NOW, Counted.NOW, Counted.BEFORE,
    ]  # fmt: skip
    with one.store.view() as view:
        found = view.tallies(one.number, asked)
    for place, question in enumerate(asked.questions):
        expected = [question.mechanism.tally(asked.unpack(message)[place]) for message in made]
        assert found[(0, question.id)] == expected[0] + expected[1] + expected[2] + expected[3]
    one.store.close()


def test_stray_bits_are_impossible(tmp_path: Path) -> None:
    text = several(1000)
    one = collector(text, str(tmp_path / "db"))
    layout = one.survey.questions[0].mechanism.layout
    assert layout.bits % 8
    good = one.survey.read(dn.Device(one.survey).answer({"q0": 3}))[0]
    bent = good._replace(payload=good.payload[:-1] + bytes([good.payload[-1] | 0x80]), id=b"x" * 16)
    assert [type(verdict) for verdict in one.take([good, bent])] == [Counted, Refusal]
    one.store.close()


def test_time(tmp_path: Path) -> None:
    asked, store = survey(SAMPLED), open_store(str(tmp_path / "db"))
    now = OPENS
    one = Collector(asked, store, clock=lambda: now)

    def verdict(made: float) -> str:
        body = asked.randomize({"b": 1, "c": 0.2}, now=made)
        (found,) = one.take(asked.read(body))
        return found.reason if isinstance(found, Refusal) else found.value

    assert verdict(OPENS) == "counted"
    assert verdict(OPENS + DAY) == "too-early"
    now = OPENS + DAY - 300
    assert verdict(OPENS + DAY) == "counted"  # clocks differ a little
    now = OPENS + 2 * DAY
    assert [verdict(OPENS + days * DAY) for days in range(4)] == ["too-late", "counted", "counted", "too-early"]
    now = OPENS - DAY
    assert verdict(OPENS) == "too-early"
    now = OPENS + 10 * DAY
    assert verdict(now - DAY) == "closed"
    found = results(asked, one.number, store)
    assert found.people == 4
    assert {each.period for each in found.history} == {0, 1, 2}
    while one.untidy:
        one.tidy(1)
    with store.view() as view:
        assert {period for _, period in view.ids(one.number)} == {0, 1, 2}  # dropped one period later than they could be
    now = OPENS + 3 * DAY
    assert verdict(now) == "counted"
    while one.untidy:
        one.tidy(1)
    with store.view() as view:
        assert {period for _, period in view.ids(one.number)} == {1, 2, 3}
    store.close()


def test_results_are_hidden_until_there_are_enough(tmp_path: Path) -> None:
    one = collector(COMMUTE, str(tmp_path / "db"))
    bodies = one.survey.randomize_all(pretend(one.survey, 10), 10)  # type: ignore[arg-type]
    one.take(one.survey.read(b"".join(bodies[:9])))
    hidden = results(one.survey, one.number, one.store)
    assert hidden.records() == [] and hidden.people == 9
    assert [each["hidden"] for each in hidden.data()["questions"]] == [True, True]  # type: ignore[attr-defined]
    one.take(one.survey.read(bodies[9]))
    found = results(one.survey, one.number, one.store, confidence=0.9)
    data = json.loads(found.json())
    assert data["people"] == 10 and data["confidence"] == 0.9 and data["fingerprint"] == one.survey.fingerprint
    assert [len(each["estimates"]) for each in data["questions"]] == [5, 1]
    mean = data["questions"][1]["estimates"][0]
    assert mean["measure"] == "mean" and mean["low"] < mean["value"] < mean["high"]
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert [row["answer"] for row in rows][:2] == ["walk", "bicycle"] and len(rows) == 6
    assert float(rows[0]["value"]) == data["questions"][0]["estimates"][0]["value"]
    with pytest.raises(dn.InvalidParameter):
        results(one.survey, one.number, one.store, confidence=1.0)
    one.store.close()


@pytest.mark.needs("pyarrow")
def test_results_as_parquet(tmp_path: Path) -> None:
    import pyarrow.parquet

    one = collector(ONE, str(tmp_path / "db"))
    assert pyarrow.parquet.read_table(io.BytesIO(results(one.survey, one.number, one.store).parquet())).num_rows == 0
    one.take(one.survey.read(b"".join(one.survey.randomize_all({"town": ["Nice"] * 50}, 50))))
    found = results(one.survey, one.number, one.store)
    table = pyarrow.parquet.read_table(io.BytesIO(found.parquet()))
    assert table.num_rows == 6
    assert table["value"].to_pylist() == [line[4] for line in found.records()]
    one.store.close()


def test_estimates_are_those_of_the_mechanism(tmp_path: Path) -> None:
    one = collector(ONE, str(tmp_path / "db"))
    messages = one.survey.read(one.survey.batch({"town": ["Nice"] * 500}, 500))
    one.take(messages)
    question = one.survey.questions[0]
    direct = question.mechanism.estimate(question.mechanism.tally(one.survey.unpack(messages[0])[0]))
    found = results(one.survey, one.number, one.store).answered[0].estimate
    assert found is not None and np.array_equal(found.values, direct.values)
    one.store.close()


def test_a_backup_keeps_counts_and_ids(new_store: NewStore, tmp_path: Path) -> None:
    one = collector(SAMPLED, new_store())
    asked = one.survey
    bodies = asked.randomize_all(pretend(asked, 50), 50, now=OPENS)  # type: ignore[arg-type]
    one.take(asked.read(b"".join(bodies[:40])))
    file = tmp_path / "backup"
    assert write_backup(asked, one.store, file) == 40
    with pytest.raises(dn.InvalidParameter, match="exists"):
        write_backup(asked, one.store, file)
    with opened(new_store()) as second:
        assert read_backup(file, second).fingerprint == asked.fingerprint
        again = Collector(asked, second, clock=lambda: OPENS)
        with second.view() as view, one.store.view() as before:
            assert view.tallies(again.number, asked) == before.tallies(one.number, asked)
            assert view.people(again.number) == {0: 40}
        verdicts = again.take(asked.read(b"".join(bodies)))
        assert verdicts.count(Counted.BEFORE) == 40 and verdicts.count(Counted.NOW) == 10
        with pytest.raises(dn.InvalidParameter, match="already"):
            read_backup(file, second)
    with opened(new_store()) as third:
        data = file.read_bytes()
        for damaged in (data[:-20], data[:100], b"", b"junk"):
            file.write_bytes(damaged)
            with pytest.raises(dn.InvalidReport, match="not a complete backup"):
                read_backup(file, third)
        assert third.register(survey(ONE))[0] == 1  # nothing was left behind
        with pytest.raises(dn.InvalidParameter, match="no data for that survey"):
            write_backup(asked, third, tmp_path / "other")
    one.store.close()


@pytest.mark.needs("pyarrow")
def test_kept_reports_become_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, folder = collector(SAMPLED, str(tmp_path / "db")), tmp_path / "reports"
    asked = one.survey

    def send(people: int, seed: int) -> None:
        one.take(asked.read(b"".join(asked.randomize_all(pretend(asked, people, seed), people, now=OPENS))))  # type: ignore[arg-type]

    def tallies() -> dict[tuple[int, str], dn.Tally]:
        found: dict[tuple[int, str], dn.Tally] = {}
        for question in asked.questions:
            parts = [dn.read_reports(path, question.mechanism) for path in sorted(folder.glob(f"{question.id}-*.parquet"))]
            found[(0, question.id)] = question.mechanism.tally(dn.concatenate(parts))
        return found

    send(60, 1)
    with monkeypatch.context() as patch:  # a crash after the files were written
        patch.setattr("deniable.collector.store.Change.drop_kept", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_segment(one, folder)
    send(40, 2)
    assert write_segment(one, folder) == 60  # the same messages again, under the same name
    assert write_segment(one, folder) == 40
    assert write_segment(one, folder) == 0
    send(10, 3)
    assert write_segment(one, folder) == 10
    with one.store.view() as view:
        assert view.tallies(one.number, asked) == tallies()
        assert view.kept(one.number, 10) == []
    one.store.close()


def test_nothing_is_kept_unless_the_survey_says_so(tmp_path: Path) -> None:
    one = collector(ONE, str(tmp_path / "db"))
    one.take(one.survey.read(dn.Device(one.survey).answer({"town": "Nice"})))
    with one.store.view() as view:
        assert view.kept(one.number, 10) == []
    one.store.close()


def test_a_message_of_nobody_is_refused() -> None:
    asked = survey(ONE)
    empty = wire.encode(asked.fingerprint_bytes, Message(b"i" * 16, 1, 0, 0, b""))
    with pytest.raises(dn.InvalidReport, match="at least one"):
        asked.read(empty)
