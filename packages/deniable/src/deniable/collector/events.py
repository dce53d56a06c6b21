"""The log: one line for each event, with its particulars as key=value. Nothing in it is about one person."""

import json
import logging

log = logging.getLogger("deniable.collector")
FORMAT = "%(asctime)s %(levelname)s %(message)s"


def note(event: str, level: int = logging.INFO, trace: bool = False, **about: object) -> None:
    """Log an event; `trace` adds the error that is being handled.

    >>> written("started", {"survey": "commute", "detail": "two words"})
    'event=started survey=commute detail="two words"'
    """
    log.log(level, "%s", written(event, about), exc_info=trace)


def written(event: str, about: dict[str, object]) -> str:
    """One line that a program can read: values with spaces, quotes or equal signs are JSON strings."""
    return " ".join(f"{key}={_value(value)}" for key, value in {"event": event, **about}.items())


def _value(value: object) -> str:
    text = str(value)
    return text if text and not set(text) & set(' "=\n\r\t\\') else json.dumps(text)
