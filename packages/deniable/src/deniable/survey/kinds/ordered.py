"""Answers on a scale: the share of each, and the mean where they are numbers; with a target their distribution."""

import numpy as np

from deniable.core import Estimate
from deniable.domains import Ordered as Scale
from deniable.errors import InvalidParameter
from deniable.survey.kinds.choice import Choice
from deniable.survey.kinds.distributed import Distributed
from deniable.survey.kinds.kind import Details, Figures, WrongDetail, mean_of


class Scales(Choice[Scale]):
    """Choices in order, or all whole numbers from `low` to `high`."""

    keys = frozenset({"choices", "low", "high"})

    def domain(self, details: Details) -> Scale:
        choices, ends = details.get("choices"), (details.get("low"), details.get("high"))
        whole = all(isinstance(end, int) and not isinstance(end, bool) for end in ends)
        key = "low" if choices is None else "choices"
        if isinstance(choices, list) == whole:
            raise WrongDetail(
                key, 'A question of kind "ordered" needs either choices in order, or whole numbers low and high.'
            )
        try:
            return Scale(choices if isinstance(choices, list) else range(details["low"], details["high"] + 1))
        except (InvalidParameter, TypeError) as error:
            raise WrongDetail(key, str(error)) from None

    def more(self, domain: Scale, estimate: Estimate) -> Figures:
        if any(isinstance(label, str) for label in domain.labels):
            return {}
        return mean_of(np.array(domain.labels, np.float64), estimate)


class Ordered(Distributed[Scale], Scales):
    """Choices in order, or whole numbers; with a target, their distribution."""

    keys = Scales.keys | {"target", "quantiles"}
