"""The life of a survey: closed early, opened again, corrected, deleted now or in time; and what its files allow."""

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, Refusal, lifecycle, opened, results
from deniable.collector.access import new_token
from deniable.collector.segments import write_segment
from deniable.collector.store import CHUNK, LARGE, Change, Row
from deniable.files.atomic import SUFFIX, written_whole
from tests.collector.one_backup import read_backup, write_backup
from tests.surveys import COMMUTE, ONE, OPENS, SAMPLED, several, survey

NewStore = Callable[[], str]


def sent(collector: Collector) -> str:
    town = {"town": "Nice"}
    (verdict,) = collector.take(collector.survey.read(collector.survey.randomize(town)))
    return verdict.reason if isinstance(verdict, Refusal) else verdict.value


def test_a_survey_is_closed_early_and_opened_again(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        one = Collector(survey(ONE), store)
        assert sent(one) == "counted"
        lifecycle.close(store, one.survey)
        assert sent(one) == "closed"  # at once, in a collector that was running before
        lifecycle.reopen(store, one.survey)
        assert sent(one) == "counted"
        lifecycle.close(store, one.survey, final=True)
        assert sent(one) == "closed"
        with pytest.raises(dn.InvalidParameter, match="closed for good"):
            lifecycle.reopen(store, one.survey)
        with store.view() as view:
            assert list(view.ids(one.number)) == []
        assert results(one.survey, one.number, store).people == 2


def test_a_closed_survey_is_closed_after_a_restore(new_store: NewStore, tmp_path: Path) -> None:
    with opened(new_store()) as store, opened(new_store()) as other:
        one = Collector(survey(ONE), store)
        sent(one)
        lifecycle.close(store, one.survey)
        write_backup(one.survey, store, tmp_path / "backup")
        read_backup(tmp_path / "backup", other)
        assert sent(Collector(survey(ONE), other)) == "closed"


def test_a_title_is_corrected_and_nothing_else(new_store: NewStore) -> None:
    wrong, right = (survey(ONE.replace("[survey]", f'[survey]\ntitle = "{title}"')) for title in ("Twons", "Towns"))
    changed = survey(ONE.replace("[survey]", '[survey]\ntitle = "Towns"').replace("Metz", "Nancy"))
    with opened(new_store()) as store:
        one = Collector(wrong, store)
        sent(one)
        with pytest.raises(dn.SurveyMismatch, match="deniable manage title"):
            store.register(right)
        with pytest.raises(dn.SurveyMismatch, match="More than the title"):
            lifecycle.correct_title(store, changed)
        lifecycle.correct_title(store, right)
        number, kept = store.register(right)
        assert (number, kept.fingerprint) == (one.number, wrong.fingerprint)  # what people answered stays
        with store.view() as view:
            state = view.state(number)
        assert state is not None and state.title == "Towns"
        assert results(kept, number, store, title=state.title).data()["title"] == "Towns"
        assert store.register(wrong)[0] == number
        with pytest.raises(dn.SurveyMismatch):
            store.register(changed)


def test_a_survey_is_deleted(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        one, other = Collector(survey(ONE), store), Collector(survey(COMMUTE), store)
        sent(one)
        other.take(other.survey.read(other.survey.randomize({"mode": "bus", "minutes": 3})))
        new_token(store, "one", "results")
        assert lifecycle.delete(store, one.survey) == 1
        assert sent(one) == "closed"  # a collector that was running before
        with store.view() as view:
            assert view.survey("one") is None and view.tokens("one") == []
            assert view.tallies(one.number, one.survey) == {} and view.people(one.number) == {}
            assert list(view.ids(one.number)) == []
        assert results(other.survey, other.number, store).people == 1
        with pytest.raises(dn.InvalidParameter, match="no data"):
            lifecycle.delete(store, one.survey)
        # another survey may get its number; the old collector counts nothing there
        third = Collector(survey(several(3)), store)
        assert sent(one) == "closed" and results(third.survey, third.number, store).people == 0


@pytest.mark.needs("starlette")
def test_a_survey_is_deleted_in_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from deniable.collector.access import Gate
    from deniable.collector.app import App
    from deniable.collector.work import delete_in_time

    with opened(str(tmp_path / "store.db")) as store:
        now = time.time()
        one = Collector(survey(ONE), store, clock=lambda: now)
        app = App(one, Gate(), Gate())
        sent(one)
        lifecycle.retain_until(store, one.survey, int(now) + 100)
        assert not delete_in_time(app)
        now += 200
        with caplog.at_level("INFO"):
            assert delete_in_time(app) and not delete_in_time(app)
        assert "event=deleted survey=one" in caplog.text
        assert sent(one) == "closed"


# Kept reports


@pytest.mark.needs("pyarrow")
def test_a_restore_leaves_kept_reports_alone(tmp_path: Path) -> None:
    asked, folder = survey(SAMPLED), tmp_path / "reports"
    bodies = asked.randomize_all({"b": [1] * 90, "c": [0.5] * 90}, 90, now=OPENS)
    with opened(str(tmp_path / "first.db")) as store:
        one = Collector(asked, store, clock=lambda: OPENS)
        one.take(asked.read(b"".join(bodies[:45])))
        write_segment(one, folder)
        write_backup(asked, store, tmp_path / "backup")
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with opened(str(tmp_path / "second.db")) as store:
        read_backup(tmp_path / "backup", store)
        two = Collector(asked, store, clock=lambda: OPENS)
        two.take(asked.read(b"".join(bodies[45:])))
        write_segment(two, folder)
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert before.items() <= after.items() and len(after) == 2 * len(before)
    assert len({name.split("-")[1] for name in after}) == 2  # each store has its own name
    reports = [dn.read_reports(path, asked.questions[1].mechanism) for path in folder.glob("b-*.parquet")]
    assert sum(map(len, reports)) == sum(asked.read(body)[0].part >> 1 & 1 for body in bodies)


@pytest.mark.needs("pyarrow")
def test_the_order_of_kept_reports_says_nothing(tmp_path: Path) -> None:
    text = several(1000).replace("[survey]", "[survey]\nkeep_reports = true")
    asked = survey(text)
    bodies = asked.randomize_all({"q0": np.arange(400) % 1000}, 400)
    with opened(str(tmp_path / "store.db")) as store:
        one = Collector(asked, store)
        for body in bodies:
            one.take(asked.read(body))
        with store.view() as view:
            arrived = [line[4] for line in view.kept(one.number, 1000)]
        write_segment(one, tmp_path / "reports")
        (file,) = (tmp_path / "reports").iterdir()
        mechanism = asked.questions[0].mechanism
        found = dn.read_reports(file, mechanism)
    rows = [found[place : place + 1].pack() for place in range(len(found))]
    assert sorted(rows) == sorted(arrived) and rows != arrived  # in order by chance: once in 400!
    with opened(str(tmp_path / "other.db")) as store:  # nor does their order in the database, for those counted together
        one = Collector(asked, store)
        one.take(asked.read(b"".join(bodies)))
        with store.view() as view:
            together = [line[4] for line in view.kept(one.number, 1000)]
    assert together == sorted(arrived)


# Files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.needs("pyarrow")
def test_only_the_owner_reads_what_is_stored(tmp_path: Path) -> None:
    asked = survey(SAMPLED)
    before = os.umask(0o022)
    try:
        with opened(str(tmp_path / "store.db")) as store:
            one = Collector(asked, store, clock=lambda: OPENS)
            one.take(asked.read(b"".join(asked.randomize_all({"b": [1] * 9, "c": [0.5] * 9}, 9, now=OPENS))))
            for name in ("store.db", "store.db-wal", "store.db-shm"):
                assert mode(tmp_path / name) == 0o600
            write_backup(asked, store, tmp_path / "backup")
            write_segment(one, tmp_path / "reports")
    finally:
        os.umask(before)
    assert mode(tmp_path / "backup") == 0o600 and mode(tmp_path / "reports") == 0o700
    assert {mode(path) for path in (tmp_path / "reports").iterdir()} == {0o600}


def test_what_a_killed_program_left_is_swept(tmp_path: Path) -> None:
    left = tmp_path / f".backup.abc{SUFFIX}"
    for path in (left, tmp_path / f".young.abc{SUFFIX}", tmp_path / ".other"):
        path.write_text("half")
    os.utime(left, (time.time() - 3600,) * 2)
    os.utime(tmp_path / ".other", (time.time() - 3600,) * 2)
    with written_whole(tmp_path / "slow") as slow:
        slow.write_text("still being written")
        os.utime(slow, (time.time() - 3600,) * 2)
        with written_whole(tmp_path / "new") as temporary:
            temporary.write_text("whole")
        assert slow.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other", f".young.abc{SUFFIX}", "new", "slow"]


# Large tallies


def watched(change: Change) -> list[int]:
    """How many bytes each statement from now on brings to the store."""
    written, run = list[int](), change.run

    def counted(sql: str, *values: object) -> list[Row]:
        written.append(sum(len(value) for value in values if isinstance(value, bytes)))
        return run(sql, *values)

    change.run = counted  # type: ignore[method-assign]
    return written


def test_a_large_tally_is_written_where_it_changes(new_store: NewStore) -> None:
    size = 40 * CHUNK + 7
    assert size > LARGE
    asked = survey(several(2))
    question = asked.questions[0]
    with opened(new_store()) as store:
        number, _ = store.register(asked)
        expected = np.zeros(size, np.int64)
        for round_ in range(3):
            votes = np.zeros(size, np.int64)
            votes[[5, 6, size - 1, 700 * (round_ + 1)]] = [1, 2, 3, 4]
            expected += votes
            with store.change() as change:
                written = watched(change)
                change.add(number, 0, question.id, 10, votes)
            assert 0 < sum(written) <= 3 * 8 * CHUNK  # not the 160 kB of the whole
        with store.view() as view:
            rows = view.run("SELECT chunk, counts FROM cells WHERE survey = ? ORDER BY chunk", number)
            found = np.zeros(41 * CHUNK, np.int64)
            for chunk, counts in rows:
                piece = np.frombuffer(counts, "<i8")
                found[chunk * CHUNK : chunk * CHUNK + len(piece)] = piece
        assert np.array_equal(found[:size], expected) and len(rows) == 5


@pytest.mark.parametrize("earlier", [False, True])
def test_a_large_tally_is_counted_and_read(earlier: bool, new_store: NewStore) -> None:
    """Also where an earlier release has stored it in one piece."""
    asked = survey(several(5000, epsilon=2.0, identity="large"))
    question = asked.questions[0]
    assert question.mechanism.cells > LARGE
    with opened(new_store()) as store:
        one = Collector(asked, store)
        bodies = asked.read(b"".join(asked.randomize_all({"q0": [7] * 60}, 60)))
        tallies = [question.mechanism.tally(asked.unpack(message)[0]) for message in bodies]
        whole = tallies[0]
        for tally in tallies[1:]:
            whole = whole + tally
        if earlier:
            first = tallies[0]
            with store.change() as change:
                change.run(
                    "INSERT INTO tallies (survey, period, question, shard, n, counts) VALUES (?, 0, 'q0', 0, 1, ?)",
                    one.number, first.counts.astype("<i8").tobytes(),
                )  # fmt: skip
                change.join(one.number, 0, 1)
                change.claim(one.number, {bodies[0].id: 0})
        for start in (0, 20, 40):
            one.take(bodies[start : start + 20])
        with store.view() as view:
            assert view.tallies(one.number, asked) == {(0, "q0"): whole}
