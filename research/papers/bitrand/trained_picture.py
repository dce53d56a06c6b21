"""How the figures of trained networks look: one row of panels for the rivals, one for BitRand with its labels and ours."""

import re
from typing import Any

from research.papers import style
from research.papers.bitrand.training import ERRORS
from research.papers.figure import Result

RIVALS = ("DM", "PM", "HM", "Three-outputs", "PM-SUB", "LATENT", "OME", "LDP-FL")
BUDGETS = {"1": "#0072b2", "2.5": "#d55e00", "5": "#009e73", "10": "#cc79a7"}  # of labels
ENDS = ("noiseless", "random")
REFERENCES = ("BitRand", *ENDS)  # in every panel
OURS = {"ours: read as it arrives": ":", "ours: noise taken out": "-", "ours, at BitRand's true epsilon": "-."}


def drawn(result: Result, measure: str) -> "style.Picture":
    """A panel for each set and group of lines; gains are in the table only."""
    where = {name: result.columns.index(name) for name in ("data", "mechanism")}
    rows = []
    for group in ("rivals", "labels and ours"):
        for row in result.rows:
            name = str(row[where["mechanism"]])
            if name in REFERENCES or (plain(name) in RIVALS) == (group == "rivals"):
                rows.append((f"{row[where['data']]}: {group}", *row))
    if not any(plain(str(name)) in RIVALS for name in result.column("mechanism")):  # where labels alone are compared
        rows = [(row[where["data"]], *row) for row in result.rows]
    shown = Result(("panel", *result.columns), rows)
    units = ("claimed epsilon", measure)
    return style.panels(
        shown, "epsilon", measure, "mechanism", "panel", ERRORS[measure], units=units, size=(4.6, 3.6), looks=look_of
    )


def plain(name: str) -> str:
    """A rival without what it randomizes.

    >>> plain("PM-SUB [gradients, anonymizer]")
    'PM-SUB'
    """
    return re.sub(r" \[.*\]", "", name)


def look_of(name: str) -> dict[str, Any]:
    """The same colour, marker and dashes in all figures: a colour for each budget of the labels, dashes for rivals."""
    if plain(name) in RIVALS:
        number = RIVALS.index(plain(name))
        return _look(style.COLOURS[(number + 1) % len(style.COLOURS)], style.MARKERS[number], "--", 1.5)
    if name in ENDS:
        return _look("#888888", "", ":" if name == "random" else "-", 1.2)
    if name == "BitRand":
        return _look("#000000", "o", "-", 2.6)
    labels = re.search(r"labels at ([\d.]+)", name)
    if labels:
        corrected, laplace = "loss corrected" in name, "Laplace" in name
        return _look(
            BUDGETS[labels[1]],
            "^" if corrected else "X" if laplace else "o",
            ":" if corrected else "--" if laplace else "-",
            1.8,
        )
    return _look("#e69f00", "*", OURS.get(name, "-"), 2.0)


def _look(colour: str, marker: str, dashes: str, width: float) -> dict[str, Any]:
    return {"color": colour, "marker": marker, "linestyle": dashes, "linewidth": width, "markersize": 5}
