"""From a survey file to a survey: everything is checked, and an error names the file and the line."""

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from deniable.core import Domain, Mechanism, checked_edition, checked_epsilon
from deniable.errors import DeniableError, InvalidParameter, InvalidSurvey
from deniable.invitations.terms import Invitations
from deniable.mechanisms.registry import family, mechanism_from_spec
from deniable.survey import budget
from deniable.survey.budget import BUDGETS, Spending
from deniable.survey.kinds.kind import Kind, WrongDetail
from deniable.survey.kinds.registry import kind_named
from deniable.survey.language import read_language
from deniable.survey.lines import lines_of
from deniable.survey.question import Question
from deniable.survey.relation import Relation
from deniable.survey.repeating import MONDAY
from deniable.survey.round_reading import check_rounds, read_rounds
from deniable.survey.survey import FORMAT, MOST_QUESTIONS, Survey

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_WINDOWS = {"hour": 3600, "day": 86_400, "week": 604_800}
_COMMON = {"id", "ask", "kind", "weight", "mechanism"} | (_REPEATING := {"repeat", "span"})
_ABOUT = {
    "id", "title", "epsilon", "budget", "sample", "people", "minimum_reports", "opens", "closes", "window", "late",
    "keep_reports", "share_results", "rounds", "round", "round_time", "lifetime_epsilon", "language",
    "planner",
}  # fmt: skip

Where = Callable[[str, int | None, str | None], str]


def read(path: Path) -> Survey:
    """The survey in a TOML or JSON file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InvalidSurvey(f"File {str(path)!r} not found.") from None
    except (OSError, ValueError) as error:
        raise InvalidSurvey(f"File {str(path)!r} is not readable UTF-8 text.") from error
    return parse_json(text, str(path)) if path.suffix == ".json" else parse_toml(text, str(path))


def parse_toml(text: str, name: str) -> Survey:
    """The survey in this TOML text."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        at = f", line {line[1]}" if line else ", at its end"
        what = str(error).split(" (at ")[0]
        raise InvalidSurvey(f"{name}{at}: Invalid TOML: {what}.") from None
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
        raise InvalidSurvey(f"{name}, line {error.lineno}: Invalid JSON: {error.msg}.") from None
    except RecursionError:
        raise InvalidSurvey(f"{name}: Invalid JSON: nested too deeply.") from None

    def where(table: str, number: int | None, key: str | None) -> str:
        which = table if number is None else f"{table} {number + 1}"
        return f"{name}, {which}" + (f", {key}" if key else "")

    if not isinstance(data, dict):
        raise InvalidSurvey(f'{name}: A survey is an object with "survey" and "question".')
    return _survey(data, where)


class Section:
    """One table of the file, whose values are taken out one by one and checked."""

    def __init__(self, data: object, place: Where, table: str, number: int | None = None) -> None:
        self._place, self._table, self._number = place, table, number
        if not isinstance(data, Mapping):
            self.refuse(None, f"The table [{table}] is missing.")
        self.data: Mapping[str, Any] = data

    def refuse(self, key: str | None, what: str) -> NoReturn:
        raise InvalidSurvey(f"{self._place(self._table, self._number, key)}: {what}") from None

    def within(self, data: object) -> "Section":
        """A table inside this one, in the same place of the file."""
        return Section(data, self._place, self._table, self._number)

    def only(self, allowed: set[str]) -> None:
        for key in self.data:
            if key not in allowed:
                self.refuse(key, f"Unknown key {key!r}. Allowed here: {', '.join(sorted(allowed))}.")

    def text(self, key: str, default: str | None = None) -> str:
        value = self.data.get(key, default)
        if not isinstance(value, str) or not value:
            self.refuse(key, f'{key} must be text: {key} = "..."')
        return value

    def name(self, key: str) -> str:
        value = self.text(key)
        if not _ID.fullmatch(value):
            self.refuse(
                key, f"{key} must be 1 to 64 lower-case letters, digits, '.', '_' or '-', and start with a letter or digit."
            )
        return value

    def whole(self, key: str, default: int, least: int, most: int = 1 << 40) -> int:
        value = self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.refuse(key, f"{key} must be a whole number from {least:,} to {most:,}.")
        return value

    def flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            self.refuse(key, f"{key} must be true or false.")
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
            self.refuse(key, f"{key} must be a date and time with a time zone, such as 2026-11-01T08:00:00Z.")
        return value


def _survey(data: Mapping[str, Any], place: Where) -> Survey:
    extra = sorted(set(data) - {"format", "survey", "question", "table", "invitations"})
    if extra:
        raise InvalidSurvey(
            f"{place(extra[0], None, None)}: Unknown table {extra[0]!r}. A survey has [survey], [[question]] and sometimes "
            "[[table]] and [invitations]."
        )
    if data.get("format", FORMAT) != FORMAT:
        raise InvalidSurvey(f"{place('', None, 'format')}: Unknown format. This release reads {FORMAT!r}. Update deniable.")
    about = Section(data.get("survey"), place, "survey")
    about.only(_ABOUT)
    rows = data.get("question")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_QUESTIONS:
        about.refuse(None, f"A survey needs 1 to {MOST_QUESTIONS} questions, each under [[question]].")
    tables = [Section(row, place, "question", number) for number, row in enumerate(rows)]
    epsilon = _epsilon(about)
    split = about.text("budget", "equal")
    if split not in BUDGETS:
        about.refuse("budget", 'budget must be "equal", "weighted" (by the weight of each question) or "sampled".')
    sample = about.whole("sample", 1, 1, len(tables))
    if split != "sampled":
        if "sample" in about.data and sample != 1:
            about.refuse("sample", 'sample, the number of questions per person, requires budget = "sampled".')
        sample = 1
    people, edition = about.whole("people", 10_000, 1), _edition(about)
    spending = Spending(epsilon, split, sample, people, edition)
    relations: tuple[Relation, ...] = ()
    rounds, current = read_rounds(about, tables)
    repeated = is_repeated(about, tables)
    if repeated:
        if rounds is not None or "table" in data or "invitations" in data:
            about.refuse("window", "Questions that repeat cannot be combined with rounds, [[table]] or [invitations].")
        from deniable.survey.repeat_reading import read_repeated  # loads what plans permanent answers

        questions = read_repeated(about, tables, spending)
    elif "table" in data:
        from deniable.survey.arranging import arrange  # loads what plans relations

        if rounds is not None:
            about.refuse("rounds", "Rounds cannot be combined with [[table]]. Leave one of them out.")
        wanted = data["table"] if isinstance(data["table"], list) else [None]
        found = [Section(row, place, "table", number) for number, row in enumerate(wanted)]
        questions, relations = arrange(tables, found, spending, about)
    else:
        weights = [read_weight(table, split) for table in tables]
        budgets = budget.shares(epsilon, split, sample, weights)
        questions = tuple(
            draft.question(draft.mechanism(share, people, rounds or 1))
            for draft, share in zip(map(partial(read_draft, edition=edition), tables, weights), budgets, strict=True)
        )
        check_ids(tables, [question.id for question in questions])
    opens, closes = about.moment("opens"), about.moment("closes")
    if repeated and opens is None:
        opens = MONDAY
    if opens is not None and closes is not None and closes <= opens:
        about.refuse("closes", "closes must be after opens.")
    window = _seconds(about, "window")
    if window is not None and opens is None:
        about.refuse("window", "window requires opens, when the first window starts: opens = 2026-11-01T00:00:00Z.")
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
        tables=relations,
        rounds=rounds,
        round=current,
        round_time=_seconds(about, "round_time"),
        invitations=_invitations(data, place),
        share_results=about.flag("share_results"),
        lifetime_epsilon=read_lifetime(about),
        language=read_language(about),
        planner=edition,
    )
    if repeated:
        from deniable.survey.repeat_reading import check_lifetime

        check_lifetime(about, survey)
    check_rounds(about, survey)
    if survey.loss().epsilon() > epsilon:
        about.refuse("epsilon", "The mechanisms in this file spend more than the survey's epsilon.")
    return survey


def _invitations(data: Mapping[str, Any], place: Where) -> Invitations | None:
    if "invitations" not in data:
        return None
    try:
        return Invitations.from_spec(data["invitations"])
    except InvalidParameter as error:
        key = str(error).split()[0]
        Section({}, place, "invitations").refuse(key if key in ("keys", "delay") else None, str(error))


def _epsilon(about: Section) -> float:
    lifetime = read_lifetime(about)
    try:
        return checked_epsilon(about.data.get("epsilon", 0.0 if lifetime is None else lifetime / 2))
    except InvalidParameter as error:
        about.refuse("epsilon", str(error))


def _edition(about: Section) -> int:
    """The edition of the planner; a file without the line was written when there was one only."""
    try:
        return checked_edition(about.data.get("planner", 1))
    except InvalidParameter as error:
        about.refuse("planner", f"Unknown edition of the planner. {error}")


def is_repeated(about: Section, tables: Sequence[Section]) -> bool:
    """Whether the file asks anything more than once."""
    return "lifetime_epsilon" in about.data or any("repeat" in table.data for table in tables)


def read_lifetime(about: Section) -> float | None:
    """The budget of a person for all reports ever."""
    if "lifetime_epsilon" not in about.data:
        return None
    try:
        return checked_epsilon(about.data["lifetime_epsilon"])
    except InvalidParameter as error:
        about.refuse("lifetime_epsilon", str(error).replace("Epsilon", "lifetime_epsilon", 1))


def check_ids(tables: Sequence[Section], ids: Sequence[str]) -> None:
    """Refuse questions with the same id."""
    for number, table in enumerate(tables):
        if ids[number] in ids[:number]:
            table.refuse("id", "Two questions have the same id. Give each its own.")


def read_weight(table: Section, split: str) -> float:
    """The weight of a question in the budget."""
    weight = table.data.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
        table.refuse("weight", "weight must be a number above 0.")
    if split != "weighted" and weight != 1:
        table.refuse("weight", 'weight requires budget = "weighted".')
    return float(weight)


def _seconds(about: Section, key: str) -> int | None:
    window = about.data.get(key)
    if isinstance(window, str) and window in _WINDOWS:
        return _WINDOWS[window]
    if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window < 60):
        about.refuse(key, f'{key} must be "hour", "day", "week" or a number of seconds, at least 60.')
    return window


class Draft(NamedTuple):
    """A question of a file whose mechanism is not chosen yet, unless the file names it."""

    table: Section
    id: str
    ask: str
    kind: str
    details: Mapping[str, Any]
    domain: Domain
    weight: float
    edition: int

    @property
    def how(self) -> Kind[Any]:
        """How questions of this kind are made and asked."""
        return kind_named(self.kind, self.edition)

    def question(self, mechanism: Mechanism) -> Question:
        """The question with its mechanism."""
        return Question(self.id, self.ask, self.kind, self.details, self.weight, mechanism, edition=self.edition)

    def mechanism(self, epsilon: float, people: int, rounds: int = 1) -> Mechanism:
        """The mechanism that the file names, or the best one; of several rounds, that of the first."""
        with explained(self.table):
            written = self.table.data.get("mechanism")
            if written is None:
                planned = self.how.mechanism if rounds == 1 else self.how.first_round
                return planned(self.domain, self.details, epsilon, -(-people // rounds))
            mechanism = _fixed(written, self.domain, epsilon)
            if not self.how.accepts(self.domain, self.details, mechanism.domain):
                self.table.refuse("mechanism", "The domain of the mechanism does not match the answers of the question.")
            if set(getattr(mechanism, "sensitive", ())) != set(self.how.sensitive(self.details)):
                self.table.refuse("mechanism", "The sensitive answers of the mechanism are not those of the question.")
            return mechanism


def read_draft(table: Section, weight: float, edition: int) -> Draft:
    """The question in a table of the file, all but its mechanism."""
    name, ask = table.name("id"), table.text("ask", table.data.get("id"))
    with explained(table):
        kind = kind_named(table.data.get("kind"))
        table.only(_COMMON | kind.keys)
        if "target" in kind.keys - set(table.data) and ask in ("distribution", "quantiles", "ranges"):
            table.refuse("ask", f'ask is the text of the question. To say what to estimate, write target = "{ask}".')
        details = {key: value for key, value in table.data.items() if key in kind.keys | _REPEATING}
        for flag in kind.flags & set(details):
            table.flag(flag)
        return Draft(table, name, ask, table.data["kind"], details, kind.domain(details), weight, edition)


@contextmanager
def explained(table: Section) -> Iterator[None]:
    """Errors of a question name the file and the line."""
    try:
        yield
    except InvalidSurvey:
        raise
    except WrongDetail as error:
        table.refuse(error.key, str(error))
    except DeniableError as error:
        table.refuse("mechanism" if "mechanism" in table.data else None, str(error))


def _fixed(written: Any, domain: Domain, epsilon: float) -> Mechanism:
    """The mechanism that a file fixes; without domain and epsilon it gets those of the question."""
    if isinstance(written, dict) and "mechanism" in written and not {"domain", "epsilon"} <= set(written):
        spec: dict[str, Any] = {"domain": domain.spec(), "epsilon": epsilon, **written}
        with suppress(KeyError, TypeError, AttributeError, ValueError, ZeroDivisionError):  # explained below
            spec = {**family(spec["mechanism"]).from_parameters(domain, spec["epsilon"], spec).spec(), **spec}
        return mechanism_from_spec(spec)
    return mechanism_from_spec(written)
