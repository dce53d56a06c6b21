"""The index of a server with several surveys: the listed ones, as a page without scripts."""

from collections.abc import Iterable
from html import escape

from deniable.collector.app import App
from deniable.collector.static import FOLDER, all_files

EMPTY = '<p class="card">No survey is listed here. Use the link that you were given.</p>'


def index_page(apps: Iterable[App]) -> bytes:
    """The page, with a link to every survey that is listed and open."""
    listed = sorted(
        (app.title.casefold(), app.collector.survey.id, app.title, not app.read_gate or app.collector.survey.share_results)
        for app in apps
        if app.listed
    )
    items = "\n".join(_item(escape(name, quote=True), escape(title), open_to_all) for _, name, title, open_to_all in listed)
    frame = all_files()[FOLDER + "index.html"].plain.decode()
    return frame.replace("<!-- surveys -->", f'<ul class="surveys">\n{items}\n</ul>' if items else EMPTY).encode()


def _item(name: str, title: str, open_to_all: bool) -> str:
    results = f' <a class="small" href="s/{name}/results">Results</a>' if open_to_all else ""
    return f'<li class="card"><a href="s/{name}/">{title}</a>{results}</li>'
