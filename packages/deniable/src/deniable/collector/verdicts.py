"""What becomes of a message: counted, counted before, or refused for a reason that has a name and a status."""

from dataclasses import dataclass, replace
from enum import Enum


class Counted(Enum):
    """A message that is in the tallies, since now or since an earlier arrival."""

    NOW = "counted"
    BEFORE = "duplicate"


@dataclass(frozen=True)
class Refusal:
    """Why something was not taken; `reason` is its name in answers and metrics."""

    reason: str
    status: int
    title: str
    detail: str = ""
    wait: int | None = None  # seconds after which it makes sense to try again

    def saying(self, detail: str) -> "Refusal":
        """The same, with particulars. Never with anything that a person sent."""
        return replace(self, detail=detail)


Verdict = Counted | Refusal

DAMAGED = Refusal("damaged", 400, "This is not a whole report")
NO_TOKEN = Refusal("no-token", 401, "A token is needed", "Send a valid token in the header Authorization: Bearer ...")
NOT_FOUND = Refusal("not-found", 404, "There is nothing here")
NO_METHOD = Refusal("method", 405, "This is not done here that way")
OTHER_SURVEY = Refusal("other-survey", 409, "The report was made for another survey")
CLOSED = Refusal("closed", 410, "The survey is closed", "No more reports are taken.")
TOO_LATE = Refusal("too-late", 410, "The report is too late", "Reports of its period are no longer taken.")
TOO_LARGE = Refusal("too-large", 413, "There is too much at once")
MEDIA = Refusal("media", 415, "This media type is not understood")
IMPOSSIBLE = Refusal("impossible", 422, "No device can have sent this report")
BAD_QUERY = Refusal("bad-query", 422, "The query makes no sense")
TOO_EARLY = Refusal("too-early", 425, "The report is from the future", "Check the clock of the device.", 60)
TOO_OFTEN = Refusal("too-often", 429, "There were too many requests", "Wait before the next one.", 1)
BUSY = Refusal("busy", 429, "The collector is busy", "The queue is full; nothing was counted. Send it again.", 1)
SLOW = Refusal("slow", 408, "The request took too long")
AWAY = Refusal("store-away", 503, "The store is away", "Nothing was counted. Send it again later.", 2)

REFUSALS = (
    DAMAGED, NO_TOKEN, NOT_FOUND, NO_METHOD, OTHER_SURVEY, CLOSED, TOO_LATE, TOO_LARGE, MEDIA, IMPOSSIBLE, BAD_QUERY,
    TOO_EARLY, TOO_OFTEN, BUSY, SLOW, AWAY,
)  # fmt: skip
