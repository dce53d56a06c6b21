"""How far a survey has come, and what is stored about it beside its contract."""

from dataclasses import dataclass, replace
from enum import IntEnum

from deniable.survey import Survey


class Stage(IntEnum):
    """What a survey accepts. The numbers are stored."""

    OPEN = 0  # reports, within its dates
    CLOSED = 1  # nothing for now: it was closed early
    ARCHIVED = 2  # nothing for good: the ids of its reports are dropped, the results stay
    DRAFT = 3  # nothing yet, and its file may still change

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class State:
    """What a transaction has to know about a survey before it counts anything."""

    fingerprint: str
    oldest: int  # the first period of which reports may still be counted
    stage: Stage
    title: str | None = None  # a corrected title, shown in place of the one that people answered
    delete_after: int | None = None  # the time after which everything about the survey is deleted
    listed: bool = False  # whether the index of a server shows it
    limits: str | None = None  # its own limits, as JSON, instead of those of the server


def same_contract(first: Survey, other: Survey, title: str | None) -> bool:
    """Whether two surveys have the same contract; the other may have the corrected title of the first."""
    if first.contract() == other.contract():
        return True
    return other.title == title and replace(first, title=other.title).contract() == other.contract()
