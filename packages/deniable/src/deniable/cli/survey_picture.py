"""The results of a survey as one picture of at most a page: bars for each question, as `Estimate.plot` draws them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.arrays import Floats
from deniable.core import Estimate
from deniable.core.showing import axes_for
from deniable.errors import EmptyBatch
from deniable.planning.ranking import counted, there_are
from deniable.plugins import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOP = 30
PAGE = (8.27, 11.69)  # A4, in inches


def survey_picture(data: dict[str, Any]) -> "Figure":
    """A picture of results as the collector gives them; questions of too few reports are left out."""
    figures = optional("matplotlib.figure", "A picture", "plot")
    parts = [("\n".join([each["ask"], *each.get("words", ())]), part) for each in data["questions"] for part in _parts(each)]
    if not parts:
        raise EmptyBatch(
            f"All results are hidden until {there_are(data['minimum_reports'], 'report')}, so there is nothing to draw yet."
        )
    columns, most, heights = _arranged([len(part.values) for _, part in parts])
    figure: Figure = figures.Figure(figsize=(PAGE[0], min(PAGE[1], 0.6 + sum(heights))), layout="constrained")
    figure.suptitle(f"{data['title']}: {counted(data['people'], 'person', 'people')}, epsilon {data['epsilon']:g}")
    panels = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights).ravel()
    small = "medium" if columns == 1 else "x-small"
    for axes, (ask, part) in zip(panels, parts, strict=False):
        part.plot(data["confidence"], most, axes)
        axes.set_title("\n".join(filter(None, [ask, axes.get_title()])), loc="left", fontsize=small, wrap=True)
        if columns > 1:
            axes.tick_params(labelsize=small)
            axes.xaxis.label.set_size(small)
    for axes in panels[len(parts) :]:
        axes.set_axis_off()
    return figure


def _arranged(sizes: list[int]) -> tuple[int, int, list[float]]:
    """Columns of panels, lines of a panel at most, and the height of each row in inches, so that all fits on a page."""
    for columns, most in [(1, TOP), (1, 12), (2, TOP), (2, 12), (3, 12), (3, 8), (4, 6)]:
        lines = [min(size, most) for size in sizes]
        heights = [1.2 + 0.32 / columns**0.5 * max(lines[row : row + columns]) for row in range(0, len(lines), columns)]
        if sum(heights) + 0.6 <= PAGE[1]:
            break
    else:
        heights = [height * (PAGE[1] - 0.6) / sum(heights) for height in heights]  # as small as need be
    return columns, most, heights


def _parts(each: dict[str, Any]) -> list[Estimate]:
    """The estimates of a question, one for each thing that is measured."""
    if each.get("words"):
        return [_Histogram.of([line for line in each["estimates"] if line["measure"] == "share"], each["reports"])]
    out: list[Estimate] = []
    for measure in dict.fromkeys(line["measure"] for line in each["estimates"]):
        lines = [line for line in each["estimates"] if line["measure"] == measure]
        values, errors = (np.array([line[key] for line in lines]) for key in ("value", "standard_error"))
        labels, ordered = [line["answer"] for line in lines], bool(each.get("ordered"))
        out.append(Estimate(labels, values, errors**2, each["reports"], measure=measure, ordered=ordered))
    return out


@dataclass(frozen=True, eq=False)
class _Histogram(Estimate):
    """The fitted shares of bins in order, and the ends of the intervals of the unbiased ones."""

    low: Floats = field(default_factory=lambda: np.zeros(0))
    high: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, lines: list[dict[str, Any]], reports: int) -> "_Histogram":
        values, low, high = (np.array([line[key] for line in lines]) for key in ("cleaned", "low", "high"))
        return cls([line["answer"] for line in lines], values, None, reports, low=low, high=high)

    def plot(self, confidence: float = 0.95, top: int = TOP, ax: "Axes | None" = None) -> "Axes":
        """Columns side by side, with a band from the lower to the upper ends."""
        axes, at = axes_for(ax, 7, 3.4), np.arange(len(self.values))
        axes.bar(at, 100 * self.values, 0.98, color="#4477aa")
        axes.bar(at, 100 * (self.high - self.low), 0.98, 100 * self.low, color="#222222", alpha=0.2)
        axes.set_xticks(at, [str(label) for label in self.labels], rotation=30, ha="right", fontsize="small")
        axes.set_ylabel(f"% of {self.n:,} people")
        axes.spines[["top", "right"]].set_visible(False)
        return axes
