"""Shares as bars in the terminal, each with its error bar, over a common axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

BAR, LEFT, RIGHT, LINE, POINT, SHORT, ZERO = "█", "├", "┤", "─", "●", "┼", "│"
PLAIN = str.maketrans(BAR + LEFT + RIGHT + LINE + POINT + SHORT + ZERO, "#[]-o+|")  # where there is no Unicode


@dataclass(frozen=True)
class Axis:
    """A scale from `low` to `high` on `width` characters."""

    low: float
    high: float
    width: int

    def cell(self, number: float) -> int:
        """The character that shows this number."""
        return round((number - self.low) / (self.high - self.low) * (self.width - 1))

    def ticks(self) -> str:
        """The line under the bars: round percentages, as many as fit.

        >>> Axis(0.0, 0.5, 41).ticks()
        '0 %     10 %    20 %    30 %    40 %    '
        """
        wanted = 8 * (self.high - self.low) / self.width * 100
        power = 10.0 ** math.floor(math.log10(wanted))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted)
        line = ""
        for mark in range(math.ceil(self.low * 100 / step), math.floor(self.high * 100 / step) + 1):
            label = f"{mark * step:g} %"
            start = self.cell(mark * step / 100)
            if start + len(label) <= self.width:
                line = line.ljust(start) + label
        return line.ljust(self.width - 1)


def axis(lows: Sequence[float], highs: Sequence[float], width: int) -> Axis:
    """The scale that shows all of these intervals, and zero."""
    return Axis(min(0.0, *lows), max(0.0, *highs), width)


def bar(scale: Axis, value: float, low: float, high: float, plain: bool = False) -> Text:
    """A bar from zero to the value, with the interval drawn over it.

    >>> bar(Axis(0.0, 1.0, 21), 0.6, 0.5, 0.7).plain
    '██████████├─●─┤      '
    """
    zero, point, start, stop = (scale.cell(number) for number in (0.0, value, low, high))
    cells = [" "] * scale.width
    cells[zero] = ZERO
    for place in range(min(zero, point), max(zero, point)):
        cells[place] = BAR
    for place in range(start, stop + 1):
        cells[place] = LINE
    cells[start], cells[stop] = (LEFT, RIGHT) if start < stop else (SHORT, SHORT)
    if start < point < stop:
        cells[point] = POINT
    drawn = "".join(cells)
    text = Text(drawn.translate(PLAIN) if plain else drawn, style="blue")
    text.stylize("bold default", start, stop + 1)
    return text
