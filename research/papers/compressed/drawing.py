"""How the figures of compressed messages look: bits and times over the number of differing coordinates, or by a setting."""

import numpy as np

from research.papers import style
from research.papers.figure import Result


def by_size(result: Result) -> "style.Picture":
    """Dots, one for each person."""
    figure, axes = style.blank(1, 2)
    for number, way in enumerate(style.distinct(result.column("way"))):
        at = result.numbers("differing", way=way)
        for chart, column in zip(axes, ("bits", "milliseconds"), strict=True):
            values = result.numbers(column, way=way)
            if values.any():
                chart.plot(
                    at,
                    values,
                    linestyle="",
                    marker=style.MARKERS[number],
                    markersize=4,
                    alpha=0.6,
                    color=style.COLOURS[number],
                    label=str(way),
                )
    for chart, unit in zip(axes, ("bits", "milliseconds"), strict=True):
        chart.set(xlabel="coordinates that differ", ylabel=unit, xscale="log", yscale="log")
        style.plain_numbers(chart)
    style.legend(figure)
    return figure


def by_setting(result: Result, setting: str, column: str) -> "style.Picture":
    """Quartiles over all people, for each value of the setting."""
    figure, (chart,) = style.blank(width=5)
    for number, way in enumerate(style.distinct(result.column("way"))):
        values = [float(each) for each in style.distinct(result.column(setting))]
        quartiles = np.array(
            [np.quantile(result.numbers(column, **{setting: value, "way": way}), [0.25, 0.5, 0.75]) for value in values]
        )
        spread = np.abs(quartiles[:, [0, 2]] - quartiles[:, [1]]).T
        chart.errorbar(
            values,
            quartiles[:, 1],
            yerr=spread,
            capsize=2,
            color=style.COLOURS[number],
            marker=style.MARKERS[number],
            label=str(way),
        )
    chart.set(xlabel=setting, ylabel=f"{column} (quartiles)", xscale="log", yscale="log")
    style.plain_numbers(chart)
    style.legend(figure)
    return figure
