"""The bundled question: what is your marital status, with how many people gave each answer."""

import csv
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class SampleQuestion:
    """A question, and how many people gave each answer."""

    ask: str
    source: str
    answers: tuple[str, ...]
    people: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many people answered."""
        return sum(self.people)

    def everyone(self) -> list[str]:
        """One answer for each person."""
        return [answer for answer, people in zip(self.answers, self.people, strict=True) for _ in range(people)]


def marital_status() -> SampleQuestion:
    """228,421 answers from the US Current Population Surveys of 1994 and 1995; docs/data.md names the source."""
    text = files("deniable").joinpath("data", "marital_status.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return SampleQuestion(
        ask="What is your marital status?",
        source="adults in the US Current Population Surveys of 1994 and 1995",
        answers=tuple(row["answer"] for row in rows),
        people=tuple(int(row["people"]) for row in rows),
    )
