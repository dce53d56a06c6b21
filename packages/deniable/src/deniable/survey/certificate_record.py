"""A certificate that can be handed on: the survey, its law as programs, the proof step by step, as plain data."""

import time
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from deniable.core import formatted_odds, formatted_size, written_odds
from deniable.privacy.certificate import Certificate
from deniable.survey.certificate import SurveyCertificate
from deniable.survey.question import Question

FORMAT = "deniable certificate 1"
# The rules of proof in a sentence each, for readers who do not prove things for a living.
RULES = {
    "enumeration": "every answer was tried with every outcome of every random draw",
    "independence": "parts of a report that share no random draw were proved on their own, and their factors multiplied",
    "selection": "a random draw decides which of several things is sent, and the worst of them counts",
    "waist": "all influence of the answer passes through a few values, so only these had to be compared",
    "shift": "random noise is added to the answer, going round in a circle, so only the noise needs to be compared",
    "marked cell": "all cells of the report are drawn alike except the one that the answer marks, so only that one counts",
    "replacement": "the answer, or with some probability a random draw in its place, is sent",
    "cases": "sensitive and other answers were compared case by case, over the reports that disclose nothing",
    "exchange": "the answer only decides which two cells of a random pattern are exchanged",
    "permutation": "the answer only decides which cells of a random pattern are exchanged with each other",
    "sampling": "one of several items is drawn at random and sent with noise, and any two sets of items were compared",
    "mask": "a random pattern is laid over the answer, and its probability depends only on how many cells it turns over",
    "unfolding": "more was assumed to be visible than the report shows, which can only overstate the loss",
    "cells": "each cell of the report is drawn on its own, from its own part of the answer, and the factors multiplied",
}


def release() -> str:
    """The release of this package."""
    try:
        return version("deniable")
    except PackageNotFoundError:  # a copy that was never installed
        return "unknown"


def today() -> str:
    """The date in UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime())


def certificate_record(found: SurveyCertificate) -> dict[str, Any]:
    """The certificate as plain data, with all that is needed to check it: `deniable verify` does."""
    survey, law = found.survey, found.law
    bounded = found.loss.odds is not None
    programs = [
        {"questions": piece.fields, "fingerprint": piece.program.fingerprint, "program": piece.program.plain()}
        for piece in law.programs
        if piece.program is not None
    ]
    return {
        "format": FORMAT,
        "date": today(),
        "release": release(),
        "holds": found.holds,
        "survey": survey.id,
        "fingerprint": survey.fingerprint,
        "law": law.fingerprint,
        "unit": survey.unit,
        "budget": survey.epsilon,
        "epsilon": found.loss.epsilon() if bounded else None,
        "odds": written_odds(found.loss.odds) if found.loss.odds is not None else None,
        "proof": found.loss.proof,
        "statement": found.statement(),
        "steps": steps(found),
        "questions": {q.id: _proved(each) for q, each in zip(survey.questions, found.questions, strict=True)},
        "programs": programs,
        "asked": survey.spec(),
        **_lifetime(found),
    }


def _lifetime(found: SurveyCertificate) -> dict[str, Any]:
    """What is disclosed over time, of a survey that asks again."""
    if found.survey.repeats is None:
        return {}
    ever = found.ever
    odds = None if ever is None or ever.odds is None else written_odds(ever.odds)
    figures = {"budget": found.survey.lifetime_epsilon, "epsilon": None if ever is None else ever.epsilon(), "odds": odds}
    return {"lifetime": figures | {"questions": {name: each.record() for name, each in found.kept.items()}}}


def steps(found: SurveyCertificate) -> list[str]:
    """The proof, step by step, in words."""
    survey, count = found.survey, len(found.survey.questions)
    lines = [
        "A message holds an id, the numbers of the questions asked, the period of the survey, and one report for each "
        "question. The device draws the id at random, and which questions it asks, before it looks at any answer. So "
        "only the reports can depend on the answers.",
        _law(found),
    ]
    lines += [_question(question, each) for question, each in zip(survey.questions, found.questions, strict=True)]
    if survey.budget == "sampled" and survey.sample < count:
        lines.append(
            f"A person is asked {survey.sample} of {count} questions. No random draw and no answer is used for two "
            "questions, so the factors of the questions multiply, and the worst case is that of the "
            f"{survey.sample} questions with the largest factors. No other combination can be worse."
        )
    elif count > 1:
        lines.append(
            "No random draw and no answer is used for two questions. So the reports are independent, and the factors of "
            "the questions multiply."
        )
    for name, each in found.kept.items():
        times = "any number of" if each.loss.odds is None else f"at most {formatted_odds(each.loss.odds, 9)}"
        lines.append(
            f"{name}: a report is made from a kept answer and fresh random draws alone. So all reports ever on one value "
            f"are {times} times as likely under one answer as under another, however many there are."
        )
    if found.survey.repeats is not None and found.ever is not None and found.ever.odds is not None:
        lines.append(
            f"Together, all reports ever on one value of each question cost epsilon {found.ever.epsilon():.9g}. A new value "
            "is kept anew and costs as much again. That a value changed, and when, is not hidden."
        )
    total = "is not bounded" if found.loss.odds is None else f"is at most {formatted_odds(found.loss.odds, 9)}"
    verdict = "keeps" if found.holds else "does not keep"
    spent = "" if found.loss.odds is None else f", which is epsilon {found.loss.epsilon():.9g}"
    lines.append(
        f"The factor of the whole message {total}{spent}. The budget is epsilon {survey.epsilon:.9g}: the survey {verdict} "
        "its promise."
    )
    return lines


def _law(found: SurveyCertificate) -> str:
    programs = [piece.program for piece in found.law.programs if piece.program is not None]
    codes = [piece.questions[0].id for piece in found.law.pieces if piece.program is None]
    count = sum(len(program.nodes) for program in programs)
    what = "one program" if len(programs) == 1 else f"{len(programs)} programs, run one after the other,"
    text = (
        f"The reports are made by {what} of {count:,} elementary operations in all, which this certificate contains. "
        "It is what was proved, and the Python client runs nothing else on an answer. Its fingerprint changes if any "
        "operation does."
        if programs
        else "No report of this survey is made by a program that can be proved."
    )
    if codes:
        text += f" The reports on {', '.join(codes)} are made by other code, for which a published theorem is relied on."
    return text


def _question(question: Question, each: Certificate) -> str:
    loss, size = each.loss, formatted_size(question.mechanism.domain.size)
    if loss.odds is None:
        return f"{question.id}: a report can rule out an answer, so nothing is promised."
    factor = f"at most {formatted_odds(loss.odds, 9)} times as likely under one answer as under another"
    about = f"{question.id}: any report is {factor}."
    if question.mechanism.protected is not None:
        about = (
            f"{question.id}: a report either discloses an answer that is not sensitive, which only people with that answer "
            f"can send, or is {factor}."
        )
    elif loss.protects != "any two values":
        about += f" This protects {loss.protects}."
    if loss.proof == "theorem":
        return f"{about} This rests on a published theorem, not on a proof of a program."
    proved = f"{about} It was proved for all {size} answers and all random draws."
    if not each.rules:
        return f"{proved} Every outcome was followed, {each.followed:,} in all."
    used = "; ".join(f"{rule} ({RULES.get(rule, 'see the documentation')})" for rule in each.rules)
    return f"{proved} Rules used: {used}."


def _proved(found: Certificate) -> dict[str, object]:
    """What follows from the survey alone, so that it can be checked: not how good a release is, which nobody could."""
    return {name: value for name, value in found.record().items() if name != "accuracy"}
