"""One look for all figures: readable in print, in grey and for colour-blind readers; error bars, units, nothing else."""

from collections.abc import Callable, Sequence
from functools import partial
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
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
}
MOST_COLUMNS = 3
MOST_NAMES = 4  # beside each other below the panels
FEW = 8  # values on an axis that are marked one by one
WIDE = 9.0  # inches of all panels beside each other: a page shows them at about their size
LINE, ROOM = 0.2, 2  # inches of a line of names, and how many a figure has room for
LETTER, HANDLE = 0.068, 0.6  # inches of a letter there, and of the line before a name and the space after it


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


def look(number: int, name: str = "") -> dict[str, Any]:
    """Colour, marker and dashes of a line by its number; earlier lines are broader, so that later ones do not hide them."""
    turn = number // len(COLOURS)  # where there are more lines than colours, markers and dashes move on
    depth = min(number, 6)
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[(number + 3 * turn) % len(MARKERS)],
        "linestyle": DASHES[(number // 2 + turn) % len(DASHES)],
        "linewidth": max(1.5, 3.2 - 0.35 * depth),
        "markersize": max(4.0, 8 - 0.8 * depth),
        "label": name,
    }


def plain_numbers(chart: Any) -> None:
    """Numbers on logarithmic axes as one writes them, 0.5 and not 5 x 10^-1; few values are marked one by one."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator

    shown = FuncFormatter(lambda value, _: f"{value:g}" if 1e-4 <= abs(value) < 1e5 else f"{value:.0e}")
    for axis, scale, values in (
        (chart.xaxis, chart.get_xscale(), {float(x) for line in chart.lines for x in np.asarray(line.get_xdata(), float)}),
        (chart.yaxis, chart.get_yscale(), set()),
    ):
        if scale != "log":
            continue
        if 0 < len(values) <= FEW:
            axis.set_major_locator(FixedLocator(sorted(values)))
            axis.set_major_formatter(FixedFormatter([f"{value:g}" for value in sorted(values)]))
            axis.set_minor_locator(NullLocator())
            continue
        low, high = axis.get_view_interval()
        axis.set_major_formatter(shown)
        if high / max(low, 1e-300) < 100:
            digits = "23456789" if high / low < 4 else "25"
            named = partial(_named, digits)
            axis.set_minor_formatter(FuncFormatter(lambda value, _, named=named: named(value)))
        else:
            axis.set_minor_formatter(FuncFormatter(lambda *_: ""))


def _named(digits: str, value: float) -> str:
    """A number that begins with one of these digits, or nothing.

    >>> _named("25", 500.0), _named("25", 300.0)
    ('500', '')
    """
    return f"{value:g}" if f"{value:e}"[0] in digits else ""


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
    size: tuple[float, float] | None = None,
    looks: Callable[[str], dict[str, Any]] | None = None,
) -> "Picture":
    """Lines of y over x, one for each cell of `by`, in one panel for each cell of `panel`; `error` is a standard error.

    `size` is of one panel, in inches. `looks` gives each line its look by its name, where their number is not enough.
    """
    titles = distinct(result.column(panel)) if panel else [""]
    names = distinct(result.column(by)) if by else [""]
    columns = 2 if len(titles) == 4 else min(len(titles), MOST_COLUMNS)
    figure, axes = blank(-(-len(titles) // columns), columns, *(size or (5.0 if columns == 1 else WIDE / columns, 3.0)))
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
                own = look(number, str(name)) | (looks(str(name)) if looks else {})
                _series(chart, result, rows, (x, y, error), own, points)
        _axes(chart, log, (units[0] or x, units[1] or y), title if isinstance(title, str) else f"{panel} {title:g}")
        if "x" in log and all(isinstance(cell, str) for cell in result.column(x)):
            chart.set_xscale("linear")
        plain_numbers(chart)
    for chart in axes[len(titles) :]:
        chart.set_visible(False)
    if by:
        plain_numbers(chart)
    legend(figure)
    return figure


def _series(
    chart: Any, result: Result, rows: Sequence[Any], columns: tuple[str, str, str | None], own: dict[str, Any], dots: bool
) -> None:
    x, y, error = columns
    at, values = ([row[result.columns.index(column)] for row in rows] for column in (x, y))
    if dots:
        chart.plot(at, values, alpha=0.6, **{**own, "marker": ".", "markersize": 2, "linestyle": ""})
    elif error is None:
        chart.plot(at, values, **own)
    else:
        spread = [float(row[result.columns.index(error)]) for row in rows]
        chart.errorbar(at, values, yerr=np.nan_to_num(spread), capsize=2, **own)


def _axes(chart: Any, log: str, labels: tuple[str, str], title: str) -> None:
    chart.set(xlabel=labels[0], ylabel=labels[1], title=title)
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
    width, height = figure.get_size_inches()
    lines = -(-len(named) // columns)
    figure.set_size_inches(width, height + LINE * max(0, lines - ROOM))  # panels keep their height
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns, fontsize=9.5, frameon=False)


def bars(result: Result, x: str, y: str, by: str, error: str | None = None, log: str = "", unit: str = "") -> "Picture":
    """Groups of bars: one group for each cell of x, one bar in it for each cell of `by`."""
    groups, names = distinct(result.column(x)), distinct(result.column(by))
    figure, (chart,) = blank(width=max(5.0, 1.3 * len(groups)))
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
    plain_numbers(chart)
    legend(figure)
    return figure
