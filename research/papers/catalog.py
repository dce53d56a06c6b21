"""All figures and tables, by the order of the papers; each is loaded when it is asked for.

A figure is one place: a file such as `brr/fig5.py` with FIGURE, run and plot, or a row of its paper's `rows.py`.
"""

import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

from deniable.errors import InvalidParameter
from research.papers.errata import Paper
from research.papers.figure import Figure, Loaded

PAPERS = ("brr", "bitrand", "rr3", "compressed", "uldp")


def _rows(paper: str) -> dict[str, Loaded]:
    module = f"research.papers.{paper}.rows"
    return importlib.import_module(module).ROWS if importlib.util.find_spec(module) else {}


def _names(paper: str) -> tuple[str, ...]:
    """Figures, then tables, by their numbers; then what has a name only."""
    numbered = re.compile(r"(fig|table)(\d+)")
    files = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent / paper)])]
    names = [*filter(numbered.fullmatch, files), *_rows(paper)]

    def place(name: str) -> tuple[str, int]:
        found = numbered.fullmatch(name)
        return (found[1], int(found[2])) if found else ("unnumbered", 0)

    return tuple(sorted(names, key=place))


NAMES = {paper: _names(paper) for paper in PAPERS}
FIGURES = tuple(f"{paper}/{name}" for paper, names in NAMES.items() for name in names)


def load(name: str) -> Loaded:
    """A figure by its name.

    >>> load("brr/fig5").figure.paper, load("bitrand/fig12").figure.paper
    ('BRR', 'BitRand')
    """
    if name not in FIGURES:
        raise InvalidParameter(f"There is no figure {name!r}. `deniable reproduce` lists them all, such as brr/fig5.")
    paper, _, short = name.partition("/")
    if short in _rows(paper):
        return _rows(paper)[short]
    module = importlib.import_module(f"research.papers.{paper}.{short}")
    return Loaded(module.FIGURE, module.run, module.plot)


def missing(figure: Figure) -> list[str]:
    """The extras that a figure needs and that are not installed."""
    packages = {"learn": "torch", "stats": "scipy", "plot": "matplotlib", "fast": "numba"}
    return [extra for extra in figure.needs if importlib.util.find_spec(packages[extra]) is None]


def papers() -> list[Paper]:
    """All papers, with their errata and with what is better here."""
    return [importlib.import_module(f"research.papers.{folder}.about").PAPER for folder in PAPERS]
