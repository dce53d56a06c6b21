"""What becomes of a message: counted, counted before, or refused for a reason that has a name and a status."""

from dataclasses import dataclass, replace
from enum import Enum


class Counted(Enum):
    """A message that is in the tallies, since now or since an earlier arrival."""

    NOW = "counted"
    BEFORE = "duplicate"


@dataclass(frozen=True)
class Refusal:
    """Why something was refused; `reason` is its name in responses and metrics."""

    reason: str
    status: int
    title: str
    detail: str = ""
    wait: int | None = None  # seconds after which it makes sense to try again

    def saying(self, detail: str) -> "Refusal":
        """The same, with particulars. Never with anything that a person sent."""
        return replace(self, detail=detail)


Verdict = Counted | Refusal

DAMAGED = Refusal("damaged", 400, "The report is damaged or incomplete")
NO_TOKEN = Refusal("no-token", 401, "A valid token is required", "Send it in the header Authorization: Bearer ...")
NO_BATCHES = Refusal(
    "no-batches", 403, "A message must be one person's", "Only the holder of a batch token may send several under one id."
)
MIXED_ONLY = Refusal(
    "mixed-only",
    403,
    "The reports of this survey are mixed",
    "They are counted only if its relay passes them on. Send them there: GET /v1/mix has the terms.",
)
OTHER_TERMS = Refusal(
    "other-terms",
    409,
    "The report was sealed under other terms of mixing",
    "Nothing was stored. Compare the fingerprints of the terms: GET /v1/mix has the current ones.",
)
TOO_FEW = Refusal("too-few", 403, "Too few messages to be mixed")
NOT_INVITED = Refusal(
    "not-invited",
    403,
    "This survey is for invited people",
    "Exchange your invitation for a token and send it with the report.",
)
BAD_TOKEN = Refusal("bad-token", 403, "The token is not valid", "No key of this survey signed it.")
SPENT = Refusal("spent-token", 403, "The token was used before", "It was counted with another report. A token counts once.")
NO_SECRET = Refusal(
    "no-secret",
    403,
    "The report does not come from the member it names",
    "In this survey every member has a link of their own. Open the one that was sent to you.",
)
BAD_SECRET = Refusal(
    "bad-secret",
    403,
    "The report does not come from the member it names",
    "The secret belongs to another member, or to another survey. Open the link that was sent to you.",
)
NO_INVITATION = Refusal(
    "no-invitation",
    403,
    "The invitation is not valid",
    "It is unknown or was revoked. Ask those who invited you for another.",
)
EXCHANGED = Refusal(
    "exchanged", 409, "The invitation was used before",
    "It was exchanged on another device or in another browser. Answer there, or ask those who invited you for another.",
)  # fmt: skip
OTHER_KEY = Refusal("other-key", 409, "The key has changed", "Fetch the current key from /v1/issuer and try again.")
NOT_FOUND = Refusal("not-found", 404, "Not found")
NO_METHOD = Refusal("method", 405, "Method not allowed")
OTHER_SURVEY = Refusal("other-survey", 409, "The report was made for another survey")
CLOSED = Refusal("closed", 410, "The survey is closed", "It no longer accepts reports.")
TOO_LATE = Refusal("too-late", 410, "The report is too late", "Its period no longer accepts reports.")
TOO_LARGE = Refusal("too-large", 413, "The request is too large")
MEDIA = Refusal("media", 415, "Unsupported media type")
IMPOSSIBLE = Refusal("impossible", 422, "The report is invalid: no device of this survey sends it")
BAD_QUERY = Refusal("bad-query", 422, "Invalid query parameter")
TOO_EARLY = Refusal("too-early", 425, "The report is from the future", "Check the clock of the device.", 60)
DRAFT = Refusal("draft", 425, "The survey is not open yet", "It is still a draft. Send the report again later.", 60)
TOO_OFTEN = Refusal("too-often", 429, "Too many requests", "Wait before the next one.", 1)
BUSY = Refusal("busy", 429, "The collector is busy", "The queue is full. Nothing was counted; send the report again.", 1)
TOO_MANY_HEADERS = Refusal("headers", 431, "The headers of the request are too large")
SLOW = Refusal("slow", 408, "The request took too long")
CLOCK = Refusal(
    "clock", 503, "The clock of the collector is wrong", "It has already accepted later periods. Send the report again.", 60
)
AWAY = Refusal("store-away", 503, "The database is unavailable", "Nothing was counted. Send the report again in 2 s.", 2)

# What no device of the survey sends, even if others sent it
BLAMED = frozenset({IMPOSSIBLE.reason, BAD_TOKEN.reason, BAD_SECRET.reason})

STARTING = Refusal("starting", 503, "The collector is starting", "It is still loading its compiled loops.", 2)

REFUSALS = (
    DAMAGED, NO_TOKEN, NO_BATCHES, NOT_FOUND, NO_METHOD, OTHER_SURVEY, CLOSED, TOO_LATE, TOO_LARGE, MEDIA, IMPOSSIBLE,
    BAD_QUERY, MIXED_ONLY, OTHER_TERMS, TOO_FEW,
    NOT_INVITED, BAD_TOKEN, SPENT, NO_SECRET, BAD_SECRET, NO_INVITATION, EXCHANGED, OTHER_KEY, TOO_EARLY, DRAFT,
    TOO_OFTEN, BUSY, TOO_MANY_HEADERS, SLOW, CLOCK, STARTING, AWAY,
)  # fmt: skip
