"""The collector: it takes messages, counts each of them once, and says what became of them when that is durable."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.collector.invited import Admission
from deniable.collector.profiles import Profiles
from deniable.collector.relations import joint_counts
from deniable.collector.screening import weed
from deniable.collector.stages import Stage, State
from deniable.collector.store import Change, Store
from deniable.collector.swap import Kept, Rows, expected
from deniable.collector.verdicts import CLOCK, CLOSED, DRAFT, IMPOSSIBLE, TOO_EARLY, TOO_LATE, Counted, Refusal, Verdict
from deniable.core import Columns, PureProtocol, Reports, concatenate
from deniable.errors import InvalidReport
from deniable.privacy.liars import profile_counts
from deniable.survey import Message, Question, Survey
from deniable.survey.survey import SKEW

Clock = Callable[[], float]


class _Batch:
    """Reports of one part that were unpacked together; `owners` has the message of each row."""

    def __init__(self, reports: list[Reports], owners: Ints) -> None:
        self.reports, self.owners = reports, owners


class Collector:
    """One survey and the store that counts it: `Collector(survey, open_store("survey.db"))`."""

    def __init__(self, survey: Survey, store: Store, clock: Clock = time.time) -> None:
        self.store, self.clock = store, clock
        self.number, self.survey = store.register(survey)
        self.registered = self.survey.fingerprint  # of the first round, if there are several
        self.admission = Admission(self.survey, store)
        self.oldest = 0  # the first period that is accepted, as the store had it last
        self.untidy = True  # whether there may be ids that need not be kept
        self.profiles, self.rows = Profiles(), Rows()

    def at(self, survey: Survey) -> "Collector":
        """The collector of another round of this survey."""
        made = copy(self)
        made.survey = survey
        made.admission = Admission(survey, self.store)
        return made

    def take(self, messages: Sequence[Message]) -> list[Verdict]:
        """Count these messages in one transaction; when this returns, what was counted is durable.

        Raises `Unavailable`, with nothing counted, if the store is in trouble. Then all may be sent again.
        """
        group = self.group(messages)
        try:
            settle(self.store, [group])
        except InvalidReport:  # a law forbids what the layout allows: nothing was counted; find out which it was
            weed(self.survey, messages, group.known)
            group = Group(self, messages, group.known, self._unpacked(messages, group.known), group.now)
            settle(self.store, [group])
        return group.verdicts

    def group(self, messages: Sequence[Message]) -> "Group":
        """These messages, read and judged as far as that needs no store."""
        now = self.clock()
        timely = {period: self._timely(period, now) for period in {message.period for message in messages}}
        verdicts: list[Verdict | None] = [timely[message.period] or self.admission.refusal(message) for message in messages]
        return Group(self, messages, verdicts, self._unpacked(messages, verdicts), now)

    def tidy(self, most: int) -> bool:
        """Drop some ids that need not be kept any more, in a transaction of its own; whether there may be more.

        They are those of the periods before the last one that was refused: one period later than they could be.
        """
        with self.store.change() as change:
            state = change.accepting(self.number)
            if state is None or state.fingerprint != self.registered:
                self.untidy = False
            else:
                before = state.oldest - 1 if state.stage is not Stage.ARCHIVED else 1 << 32
                self.untidy = change.forget(self.number, before, most) > 0
        return self.untidy

    def screened(self, messages: Sequence[Message]) -> list[Verdict | None]:
        """Refusals of what no device sends, whatever the store holds: bad tokens, impossible reports. In any thread."""
        verdicts: list[Verdict | None] = [self.admission.refusal(message) for message in messages]
        weed(self.survey, messages, verdicts)
        return verdicts

    def _timely(self, period: int, now: float) -> Refusal | None:
        survey = self.survey
        if survey.closes is not None and now >= survey.closes:
            return CLOSED
        if survey.opens is not None and now < survey.opens - SKEW:
            return TOO_EARLY
        if survey.rounds is not None and period != survey.period(now):
            return IMPOSSIBLE.saying("The round stated in the report is not the one it was made for.")
        if period == 0 and survey.window is None:
            return None
        if period > survey.period(now + SKEW):
            return TOO_EARLY
        return TOO_LATE if period < survey.oldest_period(now) else None

    def _unpacked(self, messages: Sequence[Message], verdicts: list[Verdict | None]) -> dict[int, list[_Batch]]:
        """The reports of all messages, by part; a message that no device can have sent gets its verdict."""
        singles, joined = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
        batches = defaultdict[int, list[_Batch]](list)
        for place, message in enumerate(messages):
            if verdicts[place] is None:
                if message.reports == 1:
                    singles[message.part].append(place)
                elif self.survey.joins(message):
                    joined[message.part].append(place)
                else:
                    self._unpack_one(place, message, verdicts, batches)
        for together, alone in ((singles, True), (joined, False)):
            for part, places in together.items():
                try:
                    batches[part].append(self._joined(part, messages, places, alone))
                except InvalidReport:  # one of them is bad: find out which
                    weed(self.survey, messages, verdicts, places)
                    left = [place for place in places if verdicts[place] is None]
                    try:
                        batches[part] += [self._joined(part, messages, left, alone)] if left else []
                    except InvalidReport:  # each is good by itself
                        for place in left:
                            self._unpack_one(place, messages[place], verdicts, batches)
        return batches

    def _joined(self, part: int, messages: Sequence[Message], places: list[int], alone: bool) -> _Batch:
        some = [messages[place] for place in places]
        if alone:
            reports = self.survey.unpack_singles(part, [each.payload for each in some])
        else:
            reports = self.survey.unpack_joined(part, some)
        return _Batch(reports, np.repeat(places, [each.reports for each in some]))

    def _unpack_one(
        self, place: int, message: Message, verdicts: list[Verdict | None], batches: dict[int, list[_Batch]]
    ) -> None:
        try:
            batches[message.part].append(_Batch(self.survey.unpack(message), np.full(message.reports, place)))
        except InvalidReport as error:
            verdicts[place] = IMPOSSIBLE.saying(str(error))


class Group:
    """Messages of one survey on their way into its store: prepared outside of the transaction that counts them."""

    def __init__(
        self,
        collector: Collector,
        messages: Sequence[Message],
        known: list[Verdict | None],
        batches: dict[int, list[_Batch]],
        now: float,
    ) -> None:
        self.collector, self.number, self.now, self.known = collector, collector.number, now, known
        self._messages, self._batches, self._verdicts = messages, batches, list(known)
        self._firsts: dict[tuple[int, bytes], int] = {}  # the first message of each id and period
        self._twins: dict[int, int] = {}  # the first message of those that came twice
        for place, message in enumerate(messages):
            if known[place] is None and (message.period, message.id) in self._firsts:
                self._verdicts[place] = Counted.BEFORE
                self._twins[place] = self._firsts[(message.period, message.id)]
            elif known[place] is None:
                self._firsts[(message.period, message.id)] = place
        self.round = collector.survey.round or 1
        self.waits = bool(self._firsts)  # for the store to say what is new
        self.alone = False  # whether it is going to change which periods are accepted
        if self.waits:
            newest = max(period for period, _ in self._firsts)
            # By what devices say too: a clock that is far ahead must not end periods that nobody has come to.
            self._oldest = min(collector.survey.oldest_period(now), newest)
            self.alone = self._oldest > collector.oldest
        self._found: int | None = None  # the oldest period that the store accepted
        self._profiles: dict[tuple[int, str], Ints] = {}
        self._rows: dict[tuple[int, str], Kept] = {}

    @property
    def verdicts(self) -> list[Verdict]:
        """What became of the messages, once they are settled."""
        return [verdict for verdict in self._verdicts if verdict is not None]

    def count(self, change: Change, alone: bool) -> None:
        """Count what is new, in this transaction; `alone` if somebody in it changes which periods are accepted."""
        state, firsts, verdicts = change.accepting(self.number, alone), self._firsts, self._verdicts
        self._refuse(state)
        for period in sorted({period for period, _ in firsts}):
            mine = {identity: made for made, identity in firsts if made == period}
            fresh = change.claim(self.number, mine)
            for identity in mine:
                verdicts[firsts[(period, identity)]] = Counted.NOW if identity in fresh else Counted.BEFORE
        self._spend(change)
        self._add(change)
        for place, first in self._twins.items():
            verdict = verdicts[first]
            verdicts[place] = verdict if isinstance(verdict, Refusal) else Counted.BEFORE
        if firsts and state is not None:
            self._found = state.oldest
            if self._oldest > state.oldest:
                change.accept_from(self.number, self._oldest)

    def _spend(self, change: Change) -> None:
        """Spend the tokens of the messages that are about to be counted; one that is spent already is not counted."""
        fresh = [(place, self._messages[place]) for place, verdict in enumerate(self._verdicts) if verdict is Counted.NOW]
        if self.collector.admission and fresh:
            for place, refusal in self.collector.admission.spend(change, self.number, fresh).items():
                self._verdicts[place] = refusal

    def committed(self) -> None:
        """The transaction is durable."""
        if self._found is not None:
            self.collector.untidy |= self._oldest > self._found
            self.collector.oldest = max(self._oldest, self._found)
        self.collector.profiles.add(self._profiles)
        self.collector.rows.remember(self._rows)

    def swapped(self, store: Store) -> bool:
        """Count everything in one round trip, if the store is as this collector has left it; whether that was so."""
        survey, collector = self.collector.survey, self.collector
        if not store.can_swap or self._twins or self.alone:
            return False
        if survey.keep_reports or survey.rounds is not None or collector.admission:
            return False
        people, tallies = self._sums([verdict is None for verdict in self._verdicts])
        rows = collector.rows.after(tallies) if len(people) == 1 else None
        if rows is None:
            return False
        swap = expected(self.number, collector.registered, self._oldest, self._firsts, people, rows)
        if not store.swap(swap):
            collector.rows.forget()
            return False
        self._rows = {(swap.period, name): after for name, (_, after) in rows.items()}
        self._verdicts = [Counted.NOW if verdict is None else verdict for verdict in self._verdicts]
        return True

    def _refuse(self, state: State | None) -> None:
        """Refuse what the store no longer accepts, whatever this collector's clock says."""
        mine = state is not None and state.fingerprint == self.collector.registered
        for key in list(self._firsts):
            if state is None or not mine or state.stage is not Stage.OPEN:
                draft = state is not None and state.stage is Stage.DRAFT
                self._verdicts[self._firsts.pop(key)] = DRAFT if draft else CLOSED
            elif key[0] < state.oldest:
                self.collector.oldest = state.oldest
                self._verdicts[self._firsts.pop(key)] = CLOCK

    def _add(self, change: Change) -> None:
        """Add the messages that are new to the tallies."""
        fresh = [verdict is Counted.NOW for verdict in self._verdicts]
        if self.collector.survey.keep_reports:
            counted = [message for message, new in zip(self._messages, fresh, strict=True) if new]
            for message in sorted(counted, key=lambda message: message.payload):  # not in the order in which they came
                change.keep(self.number, message.period, message.part, message.reports, message.payload)
        people, tallies = self._sums(fresh)
        # always in the same order, so that two collectors never wait for each other in a circle
        for period in sorted(people):
            change.join(self.number, period, people[period])
        for period, name in sorted(tallies):
            row = change.add(self.number, period, name, *tallies[(period, name)])
            if row is not None:
                self._rows[(period, name)] = row

    def _sums(self, fresh: list[bool]) -> tuple[dict[int, int], dict[tuple[int, str], tuple[int, Ints]]]:
        """How many reports of each period are new, and what they add to the tallies."""
        survey, messages = self.collector.survey, self._messages
        self._profiles.clear()  # summed up anew where a swap did not come about
        tallies: dict[tuple[int, str], tuple[int, Ints]] = {}
        people: dict[int, int] = defaultdict(int)
        for message, new in zip(messages, fresh, strict=True):
            if new:
                people[message.period] += message.reports
        for part, found in self._batches.items():
            owners = np.concatenate([batch.owners for batch in found])
            wanted = self._wanted(messages, fresh, owners, list(people))
            for place, question in enumerate(survey.part(part)):
                columns = concatenate(batch.reports[place] for batch in found).columns
                for period, rows in wanted:
                    chosen = columns if rows is None else {name: column[rows] for name, column in columns.items()}
                    votes = question.mechanism.votes(chosen)
                    self._profile(period, question, chosen)
                    _add(tallies, (period, question.id), len(owners) if rows is None else int(rows.sum()), votes)
            if survey.joints:
                reports = [concatenate(batch.reports[place] for batch in found) for place in range(len(found[0].reports))]
                for key, size, votes in joint_counts(survey, part, reports, wanted):
                    _add(tallies, key, size, votes)
        return people, tallies

    def _profile(self, period: int, question: Question, columns: Columns) -> None:
        """Remember what is the same for all honest people, for `suspicions`, until the transaction is durable."""
        if isinstance(question.mechanism, PureProtocol):
            seen, key = profile_counts(question.mechanism, columns), (period, question.id)
            if len(seen):
                self._profiles[key] = self._profiles[key] + seen if key in self._profiles else seen

    @staticmethod
    def _wanted(
        messages: Sequence[Message], fresh: list[bool], owners: Ints, periods: list[int]
    ) -> list[tuple[int, Bools | None]]:
        """Which rows count for each period; None stands for all of them, as mostly."""
        if all(fresh) and len(periods) == 1:
            return [(periods[0], None)]
        made, new = np.array([message.period for message in messages])[owners], np.array(fresh)[owners]
        chosen = [(period, new & (made == period)) for period in periods]
        return [(period, rows) for period, rows in chosen if rows.any()]


def _add(tallies: dict[tuple[int, str], tuple[int, Ints]], key: tuple[int, str], reports: int, votes: Ints) -> None:
    """Add to a tally; of one that begins, no cell is touched, since it may have millions of which few have votes."""
    n, counts = tallies.get(key, (0, None))
    tallies[key] = n + reports, votes if counts is None else counts + votes


def settle(store: Store, groups: Sequence[Group]) -> None:
    """Count groups of different surveys in one transaction of the store that they share.

    Always in the same order, so that two collectors never wait for each other in a circle.
    """
    waiting = sorted((group for group in groups if group.waits), key=lambda group: (group.number, group.round))
    try:
        if waiting and not (len(waiting) == 1 and waiting[0].swapped(store)):
            alone = any(group.alone for group in waiting)
            with store.change() as change:
                for group in waiting:
                    group.count(change, alone)
    except BaseException:
        for group in waiting:
            group.collector.rows.forget()
        raise
    for group in waiting:
        group.committed()
