"""The results of a survey as one picture: bars for each question, as `Estimate.plot` draws them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core import Estimate
from deniable.errors import EmptyBatch
from deniable.plugins import optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOP = 30


def survey_picture(data: dict[str, Any]) -> "Figure":
    """A picture of results as the collector gives them; questions of too few reports are left out."""
    figures = optional("matplotlib.figure", "A picture", "plot")
    parts = [(each["ask"], part) for each in data["questions"] for part in _parts(each)]
    if not parts:
        raise EmptyBatch(
            f"All results are hidden until there are {data['minimum_reports']:,} reports, so there is nothing to draw yet."
        )
    bars = [min(TOP, len(part.values)) for _, part in parts]
    figure: Figure = figures.Figure(figsize=(7, sum(1.4 + 0.32 * count for count in bars)), layout="constrained")
    figure.suptitle(f"{data['title']}: {data['people']:,} people, epsilon {data['epsilon']:g}")
    panels = figure.subplots(len(parts), 1, squeeze=False, height_ratios=[1.4 + count for count in bars])[:, 0]
    for axes, (ask, part) in zip(panels, parts, strict=True):
        part.plot(data["confidence"], TOP, axes)
        axes.set_title("\n".join(filter(None, [ask, axes.get_title()])), loc="left", fontsize="medium")
    return figure


def _parts(each: dict[str, Any]) -> list[Estimate]:
    """The estimates of a question, one for each thing that is measured."""
    out = []
    for measure in dict.fromkeys(line["measure"] for line in each["estimates"]):
        lines = [line for line in each["estimates"] if line["measure"] == measure]
        values, errors = (np.array([line[key] for line in lines]) for key in ("value", "standard_error"))
        out.append(Estimate([line["answer"] for line in lines], values, errors**2, each["reports"], measure=measure))
    return out
