"""Large batches on several threads: all answers are reported, and coins with a seed draw the same bytes as ever."""

import json
import threading
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import threads
from deniable.mechanisms.sparse.compressed import AT_LEAST
from tests.vectors import EVERYTHING, FOLDER

MANY = 4 * threads.LEAST + 12_345


@pytest.fixture(params=["1", "2", "3"])
def most(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """As if the machine had enough cores."""
    monkeypatch.setattr(threads, "cores", lambda: int(request.param))
    return int(request.param)


def watched(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The threads in which answers are encoded."""
    found: set[int] = set()
    encoded = dn.Mechanism.encoded

    def watch(mechanism: dn.Mechanism, answers: object) -> object:
        found.add(threading.get_ident())
        return encoded(mechanism, answers)  # type: ignore[arg-type]

    monkeypatch.setattr(dn.Mechanism, "encoded", watch)
    return found


@pytest.mark.parametrize("kind", [dn.DirectResponse, dn.Unary, dn.LocalHashing])
def test_every_answer_has_its_report(kind: type[dn.Mechanism], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Direct response with epsilon 50 reports a lie once in 10^20 answers; of the others the shares are right.

    An estimate of 16 shares that is seven standard errors off happens once in 10^10 runs.
    """
    used = watched(monkeypatch)
    domain = dn.Categories(range(16))
    answers = np.random.default_rng(1).integers(0, 16, MANY)
    mechanism = kind(domain, 50.0 if kind is dn.DirectResponse else 2.0)  # type: ignore[call-arg]
    reports = mechanism.perturb(answers)
    assert min(most, 2) <= len(used) <= most  # one that has nothing left to do takes another part
    if kind is dn.DirectResponse:
        np.testing.assert_array_equal(reports.columns["value"], answers)
    found = mechanism.estimate(mechanism.tally(reports))
    off = np.abs(found.values - np.bincount(answers, minlength=16) / MANY)
    assert (off < 7 * found.standard_error).all() if kind is not dn.DirectResponse else off.max() < 1e-9


@pytest.mark.parametrize("kind", [dn.DirectResponse, dn.Unary])
def test_a_seed_gives_the_same_reports_on_any_number_of_threads(
    kind: type[dn.Mechanism], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = watched(monkeypatch)
    mechanism = kind(dn.Categories(range(16)), 1.0)  # type: ignore[call-arg]
    answers = np.random.default_rng(1).integers(0, 16, MANY)
    coins = dn.SeededCoins(3)
    ours, after = mechanism.perturb(answers, coins), coins.draw(16).tobytes()
    monkeypatch.setattr(threads, "cores", lambda: 1)
    twins = dn.SeededCoins(3)
    assert mechanism.pack(ours) == mechanism.pack(mechanism.perturb(answers, twins))
    assert after == twins.draw(16).tobytes() and used == {threading.get_ident()}


def test_threads_draw_different_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two halves with the same answers; that 1,000 reports of each agree by chance has a probability below 10^-900."""
    monkeypatch.setattr(threads, "cores", lambda: 2)
    reports = dn.DirectResponse(dn.Categories(range(16)), 0.1).perturb(np.zeros(4 * threads.LEAST, np.int64))
    value = reports.columns["value"]
    assert (value[:1000] != value[2 * threads.LEAST :][:1000]).any()


def test_an_answer_outside_is_refused_in_any_part(most: int) -> None:
    answers = np.zeros(MANY, np.int64)
    answers[-1] = 16
    with pytest.raises(dn.errors.OutsideDomain):
        dn.DirectResponse(dn.Categories(range(16)), 1.0).perturb(answers)


@pytest.mark.parametrize("given, most", [("1", 1), ("0", 1), ("many", threads.cores()), ("999", threads.cores())])
def test_the_environment_limits_threads(given: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.LIMIT, given)
    assert threads.cores() == most


@pytest.mark.parametrize("kind", [dn.UnitCodes, dn.UnitAxes])
def test_long_answers_are_shared_out_before_there_are_many(
    kind: type[dn.UnitCodes], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each vector is its own direction: with epsilon 60 the estimate of their mean is far from nobody's."""
    mechanism = kind(dn.UnitVectors(4), 60.0, 1)
    rows = np.tile([0.5, 0.5, -0.5, 0.5], (3 * threads.STEPS * mechanism.secure_batch + 7, 1))
    used = watched(monkeypatch)
    reports = mechanism.perturb(rows)
    assert min(most, 2) <= len(used) <= most
    ends = mechanism.decode(reports)[[0, len(rows) // 2, -1]]
    assert (ends @ rows[0] > 0).all()  # the nearest directions are reported all but always: below 10^-20 of them are others
    coins, twins = dn.SeededCoins(4), dn.SeededCoins(4)
    ours = mechanism.pack(mechanism.perturb(rows[:5000], coins))
    monkeypatch.setattr(threads, "cores", lambda: 1)
    assert ours == mechanism.pack(mechanism.perturb(rows[:5000], twins))
    assert coins.draw(16).tobytes() == twins.draw(16).tobytes()


GOOD = [(each["name"], each["answers"]) for each in json.loads((FOLDER / "good.json").read_text())]


@pytest.mark.parametrize(("name", "answers"), GOOD, ids=[name for name, _ in GOOD])
def test_a_seed_gives_the_same_reports_of_all_families(
    name: str, answers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if two answers were enough for a thread; what threads draw on their own would differ."""
    mechanism, many = EVERYTHING[name], 30 * answers
    packed = []
    for cores in (1, 2, 3):
        monkeypatch.setattr(threads, "LEAST", 2)
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        coins = dn.SeededCoins(5)
        packed.append((mechanism.pack(mechanism.perturb(many, coins)), coins.draw(16).tobytes()))
    assert packed[0] == packed[1] == packed[2]


def randomizing(kind: type[dn.Mechanism], monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The threads in which a family without a program randomizes."""
    found: set[int] = set()
    randomize = kind.randomize

    def watch(mechanism: dn.Mechanism, *given: object) -> object:
        found.add(threading.get_ident())
        return randomize(mechanism, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "randomize", watch)
    return found


def test_sparse_vectors_are_shared_out(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With epsilon 40 a coordinate is reported wrongly less than once in 20,000: of 7,000 that are one, not a tenth."""
    mechanism = dn.Compressed(dn.SparseVector(500, most=9), 40.0)
    random = np.random.default_rng(2)
    answers = [np.unique(random.integers(0, 500, 9)).tolist() for _ in range(3 * threads.STEPS * AT_LEAST + 5)]
    used = randomizing(dn.Compressed, monkeypatch)
    reports = mechanism.perturb(answers)
    assert min(most, 2) <= len(used) <= most
    found = mechanism.vector(reports)
    agree = sum(int(row[answer].sum()) for row, answer in zip(found, answers, strict=True))
    assert agree > 0.9 * sum(map(len, answers))
    ours, twins = dn.SeededCoins(4), dn.SeededCoins(4)
    packed = mechanism.pack(mechanism.perturb(answers, ours))
    monkeypatch.setattr(threads, "cores", lambda: 1)
    assert packed == mechanism.pack(mechanism.perturb(answers, twins))
    assert ours.draw(16).tobytes() == twins.draw(16).tobytes()


@pytest.mark.needs("scipy")
def test_vectors_of_a_theorem_are_shared_out(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With epsilon 60 a report has a positive product with its vector, unless once in e^60."""
    mechanism = dn.PrivUnit(dn.UnitVectors(4), 60.0)
    rows = np.tile([0.5, 0.5, -0.5, 0.5], (3 * threads.STEPS * mechanism.batch + 7, 1))
    used = randomizing(dn.PrivUnit, monkeypatch)
    reports = mechanism.perturb(rows)
    assert min(most, 2) <= len(used) <= most
    assert (mechanism.decode(reports)[:: len(rows) // 9] @ rows[0] > 0).all()
