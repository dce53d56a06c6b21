"""A relation that a survey is for: the table of two or three of its questions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Relation:
    """A table that is wanted: two or three questions, and what it is called."""

    questions: tuple[str, ...]
    title: str = ""

    @property
    def id(self) -> str:
        """What its tally is kept under. No question can have this id: a star is not allowed there.

        >>> Relation(("smokes", "age")).id
        'smokes*age'
        """
        return "*".join(self.questions)

    def spec(self) -> dict[str, object]:
        """The table as plain data."""
        return {"questions": list(self.questions)} | ({"title": self.title} if self.title else {})
