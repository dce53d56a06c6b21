"""From a survey file to a survey: everything is checked, and an error names the file and the line."""

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from deniable.core.odds import checked_epsilon
from deniable.errors import DeniableError, InvalidParameter, InvalidSurvey
from deniable.mechanisms.registry import mechanism_from_json
from deniable.survey import budget
from deniable.survey.budget import BUDGETS
from deniable.survey.kind import WrongDetail
from deniable.survey.kinds import kind_named, sensitive_of
from deniable.survey.lines import lines_of
from deniable.survey.question import Question
from deniable.survey.survey import FORMAT, MOST_QUESTIONS, Survey

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_WINDOWS = {"hour": 3600, "day": 86_400, "week": 604_800}
_COMMON = {"id", "ask", "kind", "weight", "mechanism"}
_ABOUT = {
    "id", "title", "epsilon", "budget", "sample", "people", "minimum_reports", "opens", "closes", "window", "late",
    "keep_reports",
}  # fmt: skip

Where = Callable[[str, int | None, str | None], str]


def read(path: Path) -> Survey:
    """The survey in a TOML or JSON file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InvalidSurvey(f"There is no file {str(path)!r}. Check the name.") from None
    except (OSError, ValueError) as error:
        raise InvalidSurvey(f"The file {str(path)!r} cannot be read as text in UTF-8.") from error
    return parse_json(text, str(path)) if path.suffix == ".json" else parse_toml(text, str(path))


def parse_toml(text: str, name: str) -> Survey:
    """The survey in this TOML text."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        at = f", line {line[1]}" if line else ", at its end"
        what = str(error).split(" (at ")[0]
        raise InvalidSurvey(f"{name}{at}: this is not TOML. {what}.") from None
    lines = lines_of(text)

    def where(table: str, number: int | None, key: str | None) -> str:
        line = lines.get((table, number, key)) or lines.get((table, number, None))
        return f"{name}, line {line}" if line else name

    return _survey(data, where)


def parse_json(text: str, name: str) -> Survey:
    """The survey in this JSON text."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidSurvey(f"{name}, line {error.lineno}: this is not JSON. {error.msg}.") from None
    except RecursionError:
        raise InvalidSurvey(f"{name}: this is not a survey.") from None

    def where(table: str, number: int | None, key: str | None) -> str:
        which = table if number is None else f"{table} {number + 1}"
        return f"{name}, {which}" + (f", {key}" if key else "")

    if not isinstance(data, dict):
        raise InvalidSurvey(f'{name}: a survey is an object with "survey" and "question".')
    return _survey(data, where)


class _Table:
    """One table of the file, whose values are taken out one by one and checked."""

    def __init__(self, data: object, place: Where, table: str, number: int | None = None) -> None:
        self._place, self._table, self._number = place, table, number
        if not isinstance(data, Mapping):
            self.refuse(None, f"a survey needs a table [{table}].")
        self.data: Mapping[str, Any] = data

    def refuse(self, key: str | None, what: str) -> NoReturn:
        raise InvalidSurvey(f"{self._place(self._table, self._number, key)}: {what}") from None

    def only(self, allowed: set[str]) -> None:
        for key in self.data:
            if key not in allowed:
                self.refuse(key, f"{key!r} is not known here. Use {', '.join(sorted(allowed))}.")

    def text(self, key: str, default: str | None = None) -> str:
        value = self.data.get(key, default)
        if not isinstance(value, str) or not value:
            self.refuse(key, f'{key} is missing or not a text: {key} = "..."')
        return value

    def name(self, key: str) -> str:
        value = self.text(key)
        if not _ID.fullmatch(value):
            self.refuse(key, f"{key} is made of small letters, digits, '.', '_' and '-', at most 64 of them.")
        return value

    def whole(self, key: str, default: int, least: int, most: int = 1 << 40) -> int:
        value = self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.refuse(key, f"{key} must be a whole number from {least:,} to {most:,}.")
        return value

    def flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            self.refuse(key, f"{key} is true or false.")
        return value

    def moment(self, key: str) -> int | None:
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, str):
            with suppress(ValueError):
                value = datetime.fromisoformat(value)
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = int(value.timestamp())
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 40:
            self.refuse(key, f"{key} is a date and time with its zone, such as 2026-11-01T08:00:00Z.")
        return value


def _survey(data: Mapping[str, Any], place: Where) -> Survey:
    extra = sorted(set(data) - {"format", "survey", "question"})
    if extra:
        raise InvalidSurvey(f"{place(extra[0], None, None)}: a survey has [survey] and [[question]], not {extra[0]!r}.")
    if data.get("format", FORMAT) != FORMAT:
        raise InvalidSurvey(
            f"{place('', None, 'format')}: this release reads surveys of format {FORMAT!r}. Update deniable."
        )
    about = _Table(data.get("survey"), place, "survey")
    about.only(_ABOUT)
    rows = data.get("question")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_QUESTIONS:
        about.refuse(None, f"a survey has 1 to {MOST_QUESTIONS} questions, each under [[question]].")
    tables = [_Table(row, place, "question", number) for number, row in enumerate(rows)]
    epsilon = _epsilon(about)
    split = about.text("budget", "equal")
    if split not in BUDGETS:
        about.refuse("budget", 'budget is "equal", "weighted" (by the weight of each question) or "sampled".')
    sample = about.whole("sample", 1, 1, len(tables))
    if split != "sampled":
        if "sample" in about.data and sample != 1:
            about.refuse("sample", 'sample is for budget = "sampled": how many questions each person answers.')
        sample = 1
    people = about.whole("people", 10_000, 1)
    weights = [_weight(table, split) for table in tables]
    budgets = budget.shares(epsilon, split, sample, weights)
    questions = tuple(
        _question(table, weight, share, people) for table, weight, share in zip(tables, weights, budgets, strict=True)
    )
    for number, table in enumerate(tables):
        if any(question.id == questions[number].id for question in questions[:number]):
            table.refuse("id", "two questions have the same id. Give each its own.")
    opens, closes = about.moment("opens"), about.moment("closes")
    if opens is not None and closes is not None and closes <= opens:
        about.refuse("closes", "the survey closes before it opens.")
    window = _window(about)
    if window is not None and opens is None:
        about.refuse("window", "windows are counted from the moment the survey opens: add opens = 2026-11-01T00:00:00Z.")
    survey = Survey(
        id=about.name("id"),
        title=about.text("title", about.text("id")),
        epsilon=epsilon,
        budget=split,
        sample=sample,
        people=people,
        minimum_reports=about.whole("minimum_reports", 100, 1),
        opens=opens,
        closes=closes,
        window=window,
        late=about.whole("late", 1, 0, 1000),
        keep_reports=about.flag("keep_reports"),
        questions=questions,
    )
    if survey.loss().epsilon() > epsilon:
        about.refuse("epsilon", "the mechanisms written in this survey spend more than its epsilon.")
    return survey


def _epsilon(about: _Table) -> float:
    try:
        return checked_epsilon(about.data.get("epsilon", 0.0))
    except InvalidParameter as error:
        about.refuse("epsilon", str(error))


def _weight(table: _Table, split: str) -> float:
    weight = table.data.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
        table.refuse("weight", "weight is a number above 0.")
    if split != "weighted" and weight != 1:
        table.refuse("weight", 'weights count only with budget = "weighted".')
    return float(weight)


def _window(about: _Table) -> int | None:
    window = about.data.get("window")
    if isinstance(window, str) and window in _WINDOWS:
        return _WINDOWS[window]
    if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window < 60):
        about.refuse("window", 'window is "hour", "day", "week" or a number of seconds, at least 60.')
    return window


def _question(table: _Table, weight: float, epsilon: float, people: int) -> Question:
    name, ask = table.name("id"), table.text("ask", table.data.get("id"))
    try:
        kind = kind_named(table.data.get("kind"))
        table.only(_COMMON | kind.details)
        details = {key: value for key, value in table.data.items() if key in kind.details}
        for flag in {"optional", "clip"} & set(details):
            table.flag(flag)
        domain = kind.domain(details)
        written = table.data.get("mechanism")
        if written is None:
            mechanism = kind.mechanism(domain, details, epsilon, people)
        else:
            mechanism = mechanism_from_json(json.dumps(written))
            if mechanism.domain != domain:
                table.refuse("mechanism", "the mechanism is for another question: its answers differ.")
            if set(getattr(mechanism, "sensitive", ())) != set(sensitive_of(details)):
                table.refuse("mechanism", "the mechanism protects other answers than the question says.")
    except InvalidSurvey:
        raise
    except WrongDetail as error:
        table.refuse(error.key, str(error))
    except DeniableError as error:
        table.refuse("mechanism" if "mechanism" in table.data else None, str(error))
    return Question(name, ask, table.data["kind"], details, weight, mechanism)
