"""Reports in JSON, as a client that cannot pack bits writes them."""

from typing import Any

from deniable.core import Column, Flags, Number
from deniable.core.variable import Key
from deniable.survey import Message, Survey


def write_json(survey: Survey, message: Message) -> dict[str, object]:
    """A message of one report as plain data."""
    answers = {}
    for question, reports in zip(survey.part(message.part), survey.unpack(message), strict=True):
        fields = question.mechanism.layout.fields
        answers[question.id] = {field.name: _written(field, reports.columns[field.name]) for field in fields}
    return {"survey": survey.fingerprint, "id": message.id.hex(), "period": message.period, "answers": answers}


def _written(field: Any, column: Column) -> int | str:
    if isinstance(field, Number):
        return int(column[0])
    if isinstance(field, Flags | Key):
        return column[:1].tobytes().hex()
    return bytes(column[0]).hex()
