"""What a relay stores, and what it forgets."""

import os
import stat
from pathlib import Path

import pytest

import deniable as dn
from deniable.mixing.waiting import DAY, Waiting

SURVEY = "0" * 32


def some(count: int, start: int = 0) -> list[tuple[bytes, bytes]]:
    return [(place.to_bytes(16, "big"), b"sealed %05d" % place) for place in range(start, start + count)]


def test_nothing_goes_before_enough_are_there(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path / "mix.db", SURVEY)
    waiting.put(some(9))
    waiting.put(some(9))  # the same again
    assert waiting.count == 9 and waiting.batch(10, 100) == []
    waiting.put(some(1, 9))
    assert sorted(waiting.batch(10, 100)) == [sealed for _, sealed in some(10)]
    assert waiting.count == 0


def test_a_batch_stays_the_same_until_it_is_taken(tmp_path: Path) -> None:
    """A batch that is sent again with a few others would disclose these few."""
    waiting = Waiting(tmp_path / "mix.db", SURVEY)
    waiting.put(some(10))
    first = waiting.batch(10, 100)
    waiting.put(some(15, 10))
    waiting.close()
    waiting = Waiting(tmp_path / "mix.db", SURVEY)  # as after a crash
    assert sorted(waiting.batch(10, 100)) == sorted(first) and waiting.count == 15
    waiting.taken()
    assert sorted(waiting.batch(10, 100)) == [sealed for _, sealed in some(15, 10)]


def test_a_large_crowd_goes_in_several_batches(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path / "mix.db", SURVEY)
    waiting.put(some(35))
    gone = []
    while batch := waiting.batch(10, 12):
        gone.append(batch)
        waiting.taken()
    assert [len(batch) for batch in gone] == [12, 12, 11] and len(set().union(*gone)) == 35


def test_the_order_is_random(tmp_path: Path) -> None:
    """Of 64! orders, the one in which they came has no chance to come twice."""
    waiting = Waiting(tmp_path / "mix.db", SURVEY)
    waiting.put(some(64))
    orders = {tuple(waiting.batch(10, 100)) for _ in range(3)}
    assert len(orders) == 3 and tuple(sealed for _, sealed in some(64)) not in orders


def test_what_was_taken_is_overwritten_and_not_mixed_again(tmp_path: Path) -> None:
    now, path = 100.5 * DAY, tmp_path / "mix.db"
    waiting = Waiting(path, SURVEY, lambda: now)
    waiting.put(some(10))
    assert b"sealed 00003" in path.read_bytes()
    waiting.batch(10, 100)
    waiting.taken()
    assert b"sealed 000" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    waiting.put(some(10))  # their devices have not heard the answer
    assert waiting.count == 0
    now += 2 * DAY
    waiting.put(some(12, 20))
    waiting.batch(10, 100)
    waiting.taken()  # which drops the tickets of the day before yesterday
    waiting.put(some(1))
    assert waiting.count == 1
    assert os.name != "posix" or stat.S_IMODE(path.stat().st_mode) == 0o600


def test_refusals(tmp_path: Path) -> None:
    Waiting(tmp_path / "mix.db", SURVEY).close()
    with pytest.raises(dn.InvalidParameter, match="another survey"):
        Waiting(tmp_path / "mix.db", "1" * 32)
    (tmp_path / "text").write_text("this is no database at all" * 100)
    with pytest.raises(dn.InvalidParameter, match="cannot be used"):
        Waiting(tmp_path / "text", SURVEY)
