"""The static files of web/: read once, and served with a policy under which nothing else can load."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from deniable.collector.texts import ENGLISH, FETCHED, LANGUAGES, framed, spoken

CONNECT = "connect-src 'self'"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        CONNECT,
        "img-src 'self' blob:",  # charts become pictures by way of a blob
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
ANSWER = "/"  # the page that sends reports
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-cache",  # kept, but asked for again each time: a page and its parts always fit together
    "vary": "accept-encoding",
}
BY_LANGUAGE = {"vary": "accept-encoding, accept-language"}  # of pages
MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
}
PAGES = {ANSWER: "answer.html", "/results": "results.html", "/try": "try.html", "/worker.js": "worker.js"}
FOLDER = "/pages/"
HTML = MEDIA_TYPES["html"]


@dataclass(frozen=True)
class File:
    """One file, plain and compressed, with a tag that changes when it does."""

    media: str
    plain: bytes
    small: bytes
    tag: str

    @classmethod
    def of(cls, data: bytes, media: str) -> "File":
        """The file with this content."""
        return cls(media, data, gzip.compress(data, 9, mtime=0), f'W/"{hashlib.sha256(data).hexdigest()[:32]}"')


@cache
def all_files() -> dict[str, File]:
    """Every file by its address, pages in English. What is not in here is not served, whatever the address looks like."""
    found = {}
    for entry in files("deniable.collector").joinpath("web").iterdir():
        stem, _, kind = entry.name.rpartition(".")
        if entry.is_file() and kind in MEDIA_TYPES:
            data = entry.read_bytes()
            found[FOLDER + entry.name] = (
                File.of(framed(data.decode(), stem, ENGLISH).encode(), HTML)
                if MEDIA_TYPES[kind] == HTML
                else File.of(data, MEDIA_TYPES[kind])
            )
    for part in FETCHED:
        for language in LANGUAGES:
            found[f"{FOLDER}{part}.{language}.json"] = File.of(spoken(part, language).encode(), MEDIA_TYPES["json"])
    return found | {address: found[FOLDER + name] for address, name in PAGES.items() if FOLDER + name in found}


def frame_of(name: str) -> str:
    """The HTML of a page before its texts are filled in."""
    return files("deniable.collector").joinpath("web").joinpath(f"{name}.html").read_text(encoding="utf-8")


@cache
def page_in(address: str, language: str, kept: bool, mix: str = "", readable: bool = True) -> File:
    """The page at an address in a language; the rest as in `framed`."""
    name = PAGES.get(address, address.removeprefix(FOLDER)).removesuffix(".html")
    return File.of(framed(frame_of(name), name, language, kept, mix, readable).encode(), HTML)
