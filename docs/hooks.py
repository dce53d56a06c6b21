"""Finishes the built site: the playground runs the client that surveys run, and nothing points to a fixed place."""

import re
import shutil
from pathlib import Path

from mkdocs.exceptions import PluginError

WEB = Path(__file__).resolve().parent.parent / "packages" / "deniable" / "src" / "deniable" / "collector" / "web"
MODULES = ("deniable.js", "reports.js", "estimate.js", "strings.js")
# A link from the root of a server, and anything that is loaded from another one.
FIXED = re.compile(r"""<(?:a|link|img|script)[^>]+(?:href|src)=["']/|<(?:link|img|script)[^>]+(?:href|src)=["']https?:""")


def on_post_build(config: dict[str, str], **_: object) -> None:
    """Called by mkdocs at the end of a build."""
    site = Path(config["site_dir"])
    for name in MODULES:
        shutil.copy(WEB / name, site / "playground" / name)
    pages = [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"]  # which any address may show
    fixed = [str(page.relative_to(site)) for page in pages if FIXED.search(page.read_text(encoding="utf-8"))]
    if fixed:
        raise PluginError(f"These pages work at one address only: {', '.join(fixed)}")
    if not (site / "search" / "search_index.json").is_file():
        raise PluginError("The site has no search.")
