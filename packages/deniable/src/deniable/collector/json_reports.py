"""Reports as JSON, for clients that cannot pack bits: one object for one person, or a list of them.

    {"survey": "<fingerprint>", "id": "<32 hexadecimal digits>", "period": 0, "answers": {"town": {"value": 3}}}

A survey for invited people has a "token" too, in hexadecimal.

A number is a whole number. Cells are packed bytes in hexadecimal, lowest bit first; so are a key of 64 bits and a field of
variable length.
"""

import json
from collections.abc import Mapping
from typing import Any

from deniable.collector.fields import FORMATS, read_hex
from deniable.collector.reader import breathe
from deniable.errors import InvalidReport, SurveyMismatch
from deniable.invitations.token import TOKEN_BYTES
from deniable.survey import Message, Question, Survey


def read_json(survey: Survey, body: bytes, most: int | None = None) -> list[Message]:
    """The messages in a JSON body; of a longer list, one more than `most`."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidReport("The body is not JSON.") from None
    people = data if isinstance(data, list) else [data]
    if not people:
        raise InvalidReport("The list of reports is empty.")
    found = list[Message]()
    for each in people if most is None else people[: most + 1]:
        found.append(_message(survey, each))
        breathe()
    return found


def _message(survey: Survey, data: Any) -> Message:
    if not isinstance(data, Mapping) or set(data) - {"survey", "id", "period", "answers", "token"}:
        raise InvalidReport(
            'A report has the keys "survey", "id", "answers" and, as the survey requires, "period" and "token".'
        )
    if data.get("survey") != survey.fingerprint:
        raise SurveyMismatch(f"This report was not made for survey {survey.fingerprint[:8]}. Fetch the survey again.")
    identity, period, answers = read_hex(data.get("id"), 16), data.get("period", 0), data.get("answers")
    if isinstance(period, bool) or not isinstance(period, int) or not 0 <= period < 1 << 32:
        raise InvalidReport(f"period must be a whole number from 0 to {(1 << 32) - 1}.")
    if not isinstance(answers, Mapping) or not answers:
        raise InvalidReport("answers must be an object with the fields of each question.")
    names = [question.id for question in survey.questions]
    if set(answers) - set(names):
        raise InvalidReport("answers may hold only questions of this survey.")
    part = sum(1 << place for place, name in enumerate(names) if name in answers)
    payload = b"".join(_packed(question, answers[question.id]) for question in survey.part(part))
    token = read_hex(data["token"], TOKEN_BYTES) if "token" in data else b""
    return Message(identity, part, period, 1, payload, token)


def _packed(question: Question, fields: Any) -> bytes:
    layout = question.mechanism.layout
    names = [field.name for field in layout.fields]
    if not isinstance(fields, Mapping) or sorted(fields) != sorted(names):
        raise InvalidReport(f"A report on {question.id!r} has the fields {', '.join(names)}.")
    columns = {field.name: FORMATS[type(field)].read(field, fields[field.name]) for field in layout.fields}
    layout.check(columns)
    return layout.pack(columns)
