"""Check a certificate that somebody handed on: read the programs in it, prove them again, and compare every figure.

A certificate is not signed. That it checks means that what it says of the survey in it is true; that the survey in it is the
one that people are asked shows in the fingerprint, which every message carries.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core import Mechanism, Program, written_odds
from deniable.errors import DeniableError, InvalidParameter
from deniable.privacy.bounds import Bound
from deniable.privacy.cases import open_bound
from deniable.privacy.certify import certify
from deniable.privacy.together import Group, independent
from deniable.survey.certificate import certify_survey
from deniable.survey.certificate_page import page
from deniable.survey.certificate_record import FORMAT, certificate_record, release
from deniable.survey.survey import Survey
from deniable.wrappers.open_answers import OpenAnswers

LONGEST = 1 << 26  # characters of a certificate
WORDS = ("statement", "steps")  # which another release may write differently
STATED = ("format", "date", "release")  # which no proof can show
_EMBEDDED = re.compile(r'<script type="application/json" id="certificate">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True)
class Verification:
    """What was found: the certificate as data, what was checked, and what is wrong with it."""

    record: Mapping[str, Any]
    checked: tuple[str, ...]
    fault: str = ""

    @property
    def genuine(self) -> bool:
        """Whether everything that the certificate says follows from the survey and the programs in it."""
        return not self.fault


class _Fault(Exception):
    """Something that is wrong with a certificate, in a sentence."""


def read_certificate(text: str) -> dict[str, Any]:
    """The certificate in a JSON text, or in the page that `deniable certify --html` wrote; refuses anything else."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        embedded = _embedded(text)
        record = json.loads(text if embedded is None else embedded, object_pairs_hook=_table)
        if record["format"] != FORMAT:
            raise ValueError
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidParameter(
            "This is not a certificate of a survey. Make one with deniable certify survey.toml --json or --html."
        ) from error
    return dict(record)


def _embedded(text: str) -> str | None:
    """The data in a page; a text that is no page has none, whatever is quoted in it."""
    found = _EMBEDDED.search(text) if text.lstrip().startswith("<") else None
    return None if found is None else found.group(1)


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, in which each name stands once: of two, some readers would take the first and others the last."""
    if len(table := dict(pairs)) < len(pairs):
        raise ValueError
    return table


def verify(text: str) -> Verification:
    """Check a certificate anew; refuses what is none."""
    record = read_certificate(text)
    checked: list[str] = []
    try:
        survey = _survey(record)
        checked.append("The survey in the certificate has the fingerprint that it states.")
        _programs(record, survey)
        checked.append(
            "The programs in the certificate are the law of this survey, and the proof of each gives the same loss."
        )
        _figures(record, survey)
        checked.append(_words(record))
        if _embedded(text) is not None:
            checked.append(_page(text, record, survey))
    except _Fault as fault:
        return Verification(record, tuple(checked), str(fault))
    except DeniableError as error:
        return Verification(record, tuple(checked), f"The certificate cannot be right: {error}")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, ArithmeticError):
        return Verification(record, tuple(checked), "The certificate is damaged: a part is missing or is of the wrong kind.")
    return Verification(record, tuple(checked))


def _survey(record: Mapping[str, Any]) -> Survey:
    survey = Survey.from_json(json.dumps(record["asked"]))
    if survey.fingerprint != record["fingerprint"]:
        raise _Fault(
            f"The certificate is for survey {record['fingerprint']!s:.32}, but the survey in it is {survey.fingerprint}. "
            "One of them was changed."
        )
    return survey


def _programs(record: Mapping[str, Any], survey: Survey) -> None:
    """That the programs are the law of the survey, and that each, as it stands in the certificate, has the stated loss."""
    pieces = survey.law().programs
    if len(record["programs"]) != len(pieces):
        raise _Fault("The certificate does not have the programs of this survey.")
    for piece, each in zip(pieces, record["programs"], strict=True):
        program = Program.from_json(json.dumps(each["program"]))
        if program.fingerprint != each["fingerprint"]:
            raise _Fault("A program in the certificate was changed: it does not have the fingerprint that is stated.")
        if program != piece.program or each["questions"] != piece.fields:
            made = "" if record["release"] == release() else f" It was made with release {record['release']!s:.20}."
            raise _Fault(f"A program in the certificate is not the law of the survey in it.{made}")
        for group in independent(program, each["questions"]):
            if len(group.names) > 1:
                raise _Fault(f"The reports on {' and '.join(group.names)} share a draw or an answer.")
            (name,) = group.names
            stated = record["questions"][name]
            mechanism = next(question.mechanism for question in piece.questions if question.id == name)
            if stated["proof"] == "proved" and stated["rules"]:
                odds = _proved(group, mechanism).odds
                if stated["odds"] != (None if odds is None else written_odds(odds)):
                    raise _Fault(
                        f"The certificate states odds of {stated['odds']!s:.60} for {name!r}; the proof of its program "
                        f"gives {'no bound' if odds is None else odds}."
                    )


def _proved(group: Group, mechanism: Mechanism) -> Bound:
    """The loss of the program of a question; of one with non-sensitive answers, that of reports that disclose none."""
    if not isinstance(mechanism, OpenAnswers):
        return group.bound()
    field, start = mechanism.layout.opens
    secret = frozenset(np.flatnonzero(mechanism.secret).tolist())
    found = open_bound(group.program, f"{group.names[0]}.{field}", start, secret)
    if found is None:
        raise _Fault(f"No rule of proof covers the program of {group.names[0]!r}.")
    exact = Bound(certify(mechanism).loss.odds, found.rules)  # of the same law, where all its outcomes can be followed
    return min(found, exact)


def _figures(record: Mapping[str, Any], survey: Survey) -> None:
    """That everything else is what a certificate of this survey says."""
    fresh = json.loads(json.dumps(certificate_record(certify_survey(survey))))
    ignored = {*STATED, *(() if record["release"] == fresh["release"] else WORDS)}
    if set(record) != set(fresh):
        raise _Fault(f"The certificate has missing or unexpected entries: {', '.join(sorted(set(record) ^ set(fresh)))}.")
    for name, value in fresh.items():
        if name in ignored or _same(record[name], value):
            continue
        if isinstance(value, str | int | float | bool | None) and len(f"{value}{record[name]}") < 200:
            raise _Fault(f"The certificate states {name} {_shown(record[name])}; the proof gives {_shown(value)}.")
        raise _Fault(
            f"The certificate was changed: its {name} {'are' if name[-1] == 's' else 'is'} not what the proof gives."
        )


def _words(record: Mapping[str, Any]) -> str:
    """What was checked beside the programs: of another release's words nothing."""
    if record["release"] == release():
        return "Every other statement in it follows from the survey; the date and the release cannot be proved."
    return (
        "Every other figure in it follows from the survey; the date and the release cannot be proved. Its words were not "
        f"checked: release {record['release']!s:.20} wrote them. Rely on the figures alone."
    )


def _page(text: str, record: Mapping[str, Any], survey: Survey) -> str:
    """That a page says what the data in it says; only the release that wrote it knows how it would say that."""
    if record["release"] != release():
        return f"The words of the page were not checked: release {record['release']!s:.20} wrote it. Rely on the data alone."
    if text != page(record, survey.law()):
        raise _Fault("The page was changed: its text does not match the data in it, which is correct.")
    return "The text of the page matches the data in it."


def _same(first: object, second: object) -> bool:
    """Whether two values of JSON are the same; Python alone would take 1 for true."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same(value, second[name]) for name, value in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_same, first, second))
    return first == second and isinstance(first, bool) == isinstance(second, bool)


def _shown(value: object) -> str:
    return json.dumps(value)
