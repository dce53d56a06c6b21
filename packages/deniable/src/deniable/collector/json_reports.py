"""Reports as JSON, for those who cannot pack bits: one object for one person, or a list of them.

    {"survey": "<fingerprint>", "id": "<32 hexadecimal digits>", "period": 0, "answers": {"town": {"value": 3}}}

A field that is a number is a whole number; a field of cells is its packed bytes in hexadecimal, lowest bit first; so are a
key of 64 bits and a message of variable length.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.core.layout import Column, Flags, Number
from deniable.core.variable import Key, Variable
from deniable.errors import InvalidReport, SurveyMismatch
from deniable.survey import Message, Question, Survey

Field = Number | Flags | Key | Variable


def read_json(survey: Survey, body: bytes) -> list[Message]:
    """The messages in a JSON body."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidReport("The body is not JSON.") from None
    people = data if isinstance(data, list) else [data]
    if not people:
        raise InvalidReport("There is no report in the list.")
    return [_message(survey, each) for each in people]


def write_json(survey: Survey, message: Message) -> dict[str, object]:
    """A message of one report as plain data."""
    answers = {}
    for question, reports in zip(survey.part(message.part), survey.unpack(message), strict=True):
        answers[question.id] = {
            field.name: _value(field, column)
            for field, column in zip(question.mechanism.layout.fields, reports.columns.values(), strict=True)
        }
    return {"survey": survey.fingerprint, "id": message.id.hex(), "period": message.period, "answers": answers}


def _value(field: Field, column: Column) -> int | str:
    if isinstance(field, Number):
        return int(column[0])
    return bytes(column[0]).hex() if isinstance(field, Variable) else column[:1].tobytes().hex()


def _message(survey: Survey, data: Any) -> Message:
    if not isinstance(data, Mapping) or set(data) - {"survey", "id", "period", "answers"}:
        raise InvalidReport('A report has "survey", "id", "answers" and, if the survey has periods, "period".')
    if data.get("survey") != survey.fingerprint:
        raise SurveyMismatch(
            f"This report was made for another survey than {survey.fingerprint[:8]}. Fetch the survey again."
        )
    identity, period, answers = _bytes(data.get("id"), 16), data.get("period", 0), data.get("answers")
    if isinstance(period, bool) or not isinstance(period, int) or not 0 <= period < 1 << 32:
        raise InvalidReport("The period of a report is a whole number from 0.")
    if not isinstance(answers, Mapping) or not answers:
        raise InvalidReport('A report has "answers": an object with the fields of each question.')
    names = [question.id for question in survey.questions]
    if set(answers) - set(names):
        raise InvalidReport("A report answers the questions of the survey and no others.")
    part = sum(1 << place for place, name in enumerate(names) if name in answers)
    payload = b"".join(_packed(question, answers[question.id]) for question in survey.part(part))
    return Message(identity, part, period, 1, payload)


def _packed(question: Question, fields: Any) -> bytes:
    layout = question.mechanism.layout
    if not isinstance(fields, Mapping) or sorted(fields) != sorted(field.name for field in layout.fields):
        raise InvalidReport(
            f"A report on {question.id!r} has the fields {', '.join(field.name for field in layout.fields)}."
        )
    columns: dict[str, Column] = {}
    for field in layout.fields:
        value = fields[field.name]
        if isinstance(field, Number):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < field.below:
                raise InvalidReport(f"Field {field.name!r} is a whole number from 0, below {field.below}.")
            columns[field.name] = np.array([value], field.dtype)
        elif isinstance(field, Key):
            columns[field.name] = np.frombuffer(_bytes(value, 8), "<u8").astype(np.uint64)
        elif isinstance(field, Variable):
            columns[field.name] = np.array([_bytes(value, None), None], object)[:1]
        else:
            columns[field.name] = np.frombuffer(_bytes(value, (field.bits + 7) // 8), np.uint8)[None, :]
    layout.check(columns)
    return layout.pack(columns)


def _bytes(text: object, size: int | None) -> bytes:
    try:
        data = bytes.fromhex(text) if isinstance(text, str) else None
    except ValueError:
        data = None
    if data is None or (size is not None and len(data) != size):
        here = "" if size is None else f"; here {2 * size} digits are needed"
        raise InvalidReport(f"An id, a key, a message and a field of cells are written in hexadecimal{here}.")
    return data
