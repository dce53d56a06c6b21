"""How results look outside a terminal: axes to draw on, tables in notebooks, and columns for data frames."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from deniable.plugins import optional, package

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes

MOST_LINES = 30  # of a table or a chart
WIDTH = 240  # pixels of the bars in a notebook


class Bar(NamedTuple):
    """A bar of a chart: what it is called, its value as text and as a number, and its interval."""

    name: str
    text: str
    value: float
    low: float | None = None
    high: float | None = None


def axes_for(ax: "Axes | None", width: float, height: float) -> "Axes":
    """The axes to draw on: those that were given, or new ones of this size in inches, which notebooks show by themselves."""
    if ax is not None:
        return ax
    made: Axes = optional("matplotlib.pyplot", "A plot", "plot").subplots(figsize=(width, height), layout="constrained")[1]
    return made


def html_table(caption: str, headings: Sequence[str], lines: Sequence[Sequence[str]], left: int = 1, note: str = "") -> str:
    """A small table for a notebook. All text is escaped; the first columns are aligned to the left, the others to the right.

    >>> html_table("Shares", ["answer", "share"], [["<b>", "0.5"]]).count("&lt;b&gt;")
    1
    """
    sides = ["left" if place < left else "right" for place in range(len(headings))]
    head = "".join(_cell(escape(text), side, "th") for text, side in zip(headings, sides, strict=True))
    rows = ["".join(_cell(escape(text), side) for text, side in zip(line, sides, strict=True)) for line in lines]
    return _html(caption, f"<thead><tr>{head}</tr></thead>", rows, note)


def html_bars(caption: str, bars: Sequence[Bar], note: str = "") -> str:
    """A line for each bar: its name, its value as text, and the bar from zero with its interval where there is one."""
    ends = [0.0, *(number for bar in bars for number in (bar.value, bar.low, bar.high) if number is not None)]
    low, high = min(ends), max(ends)

    def place(number: float) -> float:
        return WIDTH * (number - low) / ((high - low) or 1.0)

    rows = []
    for bar in bars:
        start, stop = sorted((place(0.0), place(bar.value)))
        drawn = f'<rect x="{start:.1f}" y="3" width="{stop - start:.1f}" height="10" fill="#4477aa"/>'
        if bar.low is not None and bar.high is not None:
            drawn += f'<path d="M{place(bar.low):.1f} 8H{place(bar.high):.1f}" stroke="currentColor" stroke-width="2"/>'
        drawn += f'<path d="M{place(0.0):.1f} 0V16" stroke="currentColor"/>'
        picture = f'<svg width="{WIDTH + 2}" height="16" aria-hidden="true">{drawn}</svg>'
        rows.append(_cell(escape(bar.name), "left") + _cell(escape(bar.text), "right") + _cell(picture, "left"))
    return _html(caption, "", rows, note)


def _cell(inner: str, side: str, tag: str = "td") -> str:
    return f'<{tag} style="padding:0.15em 0.8em;border:0;text-align:{side}">{inner}</{tag}>'


def _html(caption: str, head: str, rows: Sequence[str], note: str) -> str:
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<table style="border-collapse:collapse"><caption style="text-align:left">{escape(caption)}</caption>'
        f"{head}<tbody>{body}</tbody></table>" + (f"<p>{escape(note)}</p>" if note else "")
    )


class Tabular:
    """Results that data frames can be made of: pandas, Polars, Arrow, and whatever reads Arrow's streams, such as DuckDB."""

    def columns(self, confidence: float = 0.95) -> dict[str, list[object]]:
        """The columns by name, with intervals of this confidence level."""
        raise NotImplementedError

    def to_pandas(self, confidence: float = 0.95) -> "pandas.DataFrame":
        """The columns as a pandas data frame."""
        frame: pandas.DataFrame = package("pandas", "A data frame").DataFrame(self.columns(confidence))
        return frame

    def to_polars(self, confidence: float = 0.95) -> "polars.DataFrame":
        """The columns as a Polars data frame."""
        frame: polars.DataFrame = package("polars", "A data frame").DataFrame(self.columns(confidence))
        return frame

    def to_arrow(self, confidence: float = 0.95) -> "pyarrow.Table":
        """The columns as an Arrow table."""
        table: pyarrow.Table = optional("pyarrow", "An Arrow table", "parquet").table(self.columns(confidence))
        return table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """What `pl.DataFrame(...)`, `pa.table(...)` and DuckDB read: the Arrow PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)
