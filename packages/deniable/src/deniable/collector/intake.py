"""From the body of a request to messages: limits come before work, and a long body is read beside the event loop."""

from collections.abc import Iterable

from deniable.collector import verdicts
from deniable.collector.json_reports import read_json
from deniable.collector.mixed import Mixed
from deniable.collector.reader import breathe
from deniable.collector.service import Limits
from deniable.collector.verdicts import Refusal
from deniable.errors import InvalidReport, SurveyMismatch
from deniable.mixing.sealing import MEDIA_TYPE as SEALED_TYPE
from deniable.survey import Message, Survey
from deniable.survey.message import MEDIA_TYPE

QUICK = 4 << 10  # bytes that take less time to read than to hand over to another thread
JSON = b"application/json"
SEALED = SEALED_TYPE.encode()
BINARY = frozenset({MEDIA_TYPE.encode(), b"application/octet-stream"})


def media_of(content_type: bytes | None) -> bytes:
    """The media type of a header, without its parameters."""
    if content_type in BINARY:
        return content_type
    return (content_type or b"").split(b";")[0].strip().lower()


def refused_unread(media: bytes, size: int, limits: Limits, batch: bool) -> Refusal | None:
    """Why a body of this media type and of so many bytes, or of which so many have come, is refused whatever it holds."""
    if size > limits.body:
        return too_large(limits, batch)
    if media in BINARY or media == SEALED:
        return None
    if media != JSON:
        return verdicts.MEDIA.saying(f"Use {MEDIA_TYPE} or application/json.")
    most = limits.json if batch else min(limits.json, limits.json_people)
    if size <= most:
        return None
    return verdicts.TOO_LARGE.saying(f"A request in JSON may hold at most {most:,} bytes. Send {MEDIA_TYPE} instead.")


def read_messages(survey: Survey, body: bytes, media: bytes, limits: Limits, batch: bool) -> list[Message] | Refusal:
    """The messages in a body; with a `batch` token one of them may hold many reports. Stops at the first that may not."""
    refusal = refused_unread(media, len(body), limits, batch)
    if refusal is not None:
        return refusal
    try:
        if media == JSON:
            return _limited(read_json(survey, body, limits.messages if batch else limits.people), limits, batch)
        return _limited(survey.messages(body), limits, batch)
    except SurveyMismatch as error:
        return verdicts.OTHER_SURVEY.saying(str(error))
    except InvalidReport as error:
        return verdicts.DAMAGED.saying(str(error))


def read_sealed(mixed: Mixed | None, survey: Survey, body: bytes, limits: Limits, batch: bool) -> list[Message] | Refusal:
    """The messages that a relay passes on. Those that cannot be read are left out, since others must not wait for them."""
    if mixed is None:
        return verdicts.MEDIA.saying("This collector has no key for sealed reports of this survey.")
    opener, people = mixed.opener, mixed.terms.people
    if not body or len(body) % opener.length:
        return verdicts.DAMAGED
    if len(body) < opener.length * people:
        return verdicts.TOO_FEW.saying(f"A relay passes on at least {people:,} messages of this survey at a time.")
    if len(body) > opener.length * (limits.messages if batch else limits.people):
        return too_large(limits, batch)
    found = list[Message]()
    for plain in opener.messages(body):
        inside = verdicts.DAMAGED if plain is None else read_messages(survey, plain, MEDIA_TYPE.encode(), limits, False)
        if not isinstance(inside, Refusal) and len(inside) == 1:
            found += inside
    return found or verdicts.DAMAGED


def _limited(messages: Iterable[Message], limits: Limits, batch: bool) -> list[Message] | Refusal:
    found, reports, most = list[Message](), 0, limits.messages if batch else limits.people
    for message in messages:
        if message.reports > 1 and not batch:
            return verdicts.NO_BATCHES
        reports += message.reports
        if len(found) >= most or reports > limits.reports:
            return too_large(limits, batch)
        found.append(message)
        breathe()
    return found


def too_large(limits: Limits, batch: bool) -> Refusal:
    """What a request may hold."""
    what = f"{limits.messages:,} messages and {limits.reports:,} reports" if batch else f"{limits.people:,} messages"
    return verdicts.TOO_LARGE.saying(f"A request may hold at most {limits.body:,} bytes and {what}.")
