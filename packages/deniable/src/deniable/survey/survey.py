"""The contract between those who ask and those who answer, and what both sides do with it."""

import hashlib
import json
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core import Answers, Coins, Columns, PrivacyLoss, Reports, checked_coins
from deniable.core.showing import html_table
from deniable.errors import InvalidReport, OutsideDomain
from deniable.invitations.terms import Invitations
from deniable.survey import budget, message
from deniable.survey.budget import Advice, Budget
from deniable.survey.law import MessageLaw
from deniable.survey.message import Header, Message
from deniable.survey.question import Asked, Question
from deniable.survey.relation import Relation
from deniable.survey.repeating import Repeats, asked_again, repeats_of

if TYPE_CHECKING:
    from deniable.survey.joint import Joint

FORMAT = "deniable survey 1"
SKEW = 600  # seconds by which a device's clock may be ahead
MOST_QUESTIONS = 64
MOST_PARTS, MOST_LAWS = 1 << 12, 1 << 6  # parts that are remembered, and laws of parts


@dataclass(frozen=True, eq=False)
class Survey:
    """Questions with their mechanisms, and one budget for a person over all of them. It never changes: another
    question, budget or window is another survey with another id. `load` reads one from a file.
    """

    id: str
    title: str
    epsilon: float
    budget: Budget
    sample: int
    people: int
    minimum_reports: int
    opens: int | None
    closes: int | None
    window: int | None
    late: int
    keep_reports: bool
    questions: tuple[Question, ...]  # what is reported; those that are reported together are one
    tables: tuple[Relation, ...] = ()
    rounds: int | None = None  # how many there are, each with other people and with laws that follow from earlier ones
    round: int | None = None  # which one this is, from the second on
    round_time: int | None = None  # seconds after which the next round begins, however few people have answered
    invitations: Invitations | None = None  # None if anybody may answer, and as often as they like
    share_results: bool = False  # whether everybody may read the published estimates
    lifetime_epsilon: float | None = None  # for all reports of a person who is asked again and again, on one value each
    language: str | None = None  # of the questions, such as "de"; pages begin in it
    planner: int = 1  # the edition of the planner that chose the mechanisms

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Survey":
        """The survey in a TOML or JSON file; an error points to the line."""
        from deniable.survey.reading import read

        return read(Path(path))

    @classmethod
    def from_json(cls, text: str) -> "Survey":
        """The survey that `to_json` wrote, or the content of a survey file in JSON."""
        from deniable.survey.reading import parse_json

        return parse_json(text, "survey")

    # What it says

    def contract(self) -> dict[str, object]:
        """What people are asked and promised, as plain data: everything but the laws of the reports, and the round."""
        return self._data([question.contract() for question in self.asked])

    def spec(self) -> dict[str, object]:
        """The survey as plain data, with the laws of the reports: all that a client in another language needs."""
        return self._data([question.spec() for question in self.questions], "round")

    def _data(self, questions: list[dict[str, object]], *more: str) -> dict[str, object]:
        names = (
            "id", "title", "epsilon", "budget", "sample", "people", "minimum_reports", "opens", "closes", "window",
            "late", "keep_reports", "rounds", "round_time", "lifetime_epsilon", "language", *more,
        )  # fmt: skip
        about: dict[str, object] = {name: value for name in names if (value := getattr(self, name)) is not None}
        later = ("share_results", self.share_results, False), ("planner", self.planner, 1)
        about |= {name: own for name, own, usual in later if own != usual}  # others keep the fingerprint that they had
        wanted = {"table": [each.spec() for each in self.tables]} if self.tables else {}
        invited = {} if self.invitations is None else {"invitations": self.invitations.spec()}
        return {"format": FORMAT, "survey": about, "question": questions, **wanted, **invited}

    def to_json(self) -> str:
        """The specification as JSON text with sorted keys; its hash is the fingerprint."""
        return json.dumps(self.spec(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    @cached_property
    def fingerprint(self) -> str:
        """128 bits that name this survey and all its laws, in hexadecimal; every report carries them."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:32]

    @cached_property
    def fingerprint_bytes(self) -> bytes:
        """The same as bytes."""
        return bytes.fromhex(self.fingerprint)

    @cached_property
    def asked(self) -> tuple[Asked, ...]:
        """The questions as people see them, one by one."""
        return tuple(member for question in self.questions for member in question.members)

    @cached_property
    def joints(self) -> tuple["Joint", ...]:
        """The tables whose questions are reported by themselves: their combinations are counted beside the questions."""
        units = {question.id: question for question in self.questions}
        wanted = [each for each in self.tables if set(each.questions) <= set(units)]
        if not wanted:
            return ()
        from deniable.survey.joint import Joint  # loads what decodes reports

        return tuple(Joint(each, tuple(units[name] for name in each.questions)) for each in wanted)

    @property
    def counted(self) -> dict[str, tuple[str, int]]:
        """All that is counted: the fingerprint and the number of cells of the tally of each question, and each joint one."""
        found = {question.id: (question.mechanism.fingerprint, question.mechanism.cells) for question in self.questions}
        return found | {each.id: (each.fingerprint, each.cells) for each in self.joints}

    @cached_property
    def lasting(self) -> str:
        """What a ledger knows this survey by: its fingerprint, or what is the same in all its rounds."""
        if self.rounds is None:
            return self.fingerprint
        return hashlib.sha256(json.dumps(self.contract(), sort_keys=True).encode()).hexdigest()[:32]

    @property
    def has_secrets(self) -> bool:
        """Whether a report is counted only if it shows that the member it names has sent it."""
        return any(question.how.has_secrets(question.details) for question in self.questions)

    @property
    def same_people(self) -> bool:
        """Whether the same people answer every round."""
        return any(question.how.same_people(question.details) for question in self.questions)

    @property
    def unit(self) -> str:
        """What the budget is for: one person, unless a question says that it protects less than that."""
        less = [f"in {question.id!r} {question.how.unit}" for question in self.questions if question.how.unit]
        return "; ".join(["one person over the whole survey" if self.repeats is None else self.repeats.unit, *less])

    def loss(self) -> PrivacyLoss:
        """What one person gives away over the whole survey, by the formulas; `certify_survey` checks it."""
        return budget.person([question.mechanism.loss() for question in self.questions], self.budget, self.sample)

    def statement(self) -> str:
        """What a person may lose by answering, in words, for them and for a regulator; `certify_survey` proves it."""
        from deniable.survey.statement import statement

        return statement(self)

    def _repr_html_(self) -> str:
        """The questions with their mechanisms and losses: what notebooks show."""
        lines = [
            [each.id, each.ask, each.mechanism.wire, f"{each.mechanism.loss().epsilon():.4g}"] for each in self.questions
        ]
        caption = f"{self.title}: epsilon {self.epsilon:g} for {self.unit}"
        return html_table(caption, ["question", "asks", "mechanism", "epsilon"], lines, 3)

    def losses(self, part: int | None = None) -> dict[str, PrivacyLoss]:
        """What each question of a part gives away alone, by the formulas; of all questions unless a part is given."""
        asked = self.questions if part is None else self.part(part)
        return {question.id: question.mechanism.loss() for question in asked}

    def advice(self) -> Advice:
        """What error to expect of each question if the budget is shared equally, and if each person answers a part."""
        from deniable.survey.planning import advice_for

        return advice_for(self, self.people)

    # Time, only in whole periods

    def period(self, now: float) -> int:
        """The period that this moment lies in; 0 without windows, or before it opens. A round is a period of its own."""
        if self.window is None or self.opens is None:
            return 0 if self.round is None else self.round - 1
        return max(0, int((now - self.opens) // self.window))

    def oldest_period(self, now: float) -> int:
        """The oldest period of which reports are still taken."""
        return max(0, self.period(now) - self.late)

    # Parts: which questions a person answers

    @cached_property
    def whole(self) -> int:
        """All questions, as bits."""
        return (1 << len(self.questions)) - 1

    @cached_property
    def repeats(self) -> Repeats | None:
        """How the questions repeat that are asked in more than one period; None if all are asked once."""
        return repeats_of(self.questions)

    @cached_property
    def later(self) -> int:
        """The questions that a person is asked after the first time, as bits."""
        return sum(1 << place for place, each in enumerate(self.questions) if asked_again(each)) or self.whole

    @cached_property
    def _parts(self) -> dict[int, tuple[Question, ...]]:
        return {}

    def part(self, bits: int) -> tuple[Question, ...]:
        """The questions of a part; refuses one that this survey never asks for."""
        if bits not in self._parts:
            sampled = bits.bit_count() == self.sample and bits <= self.whole
            allowed = sampled if self.budget == "sampled" else bits in (self.whole, self.later)
            if not allowed:
                raise InvalidReport("No device of this survey sends this combination of questions.")
            if len(self._parts) >= MOST_PARTS:
                self._parts.clear()
            self._parts[bits] = tuple(q for place, q in enumerate(self.questions) if bits >> place & 1)
        return self._parts[bits]

    def draw_parts(self, people: int, coins: Coins | None = None) -> list[int]:
        """Which questions each of these people answers: all of them, or a uniform part that no answer has a say in."""
        if self.budget != "sampled":
            return [self.whole] * people
        drawn = checked_coins(coins).subset(len(self.questions), self.sample, np.zeros(people, np.bool_)).unpack()
        return [sum(1 << place for place in np.flatnonzero(row).tolist()) for row in drawn]

    # On the device

    def law(self, part: int | None = None) -> MessageLaw:
        """The law of the reports in a message, as one program; of all questions unless a part is given."""
        part = None if part == self.whole else part
        if part not in self._laws:
            if len(self._laws) >= MOST_LAWS:
                self._laws.clear()
            self._laws[part] = MessageLaw(self.questions if part is None else self.part(part))
        return self._laws[part]

    @cached_property
    def _laws(self) -> dict[int | None, MessageLaw]:
        return {}

    def draw_headers(
        self, people: int, coins: Coins | None = None, now: float | None = None, parts: Sequence[int] | None = None
    ) -> list[Header]:
        """All of these people's messages but the reports: ids are drawn here, and parts, unless they were drawn before."""
        period = self._now(now)
        parts = self.draw_parts(people, coins) if parts is None else parts
        return [Header(os.urandom(message.ID_BYTES), part, period) for part in parts]

    def device(self, *arguments: Any, **named: Any) -> Any:
        """Deprecated: use `Device(survey, ...)`."""
        warnings.warn("Survey.device is deprecated. Use Device(survey, ...).", DeprecationWarning, stacklevel=2)
        return import_module("deniable.device").Device(self, *arguments, **named)

    def randomize(
        self, answers: Mapping[str, object], coins: Coins | None = None, now: float | None = None, part: int | None = None
    ) -> bytes:
        """One person's answers as a message. Use a `Device`, which does this only once."""
        one = {question: [answer] for question, answer in answers.items()}
        return self.randomize_all(one, 1, coins, now, None if part is None else [part])[0]

    def randomize_all(
        self,
        answers: Mapping[str, Answers],
        people: int,
        coins: Coins | None = None,
        now: float | None = None,
        parts: Sequence[int] | None = None,
    ) -> list[bytes]:
        """A message for each of many people, as their devices would make them; `now` is the time in seconds."""
        coins = checked_coins(coins)
        headers = self.draw_headers(people, coins, now, parts)
        out: list[bytes] = [b""] * people
        for bits in sorted({header.part for header in headers}):
            places = [place for place, header in enumerate(headers) if header.part == bits]
            rows = [b"".join(row) for row in zip(*self._rows(bits, answers, places, coins), strict=True)]
            for place, row in zip(places, rows, strict=True):
                out[place] = message.encode(self.fingerprint_bytes, Message.of(headers[place], 1, row))
        return out

    def batch(
        self, answers: Mapping[str, Answers], people: int, coins: Coins | None = None, now: float | None = None
    ) -> bytes:
        """All these people's reports under one id, for each part of the survey: what a trusted go-between may send."""
        coins, out, parts = checked_coins(coins), b"", self.draw_parts(people, coins)
        for bits in sorted(set(parts)):
            places = [place for place, part in enumerate(parts) if part == bits]
            out += self.message_of([*self._reported(bits, answers, places, coins)], bits, now)
        return out

    def message_of(self, reports: Sequence[Reports], part: int, now: float | None) -> bytes:
        """A message with these reports of one or several people on the questions of a part."""
        header, payload = self.draw_headers(1, None, now, [part])[0], b"".join(each.pack() for each in reports)
        return message.encode(self.fingerprint_bytes, Message.of(header, len(reports[0]), payload))

    def _now(self, now: float | None) -> int:
        return self.period(time.time() if now is None else now)

    def _rows(self, bits: int, answers: Mapping[str, Answers], places: list[int], coins: Coins) -> list[list[bytes]]:
        columns = []
        for reports in self._reported(bits, answers, places, coins):
            if reports.layout.prefix:
                columns.append([reports[place : place + 1].pack() for place in range(len(reports))])
            else:
                columns.append([row.tobytes() for row in reports.layout.rows(reports.columns)])
        return columns

    def _reported(self, bits: int, answers: Mapping[str, Answers], places: list[int], coins: Coins) -> Iterable[Reports]:
        """The reports of these people on each question of a part. One person's come from the one program of the message.

        Many people's come from the same program, question by question, so that their arrays stay small.
        """
        if len(places) == 1:
            return self.law(bits).run([self.chosen(q, answers, places) for q in self.part(bits)], coins)
        return (q.mechanism.perturb(self.chosen(q, answers, places), coins) for q in self.part(bits))

    def chosen(self, question: Question, answers: Mapping[str, Answers], places: list[int]) -> Answers:
        """What the people at these places answered to a question, as its mechanism takes it."""
        unknown = set(answers) - {each.id for each in self.asked}
        if unknown:
            raise OutsideDomain(f"This survey asks {', '.join(repr(each.id) for each in self.asked)} and nothing else.")
        return question.gathered([member.chosen(answers.get(member.id), places) for member in question.members])

    # At the collector

    def read(self, body: bytes) -> list[Message]:
        """The messages in a body; refuses damaged ones and those of another survey."""
        return message.decode(body, self.fingerprint_bytes, self._payload)

    def messages(self, body: bytes) -> Iterator[Message]:
        """The same, one by one, for those who want to stop early."""
        return message.messages(body, self.fingerprint_bytes, self._payload)

    def _payload(self, part: int, reports: int, body: bytes, start: int) -> int:
        stop = start
        for question in self.part(part):
            stop += question.section(reports, body, stop)
        return stop - start

    def _sections(self, part: int, reports: int, payload: bytes) -> Iterator[bytes]:
        """The bytes of each question."""
        start = 0
        for question in self.part(part):
            stop = start + question.section(reports, payload, start)
            yield payload[start:stop]
            start = stop

    def unpack(self, one: Message) -> list[Reports]:
        """The reports of a message, question by question; refuses what no device can have sent."""
        return self.unpack_joined(one.part, [one])

    def joins(self, one: Message) -> bool:
        """Whether its reports end on whole bytes, so that those of several such messages are one batch."""
        layouts = [question.mechanism.layout for question in self.part(one.part)]
        return not any(layout.prefix or one.reports * layout.bits % 8 for layout in layouts)

    def unpack_joined(self, bits: int, messages: Sequence[Message]) -> list[Reports]:
        """The reports of many messages that `joins` allows, put together; refuses them all if one is impossible."""
        people = sum(one.reports for one in messages)
        parts = zip(*(self._sections(bits, one.reports, one.payload) for one in messages), strict=True)
        layouts = [question.mechanism.layout for question in self.part(bits)]
        return self._reports(bits, [each.unpack(b"".join(data), people) for each, data in zip(layouts, parts, strict=True)])

    def unpack_singles(self, bits: int, payloads: Sequence[bytes]) -> list[Reports]:
        """The reports of many messages of one report each, put together; refuses them all if one is impossible."""
        layouts = [question.mechanism.layout for question in self.part(bits)]
        columns = zip(layouts, self._columns(bits, payloads), strict=True)
        return self._reports(bits, [layout.joined(parts, len(payloads)) for layout, parts in columns])

    def _reports(self, bits: int, columns: Sequence[Columns]) -> list[Reports]:
        mechanisms = [question.mechanism for question in self.part(bits)]
        return [Reports(each.fingerprint, each.layout, own) for each, own in zip(mechanisms, columns, strict=True)]

    def _columns(self, bits: int, payloads: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
        """The bytes of each question, of all these messages of one report."""
        questions = self.part(bits)
        if any(question.mechanism.layout.prefix for question in questions):
            yield from zip(*(self._sections(bits, 1, payload) for payload in payloads), strict=True)
            return
        together, start = np.frombuffer(b"".join(payloads), np.uint8).reshape(len(payloads), -1), 0
        for question in questions:  # all of one length: cut them all at once
            stop = start + question.section(1, b"", 0)
            yield [together[:, start:stop].tobytes()]
            start = stop
