"""What a check may find: a broken law, or nothing to look at."""

from collections.abc import Callable

from deniable.errors import EmptyBatch, InvalidReport, SurveyMismatch


class CheckFailed(AssertionError):
    """A mechanism breaks one of its laws; the message says which, and where to look."""


class NotApplicable(Exception):
    """A check has nothing to look at in this mechanism; the message says why."""


def require(holds: bool, failure: str) -> None:
    """Fail with this sentence unless the law holds."""
    if not holds:
        raise CheckFailed(failure)


def refused(attempt: Callable[[], object], failure: str) -> None:
    """Fail unless the attempt raises the error that it should."""
    try:
        attempt()
    except (InvalidReport, SurveyMismatch, EmptyBatch):
        return
    raise CheckFailed(failure)
