"""One look for all figures: readable in print, in grey and for colour-blind readers; error bars, units, nothing else."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import MissingExtra
from research.papers.figure import Cell, Result

if TYPE_CHECKING:
    from matplotlib import figure as pictures

    Picture = pictures.Figure

# Okabe and Ito 2008 without yellow, which print loses; the darkest first.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#888888")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
LOOK: dict[str, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 8,
}
MOST_COLUMNS = 3
MOST_NAMES = 4  # beside each other below the panels
LETTER, HANDLE = 0.056, 0.55  # inches of a letter there, and of the line before a name and the space after it


def blank(rows: int = 1, columns: int = 1, width: float = 4.2, height: float = 3.2) -> tuple["Picture", list[Any]]:
    """An empty figure in the common look, and its axes."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("A plot", "plot") from None
    with matplotlib.rc_context(LOOK):  # type: ignore[arg-type]
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.flat)


def distinct(cells: Sequence[Cell]) -> list[Cell]:
    """Each of these once, in the order in which they come."""
    return list(dict.fromkeys(cells))


def panels(
    result: Result,
    x: str,
    y: str,
    by: str | None = None,
    panel: str | None = None,
    error: str | None = None,
    log: str = "",
    units: tuple[str, str] = ("", ""),
    points: bool = False,
    size: tuple[float, float] = (4.2, 3.2),
) -> "Picture":
    """Lines of y over x, one for each cell of `by`, in one panel for each cell of `panel`; `error` is a standard error.

    `size` is of one panel, in inches.
    """
    titles = distinct(result.column(panel)) if panel else [""]
    names = distinct(result.column(by)) if by else [""]
    columns = min(len(titles), MOST_COLUMNS)
    figure, axes = blank(-(-len(titles) // columns), columns, *size)
    for place, title in enumerate(titles):
        chart = axes[place]
        for number, name in enumerate(names):
            rows = [
                row
                for row in result.rows
                if (not panel or row[result.columns.index(panel)] == title)
                and (not by or row[result.columns.index(by)] == name)
            ]
            if rows:
                _series(chart, result, rows, (x, y, error), str(name), number, points)
        _axes(chart, log, (units[0] or x, units[1] or y), title if isinstance(title, str) else f"{panel} {title:g}")
        if "x" in log and all(isinstance(cell, str) for cell in result.column(x)):
            chart.set_xscale("linear")
    for chart in axes[len(titles) :]:
        chart.set_visible(False)
    if by:
        legend(figure)
    return figure


def _series(
    chart: Any, result: Result, rows: Sequence[Any], columns: tuple[str, str, str | None], name: str, number: int, dots: bool
) -> None:
    x, y, error = columns
    at, values = ([row[result.columns.index(column)] for row in rows] for column in (x, y))
    turn = number // len(COLOURS)  # where there are more lines than colours, markers and dashes move on
    look: dict[str, Any] = {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[(number + 3 * turn) % len(MARKERS)],
        "linestyle": "" if dots else DASHES[(number // 2 + turn) % len(DASHES)],
        "label": name,
    }
    if dots:
        chart.plot(at, values, markersize=2, alpha=0.6, **{**look, "marker": "."})
    elif error is None:
        chart.plot(at, values, **look)
    else:
        spread = [float(row[result.columns.index(error)]) for row in rows]
        chart.errorbar(at, values, yerr=np.nan_to_num(spread), capsize=2, **look)


def _axes(chart: Any, log: str, labels: tuple[str, str], title: str) -> None:
    chart.set(xlabel=labels[0], ylabel=labels[1], title=title)
    chart.title.set_fontsize(9)
    if "x" in log:
        chart.set_xscale("log")
    if "y" in log:
        chart.set_yscale("log")


def legend(figure: "Picture") -> None:
    """The names of all panels once, below them, in as many columns as there is room for."""
    named: dict[str, Any] = {}
    for chart in figure.axes:
        handles, labels = chart.get_legend_handles_labels()
        named = {**dict(zip(labels, handles, strict=True)), **named}
    wide = LETTER * max(map(len, named), default=0) + HANDLE
    columns = max(1, min(MOST_NAMES, len(named), int(figure.get_size_inches()[0] / wide)))
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns, fontsize=8, frameon=False)


def bars(result: Result, x: str, y: str, by: str, error: str | None = None, log: str = "", unit: str = "") -> "Picture":
    """Groups of bars: one group for each cell of x, one bar in it for each cell of `by`."""
    groups, names = distinct(result.column(x)), distinct(result.column(by))
    figure, (chart,) = blank(width=max(4.2, 1.1 * len(groups)))
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        heights, spread = [], []
        for group in groups:
            found = [
                row for row in result.rows if row[result.columns.index(x)] == group and row[result.columns.index(by)] == name
            ]
            heights.append(float(found[0][result.columns.index(y)]) if found else np.nan)
            spread.append(float(found[0][result.columns.index(error)]) if found and error else 0.0)
        at = np.arange(len(groups)) + (number - (len(names) - 1) / 2) * width
        colour = COLOURS[number % len(COLOURS)]
        hatch = ("", "//", "..", "xx")[number // len(COLOURS) % 4] if len(names) > len(COLOURS) else ""
        chart.bar(at, heights, width, yerr=spread if error else None, capsize=2, color=colour, hatch=hatch, label=str(name))
    chart.set_xticks(range(len(groups)), [str(group) for group in groups])
    _axes(chart, log, ("" if isinstance(groups[0], str) else x, unit or y), "")
    legend(figure)
    return figure
