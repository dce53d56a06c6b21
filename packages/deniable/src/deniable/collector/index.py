"""The index of a server with several surveys: the listed ones, as a page without scripts."""

from collections.abc import Iterable
from html import escape

from deniable.collector.app import App
from deniable.collector.static import frame_of
from deniable.collector.texts import ENGLISH, framed

SURVEYS = "<!-- surveys -->"
NO_SURVEYS = '<p class="card">{{index_empty}}</p>'


def index_page(apps: Iterable[App], language: str = ENGLISH, kept: bool = False) -> bytes:
    """The page in a language, with a link to every survey that is listed and open."""
    listed = sorted(
        (app.title.casefold(), app.collector.survey.id, app.title, not app.read_gate or app.collector.survey.share_results)
        for app in apps
        if app.listed
    )
    before, _, after = frame_of("index").partition(SURVEYS)
    items = "\n".join(
        _item(escape(name, quote=True), escape(title), open_to_all, language, kept) for _, name, title, open_to_all in listed
    )
    surveys = f'<ul class="surveys">\n{items}\n</ul>' if items else framed(NO_SURVEYS, "index", language)
    head, foot = (framed(part, "index", language, kept) for part in (before, after))
    return (head + surveys + foot).encode()  # titles are nobody's template


def _item(name: str, title: str, open_to_all: bool, language: str, kept: bool) -> str:
    results = framed(
        f' <a class="small" href="s/{name}/results{{{{keep}}}}">{{{{nav_results}}}}</a>', "index", language, kept
    )
    link = framed(f'<a href="s/{name}/{{{{keep}}}}">', "index", language, kept)
    return f'<li class="card">{link}{title}</a>{results if open_to_all else ""}</li>'
