"""The index of a server with several surveys: the listed ones, as a page without scripts."""

from collections.abc import Iterable
from html import escape

from deniable.collector.app import App
from deniable.collector.static import FOLDER, all_files

EMPTY = '<p class="card">No survey is listed here. Use the link that you were given.</p>'


def index_page(apps: Iterable[App]) -> bytes:
    """The page, with a link to every survey that is listed and open."""
    listed = sorted((app.title.casefold(), app.collector.survey.id, app.title) for app in apps if app.listed)
    items = "\n".join(
        f'<li class="card"><a href="s/{escape(name, quote=True)}/">{escape(title)}</a></li>' for _, name, title in listed
    )
    frame = all_files()[FOLDER + "index.html"].plain.decode()
    return frame.replace("<!-- surveys -->", f'<ul class="surveys">\n{items}\n</ul>' if items else EMPTY).encode()
