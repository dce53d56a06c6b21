"""On which line of a TOML file each key stands, so that errors can point to it."""

import re

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\-]+)\s*\]\]?")
_KEY = re.compile(r"\s*([A-Za-z0-9_\-]+)\s*=")

Place = tuple[str, int | None, str | None]  # table, which one of several, key


def lines_of(text: str) -> dict[Place, int]:
    """The line of every table and key; tables of a list are numbered from 0.

    >>> lines_of('[survey]\\nid = "a"\\n[[question]]\\nid = "b"')[("question", 0, "id")]
    4
    """
    found: dict[Place, int] = {}
    table, number, counts, quoted = "", None, dict[str, int](), None
    for line, content in enumerate(text.splitlines(), 1):
        if quoted is not None:
            quoted = None if quoted in content else quoted
            continue
        if header := _HEADER.match(content):
            table, number = header[2], None
            if header[1] == "[[":
                number = counts[table] = counts.get(table, -1) + 1
            found[(table, number, None)] = line
        elif key := _KEY.match(content):
            found.setdefault((table, number, key[1]), line)
            for quotes in ('"""', "'''"):
                if content.count(quotes) == 1:
                    quoted = quotes
    return found
