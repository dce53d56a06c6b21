"""All figures and tables, by the order of the papers; each is loaded when it is asked for."""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.errors import InvalidParameter
from research.data.folder import Data
from research.papers.errata import Paper
from research.papers.figure import Figure, Pace, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

NAMES: dict[str, tuple[str, ...]] = {
    "brr": ("fig1", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12"),
    "bitrand": (*(f"fig{number}" for number in range(3, 22)), "table2"),
    "rr3": ("fig2", "variance", "graphs"),
    "compressed": ("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9"),
    "uldp": ("fig1", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "table1", "table2"),
}
FIGURES = tuple(f"{paper}/{name}" for paper, names in NAMES.items() for name in names)


@dataclass(frozen=True)
class Loaded:
    """A figure and the two functions that make it."""

    figure: Figure
    run: Callable[[bool, int, Data, Pace], Result]
    plot: Callable[[Result], "pictures.Figure"]


def load(name: str) -> Loaded:
    """A figure by its name.

    >>> load("brr/fig5").figure.paper
    'BRR'
    """
    if name not in FIGURES:
        raise InvalidParameter(f"There is no figure {name!r}. `deniable reproduce` lists them all, such as brr/fig5.")
    module = importlib.import_module(f"research.papers.{name.replace('/', '.')}")
    return Loaded(module.FIGURE, module.run, module.plot)


def missing(figure: Figure) -> list[str]:
    """The extras that a figure needs and that are not installed."""
    packages = {"learn": "torch", "stats": "scipy", "plot": "matplotlib", "fast": "numba"}
    return [extra for extra in figure.needs if importlib.util.find_spec(packages[extra]) is None]


def papers() -> list[Paper]:
    """All papers, with what is wrong and what is better."""
    return [importlib.import_module(f"research.papers.{folder}.about").PAPER for folder in NAMES]
