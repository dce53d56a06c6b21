"""The rounds of a survey file: how many there are, and what they cannot be combined with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deniable.survey.kinds.registry import kind_named, kinds
from deniable.survey.survey import Survey

if TYPE_CHECKING:
    from deniable.survey.reading import Section

MOST_ROUNDS = 16


def read_rounds(about: "Section", tables: Sequence["Section"]) -> tuple[int | None, int | None]:
    """How many rounds there are, and which one this is, from the second on; a question may say it too."""
    asked = [_rounds_of(table) for table in tables]
    several = max(asked, default=1)
    if "rounds" not in about.data and several == 1:
        if "round" in about.data:
            about.refuse("round", "round is the number of one of several rounds. Write rounds = 3 instead.")
        return None, None
    rounds = about.whole("rounds", several, 2, MOST_ROUNDS)
    for table, own in zip(tables, asked, strict=True):
        if "rounds" in table.data and own != rounds:
            table.refuse("rounds", f"All questions are asked in the same rounds. Write rounds = {rounds} here too.")
        if _fixed(table) > 1 and own != rounds:
            about.refuse("rounds", f"A question of this kind is asked in {own} rounds. Leave rounds out.")
    return rounds, about.whole("round", 2, 2, rounds) if "round" in about.data else None


def _rounds_of(table: "Section") -> int:
    return table.whole("rounds", 1, 1, MOST_ROUNDS) if "rounds" in table.data else _fixed(table)


def _fixed(table: "Section") -> int:
    """In how many rounds such a question is always asked; an unknown kind is refused elsewhere."""
    kind = table.data.get("kind")
    return kind_named(kind).fixed_rounds if isinstance(kind, str) and kind in kinds() else 1


def check_rounds(about: "Section", survey: Survey) -> None:
    """Refuse what rounds cannot be combined with."""
    rounds, questions = survey.rounds, survey.questions
    if rounds is not None and not any(question.how.moves(question.details) for question in questions):
        about.refuse(
            "rounds", 'rounds need a question that learns from them: a text, or a number with target = "quantiles".'
        )
    if survey.same_people and len(questions) > 1:
        about.refuse("rounds", "A question that asks the same people in every round must be the only one of its survey.")
    if any(question.how.round_of(question.mechanism) not in (None, survey.round or 1) for question in questions):
        about.refuse(
            "round",
            "The mechanism belongs to another round. The total cost of all rounds holds only if each is asked once.",
        )
    if survey.round_time is not None and (rounds is None or survey.opens is None):
        about.refuse("round_time", "round_time requires rounds, and opens, when the first round starts.")
    if rounds is not None and survey.keep_reports:
        about.refuse("keep_reports", "The reports of a survey with rounds cannot be kept: each round has its own laws.")
    if rounds is not None and survey.invitations is not None:
        about.refuse(
            "rounds", "A survey has either rounds or invitations, whose tokens are for one round. Remove one of them."
        )
    if rounds is not None and survey.window is not None:
        about.refuse("window", "A survey has either rounds or windows. Remove one of them.")
