"""The texts of the pages in several languages: one table, of which each page is given its own part in one language.

A row of `texts/*.toml` has a name and the text in every language. {name} is filled in by the page, and {name|one:…|other:…}
is chosen by a number. English is the first language: what the library says in English, such as why a report was refused, is
recognized by its words (rows that begin with `heard_`).
"""

import json
import re
import tomllib
from functools import cache
from html import escape
from importlib.resources import files

LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
ENGLISH = "en"
RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur"})
PARTS = ("frames", "shared", "answer", "results", "try", "people", "mix")
FETCHED = ("people", "mix")  # parts that a page fetches where a survey needs them
SHARED, FRAMES = "shared", "frames"
HEARD, REPORT = "heard_", "report_"  # said by the library itself in English
_GAP = re.compile(r"\{\{(\w+)\}\}")
_CODE = re.compile(r"`([^`]+)`")
_CHOICE = re.compile(r"\s*([A-Za-z]{1,8})(?:-[A-Za-z0-9-]+)?\s*(?:;\s*q=([01](?:\.\d{0,3})?))?\s*")

Row = dict[str, str]


@cache
def table(part: str) -> dict[str, Row]:
    """The rows of a part by their names: the text in each language."""
    return tomllib.loads(files("deniable.collector").joinpath("texts").joinpath(f"{part}.toml").read_text(encoding="utf-8"))


def chosen(accepted: str = "", wanted: str = "", survey: str | None = None) -> str:
    """The language of a page: the one that was asked for, else the survey's, else the first that the browser accepts.

    >>> chosen("pl, fr-CH;q=0.9, de;q=0.95"), chosen("de", "es"), chosen("de", survey="fr-BE"), chosen("*")
    ('de', 'es', 'fr', 'en')
    """
    named = [wanted, *([survey] if survey else []), *_accepted(accepted)]
    return next((name for each in named if (name := each.partition("-")[0].lower()) in LANGUAGES), ENGLISH)


def _accepted(header: str) -> list[str]:
    """The languages of an Accept-Language header, the best first."""
    found = [match for part in header.split(",")[:32] if (match := _CHOICE.fullmatch(part))]
    ranked = [(-float(match[2] or 1), match[1]) for match in found]
    return [name for weight, name in sorted(ranked, key=lambda each: each[0]) if weight < 0]


def spoken(page: str, language: str) -> str:
    """What a page says in a language, as JSON: its texts, and what it recognizes of what the library says in English."""
    rows = table(page) if page in FETCHED else table(SHARED) | table(page)
    own = language == ENGLISH
    texts = {name: row[language] for name, row in rows.items() if not name.startswith((HEARD, REPORT) if own else HEARD)}
    heard = [] if own else [(row[ENGLISH], row[language]) for name, row in rows.items() if name.startswith(HEARD)]
    return json.dumps({"texts": texts, "heard": heard}, ensure_ascii=False, separators=(",", ":"))


def framed(frame: str, page: str, language: str, kept: bool = False, mix: str = "", readable: bool = True) -> str:
    """The HTML of a page in a language; `kept`, if its links go on asking for this language; `mix`, the terms of mixing.

    `readable`, if people who answer may read results; if not, no link at the top leads them to a form for a token.
    """
    keep = f"?lang={language}" if kept else ""
    known = {
        "lang": language,
        "dir": "rtl" if language in RIGHT_TO_LEFT else "ltr",
        "keep": keep,
        "languages": _links(language),
        "mix": escape(mix, quote=False),
        "if_readable": "" if readable else " hidden",
        "if_not": " hidden" if readable else "",
    }

    def text(match: re.Match[str]) -> str:
        name = match[1]
        if name == "texts":
            return escape(spoken(page, language), quote=False)
        return known.get(name) or ("" if name in known else _CODE.sub(r"<code>\1</code>", escape(said(name, language))))

    return _GAP.sub(text, frame)


def said(name: str, language: str) -> str:
    """A text that the server puts into a page."""
    return table(FRAMES)[name][language]


def _links(language: str) -> str:
    """A link to the page in each language, named in that language."""
    here = ' aria-current="true"'
    links = (
        f'<a href="?lang={code}" lang="{code}" hreflang="{code}"{here if code == language else ""}>{name}</a>'
        for code, name in LANGUAGES.items()
    )
    return "\n".join(links)
