"""What readers of results see first: the lines of the chart, a sentence that says what is known, and the planned error."""

import math
from collections.abc import Sequence

from deniable.arrays import Floats
from deniable.core import Estimate
from deniable.core.charting import Line, chart_lines
from deniable.survey import Survey
from deniable.survey.kinds.kind import rms
from deniable.survey.question import Asked

Data = dict[str, object]


def charted(part: Estimate, cleaned: Floats, confidence: float) -> list[Data]:
    """The lines of the chart of shares, as plain data."""
    return [
        {
            "label": line.label,
            "value": line.value,
            "low": _finite(line.low),
            "high": _finite(line.high),
            "cleaned": None if line.others else float(cleaned[list(line.places)].sum()),
            "noisy": line.noisy,
            "others": line.others,
        }
        for line in chart_lines(part, confidence)
    ]


def sentence(part: Estimate, confidence: float) -> str:
    """What is known of an estimate, and how well.

    >>> import numpy as np
    >>> few = Estimate(["yes", "no"], np.array([0.7, 0.3]), np.array([0.01, 0.01]) ** 2, 1000)
    >>> sentence(few, 0.95)
    'The most common answer is yes, with 70.0 % (68.0 to 72.0). Both shares stand out from the noise.'
    """
    low, high = part.interval(confidence)
    if part.measure != "share":
        if len(part.values) != 1 or not math.isfinite(low[0]):
            return ""
        return f"The {part.measure} is {part.values[0]:.4g} ({low[0]:.4g} to {high[0]:.4g})."
    first, *others = (line for line in chart_lines(part, confidence) if not line.others)
    best = max([first, *others], key=lambda line: line.value)
    known = sum(bool(end > 0) for end in low)
    if best.noisy:
        return "All shares may be zero so far: the noise is larger than any of them. More reports are needed."
    return f"{_leading(best, [first, *others])} {_standing(known, len(low))}"


def _leading(best: Line, lines: Sequence[Line]) -> str:
    rivals = [line for line in lines if line is not best and line.high is not None and line.high > (best.low or 0)]
    if len(rivals) > 3:
        return f"{len(rivals) + 1} answers may each be the most common one."
    if rivals:
        names = [best.label, *(line.label for line in rivals)]
        return f"The most common answer is {', '.join(names[:-1])} or {names[-1]}: they are too close to say which."
    return f"The most common answer is {best.label}, with {_percent(best.value)} % ({_ends(best)})."


def _standing(known: int, size: int) -> str:
    if known == size:
        return "Both shares stand out from the noise." if size == 2 else f"All {size} shares stand out from the noise."
    return f"{known:,} of {size:,} shares {'stands' if known == 1 else 'stand'} out from the noise; the others may be zero."


def _finite(number: float | None) -> float | None:
    """JSON has no infinity: an end that is not known is null."""
    return number if number is not None and math.isfinite(number) else None


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _ends(line: Line) -> str:
    return f"{_percent(line.low or 0.0)} to {_percent(line.high or 0.0)}"


def planned(survey: Survey, question: Asked, part: Estimate) -> Data:
    """The error that was planned for, with the expected number of reports, beside the one that came out (RMS)."""
    mechanism = next((each.mechanism for each in survey.questions if each.id == question.id), None)
    if mechanism is None:  # it is reported together with others
        return {}
    share = survey.sample / len(survey.questions) if survey.budget == "sampled" else 1.0
    people = max(1, round(survey.people * share))
    expected, came = question.how.error(question.domain, mechanism, people), rms(part)
    if part.measure == "mean":  # planned as a share of the range
        low, high = question.how.range(question.domain)
        expected *= high - low
    if not (math.isfinite(expected) and math.isfinite(came)):
        return {}
    return {"planned": {"reports": people, "error": expected, "measure": part.measure}, "error": came}
