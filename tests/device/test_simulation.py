"""A world with a fake clock in which requests and answers are lost, replayed and reordered and collectors crash.

Every report is unique, so the model knows exactly which of them must be counted: after every step the count is the model's.
"""

import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import deniable as dn
from deniable.collector import Collector, Counted, Refusal, open_store, results
from deniable.collector.store import Change
from tests.surveys import OPENS, SAMPLED, survey

DAY = 86_400
SURVEY = survey(SAMPLED)


class Crash(Exception):
    """The process ends here."""


class World(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="deniable-world-"))
        self.now = float(OPENS)
        self.reports: list[bytes] = []
        self.counted: set[bytes] = set()
        self.acknowledged: set[bytes] = set()
        self.collector = self._started()

    def _started(self) -> Collector:
        return Collector(SURVEY, open_store(str(self.folder / "store.db")), clock=lambda: self.now)

    def teardown(self) -> None:
        self.collector.store.close()
        shutil.rmtree(self.folder)

    @rule(people=st.integers(1, 3))
    def people_answer(self, people: int) -> None:
        coins = dn.SeededCoins(len(self.reports))  # which questions they are asked decides how long reports are
        self.reports += SURVEY.randomize_all({"b": [3] * people, "c": [0.5] * people}, people, coins, self.now)

    @rule(hours=st.integers(1, 30))
    def time_passes(self, hours: int) -> None:
        self.now += hours * 3600

    def _timely(self, body: bytes) -> bool:
        period = SURVEY.read(body)[0].period
        return SURVEY.oldest_period(self.now) <= period and self.now < OPENS + 10 * DAY

    @precondition(lambda self: self.reports)
    @rule(data=st.data(), heard=st.booleans())
    def reports_arrive(self, data: st.DataObject, heard: bool) -> None:
        """Some reports, old and new, in any order and more than once; the answer may be lost."""
        chosen = data.draw(st.lists(st.sampled_from(self.reports), min_size=1, max_size=6))
        verdicts = self.collector.take(SURVEY.read(b"".join(chosen)))
        for body, verdict in zip(chosen, verdicts, strict=True):
            if self._timely(body):
                assert verdict is (Counted.BEFORE if body in self.counted else Counted.NOW)
                self.counted.add(body)
                if heard:
                    self.acknowledged.add(body)
            else:
                assert isinstance(verdict, Refusal) and verdict.reason in ("too-late", "closed")

    @precondition(lambda self: self.reports)
    @rule(data=st.data(), committed=st.booleans())
    def crash_while_counting(self, data: st.DataObject, committed: bool) -> None:
        """The process dies within the transaction, or after it and before anybody is told."""
        chosen = data.draw(st.lists(st.sampled_from(self.reports), min_size=1, max_size=4, unique=True))
        messages = SURVEY.read(b"".join(chosen))
        if committed:
            self.collector.take(messages)
            self.counted |= {body for body in chosen if self._timely(body)}
        else:
            add, Change.add = Change.add, _crash  # type: ignore[method-assign, assignment]
            try:
                self.collector.take(messages)
            except Crash:
                pass
            finally:
                Change.add = add  # type: ignore[method-assign]
        self.collector.store.close()
        self.collector = self._started()

    @rule()
    def restart(self) -> None:
        self.collector.store.close()
        self.collector = self._started()

    @precondition(lambda self: self.reports)
    @rule(data=st.data())
    def damaged(self, data: st.DataObject) -> None:
        body = bytearray(data.draw(st.sampled_from(self.reports)))
        body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
        try:
            SURVEY.read(bytes(body))
        except (dn.InvalidReport, dn.SurveyMismatch):
            return
        raise AssertionError("a damaged report was read")

    @invariant()
    def the_count_is_the_models(self) -> None:
        assert self.acknowledged <= self.counted
        found = results(SURVEY, self.collector.number, self.collector.store)
        assert found.people == len(self.counted)
        messages = [SURVEY.read(body)[0] for body in self.counted]
        for place, each in enumerate(found.answered):
            assert each.reports == sum(message.part >> place & 1 for message in messages)


def _crash(*_: object) -> None:
    raise Crash


TestWorld = World.TestCase
TestWorld.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
