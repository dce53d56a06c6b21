"""Measured lines as tables for people, one for each unit and kind of bound."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.table import Table

from benchmarks.figure import Line

COLUMNS = ("figure", "ours", "peer", "best peer", "ratio", "bound", "share")
NUMBERS = ("ours", "peer", "ratio", "bound", "share")


def tables(lines: Iterable[Line]) -> Iterator[Table]:
    """Narrow enough for a terminal of 80 columns."""
    for (unit, bound), group in groupby(lines, lambda line: (line.unit, line.bound_name)):
        table = Table(title=f"{unit} (bound: {bound})", title_justify="left", box=None, padding=(0, 1, 0, 0))
        for column in COLUMNS:
            table.add_column(column, justify="right" if column in NUMBERS else "left", overflow="fold")
        for line in group:
            table.add_row(
                line.name,
                short(line.ours),
                "-" if line.peer is None else short(line.peer),
                line.peer_name,
                "-" if line.ratio is None else times(line.ratio),
                short(line.bound),
                share(line.ours / line.bound),
            )
        yield table


def short(number: float) -> str:
    """Three digits and a prefix.

    >>> short(1234567)
    '1.23 M'
    """
    for size, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{prefix}"
    return f"{number:.3g}"


def times(ratio: float) -> str:
    return f"{ratio:,.0f} x" if ratio >= 100 else f"{ratio:.3g} x"


def share(part: float) -> str:
    return f"{part:.0%}" if part >= 0.01 else f"{100 * part:.1g}%"
