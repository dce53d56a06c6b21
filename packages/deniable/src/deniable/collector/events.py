"""The log: one line for each event, with its particulars as key=value. Nothing in it is about one person."""

import json
import logging
from datetime import UTC, datetime

log = logging.getLogger("deniable.collector")
FORMAT = "%(asctime)s %(levelname)s %(message)s"
PARTICULARS = "particulars"  # of a record: the event as a dictionary


def note(event: str, level: int = logging.INFO, trace: bool = False, **about: object) -> None:
    """Log an event; `trace` adds the error that is being handled.

    >>> written("started", {"survey": "commute", "detail": "two words"})
    'event=started survey=commute detail="two words"'
    """
    log.log(level, "%s", written(event, about), exc_info=trace, extra={PARTICULARS: {"event": event, **about}})


class JsonLines(logging.Formatter):
    """A line of JSON for each event: its time in UTC, its level and its particulars."""

    def format(self, record: logging.LogRecord) -> str:
        about = getattr(record, PARTICULARS, {"event": "log", "message": record.getMessage()})
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        trace = {"trace": self.formatException(record.exc_info)} if record.exc_info else {}
        return json.dumps({"time": moment, "level": record.levelname.lower(), **about, **trace}, default=str)


def written(event: str, about: dict[str, object]) -> str:
    """One line that a program can read: values with spaces, quotes or equal signs are JSON strings."""
    return " ".join(f"{key}={_value(value)}" for key, value in {"event": event, **about}.items())


def _value(value: object) -> str:
    text = str(value)
    return text if text and not set(text) & set(' "=\n\r\t\\') else json.dumps(text)
