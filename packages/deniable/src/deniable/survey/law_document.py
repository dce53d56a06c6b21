"""The laws of a survey as one document, which the collector serves beside the survey: what a device proves and then runs.

    format     "deniable law 1"
    survey     the fingerprint of the survey
    questions  for each question, by its id: the program of its reports (`law`), the `fields` of a report and how it is read
               (`reads`); for questions with non-sensitive answers the field that discloses them and from which value on
               (`opens`), for memoized ones the part of the program that is `kept`, and `snaps` where a number is first
               moved to the nearest point of its grid; null where the law rests on a theorem and is not a program
    theorems   for questions whose law rests on a theorem and that browsers answer, by their ids: what a device needs besides
               the description of the mechanism; left out where there are none

The survey and its fingerprint do not depend on it, so that the surveys and reports of earlier releases stay as they are.
"""

import json

from deniable.survey.law import is_program
from deniable.survey.survey import Survey

LAW_FORMAT = "deniable law 1"


def law_document(survey: Survey) -> dict[str, object]:
    """The document as plain data."""
    mechanisms = {question.id: question.mechanism for question in survey.questions}
    questions = {name: each.device_law() if is_program(each) else None for name, each in mechanisms.items()}
    document: dict[str, object] = {"format": LAW_FORMAT, "survey": survey.fingerprint, "questions": questions}
    found = {each.id: each.how.theorem(each.mechanism) for each in survey.questions if questions[each.id] is None}
    theorems = {name: terms for name, terms in found.items() if terms is not None}
    if theorems:
        document["theorems"] = theorems
    return document


def law_json(survey: Survey) -> str:
    """The document as canonical text: sorted keys, no spaces, escaped non-ASCII characters."""
    return json.dumps(law_document(survey), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def law_text(survey: Survey) -> str:
    """The laws in lines that people can read."""
    lines = [f"survey {survey.id}, fingerprint {survey.fingerprint}"]
    for question in survey.questions:
        mechanism = question.mechanism
        lines += ["", f"{question.id}: {question.ask}", f"  {mechanism.wire}, {mechanism.loss()}"]
        if is_program(mechanism):
            lines += [f"  {line}" for line in str(mechanism.law).splitlines()]
        else:
            asked = question.how.theorem(mechanism) is not None
            more = "Browsers have this mechanism built in." if asked else "Browsers do not answer this question."
            lines.append(f"  The law is not a program: it rests on a theorem. {more}")
    return "\n".join(lines)
