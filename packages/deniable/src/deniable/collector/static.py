"""The static files of web/: read once, and served with a policy under which nothing else can load."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' blob:",  # charts become pictures by way of a blob
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
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
MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGES = {"/": "answer.html", "/results": "results.html", "/try": "try.html", "/worker.js": "worker.js"}
FOLDER = "/pages/"


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
    """Every file by its address. What is not in here is not served, whatever the address looks like."""
    found = {}
    for entry in files("deniable.collector").joinpath("web").iterdir():
        kind = entry.name.rpartition(".")[2]
        if entry.is_file() and kind in MEDIA_TYPES:
            found[FOLDER + entry.name] = File.of(entry.read_bytes(), MEDIA_TYPES[kind])
    return found | {address: found[FOLDER + name] for address, name in PAGES.items() if FOLDER + name in found}
