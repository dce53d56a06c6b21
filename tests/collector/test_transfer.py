"""Moving surveys between stores: everything arrives, killed at any moment it goes on, and nothing half-written is served."""

import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, Store, lifecycle, opened, results, transfer
from deniable.collector.access import gates_of, new_token, revoke_token
from deniable.collector.backup import read_backups, write_backups
from deniable.collector.transfer import copy_all, copy_survey, surveys_of
from tests.collector.one_backup import read_backup, write_backup
from tests.surveys import COMMUTE, ONE, several, survey
from tests.waits import PATIENCE, running

NewStore = Callable[[], str]
PEOPLE = 60


def filled(store: Store, text: str, answers: dict[str, object], people: int = PEOPLE) -> Collector:
    one = Collector(survey(text), store)
    columns = {name: [value] * people for name, value in answers.items()}
    one.take(one.survey.read(b"".join(one.survey.randomize_all(columns, people))))
    return one


def same(one: Collector, source: Store, target: Store) -> None:
    """Tallies, people, ids, tokens and state are the same in both."""
    asked = one.survey
    with source.view() as before, target.view() as after:
        known = after.survey(asked.id)
        assert known is not None
        number = known[0]
        assert after.tallies(number, asked) == before.tallies(one.number, asked)
        assert after.people(number) == before.people(one.number)
        assert sorted(after.ids(number)) == sorted(before.ids(one.number))
        assert after.tokens(asked.id) == before.tokens(asked.id)
        assert after.state(number) == before.state(one.number)


def test_all_surveys_arrive_whole(new_store: NewStore, tmp_path: Path) -> None:
    with opened(str(tmp_path / "first.db")) as source, opened(new_store()) as target, opened(str(tmp_path / "b.db")) as back:
        store_has = Collector(survey(several(3, identity="other")), target)  # numbers are taken already
        one, commute = filled(source, ONE, {"town": "Nice"}), filled(source, COMMUTE, {"mode": "bus", "minutes": 3})
        large = filled(source, several(5000, epsilon=2.0, identity="large"), {"q0": 7}, 5)
        new_token(source, "one", "submit", "app")
        revoke_token(source, "one", "app")
        lifecycle.correct_title(source, survey(COMMUTE.replace("[survey]", '[survey]\ntitle = "To work"')))
        lifecycle.close(source, commute.survey)
        names = ["one", "commute-2026", "large"]
        assert [tuple(each) for each in copy_all(source, target, names)] == [
            ("one", 60, 60), ("commute-2026", 60, 60), ("large", 5, 5)
        ]  # fmt: skip
        for each in (one, commute, large):
            same(each, source, target)
        assert gates_of(target, "one")["submit"]  # the last token was revoked: it stays closed
        assert results(store_has.survey, store_has.number, target).people == 0
        with pytest.raises(dn.InvalidParameter, match="already holds"):
            copy_survey(source, target, "one")
        copy_all(target, back, names)  # and back again
        same(large, source, back)


def test_what_arrives_meanwhile_is_not_left_behind(new_store: NewStore, tmp_path: Path) -> None:
    with opened(str(tmp_path / "first.db")) as source, opened(new_store()) as target:
        one = filled(source, ONE, {"town": "Nice"})
        arrived = list[float]()

        def watch(share: float) -> None:
            if not arrived:
                filled(source, ONE, {"town": "Metz"}, 3)
            arrived.append(share)

        with pytest.raises(dn.InvalidParameter, match="Stop the collector"):
            copy_survey(source, target, "one", watch, at_rest=True)
        with pytest.raises(dn.InvalidParameter, match="being copied into this database"):
            target.register(one.survey)  # nothing of it can be served
        assert surveys_of(target) == []
        lifecycle.close(source, one.survey, final=True)  # ids that were copied are gone meanwhile
        assert tuple(copy_survey(source, target, "one", at_rest=True)) == ("one", PEOPLE + 3, 0)
        same(one, source, target)


SLOWLY = """
import sys, time
from deniable.collector import open_store, transfer
from deniable.collector.backup import read_backups, write_backups
transfer.IDS = 40
source, target, way = sys.argv[1:]
def watch(share):
    print(share, flush=True)
    time.sleep(0.02)
from pathlib import Path
if way == "backup":
    write_backups(["one"], open_store(source), Path(target), watch=watch)
elif way == "restore":
    read_backups(Path(source), open_store(target), watch)
else:
    transfer.copy_survey(open_store(source), open_store(target), "one", watch)
print("done", flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("way", ["move", "backup", "restore"])
def test_killed_at_any_moment_it_goes_on(way: str, new_store: NewStore, tmp_path: Path) -> None:
    address, target = str(tmp_path / "first.db"), str(tmp_path / "file") if way == "backup" else new_store()
    with opened(address) as source:
        one = filled(source, ONE, {"town": "Nice"}, 1000)
        if way == "restore":
            address = str(tmp_path / "backup")
            write_backups(["one"], source, Path(address))
    random, killed = np.random.default_rng(4), 0
    for _ in range(40):
        command = [sys.executable, "-c", SLOWLY, address, target, way]
        with running(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(1 + int(random.integers(9)))]
            if killed < 4 and "done\n" not in lines:
                process.send_signal(signal.SIGKILL)
                killed += 1
                process.wait(timeout=PATIENCE)
                if way == "backup":
                    assert not Path(target).exists()  # never half a backup under its name
                else:
                    with opened(target) as half:
                        assert surveys_of(half) == []
                continue
            process.communicate(timeout=PATIENCE)
            assert process.returncode == 0
            break
    assert killed == 4
    if way == "backup":
        assert stat.S_IMODE(Path(target).stat().st_mode) == 0o600 and not list(tmp_path.glob(".file*"))
        with opened(str(tmp_path / "restored.db")) as other, opened(address) as source:
            read_backup(Path(target), other)
            same(one, source, other)
    else:
        with opened(address) as source, opened(target) as other:
            same(one, source, other)


def test_a_backup_holds_several_surveys(tmp_path: Path, new_store: NewStore) -> None:
    file = tmp_path / "backup"
    with opened(str(tmp_path / "first.db")) as source, opened(new_store()) as target:
        made = [filled(source, ONE, {"town": "Nice"}), filled(source, several(3), {"q0": 1})]
        shares = list[float]()
        assert len(write_backups(surveys_of(source), source, file, watch=shares.append)) == 2
        assert shares == sorted(shares) and shares[-1] == 1.0
        assert [one.id for one in read_backups(file, target)] == ["one", "several"]
        for each in made:
            same(each, source, target)
        assert write_backup(made[0].survey, source, file, overwrite=True) == PEOPLE


def test_a_copy_that_differs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(str(tmp_path / "first.db")) as source, opened(str(tmp_path / "second.db")) as target:
        filled(source, ONE, {"town": "Nice"})
        monkeypatch.setattr(transfer, "_digest", lambda rows: (len(list(rows)), time.perf_counter_ns()))
        with pytest.raises(dn.InvalidReport, match="differ from the original"):
            copy_survey(source, target, "one")
        assert surveys_of(target) == []
