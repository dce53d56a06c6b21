"""What the shares were before false reports, if these aimed at one answer, or spread over those that look popular.

LDPRecover (Sun et al. 2024) takes the contribution of the false reports out of the estimate and projects the rest.
Here that contribution is not assumed but read off the estimate where possible: the shares of honest people sum to one
whatever they hold, so that what their sum is away from it comes from the false ones.
"""

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats
from deniable.core import PureProtocol, Tally
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.postprocess.norm_sub import norm_sub


@dataclass(frozen=True, eq=False)
class Recovered:
    """Shares among the honest people if the assumption holds. If it does not, they may be worse than the raw estimate."""

    values: Floats
    fakes: float
    assumption: str


def recover(mechanism: PureProtocol, tally: Tally, fakes: float, target: object = None) -> Recovered:
    """The shares among the honest, if this share of the reports is false; show them next to the raw estimate, never alone.

    With a `target`, every false report is assumed to support it, and all others equally often on average: then the result
    is unbiased but for the projection. Without one, false reports are assumed to be spread evenly over the answers whose
    estimates are positive, which takes little from a single target.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> direct = DirectResponse(Categories(["a", "b", "c", "d"]), 1.0)
    >>> tally = Tally(direct.fingerprint, 1000, np.array([288, 238, 237, 237]))  # 50 of them are false and say "a"
    >>> direct.estimate(tally).values.round(2), recover(direct, tally, 0.05, "a").values.round(2)
    (array([0.38, 0.21, 0.21, 0.21]), array([0.25, 0.25, 0.25, 0.25]))
    """
    if not 0 <= fakes < 0.5:
        raise InvalidParameter("The share of false reports must be at least 0 and below 0.5, for example 0.05.")
    raw = mechanism.estimate(tally)
    size, p, q = len(raw.values), float(mechanism.p), float(mechanism.q)
    if fakes == 0:
        return Recovered(norm_sub(raw).values, fakes, "no report is false")
    # The sum that false reports contribute, each: the honest contribute one each.
    sum_each = (float(raw.values.sum()) - (1 - fakes)) / fakes
    if target is None:
        popular = raw.values > 0
        false = np.where(popular, sum_each / max(1, int(popular.sum())), 0.0)
        what = "spread evenly over the answers whose estimates are positive"
    else:
        labels = list(map(str, raw.labels))
        if str(target) not in labels:
            raise OutsideDomain("The target is not an answer to this question. Choose one of its answers.")
        most = (1 - q) / (p - q)
        false = np.full(size, (sum_each - most) / max(1, size - 1))
        false[labels.index(str(target))] = most
        what = f"each support {str(target)!r}, and all other answers equally often on average"
    honest = (raw.values - fakes * false) / (1 - fakes)
    values = norm_sub(raw.cleaned(honest)).values
    return Recovered(values, fakes, f"{100 * fakes:g} % of the reports are false and {what}")
