"""The law of a whole message: the programs of its questions one after the other, which a device runs as one program.

The id of a message and the choice of its questions are no part of it: they are drawn before, by functions that are given no
answer (`Survey.draw_headers`). What is left to make is the reports, and they come from this program alone, with one stream
of coins that is read once from the first node to the last. The nodes of a question refer to nodes of that question only.

A question whose mechanism is no program (it rests on a theorem) is randomized by its own code, in its turn: the program is
then in several pieces, before and after it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable.core import MOST_ENTRIES, MOST_NODES, Answers, Coins, Column, Mechanism, Program, Reports, run
from deniable.errors import InvalidLaw
from deniable.survey.question import Question


@dataclass(frozen=True)
class Piece:
    """Questions that follow each other, and the one program of their reports; None: a question that is no program."""

    questions: tuple[Question, ...]
    program: Program | None

    @cached_property
    def fields(self) -> dict[str, list[str]]:
        """The fields of the program's report that are the report on each question."""
        return {q.id: [f"{q.id}.{field.name}" for field in q.mechanism.report_layout.fields] for q in self.questions}

    def run(self, answers: Sequence[Answers], coins: Coins) -> list[Reports]:
        """The reports on each question, from its answers."""
        if self.program is None:
            return [q.mechanism.perturb(own, coins) for q, own in zip(self.questions, answers, strict=True)]
        codes: list[Any] = []
        for question, own in zip(self.questions, answers, strict=True):
            found = question.mechanism.encoded(question.mechanism.prepared(own))
            if len(found) != len(question.mechanism.law.codes):
                raise InvalidLaw(
                    f"The encoder of question {question.id!r} returns a different number of codes than its law has."
                )
            codes += found
        people = len(answers[0])
        drawn = run(self.program, codes, coins, people)
        return [_reports(q.mechanism, self.fields[q.id], drawn, people) for q in self.questions]


def _reports(mechanism: Mechanism, names: Sequence[str], drawn: Mapping[str, Any], people: int) -> Reports:
    columns: dict[str, Column] = {}
    layout = mechanism.report_layout
    for field, name in zip(layout.fields, names, strict=True):
        columns[field.name] = field.empty(people)
        columns[field.name][:] = drawn[name]
    return Reports(mechanism.fingerprint, layout, columns)


@dataclass(frozen=True)
class MessageLaw:
    """The law of the reports in a message with these questions: one program, or pieces of one."""

    questions: tuple[Question, ...]

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The program, in as few pieces as there can be."""
        pieces: list[Piece] = []
        together: list[Question] = []
        for question in self.questions:
            if not is_program(question.mechanism):
                pieces += [*_joined(together), Piece((question,), None)]
                together = []
            elif _fits(together, question):
                together.append(question)
            else:
                pieces += _joined(together)
                together = [question]
        return (*pieces, *_joined(together))

    @property
    def programs(self) -> list[Piece]:
        """The pieces that are programs."""
        return [piece for piece in self.pieces if piece.program is not None]

    @property
    def program(self) -> Program | None:
        """The program of the whole message; None if it is in several pieces."""
        return self.pieces[0].program if len(self.pieces) == 1 else None

    @cached_property
    def fingerprint(self) -> str:
        """128 bits that name this law: those of the program, or of all pieces."""
        if self.program is not None:
            return self.program.fingerprint
        names = [
            piece.program.fingerprint if piece.program else f"theorem {piece.questions[0].mechanism.fingerprint}"
            for piece in self.pieces
        ]
        return hashlib.sha256(json.dumps(names).encode()).hexdigest()[:32]

    def run(self, answers: Sequence[Answers], coins: Coins) -> list[Reports]:
        """The reports on each question, from one list of answers each: nothing else is made of answers."""
        given, out = list(answers), list[Reports]()
        for piece in self.pieces:
            own, given = given[: len(piece.questions)], given[len(piece.questions) :]
            out += piece.run(own, coins)
        return out


def is_program(mechanism: Mechanism) -> bool:
    """Whether the law of a mechanism is a program that its reports come from, and from nothing else."""
    return mechanism.traced and type(mechanism).perturb is Mechanism.perturb


def _fits(together: Sequence[Question], more: Question) -> bool:
    """Whether a question's program still has room in one with these."""
    laws = [question.mechanism.law for question in (*together, more)]
    names = [f"{q.id}.{name}" for q in (*together, more) for name, _ in q.mechanism.law.report]
    small = sum(len(law.nodes) for law in laws) <= MOST_NODES and sum(law.entries for law in laws) <= MOST_ENTRIES
    return small and len(set(names)) == len(names)


def _joined(questions: Sequence[Question]) -> list[Piece]:
    if not questions:
        return []
    program = Program.joined([(question.id, question.mechanism.law) for question in questions])
    return [Piece(tuple(questions), program)]
